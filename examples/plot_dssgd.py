"""
Five hospitals train one tagger by exchanging updates
=====================================================

Each hospital ("worker") has some annotated notes that stay where they are. In distributed selective SGD (Shokri &
Shmatikov 2015; Festag & Spreckelsen 2020), each worker trains for an epoch on its own notes and sends a random half of
the clipped changes of its network. A server adds up the changes of all workers. Each worker then fetches the tenth of
the parameters that was changed most often. The example compares this method with one place that has all notes, with
every worker alone, and with federated averaging, which sends all parameters.

The notes are generated, and few, so that the example is quick. ``benchmarks/dssgd.py`` measures more notes.
``docs/federated.md`` explains what updates reveal about notes, and which methods protect them.

.. figure:: /results/figures/epochs_R11.png
   :width: 80%

   F1 of PHI tokens epoch by epoch: mean and range over the workers. The figure does not come
   from this example, but from ``python -m benchmarks.reproduce`` (run R11: 100 generated notes, one seed).
"""

# %%
# Notes of several hospitals
# --------------------------
# ``groups`` are the patients. All notes of a patient are at one hospital. One label for all PHI keeps the task simple.
# The F1 of spans is measured after each local epoch, on patients that each worker holds out.

import matplotlib.pyplot as plt

from sklearn_deid import DeidTagger, DSSGDEnsemble, make_clinical_notes
from sklearn_deid.federated import FederatedAveraging
from sklearn_deid.plotting import TradeOffDisplay


def one_label(rows):
    """Tags that say only whether a token is PHI."""
    return [["O" if tag == "O" else f"{tag[0]}-PHI" for tag in row] for row in rows]


notes = make_clinical_notes(60, random_state=1).to_sentences()
test = make_clinical_notes(30, random_state=2).to_sentences()
y, test_y = one_label(notes.y), one_label(test.y)
tagger = DeidTagger(hidden_size=24, batch_size=100, lr=8e-3, weight_average=0.0)
common = {"n_workers": 5, "n_epochs": 10, "validation_fraction": 0.25, "random_state": 0}

# %%
# Five ways to train
# ------------------
# "round robin" passes the whole network from hospital to hospital.

arms = {
    "all notes in one place": {"strategy": "centralized"},
    "round robin": {"strategy": "round_robin"},
    "DSSGD": {"strategy": "dssgd", "upload_fraction": 0.5, "download_fraction": 0.1},
    "federated averaging": {"strategy": FederatedAveraging(rounds_per_epoch=1)},
    "everybody alone": {"strategy": "local", "predict_with": "vote"},
}
ensembles = {
    name: DSSGDEnsemble(tagger, **common, **arm).fit(notes.X, y, groups=notes.groups) for name, arm in arms.items()
}
TradeOffDisplay.from_histories({name: one.history_ for name, one in ensembles.items()}).plot()

# %%
# Sent bytes and F1
# -----------------
# Sending less costs F1. The F1 shown is that of the workers' own taggers, on notes of other patients.

less = DSSGDEnsemble(tagger, **common, upload_fraction=0.1).fit(notes.X, y, groups=notes.groups)
shares = {0.1: less, 0.5: ensembles["DSSGD"]}


def row(name, ensemble, share=None):
    """What one training reached and sent."""
    history, f1 = ensemble.history_, ensemble.score_workers(test.X, test_y)
    sent = (history.bytes_up + history.bytes_down - history.bytes_start) / len(history)
    scores = {"f1": f1.mean(), "f1_low": f1.min(), "f1_high": f1.max()}
    return {"method": name, **scores, "share": share, "KiB": sent / 1024 if sent else None}


rows = [row("DSSGD", ensemble, share) for share, ensemble in shares.items()]
rows += [row(name, ensembles[name]) for name in ("all notes in one place", "round robin", "everybody alone")]
rows += [row("federated averaging", ensembles["federated averaging"], 1.0)]
_, (left, right) = plt.subplots(ncols=2, sharey=True, figsize=(11, 4.2), layout="constrained")
of_parameters = TradeOffDisplay.from_results(
    rows, name="method", x="share", y="f1", log_x=True, x_name="share of the parameters sent after an epoch"
)
of_bytes = TradeOffDisplay.from_results(
    rows, name="method", x="KiB", y="f1", log_x=True, x_name="KiB sent and fetched in a local epoch"
)
of_parameters.plot(left).ax_.get_legend().remove()
of_bytes.plot(right)
plt.show()

# %%
# Bars show the worst and the best worker. With so few notes and epochs, DSSGD is far behind one place that has all
# notes, and only a little better than workers alone: a worker fetches a tenth of the parameters, and the server adds up
# stale updates. Federated averaging sends and fetches all parameters, three times as many bytes.
#
# The network of the server is a tagger like any other, and can be saved.

print(ensembles["DSSGD"].history_)
print(f"F1 of the server's network: {ensembles['DSSGD'].score(test.X, test_y):.2f}")

# sphinx_gallery_thumbnail_path = 'results/figures/epochs_R11.png'
