"""F1 of three sites over NVIDIA FLARE, to compare with the arm ``sessions`` of `benchmarks.averaging`.

    .ci/pinned install
    .venv-pinned/bin/python -m benchmarks.flare_sessions --sites 20 20 20 --epochs 40 --seed 0
    .venv-pinned/bin/python -m benchmarks.flare_sessions --audit --masked

Certificates, a server process and a process for each site on this computer, as in the integration test; notes,
agreement and seeds as in the arm. Uploads arrive in another order than in one process. Prints one JSON object.
"""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from sklearn_deid import load, make_clinical_notes, write_corpus
from sklearn_deid.federated import AGGREGATES, ParameterServer
from sklearn_deid.federated.sites import EXCHANGE, MASK_KEY, SessionRules, harden_server, harden_site, write_session
from sklearn_deid.federated.sites.flare_kits import CHECKPOINT, STATE_FOLDER
from tests.federated.sites.flare_lab import HOST, Lab

from .environment import describe
from .site_sessions import Federation


def run(lab: Lab, options: argparse.Namespace) -> dict:
    """Train over FLARE, and score the network of the server and of each site."""
    seed = options.seed
    corpora = [make_clinical_notes(n, random_state=1000 * seed + i) for i, n in enumerate(options.sites)]

    test = make_clinical_notes(options.test_notes, random_state=1000 * seed + 900)
    labels = sorted({span.label for corpus in (*corpora, test) for note in corpus for span in note.spans})
    scored = test.to_sentences()
    lab.plan()
    lab.certify()
    with tempfile.TemporaryDirectory() as folder:
        # The agreement and the settings of the sites are those of the arm, and nothing is trained here.
        how = options.masked, options.aggregation, options.epsilon
        model = Federation(Path(folder), corpora, labels, options, seed, *how)
        model.agreement = replace(model.agreement, keep_exchange=options.audit)
        harden_server(lab.kit(HOST), model.agreement)
        for name, corpus in zip(model.names, corpora, strict=True):
            write_corpus(corpus, lab.root / "notes" / name, "brat")
            files = {"corpus": str(lab.root / "notes" / name), "state": str(lab.kit(name) / STATE_FOLDER)}
            if options.masked:
                files["mask_key"] = str(lab.kit(name) / MASK_KEY)
                shutil.copy(Path(folder) / f"{name}.key", files["mask_key"])
            own = replace(model.trainings[name].settings, **{"mask_key": None, **files})
            harden_site(lab.kit(name), model.agreement, own)
    write_session(lab.root / "long", SessionRules(model.agreement.n_epochs, 240.0, 120.0))
    lab.start_all()
    begin, job = time.monotonic(), lab.submit("long")
    while not lab.events(job, event="end"):
        time.sleep(1.0)
    state = ParameterServer.load(lab.kit(HOST) / CHECKPOINT)
    common = model.agreement.tagger_with(state.parameters, state.model)
    taggers = [load(lab.kit(name) / STATE_FOLDER / "model") for name in model.names]
    uploads = lab.events(job, event="upload")
    return {
        "seed": seed,
        "sites": options.sites,
        "rounds": model.agreement.n_epochs,
        "masked": options.masked,
        "epsilon": options.epsilon,
        "global": round(common.score(scored.X, scored.y), 4),
        "workers": [round(tagger.score(scored.X, scored.y), 4) for tagger in taggers],
        "uploads": len(uploads),
        "refused": state.n_refused,
        "bytes_up": max(event["bytes"] for event in uploads),
        "half_precision": 2 * state.size,
        "seconds": round(time.monotonic() - begin),
        "audit": audited(lab) if options.audit else None,
    }


def audited(lab: Lab) -> list[str]:
    """What a host learns from the messages of this session: the output of the command."""
    lab.wait((lab.kit(HOST) / EXCHANGE).exists, "the exchange is saved")
    notes = [word for site in lab.sites for word in ("--notes", f"{site}=notes/{site}")]
    return lab.command("sklearn-deid", "federate", "audit", lab.kit(HOST), *notes, check=False).splitlines()


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sites", type=int, nargs="+", default=[20, 20, 20], help="generated notes of each site")
    parser.add_argument("--test-notes", type=int, default=60)
    parser.add_argument("--epochs", type=int, default=40)
    parser.add_argument("--hidden-size", type=int, default=64)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--aggregation", choices=AGGREGATES, default="mean", help="how updates are combined")
    parser.add_argument("--masked", action="store_true", help="the sites mask their updates")
    parser.add_argument("--epsilon", type=float, help="of each patient")
    parser.add_argument("--audit", action="store_true", help="keep the exchange, and attack it")
    parser.set_defaults(warm_start=False, screened=True, validation_fraction=None)
    options = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as folder:
        lab = Lab(folder, [f"site-{i}" for i in range(1, len(options.sites) + 1)])
        try:
            print(json.dumps({"benchmark": "flare_sessions", **run(lab, options), **describe()}))
        finally:
            lab.close()


if __name__ == "__main__":
    main()
