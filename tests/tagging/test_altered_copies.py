"""Each epoch reads all sentences as they are and, in the first epochs, altered copies of whole documents."""

import numpy as np
import pytest

from sklearn_deid import TokenSequences
from sklearn_deid.tagging.batching import ContextUnits, LengthBucketSampler
from sklearn_deid.tagging.layout_changes import LayoutChanges
from sklearn_deid.tagging.tagger_data import AlteredCopies, SwappingDataset, distinct_words

ROWS = [["Mr", "Alder", "left"], ["No", "pain", "."], ["Seen", "by", "Birch", "Oak"], ["Well"]] * 5
TAGS = [["O", "B-N", "O"], ["O"] * 3, ["O", "O", "B-N", "I-N"], ["O"]] * 5
CLASSES = ["O", "B-N", "I-N"]


def dataset(share=0.5, breaks=0.0, units=None, span_swap=0.0, moved=None):
    X = TokenSequences.from_rows(ROWS).with_documents(np.arange(20) // 4)
    tags = TokenSequences.from_rows(TAGS)
    read = []

    def arrays(tokens):
        read.append(tokens.tolist())
        return {"words": np.arange(len(tokens)), "features": None}

    copies = AlteredCopies(
        X,
        share,
        lambda copied: TokenSequences(np.array([t.lower() for t in copied.data], dtype=object), copied.offsets),
        arrays,
        LayoutChanges(X.data, CLASSES, 0.0, breaks),
        units or (lambda sentences, rng: None),
    )
    numbers = np.array([CLASSES.index(tag) for tag in tags.data])
    given = {"offsets": X.offsets, "words": distinct_words(X)[0], "tags": numbers}
    given["units"] = None if units is None else units(X)
    given["moved"] = (lambda rng: units(X, rng)) if moved else None
    data = SwappingDataset(tags, span_swap, copies=copies, **given)
    data.n_copied_epochs = 3
    return data, read


def read_rows(data, tokens):
    return [tokens[a:b] for a, b in zip(data.offsets[:-1], data.offsets[1:], strict=True)]


def test_all_sentences_stay_and_whole_documents_are_copied():
    data, read = dataset()
    rng, sizes = np.random.default_rng(0), []
    for _ in range(3):
        data.redraw(rng)
        rows = read_rows(data, read[-1])
        assert rows[:20] == ROWS
        lowered = [[token.lower() for token in row] for row in ROWS[:4]]
        assert rows[20:] == lowered * (len(rows[20:]) // 4)
        assert data.tags.tolist() == [CLASSES.index(tag) for row in (TAGS * 2)[: len(rows)] for tag in row]
        sizes.append(len(rows))
    assert len({*sizes}) > 1, "each epoch draws anew"
    data.redraw(rng)
    assert len(read) == 3
    assert len(data) == 20
    assert data.words.tolist() == distinct_words(TokenSequences.from_rows(ROWS))[0].tolist()


def test_the_sampler_reads_the_copies_of_the_epoch():
    data, _ = dataset()
    rng = np.random.default_rng(0)
    sampler = LengthBucketSampler(data.drawn_lengths, 20, 20, rng)
    for _ in range(4):
        data.redraw(rng)
        assert sorted(row for batch in sampler for row in batch) == list(range(len(data)))


def blocks(X, rng=None):
    return ContextUnits.blocks(X.documents, X.lengths, 6, rng)


@pytest.mark.parametrize("breaks", [0.0, 1.0])
@pytest.mark.parametrize(
    "units",
    [
        lambda X, rng=None: ContextUnits.documents(X.documents),
        lambda X, rng=None: ContextUnits.windows(X.documents, 1),
        lambda X, rng=None: ContextUnits.blocks(X.documents, X.lengths, 6),
        blocks,
    ],
)
def test_units_of_copies_hold_each_copied_sentence_once(units, breaks):
    data, read = dataset(breaks=breaks, units=units, span_swap=0.5, moved=units is blocks)
    rng = np.random.default_rng(1)
    for _ in range(4):
        data.redraw(rng)
        every = range(len(data.units.offsets) - 1)
        assert sorted(data.tagged_rows(every)) == list(range(len(data)))
        # No unit holds both a sentence and a copy.
        for unit in every:
            rows = data.units.rows[data.units.places([unit])]
            assert len({bool(row >= 20) for row in rows}) == 1
        assert len(data.drawn_lengths()) == len(data.unit_lengths)
        assert data.offsets[-1] == len(data.tags)


def test_no_copies():
    data, read = dataset(share=0.0)
    data.redraw(np.random.default_rng(0))
    assert read_rows(data, read[-1]) == ROWS


def test_each_epoch_cuts_documents_elsewhere_unless_units_have_numbers():
    data, _ = dataset(share=0.0, units=blocks, moved=True)
    rng, first = np.random.default_rng(0), data.units.offsets.tolist()
    cuts = set()
    for _ in range(5):
        data.redraw(rng)
        cuts.add(tuple(data.units.offsets))
        assert sorted(data.units.rows) == list(range(20))
    assert len(cuts) > 1
    # A worker that leaves patients out names units by number.
    data.drawn = np.arange(len(first) - 1)
    data.redraw(rng)
    assert data.units.offsets.tolist() == first
