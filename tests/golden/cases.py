"""Seeded results of every estimator and seeded function: the table of cases whose hashes are in ``golden.json``.

A case takes nothing and returns what is hashed. Only public names are imported, so that a file that moves changes
import lines here and nothing else. A case whose name begins with "noise/" depends on how noise is drawn.
"""

import functools
import os
import tempfile
from pathlib import Path

import numpy as np

from sklearn_deid import (
    AdversarialPrivacyAuditor,
    CusTextPseudonymizer,
    DeidTagger,
    Document,
    DSSGDEnsemble,
    GaussianNoisePerturber,
    HybridTagger,
    MadlibPseudonymizer,
    NeighborPseudonymizer,
    NoteDeidentifier,
    PretrainedEncoder,
    PrivateRepresenter,
    RandomVectorPerturber,
    RecallTunedTagger,
    RuleTagger,
    SanTextPseudonymizer,
    TemperatureScaledTagger,
    TokenSequences,
    VotingTagger,
    WordVectors,
    ZeroVectorPerturber,
    deid_report,
    make_clinical_notes,
    read_corpus,
    utility_report,
    write_corpus,
)
from sklearn_deid.audit.bayes import bayes_reidentification
from sklearn_deid.datasets import iter_clinical_notes
from sklearn_deid.embeddings import NeighborIndex, SubwordTable, noise_study, train_fasttext, train_subword_table
from sklearn_deid.federated import (
    FederatedAveraging,
    GaussianUpload,
    ParameterServer,
    SparseVectorUpload,
    Worker,
    WorkerSettings,
    plan_steps,
)
from sklearn_deid.federated.sites import (
    ExchangeService,
    FederationConfig,
    SessionRules,
    SiteSettings,
    SiteTraining,
    pack,
    unpack,
)
from sklearn_deid.metrics import bootstrap_ratio, phi_f1_score, phi_precision_score, phi_recall_score, phi_word_prior
from sklearn_deid.representations import DANN, Bounded, ThreePart
from sklearn_deid.surrogates import Chance, PlaceholderFiller
from sklearn_deid.tagging.rules import find_phi
from sklearn_deid.text import I2B2_2014, segment

from ..digests import numbers, of_random_pairs, one_thread, weights

CASES = {}

# ---- inputs

SURNAMES = ["Alder", "Birch", "Cedar", "Damson", "Elm", "Fir", "Gorse", "Hazel", "Ivy", "Juniper"]
TOWNS = ["Northwick", "Eastham", "Southby", "Westerley"]
PATTERNS = [
    ("Mr . {name} was seen", "O O B-PATIENT O O"),
    ("Lives in {town} {town}", "O O B-CITY I-CITY"),
    ("Aged {age} years .", "O B-AGE O O"),
    ("Call 555-0123 on 3/4/2019 .", "O B-PHONE O B-DATE O"),
    ("No pain .", "O O O"),
]


def make_sentences(n, seed=0):
    """n sentences, their tags, and the patient of each: four sentences a patient."""
    rng = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(n):
        words, tags = PATTERNS[rng.integers(len(PATTERNS))]
        filled = words.format(name=rng.choice(SURNAMES), town=rng.choice(TOWNS), age=rng.integers(20, 90))
        X.append(filled.split())
        y.append(tags.split())
    return X, y, [f"patient-{i // 4:02d}" for i in range(n)]


X, Y, GROUPS = make_sentences(60)
NEW, NEW_TAGS, NEW_GROUPS = make_sentences(24, seed=1)
MANY = make_sentences(240, seed=2)
_WORDS = sorted({word.lower() for row in MANY[0] for word in row})
VECTORS = WordVectors(_WORDS, np.random.default_rng(0).standard_normal((len(_WORDS), 6)), is_public=True)
SUBWORDS = SubwordTable(np.random.default_rng(0).standard_normal((40, 5)).astype(np.float32), 3, 4, is_public=True)
TAGGER = {"max_epochs": 3, "lr": 0.01, "hidden_size": 6, "batch_size": 60, "embeddings": None}
SEEDED = {"random_state": 0, "device": "cpu"}
REPRESENTER = {
    "embeddings": VECTORS,
    "n_components": 3,
    "n_neighbors": 5,
    "hidden_size": 4,
    "tagger_hidden_size": 4,
    "max_epochs": 2,
    **SEEDED,
}


