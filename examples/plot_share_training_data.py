"""
Three hospitals train one tagger without showing their notes
============================================================

Each hospital has few annotated notes of its own kind, and may not give them away. A provider trains a
``PrivateRepresenter`` on its own notes and publishes the representer. The hospitals turn their notes into noisy vectors
and hand over the vectors with their tags. The provider trains one tagger on all vectors (Friedrich et al. 2019,
figure 1). The example compares this tagger with the tagger of each hospital alone, and with a tagger of all raw notes.

The notes are generated. The word vectors are the public GloVe vectors of the extra ``glove``. Notes and epochs are few,
so that the example is quick. ``benchmarks/private_representation.py`` measures larger trainings.

.. figure:: /results/figures/curves_1000_R19.png
   :width: 80%

   Three phases of training a representer: losses, F1, and accuracy of the attackers. The figure does not come
   from this example, but from ``python -m benchmarks.reproduce`` (run R19: 100 generated notes, one seed).
"""

# %%
# Three hospitals with different notes
# ------------------------------------
# One hospital writes long reports, one short reports, and one letters and messages. The tagger must read all kinds.

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt

from sklearn_deid import (
    DeidTagger,
    GaussianNoisePerturber,
    PrivateRepresenter,
    load,
    load_representation,
    make_clinical_notes,
    pool_representations,
    save,
    save_representation,
)
from sklearn_deid.plotting import TrainingCurvesDisplay

KINDS = {
    "reports": {"admission", "discharge"},
    "ward": {"nursing", "radiology"},
    "letters": {"letter", "message"},
}


def notes_of(kinds, n_notes, seed):
    """Sentences of generated notes of some kinds."""
    corpus = make_clinical_notes(4 * n_notes, random_state=seed)
    return corpus[[i for i, note in enumerate(corpus) if note.meta["kind"] in kinds][:n_notes]].to_sentences()


hospitals = {name: notes_of(kinds, 60, seed) for seed, (name, kinds) in enumerate(KINDS.items(), start=1)}
provider = make_clinical_notes(150, random_state=10).to_sentences()
test = make_clinical_notes(60, random_state=11).to_sentences()
{name: len(data.X) for name, data in hospitals.items()}

# %%
# The provider trains and publishes a representer
# -----------------------------------------------
# The best possible attacker sees one released sentence and chooses between two originals: the sentence itself, and the
# sentence in which one of the 20 nearest words replaces one PHI token. The bound limits how often they are right.
# Guessing is right in 50 %. Training bounds the mean over random tokens. The printed bound begins with patients. If all
# PHI of a patient is replaced at once, the value is much larger. Both values hold if nobody can predict the noise
# (docs/security.md). ``fit`` emits a ``FewNotesWarning``, which states what 150 notes cost a recipient.

representer = PrivateRepresenter(embeddings="glove-6b-50d", n_neighbors=20, max_epochs=35)
representer.fit(provider.X, provider.y, groups=provider.groups)
print(representer.bound_)

TrainingCurvesDisplay.from_estimator(representer).plot()

# %%
# Each hospital hands over vectors and tags
# -----------------------------------------
# The folder contains no token, no text and no id. The sentences are shuffled, and each sentence is released once.

folder = Path(tempfile.mkdtemp())
save(representer, folder / "representer")
for name, data in hospitals.items():
    published = load(folder / "representer")
    save_representation(folder / name, published.transform(data.X), data.y)
print((folder / "representer" / "README.md").read_text(encoding="utf-8")[:420])

# %%
# The provider trains on the pool
# -------------------------------

settings = {"max_epochs": 25, "random_state": 0}
pool = pool_representations([folder / name for name in hospitals])
pooled = DeidTagger(**settings).fit(pool.X, pool.y)
scores = {"private vectors, pooled": pooled.score(representer.transform(test.X), test.y)}

# %%
# Against each hospital alone, and against all raw notes
# ------------------------------------------------------
# All taggers read the same word vectors, so that they differ only in their training notes.

raw = GaussianNoisePerturber(embeddings="glove-6b-50d", scale=0.0).fit(provider.X, provider.y)
for name, data in hospitals.items():
    alone = DeidTagger(**settings).fit(raw.transform(data.X), data.y)
    scores[f"raw notes, {name} alone"] = alone.score(raw.transform(test.X), test.y)
everything_X = [row for data in hospitals.values() for row in data.X]
everything_y = [row for data in hospitals.values() for row in data.y]
scores["raw notes, pooled (not allowed)"] = (
    DeidTagger(**settings).fit(raw.transform(everything_X), everything_y).score(raw.transform(test.X), test.y)
)

figure, axes = plt.subplots(figsize=(6.4, 2.8), layout="constrained")
bars = axes.barh(list(scores), list(scores.values()), color=["#0072b2"] + ["#999999"] * 3 + ["#555555"])
axes.bar_label(bars, fmt="%.2f", padding=3)
axes.set(xlabel="strict F1 on notes of all kinds", xlim=(0, 1))
axes.invert_yaxis()
plt.show()

# %%
# A hospital can inspect the vectors before it hands them over.

shared = load_representation(folder / "letters")
print(shared)
print(shared.origin.noise)

# sphinx_gallery_thumbnail_path = 'results/figures/curves_1000_R19.png'
