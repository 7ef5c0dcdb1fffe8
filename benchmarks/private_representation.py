"""Usefulness and privacy of private representations.

    python -m benchmarks.private_representation --runs runs.jsonl --figures figures
    python -m benchmarks.private_representation --corpus meddocan --data DATA --runs meddocan.jsonl
    python -m benchmarks.private_representation --i2b2 FOLDER --runs i2b2.jsonl
    python -m benchmarks.private_representation --unit patient --arms raw bounded-100 --runs patients.jsonl

For each arm and seed (the seed draws notes, noise and weights) a representer is trained, sentences of other patients
are tagged, and networks that were not there in training attack it. Three taggers are scored: the provider's own
("provider"; "joint" is its F1 of "this token is PHI"), a `DeidTagger` that is trained on one release of the training
sentences and starts from the provider's tagger ("recipient"), and one that starts from random weights ("shared").
Every arm reads the same word vectors and the casing; "raw" reads them without noise, "words" reads words with all
features of a `DeidTagger`, and "unbounded" is the same representer without a bound. "bounded-N" learns from the
training notes alone, "public-N" starts from the weights that the library ships, "generated-N" learns from generated
notes first, and "classes-k" releases classes of k words. "surrogates" reads word vectors of notes whose PHI is replaced
by surrogates, and "surrogates-100" is "public-100" on such notes; the test notes are not changed. The representer of
"surrogates-100-copies" reads two copies of the notes with other surrogates, each half as often, in small batches. With
``--other-kinds`` the training and test notes are of other kinds than those of "other-kinds-N", which learns from public
notes of the remaining kinds first. With ``--raw-cases``, all arms read word vectors of the raw cases of MEDDOCAN, and
"raw-cases-100" learns first from these cases with the tags of a `DeidTagger` that was trained on the training notes.

Finished runs are kept in the file of ``--runs``, from which an interrupted benchmark goes on. Prints one JSON object.
"""

from __future__ import annotations

import argparse
import json
import time
from copy import copy
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sklearn.base import clone

from sklearn_deid import (
    AdversarialPrivacyAuditor,
    Corpus,
    DeidTagger,
    GaussianNoisePerturber,
    NeighborPseudonymizer,
    PrivateRepresenter,
    SurrogatePseudonymizer,
    WordVectors,
    make_clinical_notes,
    read_corpus,
)
from sklearn_deid.embeddings import load_glove, train_fasttext
from sklearn_deid.metrics import phi_f1_score
from sklearn_deid.representations import (
    DANN,
    AdversarySettings,
    Bounded,
    PrivateModel,
    ThreePart,
    WordClassRepresenter,
    deid_scores,
    pair_accuracy,
    positive_control,
    train_probe,
)
from sklearn_deid.sequences import TokenVectors
from sklearn_deid.text import CASING_CLASSES, SentenceData

from .corpora import add_corpus_options, read_or_make, sentences
from .environment import describe
from .official_scores import official_scores
from .perturbations import binary_token_f1
from .raw_cases import raw_vectors, tagged_raw_cases
from .resumable import by_arm, finish_runs, interval