TRAININGS = {"bounded": "bounded", "three_part": ThreePart(pretrain_epochs=2), "dann": DANN(pretrain_epochs=2)}


@functools.cache
def notes():
    return make_clinical_notes(8, random_state=3)


@functools.cache
def fitted_tagger():
    return tagger().fit(X, Y, groups=GROUPS)


@functools.cache
def fitted_representer(training="bounded"):
    return PrivateRepresenter(**REPRESENTER, training=TRAININGS[training]).fit(X, Y, groups=GROUPS)


@functools.cache
def fitted_ensemble():
    return ensemble(keep_exchange=True, strategy="dssgd").fit(X, Y, groups=GROUPS)


def tagger(**parameters):
    return DeidTagger().set_params(**{**TAGGER, **SEEDED, **parameters})


def ensemble(**parameters):
    return DSSGDEnsemble(tagger(), **{"n_workers": 3, "n_epochs": 2, "random_state": 0, **parameters})


def with_documents(rows):
    return TokenSequences.from_rows(rows).with_documents(np.arange(len(rows)) // 4)


def spans_of(spans):
    return [(span.start, span.end, span.label, span.category, span.confidence) for span in spans]


def content_of(documents):
    return [(d.doc_id, d.patient_id, d.text, spans_of(d.spans)) for d in documents]


def outputs(model, rows=NEW):
    """Everything that a tagger answers."""
    found = [model.predict(rows)]
    if hasattr(model, "predict_proba"):
        found += [model.predict_proba(rows), *model.predict(rows, return_confidence=True)]
    return found


def case(name, *arguments, **options):
    """Register a function, or one call of it for each of several parameters, under a name."""

    def register(function):
        assert name not in CASES, name
        CASES[name] = functools.partial(function, *arguments, **options)
        return function

    return register


# ---- notes and text


@case("notes/200")
def _():
    return content_of(make_clinical_notes(200, random_state=0))


@case("notes/few patients")
def _():
    return content_of(iter_clinical_notes(20, n_patients=4, random_state=np.random.default_rng(5)))


@case("notes/sentences")
def _():
    data = notes().to_sentences()
    return data.X, data.y, data.groups, [segment(document.text).sentences for document in notes()]


@case("notes/rules")
def _():
    return [spans_of(find_phi(document.text)) for document in make_clinical_notes(30, random_state=4)]


@case("notes/placeholders")
def _():
    kinds = "First Name8 (NamePattern2) 1234|2151-7-16|Hospital1 18|Telephone/Fax (1) 12|State/Zipcode |Location (un) 3"
    fillers = [PlaceholderFiller(Chance(seed)) for seed in range(10)]
    return [[filler.fill(kind) for kind in kinds.split("|")] for filler in fillers]


@case("notes/placeholders in a table")
def _():
    text = (
        "Seen on [**2151-7-16**] by Dr. [**Last Name (STitle) 3**] at [**Hospital1 18**].\nPhone [**Telephone/Fax 1**]"
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "NOTEEVENTS.csv")
        path.write_text(f'ROW_ID,SUBJECT_ID,TEXT\n1,7,"{text}"\n2,8,"{text}"\n')
        return content_of(read_corpus(path, "mimic", random_state=1))


def read_back(format):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "notes")
        write_corpus(notes(), path, format, lossy=True)
        files = sorted(file for file in [path, *path.rglob("*")] if file.is_file())
        # spaCy packs its file in an order of its own
        written = [] if format == "docbin" else [(str(f.relative_to(folder)), f.read_bytes()) for f in files]
        return written, content_of(read_corpus(path, format))


for _format in ("jsonl", "docbin", "i2b2", "meddocan-xml", "brat", "conll", "text"):
    case(f"notes/written as {_format}", _format)(read_back)


# ---- taggers


def tagged(inputs="words", **parameters):
    if inputs == "vectors":
        mover = ZeroVectorPerturber(embeddings=VECTORS, random_state=0, max_replacements=1)
        train, new = mover.fit_transform(X, Y), mover.transform(NEW)
    else:
        train, new = with_documents(X), with_documents(NEW)
    model = tagger(**parameters).fit(train, Y, groups=GROUPS)
    return weights(model.module_), model.classes_, model.history_[:, "train_loss"], outputs(model, new)


