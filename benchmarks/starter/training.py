"""Training of a starter model on generated texts alone, in stages that can be continued."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

from sklearn_deid import Corpus, DeidTagger
from sklearn_deid.embeddings import train_subword_table
from sklearn_deid.exceptions import AlignmentWarning
from sklearn_deid.tagging import NoteAugmenter, SpanSwap
from sklearn_deid.text import I2B2_2014, SentenceData

from .public_vectors import with_public_vectors
from .rewriting import make_notes
from .texts import make_texts

SEED = 20_261_124
_FEW = 2000  # sentences that show the network its inputs
BUCKET = 32_768  # rows of the table of n-grams, as in `DeidTagger`
#: Share of the sentences that are copied, and probabilities that a sentence or a word of a copy is changed. The words
#: of a copy in lower case are marked; the texts have unmarked ones of their own (see texts.py).
DISORDER = {"copies": 0.4, "lower_case": 0.5, "capitals": 0.3, "title_case": 0.1, "typing_errors": 0.02}
DISORDER |= {"ocr_errors": 0.02}


class Stage(NamedTuple):
    """Notes and texts of one stage of the training, which no other stage sees, and how they are used."""

    n_notes: int
    n_texts: int
    epochs: int
    lr: float
    #: Kinds of the texts (see `texts.MIXES`), and whether they have the names, words and wordings that others lack.
    mix: str = "first"
    mixed: bool = False


#: Each stage ends with a learning rate of zero.
STAGES = (
    *[Stage(300, 24_000, 2, 3e-3)] * 5,
    *[Stage(300, 24_000, 2, 2e-3)] * 5,
    *[Stage(300, 30_000, 2, 1e-3, mix="charts")] * 14,
    *[Stage(300, 30_000, 2, 5e-4, mix="charts")] * 13,
    *[Stage(300, 30_000, 2, 5e-4, mix="notes")] * 12,
    *[Stage(300, 30_000, 2, 1e-3, mix="last")] * 9,
    *[Stage(300, 36_000, 2, 5e-4, mix="rooms")] * 6,
    *[Stage(300, 36_000, 2, 3e-4, mix="rooms")] * 4,
    *[Stage(300, 36_000, 2, 3e-4, mix="people")] * 4,
    *[Stage(300, 36_000, 2, 4e-4, mix="brief")] * 3,
    *[Stage(300, 36_000, 2, 2e-4, mix="brief")] * 3,
    *[Stage(300, 36_000, 2, 1e-3, mix="cases")] * 5,
    *[Stage(300, 36_000, 2, 5e-4, mix="cases")] * 8,
    *[Stage(300, 36_000, 2, 2e-4, mix="cases")] * 3,
    *[Stage(300, 36_000, 2, 1e-3, mix="cases")] * 5,
    *[Stage(300, 36_000, 2, 5e-4, mix="cases")] * 11,
    *[Stage(300, 42_000, 2, 5e-4, mix="outside")] * 4,
    *[Stage(300, 42_000, 2, 2e-4, mix="outside")] * 3,
    *[Stage(300, 42_000, 2, 2e-4, mix="outside", mixed=True)] * 2,
)
#: From this stage on, the network also reads public vectors of words.
READS_VECTORS = 49
#: Stages before the first one that mixes. The model after them sets the bias and is measured on generated texts.
N_UNMIXED = sum(not stage.mixed for stage in STAGES)


def generated(n_notes: int, n_texts: int, seed: int, **kinds: Any) -> SentenceData:
    """Sentences of rewritten notes and of short texts."""
    documents = [*make_notes(n_notes, seed), *make_texts(n_texts, seed, **kinds)]
    with warnings.catch_warnings():
        # Numbers that touch a word, such as MRN88213, have borders inside of a token.
        warnings.simplefilter("ignore", AlignmentWarning)
        return Corpus(documents).to_sentences()


def new_tagger(seed: int = SEED, **parameters: Any) -> DeidTagger:
    """A tagger that is not trained yet, with vectors of n-grams that generated texts gave."""
    data = generated(400, 20_000, seed + 1000)
    table = train_subword_table(data.X, bucket=BUCKET, random_state=0)
    tagger = DeidTagger(
        embeddings=table,
        # The texts have names of many origins and places of many countries, the surrogates those of a single language.
        span_swap=SpanSwap(invented=0),
        augmenter=NoteAugmenter(**DISORDER),
        warm_start=True,
        device="cpu",
        random_state=0,
        **parameters,
    )
    # The tags of all labels of the scheme, of which one stage may lack some.
    return tagger.partial_fit(data.X[:_FEW], data.y[:_FEW], classes=[f"B-{label}" for label in I2B2_2014.labels])


def train_stage(tagger: DeidTagger, number: int, seed: int = SEED) -> DeidTagger:
    """Go on with the training of a tagger for one stage."""
    stage = STAGES[number]
    tagger = with_public_vectors(tagger) if number == READS_VECTORS else tagger
    data = generated(stage.n_notes, stage.n_texts, seed + number, mix=stage.mix, mixed=stage.mixed)
    return tagger.set_params(max_epochs=stage.epochs, lr=stage.lr, random_state=number).fit(data.X, data.y)
