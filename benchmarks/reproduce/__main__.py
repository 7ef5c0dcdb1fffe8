"""Every table of the papers from one command: runs what is missing, then writes the report.

    python -m benchmarks.reproduce --quick
    python -m benchmarks.reproduce --quick --data meddocan=DATA --results results --jobs 2
    python -m benchmarks.reproduce --only festag --full --data i2b2=FOLDER --backend dask

Finished runs are kept one by one in RESULTS/runs; the same command goes on where it was interrupted. Beside them lie
what each script says of its runs (RESULTS/*.json) and the report (RESULTS/report.md, report.html and figures/).
``--runs-from`` adds finished runs from other folders to the report, and ``--report`` runs nothing.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from .plan import PAPERS, Step, steps_of
from .running import BACKENDS, argv_of, run_all, summarise


def parse_arguments(argv: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.reproduce", description=__doc__.splitlines()[0])
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--quick", dest="size", action="store_const", const="quick", help="half an hour; the default")
    size.add_argument("--full", dest="size", action="store_const", const="full", help="days on a CPU")
    size.add_argument("--tiny", dest="size", action="store_const", const="tiny", help="to try the machinery alone")
    parser.set_defaults(size="quick")
    parser.add_argument("--only", nargs="+", choices=PAPERS, default=list(PAPERS), help="papers")
    parser.add_argument("--data", action="append", default=[], metavar="NAME=PATH", help="meddocan=PATH or i2b2=PATH")
    parser.add_argument("--device", help="of the networks: cpu, cuda (default: what each script chooses)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="runs at a time")
    parser.add_argument("--backend", choices=BACKENDS, default="loky")
    parser.add_argument("--results", type=Path, default=Path("results"), metavar="DIR")
    parser.add_argument("--runs-from", nargs="+", type=Path, default=[], metavar="PATH", help="more finished runs")
    parser.add_argument("--report", action="store_true", help="write the report of what is there, and run nothing")
    arguments = parser.parse_args(argv)
    arguments.data = dict(_data(parser, given) for given in arguments.data)
    return arguments


def _data(parser: argparse.ArgumentParser, given: str) -> tuple[str, str]:
    """Name and folder; MEDDOCAN's may be the folder itself or the one that holds it."""
    name, _, path = given.partition("=")
    folder = Path(path)
    if name not in ("meddocan", "i2b2") or not path:
        parser.error(f"--data takes meddocan=PATH or i2b2=PATH. Got {given!r} instead.")
    if not folder.is_dir():
        parser.error(f"--data {name}: there is no folder {path}.")
    if name == "meddocan" and folder.name == "meddocan":
        folder = folder.resolve().parent
    return name, str(folder)


def steps_asked_for(arguments: argparse.Namespace) -> dict[Step, list[str]]:
    """The steps, each with its command line."""
    corpora = ["generated", *arguments.data]
    steps = [step for paper in arguments.only for step in steps_of(paper, arguments.size, corpora)]
    return {step: argv_of(step, arguments.results, arguments.data, arguments.device) for step in steps}


def main(argv: list[str] | None = None) -> None:
    from .report import write_report

    arguments = parse_arguments(argv)
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS"):  # a run is one thread, and as many run at a time
        os.environ.setdefault(name, "1")
    if not arguments.report:
        steps = steps_asked_for(arguments)
        try:
            run_all(steps, arguments.results, arguments.jobs, arguments.backend)
        except KeyboardInterrupt:
            sys.exit(f"Interrupted. Finished runs are kept in {arguments.results}; the same command goes on.")
        summarise(steps, arguments.results)
    print(write_report(arguments.results, arguments.runs_from, arguments.only, shown_command(arguments)))


def shown_command(arguments: argparse.Namespace) -> str:
    """The command for the report, without the folders of this machine."""
    words = ["python -m benchmarks.reproduce", f"--{arguments.size}"]
    if arguments.only != list(PAPERS):
        words += ["--only", *arguments.only]
    words += [f"--data {name}=FOLDER" for name in arguments.data]
    words += ["--device", arguments.device] if arguments.device else []
    words += [f"--jobs {arguments.jobs}"] + ([f"--backend {arguments.backend}"] if arguments.backend != "loky" else [])
    words += ["--runs-from FOLDER"] if arguments.runs_from else []
    return " ".join(words + (["--report"] if arguments.report else []))


if __name__ == "__main__":
    main()
