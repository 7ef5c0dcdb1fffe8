"""Several processes give what one gives, in the same order, and what fails in a process is not lost."""

import warnings
from concurrent.futures import BrokenExecutor, Future
from itertools import count, islice

import numpy as np
import pytest
import torch
from sklearn.base import BaseEstimator

from sklearn_deid import Document, NoteDeidentifier, RuleTagger
from sklearn_deid.exceptions import DeidError, WithheldWarning
from sklearn_deid.tagging import note_processes
from sklearn_deid.tagging.note_batches import NoteBatch
from sklearn_deid.tagging.note_processes import tag_batches
from sklearn_deid.tagging.note_tagger import NoteTagger

from .conftest import LocalPool


class TableTagger(BaseEstimator):
    """Finds a name, and the word "shared" if the large table is a file that processes share. A word breaks it."""

    def fit(self, X, y=None):
        self.table_ = np.arange(100_000.0)
        return self

    def predict(self, X):
        if any("Gorse" in row for row in X):
            raise ValueError("Gorse")
        phi = {"Alder", "shared"} if isinstance(self.table_, np.memmap) else {"Alder"}
        tags = np.empty(len(X), dtype=object)
        tags[:] = [["B-PATIENT" if token in phi else "O" for token in row] for row in X]
        return tags


HOSTILE = [7, "a\x00b", "", "{\\rtf1 x}", None, "No pain. " * 500, "Dr. Gorse", "\ud800"]
NOTES = [f"Note {n}. Dr. Alder came, mail to roe{n}@example.org." for n in range(30)]
MIXED = [*NOTES[:10], *HOSTILE, *NOTES[10:]]


def deidentify(notes, n_jobs, **settings):
    """Redacted notes and warnings."""
    deidentifier = NoteDeidentifier(TableTagger().fit([]), batch_size=3, on_error="withhold", n_jobs=n_jobs, **settings)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", WithheldWarning)
        return deidentifier.redact(notes), [str(w.message) for w in caught]


def test_two_processes_give_the_same_as_one_and_share_large_arrays(monkeypatch):
    # The last notes arrive when the other process has started, and therefore go to that process.
    started = []
    submit = note_processes.ProcessPoolExecutor.submit
    monkeypatch.setattr(
        note_processes.ProcessPoolExecutor, "submit", lambda *a: started.append(submit(*a)) or started[-1]
    )

    def notes():
        yield from MIXED
        _ = started and started[0].result()
        yield from ["shared"] * 6

    one, two = (deidentify(notes(), n_jobs) for n_jobs in (1, 2))
    assert one[0][-6:] == ["shared"] * 6
    # This process tags the last ones as well.
    assert two[0][-6] == "[PATIENT]"
    assert one[0][: len(MIXED)] == two[0][: len(MIXED)]
    assert one[1] == two[1]
    assert [n for n, text in enumerate(one[0]) if text is None] == [10, 11, 13, 14, 16]
    assert one[0][0] == "Note 0. Dr. [PATIENT] came, mail to roe0@example.org."
    assert len(one[1]) == 5


@pytest.mark.parametrize("n_jobs", [None, 2, 4, 50])
def test_number_of_processes_changes_nothing(local_processes, n_jobs):
    assert deidentify(MIXED, n_jobs) == deidentify(MIXED, 1)
    assert LocalPool.shut == (n_jobs is not None)


class BusyPool(LocalPool):
    """Processes that have started, and have tagged a batch only when somebody waits for the result."""

    def submit(self, function, *batches):
        found = super().submit(function, *batches)
        if batches:
            found.done = lambda: False
        return found


class SlowPool(LocalPool):
    """Processes that start only when somebody waits for them."""

    def submit(self, function, *batches):
        assert not batches
        return Future()


class EndedPool(LocalPool):
    """Processes that end while they start."""

    def submit(self, function, *batches):
        if batches:
            raise BrokenExecutor
        return super().submit(function)


def spans_found(n_batches, n_jobs=2):
    """Whether each batch had a span: those of other processes have one, since their table is a file."""
    batches = (NoteBatch([f"Note {n}, shared."], None) for n in range(n_batches))
    return [bool(spans) for (spans,) in tag_batches(NoteTagger(TableTagger().fit([]), {}), batches, n_jobs)]


