"""Start of a training from a trained model, which may have other labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from os import PathLike
from types import MappingProxyType
from typing import Any

import numpy as np
import torch
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator

from ..embeddings import SubwordTable
from ..exceptions import SequenceError
from ..saving import load
from ..sequences import TokenSequences
from ..text import names_of_i2b2, nearest_i2b2, split_tag
from .initial_weights import copy_weights
from .listed_vectors import ListedVectors, locale_of
from .network_size import network_size
from .safe_harbor import STAYING
from .shipped_models import STARTERS, starter_folder

#: Amount by which the score of "O" is lowered after a training from a model of the package. Such models are shipped
#: with lower scores of "O", which a training on few notes does not have. With the lower score, 98.3 instead of 97.0 %
#: of the PHI words of generated notes are found after 20 of them, at equal strict F1, and 89.4 instead of 83.9 % of the
#: PHI of German letters after 12 of them (five folds, seed 1; docs/measurements/few_notes.md).
STARTER_BIAS = 1.0
# IOB2 prefixes of the first token and of the last token of a span, where BIOES has other prefixes.
_IN_IOB2 = {"S": "B", "E": "I"}
# Score that makes a tag practically illegal.
_CLOSED = -10.0
# Attributes under which models hold the tagger inside.
_INSIDE = ("estimator_", "tagger_", "estimator")
# Sentences with PHI, and without, in which the labels of both models are compared: enough for rare labels, few enough
# for seconds.
_MOST_COMPARED = 2000


def loaded_start(start: Any) -> Any:
    """Return the model of the ``warm_start_from`` parameter of a `DeidTagger`."""
    if isinstance(start, (str, PathLike)):
        return load(starter_folder(start) if start in STARTERS else start)
    return start


def start_tagger(start: Any) -> Any:
    """Return the `DeidTagger` inside the model of a ``warm_start_from`` parameter.

    Parameters
    ----------
    start : str, path or fitted estimator
        Name of a model of the package, folder of a saved model, or a model. If the model is a `NoteDeidentifier`, a
        `RecallTunedTagger` or another wrapper, the result is the tagger inside.

    Raises
    ------
    ValueError
        If the model has no single `DeidTagger` inside that reads words with n-grams.
    NotFittedError
        If the model is not fitted.
    """
    model = loaded_start(start)
    # A FrozenEstimator forwards attributes of the model inside, and is no tagger.
    while isinstance(model, FrozenEstimator) or not hasattr(model, "module_"):
        inside = next((getattr(model, name) for name in _INSIDE if getattr(model, name, None) is not None), None)
        if inside is None:
            break
        model = inside
    if not hasattr(model, "module_"):
        if hasattr(model, "partial_fit"):
            raise NotFittedError(
                "The 'warm_start_from' parameter of DeidTagger is a model that is not fitted. A clone of a fitted "
                "model is not fitted, too: save the model and pass its folder, or wrap it in a FrozenEstimator."
            )
        raise ValueError(
            "The 'warm_start_from' parameter of DeidTagger must be the name of a model of the package, the folder of a "
            "saved model, or a fitted model, with one DeidTagger inside that reads words. "
            f"Got a {type(start).__name__} instead."
        )
    if not isinstance(model._vectors, (SubwordTable, ListedVectors)):
        raise ValueError(
            "The 'warm_start_from' parameter of DeidTagger must be a model whose tagger reads vectors of n-grams. The "
            f"tagger in this {type(start).__name__} reads none: train it with embeddings='auto'."
        )
    return model


def check_is_another(start: Any, tagger: Any) -> None:
    """Refuse a ``warm_start_from`` parameter that is the new tagger itself, or a model with the new tagger inside.

    `fit` would forget the weights before they are copied.

    Parameters
    ----------
    start : object
        The ``warm_start_from`` parameter.
    tagger : DeidTagger
        Tagger that has this parameter.

    Raises
    ------
    ValueError
        If the tagger would start from itself.
    """
    while start is not None and not isinstance(start, (str, PathLike)):
        if start is tagger:
            raise ValueError(
                "The 'warm_start_from' parameter of DeidTagger must be another model. To train this tagger further, "
                "set warm_start=True. Or pass a copy: copy.deepcopy(tagger)."
            )
        start = next((getattr(start, name) for name in _INSIDE if getattr(start, name, None) is not None), None)


def is_starter(start: Any) -> bool:
    """Whether the ``warm_start_from`` parameter of a `DeidTagger` names a model of the package.

    Examples
    --------
    >>> is_starter("starter-en"), is_starter(None)
    (True, False)
    """
    return isinstance(start, str) and start in STARTERS


def is_in_another_language(start: Any, X: TokenSequences) -> bool:
    """Whether a training starts from a model of the package whose training texts are in another language than X.

    False if the language is unknown: for other models, and for an X in no language of
    `sklearn_deid.surrogates.LOCALES`.

    Parameters
    ----------
    start : object
        The ``warm_start_from`` parameter of a `DeidTagger`.
    X : TokenSequences
        Sentences to train on.

    Examples
    --------
    >>> X = TokenSequences.from_rows(["Der Patient wurde am Montag in die Klinik aufgenommen .".split()])
    >>> is_in_another_language("starter-en", X), is_in_another_language(None, X)
    (True, False)
    """
    language = STARTERS.get(start) if isinstance(start, str) else None
    return language is not None and locale_of(X.data) not in ("", language)


def start_vectors(start: Any, embeddings: Any, X: TokenSequences) -> SubwordTable | ListedVectors:
    """Word vectors of a training that starts from a fitted tagger.

    Parameters
    ----------
    start : DeidTagger
        Fitted tagger with vectors of n-grams.
    embeddings : object
        Parameter of the new tagger. With "auto", the lists of the language of X are added if the vectors of ``start``
        have no lists. With `ListedVectors`, the lists of this object are added.
    X : TokenSequences
        Sentences to train on.
    """
    vectors = start._vectors
    if isinstance(vectors, ListedVectors):
        return vectors
    if isinstance(embeddings, ListedVectors):
        return embeddings.after(vectors)
    if not (isinstance(embeddings, str) and embeddings == "auto"):
        return vectors
    return ListedVectors.in_language(vectors, locale_of(X.data))


def compared_tags(source: Any, X: TokenSequences, tags: TokenSequences) -> tuple[Any, Any]:
    """Annotated tags of training sentences, and tags that a fitted tagger predicts for these sentences.

    The first sentences with PHI and the first sentences without PHI are enough to match the labels.
    """
    has_phi = np.array([any(tag != "O" for tag in row) for row in tags], dtype=bool)
    rows = np.concatenate([np.flatnonzero(has_phi)[:_MOST_COMPARED], np.flatnonzero(~has_phi)[:_MOST_COMPARED]])
    return tags[rows], source.predict(X[rows])


def unseen_labels(start: Any, source: Any, tags: Any, found: Any) -> dict[str, str]:
    """Labels of the start model that are kept because they do not occur in the training notes.

    Without kept labels, a tagger trained on ten notes without an e-mail address would find no e-mail address. A label
    is kept if the label is not in the annotations and the start model tags no token of the notes with the label. If the
    start model tags tokens with the label, the tagger learns from the annotations whether such tokens are PHI, and with
    which label. If the notes use a known label scheme, kept labels have the names of this scheme. A label whose name in
    this scheme is in the notes is not kept.

    Parameters
    ----------
    start : object
        The ``warm_start_from`` parameter of a `DeidTagger`.
    source : DeidTagger
        The `DeidTagger` inside the start model.
    tags, found : sequence of sequence of str
        Annotated tags of all training sentences, and the tags that the start model predicts for the sentences of
        `compared_tags`.

    Returns
    -------
    dict of str to str
        Label of the start model for each name in the new tagger.

    Examples
    --------
    >>> model = start_tagger("starter-en")
    >>> kept = unseen_labels("starter-en", model, [["B-NOMBRE_PERSONAL_SANITARIO", "O"]], [["B-DOCTOR", "O"]])
    >>> kept["CORREO_ELECTRONICO"], "DOCTOR" in kept.values()
    ('EMAIL', False)
    """
    own = {str(split_tag(tag)[1]) for row in tags for tag in row if tag != "O"}
    if not own:
        return {}  # notes without annotations are refused, and kept labels must not hide missing annotations
    seen = own | {split_tag(tag)[1] for row in found for tag in row}
    # A label that the start model finds and keeps would be hidden.
    asked = getattr(loaded_start(start), "labels", "all")
    stays = frozenset() if asked == "all" else STAYING
    kept = sorted({str(split_tag(tag)[1]) for tag in source.classes_ if tag != "O"} - seen - stays)
    # Spans that the Safe Harbor rule keeps may have labels of the start model (`with_staying`) outside of the scheme of
    # the notes.
    names, result = names_of_i2b2(own) or names_of_i2b2(own - {"AGE", *STAYING}), {}
    for label in kept:
        name = names.get(label, label)
        if name not in own:
            # Two labels would become one tag. Names of a scheme never coincide in this way, names of other models can.
            result[label if name in result or (name != label and name in kept) else name] = label
    return result


def start_weights(
    tagger: Any, source: Any, gold: Any, found: Any, kept: Mapping[str, str] = MappingProxyType({})
) -> None:
    """Copy the weights of a fitted tagger to a new tagger.

    Labels are matched by name, or by the tokens that they annotate (`matched_tags`). If a tag of a label in ``kept``
    cannot begin or end a sentence in the fitted tagger, the tag cannot begin or end a sentence in the new tagger.

    Raises
    ------
    ValueError
        If the networks differ in more than their tags.
    """
    known = source.classes_.tolist()
    matched = matched_tags(tagger.classes_.tolist(), known, gold, found, kept)
    if not copy_weights(tagger.module_, matched, source.module_, known):
        own = {name: getattr(source, name) for name in ("encoder", "head", "characters")}
        own |= network_size(source)._asdict()
        raise ValueError(
            "The 'warm_start_from' parameter of DeidTagger must be a model whose network has the same shape. Its "
            f"tagger has {', '.join(f'{name}={value!r}' for name, value in own.items())}. With hidden_size='auto' and "
            "n_layers='auto', a tagger has the size of its start."
        )
    _close_borders(tagger, source, matched, kept)


@torch.no_grad()
def _close_borders(tagger: Any, source: Any, matched: Sequence[str], kept: Mapping[str, str]) -> None:
    """Lower the scores of kept tags at borders of sentences where these tags are illegal in the start model.

    In the new tagger, spans may continue across lines. In the start model, spans may not continue across lines, and the
    scores for continued spans are random. Training notes without the kept labels would not correct these scores.
    """
    known, crf = source.module_.crf, tagger.module_.crf
    if known is None or crf is None or known.legal_start is None:
        return
    number = {tag: i for i, tag in enumerate(source.classes_)}
    for i, tag in enumerate(tagger.classes_):
        if split_tag(tag)[1] in kept and matched[i]:
            for border in ("start", "end"):
                if not getattr(known, f"legal_{border}")[number[matched[i]]]:
                    getattr(crf, f"{border}_transitions")[i] = _CLOSED


def matched_tags(
    tags: Sequence[str], known: Sequence[str], gold: Any, found: Any, kept: Mapping[str, str] = MappingProxyType({})
) -> list[str]:
    """For each tag, the tag of another model whose weights are copied; "" without such a tag.

    The weights of a label that also exists in the other model, and of a kept label, are the weights of this label in
    the other model. For any other label, the weights are copied from the label that the other model most often assigns
    to the tokens of the label. If the label has no tokens and is in a known scheme, the weights are copied from the
    nearest label of i2b2 (`nearest_i2b2`).

    Parameters
    ----------
    tags, known : sequence of str
        Tags of the new model and of the other model.
    gold, found : sequence of sequence of str
        Tags of training sentences: the annotated tags, and the tags that the other model predicts.
    kept : mapping of str to str, optional
        Label of the other model for each kept label (see `unseen_labels`).

    Examples
    --------
    >>> gold, found = [["B-NOMBRE", "I-NOMBRE", "O"]], [["B-PATIENT", "I-PATIENT", "O"]]
    >>> matched_tags(["O", "B-NOMBRE", "I-NOMBRE", "B-X"], ["O", "B-PATIENT", "I-PATIENT"], gold, found)
    ['O', 'B-PATIENT', 'I-PATIENT', '']
    """
    labels = {split_tag(tag)[1] for tag in known}
    together: dict[str | None, Counter[str]] = {}
    for own, other in zip(gold, found, strict=True):
        for a, b in zip(own, other, strict=True):
            if a != "O" and b != "O":
                together.setdefault(split_tag(a)[1], Counter())[str(split_tag(b)[1])] += 1
    nearest = {} if together else nearest_i2b2()
    matched = []
    for tag in tags:
        prefix, label = split_tag(tag)
        label = None if label is None else kept.get(label, label)
        if label is not None and label not in labels:
            # The first label in the alphabet among the most frequent ones: the result must not depend on an order.
            counts = together.get(label, Counter())
            label = min(counts, key=lambda name: (-counts[name], name), default=nearest.get(label))
        # A model with IOB2 tags inside has no S and no E.
        names = ["O"] if tag == "O" else [f"{begin}-{label}" for begin in (prefix, _IN_IOB2.get(prefix, prefix))]
        matched.append(next((name for name in names if name in known), ""))
    return matched


def took_public_weights(tagger: Any, X: Any) -> bool:
    """Copy the weights of the public tagger of token vectors. False without a tagger, or if the networks differ in
    shape.

    Parameters
    ----------
    tagger : DeidTagger
        Tagger with a new network.
    X : sequence of n sentences
        Sentences to train on.

    Examples
    --------
    >>> took_public_weights(None, TokenSequences.from_rows([["Fever"]]))
    False
    """
    public = getattr(X, "tagger", None)
    if public is None:
        return False
    return copy_weights(tagger.module_, tagger.classes_.tolist(), public.module_, public.classes_.tolist())


def check_reads_words(X: Any) -> None:
    """Raise SequenceError if X contains vectors: a start from a model that reads words is then impossible."""
    if not isinstance(X, TokenSequences):
        raise SequenceError("A DeidTagger with 'warm_start_from' reads words. X holds vectors.")
