"""What a recipient of private vectors can learn from them, beside the tagger of the provider."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone

from ..exceptions import SequenceError
from ..metrics import phi_f1_score
from ..sequences import TokenSequences, check_tags
from ..tagging import DeidTagger
from .bound import PrivacyBound


def recipient_scores(
    representer: Any,
    X: Any,
    y: Any,
    X_test: Any,
    y_test: Any,
    *,
    tagger: Any = None,
    original: bool = False,
    random_state: Any = None,
) -> dict[str, float]:
    """Score a tagger that is trained on one release, as a recipient would train it, and the provider's tagger.

    Both taggers tag one release of other sentences. Measure the scores before publication and write them on the privacy
    card: ``save(representer, path, utility=scores)``. The releases of this function are not returned and must not be
    shared.

    Parameters
    ----------
    representer : PrivateRepresenter
        Fitted representer.
    X, y
        Sentences and tags that the recipient gets, usually the sentences of `fit`.
    X_test, y_test
        Sentences and tags of patients who are not in X and were not in `fit`; otherwise the scores are too high.
    tagger : estimator, optional
        Tagger of the recipient, which is cloned. By default a `DeidTagger` with ``random_state``; its training starts
        from the provider's tagger.
    original : bool, default=False
        Whether the same kind of tagger is also trained and scored on the original sentences. The default tagger then
        reads all features of a `DeidTagger`, and not only word vectors.
    random_state : int, RandomState or None, default=None
        Random seed of the default tagger. The noise of a representer without ``random_state`` differs in each call.

    Returns
    -------
    dict of str to float
        F1 between 0 and 1, under the names of `representations.privacy_card`: strict F1 with types of spans and F1 of
        PHI tokens, for the recipient, the provider and, if asked for, the original sentences.

    Raises
    ------
    SequenceError
        If tags do not match their sentences, if y_test has no PHI, or if X or X_test contains vectors.

    Examples
    --------
    >>> from sklearn_deid import DeidTagger, PrivateRepresenter, WordVectors
    >>> from sklearn_deid.representations import recipient_scores
    >>> vectors = WordVectors(["alder", "birch", "maple", "dr", "pain"],
    ...                       [[1, 0.1], [1, 0.2], [1, -0.1], [-1, 0], [0, 1]], is_public=True)
    >>> X, y = [["Dr", "Alder"], ["pain"], ["Dr", "Birch"]] * 10, [["O", "B-DOCTOR"], ["O"], ["O", "B-DOCTOR"]] * 10
    >>> representer = PrivateRepresenter(embeddings=vectors, n_neighbors=2, n_components=4, max_epochs=2).fit(X, y)
    >>> tagger = DeidTagger(max_epochs=2, hidden_size=8)
    >>> sorted(recipient_scores(representer, X, y, [["Dr", "Maple"]], [["O", "B-DOCTOR"]], tagger=tagger))
    ['provider_strict_f1', 'provider_token_f1', 'recipient_strict_f1', 'recipient_token_f1']
    """
    tagger = DeidTagger(random_state=random_state) if tagger is None else tagger
    released, others = representer.transform(X), representer.transform(X_test)
    tags = check_tags(y_test, others)  # before the training, which takes minutes
    if all(tag == "O" for tag in tags.data):
        raise SequenceError("y_test has no PHI: every F1 would be 0, and the card would state it as measured.")
    taggers = {"provider": representer.tagger_, "recipient": clone(tagger).fit(released, y)}
    predicted = {name: fitted.predict(others) for name, fitted in taggers.items()}
    if original:
        predicted["raw"] = clone(tagger).fit(X, y).predict(X_test)
    scores: dict[str, float] = {}
    for name, found in predicted.items():
        scores |= _scores(name, tags, check_tags(found, others))
    return scores


def with_recipients(
    bound: PrivacyBound, representer: Any, recipients_of: Any, X: Any, y: Any, *, random_state: int
) -> PrivacyBound:
    """Complete a bound on X with the `recipient_scores` on X; without sentences that recipients get, leave it as it is.

    Parameters
    ----------
    bound : PrivacyBound
        Bound on the sentences X.
    representer : PrivateRepresenter
        Fitted representer.
    recipients_of : tuple of sentences and tags, or None
        Sentences and tags that a recipient gets.
    X, y
        Other sentences and their tags.
    random_state : int
        Random seed of the recipient's tagger.

    Raises
    ------
    SequenceError
        If ``recipients_of`` does not contain sentences and their tags, or if `recipient_scores` refuses them.
    """
    if recipients_of is None:
        return bound
    if not isinstance(recipients_of, (tuple, list)) or len(recipients_of) != 2:
        raise SequenceError(
            "The 'recipients_of' parameter of certify must be a tuple of sentences and their tags, such as (X, y). Got "
            f"{type(recipients_of).__name__} instead."
        )
    given, tags = recipients_of
    return replace(bound, utility=recipient_scores(representer, given, tags, X, y, random_state=random_state))


def _scores(name: str, y: TokenSequences, predicted: TokenSequences) -> dict[str, float]:
    is_phi, found = (np.array(tags.data, dtype=object) != "O" for tags in (y, predicted))  # shape: (n_tokens,)
    return {
        f"{name}_strict_f1": float(phi_f1_score(y, predicted)),
        f"{name}_token_f1": float(2 * np.sum(is_phi & found) / max(1, np.sum(is_phi) + np.sum(found))),
    }
