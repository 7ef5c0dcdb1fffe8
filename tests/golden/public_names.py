"""Which names the package exports; ``python -m tests.golden.public_names`` writes ``public_names.json``.

That file was made before the rooms were built anew, and is what later versions are held against. A key is a public
name; its value has a list of rooms for each object of that name: "FORMATS" of notes is not "FORMATS" of word vectors.
"""

import ast
import importlib
import json
from pathlib import Path

import sklearn_deid

NAMES = Path(__file__).with_name("public_names.json")
_ROOT = Path(sklearn_deid.__file__).parent


def rooms():
    """Modules with names for users: the package, its folders at any depth, public modules at the top, and sequences.

    Examples import containers of sentences from ``sequences``, whatever its name says.
    """
    folders = [path.parent.relative_to(_ROOT).parts for path in _ROOT.rglob("__init__.py")]
    modules = [(path.stem,) for path in _ROOT.glob("*.py") if path.stem in ("_sequences",) or path.stem[0] != "_"]
    public = [parts for parts in (*folders, *modules) if not any(p[0] == "_" for p in parts if p != "_sequences")]
    return sorted(".".join(("sklearn_deid", *parts)) for parts in public)


def listed(room):
    """``__all__`` of a room, read from its source: a room that needs an extra is looked at without it."""
    path = _ROOT.parent.joinpath(*room.split("."))
    tree = ast.parse((path / "__init__.py" if path.is_dir() else path.with_suffix(".py")).read_text())
    assigned = {
        target.id: node.value
        for node in tree.body
        if isinstance(node, (ast.Assign, ast.AnnAssign))
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if isinstance(target, ast.Name)
    }
    names = assigned.get("__all__")
    if names is None:
        names = next((node.value for node in tree.body if _is_lazy(node)), None)
        return [] if names is None else sorted(" ".join(ast.literal_eval(names.args[1]).values()).split())
    return sorted(ast.literal_eval(names))


def _is_lazy(node):
    """Whether it is ``__all__, ... = lazy_names(__name__, {file: names})``, whose names are imported on first use."""
    call = node.value if isinstance(node, ast.Assign) else None
    return isinstance(call, ast.Call) and getattr(call.func, "id", None) == "lazy_names"


def public_names():
    """Rooms of each object of each name."""
    found = {}
    for room in rooms():
        for name in listed(room):
            value = getattr(importlib.import_module(room), name)
            found.setdefault(name, {}).setdefault(id(value), []).append(room)
    return {name: list(objects.values()) for name, objects in sorted(found.items())}


if __name__ == "__main__":
    at_the_top = {room for room in rooms() if room.count(".") < 2}  # what lies deeper is a room's own affair
    kept = {name: [rooms for rooms in groups if at_the_top & {*rooms}] for name, groups in public_names().items()}
    NAMES.write_text(json.dumps({name: groups for name, groups in kept.items() if groups}, indent=1) + "\n")