_TAGGERS = {
    "default": {},
    "gru": {"encoder": "gru", "characters": "bigru"},
    "gru-gru": {"encoder": "gru-gru", "head": "softmax"},
    "lstm-gru": {"encoder": "lstm-gru", "characters": "bilstm", "head__projection_size": 5},
    "transformer": {"encoder": "transformer", "encoder__n_heads": 2, "n_layers": 2, "lr": 1e-3},
    "no characters": {"characters": None, "embeddings": VECTORS, "n_layers": 2, "head__constrained": False},
    "bioes": {"tag_scheme": "bioes", "class_weight": "balanced", "weight_average": 0.0, "span_swap": 0.0},
    "subwords": {"embeddings": SUBWORDS},
    "window": {"context": "window", "context__size": 1},
    "document": {"context": "document"},
    "document transformer": {"context": "document", "encoder": "transformer", "encoder__n_heads": 2, "n_layers": 1},
    "held out": {"validation_fraction": 0.2, "patience": 2, "max_epochs": 5},
    "recall repaired": {"recall_weight": 4.0},
    "recall batch": {"recall_weight": 4.0, "recall_weight__form": "batch"},
    "recall printed": {"recall_weight": 4.0, "recall_weight__form": "printed"},
    "augmented": {"augmenter": NeighborPseudonymizer(embeddings=VECTORS, n_neighbors=3)},
    "sgd": {"optimizer__weight_decay": 1e-3, "gradient_clip": None, "dropout__input": 0.0},
    "vectors": {"inputs": "vectors"},
}
for _name, _parameters in _TAGGERS.items():
    case(f"tagger/{_name}", **_parameters)(tagged)


@case("tagger/auto embeddings")
def _():
    model = tagger(embeddings="auto", max_epochs=1).fit(X, Y, groups=GROUPS)
    return weights(model.module_), outputs(model)


@case("tagger/partial fit")
def _():
    model = tagger()
    for part in (slice(0, 30), slice(30, 60)):
        model.partial_fit(X[part], Y[part], classes=sorted({tag for row in Y for tag in row}))
    return weights(model.module_), outputs(model)


@case("tagger/warm start")
def _():
    model = tagger(warm_start=True, max_epochs=1).fit(X, Y).fit(X, Y)
    return weights(model.module_), outputs(model)


def make_encoder(folder):
    """A BERT of two layers with random weights, and a tokenizer of single characters."""
    import tokenizers
    import torch
    import transformers

    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    signs = [chr(code) for code in range(33, 127) if not chr(code).isupper()]
    vocabulary = {piece: i for i, piece in enumerate([*pieces, *signs, *(f"##{sign}" for sign in signs)])}
    bare = tokenizers.Tokenizer(tokenizers.models.WordPiece(vocabulary, unk_token="[UNK]"))
    bare.normalizer = tokenizers.normalizers.BertNormalizer()
    bare.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    named = {"pad": "[PAD]", "unk": "[UNK]", "cls": "[CLS]", "sep": "[SEP]", "mask": "[MASK]"}
    fast = transformers.PreTrainedTokenizerFast(
        tokenizer_object=bare, model_max_length=40, **{f"{key}_token": piece for key, piece in named.items()}
    )
    sizes = {"hidden_size": 8, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 12}
    config = transformers.BertConfig(vocab_size=len(vocabulary), max_position_embeddings=40, **sizes)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        transformers.BertModel(config).save_pretrained(folder)
    fast.save_pretrained(folder)


def pretrained_tagger(folder, **settings):
    os.environ["HF_HUB_OFFLINE"] = "1"  # read when the library is first imported: nothing may ask the hub
    make_encoder(folder)
    encoder = PretrainedEncoder(folder, overlap=8, **settings)
    return tagger(encoder=encoder, context="document").fit(with_documents(X), Y)


def pretrained(**settings):
    with tempfile.TemporaryDirectory() as folder:
        model = pretrained_tagger(folder, **settings)
        return weights(model.module_), outputs(model, with_documents(NEW))


