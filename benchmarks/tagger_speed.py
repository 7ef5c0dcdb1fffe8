"""Speed of the default tagger beside the plain way, in one run and on one thread.

    python -m benchmarks.tagger_speed

The plain way is the same network with packed sequences, pytorch-crf unmodified, batches of 32 sentences in random order
and one sentence after the other when tagging. Generated notes; prints one JSON object with tokens per CPU second and
ratios. An epoch of the tagger also reads altered copies of some documents: "training" counts the tokens of the data
alone, "training_with_copies" all tokens that are trained on. "training_without_copies" is a tagger with
``augmenter=None``, which reads the same tokens as the plain way. The time of an epoch includes that of preparing the
data.
"""

from __future__ import annotations

import argparse
import json
import time

import numpy as np
import torch
from skorch.callbacks import Callback
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence
from torchcrf import CRF

from sklearn_deid import DeidTagger, make_clinical_notes
from sklearn_deid.tagging import NoteDeidentifier, SentenceDataset
from sklearn_deid.tagging.tagger_data import word_features

from .environment import describe

_PLAIN_BATCH = 32


class PlainTagger(nn.Module):
    """What one writes first: pack, LSTM, unpack, pytorch-crf."""

    def __init__(self, words: nn.Module, hidden_size: int, n_tags: int) -> None:
        super().__init__()
        self.words = words
        self.lstm = nn.LSTM(words.output_size, hidden_size, batch_first=True, bidirectional=True)
        self.emit = nn.Linear(2 * hidden_size, n_tags)
        self.crf = CRF(n_tags, batch_first=True)

    def forward(self, batch) -> torch.Tensor:
        x = self.words(batch.features)[batch.words]
        packed = pack_padded_sequence(x, batch.lengths, batch_first=True, enforce_sorted=False)
        return self.emit(pad_packed_sequence(self.lstm(packed)[0], batch_first=True)[0])


def plain_speeds(tagger: DeidTagger, dataset, n_batches: int) -> dict:
    """Tokens per CPU second of the plain way, on batches of the same data."""
    model = PlainTagger(tagger.module_.words, tagger.hidden_size_, len(tagger.classes_))
    optimizer = torch.optim.NAdam(model.parameters(), lr=1e-3)
    rows = np.random.default_rng(0).permutation(np.flatnonzero(dataset.lengths))[: n_batches * _PLAIN_BATCH]
    batches = np.array_split(rows, n_batches)
    start, tokens = time.process_time(), 0
    for chosen in batches:
        batch, tags = dataset.collate(chosen)
        optimizer.zero_grad()
        loss = -model.crf(model(batch), tags, batch.mask, reduction="mean")
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        tokens += int(batch.mask.sum())
    training = tokens / (time.process_time() - start)
    start, tokens = time.process_time(), 0
    with torch.no_grad():
        for row in rows[:500]:
            batch, _ = dataset.collate([row])
            model.crf.decode(model(batch), batch.mask)
            tokens += len(batch.mask[0])
    return {"training": training, "tagging": tokens / (time.process_time() - start)}


def as_dataset(tagger: DeidTagger, data) -> SentenceDataset:
    """The batches' source that the tagger makes of X and y, for the plain way."""
    number = {word: i for i, word in enumerate(dict.fromkeys(data.X.data))}
    classes = {tag: i for i, tag in enumerate(tagger.classes_)}
    features = word_features(list(number), characters=True, vectors=tagger._vectors)
    words = np.array([number[token] for token in data.X.data])
    tags = np.array([classes[tag] for row in data.y for tag in row])
    return SentenceDataset(data.X.offsets, words=words, features=features, tags=tags)


class TokenCounter(Callback):
    """Counts the tokens that are trained on: those of the data, and those of the altered copies."""

    def __init__(self) -> None:
        self.n_tokens = 0

    def on_batch_begin(self, net, batch=None, training=False, **kwargs) -> None:
        self.n_tokens += int(batch[0].mask.sum())


def our_speeds(tagger: DeidTagger, without_copies: DeidTagger, X, y) -> dict:
    """Tokens per CPU second; ``training`` counts the tokens of X, ``training_with_copies`` all that are trained on."""
    start = time.process_time()
    without_copies.partial_fit(X, y)
    training_without_copies = len(X.data) / (time.process_time() - start)
    counter = TokenCounter()
    tagger.callbacks_.append(("count", counter))
    start = time.process_time()
    tagger.partial_fit(X, y)
    seconds = time.process_time() - start
    tagger.callbacks_.pop()
    start = time.process_time()
    tagger.predict(X)
    tagging = len(X.data) / (time.process_time() - start)
    return {
        "training": len(X.data) / seconds,
        "training_with_copies": counter.n_tokens / seconds,
        "training_without_copies": training_without_copies,
        "tagging": tagging,
    }


def notes_per_second(tagger: DeidTagger, texts: list[str]) -> float:
    start = time.process_time()
    NoteDeidentifier(tagger).annotate(texts)
    return len(texts) / (time.process_time() - start)


def fastest(runs: list[dict]) -> dict:
    return {key: max(run[key] for run in runs) for key in runs[0]}


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--notes", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--repeats", type=int, default=8)
    parser.add_argument("--mixed-precision", choices=["auto", "training"], default="auto")
    arguments = parser.parse_args(argv)
    torch.set_num_threads(1)
    notes = make_clinical_notes(arguments.notes, random_state=arguments.seed)
    data, texts = notes.to_sentences(), [document.text for document in notes]
    settings = {"random_state": arguments.seed, "mixed_precision": arguments.mixed_precision}
    tagger, without_copies = DeidTagger(**settings), DeidTagger(augmenter=None, **settings)
    for one in (tagger, without_copies):
        one.partial_fit(data.X, data.y)
    dataset = as_dataset(tagger, data)
    # In turns, so that other load on the machine slows down both.
    turns = [
        (
            our_speeds(tagger, without_copies, data.X, data.y),
            plain_speeds(tagger, dataset, n_batches=60),
            notes_per_second(tagger, texts),
        )
        for _ in range(arguments.repeats)
    ]
    ours, plain = (fastest([turn[side] for turn in turns]) for side in (0, 1))
    plain["training_with_copies"] = plain["training_without_copies"] = plain["training"]
    result = {
        "benchmark": "tagger_speed",
        "unit": "tokens per CPU second, one thread, fastest turn",
        "seed": arguments.seed,
        "repeats": arguments.repeats,
        "mixed_precision": arguments.mixed_precision,
        "n_tokens": len(data.X.data),
        "ours": {k: round(v) for k, v in ours.items()},
        "plain": {k: round(plain[k]) for k in ours},
        "ratio": {k: round(ours[k] / plain[k], 2) for k in ours},
        "raw_notes_per_second": round(max(turn[2] for turn in turns), 1),
        "tokens_per_note": round(len(data.X.data) / len(texts)),
        **describe(),
    }
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
