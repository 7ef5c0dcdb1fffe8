"""Random kills of sites and of the server of a federation over NVIDIA FLARE: is an epoch lost, or counted twice?

    .ci/pinned install
    .venv-pinned/bin/python -m benchmarks.flare_kills --kills 10 --seed 0

Three sites and a server on this computer, as in the integration test. A process is drawn by chance, killed with all
its children after a random time, and started again; sessions follow each other until all sites have trained all
epochs. At the end, each site has trained each epoch once, and the server has added each of its updates once. The
update that a site was training when it was killed is trained again, and was never sent. Prints one JSON object.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
import time
from typing import Any

from sklearn_deid.federated import AGGREGATES, ParameterServer
from sklearn_deid.federated.sites.flare_kits import CHECKPOINT
from tests.federated.sites.flare_lab import HOST, Lab

from .environment import describe

# Seconds without a word after which a session no longer waits for a site.
_SILENCE = 15


def run(lab: Lab, options: argparse.Namespace) -> dict[str, Any]:
    """Kill, restart and train to the end."""
    chance, killed = random.Random(options.seed), []
    network = ("--hidden-size", 24, "--embeddings", "none", "--batch-size", 100)
    waits = ("--first-contact", 60, "--silence", _SILENCE, "--grace", 60, "--longest", 300)
    in_session = max(1, options.epochs // max(1, options.kills))
    counts = ("--epochs", options.epochs, "--session-epochs", in_session, "--aggregation", options.aggregation)
    counts += () if options.screened else ("--no-screen",)
    lab.plan(*counts, *network, *waits)
    lab.certify()
    lab.prepare({site: (options.notes,) for site in lab.sites})
    lab.start_all()
    begin, n_sessions = time.monotonic(), 0
    while _missing(lab, options.epochs):
        job = lab.submit()
        n_sessions += 1
        lab.wait(lambda job=job: lab.events(job, event="hello") or lab.events(job, event="end"), "a site says hello")
        if len(killed) < options.kills:
            time.sleep(chance.uniform(0.0, 6.0))
            killed.append(chance.choice([HOST, *lab.sites]))
            _kill_and_start(lab, killed[-1])
            if killed[-1] == HOST:
                continue  # the session has died with the server: its sites take part in the next one
        lab.wait_for_end(job)
    return {
        "kills": killed,
        "sessions": n_sessions,
        "seconds": round(time.monotonic() - begin),
        **counted(lab, options),
    }


def _missing(lab: Lab, n_epochs: int) -> list[str]:
    """Sites of which the server does not have all updates."""
    server = ParameterServer.load(lab.kit(HOST) / CHECKPOINT)
    return [site for site in lab.sites if server.delivered(site) != [(0, n_epochs - 1)]]


def _kill_and_start(lab: Lab, name: str) -> None:
    if name == HOST:
        lab.restart_server()
        return
    seen = len(lab.log(HOST))
    lab.kill(name)
    lab.start(name)
    lab.wait_for_site(name, seen)


def _n_versions(lab: Lab, options: argparse.Namespace) -> int:
    """Versions of an epoch of all sites."""
    return 1 if options.aggregation != "mean" else len(lab.sites)


def counted(lab: Lab, options: argparse.Namespace) -> dict[str, Any]:
    """What sites have trained, and what the server has added."""
    server = ParameterServer.load(lab.kit(HOST) / CHECKPOINT)
    epochs = {site: [line["epoch"] for line in lab.history(site)] for site in lab.sites}
    once = list(range(1, options.epochs + 1))
    return {
        "epochs": options.epochs,
        "version": server.version,
        "refused": server.n_refused,
        "delivered": {site: server.delivered(site) for site in lab.sites},
        "every_epoch_once": all(own == once for own in epochs.values()),
        "nothing_lost_or_twice": all(own == once for own in epochs.values())
        and (options.screened or server.version == options.epochs * _n_versions(lab, options))
        and not _missing(lab, options.epochs),
    }


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--epochs", type=int, default=80)
    parser.add_argument("--notes", type=int, default=6, help="generated notes of a site")
    parser.add_argument("--aggregation", choices=AGGREGATES, default="mean", help="how updates are combined")
    parser.add_argument("--no-screen", dest="screened", action="store_false", help="add each update on arrival")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as folder:
        lab = Lab(folder, ["site-1", "site-2", "site-3"])
        try:
            print(json.dumps({"benchmark": "flare_kills", "seed": options.seed, **run(lab, options), **describe()}))
        finally:
            lab.close()


if __name__ == "__main__":
    main()