case("tagger/pretrained first", lr=5e-3)(pretrained)
case("tagger/pretrained mean, frozen", pooling="mean", frozen=True)(pretrained)


# ---- taggers around taggers


@case("around/recall tuned")
def _():
    model = RecallTunedTagger(tagger(), target_recall=0.5, confidence=None, cv=0.4, random_state=0)
    model.fit(X, Y, groups=GROUPS)
    return model.decision_bias_, model.threshold_, numbers(vars(model.report_)), outputs(model)


@case("around/recall tuned, refitted over folds")
def _():
    model = RecallTunedTagger(tagger(max_epochs=2), target_recall=0.3, cv=3, refit=True, random_state=0, level="span")
    model.fit(X, Y, groups=GROUPS)
    return model.decision_bias_, model.threshold_, numbers(vars(model.report_)), outputs(model)


@case("around/recall with a fixed bias")
def _():
    model = RecallTunedTagger(tagger(), decision_bias=2.0).fit(X, Y, groups=GROUPS)
    return model.decision_bias_, model.threshold_, outputs(model)


@case("around/temperature scaled")
def _():
    model = TemperatureScaledTagger(tagger(), random_state=0).fit(X, Y, groups=GROUPS)
    return model.temperature_, outputs(model)


def united(unite):
    model = HybridTagger(RuleTagger(), tagger(), on_conflict=unite).fit(X, Y, groups=GROUPS)
    return model.rules_precision_, outputs(model)


for _unite in ("rules_first", "tagger_first", "union"):
    case(f"around/united, {_unite}", _unite)(united)


@case("around/voting")
def _():
    pairs = [("a", tagger()), ("b", tagger(random_state=1)), ("rules", RuleTagger())]
    return outputs(VotingTagger(pairs, weights=[2, 1, 1]).fit(X, Y, groups=GROUPS))


@case("around/rules")
def _():
    return outputs(RuleTagger().fit(X, Y)), outputs(RuleTagger({"date", "age"}, language="en").fit([]))


@functools.cache
def fitted_deidentifier():
    return NoteDeidentifier(tagger(max_epochs=2, batch_size=300)).fit(notes())


@case("around/notes annotated")
def _():
    return [spans_of(spans) for spans in fitted_deidentifier().annotate(make_clinical_notes(4, random_state=9))]


def redacted(mode):
    return fitted_deidentifier().redact(make_clinical_notes(4, random_state=9), mode)


for _mode in ("label", "mask", "remove"):
    case(f"around/notes redacted, {_mode}", _mode)(redacted)


# ---- pseudonymizers and perturbers


def moved(kind, **parameters):
    model = kind(**{"embeddings": VECTORS, "random_state": 0, **parameters})
    grouped = {"groups": GROUPS}
    first = model.fit_transform(X, Y, **grouped)
    again = model.sample(NEW, NEW_TAGS, groups=NEW_GROUPS)
    return list(first), numbers(model.statistics_), list(again), [list(p) for p in model.fit_resample(X, Y, **grouped)]


_MOVERS = {
    "neighbors": (NeighborPseudonymizer, {"n_neighbors": 4}),
    "neighbors, document": (NeighborPseudonymizer, {"n_neighbors": 4, "coherence": "document"}),
    "neighbors, patient": (NeighborPseudonymizer, {"n_neighbors": 4, "coherence": "patient"}),
    "neighbors, digits": (NeighborPseudonymizer, {"n_neighbors": 3, "digits": "random", "keep_casing": False}),
    "neighbors, guarded": (NeighborPseudonymizer, {"n_neighbors": 4, "guard_substring": True, "labels": ["PATIENT"]}),
    "neighbors, one": (NeighborPseudonymizer, {"n_neighbors": 4, "max_replacements": 1, "unknown": "keep"}),
    "madlib": (MadlibPseudonymizer, {"epsilon": 5.0}),
    "santext": (SanTextPseudonymizer, {"epsilon": 2.0}),
    "custext": (CusTextPseudonymizer, {"n_neighbors": 4, "epsilon": 1.0}),
    "custext, patient": (CusTextPseudonymizer, {"n_neighbors": 4, "epsilon": 1.0, "coherence": "patient"}),
}
for _name, (_kind, _parameters) in _MOVERS.items():
    case(f"moved/{_name}", _kind, **_parameters)(moved)
