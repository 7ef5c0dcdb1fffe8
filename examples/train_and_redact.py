"""Train on generated notes, keep patients apart, score, count the leaks, and redact a note.

    python examples/train_and_redact.py

The script takes about a minute on two cores. It downloads nothing.
"""

from sklearn.model_selection import GroupShuffleSplit

from sklearn_deid import DeidTagger, Document, NoteDeidentifier, deid_report, make_clinical_notes
from sklearn_deid.metrics import leak_list


def main(n_notes: int = 120, max_epochs: int = 8) -> None:
    notes = make_clinical_notes(n_notes, random_state=0)
    train, test = next(GroupShuffleSplit(1, test_size=0.25, random_state=0).split(notes, groups=notes.groups))
    tagger = DeidTagger(max_epochs=max_epochs, random_state=0, verbose=1)
    deidentifier = NoteDeidentifier(tagger).fit(notes[train])

    gold = notes[test]
    annotated = deidentifier.annotate(gold)
    predicted = [Document(d.doc_id, d.text, spans, d.patient_id) for d, spans in zip(gold, annotated, strict=True)]
    print(deid_report(gold, predicted))

    leaks = leak_list(gold, predicted)
    print(f"\n{len(leaks.patients)} of {leaks.n_patients} patients have a span that is not covered wholly.")
    print("\n" + deidentifier.redact(gold[:1])[0])


if __name__ == "__main__":
    main()
