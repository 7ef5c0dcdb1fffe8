"""Make the start that the library ships for the word vectors "glove-6b-50d": weights learned from generated notes.

    python -m benchmarks.public_start sklearn_deid/representations/generated_start

The folder is a saved `PrivateRepresenter` with its tagger, whose weights are rounded to 16 bits. It was trained on
generated notes and on the short texts of "starter-en", which contain no real person. All parameters that shape the
networks are the defaults. Prints the figures of the rounded weights on notes of other patients. Two runs on one machine
write the same bytes; other processors and other versions of PyTorch round sums in another way, and training makes such
differences larger.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from pathlib import Path

import torch

from sklearn_deid import Corpus, PrivateRepresenter, __version__, make_clinical_notes
from sklearn_deid._storage import write_bundle
from sklearn_deid.exceptions import AlignmentWarning
from sklearn_deid.metrics import phi_f1_score
from sklearn_deid.representations.saving import fingerprint_of, representer_to_state
from sklearn_deid.tagging.compact_arrays import compact
from sklearn_deid.text import SentenceData

from .environment import describe
from .starter.texts import make_texts

CARD = """# Start for private representers

Weights of a `PrivateRepresenter` and its tagger for the word vectors "glove-6b-50d". The weights were trained on the
notes of `make_clinical_notes` and on the short texts of the training of "starter-en" (`benchmarks/starter`), which
describe no real person, and rounded to 16 bits.
`python -m benchmarks.public_start sklearn_deid/representations/generated_start` made this folder.
`PrivateRepresenter(public="auto")` starts from these weights.
"""
SEED, TEST_SEED = 20_190_728, 5_800


def parse_arguments(argv: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", help="folder to make")
    parser.add_argument("--notes", type=int, default=4000)
    parser.add_argument("--texts", type=int, default=30_000, help="short texts of the training of starter-en")
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--batch-size", type=int, default=32, help="small batches learn more in a second")
    return parser.parse_args(argv)


def public_notes(n_notes: int, n_texts: int) -> SentenceData:
    """Sentences of generated notes and of texts of many kinds, so that the start does not know one kind alone."""
    documents = [*make_clinical_notes(n_notes, random_state=SEED), *make_texts(n_texts, SEED, mix="outside")]
    with warnings.catch_warnings():
        # Numbers that touch a word, such as MRN88213, have borders inside of a token.
        warnings.simplefilter("ignore", AlignmentWarning)
        return Corpus(documents).to_sentences()


@torch.no_grad()
def round_weights(representer: PrivateRepresenter) -> None:
    """Round the weights to 16 bits, and keep of the training what a start needs: the last dual variables."""
    for module in (representer.network_, representer.tagger_.module_):
        for value in module.state_dict().values():
            if value.is_floating_point():
                value.copy_(value.half())
    last = [row for row in representer.history_ if "price_mean" in row][-1]
    # Seconds would differ from run to run.
    representer.history_ = [{name: value for name, value in last.items() if name != "seconds"}]
    representer.fingerprint_ = fingerprint_of(representer)


def write_start(representer: PrivateRepresenter, folder: str) -> None:
    """Write the representer in 16 bits."""
    state, arrays = representer_to_state(representer)
    manifest = {"class": "PrivateRepresenter", "library_version": __version__, "state": state}
    write_bundle(folder, manifest, compact(arrays), overwrite=True)
    # `save` would write a card, which speaks of private notes.
    (Path(folder) / "README.md").write_text(CARD, encoding="utf-8")


def main(argv: list[str] | None = None) -> None:
    arguments = parse_arguments(argv)
    torch.set_num_threads(1)
    start = time.process_time()
    train = public_notes(arguments.notes, arguments.texts)
    test = make_clinical_notes(100, random_state=TEST_SEED).to_sentences()
    representer = PrivateRepresenter(
        embeddings="glove-6b-50d",
        public=None,
        max_epochs=arguments.epochs,
        batch_size=arguments.batch_size,
        # Nothing is held out: no bound is stated for the start, and the training on private notes measures its own.
        validation_fraction=None,
        random_state=0,
    ).fit(train.X, train.y, train.groups)
    round_weights(representer)
    write_start(representer, arguments.folder)
    found = representer.tagger_.predict(representer.transform(test.X))
    result = {
        "benchmark": "public_start",
        "settings": vars(arguments),
        "strict_f1": float(phi_f1_score(test.y, found)),
        "bound": representer.certify(test.X, test.y, random_state=0).to_dict(),
        "cpu_seconds": round(time.process_time() - start, 1),
        **describe(),
    }
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
