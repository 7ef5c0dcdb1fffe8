"""Sites, service and messages of a federation in one process, with a hostile site: arms of `benchmarks.averaging`.

One site talks at a time, in a fixed order, so that a run can be repeated. All sites download, then each trains and
sends. A hostile site sends its honest update, or nothing, and whatever `ATTACKS` makes of it, under further numbers.
"""

from __future__ import annotations

import math
import struct
import tempfile
import threading
import time
import zlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from sklearn_deid import Corpus, DeidTagger, write_corpus
from sklearn_deid.audit.site_models import N_SEEN, name_attack, names_of
from sklearn_deid.exceptions import DeidError
from sklearn_deid.federated import MaskingSite, ParameterServer, SparseUpdate
from sklearn_deid.federated.derived_settings import averaging_rate, averaging_step, divided_batch_size, rounds_per_epoch
from sklearn_deid.federated.robust import FEWEST_UPDATES
from sklearn_deid.federated.rotating_patients import ROTATING
from sklearn_deid.federated.sites import (
    ExchangeService,
    FederationConfig,
    SessionRules,
    SiteSettings,
    SiteTraining,
    make_mask_key,
    make_service,
    pack,
    unpack,
)

# Attacks whose updates are new and short enough for the limits
_SHORT = ("disguised", "alternating", "noisy", "constant")
HOSTILE_ARMS = ("multiplied", "millions", "not-a-number", "stale", "replayed", "every-attack", *_SHORT)
# Length of the added noise and of the constant direction, as a multiple of the site's own update
_LENGTH = 4.5
_ATTACKED_BY_THE_HOST = ("sessions", "sessions-masked", "sessions-dp")
AGGREGATIONS = {"-median": "median", "-trimmed": "trimmed_mean"}
ARMS = (
    "sessions",
    "sessions-absent",
    "sessions-masked",
    "sessions-dp",
    "stale-unlimited",
    *HOSTILE_ARMS,
    *(f"{arm}-excluded" for arm in HOSTILE_ARMS),
    *(arm + how for arm in ("sessions", "sessions-absent", "every-attack", *_SHORT) for how in AGGREGATIONS),
)


class Turns:
    """Lets one thread at a time run."""

    def __init__(self, names: list[str]) -> None:
        self._order, self._moved = list(names), threading.Condition()

    def wait(self, name: str) -> None:
        with self._moved:
            self._moved.wait_for(lambda: self._order[0] == name)

    def pass_on(self, name: str, last: bool = False) -> None:
        with self._moved:
            self._order.remove(name)
            if not last:
                self._order.append(name)
            self._moved.notify_all()


class HostileLine:
    """Line of a site that sends what it wants, under growing numbers."""

    def __init__(self, send: Callable[..., Any], whisper: Callable[..., Any], attack: str, options: Any) -> None:
        # Several messages of an epoch take one turn: only the last of them lets the other sites go on.
        self._send, self._whisper, self._attack = send, whisper, attack
        self._factor, self._disguise = options.attack, options.disguise
        self._number, self._first, self._rng = 0, b"", np.random.default_rng(99)
        self._constant: np.ndarray | None = None
        self.n_refused: dict[str, int] = {}
        self.n_added: dict[str, int] = {}

    def __call__(self, fields: dict[str, Any], body: bytes = b"") -> Any:
        if fields["ask"] != "upload":
            return self._send(fields, body)
        self._first = self._first or body
        wanted = HOSTILE_ARMS[:5] if self._attack == "every-attack" else (self._attack,)
        for kind in wanted:
            send = self._send if kind == wanted[-1] else self._whisper
            reply = send({"ask": "upload", "sequence": self._number}, self._message(kind, body))[0]
            counted = self.n_refused if reply["status"] == "refused" else self.n_added
            counted[kind] = counted.get(kind, 0) + bool(reply.get("applied", True))
            self._number += 1
        # The site itself goes on as if its update had been sent.
        return {"status": "ok"}, b""

    def _message(self, kind: str, body: bytes) -> bytes:
        update = SparseUpdate.from_bytes(body)
        if kind == "multiplied":
            return _with(update, np.float32(self._factor) * update.values)
        if kind in _SHORT:
            return _with(update, self._short(kind, update.values.astype(np.float64)).astype(np.float32))
        if kind == "millions":
            return _with(update, np.where(update.values > 0, np.float32(1e6), np.float32(-1e6)))
        if kind == "not-a-number":
            return _not_a_number(update)
        # Content of the first epoch: with the version of that time, or as if it were new.
        old = SparseUpdate.from_bytes(self._first)
        if kind == "stale":
            return _with(old, old.values * np.float32(1 + 1e-3 * self._number))
        return SparseUpdate(old.indices, old.values, old.size, old.model, update.version).to_bytes("float16")

    def _short(self, kind: str, own: np.ndarray) -> np.ndarray:
        """Values of an attack that no limit on single updates forbids; shape (n,)."""
        if kind == "alternating":  # two honest rounds, and one that undoes them
            return self._disguise * own if self._number % 3 == 2 else own
        if kind == "disguised":
            return self._disguise * own
        noise, length = self._rng.normal(size=own.shape), _LENGTH * float(np.linalg.norm(own))
        noise /= np.linalg.norm(noise)
        if kind == "noisy":
            return own + length * noise
        self._constant = noise if self._constant is None else self._constant
        return length * (self._constant + 0.4 * noise) / np.linalg.norm(self._constant + 0.4 * noise)