PRIVATE_KINDS = ("admission", "discharge", "nursing")  # of --other-kinds
NEIGHBORS = (10, 20, 50, 100, 200, 500, 1000)
FAITHFUL = {"training": ThreePart(adversary="paper", stopping="paper"), "max_epochs": 40}
# name -> what is trained
ARMS: dict[str, dict[str, Any]] = {
    "words": {},
    "raw": {},
    "unbounded": {"training": Bounded(max_attack_accuracy=1.0 - 1e-9, quantile_attack_accuracy=None)},
    **{f"pseudonyms-{n}": {"n_neighbors": n} for n in NEIGHBORS},
    **{f"classes-{k}": {"class_size": k} for k in (2, 5, 10, 20, 30, 100, 300, 1000)},
    **{f"public-{n}": {"n_neighbors": n, "public": "auto", "max_epochs": "auto"} for n in (100, 1000)},
    "surrogates": {},
    "surrogates-100": {"n_neighbors": 100, "public": "auto", "max_epochs": "auto"},
    "surrogates-100-copies": {"public": "auto", "max_epochs": 10, "batch_size": 64, "n_copies": 2},
    "surrogates-100-at-0.7": {
        "public": "auto",
        "max_epochs": "auto",
        "training": Bounded(max_attack_accuracy=0.7, quantile_attack_accuracy=None),
    },
    "generated-100": {"public": "generated", "max_epochs": "auto"},
    "raw-cases-100": {"public": "raw-cases", "max_epochs": "auto"},
    "other-kinds-100": {"public": "other-kinds", "max_epochs": "auto"},
    **{f"bounded-{n}": {"n_neighbors": n} for n in NEIGHBORS},
    **{f"bounded-100-d{d}": {"n_components": d} for d in (100, 300)},
    **{
        f"bounded-100-at-{a}": {"training": Bounded(max_attack_accuracy=a, quantile_attack_accuracy=None)}
        for a in (0.51, 0.52, 0.6, 0.7)
    },
    **{f"dense-{n}": {"n_neighbors": n, "encoder": "dense"} for n in (10, 100, 1000)},
    **{f"three-part-{n}": {"n_neighbors": n, **FAITHFUL} for n in NEIGHBORS},
    **{f"three-part-100-d{d}": {"n_components": d, **FAITHFUL} for d in (100, 300)},
    **{f"three-part-strong-{n}": {"n_neighbors": n, "training": ThreePart(), "max_epochs": 40} for n in NEIGHBORS},
    **{f"dann-{n}": {"n_neighbors": n, "training": DANN(), "max_epochs": 40} for n in (10, 100, 1000)},
}
# A trained network is no match for who looks candidates up with the noise switched off; and what can be read back?
LOOKUPS = ("lookup", "lookup_releases", "inversion_sequence")
MEASURES = (
    *("recipient_strict_f1", "provider_strict_f1", "shared_strict_f1"),
    *("recipient_token_f1", "shared_token_f1", "joint_token_f1", "fit_seconds"),
)
DEFAULT_ARMS = ["raw", "unbounded", "pseudonyms-100", "bounded-10", "bounded-100", "bounded-500", "bounded-1000"]


def parse_arguments(argv: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_corpus_options(parser, notes=1_000, test_notes=None)
    parser.add_argument("--arms", nargs="+", choices=tuple(ARMS), default=DEFAULT_ARMS, metavar="ARM")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2, 3, 4])
    parser.add_argument("--epochs", type=int, default=50, help="of bounded training")
    parser.add_argument(
        "--unit",
        choices=("token", "patient"),
        default="token",
        help="what bounded training bounds; a mean of 0.60 over patients, unless the arm names another",
    )
    parser.add_argument("--rounds", type=int, help="of the other trainings and of each pre-training, for quick looks")
    parser.add_argument("--probe-epochs", type=int, default=50, help="of the attackers")
    parser.add_argument("--probe-pairs", type=int, default=1_000, help="sentences an attacker sees in an epoch")
    parser.add_argument("--no-anew", action="store_true", help="leave out recipients that start from random weights")
    parser.add_argument("--no-attacks", action="store_true", help="measure usefulness and the bound alone")
    parser.add_argument("--no-lookup", action="store_true", help="leave out candidate lookup and inversion")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--runs", default="private_representation.jsonl", help="file of finished runs")
    parser.add_argument("--figures", help="folder for the figures")
    parser.add_argument(
        "--halves", metavar="FILE", help="English JSON lines: half to train and half to score, by the seed"
    )
    parser.add_argument("--other-kinds", action="store_true", help="generated notes of three kinds alone")
    parser.add_argument("--raw-cases", action="store_true", help="word vectors of the raw cases of MEDDOCAN")
    arguments = parser.parse_args(argv)
    if arguments.i2b2:
        arguments.corpus = "i2b2"
    if arguments.halves and not arguments.no_attacks:
        parser.error("--halves has no notes for attackers to choose by: add --no-attacks")
    return arguments


def settings_of(arguments: argparse.Namespace) -> dict[str, Any]:
    """What all runs of a file have in common."""
    names = ("corpus", "notes", "test_notes", "epochs", "unit", "rounds", "probe_epochs", "probe_pairs")
    names += ("other_kinds", "no_attacks", "raw_cases")
    return {name: getattr(arguments, name) for name in names}


