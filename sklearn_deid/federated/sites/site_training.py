"""The site's side of sessions: training on the site's own notes, with a state that survives any interruption."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...exceptions import DeidError, ExchangeError
from ..held_out_guard import HeldOutGuard
from ..privacy_ledger import SITE_DELTA, PrivacyLedger, epsilon_text, spent_epsilon
from ..rotating_guard import RotatingGuard, guard_of
from ..rotating_patients import ROTATING
from ..selection import check_finite_vector
from ..state_file import read_state, valid_fields, write_state
from ..value_checks import is_whole
from ..worker import Worker
from .asking import ANSWERED, Ask, granted
from .epoch_history import write_epoch
from .federation_config import FederationConfig
from .flare_kits import make_private
from .masked_exchange import MASK_DTYPE
from .masked_site import MaskedSite, check_masks
from .officer_log import OfficerLog
from .robust_site import RobustSite
from .site_settings import SiteSettings
from .state_lock import StateLock

if TYPE_CHECKING:
    import numpy as np

    from ..patient_ledger import PatientLedger
    from ..tagger_learner import TaggerLearner

_KIND = "learner"
_WORKER = "worker.state"
_GOOD, _GOOD_FILE = "good model", "good.state"
# Sentences of a part. Parts as `federate plan` chooses them have hundreds, and those of a small site dozens.
_FEWEST = 10
# Numbers of the guards that outlive a session, with their names in the files.
_MEASURED = {"n_refused": "n_refused", "first_loss": "first_loss", "least_loss": "least_loss"}
_MEASURED_HELD_OUT = {**_MEASURED, "least_loss": "loss", "best_f1": "f1"}


class SiteTraining:
    """Worker of a site with its notes. The saved state of the worker survives a restart.

    Until the end of `run_session` no other process can train with the same state folder (`StateLock`). The site rejects
    downloads that would make its network much worse.

    The state folder contains:

    - ``worker.state`` and ``learner-N.state`` (after N epochs);
    - ``history.jsonl``, with a line of numbers for each epoch;
    - ``officer.log``, with a line before and after each epoch;
    - ``model``, a tagger that `load` reads, after each session;
    - with ``patient_epsilon``, ``patient-privacy.json``, the ledger of the patients;
    - with a number as ``validation_fraction``, ``good.state``, the parameters with the best F1 on held-out patients.

    Parameters
    ----------
    agreement : FederationConfig
        Settings that all members of the federation share.
    settings : SiteSettings
        Settings of this site.
    name : str
        Name of the site, as in its certificate.

    Raises
    ------
    DeidError
        If the corpus cannot be read, if the corpus contains labels outside of the agreed label set, or if the saved
        state belongs to another training.

    See Also
    --------
    DSSGDEnsemble : The same training with all workers on one machine.
    """

    def __init__(self, agreement: FederationConfig, settings: SiteSettings, name: str) -> None:
        _check(agreement, settings, name)
        self.agreement, self.settings, self.name = agreement, settings, name
        self.promised = settings.promise(agreement.n_epochs)
        self.robust = RobustSite(settings) if agreement.has_rounds else None
        self.folder = Path(settings.state)
        # A model and its F1 reveal more than the messages: other users of the computer cannot enter the folder.
        make_private(self.folder)
        self._f1: float | None = None
        self._is_taken = True
        # First of all: until another process of this site ends, it may charge the ledger or mask a round.
        self._lock = StateLock(self.folder)
        with ExitStack() as if_it_fails:
            if_it_fails.callback(self._lock.release)
            self.learner = self._new_learner()
            self.worker = Worker(
                name,
                self.learner,
                self.learner.layout.fingerprint,
                settings.worker_settings(),
                privacy=settings.privacy(),
                # Noise from a seed that lies in a file could be subtracted by whoever reads the file.
                random_state=settings.random_state if settings.privacy() is None else None,
                guard=guard_of(settings.validation_fraction),
            )
            self.masks = MaskedSite(agreement, settings, name) if agreement.mask_keys else None
            if (self.folder / _WORKER).exists():
                self._restore()
            # `pop_all` cancels the release of the lock. The lock is released here only if the start fails.
            if_it_fails.pop_all()

    def _new_learner(self) -> TaggerLearner:
        """Read the notes, and create a learner for the whole training on them."""
        from ..tagger_learner import make_learner

        agreement, settings = self.agreement, self.settings
        data = read_site_corpus(settings).to_sentences()
        check_parts(agreement, settings, len(data.X))
        check_held_out(settings, data.groups)
        return make_learner(
            agreement.tagger_to_train().set_params(random_state=settings.random_state, device=settings.device),
            data.X,
            data.y,
            data.groups,
            agreement.labels,
            n_epochs=agreement.n_epochs,
            validation_fraction=settings.validation_fraction,
            n_parts=agreement.n_parts,
            fewest=_FEWEST,
            privacy=settings.patient_privacy(),
            proximal=agreement.proximal,
        )

    @property
    def n_left(self) -> int:
        """Number of local epochs until the end of the whole training."""
        return self.agreement.n_epochs - self.worker.n_epochs

    def run_session(
        self,
        ask: Ask,
        stopped: Callable[[], bool] = lambda: False,
        report: Callable[[str], None] = lambda line: None,
    ) -> int:
        """Take part in one session, and save the model. Each session needs a new `SiteTraining`.

        Parameters
        ----------
        ask : callable
            Function ``ask(fields, body=b"") -> (fields, body)``. The function repeats unanswered requests, and raises
            ExchangeError if the server does not answer at all.
        stopped : callable, default=never
            Function that returns whether the session must end early.
        report : callable, default=nothing
            Function called with the lines of ``officer.log``: sent data, recipient, and spent and planned epsilon of
            each patient, before and after each local epoch. The session ends when the privacy budget is spent.

        Returns
        -------
        int
            Number of trained local epochs.

        Raises
        ------
        ExchangeError
            If the server has another model, or refuses a request other than an upload.
        """
        try:
            return self._session(ask, stopped, report)
        finally:
            self._lock.release()

    def _session(self, ask: Ask, stopped: Callable[[], bool], report: Callable[[str], None]) -> int:
        hello = granted(ask({"ask": "hello"}))[0]
        if hello.get("model") != self.worker.model:
            raise ExchangeError("The server has another model: its federation.json differs from the file of this site.")
        rule = hello.get("aggregation", "mean"), hello.get("screened", False)
        if rule != (self.agreement.aggregation, self.agreement.screened):
            raise ExchangeError(
                "The server combines updates in another way than the federation.json of this site says."
            )
        self._check_newest(hello.get("next", 0))  # servers of earlier versions do not tell it
        n_epochs: Any = hello.get("n_epochs")
        if not is_whole(n_epochs):
            raise ExchangeError("The server must state a whole number of epochs.")
        officer = OfficerLog(self.folder, self.agreement, self.settings, len(self.learner.get_flat()), report)
        n_trained = self._rounds(officer.watch(ask), stopped, officer, n_epochs)
        self._save_model()  # before the server hears of the end, because it may then end this process
        reported = {"f1": round(self._f1, 4)} if self.settings.report_f1 and self._f1 is not None else {}
        if reported:
            officer.sent_f1(**reported)
        ask({"ask": "done", **reported})
        return n_trained

    def _check_newest(self, sent: Any) -> None:
        """Refuse a state that is older than the updates that this site has sent.

        A hostile server could use this check to end the session, but for nothing else.

        The server would ignore updates from a new, restored or copied folder as repetitions, and the ledger in this
        folder would not contain all steps.
        """
        if not is_whole(sent):
            raise ExchangeError("The server must state a whole number of updates.")
        # With masks, the server knows of sums only, and the key of the site counts its updates.
        noted = 0 if self.masks is None else max(self.masks.key.sequence, self.masks.key.sent + 1)
        if self.worker.sequence < max(sent, noted):
            raise ExchangeError(
                "This site has sent more updates than its state folder knows: the folder is new, a copy or a restored "
                "one. Put the newest folder back, or take part as a new site.",
                path=str(self.folder),
            )

    def _rounds(self, ask: Ask, stopped: Callable[[], bool], officer: OfficerLog, n_epochs: int) -> int:
        """Train, and send each update, alone or in a round of all sites. Returns the number of trained epochs."""
        common, pending, n_trained = self.masks or self.robust, self.worker.pending, 0
        if common is None and pending:  # of an earlier session that ended before its last upload arrived
            self._send(ask, stopped, officer)
        for _ in range(n_epochs):
            if stopped() or (common is None and not self._may_train()):
                break
            fields, message = granted(ask({"ask": "download", **self._wanted()}))
            if fields["status"] == "closed":
                break
            # An update that no round contains is sent again. Any other update is a part of the downloaded parameters,
            # or void.
            if common is None or not common.keeps(pending, message):
                if pending and self.robust is not None:
                    # Of a session that ended before the result: the officer reads what became of the update.
                    self.robust.result(ask, next(iter(pending.values())), stopped, officer.answers.append)
                    officer.after(self._promise(), self.worker.n_epochs)
                pending.clear()
                if not self._may_train():
                    break
                if common is not None:
                    common.begin(message, self.worker.sequence)
                officer.before(self._promise(), self.worker.n_epochs)
                self._epoch(message)
                officer.refuses_download = not self._is_taken
                n_trained += 1
            if not self._send(ask, stopped, officer):
                break
        return n_trained

    def _send(self, ask: Ask, stopped: Callable[[], bool], officer: OfficerLog) -> bool:
        """Send the unacknowledged updates, and write a line for the officer. A refused update is discarded.

        Returns False if the session ends before the round of the update: the update is kept for the next session.
        """
        common, pending, has_ended = self.masks or self.robust, self.worker.pending, True
        try:
            if common is not None:
                has_ended = common.exchange(ask, next(iter(pending.values())), stopped, officer.answers.append)
            else:
                for sequence, message in sorted(pending.items()):
                    reply = ask({"ask": "upload", "sequence": sequence}, message)[0]
                    officer.answers.append("received" if reply.get("status") in ANSWERED else "refused")
        finally:
            # Also of an update that no round contains, and of an update that the server has not answered.
            officer.after(self._promise(), self.worker.n_epochs)
        if has_ended:
            pending.clear()
            # The next session would otherwise send the last update again, or ask for its result.
            self.worker.save(self.folder / _WORKER)
        return has_ended

    # ---- one epoch

    def _may_train(self) -> bool:
        """Whether the plan and the privacy budget allow another epoch. After a crash, an epoch is charged twice."""
        privacy, ledger = self.learner.privacy, self.learner.ledger
        return self.n_left > 0 and (privacy is None or ledger is None or ledger.n_left >= privacy.n_steps)

    def _promise(self) -> str:
        """Sentence for the officer of the site: spent and planned epsilon and delta."""
        ledger = self.learner.ledger
        if ledger is not None:
            return ledger.line()
        if self.promised is None:
            return "Each patient: no epsilon is promised."
        ledgers = self.worker.ledger, self.promised
        spent, total = (epsilon_text(spent_epsilon(ledger, SITE_DELTA)) for ledger in ledgers)
        return f"This site as a whole: epsilon {spent} of {total} spent at delta {SITE_DELTA:g}."

    def _wanted(self) -> dict[str, Any]:
        # The same message for all sites.
        if self.masks is not None:
            return {"fraction": 1.0, "dtype": MASK_DTYPE}
        # The first download takes all parameters in full, because the worker has no earlier copy.
        if self.worker.version is None:
            return {"fraction": 1.0, "dtype": "float32"}
        return {"fraction": self.settings.download_fraction, "dtype": self.settings.upload_dtype}

    def _epoch(self, message: bytes) -> None:
        """Train from the downloaded parameters, and save the update before any message about the update is sent."""
        worker = self.worker
        self._is_taken = worker.apply_download(message)
        metrics = worker.local_epoch()
        # In averaging, the server lengthens the mean by step * number of sites. The last update is added as it is.
        if self.n_left == 0 and self.settings.upload_fraction == 1.0:
            worker.shrink_update(min(1.0, 1.0 / (self.agreement.step * len(self.agreement.sites))))
        self._f1 = metrics.get("f1")
        sequence = worker.sequence
        worker.select_upload()
        n_bytes = len(worker.pending[sequence])
        line = {"epoch": worker.n_epochs, "version": worker.version, "bytes_down": len(message), "bytes_up": n_bytes}
        line["is_download_taken"] = self._is_taken
        # JSON has neither NaN nor infinity: a private epoch may draw no patient, and have no loss.
        finite = {name: value if math.isfinite(value) else None for name, value in metrics.items()}
        write_epoch(self.folder / "history.jsonl", {**line, **finite})
        # Before anybody is told of the update: after a crash the same update is sent, not another update of the same
        # number.
        self._save()

    # ---- state

    def _save(self) -> None:
        """Save the learner, then the worker. The worker's file names the epoch of the learner's file to use."""
        from ..learner_state import learner_to_state

        worker, guard = self.worker, self.worker.guard
        state, arrays = learner_to_state(self.learner)
        if isinstance(guard, RotatingGuard):
            # The next session would otherwise compare downloads with a loss that a hostile server has raised by then.
            state["guard"] = {told: getattr(guard, name) for name, told in _MEASURED.items()}
        write_state(self._learner_file(worker.n_epochs), _KIND, state, arrays)
        if isinstance(guard, HeldOutGuard) and guard.good is not None:
            measured = {told: getattr(guard, name) for name, told in _MEASURED_HELD_OUT.items()}
            write_state(self.folder / _GOOD_FILE, _GOOD, measured, {"parameters": guard.good})
        # The worker's file is written last: until then the old pair of files is valid.
        worker.save(self.folder / _WORKER)
        for path in self.folder.glob("learner-*.state"):
            if path != self._learner_file(worker.n_epochs):
                path.unlink()

    def _restore(self) -> None:
        from ..learner_state import learner_from_state

        self.worker.restore(self.folder / _WORKER)
        # The noise of earlier sessions may have been another one.
        self.promised = promise_of(self.agreement, self.settings)
        path, guard = self._learner_file(self.worker.n_epochs), self.worker.guard
        state, arrays = read_state(path, _KIND)
        learner_from_state(self.learner, state, arrays)
        # States of earlier versions, and of sites with another test, hold no numbers of this one.
        if isinstance(guard, RotatingGuard) and "guard" in state:
            with valid_fields(path, _KIND):
                _restore_numbers(guard, _MEASURED, state["guard"])
        if isinstance(guard, HeldOutGuard) and (self.folder / _GOOD_FILE).exists():
            with valid_fields(self.folder / _GOOD_FILE, _GOOD):
                measured, arrays = read_state(self.folder / _GOOD_FILE, _GOOD)
                good = check_finite_vector(arrays["parameters"])
                if good.shape != self.learner.get_flat().shape:
                    raise ValueError("parameters of another network")
                _restore_numbers(guard, _MEASURED_HELD_OUT, measured)
                guard.good = good

    def _save_model(self) -> None:
        """Save the current tagger with its averaged weights. The next session starts from the saved state."""
        from ...saving import save

        self.learner.stop()
        self.worker.settle()
        self.learner.finish()
        # The seed of the site stays in its settings: with the seed, a recipient of the model knows the order of the
        # batches, and which patients were left out of each pass.
        tagger = self.learner.tagger.set_params(random_state=None)
        save(tagger, self.folder / "model", overwrite=True)

    def _learner_file(self, n_epochs: int) -> Path:
        return self.folder / f"learner-{n_epochs}.state"


def _restore_numbers(guard: Any, names: Mapping[str, str], measured: Mapping[str, Any]) -> None:
    for name, told in names.items():
        setattr(guard, name, type(getattr(guard, name))(measured[told]))


def _check(agreement: FederationConfig, settings: SiteSettings, name: str) -> None:
    if name not in agreement.sites:
        raise ExchangeError("The federation does not name this site.")
    check_patient_privacy(agreement, settings)
    if agreement.mask_keys:
        check_masks(agreement, settings, name)


def check_patient_privacy(agreement: FederationConfig, settings: SiteSettings) -> None:
    """Refuse an agreement whose loss cannot be used with privacy for each patient.

    Raises
    ------
    ExchangeError
        If the site trains with ``patient_epsilon``, and the agreement has a proximal term, or weights of tags that each
        site counts in its notes.
    """
    if settings.patient_epsilon is None:
        return
    counted = "class_weight=balanced" if isinstance(agreement.tagger.get("class_weight"), str) else None
    term = "--proximal" if agreement.proximal else counted
    if term is not None:
        raise ExchangeError(
            f"The agreement was planned with {term}, which cannot be used with privacy for each patient. Plan the "
            f"federation without {term}, or set up this site without --patient-epsilon."
        )


def promise_of(agreement: FederationConfig, settings: SiteSettings) -> PrivacyLedger | None:
    """Ledger of the uploads in the saved state of a site and of the remaining epochs; None without noise on uploads.

    Raises
    ------
    ExchangeError
        If the noise gives no meaningful guarantee, or if earlier updates had no noise.
    """
    path = Path(settings.state, _WORKER)
    if settings.privacy() is None or not path.exists():
        return settings.promise(agreement.n_epochs)
    with valid_fields(path, "worker"):
        state = read_state(path, "worker")[0]
        ledger, n_left = PrivacyLedger.from_list(state["ledger"]), max(0, agreement.n_epochs - state["n_epochs"])
        if len(ledger) < state["sequence"]:
            raise ExchangeError(
                "Earlier updates of this site had no noise: an epsilon would not cover them. Leave the noise out of "
                "the settings."
            )
    return settings.promise(n_left, ledger)


def check_ledger(settings: SiteSettings, ledger: PatientLedger, n_steps: int) -> None:
    """Refuse a ledger that does not belong to the saved training of a site, as `SiteTraining` does.

    Raises
    ------
    ExchangeError
        If the ledger counts fewer steps than the saved training, or if the saved training cannot be read.
    """
    path = Path(settings.state, _WORKER)
    if path.exists():
        with valid_fields(path, "worker"):
            n_epochs = read_state(path, "worker")[0]["n_epochs"]
        path = path.with_name(f"learner-{n_epochs}.state")
        with valid_fields(path, _KIND):
            ledger.check_charged(read_state(path, _KIND)[0], n_steps)


def check_parts(agreement: FederationConfig, settings: SiteSettings, n_sentences: int) -> None:
    """Refuse notes with very few sentences, and an agreement that divides the notes into parts of very few sentences.

    Raises
    ------
    ExchangeError
        If the parts would have too few sentences. With as many parts as sentences, each update would be the gradient of
        one sentence, from which an attacker can compute the words of the sentence.
    """
    # With privacy for each patient, steps draw patients, and parts have no effect.
    if settings.patient_epsilon is None and n_sentences < _FEWEST * agreement.n_parts:
        raise ExchangeError(
            f"A local epoch would train on {n_sentences // agreement.n_parts} of the {n_sentences} sentences of this "
            f"site. An update of fewer than {_FEWEST} sentences can reveal their words. Plan the federation with fewer "
            "--parts, or add notes."
        )


def check_held_out(settings: SiteSettings, groups: np.ndarray) -> None:
    """Refuse a ``validation_fraction`` that holds out all patients, or that a single patient cannot be divided by.

    Parameters
    ----------
    settings : SiteSettings
        Settings of the site.
    groups : ndarray of shape (n_sentences,)
        Patient of each sentence.

    Raises
    ------
    ExchangeError
        If no patient would be left for the training, so that every session would fail.
    """
    from ...tagging.splits import hold_out_patients

    if settings.validation_fraction in (None, ROTATING):
        return
    try:
        hold_out_patients(len(groups), groups, settings.validation_fraction, seed=0)
    except ValueError:
        raise ExchangeError(
            f"With 'validation_fraction' {settings.validation_fraction:g}, no patient of {len(set(groups.tolist()))} "
            f"would be left for the training. Choose {ROTATING!r}, a smaller fraction, or no test patients."
        ) from None


def read_site_corpus(settings: SiteSettings) -> Any:
    """Read the notes on which a site trains.

    Raises
    ------
    DeidError
        If the notes cannot be read, or if no PHI is annotated: a tagger that is trained without annotated PHI would
        learn to miss all PHI. With ``patient_epsilon``, also if the patient of a note is unknown.
    """
    from ...io import read_gold
    from ...text import known_id

    corpus = read_gold(settings.corpus, settings.format, encoding=settings.encoding)
    if not corpus.n_spans:
        raise DeidError("No PHI is annotated in the notes.", path=settings.corpus)
    n_unknown = sum(known_id(document.patient_id) is None for document in corpus)
    if settings.patient_epsilon is not None and n_unknown and not settings.notes_are_patients:
        raise DeidError(
            f"The patient of {n_unknown} notes is unknown. Each of them would count as a patient, and a patient with "
            "two notes would have more than the promised epsilon. Store the patient ids with the notes, or state with "
            "--notes-are-patients that each of them has its own patient.",
            path=settings.corpus,
        )
    return corpus