def _with(update: SparseUpdate, values: np.ndarray) -> bytes:
    return SparseUpdate(update.indices, values, update.size, update.model, update.version).to_bytes("float32")


def _not_a_number(update: SparseUpdate) -> bytes:
    """Message with a correct checksum and one value that is not a number."""
    plain = _with(update, update.values)
    body = plain[:-8] + struct.pack("<f", float("nan"))
    return body + struct.pack("<I", zlib.crc32(body))


class Federation:
    """Sites in one process.

    Parameters
    ----------
    folder : Path
        Empty folder for notes, states and models.
    corpora : list of Corpus
        Notes of each site. The last site is the hostile one.
    labels : list of str
        Common label set.
    options : argparse.Namespace
        Options of `benchmarks.averaging`.
    seed : int
        Random seed of the first weights; those of the sites follow from it.
    masked : bool
        Whether the sites mask their updates.
    aggregation : {"mean", "median", "trimmed_mean"}, default="mean"
        How updates are combined.
    epsilon : float or None, default=None
        Total epsilon of each patient.
    """

    def __init__(
        self,
        folder: Path,
        corpora: list[Corpus],
        labels: list[str],
        options: Any,
        seed: int,
        masked: bool,
        aggregation: str = "mean",
        epsilon: float | None = None,
    ) -> None:
        self.epsilon = epsilon
        # None: as in a plan
        self.validation_fraction = options.validation_fraction or ROTATING
        self.folder, n = folder, len(corpora)
        self.names = [f"site-{i}" for i in range(1, n + 1)]
        whole = DeidTagger().batch_size
        n_words = sum(len(sentence) for corpus in corpora for sentence in corpus.to_sentences().X)
        n_parts = rounds_per_epoch(n_words, whole) if epsilon is None else 1
        keys = {name: make_mask_key(folder / f"{name}.key") for name in self.names} if masked else {}
        screened = options.screened and not masked and n >= FEWEST_UPDATES
        has_rounds, rate = screened or masked or aggregation != "mean", getattr(options, "lr", None)
        if rate is None:  # as in a plan
            rate = averaging_rate(DeidTagger().lr, n) if has_rounds else DeidTagger().lr
        tagger = {"batch_size": divided_batch_size(whole, n), "lr": rate}
        tagger |= {"warm_start_from": "starter-en"} if options.warm_start else {"hidden_size": options.hidden_size}
        self.agreement = FederationConfig(
            "lab",
            self.names,
            labels,
            tagger,
            n_epochs=(options.epochs or 40) * n_parts,
            n_parts=n_parts,
            seed=seed,
            step=averaging_step(n) / n,
            aggregation=aggregation,
            screened=screened,
            mask_keys=keys,
            lists="any",
        )
        for name, corpus in zip(self.names, corpora, strict=True):
            write_corpus(corpus, folder / "notes" / name, "brat")
        self.trainings = {name: self._training(name, 10 * seed + i) for i, name in enumerate(self.names)}
        self.server = self.agreement.new_server()
        if jitter := getattr(options, "jitter", 0.0):
            first = self.server.parameters * (1 + jitter * np.random.default_rng(seed).normal(size=self.server.size))
            self.server = ParameterServer(first.astype(np.float32), self.server.model, self.agreement.limits())
        self.uploads: list[tuple[str, bytes]] = []
        # With masks: the updates that the host never sees, so that they can be masked with other keys.
        self.hidden: list[tuple[str, bytes]] = []
        self.starts: dict[int, np.ndarray] = {}
        rules, events = SessionRules(self.agreement.n_epochs), []
        self.events: list[dict[str, Any]] = events
        self.service: ExchangeService = make_service(self.server, self.agreement, rules, events.append)

    def _training(self, name: str, seed: int) -> SiteTraining:
        settings = SiteSettings(
            str(self.folder / "notes" / name),
            str(self.folder / name),
            random_state=seed,
            format="brat",
            upload_fraction=1.0,
            download_fraction=1.0,
            threshold=0.0,
            upload_dtype="float16",
            mask_key=str(self.folder / f"{name}.key"),
            patient_epsilon=self.epsilon,
            notes_are_patients=True,  # those of MEDDOCAN
            validation_fraction=self.validation_fraction,
        )
        training = SiteTraining(self.agreement, settings, name)
        for rounds in (training.masks, training.robust):
            if rounds is not None:
                rounds._pause = 0.0
        return training

    def run(self, attack: str | None, options: Any, excluded_from: int | None) -> HostileLine | None:
        """Train all sites; with an attack, the last site is hostile, and excluded from this epoch on."""
        turns, lines, hostile = Turns(self.names), {}, None
        for name in self.names:
            lines[name] = self._line(name, turns, excluded_from if name == self.names[-1] else None)
        if attack is not None:
            lines[self.names[-1]] = hostile = HostileLine(
                lines[self.names[-1]],
                lambda fields, body: unpack(self.service.answer(self.names[-1], pack(fields, body))),
                attack,
                options,
            )
        threads = [threading.Thread(target=self._take_part, args=(name, turns, lines[name])) for name in self.names]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return hostile

    def _line(self, name: str, turns: Turns, excluded_from: int | None) -> Callable[..., Any]:
        def ask(fields: dict[str, Any], body: bytes = b"") -> Any:
            if excluded_from is not None and self.trainings[name].worker.n_epochs >= excluded_from:
                self.service.sites = self.service.sites - {name}
            # What the host sees: parameters that it has sent, and messages that arrive.
            self.starts.setdefault(self.server.version, self.server.parameters.copy())
            if fields["ask"] == "upload":
                self.uploads.append((name, body))
                if self.agreement.mask_keys:
                    self.hidden.append((name, next(iter(self.trainings[name].worker.pending.values()))))
            reply = unpack(self.service.answer(name, pack(fields, body)))
            turns.pass_on(name)
            turns.wait(name)
            return reply

        return ask

    def rebuilt(self, name: str) -> list[Any]:
        """Models of a site that the host rebuilds from the last messages of this site."""
        own = [body for site, body in self.uploads if site == name][-N_SEEN:]
        models = []
        for number, body in enumerate(own, start=self.server.version - len(own)):
            if self.agreement.mask_keys:
                vector = self.starts[number] + self._as_seen(body)
            else:
                update = SparseUpdate.from_bytes(body)
                vector = self.starts[update.version].copy()
                vector[update.indices] += update.values
            models.append(self.agreement.tagger_with(vector, self.server.model))
        return models

    def masked_again(self, name: str, keys: dict[str, MaskingSite]) -> list[np.ndarray]:
        """Parameters of a site as the host rebuilds them if the last updates are masked with other keys."""
        public = {site: key.public_key.hex() for site, key in keys.items()}
        own = [body for site, body in self.hidden if site == name][-N_SEEN:]
        vectors = []
        for number, body in enumerate(own, start=self.server.version - len(own)):
            update = SparseUpdate.from_bytes(body)
            terms = replace(self.agreement, mask_keys=public).masked_round(number, update.model, update.size, "")
            vectors.append(self.starts[number] + self._as_seen(keys[name].mask(update.dense(), terms)))
        return vectors

    def _as_seen(self, message: bytes) -> np.ndarray:
        """Masked update as the host reads it, shape (n,)."""
        numbers = self.agreement.masked_round(0, self.server.model, self.server.size, "").numbers
        masked = np.frombuffer(message[-2 * self.server.size :], dtype=numbers.dtype)
        return numbers.decode(masked, len(self.names))

    def _take_part(self, name: str, turns: Turns, ask: Callable[..., Any]) -> None:
        turns.wait(name)
        try:
            self.trainings[name].run_session(ask)
        except DeidError as error:  # an excluded site is told so
            print(f"{name}: {error}", flush=True)
        finally:
            turns.pass_on(name, last=True)


