"""Write the saved files and what they say: ``python -m tests.saved_before_0_2.make_files``.

It was run with the version before 0.2.0 and shows how the files were made. Do not run it with a later version: the
files would be those of that version, and the test would show nothing.
"""

import dataclasses
import json
import os
import shutil
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np

from sklearn_deid import (
    DeidTagger,
    Document,
    DSSGDEnsemble,
    NoteDeidentifier,
    PretrainedEncoder,
    PrivateRepresenter,
    RecallTunedTagger,
    RuleTagger,
    Span,
    TemperatureScaledTagger,
    TokenSequences,
    UnitedTagger,
    VotingTagger,
    WordVectors,
    make_clinical_notes,
    save_model,
    save_representation,
    write_corpus,
)
from sklearn_deid.cli.numbering import OutputNumbers
from sklearn_deid.embeddings import NeighborIndex, SubwordTable, train_fasttext
from sklearn_deid.federated import (
    ExchangeRecord,
    ParameterServer,
    ServerLimits,
    SparseVectorUpload,
    Worker,
)
from sklearn_deid.federated.sites import Agreement, SiteSettings, server_checkpoint, write_settings

from ..digests import one_thread
from .loaded import FORMATS, LOADERS, MODEL, NOTE, SETTINGS, SITES, Halving, run_window

FILES, EXPECTED = Path(__file__).with_name("files"), Path(__file__).with_name("expected.json")
SURNAMES, TOWNS = ["Alder", "Birch", "Cedar", "Damson", "Elm", "Fir"], ["Northwick", "Eastham", "Southby"]
PATTERNS = [
    ("Mr . {name} was seen", "O O B-PATIENT O O"),
    ("Lives in {town} {town}", "O O B-CITY I-CITY"),
    ("Aged {age} years .", "O B-AGE O O"),
    ("No pain .", "O O O"),
]


def make_sentences(n):
    rng = np.random.default_rng(0)
    X, y = [], []
    for _ in range(n):
        words, tags = PATTERNS[rng.integers(len(PATTERNS))]
        filled = words.format(name=rng.choice(SURNAMES), town=rng.choice(TOWNS), age=rng.integers(20, 90))
        X.append(filled.split())
        y.append(tags.split())
    return X, y, [f"patient-{i // 4:02d}" for i in range(n)]


X, Y, GROUPS = make_sentences(60)
WORDS = sorted({word.lower() for row in X for word in row} | {"47", "unseen"})
VECTORS = WordVectors(WORDS, np.random.default_rng(0).standard_normal((len(WORDS), 5)), is_public=True)
SUBWORDS = SubwordTable(np.random.default_rng(0).standard_normal((30, 4)).astype(np.float32), 3, 4, is_public=True)
SMALL = {"max_epochs": 30, "lr": 0.03, "hidden_size": 4, "batch_size": 60, "random_state": 0, "device": "cpu"}
SMALL |= {"span_swap": 0.0, "weight_average": 0.8, "output_dropout": 0.1}
SMALL |= {"embeddings": SUBWORDS, "characters": None}  # networks that read characters fill 100 KiB each
LABELS = ["PATIENT", "DATE", "DOCTOR", "CITY", "PHONE", "EMAIL"]
READS = {"embeddings": None}


def tagger(**parameters):
    return DeidTagger(**{**SMALL, **parameters})


