"""
Pseudonymise training data, and measure cost and privacy
========================================================

A tagger needs annotated notes, which may not be shared. Instead, you can replace every PHI token by one of its N
nearest neighbours in a word embedding (Friedrich et al. 2019, section 4). Names stay names, and towns stay towns. A
tagger that is trained on the new sentences still works on real sentences. This example shows a new sentence, the F1 of
taggers for several N, and how often the best attacker still names the original.

The notes are generated. The word vectors are the public GloVe vectors of the extra ``glove``.

.. figure:: /results/figures/pseudonyms_R17.png
   :width: 80%

   F1 on raw notes after training on notes with replaced PHI, by N. The figure does not come
   from this example, but from ``python -m benchmarks.reproduce`` (run R17: 150 generated notes, one seed).
"""

# %%
# Some annotated notes
# --------------------
# Sentences are lists of tokens with IOB2 tags. ``groups`` names the patient of each sentence.

import matplotlib.pyplot as plt

from sklearn_deid import DeidTagger, NeighborPseudonymizer, make_clinical_notes
from sklearn_deid.audit.bayes import bayes_reidentification
from sklearn_deid.embeddings import noise_study, resolve_embeddings
from sklearn_deid.metrics import phi_word_prior
from sklearn_deid.plotting import TradeOffDisplay

train = make_clinical_notes(60, random_state=0).to_sentences()
test = make_clinical_notes(30, random_state=1).to_sentences()

# %%
# Replace the PHI tokens
# ----------------------
# ``fit_transform(X, y)`` replaces PHI tokens. ``transform(X)`` does not: a tagger must read unchanged sentences.
# With ``coherence="patient"``, a name has the same surrogate in all notes of a patient, also if it is misspelt.
# ``guard_substring`` excludes the original itself, and surrogates that contain the original.

pseudonymizer = NeighborPseudonymizer(n_neighbors=100, coherence="patient", guard_substring=True, random_state=0)
moved = pseudonymizer.fit_transform(train.X, train.y, train.groups)
for before, after in list(zip(train.X, moved, strict=True))[1:3]:
    print(" ".join(before))
    print(" ".join(after), end="\n\n")

# %%
# The statistics count the replacements by label, and contain no word.

for label, counts in list(pseudonymizer.statistics_.items())[:4]:
    print(f"{label:8}", {name: round(value, 1) for name, value in counts.items()})

# %%
# Usefulness and privacy for some N
# ---------------------------------
# A tagger is trained on the new sentences and scored on unchanged sentences. The attacker knows the vectors, N and how
# often each token occurs. They see one released token, and name the original with the largest posterior probability.
# The accuracy of this attacker is computed, not estimated. Few notes and epochs keep the example quick;
# ``benchmarks/perturbations.py`` measures more.

prior = phi_word_prior(train.X, train.y)
settings = {"embeddings": "glove-6b-50d", "max_epochs": 12, "batch_size": 300, "random_state": 0}
results = []
for n_neighbors in (1, 20, 1000):
    mechanism = NeighborPseudonymizer(n_neighbors=n_neighbors, random_state=0)
    tagger = DeidTagger(**settings).fit(mechanism.fit_transform(train.X, train.y), train.y)
    named = bayes_reidentification(mechanism, prior)
    f1 = tagger.score(test.X, test.y)
    results.append({"mechanism": "neighbours", "N": n_neighbors, "F1": f1, "named": named.probability.value})
    print(
        f"N={n_neighbors}: F1 {f1:.3f}, named {named.probability.value:.3f} "
        f"(guess without a release {named.prior_guess:.3f})"
    )

TradeOffDisplay.from_results(
    results,
    name="mechanism",
    x="named",
    y="F1",
    label="N",
    log_x=True,
    x_name="probability that the best attacker names a token (left: more private)",
    y_name="F1 on raw notes (up: more useful)",
).plot()
plt.show()

# %%
# The choice among N neighbours is not differentially private. If a word does not have the surrogate as a neighbour, it
# cannot be the original. Each further release of a name leaves fewer possible words.

mechanism = NeighborPseudonymizer(n_neighbors=100, random_state=0).fit(train.X, train.y)
for n_releases in (1, 2, 5):
    named = bayes_reidentification(mechanism, prior, n_releases=n_releases, n_samples=500, random_state=0)
    print(f"{n_releases} releases: {named.probability.value:.3f}, at most {named.probability.high:.3f}")

# %%
# Why not simply add noise to the vectors?
# ----------------------------------------
# With little noise, the original is still the nearest word (Friedrich 2018, Fig. 6.2). With more noise, a tagger learns
# little from the vectors.

vectors = resolve_embeddings("glove-6b-50d")
study = noise_study(vectors, range(200, 600), [0.0, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4], random_state=0)
TradeOffDisplay.from_noise_study(study).plot()
plt.show()

# sphinx_gallery_thumbnail_path = 'results/figures/pseudonyms_R17.png'