case("noise/gaussian vectors", GaussianNoisePerturber, scale=0.3)(moved)
case("noise/gaussian vectors, no casing", GaussianNoisePerturber, casing=False, max_replacements=1)(moved)
case("noise/random vectors", RandomVectorPerturber)(moved)
case("moved/zero vectors", ZeroVectorPerturber)(moved)


@case("moved/posterior of words")
def _():
    found = []
    for kind, parameters in ((NeighborPseudonymizer, {"n_neighbors": 4}), (CusTextPseudonymizer, {"n_neighbors": 4})):
        model = kind(embeddings=VECTORS, random_state=0, digits="same", **parameters).fit(X, Y)
        found.append(numbers(bayes_reidentification(model.mechanism_, phi_word_prior(X, Y), random_state=0).to_dict()))
    return found


# ---- private representations


def represented(training, **parameters):
    model = PrivateRepresenter(**{**REPRESENTER, "training": training, **parameters}).fit(X, Y, groups=GROUPS)
    bound = None if model.bound_ is None else numbers(of_random_pairs(model.bound_))
    certified = numbers(of_random_pairs(model.certify(NEW, NEW_TAGS, n_releases=2, random_state=0)))
    figures = numbers(model.history_), model.selected_round_, numbers(model.training_counts_)
    return weights(model.network_, model.tagger_.module_), bound, certified, figures, list(model.noise_free(NEW))


_REPRESENTERS = {
    "bounded": {"training": "bounded"},
    "bounded, fixed noise": {"training": Bounded(quantile_attack_accuracy=None), "noise": 0.5},
    "bounded, all sentences": {"training": "bounded", "validation_fraction": None, "casing": False, "unit_norm": False},
    "dense": {"training": "bounded", "encoder": "dense", "digits": "random"},
    "three parts": {"training": TRAININGS["three_part"]},
    "three parts of the paper": {"training": ThreePart(adversary="paper", stopping="paper", pretrain_epochs=2)},
    "dann": {"training": TRAININGS["dann"]},
    "dann of the paper": {"training": DANN(adversary="paper", pretrain_epochs=2), "labels": ["PATIENT", "CITY"]},
}
for _name, _parameters in _REPRESENTERS.items():
    case(f"represented/{_name}", **_parameters)(represented)


@case("represented/worst case")
def _():
    model = PrivateRepresenter(**REPRESENTER, encoder="dense").fit(X, Y, groups=GROUPS)
    return numbers(model.worst_case().to_dict())


def released(training, **parameters):
    model = PrivateRepresenter(**{**REPRESENTER, "training": training, **parameters}).fit(X, Y, groups=GROUPS)
    return [list(model.transform(NEW)), *map(list, model.sample(NEW, 2))]


for _name, _training in TRAININGS.items():
    case(f"noise/released, {_name}", _training)(released)
case("noise/released, raw", "bounded", casing=False, unit_norm=False, noise=0.4)(released)


# ---- audits


@functools.cache
def audited(kind):
    """The report of an audit, made once for two cases."""
    attacks = "quick"
    if kind == "representer":
        model = PrivateRepresenter(**REPRESENTER).fit(*MANY[:2], groups=MANY[2])
    elif kind == "pseudonymizer":
        model, attacks = NeighborPseudonymizer(embeddings=VECTORS, n_neighbors=4, random_state=0), "default"
        model.fit(*MANY[:2])
    elif kind == "vectors":
        model = GaussianNoisePerturber(embeddings=VECTORS, scale=0.2, random_state=0).fit(*MANY[:2])
    elif kind == "tagger":
        model, attacks = tagger(max_epochs=1).fit(*MANY[:2], groups=MANY[2]), ["membership_threshold", "canaries"]
    else:
        return AdversarialPrivacyAuditor("default", n_epochs=2, random_state=0).audit(fitted_ensemble(), X, Y, GROUPS)
    auditor = AdversarialPrivacyAuditor(attacks, n_epochs=2, n_candidates=11, n_releases=3, random_state=0)
    return auditor.audit(model, *MANY)


def audit_numbers(kind):
    return numbers(audited(kind).to_dict())


