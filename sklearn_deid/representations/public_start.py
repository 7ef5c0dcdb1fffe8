"""Start of a private representer: weights that were learned from public notes before the training on private notes.

The bound of a representer holds for any weights. Weights that were learned from public notes reveal nothing about
private notes. A start from public notes therefore costs no privacy.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib.resources import as_file, files
from typing import Any

import numpy as np
from torch import Tensor

from .._storage import read_manifest
from ..exceptions import SequenceError
from ..sequences import TokenSequences, check_tags
from ..tagging.initial_weights import copy_weights
from ..tagging.network import TaggerModule
from ..tagging.tagger_data import inner_tags
from ..text import Corpus, Document, SentenceData
from ..text.tags import sorted_tags
from .private_model import PrivateModel

# Number of notes and random seed of "generated". The benchmarks use other seeds.
N_GENERATED, SEED = 600, 20_190_728
#: Number of epochs of the training on public notes.
PUBLIC_EPOCHS = 10


@dataclass(frozen=True, repr=False)
class PublicStart:
    """Weights of a representer and its tagger, and the dual variables of their training.

    Attributes
    ----------
    network : mapping of str to Tensor
        Weights of the `Representer`.
    tagger : TaggerModule
        Network of the tagger.
    classes : tuple of str
        Tags of the tagger.
    prices : tuple of two float
        Last dual variables of the mean and of the quantile.
    """

    network: dict[str, Tensor]
    tagger: TaggerModule
    classes: tuple[str, ...]
    prices: tuple[float, float]

    @classmethod
    def of(cls, representer: Any) -> PublicStart:
        """Take the weights of a fitted `PrivateRepresenter` that was trained by bounded training."""
        prices = [
            (float(row["price_mean"]), float(row["price_tail"]))
            for row in representer.history_
            if "price_mean" in row and "price_tail" in row
        ]
        if not prices:
            raise ValueError("Only a PrivateRepresenter of bounded training can start another one.")
        return cls(
            dict(representer.network_.state_dict()),
            representer.tagger_.module_,
            tuple(representer.classes_.tolist()),
            prices[-1],
        )

    def apply(self, model: PrivateModel, classes: Iterable[str]) -> bool:
        """Copy the weights into a model whose tagger has these tags; return False if the networks differ."""
        own = model.representer.state_dict()
        # Shapes are compared instead of parameters: what matters is whether the weights fit.
        if {k: v.shape for k, v in own.items()} != {k: v.shape for k, v in self.network.items()}:
            return False
        # The tagger first: if its labels do not fit, the representer must not have been changed.
        if not copy_weights(model.tagger, list(classes), self.tagger, self.classes):
            return False
        model.representer.load_state_dict(self.network)
        return True


@cache
def shipped_start(checksum: str) -> PublicStart | None:
    """Return the start that is shipped for the word vectors of this checksum; None without such a start.

    ``benchmarks/public_start.py`` made the file from generated notes.
    """
    from ..saving import load

    with as_file(files(__package__) / "generated_start") as folder:
        # With other word vectors, the weights would read meaningless numbers.
        if read_manifest(folder)["state"]["embeddings_checksum"] != checksum:
            return None
        return PublicStart.of(load(folder, device="cpu"))


def public_sentences(public: Any) -> tuple[TokenSequences, TokenSequences]:
    """Return the sentences and tags of public notes.

    Parameters
    ----------
    public : "generated", Corpus, sequence of Document, SentenceData or tuple (X, y)
        Public notes.

    Raises
    ------
    SequenceError
        If the value has another type.

    Examples
    --------
    >>> X, y = public_sentences(([["Mr", "Alder"]], [["O", "B-PATIENT"]]))
    >>> len(X), y[0]
    (1, ['O', 'B-PATIENT'])
    """
    if isinstance(public, str):
        # Reading the templates of the notes takes longer than the rest of this package.
        from ..datasets import make_clinical_notes

        public = make_clinical_notes(N_GENERATED, random_state=SEED)
    if isinstance(public, (list, tuple, Corpus)) and len(public) and all(isinstance(d, Document) for d in public):
        public = (public if isinstance(public, Corpus) else Corpus(list(public))).to_sentences()
    if isinstance(public, SentenceData):
        public = (public.X, public.y)
    if not isinstance(public, tuple) or len(public) != 2:
        raise SequenceError("Public notes must be a Corpus, a list of Documents, or a tuple (X, y).")
    X, y = public
    X = X if isinstance(X, TokenSequences) else TokenSequences.from_rows(X)
    return X, check_tags(y, X)


def start_from_public(representer: Any, model: PrivateModel, run: Any) -> bool:
    """Copy the weights that ``representer.public`` selects into a new model; return whether weights were copied.

    Parameters
    ----------
    representer : PrivateRepresenter
        Representer in its `fit`, before the training.
    model : PrivateModel
        New model, which is changed in place.
    run : TrainingRun
        Run of the training on private notes; its first dual variables are the dual variables of the start.

    Raises
    ------
    ValueError
        If public notes are given for another training than bounded training, or if a fitted representer in ``public``
        does not fit.
    """
    public, training = representer.public, representer.training_
    if public is None or (_is_auto(public) and not hasattr(training, "learn_public")):
        return False
    if not hasattr(training, "learn_public"):
        raise ValueError(
            "The 'public' parameter of PrivateRepresenter must be None or 'auto' unless training is bounded. Got a "
            f"{type(public).__name__} instead. Take training='bounded'."
        )
    start = _start(representer, model, run)
    if start is not None and start.apply(model, representer.classes_.tolist()):
        run.prices = start.prices
        return True
    if hasattr(public, "network_"):
        raise ValueError(
            "The 'public' parameter of PrivateRepresenter must be a representer of the same word vectors, with "
            "networks of the same shape. Got a representer with other ones instead. Take its embeddings, "
            "n_components, encoder, hidden_size, casing and tagger_hidden_size."
        )
    return False


def _start(representer: Any, model: PrivateModel, run: Any) -> PublicStart | None:
    public, checksum = representer.public, representer._vectors.checksum
    if _is_auto(public):
        return shipped_start(checksum)
    if hasattr(public, "network_"):
        return PublicStart.of(public) if public._vectors.checksum == checksum else None
    X, y = public_sentences(public)
    tags = inner_tags(y, "iob2")
    # The public notes may have other labels than the private ones. They get a tagger of their own; only weights that
    # fit are copied.
    classes = np.array(sorted_tags({"O", *tags.data}), dtype=object)
    data = representer._pair_data(X, tags, None, classes)
    own = PrivateModel(model.representer, representer._new_tagger(len(classes))).to(run.device)
    batch_size = representer.batch_size or representer.training_.batch_of(len(data))
    prices = representer.training_.learn_public(own, run.of_public_notes(data, PUBLIC_EPOCHS, batch_size))
    return PublicStart(dict(own.representer.state_dict()), own.tagger, tuple(classes.tolist()), prices)


def check_public(public: Any) -> None:
    """Raise ValueError if a value is not a ``public`` parameter of `PrivateRepresenter`.

    Examples
    --------
    >>> check_public("auto"), check_public([])
    (None, None)
    """
    if isinstance(public, str):
        known = public in ("auto", "generated")
    else:
        known = public is None or isinstance(public, (Corpus, SentenceData, list, tuple)) or hasattr(public, "network_")
    if not known:
        given = repr(public) if isinstance(public, (str, int, float)) else f"a {type(public).__name__}"
        raise ValueError(
            "The 'public' parameter of PrivateRepresenter must be 'auto', 'generated', public notes, a fitted "
            f"PrivateRepresenter or None. Got {given} instead. In a search, put a fitted one into a FrozenEstimator."
        )


def _is_auto(public: Any) -> bool:
    return isinstance(public, str) and public == "auto"