@pytest.mark.parametrize("n_jobs", [2, 4])
def test_this_process_tags_while_the_others_are_busy(local_processes, monkeypatch, n_jobs):
    monkeypatch.setattr(note_processes, "ProcessPoolExecutor", BusyPool)
    n_threads, most = torch.get_num_threads(), 3 * (n_jobs - 1)
    found = spans_found(40, n_jobs)
    assert len(found) == 40
    assert found[: most + 3] == [True] * most + [False] * 3
    assert most < sum(found) < 40 - 5
    # At the end, this process waits for a single batch of the others.
    assert sum(found[-most:]) <= 1
    assert (torch.get_num_threads(), LocalPool.shut) == (n_threads, 1)
    assert deidentify(MIXED, 3) == deidentify(MIXED, 1)


def test_this_process_waits_for_no_start(local_processes, monkeypatch):
    monkeypatch.setattr(note_processes, "ProcessPoolExecutor", SlowPool)
    assert spans_found(10) == [False] * 10
    assert LocalPool.shut == 1


def test_processes_that_end_while_they_start(local_processes, monkeypatch):
    monkeypatch.setattr(note_processes, "ProcessPoolExecutor", EndedPool)
    with pytest.raises(DeidError, match="Use fewer jobs") as caught:
        spans_found(10)
    assert (caught.value.__context__, LocalPool.shut) == (None, 1)


def test_threads_of_this_process_come_back_after_an_interruption(local_processes, monkeypatch):
    def interrupted(*batch):
        raise KeyboardInterrupt

    monkeypatch.setattr(note_processes, "ProcessPoolExecutor", SlowPool)
    asked = []
    monkeypatch.setattr(torch, "get_num_threads", lambda: 4)
    monkeypatch.setattr(torch, "set_num_threads", asked.append)
    monkeypatch.setattr(NoteTagger, "__call__", interrupted)
    with pytest.raises(KeyboardInterrupt):
        spans_found(10)
    # First the process of the pool, which the test runs here, then this process and its own number again.
    assert (asked, LocalPool.shut) == ([2, 2, 4], 1)


def test_process_that_ends_is_an_error_and_earlier_notes_are_kept(local_processes):
    found = NoteDeidentifier(TableTagger().fit([]), batch_size=1, on_error="withhold", n_jobs=2).iter_annotate(
        [*NOTES, "end", *NOTES]
    )
    done = [item for item, _ in islice(found, len(NOTES))]
    with pytest.raises(DeidError, match="Use fewer jobs") as caught:
        next(found)
    assert (done, caught.value.__context__, LocalPool.shut) == (NOTES, None, 1)


def test_error_names_the_note_and_holds_no_text(local_processes):
    deidentifier = NoteDeidentifier(TableTagger().fit([]), batch_size=1, n_jobs=2)
    with pytest.raises(DeidError, match=r"ValueError\. \[document n2\]") as caught:
        deidentifier.annotate([Document(f"n{n}", text) for n, text in enumerate(["Fine.", "Fine.", "Dr. Gorse"])])
    assert "Gorse" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_few_notes_are_read_ahead_and_processes_end_with_the_iterator(local_processes):
    read = []
    notes = (read.append(n) or f"Note {n}." for n in count())
    found = NoteDeidentifier(RuleTagger().fit([]), batch_size=2, n_jobs=2).iter_annotate(notes)
    assert len(list(islice(found, 1))) == 1
    assert len(read) <= 2 * (2 * 2 + 1)
    found.close()
    assert LocalPool.shut == 1


def test_process_ends_when_its_parent_was_killed(monkeypatch, tmp_path):
    parents = iter([7, 7, 1])
    monkeypatch.setattr(note_processes.os, "getppid", lambda: next(parents))
    monkeypatch.setattr(note_processes, "_PARENT_SECONDS", 0)
    monkeypatch.setattr(note_processes.os, "_exit", lambda code: (_ for _ in ()).throw(SystemExit(code)))
    folder = tmp_path / "arrays"
    folder.mkdir()
    with pytest.raises(SystemExit):
        note_processes._end_with(7, str(folder))
    assert not folder.exists()


def test_single_batch_starts_no_process(monkeypatch):
    monkeypatch.setattr(note_processes, "ProcessPoolExecutor", None)
    assert NoteDeidentifier(RuleTagger().fit([]), n_jobs=2).redact(["Fine."]) == ["Fine."]
    assert list(tag_batches(NoteTagger(RuleTagger().fit([]), {}), [], 2)) == []


@pytest.mark.parametrize("n_jobs", ["two", 1.5])
def test_wrong_number_of_jobs(n_jobs):
    with pytest.raises(ValueError, match="'n_jobs' parameter"):
        NoteDeidentifier(RuleTagger().fit([]), n_jobs=n_jobs).redact(["Fine."])
