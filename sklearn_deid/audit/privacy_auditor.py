"""`AdversarialPrivacyAuditor`: attack what is to be shared, and say the number."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from numbers import Integral, Real
from typing import Any

import joblib
import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.metadata_routing import UNUSED
from sklearn.utils.validation import check_is_fitted

from .. import __version__
from .._compat import Interval, StrOptions, check_constraints
from .._randomness import own_generator
from ..sequences import TokenSequences, TokenVectors
from .attacks.declaration import AttackSettings
from .audit_data import AuditData, audit_data, digest_of, whole_data
from .registry import ATTACKS, PRESETS, fingerprint_of_step, plan_attacks, release_of_data, release_of_step
from .released_step import MODEL, UPDATES, AuditedStep, final_tagger, find_released_step
from .releases.model import ReleasedModel
from .report import AuditReport
from .report_score import is_bound
from .schedule import recent_reports, run_attacks


class AdversarialPrivacyAuditor(BaseEstimator):
    """Attack what an estimator releases, and return a number from 0 to 1, or a report.

    A scorer for ``scoring=``: 1 says that attackers do no better than guessing, and the attack whose interval reaches
    highest decides. `audit` gives the whole report. What is attacked is the output of the one step that is made to be
    shared: a `PrivateRepresenter`, a pseudonymizer or a vector perturber, found in pipelines (also nested), frozen
    estimators, finished searches and `NoteDeidentifier`. Of a `DSSGDEnsemble` that was fitted with
    ``keep_exchange=True`` it is the updates that its workers sent.

    Parameters
    ----------
    attacks : {"default", "quick", "all"}, name, or sequence of names and attacks, default="default"
        "default" is every attack on what is released; "quick" those that find most per second, with few epochs (under
        two minutes for 2,000 sentences); "all" is "default" and attacks on what a model remembers: on the tagger at the
        end of the pipeline and on the representer, which train each of them about ten times. Names are the keys of
        ``AdversarialPrivacyAuditor.ATTACKS``. Attacks are objects of the classes of `sklearn_deid.audit.attacks`, or of
        your own classes with ``run(release)`` and ``skip(reason)``, best derived from `AuditAttack` of that room.
    n_epochs : int, default=50
        Epochs of the adversaries of pairs, which end sooner without progress; "quick" takes at most 10.
    max_seconds : float or None, default=None
        Attacks that would not end within that time are left out, the slow and weak ones first, and listed in the
        report as skipped. The last attack may end somewhat later than expected.
    confidence : float in (0, 1), default=0.95
        Of the intervals.
    representation_step : str or None, default=None
        Name of the pipeline step that is audited (``"outer__inner"`` in nested ones); None finds the only one there is.
    n_candidates : int, default=101
        Candidates of a lookup, the original included.
    n_releases : int, default=10
        r of the attacks that see each sentence several times; whoever releases every sentence once may read them as a
        warning, but they count.
    max_sentences : int or None, default=4000
        Most sentences that are used, all steps of the attackers together; whole patients are drawn at random.
    n_jobs : int or None, default=None
        Processes, each of which runs an attack.
    verbose : int, default=0
        1 prints a line for each attack to standard error.
    random_state : int, RandomState or None, default=None
        Of the split and of all attacks.

    Notes
    -----
    **Who learns from what.** Of the patients in ``groups`` the attackers learn from half, choose by a fifth,
    and are measured on the rest. Without groups each sentence counts as a patient: intervals are then too
    narrow where sentences of one patient are alike. Audit on patients that the estimator was not fitted on, but the
    updates of a `DSSGDEnsemble` on all sentences that it was fitted on, with the same groups: the attacks ask what of
    them the updates tell. If its workers came with data of their own, groups are names of workers ("worker-0").

    **In a search** scikit-learn passes ``groups`` to scorers with metadata routing only: ``set_score_request(
    groups=True)``. Equal representations (by ``fingerprint_``) of equal data are audited once in a process, so that a
    grid over the tagger's parameters costs one audit for each split, if the representer has a ``random_state``, is
    frozen or cached by ``Pipeline(memory=...)``.

    **What fails is no pass.** With an invalid control the score is 0. Skipped attacks do not lower the score: read
    which. A score is about the attacks that were run, and about pairs, candidates and patients like these; it is no
    proof. `PrivateRepresenter.certify` is one, for what it covers.

    See Also
    --------
    sklearn_deid.audit.attacks : The attacks, one by one.

    References
    ----------
    Friedrich et al. (2019), Adversarial learning of privacy-preserving text representations for de-identification of
    medical records, ACL, section 9. Stronger attacks and controls are not part of it.

    Examples
    --------
    >>> from sklearn_deid import AdversarialPrivacyAuditor, NeighborPseudonymizer, WordVectors
    >>> vectors = WordVectors(["alder", "birch", "maple", "pain"], [[1, 0], [1, 0.1], [1, -0.1], [0, 1]])
    >>> X, y = [["Dr", "Alder"], ["Dr", "Birch"], ["Dr", "Maple"]] * 10, [["O", "B-DOCTOR"]] * 30
    >>> pseudonymizer = NeighborPseudonymizer(embeddings=vectors, n_neighbors=1).fit(X, y)
    >>> auditor = AdversarialPrivacyAuditor("reidentification", random_state=0)
    >>> round(auditor(pseudonymizer, X, y), 2)  # n_neighbors=1 moves nothing
    0.0
    >>> sorted(auditor.audit(pseudonymizer, X, y).verdicts)
    ['pseudonymised text']
    """

    # The estimator is no metadata; `score` exists for set_score_request, by which groups reach a scorer.
    __metadata_request__score = {"estimator": UNUSED}
    ATTACKS = tuple(ATTACKS)

    _parameter_constraints: dict[str, list] = {
        "attacks": [StrOptions({*PRESETS, *ATTACKS}), list, tuple],
        "n_epochs": [Interval(Integral, 1, None, closed="left")],
        "max_seconds": [Interval(Real, 0, None, closed="left"), None],
        "confidence": [Interval(Real, 0, 1, closed="neither")],
        "representation_step": [str, None],
        "n_candidates": [Interval(Integral, 2, None, closed="left")],
        "n_releases": [Interval(Integral, 1, None, closed="left")],
        "max_sentences": [Interval(Integral, 3, None, closed="left"), None],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        attacks: Any = "default",
        *,
        n_epochs: int = 50,
        max_seconds: float | None = None,
        confidence: float = 0.95,
        representation_step: str | None = None,
        n_candidates: int = 101,
        n_releases: int = 10,
        max_sentences: int | None = 4000,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.attacks, self.n_epochs, self.max_seconds, self.confidence = attacks, n_epochs, max_seconds, confidence
        self.representation_step = representation_step
        self.n_candidates, self.n_releases, self.max_sentences = n_candidates, n_releases, max_sentences
        self.n_jobs, self.verbose, self.random_state = n_jobs, verbose, random_state

    def __call__(self, estimator: Any, X: Any, y: Any, groups: Any = None) -> float:
        """How private the release is, from 0 to 1; see `AuditReport.score`.

        Parameters
        ----------
        estimator : fitted estimator
        X : sequence of n sentences
            Words, as the first step of a pipeline reads them.
        y : sequence of n tag sequences
        groups : array-like of shape (n,), optional
            Patient of each sentence.

        Raises
        ------
        ValueError
            If no step makes something to be released, or several do.
        SequenceError
            If there are fewer than three patients, or y does not match.
        """
        return self.audit(estimator, X, y, groups).score

    def score(self, estimator: Any, X: Any, y: Any, groups: Any = None) -> float:
        """The same as calling the auditor."""
        return self(estimator, X, y, groups)

    def scores(self, estimator: Any, X: Any, y: Any, groups: Any = None) -> dict[str, float]:
        """Score of all attacks ("privacy") and of each family of attacks, as a scorer that returns several numbers.

        ``GridSearchCV(pipe, grid, scoring=auditor.scores, refit="privacy")``. Keys of families are "privacy_" and the
        ``family`` of the attack, such as "privacy_lookup" or "privacy_updates". A family of which every attack was
        skipped scores 0: nothing is known about it. Certified bounds are no attacks and have no score.

        Parameters
        ----------
        estimator, X, y, groups
            As for ``__call__``.
        """
        report = self.audit(estimator, X, y, groups)
        out = {"privacy": report.score}
        attacks = [result for result in report.results if result.family and not is_bound(result)]
        for family in dict.fromkeys(result.family for result in attacks):
            out[f"privacy_{family}"] = AuditReport(tuple(r for r in attacks if r.family == family)).score
        return out

    def audit(self, released: Any, X: Any, y: Any, groups: Any = None) -> AuditReport:
        """Run the attacks.

        Parameters
        ----------
        released : fitted estimator, or sequence of n sentences
            An estimator with a step that makes what is shared; for attacks on models a tagger. Or what was released of
            X: vectors (a `TokenVectors`) or words; of those the mechanism is not known, and fewer attacks are
            possible.
        X : sequence of n sentences
            The words behind the release.
        y : sequence of n tag sequences
        groups : array-like of shape (n,), optional
            Patient of each sentence.

        Returns
        -------
        AuditReport
            Of attacks that were run in this process before on the same release and data, the same report.

        Raises
        ------
        ValueError
            If there is nothing to attack, several steps could be meant, or an attack does not fit.
        SequenceError
            If there are fewer than three patients, or y does not match.
        """
        check_constraints(self)
        if _is_data(released):
            return self._run(lambda data: dict([release_of_data(released, data)]), "", X, y, groups)
        step, tagger = find_released_step(released, self.representation_step), None
        if self._asks_for_the_model() and (step is None or step.kind != UPDATES):
            tagger = final_tagger(released)
        if step is None and tagger is None:
            raise ValueError(
                f"In the {type(released).__name__} nothing is made to be released: no PrivateRepresenter, no "
                "pseudonymizer, no vector perturber, no DSSGDEnsemble with keep_exchange=True. Audit what is shared; "
                "for attacks on a tagger ask for attacks='all', or for 'membership' and 'canaries'. Updates of other "
                "networks are attacked with UpdateLeakageAttack of sklearn_deid.audit.attacks."
            )
        if tagger is not None and step is not None and step.before:
            raise ValueError("Attacks on a model with steps before what is released are run apart: name them alone.")
        key = None
        if step is not None:
            check_is_fitted(step.estimator)
            X = step.inputs(X)
            key = None if tagger is not None else self._key(step, X, y, groups)
        whole = step is not None and step.kind == UPDATES
        return recent_reports.get(
            key,
            lambda: self._run(
                lambda data: _releases(step, tagger, released, data), _path(step), X, y, groups, whole=whole
            ),
        )

    def _run(self, releases_of: Any, path: str, X: Any, y: Any, groups: Any, *, whole: bool = False) -> AuditReport:
        since, rng = time.perf_counter(), own_generator(self.random_state)
        data = whole_data(X, y, groups, rng) if whole else audit_data(X, y, groups, self.max_sentences, rng)
        releases = releases_of(data)
        data = next(iter(releases.values())).data
        settings = AttackSettings(
            self.n_epochs,
            self.n_candidates,
            self.n_releases,
            self.confidence,
            data.seed,
            quick=isinstance(self.attacks, str) and self.attacks == "quick",
        )
        planned = plan_attacks(self.attacks, releases, settings)
        results = run_attacks(planned, self.max_seconds, n_jobs=self.n_jobs, say=self._say)
        return AuditReport(
            tuple(results),
            settings={**self._plain_settings(), "released": list(releases), "step": path, "attacks_seed": data.seed},
            versions=_versions(),
            n_sentences=len(data.test),
            n_patients=data.n_measured_patients,
            seconds=time.perf_counter() - since,
        )

    def _key(self, step: AuditedStep, X: Any, y: Any, groups: Any) -> tuple[str, ...]:
        parameters = self.get_params(deep=False)
        mine = {k: v for k, v in parameters.items() if k not in ("verbose", "n_jobs", "representation_step")}
        return fingerprint_of_step(step), digest_of(X, y, groups), joblib.hash(mine)

    def _asks_for_the_model(self) -> bool:
        if isinstance(self.attacks, str):
            return self.attacks == "all" or (self.attacks in ATTACKS and MODEL in ATTACKS[self.attacks].kinds)
        named = [ATTACKS[one].kinds for one in self.attacks if isinstance(one, str) and one in ATTACKS]
        return any(MODEL in kinds for kinds in named) or any(
            getattr(one, "threat", None) == MODEL for one in self.attacks
        )

    def _plain_settings(self) -> dict[str, Any]:
        asked = self.attacks if isinstance(self.attacks, str) else [_name(one) for one in self.attacks]
        seed = int(self.random_state) if isinstance(self.random_state, Integral) else None
        names = ("n_epochs", "max_seconds", "confidence", "n_candidates", "n_releases", "max_sentences")
        return {"attacks": asked, **{name: getattr(self, name) for name in names}, "random_state": seed}

    def _say(self, line: str) -> None:
        if self.verbose:
            print(line, file=sys.stderr)


def _releases(step: AuditedStep | None, tagger: Any, estimator: Any, data: AuditData) -> Mapping[str, Any]:
    """What there is to attack, by kind."""
    found = {} if step is None else {step.kind: release_of_step(step, data)}
    return found if tagger is None else {**found, MODEL: ReleasedModel(estimator, data)}


def _is_data(released: Any) -> bool:
    return isinstance(released, (TokenVectors, TokenSequences, list, tuple, np.ndarray))


def _path(step: AuditedStep | None) -> str:
    return "" if step is None else step.path


def _name(attack: Any) -> str:
    return attack if isinstance(attack, str) else type(attack).__name__


def _versions() -> dict[str, str]:
    found = {"sklearn-deid": __version__, "python": sys.version.split()[0]}
    for name in ("numpy", "scipy", "scikit-learn", "torch"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:  # installed in a way that leaves no metadata
            found[name] = "unknown"
    return found
