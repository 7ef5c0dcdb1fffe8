"""
Redact a note
=============

A ``DeidTagger`` finds protected health information (PHI: names, dates, places, ids, ...) in clinical notes.
``NoteDeidentifier`` removes the PHI from the text. This example trains the English model in the package on a few
generated notes, redacts the notes of other patients, and counts how much of their PHI was found. All notes are
invented.
"""

# %%
# Train
# -----
# Annotated notes are a ``Corpus``: texts, spans of characters with a label, and patients. Read your own notes with
# ``read_corpus("my-notes/", format="brat")``. The training starts from "starter-en", the English model in the
# package. Few notes and epochs keep the example quick: real work needs more notes of your own and the default number of
# epochs. "starter-en" was trained on generated notes, so that it finds more in the notes of this example than in yours.

import matplotlib.pyplot as plt

from sklearn_deid import DeidTagger, Document, NoteDeidentifier, deid_report, make_clinical_notes
from sklearn_deid.integrations import AnnotationView

train = make_clinical_notes(40, random_state=0)
test = make_clinical_notes(20, random_state=1)  # other patients
tagger = DeidTagger(warm_start_from="starter-en", max_epochs=3, random_state=0)
deidentifier = NoteDeidentifier(tagger).fit(train)

# %%
# What the tagger finds
# ---------------------
# ``annotate`` returns the spans of each note. The output shows the first note with its spans:

found = [Document(note.doc_id, note.text, spans) for note, spans in zip(test, deidentifier.annotate(test), strict=True)]
AnnotationView(found[0], show_text=True)

# %%
# The redacted note
# -----------------
# ``redact`` replaces each span by its label. A note that cannot be processed raises an error. With
# ``on_error="withhold"``, its result is ``None``. It is never passed on as if it were clean.

print(deidentifier.redact(test[:1])[0])

# %%
# How much was found
# ------------------
# Recall is the proportion of the PHI that was found. Missed PHI leaks: read the recall first, for each category.
# A person must check redacted notes before release.

scores = deid_report(test, found, output="dict")["by_category"]
scores = {category: row for category, row in scores.items() if row["support"]}
names = [f"{category} (n = {row['support']})" for category, row in scores.items()]

figure, axes = plt.subplots(figsize=(7, 3.2), layout="constrained")
bars = axes.barh(names, [row["recall"] for row in scores.values()], color="#0072B2")
axes.bar_label(bars, fmt="{:.1%}", padding=3)
axes.set(xlim=(0, 1.2), xlabel="recall on notes of other patients (right borders and category)")
axes.invert_yaxis()
plt.show()

# sphinx_gallery_thumbnail_path = 'figures/redacted_note.svg'
