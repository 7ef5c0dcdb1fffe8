"""Which room may import which. Change this table on purpose, never by accident (docs/architecture.md says why)."""

import ast
import io
import re
import subprocess
import sys
import tokenize
from functools import cache
from graphlib import TopologicalSorter
from itertools import pairwise
from pathlib import Path

import pytest

import sklearn_deid

PACKAGE = Path(sklearn_deid.__file__).parent
ROOT = {"sklearn_deid", "examples", "tests", "benchmarks", "docs", "setup.cfg", "pyproject.toml", "README.md"}
ROOT |= {"LICENSE", "Containerfile"}
FOUNDATION = {
    "exceptions",
    "sequences",
    "_atomic",
    "_storage",
    "_strict_json",
    "saving",
    "_randomness",
    "_compat",
    "_skorch",
    "_lazy",
    "_optional",
    "_parameters",
    "__init__",
}
MAY_IMPORT = {
    "text": [],
    "surrogates": ["text"],
    "io": ["surrogates", "text"],
    "embeddings": ["metrics", "text"],
    "metrics": ["text"],
    "datasets": ["io", "surrogates", "text"],
    "tagging": ["embeddings", "metrics", "surrogates", "text"],
    "pseudonyms": ["embeddings", "surrogates", "text"],
    "representations": ["datasets", "embeddings", "metrics", "pseudonyms", "tagging", "text"],
    "federated": ["embeddings", "io", "metrics", "surrogates", "tagging", "text"],
    "review": ["metrics", "surrogates", "tagging", "text"],
    "audit": ["embeddings", "federated", "metrics", "pseudonyms", "representations", "surrogates", "tagging", "text"],
    "plotting": ["audit", "embeddings", "metrics"],
    "integrations": ["surrogates", "tagging", "text"],
    "cli": [
        "audit",
        "datasets",
        "federated",
        "integrations",
        "io",
        "metrics",
        "representations",
        "review",
        "surrogates",
        "tagging",
        "text",
    ],
}
MOST_FLOORS = 10
HEAVY = {"torch", "skorch", "spacy", "gensim", "pandas", "pyarrow", "matplotlib"}
# Of these rooms every file is one of a kind, listed by a single file: a command, a format, a kind of PHI.
ONE_OF_A_KIND = ("audit.releases", "cli", "io.formats", "tagging.rules")
DOTTED, IMPORTED = (
    re.compile(r"sklearn_deid(?:\.\w+)+"),
    re.compile(r"^from (sklearn_deid[\w.]*) import (.*)$", re.MULTILINE),
)
MOST_CODE, LONGEST_FUNCTION, MOST_PARAMETERS, MOST_SETTINGS = 320, 50, 8, 24


def python_files(folder=PACKAGE):
    return sorted(folder.rglob("*.py"))


def code_lines(source):
    """Lines that hold code: docstrings, comments and blank lines are free."""
    free = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
    lines = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in free:
            lines |= set(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(source)):
        has_docstring = isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef))
        if has_docstring and ast.get_docstring(node) is not None:
            lines -= set(range(node.body[0].lineno, node.body[0].end_lineno + 1))
    return len(lines)


@cache
def tree_of(path):
    return ast.parse(path.read_text())


@cache
def nodes_of(path):
    """All nodes of the tree: to walk through it takes as long as to parse it, and three rules do."""
    return list(ast.walk(tree_of(path)))


@cache
def names_imported(path):
    """Absolute names of all imports of the file, those inside functions and for types alone included."""
    return list(_names_imported(path))


def _names_imported(path):
    here = ["sklearn_deid", *path.relative_to(PACKAGE).with_suffix("").parts]
    for node in nodes_of(path):
        if isinstance(node, ast.ImportFrom):
            base = here[: len(here) - node.level] if node.level else []
            stem = base + (node.module.split(".") if node.module else [])
            names = [[*stem, alias.name] for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name.split(".") for alias in node.names]
        else:
            continue
        yield from names


def rooms_imported(path):
    """Rooms named by any import in the file."""
    for parts in names_imported(path):
        if parts[0] == "sklearn_deid" and len(parts) > 1:
            yield parts[1]


def module_name(path):
    return ".".join(["sklearn_deid", *path.relative_to(PACKAGE).with_suffix("").parts]).removesuffix(".__init__")


