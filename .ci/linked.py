"""Hard links to pip and what the package needs without extras: linked.py OWN, run by the Python of another environment.

OWN is the folder site-packages of a new environment. pip finds the same files there that it would unpack, and what it
replaces or removes there stays in the other environment.

All environments keep what Python compiles of these files in one place, so that only the first one compiles. Python
compares the time and the size of the source, and replaces such a file at once; so another version of a package cannot
be taken for this one. pip removes nothing outside of its own environment.
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


def share_compiled(source: Path, target: Path) -> None:
    """Let a folder of compiled files be that of the other environment."""
    if not target.exists():
        source.mkdir(exist_ok=True)
        target.symlink_to(source)


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
            if source.suffix == ".py" and target.parent != own:  # whose modules belong to different packages
                share_compiled(source.parent / "__pycache__", target.parent / "__pycache__")


main()
