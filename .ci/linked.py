"""Hard links to pip and what the package needs without extras: linked.py OWN, run by the Python of another environment.

OWN is the folder site-packages of a new environment. pip finds the same files there that it would unpack, and what it
replaces or removes there stays in the other environment.
"""

import os
import re
import sys
from importlib.metadata import Distribution, distribution
from pathlib import Path

from packaging.requirements import Requirement


def needed(name: str, found: dict[str, Distribution]) -> dict[str, Distribution]:
    """Distributions that a distribution needs, and those that they need."""
    for text in distribution(name).requires or []:
        wanted = Requirement(text)
        key = re.sub(r"[-_.]+", "-", wanted.name).lower()
        if key not in found and (wanted.marker is None or wanted.marker.evaluate({"extra": ""})):
            found[key] = distribution(wanted.name)
            needed(wanted.name, found)
    return found


def main() -> None:
    own = Path(sys.argv[1])
    for one in [distribution("pip"), *needed("sklearn-deid", {}).values()]:
        for file in one.files or []:
            source, target = Path(one.locate_file(file)), own / file
            # The programs of an environment name its Python, and linked folders are there already.
            if ".." in file.parts or not source.is_file() or target.exists():
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            os.link(source, target)


main()