def load(arguments: argparse.Namespace, seed: int) -> tuple[SentenceData, SentenceData, SentenceData]:
    """Sentences to train on, for attackers to choose by, and to score; of different patients."""
    if arguments.halves:
        notes = read_corpus(arguments.halves, format="jsonl")
        order = np.random.default_rng(seed).permutation(len(notes))
        train, test = (Corpus([notes[i] for i in half]) for half in np.split(order, [len(notes) // 2]))
        return sentences(train), sentences(test), sentences(test)
    if arguments.other_kinds:
        n_test = arguments.test_notes or 150
        numbers = ((arguments.notes, 100), (50, 500), (n_test, 900))
        return tuple(sentences(notes_of_kinds(n, base + seed, PRIVATE_KINDS)) for n, base in numbers)
    train, test = read_or_make(arguments.corpus, arguments, seed)
    if arguments.corpus == "generated":
        return sentences(train), sentences(make_clinical_notes(50, random_state=500 + seed)), sentences(test)
    half = len(test) // 2
    held_out = (train[: arguments.notes], test[:half], test[half:][: arguments.test_notes])
    return tuple(sentences(corpus) for corpus in held_out)


def notes_of_kinds(n_notes: int, random_state: int, kinds: tuple[str, ...], among: bool = True) -> Corpus:
    """Generated notes of some kinds, or of all other kinds."""
    notes = make_clinical_notes(6 * n_notes, random_state=random_state)
    return Corpus([note for note in notes if (note.meta["kind"] in kinds) == among][:n_notes])


def vectors_of(arguments: argparse.Namespace, train: SentenceData) -> WordVectors:
    """GloVe for English; for Spanish, which has no public vectors here, those of MEDDOCAN's notes or raw cases."""
    if arguments.raw_cases:
        return raw_vectors(arguments.data)
    return load_glove() if arguments.corpus != "meddocan" else train_fasttext(train.X, random_state=0)


def run(arguments: argparse.Namespace, arm: str, seed: int) -> dict:
    """Train, score and attack one arm."""
    torch.set_num_threads(1)
    start = time.process_time()
    train, choice, test = load(arguments, seed)
    language = "es" if arguments.corpus == "meddocan" else "en"
    common = {"embeddings": vectors_of(arguments, train), "exclude": language, "random_state": seed}
    row: dict[str, Any] = {"arm": arm, "seed": seed}
    original = train
    if arm.startswith("surrogates"):
        train = with_surrogates(train, language, seed)
    if arm in ("raw", "words", "surrogates") or arm.startswith(("pseudonyms", "classes")):
        row |= plain_arm(arm, train, test, common)
    else:
        parameters = {"max_epochs": arguments.epochs, "public": None, **ARMS[arm], **common}
        read = (train.X, train.y, train.groups)
        if n_copies := parameters.pop("n_copies", None):
            # The first copy is `train`, of which recipients get one release.
            surrogates = SurrogatePseudonymizer(locale=language, random_state=seed)
            read = surrogates.fit_resample(original.X, original.y, original.groups, n_copies=n_copies)
        if parameters["public"] == "other-kinds":
            parameters["public"] = notes_of_kinds(400, 77, PRIVATE_KINDS, among=False)
        if parameters["public"] == "raw-cases":
            parameters["public"] = tagged_raw_cases(arguments.data, original, seed)
        if arguments.unit == "patient" and arm.startswith(("bounded", "dense", "public")):
            training = parameters.get("training", Bounded(max_attack_accuracy=0.6, quantile_attack_accuracy=None))
            parameters["training"] = clone(training).set_params(unit="patient")
        if arguments.rounds is not None and isinstance(parameters.get("training"), ThreePart):
            training = clone(parameters["training"]).set_params(pretrain_epochs=arguments.rounds)
            parameters |= {"max_epochs": arguments.rounds, "training": training}
        representer = PrivateRepresenter(**parameters)
        fit_start, fit_cpu_start = time.perf_counter(), time.process_time()
        representer.fit(*read)
        row["fit_seconds"] = round(time.perf_counter() - fit_start, 1)
        row["fit_cpu_seconds"] = round(time.process_time() - fit_cpu_start, 1)
        row |= {"history": representer.history_, "selected_round": representer.selected_round_}
        row |= usefulness(representer, train, test, seed, anew=not arguments.no_anew)
        if arguments.no_attacks:
            row["bound"] = representer.certify(test.X, test.y, test.groups, random_state=seed).to_dict()
        else:
            row |= privacy(arguments, representer, train, choice, test, seed)
    return {**row, "cpu_seconds": round(time.process_time() - start, 1)}


def with_surrogates(train: SentenceData, language: str, seed: int) -> SentenceData:
    """The same notes with surrogates of all annotated PHI."""
    moved = copy(train)
    pseudonymizer = SurrogatePseudonymizer(locale=language, random_state=seed)
    vars(moved)["X"] = pseudonymizer.fit_transform(train.X, train.y, train.groups)
    return moved


def plain_arm(arm: str, train: SentenceData, test: SentenceData, common: dict[str, Any]) -> dict[str, Any]:
    """A tagger on word vectors and casing, of the words as they are or of pseudonyms, or on word classes."""
    if arm.startswith("classes"):
        classes = WordClassRepresenter(embeddings=common["embeddings"], **ARMS[arm]).fit(train.X)
        tagger = DeidTagger(random_state=common["random_state"]).fit(classes.transform(train.X), train.y)
        exact = classes.certify(test.X, test.y).to_dict()
        return {**scores("shared", test, tagger.predict(classes.transform(test.X))), "classes": exact}
    if arm == "words":  # what a hospital has without sharing anything: all features of the tagger
        return scores(
            "shared", test, DeidTagger(random_state=common["random_state"]).fit(train.X, train.y).predict(test.X)
        )
    X = (
        train.X
        if arm in ("raw", "surrogates")
        else NeighborPseudonymizer(**common, **ARMS[arm]).fit_transform(train.X, train.y)
    )
    plain = GaussianNoisePerturber(scale=0.0, **common).fit(train.X, train.y)
    tagger = DeidTagger(random_state=common["random_state"]).fit(as_read(plain.transform(X)), train.y)
    return scores("shared", test, tagger.predict(as_read(plain.transform(test.X))))


def as_read(X: TokenVectors) -> TokenVectors:
    """Word vectors with numbers of about size 1, beside the casing, as representers and word classes read them.

    From vectors of length 1 without noise, a `DeidTagger` learns so slowly that the reference would be too low: strict
    F1 of 85.8 instead of 91.1 at 100 notes. From private vectors it learns more at length 1.
    """
    data, d = X.data.copy(), X.d - len(CASING_CLASSES)
    data[:, :d] *= np.float32(np.sqrt(d))  # shape: (n_tokens, d + n_casing)
    return TokenVectors(data, X.offsets).with_documents(X.documents)


def scores(name: str, test: SentenceData, predicted: Any) -> dict[str, Any]:
    return {
        f"{name}_token_f1": binary_token_f1(test.y, predicted),
        f"{name}_strict_f1": float(phi_f1_score(test.y, predicted)),
        "scores": official_scores(test, predicted),
    }


def usefulness(
    representer: PrivateRepresenter, train: SentenceData, test: SentenceData, seed: int, *, anew: bool = True
) -> dict[str, Any]:
    """F1 of three taggers on sentences released once."""
    R, T = representer.transform(train.X), representer.transform(test.X)
    found: dict[str, Any] = {}
    start = time.process_time()
    for name, X in (("recipient", R), ("shared", R.with_tagger(None)))[: 1 + anew]:
        found |= scores(name, test, DeidTagger(random_state=seed).fit(X, train.y).predict(T))
        found[f"{name}_cpu_seconds"], start = round(time.process_time() - start, 1), time.process_time()
    found |= scores("provider", test, representer.tagger_.predict(T))
    model = PrivateModel(representer.network_, representer.tagger_.module_)
    batches = representer.pair_batches(test.X, test.y)
    joint = deid_scores(model, batches, torch.Generator().manual_seed(seed))
    return {**found, "joint_token_f1": joint["token_f1"]}


def privacy(
    arguments: argparse.Namespace,
    representer: PrivateRepresenter,
    train: SentenceData,
    choice: SentenceData,
    test: SentenceData,
    seed: int,
) -> dict[str, Any]:
    """Bounds and attacks on sentences of patients that neither trained nor chose anything."""
    known, chosen, held_out = (representer.pair_batches(d.X, d.y) for d in (train, choice, test))
    rng, generator = np.random.default_rng(seed), torch.Generator().manual_seed(seed)
    network, row = representer.network_, {}
    if (network.output_std() > 0).all():
        row["bound"] = representer.certify(test.X, test.y, test.groups, random_state=seed).to_dict()
        ten = {"n_releases": 10, "max_sentences": 0, "random_state": seed}
        row["bound_10_releases"] = representer.certify(test.X, test.y, test.groups, **ten).to_dict()
    if representer.encoder == "dense" and isinstance(representer.training_, Bounded):
        row["worst_case"] = representer.worst_case(set(train.X.data) | set(test.X.data)).to_dict()
    row["control_accuracy_in_training"] = representer.control_accuracy_
    for kind in ("strong", "paper"):
        settings = AdversarySettings(kind=kind, n_epochs=arguments.probe_epochs, max_pairs=arguments.probe_pairs)
        found = train_probe(network, known, chosen, settings=settings, rng=rng, generator=generator)
        row[f"fresh_{kind}"] = attacked(pair_accuracy(found.adversaries, network, held_out, generator))
    if representer.adversaries_ is not None:
        found = train_probe(
            network,
            known,
            chosen,
            settings=settings,
            continue_from=representer.adversaries_,
            rng=rng,
            generator=generator,
        )
        row["continued"] = attacked(pair_accuracy(found.adversaries, network, held_out, generator))
    settings = AdversarySettings(kind="strong", n_epochs=10, max_pairs=arguments.probe_pairs)
    control = positive_control(network, known, chosen, settings=settings, rng=rng, generator=generator)
    row["positive_control"] = attacked(control.accuracies)
    if not arguments.no_lookup:
        row["audit"] = audited(representer, test, seed)
    return row


def audited(representer: PrivateRepresenter, test: SentenceData, seed: int) -> dict[str, Any]:
    """Candidate lookup and inversion on some of the held-out patients; the attacker learns from the others."""
    auditor = AdversarialPrivacyAuditor(list(LOOKUPS), random_state=seed)
    out: dict[str, Any] = {}
    for found in auditor.audit(representer, test.X, test.y, test.groups).to_dict()["results"]:
        kind, releases = found["name"].split()[0].rstrip(","), found["settings"].get("n_releases")
        name = "_".join(str(part) for part in (kind, found["settings"]["measure"], releases) if part)
        out[name] = {key: found[key] for key in ("status", "attack", "baseline")}
    return out


def attacked(accuracies: dict) -> dict[str, list[float]]:
    """Accuracy with its 95 % interval for each adversary."""
    return {name: [found.value, found.low, found.high] for name, found in accuracies.items()}


def summarise(arguments: argparse.Namespace, runs: list[dict]) -> list[dict]:
    """One row for each arm: means with intervals over seeds, and points of F1 lost against the references."""
    found, out = by_arm(runs), []
    for arm in (a for a in arguments.arms if a in found):
        rows = found[arm]
        result: dict[str, Any] = {"arm": arm, "n_seeds": len(rows)}
        for measure in MEASURES:
            values = [row[measure] for row in rows.values() if measure in row]
            result[measure] = interval(values) if values else None
        for reference, measure in (
            ("raw", "shared_token_f1"),
            ("raw", "shared_strict_f1"),
            ("unbounded", "joint_token_f1"),
        ):
            base = found.get(reference, {})
            lost = [100 * (base[s][measure] - rows[s][measure]) for s in rows if s in base and measure in rows[s]]
            result[f"{measure}_points_lost_to_{reference}"] = interval(lost) if lost else None
        base = found.get("raw", {})
        for who in ("recipient", "provider"):
            lost = [
                100 * (base[s]["shared_strict_f1"] - row[f"{who}_strict_f1"])
                for s, row in rows.items()
                if s in base and f"{who}_strict_f1" in row
            ]
            result[f"{who}_strict_f1_points_lost_to_raw"] = interval(lost) if lost else None
        result |= privacy_summary(list(rows.values()))
        out.append(result)
    return out


def privacy_summary(rows: list[dict]) -> dict[str, Any]:
    """Means over seeds of bounds and attacks; each seed's own interval is in the runs."""
    out: dict[str, Any] = {}
    for name in ("bound", "bound_10_releases"):
        bounds = [row[name] for row in rows if name in row]
        for key in ("mean_accuracy", "quantile_accuracy", "largest_accuracy") if bounds else ():
            out[f"{name}_{key}"] = interval([bound[key] for bound in bounds])
    for part in ("patients", "worst_neighbor"):
        values = [row["bound"][part]["mean_accuracy"] for row in rows if part in row.get("bound", {})]
        out |= {f"bound_{part}_mean_accuracy": interval(values)} if values else {}
    for name in ("fresh_strong", "fresh_paper", "continued", "positive_control"):
        attacks = [row[name] for row in rows if row.get(name)]
        for key in attacks[0] if attacks else ():
            out[f"{name}_{key}"] = interval([attack[key][0] for attack in attacks])
            out[f"{name}_{key}_seeds_with_chance_in_interval"] = sum(a[key][1] <= 0.5 <= a[key][2] for a in attacks)
    audits = [row["audit"] for row in rows if "audit" in row]
    for key in audits[0] if audits else ():
        out[key] = interval([audit[key]["attack"]["value"] for audit in audits])
        out[f"{key}_baseline"] = interval([audit[key]["baseline"]["value"] for audit in audits])
    exact = [row["classes"] for row in rows if "classes" in row]
    for key in ("top_accuracy", "pair_accuracy", "share_without_vector") if exact else ():
        out[f"classes_{key}"] = interval([found[key] for found in exact])
    worst = [row["worst_case"]["gdp_mu"] for row in rows if "worst_case" in row]
    return out | ({"worst_case_gdp_mu": interval(worst)} if worst else {})


def draw(folder: str, rows: list[dict]) -> None:
    """F1 and adversaries over N, and F1 over the bound."""
    import matplotlib

    matplotlib.use("Agg")
    from benchmarks.figures.adversary_over_neighbors import AdversaryOverNeighborsDisplay
    from benchmarks.figures.bound_trade_off import BoundTradeOffDisplay

    raw = next((row["shared_token_f1"] for row in rows if row["arm"] == "raw"), None)
    over_n, bounds = [], []
    for row in rows:
        parts = row["arm"].split("-")
        numbers = [int(part) for part in parts if part.isdigit()]
        useful = row["joint_token_f1"] or row["shared_token_f1"]
        if not numbers:
            continue
        point = {"method": row["arm"][: row["arm"].index(parts[-1])].rstrip("-"), "n_neighbors": numbers[0]}
        point |= _ends("f1", useful)
        if row["arm"].startswith("bounded") and not parts[-1].startswith("d"):
            bounds.append(point | _ends("bound", row["bound_mean_accuracy"]))
        if parts[-1].isdigit():
            over_n += [point | read for read in _readers(row)] or [point]
    Path(folder).mkdir(parents=True, exist_ok=True)
    for name, points, display in (
        ("over_neighbors", over_n, AdversaryOverNeighborsDisplay),
        ("trade_off", bounds, BoundTradeOffDisplay),
    ):
        if points:
            figure = display.from_results(points, raw_f1=raw).plot().figure_
            figure.savefig(Path(folder) / f"{name}.png", dpi=150, bbox_inches="tight")


def _readers(row: dict) -> list[dict]:
    """The fresh adversaries of a row."""
    names = {"fresh_paper_average": "paper's", "fresh_strong_t2": "strong T2", "fresh_strong_t1": "strong T1"}
    return [{"adversary": names[key]} | _ends("accuracy", row[key]) for key in names if row.get(key)]


def _ends(name: str, value: tuple[float, float, float]) -> dict[str, float]:
    """A mean with its interval, which over few seeds may leave the range."""
    mean, low, high = (min(max(number, 0.5 if name == "bound" else 0.0), 1.0) for number in value)
    return {name: mean, f"{name}_low": low, f"{name}_high": high}


def main(argv: list[str] | None = None) -> None:
    arguments = parse_arguments(argv)
    runs = finish_runs(run, arguments, settings_of(arguments))
    rows = summarise(arguments, runs)
    if arguments.figures:
        draw(arguments.figures, rows)
    result = {
        "benchmark": "private_representation",
        "settings": vars(arguments),
        "results": rows,
        **describe(),
    }
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
