"""
Choose the upload and the download fraction by grid search
==========================================================

``DSSGDEnsemble`` is an estimator. ``GridSearchCV`` tries fractions of the update that each hospital sends (theta_u) and
fractions of the parameters that it fetches (theta_d), each time on other patients. Two scores count: how well the
taggers find PHI, and how few bytes leave a hospital.

Notes and epochs are few, so that the example is quick. It shows how to choose the fractions, not which fractions are
best. Sending less does not promise that an attacker learns less about notes. ``AdversarialPrivacyAuditor`` attacks the
sent updates, and the parameter ``privacy`` gives a guarantee.

.. figure:: /results/figures/epochs_R12.png
   :width: 80%

   F1 of PHI tokens epoch by epoch for several ways of training together. The figure does not come
   from this example, but from ``python -m benchmarks.reproduce`` (run R12: 1,500 generated notes, two seeds).
"""

# %%
# Notes of five hospitals
# -----------------------
# ``groups`` are the patients. ``GridSearchCV`` passes them to the splitter and, with metadata routing, to the ensemble,
# which keeps all notes of a patient at one hospital. One label for all PHI keeps the task simple. Changes that an epoch
# does not send are added to the changes of the next epoch (``error_feedback``). Each hospital fetches the parameters
# that have changed most since its last fetch.

import matplotlib.pyplot as plt
import numpy as np
from sklearn import config_context
from sklearn.model_selection import GridSearchCV, GroupKFold

from sklearn_deid import DeidTagger, DSSGDEnsemble, make_clinical_notes

notes = make_clinical_notes(50, random_state=1).to_sentences()
y = [["O" if tag == "O" else f"{tag[0]}-PHI" for tag in row] for row in notes.y]
tagger = DeidTagger(hidden_size=24, batch_size=100, lr=8e-3, weight_average=0.0)
ensemble = DSSGDEnsemble(
    tagger,
    n_workers=5,
    n_epochs=8,
    selection="largest",
    error_feedback=True,
    download_selection="most-changed",
    server_step=0.4,
    random_state=0,
)

# %%
# Two scores
# ----------
# The second score compares the sent bytes with those of federated averaging, which sends all parameters up and down as
# float32.


def f1(fitted, X, y):
    """Strict F1 of the server's network."""
    return fitted.score(X, y)


def kept_home(fitted, X, y):
    """1 minus the bytes of a local epoch, as a share of those of federated averaging."""
    history = fitted.history_
    sent = (history.bytes_up + history.bytes_down - history.bytes_start) / len(history)
    everything = 2 * 4 * sum(p.numel() for p in fitted.estimators_[0].module_.parameters())
    return 1 - sent / everything


# %%
# The grid
# --------

grid = {"upload_fraction": [0.1, 0.5], "download_fraction": [0.1, 0.3, 1.0]}
with config_context(enable_metadata_routing=True):
    ensemble.set_fit_request(groups=True)
    scoring = {"f1": f1, "kept_home": kept_home}
    search = GridSearchCV(ensemble, grid, scoring=scoring, refit=False, cv=GroupKFold(2), n_jobs=2)
    search.fit(notes.X, y, groups=notes.groups)

results = search.cv_results_
uploads, downloads = (np.ma.getdata(results[f"param_{name}"]).astype(float) for name in grid)
for row in zip(uploads, downloads, results["mean_test_f1"], results["mean_test_kept_home"], strict=True):
    print("theta_u {:.1f}, theta_d {:.1f}: F1 {:.2f}, {:.0%} of the bytes kept at home".format(*row))

# %%
# Bytes that stay at the hospital, against usefulness
# ---------------------------------------------------

figure, axes = plt.subplots(figsize=(6, 3.5), layout="constrained")
for share, marker in zip(grid["download_fraction"], "os^", strict=True):
    mine = downloads == share
    axes.plot(results["mean_test_kept_home"][mine], results["mean_test_f1"][mine], marker, label=f"theta_d = {share:g}")
axes.set(xlabel="share of the bytes of federated averaging that stays at home", ylabel="strict F1")
axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
plt.show()

# sphinx_gallery_thumbnail_path = 'results/figures/epochs_R12.png'