@cache
def files_imported():
    """For each file of the package, the files that it imports."""
    modules = {module_name(path): path for path in python_files()}
    graph = {}
    for module, path in modules.items():
        found = set()
        for parts in names_imported(path):
            full, stem = ".".join(parts), ".".join(parts[:-1])
            found |= {full if full in modules else stem} & set(modules)
        graph[module] = found - {module}
    return graph


def test_the_root_holds_no_other_files():
    """Scripts write results where they are started."""
    if not (PACKAGE.parent / ".git").exists():
        pytest.skip("only a checkout lists its files")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=PACKAGE.parent, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("git does not read this checkout")
    entries = {path.split("/")[0] for path in listed.stdout.split("\0") if path}
    assert {entry for entry in entries if not entry.startswith(".")} == ROOT


def test_table_has_every_room_and_no_cycle():
    rooms = {p.name for p in PACKAGE.iterdir() if (p / "__init__.py").exists()}
    assert rooms - FOUNDATION == set(MAY_IMPORT)
    floor = {}
    for room in TopologicalSorter(MAY_IMPORT).static_order():  # raises on a ring
        floor[room] = 1 + max((floor[below] for below in MAY_IMPORT[room]), default=0)
    assert 1 + max(floor.values()) <= MOST_FLOORS, "the foundation is a floor, too"


def test_lines_of_code_are_counted():
    source = '"""Says\nwhat."""\n\n# why\nX = """text\nthat is\ndata"""\n\n\n'
    source += 'def f():\n    """Docs."""\n    return 1  # one\n'
    assert code_lines(source) == 5


@pytest.mark.parametrize("room", MAY_IMPORT)
def test_room_imports_only_what_the_table_allows(room):
    allowed = {room, *FOUNDATION, *MAY_IMPORT[room]}
    wrong = {
        f"{path.relative_to(PACKAGE)} -> {other}"
        for path in python_files(PACKAGE / room)
        for other in rooms_imported(path)
        if other in MAY_IMPORT and other not in allowed
    }
    assert not wrong


def test_foundation_imports_no_room():
    files = [p for p in python_files() if p.relative_to(PACKAGE).with_suffix("").parts[0] in FOUNDATION]
    assert not {f"{p.name} -> {room}" for p in files for room in rooms_imported(p) if room in MAY_IMPORT}


def test_private_names_of_others_stay_in_one_file():
    """scikit-learn's and skorch's private names change without notice."""
    wrong = [
        f"{path.relative_to(PACKAGE)}: {'.'.join(parts)}"
        for path in python_files()
        if path.name != "_compat.py"
        for parts in names_imported(path)
        if parts[0] in ("sklearn", "skorch") and any(part.startswith("_") for part in parts[1:-1])
    ]
    assert not wrong


def test_no_ring_of_files():
    """Imports for types alone count too: whoever reads a ring has to know all of its files at once."""
    list(TopologicalSorter(files_imported()).static_order())  # raises on a ring, and names it


def test_no_private_file_that_a_single_other_one_uses():
    """It is a part of that one, unless tests import it by itself."""
    graph, named = files_imported(), set()
    for text in (p.read_text() for p in Path(__file__).parents[1].rglob("*.py")):
        named |= {
            ".".join(parts[:n])
            for parts in (name.split(".") for name in DOTTED.findall(text))
            for n in range(2, 1 + len(parts))
        }
        for room, names in IMPORTED.findall(text):
            named |= {f"{room}.{name}" for name in re.findall(r"\w+", names)}
    alone = []
    for module, path in ((module_name(path), path) for path in python_files() if not path.stem.startswith("__")):
        room = module.rpartition(".")[0]
        init = (path.parent / "__init__.py").read_text()
        is_public = f'"{path.stem}"' in init or f"from .{path.stem} import" in init
        users = {user for user, used in graph.items() if module in used} - {room}
        is_tested = module in named
        of_a_kind = room.removeprefix("sklearn_deid.") in ONE_OF_A_KIND
        if len(users) < 2 and not (is_public or is_tested or of_a_kind or path.stem == "conftest"):
            alone.append(f"{module} <- {', '.join(sorted(users)) or 'nothing'}")
    assert not alone


