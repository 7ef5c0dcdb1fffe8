"""Every Python block of the README and the documentation runs, in order, in one namespace a page."""

import copy
import re

import pytest

from sklearn_deid import NoteDeidentifier, read_corpus

from .pages import PAGES, ROOT, blocks_of, name_of

TRAINED = {}


@pytest.fixture
def equal_trainings_once(monkeypatch):
    """Several pages begin with one training with all defaults on the same notes; the others get copies of the first."""
    train = NoteDeidentifier.fit

    def fit(self, corpus, y=None, **more):
        if repr(self) != "NoteDeidentifier()" or y is not None or more:
            return train(self, corpus, y, **more)
        key = str([(n.text, n.patient_id, [(s.start, s.end, s.label) for s in n.spans]) for n in corpus])
        if key not in TRAINED:
            TRAINED[key] = copy.deepcopy(train(self, corpus))
        vars(self).update(vars(copy.deepcopy(TRAINED[key])))
        return self

    monkeypatch.setattr(NoteDeidentifier, "fit", fit)


@pytest.mark.parametrize("page", [page for page in PAGES if blocks_of(page)], ids=name_of)
def test_python_blocks_run(page, tmp_path, monkeypatch, capsys, known_keys, equal_trainings_once, kept_processes):
    monkeypatch.chdir(tmp_path)
    namespace = {}
    for block in blocks_of(page):
        exec(compile(block, name_of(page), "exec"), namespace)
    assert not re.search(r"Dr\. (Alder|Birch)", capsys.readouterr().out), "an example of redaction hides nothing"
    both = set(written_by_commands(page)) & {path.name for path in tmp_path.iterdir()}
    assert not both, "an existing output is refused, so that nobody can run the commands and the Python blocks"
    for folder in audited_by_commands(page) & {path.name for path in tmp_path.iterdir()}:
        assert len(set(read_corpus(folder).groups)) >= 3, "an audit of notes of fewer patients is refused"


def audited_by_commands(page):
    """Folders with the notes that audits of a page read."""
    return set(re.findall(r"^sklearn-deid audit ([\w-]+)/", "\n".join(blocks_of(page, "bash")), re.MULTILINE))


def written_by_commands(page):
    """Outputs, models and plans that the commands of a page write, in order; a command may resume its own output."""
    commands = "\n".join(blocks_of(page, "bash")).replace("\\\n", " ").splitlines()
    pattern = {True: r"--(?:output|model) (\S+)", False: r"(?:--output|federate plan) (\S+)"}
    written = [
        re.findall(pattern[command.startswith("sklearn-deid train ")], command.split("#")[0])
        for command in commands
        if not re.search(r"--(resume|overwrite|read) ?", command)
    ]
    return [name.rstrip("/") for names in written for name in names]


@pytest.mark.parametrize("page", [page for page in PAGES if blocks_of(page, "bash")], ids=name_of)
def test_commands_of_a_page_can_be_run_one_after_the_other(page):
    written = written_by_commands(page)
    assert len(set(written)) == len(written), "an existing output is refused"


def commands_of(text):
    """Commands of the program that a text names, as lists of words."""
    return {match.group(1) for match in re.finditer(r"^sklearn-deid ([a-z]+)", text, re.MULTILINE)}


def test_commands_of_the_pages_exist(capsys):
    from sklearn_deid.cli import main

    named = {name_of(page): commands_of("\n".join(blocks_of(page, "bash"))) for page in PAGES}
    assert {"train", "redact", "evaluate"} <= named["README.md"]
    for command in sorted(set().union(*named.values())):
        with pytest.raises(SystemExit) as done:
            main([command, "--help"])
        assert done.value.code == 0


def options_of(line):
    """Long options of a shell line."""
    return set(re.findall(r"(?<= )--[a-z][a-z-]*", line))


def test_options_of_the_pages_exist(capsys):
    from sklearn_deid.cli import main

    for page in PAGES:
        for line in "\n".join(blocks_of(page, "bash")).replace("\\\n", " ").splitlines():
            words = line.split("#")[0].split()
            if words[:1] != ["sklearn-deid"] or len(words) < 2 or words[1].startswith("--"):
                continue
            command = words[1:3] if words[1] == "federate" else words[1:2]
            with pytest.raises(SystemExit):
                main([*command, "--help"])
            help_text = capsys.readouterr().out
            for option in options_of(line):
                assert option in help_text, f"{name_of(page)}: {' '.join(command)} {option}"


def test_readme_has_the_commands_that_are_checked():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for marker in ("demo", "tests"):
        assert re.search(rf"<!-- {marker} -->\n```bash\n.+\n```\n<!-- end -->", text), marker