def host_attack(federation: Federation, corpora: list[Corpus]) -> dict[str, list[float]]:
    """Whose name is this? AUC of a host that rebuilds the model of each site, for names of one site only."""
    models = {site: federation.rebuilt(site) for site in federation.names}
    results = {}
    for label in ("PATIENT", "DOCTOR"):
        names = {site: names_of(corpus, label) for site, corpus in zip(federation.names, corpora, strict=True)}
        results[label] = [round(auc, 3) for auc in name_attack(models, names).values()]
    return results


def run_sessions(
    arm: str, corpora: list[Corpus], test: Corpus, labels: list[str], options: Any, seed: int
) -> dict[str, Any]:
    """Train one arm, and score the network of the server and the honest sites' own taggers."""
    begin, scored = time.process_time(), test.to_sentences()
    private = options.epsilon if arm == "sessions-dp" else None
    how = next((how for suffix, how in AGGREGATIONS.items() if arm.endswith(suffix)), "mean")
    plain = arm.removesuffix("-median").removesuffix("-trimmed")
    attack = plain.removesuffix("-excluded").removesuffix("-unlimited") if arm.startswith(HOSTILE_ARMS) else None
    with tempfile.TemporaryDirectory() as folder:
        federation = Federation(Path(folder), corpora, labels, options, seed, arm == "sessions-masked", how, private)
        half = federation.agreement.n_epochs // 2 if arm.endswith("-excluded") else None
        if arm == "stale-unlimited":
            federation.server.limits = replace(federation.server.limits, max_similarity=math.inf)
        if plain == "sessions-absent":
            # The agreement names the site, which never takes part, and nobody waits for it.
            federation.service.sites = federation.service.sites - {federation.names[-1]}
            federation.names = federation.names[:-1]
        hostile = federation.run(attack, options, half)
        taggers = [federation.trainings[name].learner.tagger for name in federation.names]
        common = federation.agreement.tagger_with(federation.server.parameters, federation.server.model)
        honest = taggers[:-1] if attack else taggers
        uploads = [event["bytes"] for event in federation.events if event["event"] == "upload"]
        return {
            "arm": arm,
            "seed": seed,
            "sites": options.sites,
            "rounds": federation.agreement.n_epochs,
            "global": round(common.score(scored.X, scored.y), 4),
            "workers": [round(tagger.score(scored.X, scored.y), 4) for tagger in honest],
            "name_attack": host_attack(federation, corpora) if arm in _ATTACKED_BY_THE_HOST else None,
            "refused": hostile.n_refused if hostile else federation.server.n_refused,
            "refused_downloads": [training.worker.guard.n_refused for training in federation.trainings.values()],
            "added": hostile.n_added if hostile else len(uploads),
            "left_out": [
                sum(event["event"] == "refused" and event["site"] == site for event in federation.events)
                for site in federation.agreement.sites
            ],
            "bytes_up": max(uploads),
            "half_precision": 2 * federation.server.size,
            "cpu_seconds": round(time.process_time() - begin),
        }