def audit_arms(kind):
    """Measures of the attacks alone; they stay as they are where a report says more or less around them."""
    arms = ("attack", "baseline", "negative_control", "positive_control")
    found = [getattr(result, arm) for result in audited(kind).results for arm in arms]
    return audited(kind).score, sorted(repr((e.value, e.low, e.high, e.n)) for e in found if e is not None)


for _kind in ("pseudonymizer", "tagger", "ensemble"):
    case(f"audit/{_kind}", _kind)(audit_numbers)
    case(f"audit/{_kind}, arms", _kind)(audit_arms)
for _kind in ("representer", "vectors"):
    case(f"noise/audit of {_kind}", _kind)(audit_numbers)
    case(f"noise/audit of {_kind}, arms", _kind)(audit_arms)


# ---- training together


def together(**parameters):
    model = ensemble(validation_fraction=0.3, **parameters).fit(X, Y, groups=GROUPS)
    networks = [one.module_ for one in model.estimators_]
    if parameters["strategy"] != "local":
        networks.append(model.global_estimator_.module_)
    return weights(*networks), numbers(model.history_.to_list()), outputs(model), model.labels_


_ENSEMBLES = {
    "dssgd": {"strategy": "dssgd"},
    "dssgd, largest": {"strategy": "dssgd", "selection": "largest", "error_feedback": True, "upload_dtype": "float16"},
    "dssgd, most changed": {"strategy": "dssgd", "download_selection": "most-changed", "server_step": 0.5},
    "dssgd, random": {"strategy": "dssgd", "download_selection": "random", "schedule": "sequential"},
    "dssgd, delayed": {"strategy": "dssgd", "schedule": "random-delay", "clip": 0.01},
    "centralized": {"strategy": "centralized"},
    "round robin": {"strategy": "round_robin"},
    "local": {"strategy": "local", "predict_with": "vote"},
    "one worker": {"strategy": "dssgd", "predict_with": 1},
    "averaged": {"strategy": "fedavg"},
    "averaged, median": {"strategy": FederatedAveraging("median")},
    "averaged, trimmed": {"strategy": FederatedAveraging("trimmed_mean", max_norm=0.5)},
}
for _name, _parameters in _ENSEMBLES.items():
    case(f"together/{_name}", **_parameters)(together)


@case("together/rounds with parts of their own")
def _():
    parts = [(X[:20], Y[:20]), (X[20:40], Y[20:40]), (X[40:], Y[40:])]
    model = ensemble(strategy="dssgd", labels=list(I2B2_2014.labels)).partial_fit_workers(parts)
    model.partial_fit_workers(parts)
    return weights(model.global_estimator_.module_), outputs(model)


@case("together/messages")
def _():
    return [(m.direction, m.worker, m.epoch, m.data) for m in fitted_ensemble().exchange_]


@case("together/plans")
def _():
    schedules = ("sequential", "concurrent", "random-delay")
    return [list(map(repr_of_step, plan_steps(s, 3, 4, np.random.default_rng(0), 1.5))) for s in schedules]


def repr_of_step(step):
    return [getattr(value, "value", value) for value in (step if isinstance(step, tuple) else vars(step).values())]


class Descent:
    """The smallest learner: halves the way to a goal."""

    def __init__(self, size, goal):
        self.vector, self.goal = np.zeros(size, dtype=np.float32), np.float32(goal)

    def get_flat(self):
        return self.vector.copy()

    def set_flat(self, vector):
        self.vector = np.array(vector, dtype=np.float32)

    def train_epoch(self):
        self.vector += np.float32(0.5) * (self.goal - self.vector)
        return {"loss": float(abs(self.goal - self.vector).sum())}


def exchanged(privacy):
    """Two workers and a server; returns them after three epochs."""
    server = ParameterServer(np.zeros(40, dtype=np.float32), model="0" * 32)
    settings = WorkerSettings(upload_fraction=0.3, download_fraction=0.4, clip=0.2, threshold=0.0)
    options = {"privacy": privacy, "random_state": 5}
    workers = [Worker(f"site-{i}", Descent(40, i), "0" * 32, settings, **options) for i in (1, 2)]
    for _ in range(3):
        for worker in workers:
            # All parameters: which ones a server picks of equal counts is drawn without a seed.
            worker.apply_download(server.download(1.0, worker.name))
            worker.local_epoch()
            sequence = worker.sequence
            server.upload(worker.select_upload(), worker.name, sequence)
            worker.acknowledge(sequence)
    return server, workers