def save_taggers(folder):
    documents = TokenSequences.from_rows(X).with_documents(np.arange(len(X)) // 4)
    kinds = {
        "lstm": {**READS, "characters": "cnn"},
        "gru softmax": {**READS, "encoder": "gru", "head": "softmax", "characters": "bigru"},
        "transformer document": {"encoder": "transformer", "n_heads": 1, "n_layers": 1, "context": "document"},
        "window": {"context": "window", "context_size": 1},
        "bioes subwords": {"scheme": "bioes", "class_weight": {"O": 0.5}},
        "lstm-gru": {"encoder": "lstm-gru", "projection_size": 4, "constrained": False},
    }
    for name, parameters in kinds.items():
        save_model(tagger(**parameters).fit(documents, Y, groups=GROUPS), folder / name)
    with tempfile.TemporaryDirectory() as source:
        make_encoder(source)
        encoder = PretrainedEncoder(source, lr=5e-3, overlap=8, pooling="mean")
        made = tagger(encoder="pretrained", pretrained=encoder, context="document").fit(documents, Y)
        save_model(made, folder / "pretrained")
    ensemble = DSSGDEnsemble(tagger(), n_workers=2, n_epochs=30, strategy="fedavg", random_state=0)
    ensemble.fit(X, Y, groups=GROUPS)
    save_model(ensemble.global_estimator_, folder / "ensemble global")
    save_model(ensemble.estimators_[0], folder / "ensemble worker")


def save_composites(folder):
    rules = RuleTagger({"date", "age", "phone"}, label_scheme={"DATE": "DATE", "AGE": "AGE", "PHONE": None})
    tuned = RecallTunedTagger(tagger(), target_recall=0.5, confidence=None, random_state=0)
    fixed = RecallTunedTagger(tagger(), decision_bias=2.0, direct_labels={"PATIENT"})
    scaled = TemperatureScaledTagger(tagger(), random_state=0)
    voting = VotingTagger([("one", tagger()), ("no", "drop"), ("rules", RuleTagger())], weights=[2, 5, 1])
    models = {
        "rules": RuleTagger(),
        "rules chosen": rules,
        "recall tuned": tuned,
        "recall fixed": fixed,
        "temperature": scaled,
        "voting": voting,
        "united": UnitedTagger(RuleTagger(), tagger()),
        "united union": UnitedTagger(RuleTagger(), RecallTunedTagger(scaled, decision_bias=1.0), unite="union"),
    }
    for name, model in models.items():
        made = model.fit(X, Y) if isinstance(model, RuleTagger) else model.fit(X, Y, groups=GROUPS)
        save_model(made, folder / name)
    deidentifier = NoteDeidentifier(UnitedTagger(RuleTagger(), tagger(batch_size=300)), batch_size=7)
    save_model(deidentifier.fit(make_clinical_notes(6, random_state=0)), folder / "note deidentifier")


def make_encoder(folder):
    """A BERT of one layer with random weights, and a tokenizer of single characters."""
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
    sizes = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 12}
    config = transformers.BertConfig(vocab_size=len(vocabulary), max_position_embeddings=40, **sizes)
    torch.manual_seed(0)
    transformers.BertModel(config).save_pretrained(folder)
    fast.save_pretrained(folder)


def save_representations(folder):
    """Without seeds: what is shared must not have any."""
    small = {"n_components": 3, "n_neighbors": 4, "hidden_size": 3, "tagger_hidden_size": 3, "max_epochs": 3}
    small |= {"pretrain_epochs": 2, "device": "cpu", "embeddings": VECTORS}
    kinds = {
        "lstm": {},
        "dense": {"representer": "dense", "noise": 0.7, "casing": False, "unit_norm": False},
        "three parts": {"training": "three_part"},
        "of glove": {"embeddings": "glove-6b-50d", "digits": "same"},
    }
    fitted = {n: PrivateRepresenter(**{**small, **k}).fit(X, Y, groups=GROUPS) for n, k in kinds.items()}
    for name, model in fitted.items():
        model.save(folder / "representers" / name, audit={"pairs": {"accuracy": 0.51}})
    shared, half = fitted["lstm"], len(X) // 2
    audit = {"score": 0.9, "attacks": ["pairs"]}
    first = shared.transform(X[:half])
    save_representation(folder / "releases" / "a", first, Y[:half], GROUPS[:half], audit=audit)
    save_representation(folder / "releases" / "b", shared.transform(X[half:]), Y[half:], shuffle=False)
    save_model(tagger().fit(first, Y[:half]), folder / "models" / "of vectors")


def save_words(folder):
    VECTORS.save(folder / "words")
    train_fasttext(X, dim=4, epochs=2, bucket=50).save(folder / "words with n-grams")
    NeighborIndex(VECTORS, cache_dir=folder / "neighbors").query(np.arange(len(VECTORS)), 4)


