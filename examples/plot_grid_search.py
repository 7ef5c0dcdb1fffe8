"""
Choose N, d and the noise by grid search
========================================

For scikit-learn, a Pipeline of a representer and a tagger is one estimator. ``GridSearchCV`` tries values of N (number
of words that can replace a PHI token), d (width of the vectors) and the noise, each time on other patients. Two scores
count. The first is how well a tagger finds PHI in the vectors. The second is how badly the best possible attacker
distinguishes two sentences that differ in one token.

Notes and epochs are few, so that the example is quick. The representer therefore emits a ``FewNotesWarning``.

.. figure:: /results/figures/adversaries_R19.png
   :width: 80%

   F1 and accuracy of attackers over N. The figure does not come
   from this example, but from ``python -m benchmarks.reproduce`` (run R19: 100 generated notes, one seed).
"""

# %%
# Notes, and a Pipeline
# ---------------------

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.pipeline import Pipeline

from sklearn_deid import DeidTagger, PrivateRepresenter, make_clinical_notes

data = make_clinical_notes(50, random_state=0).to_sentences()
representer = PrivateRepresenter(
    embeddings="glove-6b-50d", hidden_size=64, max_epochs=15, batch_size=16, lr=5e-3, random_state=0
)
tagger = DeidTagger(max_epochs=15, batch_size=150, lr=6e-3, weight_average=0.98, span_swap=0.0, random_state=0)
pipe = Pipeline([("rep", representer), ("tag", tagger)])

# %%
# Two scores
# ----------
# A scorer is a function of the fitted Pipeline and held-out sentences. The bound is an accuracy from 0.5 to 1, so the
# score of privacy is twice its distance from 1. A score of 1 means that no attacker is better than guessing.


def f1(pipeline, X, y):
    """Strict F1 of the tagger on one release."""
    return pipeline.score(X, y)


def privacy(pipeline, X, y):
    """2 (1 - accuracy of the best attacker), in the mean over the sentences of the held-out patients."""
    found = pipeline.named_steps["rep"].certify(X, y, max_sentences=0, random_state=0)  # random pairs alone are scored
    return 2 * (1 - found.mean_accuracy.value)


# %%
# The grid
# --------

grid = {"rep__n_neighbors": [10, 100, 500], "rep__n_components": [50, 100], "rep__noise": ["trainable", 1.0]}
search = GridSearchCV(pipe, grid, scoring={"f1": f1, "privacy": privacy}, refit="f1", cv=GroupKFold(2), n_jobs=2)
search.fit(data.X, data.y, groups=data.groups)

for parameters, score, private in zip(
    search.cv_results_["params"],
    search.cv_results_["mean_test_f1"],
    search.cv_results_["mean_test_privacy"],
    strict=True,
):
    print({k.removeprefix("rep__"): v for k, v in parameters.items()}, f"F1 {score:.2f}, privacy {private:.2f}")

# %%
# Privacy against usefulness
# --------------------------

figure, axes = plt.subplots(figsize=(6, 3.5), layout="constrained")
n_neighbors = np.array([p["rep__n_neighbors"] for p in search.cv_results_["params"]])
for n, marker in zip(grid["rep__n_neighbors"], "os^", strict=True):
    mine = n_neighbors == n
    x, y = (search.cv_results_[f"mean_test_{name}"][mine] for name in ("privacy", "f1"))
    axes.plot(x, y, marker, label=f"N = {n}")
axes.set(xlabel="privacy on held-out patients (1: nobody does better than guessing)", ylabel="strict F1")
axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
plt.show()

# sphinx_gallery_thumbnail_path = 'results/figures/adversaries_R19.png'
