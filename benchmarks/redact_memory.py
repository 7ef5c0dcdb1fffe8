"""Memory of redacting a long stream of generated notes.

    python -m benchmarks.redact_memory

Redacts 1,000 and then 10,000 generated notes as a stream and prints one JSON object with the largest resident memory
after each, and whether every note came back with nothing lost outside its spans. As in the command line, oneDNN may
keep 64 compiled kernels and not 1,024: it has one for each shape of a batch, and they add up to 100 MiB.
"""

from __future__ import annotations

import argparse
import json
import os
import time

from sklearn_deid import DeidTagger, NoteDeidentifier, make_clinical_notes
from sklearn_deid.datasets import iter_clinical_notes
from sklearn_deid.text import redact

from .environment import describe, peak_memory_mib


def stream(deidentifier: NoteDeidentifier, n_notes: int, seed: int) -> dict:
    """Redact ``n_notes`` notes; nothing of them is kept."""
    start, redacted, whole = time.perf_counter(), 0, True
    for note, spans in deidentifier.iter_annotate(iter_clinical_notes(n_notes, random_state=seed)):
        redacted += 1
        position, left = 0, []
        for span in spans:
            left.append(note.text[position : span.start])
            position = span.end
        whole &= redact(note.text, spans, "remove") == "".join([*left, note.text[position:]])
    return {
        "notes": redacted,
        "nothing_lost_outside_spans": whole,
        "notes_per_second": round(redacted / (time.perf_counter() - start), 1),
        "peak_memory_mib": peak_memory_mib(),
    }


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--notes", type=int, nargs="+", default=[1_000, 10_000])
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args(argv)
    os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "64")  # read when the first kernel is compiled
    tagger = DeidTagger(max_epochs=2, random_state=arguments.seed)
    deidentifier = NoteDeidentifier(tagger).fit(make_clinical_notes(100, random_state=arguments.seed))
    result = {
        "benchmark": "redact_memory",
        "seed": arguments.seed,
        "onednn_primitive_cache_capacity": int(os.environ["ONEDNN_PRIMITIVE_CACHE_CAPACITY"]),
        "after_training_mib": peak_memory_mib(),
        "runs": [stream(deidentifier, n, arguments.seed + 1) for n in arguments.notes],
        **describe(),
    }
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