def exchanged_values(privacy):
    server, workers = exchanged(privacy)
    spent = [numbers(worker.ledger.to_list()) for worker in workers]
    return server.parameters, server.counts, [worker.learner.get_flat() for worker in workers], spent


case("together/uploads", None)(exchanged_values)
case("noise/uploads, gaussian", GaussianUpload(1.1, 0.2))(exchanged_values)
case("noise/uploads, sparse vector", SparseVectorUpload(2.0))(exchanged_values)

SITES = ["site-1", "site-2"]
SITE_TAGGER = {"hidden_size": 4, "embeddings": None, "batch_size": 300}


def agreement(n_epochs=2):
    return FederationConfig("lab", SITES, list(I2B2_2014.labels), SITE_TAGGER, n_epochs=n_epochs)


def run_site(server, settings, site, terms, n_epochs):
    """One window of one site, without a network."""
    service = ExchangeService(server, SITES, SessionRules(n_epochs), lambda event: None)
    training = SiteTraining(terms, settings, site)
    training.run_session(lambda fields, body=b"": unpack(service.answer(site, pack(fields, body))))
    return training


@case("together/sites")
def _():
    with tempfile.TemporaryDirectory() as folder:
        terms, root = agreement(), Path(folder)
        server, found = terms.new_server(), []
        for seed, site in enumerate(SITES, start=1):
            write_corpus(make_clinical_notes(2, random_state=seed), root / site, "brat")
            own = {"format": "brat", "download_fraction": 1.0}
            settings = SiteSettings(str(root / site), str(root / f"{site}-state"), random_state=7, **own)
            training = run_site(server, settings, site, terms, 2)
            found.append(weights(training.learner.tagger.module_))
        return found, server.parameters, server.counts


# ---- measures


@functools.cache
def redactions():
    """Notes, and what a tagger found in them."""
    original = list(make_clinical_notes(30, random_state=6))
    found = fitted_deidentifier().annotate(original)
    predicted = [Document(d.doc_id, d.text, s, d.patient_id) for d, s in zip(original, found, strict=True)]
    return original, predicted


@case("measured/report")
def _():
    return numbers(deid_report(*redactions(), output="dict"))


@case("measured/report as a table")
def _():
    return deid_report(*redactions(), output="table")


@case("measured/usefulness")
def _():
    original, predicted = redactions()
    kinds = [["in", "out"][number % 2] for number in range(len(original))]
    settings = {"n_topics": 2, "n_repeats": 2, "n_splits": 3, "random_state": 0}
    return numbers(utility_report(original, original, predicted, labels=kinds, **settings).to_dict())


@case("measured/scores")
def _():
    found = fitted_tagger().predict(NEW)
    scores = [score(NEW_TAGS, found) for score in (phi_f1_score, phi_precision_score, phi_recall_score)]
    return scores, fitted_tagger().score(NEW, NEW_TAGS)


@case("measured/bootstrap")
def _():
    found = bootstrap_ratio(np.arange(9), np.arange(9) + 3, n_draws=300, seed=1)
    return found.value, found.low, found.high


# ---- word vectors


@case("vectors/fasttext")
def _():
    trained = train_fasttext(X, dim=6, epochs=2, bucket=200, random_state=0)
    return trained.words, trained.matrix(), trained.vectors_for(["unseen", "Alderman"]), trained.checksum


@case("vectors/subwords")
def _():
    return train_subword_table(X, dim=6, epochs=2, bucket=200, random_state=0).table


@case("vectors/neighbors")
def _():
    table = NeighborIndex(VECTORS).query(np.arange(len(VECTORS)), 5)
    return table.rows, table.neighbors


@case("vectors/noise study")
def _():
    study = noise_study(VECTORS, np.arange(10), [0.1, 0.5], n_draws=3, random_state=0)
    return numbers(vars(study) if hasattr(study, "__dict__") else study._asdict())


# ---- how a case is run


def run_case(name):
    """What a case returns, computed in one thread."""
    with one_thread():
        return CASES[name]()
