"""What each saved file says once it is loaded: a table of loaders, with public names only.

Each loader takes the folder of saved files and returns plain values; `exact` values are compared as they are, "close"
ones within 1e-6. ``make_files.py`` writes what they returned on the day the files were made.
"""

import dataclasses
import json
import os
import shutil
import tempfile
from pathlib import Path
from unittest import mock

import numpy as np

from sklearn_deid import (
    NoteDeidentifier,
    PrivateRepresenter,
    TokenSequences,
    WordVectors,
    load,
    load_representation,
    pool_representations,
    read_corpus,
)
from sklearn_deid.cli.numbering import OutputNumbers
from sklearn_deid.embeddings import NeighborIndex, forget_neighbors
from sklearn_deid.federated import ExchangeRecord, ParameterServer, SparseVectorUpload, Worker, WorkerSettings
from sklearn_deid.federated.sites import (
    ExchangeService,
    FederationConfig,
    SessionRules,
    SiteSettings,
    SiteTraining,
    pack,
    read_settings,
    server_checkpoint,
    unpack,
)
from sklearn_deid.io import completed_ids

from ..digests import digest, numbers, of_random_pairs, weights

ROWS = [
    ["Mr", ".", "Alder", "was", "seen"],
    ["Lives", "in", "Northwick", "Northwick"],
    ["Aged", "47", "years", ".", "Call", "555-0123"],
    ["On", "3", "/", "4", "/", "2019", "Dr", "Unseenname", "left", "."],
]
TAGS = [["O", "O", "B-PATIENT", "O", "O"], ["O", "O", "B-CITY", "I-CITY"], ["O", "B-AGE", *"OOOO"], ["O"] * 10]
NOTE = "Mr. Alder was seen on 3/4/2019 by Dr. Birch.\nHe lives in Northwick; call 555-0123 or mail roe@example.org."
SITES = ["site-1", "site-2"]
FORMATS = {"jsonl": ".jsonl", "docbin": ".spacy", "i2b2": "", "meddocan-xml": "", "brat": "", "conll": ".conll"}
LOADERS = {}


def loader(name, *arguments):
    def register(function):
        assert name not in LOADERS, name
        LOADERS[name] = lambda folder: function(folder, *arguments)
        return function

    return register


def said(exact, close=()):
    """What a loaded object says: compared as it is, and within 1e-6."""
    return {"exact": json.loads(json.dumps(exact)), "close": [float(value) for value in close]}


# ---- taggers


def tagged(folder, name):
    model = load(folder / "models" / name)
    rows = TokenSequences.from_rows(ROWS).with_documents(["a", "a", "a", "b"])
    return _outputs(model, rows)


def _outputs(model, rows):
    exact = {"tags": [list(row) for row in model.predict(rows)], "classes": list(map(str, model.classes_))}
    if not hasattr(model, "predict_proba"):
        return said(exact)
    found = [np.asarray(row) for row in model.predict_proba(rows)]
    sure = [np.asarray(row) for row in model.predict(rows, return_confidence=True)[1]]
    return said(exact, np.concatenate([*[row.ravel() for row in found], *sure]))


TAGGERS = ["lstm", "gru softmax", "transformer document", "window", "bioes subwords", "lstm-gru", "pretrained"]
TAGGERS += ["ensemble global", "ensemble worker", "recall tuned", "recall fixed", "temperature", "voting"]
for _name in TAGGERS:
    loader(f"models/{_name}", _name)(tagged)


def ruled(folder, name):
    """Taggers with rules, which give tags and no probabilities."""
    model = load(folder / "models" / name)
    rows = TokenSequences.from_rows(ROWS)
    return said({"tags": [list(row) for row in model.predict(rows)]})


for _name in ("rules", "rules chosen", "united", "united union"):
    loader(f"models/{_name}", _name)(ruled)


@loader("models/of vectors")
def _(folder):
    model = load(folder / "models" / "of vectors")
    return _outputs(model, load_representation(folder / "releases" / "a").X)


@loader("models/note deidentifier")
def _(folder):
    model = load(folder / "models" / "note deidentifier")
    assert isinstance(model, NoteDeidentifier)
    (spans,) = model.annotate([NOTE])
    modes = {mode: model.redact([NOTE], mode) for mode in ("label", "mask", "remove")}
    places = [(span.start, span.end, span.label, span.category) for span in spans]
    sure = [span.confidence for span in spans]
    return said([places, modes, model.categories_, model.batch_size, model.on_error], sure)


