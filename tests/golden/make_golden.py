"""Write ``golden.json``: ``python -m tests.golden.make_golden [--only "noise/*"]``.

Only from a version whose results are right: the file is what later versions are compared with.
"""

import argparse
import fnmatch
import json
import time
from pathlib import Path

from ..digests import digest, environment
from .cases import CASES, run_case

GOLDEN = Path(__file__).with_name("golden.json")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="*", help="pattern of the names of the cases that are made anew")
    parser.add_argument("--check", action="store_true", help="compare and write nothing")
    arguments = parser.parse_args()
    golden = json.loads(GOLDEN.read_text()) if GOLDEN.exists() else {"environment": environment(), "hashes": {}}
    known = {name: value for name, value in golden["hashes"].items() if name in CASES}
    changed = []
    for name in fnmatch.filter(CASES, arguments.only):
        since = time.perf_counter()
        found = digest(run_case(name))
        status = "same" if known.get(name) == found else "NEW" if name not in known else "CHANGED"
        changed += [name] if status != "same" else []
        known[name] = found
        print(f"{time.perf_counter() - since:6.2f} s  {status:8} {name}", flush=True)
    if not arguments.check:
        golden = {"environment": environment(), "hashes": dict(sorted(known.items()))}
        GOLDEN.write_text(json.dumps(golden, indent=1) + "\n")
    print(f"{len(changed)} not as they were")


if __name__ == "__main__":
    main()