def _rows_of_notes():
    """Two short notes, each with its spans, patient, and something that is known of it."""
    phi = [("Alder", "PATIENT"), ("3/4/2019", "DATE"), ("Birch", "DOCTOR"), ("Northwick", "CITY")]
    phi += [("555-0123", "PHONE"), ("roe@example.org", "EMAIL")]
    for number, text in enumerate([NOTE, "No pain.\n\nDr. Birch, 3/4/2019"], start=1):
        found = [(text.index(word), word, label) for word, label in phi if word in text]
        spans = tuple(Span(start, start + len(word), label, None, 0.75) for start, word, label in sorted(found))
        yield f"note-{number}", text, spans, f"patient-{number}", {"ward": f"{number}"}


def save_notes(folder):
    notes = [Document(*row) for row in _rows_of_notes()]
    (folder / "notes").mkdir()
    for format, suffix in FORMATS.items():
        write_corpus(notes, folder / "notes" / f"{format}{suffix}", format, lossy=True)
    key = OutputNumbers(folder / "key.csv")
    key.open()
    for doc_id in ("Smith_John", "Roe_Ann", 'Doe, "Jane"'):
        key.assign(doc_id)
    key.close()


def save_exchange(folder):
    """Two epochs of two workers, of which one adds noise; each has an upload that was not acknowledged."""
    folder.mkdir()
    limits = ServerLimits(max_abs=5.0, step=0.5)
    server, record = ParameterServer(np.zeros(40, dtype=np.float32), MODEL, limits), ExchangeRecord()
    for name, privacy in (("plain", None), ("private", SparseVectorUpload(2.0))):
        worker = Worker(name, Halving(), MODEL, SETTINGS, privacy=privacy, random_state=5)
        for epoch in (1, 2):
            download = server.download(1.0 if epoch == 1 else 0.4, name)
            record.add("down", name, epoch, download.to_bytes())
            worker.apply_download(download)
            worker.local_epoch()
            sequence = worker.sequence
            sent = worker.select_upload()
            record.add("up", name, epoch, sent.to_bytes())
            if epoch == 1:
                server.upload(sent, name, sequence)
                worker.acknowledge(sequence)
        worker.save(folder / f"{name}.state")
    server.save(folder / "server.state")
    record.save(folder / "record.state")


def save_federation(folder):
    """One window of one site. Of the kit only what this package writes; the rest is NVIDIA FLARE's."""
    kit = folder / "kit"
    (kit / "startup").mkdir(parents=True)
    (kit / "startup" / "fed_server.json").write_text("{}\n")
    (kit / "local").mkdir()
    tagger = {"hidden_size": 3, "batch_size": 300, "characters": None, "embeddings": "auto"}
    write_settings(Agreement("lab", SITES, LABELS, tagger, n_epochs=3), kit / "local/federation.json")
    agreement, checkpoint = server_checkpoint(kit)
    checkpoint.parent.mkdir(exist_ok=True)
    server = agreement.new_server()
    settings = SiteSettings("notes", "state", random_state=7, format="brat", upload_fraction=0.2, clip=0.5)
    write_settings(settings, folder / "site.json")
    corpus, state = str(folder.parent / "notes" / "brat"), str(folder / "site-1")
    run_window(server, agreement, dataclasses.replace(settings, corpus=corpus, state=state))
    server.save(checkpoint)
    shutil.rmtree(folder / "site-1" / "model")  # like any saved tagger, with 6 MiB of vectors that a seed gives


def main():
    os.environ["HF_HUB_OFFLINE"] = "1"
    shutil.rmtree(FILES, ignore_errors=True)
    FILES.mkdir()
    with one_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        save_words(FILES)
        save_notes(FILES)
        save_taggers(FILES / "models")
        save_composites(FILES / "models")
        save_representations(FILES)
        save_exchange(FILES / "exchange")
        save_federation(FILES / "federation")
        said = {name: load(FILES) for name, load in LOADERS.items()}
    EXPECTED.write_text(json.dumps({"said": said}, ensure_ascii=False) + "\n")
    total = sum(path.stat().st_size for path in FILES.rglob("*") if path.is_file())
    print(f"{total / 1024:.0f} KiB of files, {EXPECTED.stat().st_size / 1024:.0f} KiB of expectations", file=sys.stderr)


if __name__ == "__main__":
    main()
