"""Make the start that the library ships for the word vectors "glove-6b-50d": weights learned from generated notes.

    python -m benchmarks.public_start sklearn_deid/representations/generated_start

The folder is a saved `PrivateRepresenter` with its tagger. It was trained on notes that contain no real person. All
parameters that shape the networks are the defaults. Prints the figures on notes of other patients.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import torch

from sklearn_deid import PrivateRepresenter, make_clinical_notes, save
from sklearn_deid.metrics import phi_f1_score

from .environment import describe

CARD = """# Start for private representers

Weights of a `PrivateRepresenter` and its tagger for the word vectors "glove-6b-50d". They were trained on notes of
`make_clinical_notes`, which are about nobody. `python -m benchmarks.public_start` made this folder.
`PrivateRepresenter(public="auto")` starts from it.
"""
SEED, TEST_SEED = 20_190_728, 5_800


def parse_arguments(argv: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", help="folder to make")
    parser.add_argument("--notes", type=int, default=600)
    parser.add_argument("--epochs", type=int, default=9)
    parser.add_argument("--batch-size", type=int, default=32, help="small batches learn more in a second")
    return parser.parse_args(argv)


def main(argv: list[str] | None = None) -> None:
    arguments = parse_arguments(argv)
    torch.set_num_threads(1)
    start = time.process_time()
    train = make_clinical_notes(arguments.notes, random_state=SEED).to_sentences()
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
    save(representer, arguments.folder, overwrite=True)
    # The card of `save` speaks of private notes.
    (Path(arguments.folder) / "README.md").write_text(CARD, encoding="utf-8")
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