@loader("models/recall tuned, report")
def _(folder):
    model = load(folder / "models" / "recall tuned")
    return said(numbers(vars(model.report_)), [model.decision_bias_, model.threshold_])


# ---- representers and releases


def represented(folder, name, words):
    embeddings = WordVectors.open(folder / words) if words else None
    model = PrivateRepresenter.load(folder / "representers" / name, embeddings=embeddings, device="cpu")
    vectors = list(model.noise_free(ROWS))
    bound = {} if model.bound_ is None else of_random_pairs(model.bound_)
    exact = [model.fingerprint_, model.n_features_out_, model.training_counts_, list(map(str, model.classes_))]
    shapes = [list(row.shape) for row in model.transform(ROWS)]  # the noise itself is new each time
    certified = of_random_pairs(model.certify(ROWS, TAGS, random_state=0))
    bound.pop("slack", None), certified.pop("slack")  # the noise of 0.2.0 has one, of about 1e-12
    figures = [*map(float, numbers(bound)), *map(float, numbers(certified))]
    return said([*exact, shapes, weights(model.network_)], [*np.concatenate(vectors).ravel(), *figures])


loader("representers/lstm", "lstm", "words")(represented)
loader("representers/dense", "dense", "words")(represented)
loader("representers/three parts", "three parts", "words")(represented)
loader("representers/of glove", "of glove", None)(represented)


def release(folder, names):
    paths = [folder / "releases" / name for name in names]
    shared = load_representation(paths[0]) if len(paths) == 1 else pool_representations(paths)
    groups = None if shared.groups is None else shared.groups.tolist()
    exact = [[list(row) for row in shared.y], groups, shared.manifest, shared.audit, shared.origin.to_dict()]
    data = np.asarray(shared.X.data)
    exact += [np.asarray(shared.X.offsets).tolist(), str(data.dtype), digest(data)]
    return said(exact)


loader("releases/a", ["a"])(release)
loader("releases/b", ["b"])(release)
loader("releases/pooled", ["a", "b"])(release)


# ---- word vectors


def words(folder, name):
    vectors = WordVectors.open(folder / name)
    found = vectors.vectors_for(["Alder", "northwick", "Unseenname"])
    return said([vectors.words, vectors.checksum, vectors.is_public, vectors.dim], found.ravel())


loader("words", "words")(words)
loader("words with n-grams", "words with n-grams")(words)


@loader("neighbors")
def _(folder):
    """Tables of neighbours that were kept are used: nothing is written beside them."""
    with tempfile.TemporaryDirectory() as copy:
        kept = Path(shutil.copytree(folder / "neighbors", Path(copy, "neighbors")))
        before = sorted(path.name for path in kept.iterdir())
        vectors = WordVectors.open(folder / "words")
        forget_neighbors()
        table = NeighborIndex(vectors, cache_dir=kept).query(np.arange(len(vectors)), 4)
        assert sorted(path.name for path in kept.iterdir()) == before
        return said(table.neighbors.tolist())


# ---- notes and the key of their numbers


def corpus(folder, format):
    found = read_corpus(folder / "notes" / f"{format}{FORMATS[format]}", format)
    spans = [[(s.start, s.end, s.label, s.category, s.confidence) for s in d.spans] for d in found]
    return said([(d.doc_id, d.patient_id, d.text, dict(d.meta)) for d in found] + spans)


for _name in FORMATS:
    loader(f"notes/{_name}", _name)(corpus)


@loader("notes/completed")
def _(folder):
    return said(sorted(completed_ids(folder / "notes" / "jsonl.jsonl")))


@loader("key of numbers")
def _(folder):
    with tempfile.TemporaryDirectory() as copy:
        key = OutputNumbers(Path(shutil.copy(folder / "key.csv", copy)))
        key.open(keep=True)
        found = key.known("Roe_Ann"), key.known("nobody")  # new numbers are random since 0.2.0
        key.close()
    return said(found)


# ---- training together


class Halving:
    """The smallest learner: halves the way to 1."""

    def __init__(self):
        self.vector = np.zeros(40, dtype=np.float32)

    def get_flat(self):
        return self.vector.copy()

    def set_flat(self, vector):
        self.vector = np.array(vector, dtype=np.float32)

    def train_epoch(self):
        self.vector += np.float32(0.5) * (1 - self.vector)


MODEL = "0" * 32
SETTINGS = WorkerSettings(upload_fraction=0.3, download_fraction=0.4, clip=0.2)


