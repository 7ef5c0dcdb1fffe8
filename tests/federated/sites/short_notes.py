"""Notes of sites that cost a training little: the beginnings of generated ones."""

from dataclasses import replace

from sklearn_deid import Corpus, make_clinical_notes, write_corpus

LENGTH = 400


def short_notes(n, seed, **options):
    """The first characters of generated notes, with the spans in them."""
    return Corpus(
        [
            replace(note, text=note.text[:LENGTH], spans=tuple(span for span in note.spans if span.end <= LENGTH))
            for note in make_clinical_notes(n, random_state=seed, **options)
        ]
    )


def write_short_notes(folder, n, seed):
    write_corpus(short_notes(n, seed), folder, "brat")
