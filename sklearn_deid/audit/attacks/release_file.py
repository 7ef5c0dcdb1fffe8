"""Checks of a saved release by its bytes alone: repeated vectors, order of the sentences, and wrong statements."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..protocol import AttackResult
from ..released_step import CLASS_FILE, RELEASE_FILE
from .check_results import FILE_LEVEL, check_result
from .declaration import AttackPreset, timed
from .noise_checks import Check, alarms
from .noise_steps import grid_faults
from .order_checks import number_checks, order_checks
from .released_tokens import equal_rows
from .saved_sentences import SavedSentences
from .untrained import UntrainedAttack

_MOST_NAMED = 3


class FileCheck(UntrainedAttack):
    """Read a saved release without any other knowledge, and test the statements of its manifest.

    The check finds equal vectors in different sentences (repeated noise), zeros with a minus sign, and an order that is
    not random although the file states a random order. Without the notes, the check detects an order if neighbouring
    sentences have similar lengths, PHI, vectors or patients, or if there are trends along the file. With the notes, the
    check compares the positions of the sentences with the order of the notes and with keys of the words, such as
    digests. The check also compares the patient numbers with the patients, and finds sentences that the folder contains
    in several draws of the noise. All tests of the order and of the numbers together raise a false alarm with
    probability .0002. In a folder, the check also searches the JSON for words and digests of the notes, for lists with
    one entry for each sentence, and for bytes that the library does not write.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_deid.audit.attacks import FileCheck, SavedSentences
    >>> vectors = np.random.default_rng(0).normal(size=(120, 6))
    >>> offsets, none = np.arange(0, 121, 2), np.zeros(120, bool)
    >>> kept = SavedSentences(vectors, offsets, none, None, True, 0.5, 2.0**-6, original=np.arange(60))
    >>> FileCheck().attack(kept).faults
    ('The sentences are in the order of the notes, although the file says that they were shuffled.',)
    """

    key = "file"
    family = "file"
    title = "Statements of a saved release"
    order = 9
    releases = (RELEASE_FILE, CLASS_FILE)
    presets = (AttackPreset("file", "Statements of a saved release", 100.0, 0.5, quick=True),)
    name = "statements of the file"
    attacker = "A stranger who has only the saved folder, or who has the saved folder and knows its notes."
    measure = "share of tests in which the folder contradicts its manifest"
    phrase = "An attacker who reads the folder finds a wrong statement in {} of tests"

    def run(self, release: Any) -> list[AttackResult]:
        """Check the folder."""
        return [self.fit().attack(release.saved_sentences)]

    @timed
    def attack(self, released: SavedSentences) -> AttackResult:
        """Check the content of a folder."""
        checks = [*(order_checks(released) if released.shuffled else ()), *number_checks(released)]
        failed, n_checks = alarms(checks, FILE_LEVEL) if checks else ([], 0)
        equal = repeated_vectors(released)
        faults = [*released.statements, *_named(failed)]
        faults += grid_faults(released.vectors)
        if equal:
            faults.append(f"{equal} tokens have exactly the vector of a token in another sentence: noise was repeated.")
        return check_result(
            self,
            faults,
            n_checks + 2,
            settings={"level": FILE_LEVEL},
            details={
                "sentences": len(released.offsets) - 1,
                "tests of the order and of patient numbers": len(checks),
                "smallest probability of these tests": min((check.p for check in checks), default=1.0),
                "tokens with a repeated vector": equal,
                "sentences matched to the notes": 0
                if released.original is None
                else int((released.original >= 0).sum()),
            },
        )


def _named(failed: list[Check]) -> list[str]:
    """Messages of failed tests; within each kind of test, the most significant message first."""
    out: dict[str, list[str]] = {}
    for check in sorted(failed, key=lambda check: check.p):
        out.setdefault(check.name, []).append(check.fault)
    return [fault for faults in out.values() for fault in list(dict.fromkeys(faults))[:_MOST_NAMED]]


def repeated_vectors(released: SavedSentences) -> int:
    """Number of tokens whose vector occurs in an earlier sentence; 0 if rounding may explain this.

    If two sentences have equal vectors at all tokens, they count as copies of one sentence with different tags, whose
    noise was drawn once.
    """
    n, d = released.vectors.shape
    # Independent noise hits the same cell of the grid with probability grid / (2 sqrt(pi) std) in each dimension, at
    # most, and any two of n tokens do with at most n^2 / 2 times the product.
    cell = min(1.0, released.grid / max(3.5 * released.std, 1e-300))
    if not n or n**2 / 2.0 * cell**d > 1e-6:
        return 0
    first, number = equal_rows(released.vectors)
    parts = np.split(number, released.offsets[1:-1])
    whole: dict[bytes, int] = {}
    same = [whole.setdefault(part.tobytes(), row) for row, part in enumerate(parts)]
    sentence = np.repeat(np.array(same, dtype=np.int64), np.diff(released.offsets))
    return int((sentence[first[number]] != sentence).sum())
