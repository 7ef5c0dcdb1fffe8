"""Training and scoring with held-out patients, for ``train`` and ``demo``.

This module imports skorch, and skorch imports torch. Commands therefore import this module only when they run, so that
``--help`` is fast.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np
from skorch import NeuralNet
from skorch.callbacks import Callback
from tqdm import tqdm

from ..exceptions import AlignmentWarning, DeidError
from ..text import Corpus, Document
from .failures import remember_interrupts

DEFAULT_START = "default"
# Notes that are read to advise on the labels.
_ADVISED_ON = 50
# Parameters of a tagger that decide on the shape of its network, beside sizes, which are taken from the start.
_NETWORK = ("encoder", "head", "characters")


def hold_out_patients(corpus: Corpus, share: float, seed: int) -> tuple[Corpus, Corpus]:
    """Split a corpus by patients. A note without a patient id counts as a patient of its own.

    Parameters
    ----------
    corpus : Corpus
        Notes of at least two patients.
    share : float in (0, 1)
        Fraction of the patients that is held out. Each side has at least one patient.
    seed : int
        Random seed.

    Returns
    -------
    rest, held_out : Corpus
        Notes of the other patients, and notes of the held-out patients.

    Examples
    --------
    >>> from sklearn_deid import Document
    >>> corpus = Corpus(Document(name, "", patient_id=name[0]) for name in ("a1", "a2", "b1", "c1"))
    >>> rest, held_out = hold_out_patients(corpus, 0.4, seed=0)
    >>> len(rest.patients), len(held_out.patients)
    (2, 1)
    """
    patients = np.array(corpus.patients, dtype=object)
    # At least one patient is on either side.
    n = min(max(1, round(share * len(patients))), len(patients) - 1)
    chosen = set(np.random.default_rng(seed).permutation(patients)[:n])
    held_out = np.array([patient in chosen for patient in corpus.groups], dtype=bool)
    return corpus[~held_out], corpus[held_out]


def check_start(start: Any, context: str | None) -> None:
    """Check a model of ``--from`` before the notes are read.

    Raises
    ------
    DeidError
        If the model has no tagger to start from, or if its network is not the network of the new tagger.
    """
    from ..tagging.tagger import DeidTagger
    from ..tagging.warm_start import start_tagger

    if start is None or start == DEFAULT_START:
        return
    source = None
    try:
        source = start_tagger(start)
    except DeidError:
        raise
    except ValueError:
        pass
    if source is None:
        raise DeidError("The model of --from has no tagger that reads words with n-grams.", path=str(start))
    others = [name for name in _NETWORK if getattr(source, name) != DeidTagger().get_params()[name]]
    if others:
        raise DeidError(f"The model of --from has another network ({', '.join(others)}).", path=str(start))
    if context == "sentence" and source.context != context:
        raise DeidError("The model of --from reads several sentences at once. Leave out --context.", path=str(start))


def fit_deidentifier(
    corpus: Corpus,
    raw: Sequence[Document] | None = None,
    *,
    start: Any = DEFAULT_START,
    around: Callable[[Any], Any] | None = None,
    labels: str = "all",
    quiet: bool = False,
    verbose: bool = False,
    **parameters: Any,
) -> Any:
    """Train a `NoteDeidentifier`. Progress is printed on standard error.

    Parameters
    ----------
    corpus : Corpus
        Annotated notes.
    raw : sequence of Document, optional
        Raw notes for additional training without annotations.
    start : "default", path or None, default="default"
        Model from which the training starts; with None, the weights are random. The default is the start of a
        `NoteDeidentifier`.
    around : callable, optional
        Function from a `DeidTagger` to the estimator that is trained, which contains the tagger.
    labels : {"all", "hipaa"}, default="all"
        Parameter of `NoteDeidentifier`.
    quiet, verbose : bool, default=False
        Whether to print no progress (``quiet``), or a line for each epoch instead of a progress bar (``verbose``).
    **parameters
        Parameters of `DeidTagger`.

    Raises
    ------
    KeyboardInterrupt
        If the training was interrupted. An incompletely trained model must not be used.
    """
    from ..tagging.note_deidentifier import NoteDeidentifier
    from ..tagging.self_training import SelfTraining
    from ..tagging.tagger import DeidTagger
    from ..tagging.warm_start import is_starter

    progress = None if quiet else [("epoch_progress", EpochProgress(verbose))]
    settings = _settings(corpus, start)
    if parameters.get("encoder", "lstm") != "lstm":
        settings.pop("warm_start_from", None)
    if start == DEFAULT_START and "warm_start_from" in settings and not quiet:
        _print_line(
            f"The training starts from {settings['warm_start_from']}, since the notes are few, and keeps labels of it "
            "that the notes do not show."
        )
    if labels == "all" and is_starter(settings.get("warm_start_from")) and not quiet:
        _advise_labels(corpus, settings["warm_start_from"])
    tagger: Any = DeidTagger(callbacks=progress, **{**settings, **parameters})
    tagger = tagger if around is None else around(tagger)
    # skorch ends its training loop at Ctrl-C without an error, so that the signals are recorded here.
    with remember_interrupts() as interrupts, warnings.catch_warnings():
        warnings.simplefilter("ignore", AlignmentWarning)  # the caller shows the whole report
        training = SelfTraining(progress=None if quiet else _print_line)
        deidentifier = NoteDeidentifier(tagger, labels=labels, self_training=training).fit(corpus, unlabelled=raw)
    if interrupts:  # the training loop ends in peace when it is interrupted
        raise KeyboardInterrupt
    return deidentifier


def _advise_labels(corpus: Corpus, start: str) -> None:
    """Report notes that seem to be marked by the Safe Harbor rule: a network would learn that ages are not PHI."""
    from ..tagging.safe_harbor import is_marked_by_rule
    from ..tagging.warm_start import loaded_start

    some = [note for note, _ in zip(corpus, range(_ADVISED_ON), strict=False)]
    if is_marked_by_rule(some, loaded_start(start).finding_all()):
        _print_line(
            "The notes seem to mark only what the Safe Harbor rule of HIPAA removes: no age under 90, no bare year. "
            "With --labels hipaa, the model misses fewer ages from 90 and dates."
        )


def _settings(corpus: Corpus, start: Any) -> dict[str, Any]:
    from ..tagging.default_start import default_settings
    from ..tagging.warm_start import start_tagger

    if start == DEFAULT_START:
        return default_settings(corpus)
    if start is None:
        return {name: value for name, value in default_settings(corpus).items() if name != "warm_start_from"}
    # As much text at once as the model reads: blocks after single sentences cost 2.9 of F1 on GraSCCo (three folds).
    return {"context": start_tagger(start).context, "warm_start_from": start}


def _print_line(line: str) -> None:
    print(line, file=sys.stderr)


def predict_corpus(deidentifier: Any, corpus: Corpus) -> Corpus:
    """Return the documents with the predicted spans. A withheld note has no spans, and a warning names the note."""
    # A single note that cannot be read must not throw a finished training away.
    careful = copy(deidentifier).set_params(on_error="withhold")
    return Corpus(replace(document, spans=spans or ()) for document, spans in careful.iter_annotate(corpus))


class EpochProgress(Callback):
    """Progress bar over the epochs, or a line for each epoch.

    Parameters
    ----------
    lines : bool, default=False
        Whether to print lines, which are readable in a log file.
    """

    def __init__(self, lines: bool = False) -> None:
        self.lines = lines

    def on_train_begin(self, net: NeuralNet, X: Any = None, y: Any = None, **kwargs: Any) -> None:
        total = dict(net.callbacks_)["lr_decay"].n_epochs  # what max_epochs="auto" has come to
        self.bar_ = tqdm(total=total, desc="training", unit=" epochs", disable=self.lines, file=sys.stderr)

    def on_epoch_end(self, net: NeuralNet, **kwargs: Any) -> None:
        row = net.history[-1]
        if self.lines:
            of = f"epoch {row['epoch']} of {self.bar_.total}"
            print(f"{of}: loss {row['train_loss']:.3f}, {row['dur']:.1f} s", file=sys.stderr)
        else:
            self.bar_.set_postfix_str(f"loss {row['train_loss']:.3f}", refresh=False)
            self.bar_.update()

    def on_train_end(self, net: NeuralNet, X: Any = None, y: Any = None, **kwargs: Any) -> None:
        self.bar_.close()
        del self.bar_  # an open stream must not be pickled with the tagger