# One process imports them in this order: what is banned of one must not be allowed of one before it.
LIGHT_IMPORTS = {
    "import sklearn_deid": HEAVY | {"sklearn", "scipy", "nvflare", "datasets", "presidio_analyzer"},
    "from sklearn_deid.federated import ParameterServer, Worker, run_rounds": HEAVY
    | {"sklearn", "scipy", "nvflare", "datasets", "presidio_analyzer"},
    "from sklearn_deid.federated.sites import FederationConfig, ExchangeService, SiteTraining": HEAVY
    | {"sklearn", "nvflare", "datasets", "presidio_analyzer"},
    "import sklearn_deid.integrations": HEAVY | {"sklearn", "datasets", "presidio_analyzer"},
    "import sklearn_deid.cli": HEAVY,
    "from sklearn_deid import Corpus, read_corpus, make_clinical_notes": HEAVY,
    "from sklearn_deid import WordVectors": HEAVY,
    # scikit-learn and skorch load pandas on their own where it is installed
    "from sklearn_deid import deid_report": HEAVY - {"pandas", "pyarrow"},
    "import sklearn_deid.plotting": HEAVY - {"pandas", "pyarrow", "torch", "skorch"},
    "from sklearn_deid import DeidTagger": {"spacy", "gensim", "matplotlib"},
}


def test_import_stays_light():
    bans = list(LIGHT_IMPORTS.values())
    assert all(before >= after for before, after in pairwise(bans))
    code = "\n".join(
        f"{statement}\nprint({statement!r}, sorted(set(sys.modules) & {banned!r}))"
        for statement, banned in LIGHT_IMPORTS.items()
    )
    out = subprocess.run([sys.executable, "-c", f"import sys\n{code}"], capture_output=True, text=True, check=True)
    assert out.stdout.splitlines() == [f"{statement} []" for statement in LIGHT_IMPORTS]


def test_public_names_resolve_and_are_listed():
    for name in sklearn_deid.__all__:
        assert getattr(sklearn_deid, name).__name__ == name
    assert set(sklearn_deid.__all__) <= set(dir(sklearn_deid))
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = sklearn_deid.nonsense


@pytest.mark.parametrize("room", MAY_IMPORT)
def test_all_of_a_room_exists(room):
    module = __import__(f"sklearn_deid.{room}", fromlist=["*"])
    assert [name for name in module.__all__ if not hasattr(module, name)] == []


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("__init__.py")), ids=lambda p: str(p.parent.relative_to(PACKAGE)))
def test_no_public_name_is_hidden_by_a_file(path):
    """Where names are resolved on first use, a loaded file hides what is named alike."""
    source = path.read_text()
    if "def __getattr__" in source:
        here = "sklearn_deid." + ".".join(path.parent.relative_to(PACKAGE).parts)
        module = __import__(here.rstrip("."), fromlist=["*"])
        files = {p.stem for p in path.parent.iterdir()}
        assert files.isdisjoint(module.__all__)


@pytest.mark.parametrize("path", python_files(), ids=lambda p: str(p.relative_to(PACKAGE)))
def test_house_rules(path):
    source, tree = path.read_text(), tree_of(path)
    assert ast.get_docstring(tree), "a file says first what it is"
    # Few files have more lines at all; counting takes longer than all other rules.
    is_short = len(source.splitlines()) <= MOST_CODE
    assert is_short or code_lines(source) <= MOST_CODE, "docstrings, comments and blank lines are free"
    for node in nodes_of(path):
        if isinstance(node, ast.ExceptHandler):
            caught = {n.id for n in ast.walk(node.type) if isinstance(n, ast.Name)} if node.type else {"everything"}
            goes_on = not (isinstance(node.body[-1], ast.Raise) and node.body[-1].exc is None)
            broad = caught & {"Exception", "BaseException", "everything"}
            assert not (broad and goes_on), f"broad except in line {node.lineno}"
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            body = node.body[1:] if ast.get_docstring(node) else node.body
            length = node.end_lineno - body[0].lineno + 1 if body else 0
            n_parameters = len([a for a in (*node.args.args, *node.args.kwonlyargs) if a.arg not in ("self", "cls")])
            assert length <= LONGEST_FUNCTION, f"{node.name} has {length} lines"
            most = MOST_SETTINGS if node.name == "__init__" else MOST_PARAMETERS
            assert n_parameters <= most, f"{node.name} has {n_parameters} parameters"


def test_no_unsafe_loading():
    calls = ("pickle.load", "pickle.loads", "torch.load", "joblib.load", "yaml.load", "eval", "exec")
    last = {call.rpartition(".")[2] for call in calls}
    found = [
        f"{path.relative_to(PACKAGE)}:{node.lineno}"
        for path in python_files()
        for node in nodes_of(path)
        if isinstance(node, ast.Call)
        if getattr(node.func, "attr", getattr(node.func, "id", "")) in last  # few of all calls are written out
        if ast.unparse(node.func) in calls
    ]
    assert found == []