@loader("exchange/server")
def _(folder):
    """It goes on as it would have: the next message is the one it would have sent."""
    server = ParameterServer.load(folder / "exchange" / "server.state")
    state = [server.model, server.version, server.n_refused, server.delivered("plain"), server.delivered("private")]
    limits = dataclasses.asdict(server.limits)
    for name in ("refuse_replays", "max_gaps", "max_ratio", "max_similarity", "last_sequence"):  # since 0.2.0
        del limits[name]
    state += [server.counts.tolist(), {k: repr(v) for k, v in limits.items()}]
    update = server.download(0.4, "plain")
    return said([state, update.indices.tolist()], [*server.parameters, *update.values])


def worker(folder, name, privacy):
    one = Worker(name, Halving(), MODEL, SETTINGS, privacy=privacy, random_state=99)
    one.restore(folder / "exchange" / f"{name}.state")
    state = [one.n_epochs, one.sequence, one.version, one.ledger.to_list()]
    pending = {number: digest(data) for number, data in one.pending.items()}
    server = ParameterServer.load(folder / "exchange" / "server.state")
    one.apply_download(server.download(1.0, name))
    one.local_epoch()
    sent = one.select_upload()
    return said([state, pending, sent.indices.tolist()], sent.values)


loader("exchange/worker", "plain", None)(worker)
loader("exchange/worker with noise", "private", SparseVectorUpload(2.0))(worker)


@loader("exchange/record")
def _(folder):
    record = ExchangeRecord.load(folder / "exchange" / "record.state")
    decoded = [message.decode() for message in record.uploads()]
    head = [(m.direction, m.worker, m.epoch, digest(m.data)) for m in record]
    return said([head, [one.indices.tolist() for one in decoded]], np.concatenate([one.values for one in decoded]))


# ---- a federation of sites


@loader("federation/settings")
def _(folder):
    settings = read_settings(SiteSettings, folder / "federation" / "site.json")
    agreement = read_settings(FederationConfig, folder / "federation" / "kit" / "local" / "federation.json")
    own = {name: value for name, value in dataclasses.asdict(settings).items() if not name.startswith("patient_")}
    own["half"] = own.pop("upload_dtype") == "float16"  # as the file says it
    agreed = dataclasses.asdict(agreement)
    since = (
        "max_ratio",
        "n_parts",
        "proximal",
        "aggregation",
        "n_trim",
        "screened",
        "keep_exchange",
        "mask_keys",
        "mask_bound",
        "mask_fraction",
        "lists",
        "lists_checksum",
    )  # of 0.2.0: as before without them
    assert [agreed.pop(name) for name in since] == [None, 1, 0.0, "mean", 1, False, False, {}, 0.25, 1.0, None, None]
    assert [own.pop(name) for name in ("mask_key", "report_f1", "notes_are_patients")] == [None, False, False]
    return said([own, agreed])


@loader("federation/checkpoint")
def _(folder):
    agreement, path = server_checkpoint(folder / "federation" / "kit")
    server = ParameterServer.load(path)
    model = agreement.tagger_with(server.parameters, server.model)
    rows = TokenSequences.from_rows(ROWS).with_documents(["a", "a", "a", "b"])
    found = [np.asarray(row) for row in model.predict_proba(rows)]
    return said([server.model, server.version], np.concatenate(found).ravel())


@loader("federation/next window")
def _(folder):
    """A site that has trained one epoch trains the next one as if it had never stopped."""
    with tempfile.TemporaryDirectory() as copy:
        home = Path(shutil.copytree(folder / "federation", Path(copy, "federation")))
        agreement, path = server_checkpoint(home / "kit")
        server = ParameterServer.load(path)
        own = read_settings(SiteSettings, home / "site.json")
        own = dataclasses.replace(own, corpus=str(folder / "notes" / "brat"), state=str(home / "site-1"))
        # This site has four sentences, and was made before sites with fewer than ten were refused.
        with mock.patch("sklearn_deid.federated.sites.site_training._FEWEST", 1):
            training = run_session(server, agreement, own)
        lines = (home / "site-1" / "history.jsonl").read_text().splitlines()
        exact = [len(lines), training.n_left, server.version, server.delivered("site-1")]
        return said(exact, server.parameters[:50])


def run_session(server, agreement, settings, n_epochs=1):
    """One session of site-1, without a network."""
    service = ExchangeService(server, SITES, SessionRules(n_epochs), lambda event: None)
    training = SiteTraining(agreement, settings, "site-1")
    training.run_session(lambda fields, body=b"": unpack(service.answer("site-1", pack(fields, body))))
    return training


os.environ.setdefault("HF_HUB_OFFLINE", "1")  # read when the library is first imported: nothing may ask the hub
