"""`AdversarialPrivacyAuditor`: run attacks on an estimator's release and report their success."""

from __future__ import annotations

import os
import sys
import time
import warnings
from collections.abc import Mapping
from dataclasses import replace
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
from .._storage import bundle_digest, check_nothing_else, read_manifest
from ..exceptions import BundleError, InsecureReleaseWarning, SequenceError
from ..representations.private_representer import PrivateRepresenter
from ..representations.released_classes import holds_classes
from ..representations.sharing import load_representation
from ..representations.word_class_representer import WordClassRepresenter
from ..sequences import TokenSequences, TokenVectors, check_groups, check_sequences, check_tags
from .attacks.declaration import AttackSettings
from .audit_data import AuditData, audit_data, digest_of, whole_data
from .registry import ATTACKS, PRESETS, plan_attacks, release_of_data, release_of_step, releases_of_folder
from .released_step import MODEL, UPDATES, final_tagger, find_released_step
from .releases.classes import notes_of_classes
from .releases.file import check_same_representer
from .releases.matched_file import matched_notes
from .releases.model import ReleasedModel
from .report import AuditReport
from .report_score import is_bound, is_check, is_open
from .schedule import recent_reports, run_attacks


class AdversarialPrivacyAuditor(BaseEstimator):
    """Attack the release of an estimator, and return a score from 0 to 1 or a report.

    The auditor is a scorer for ``scoring=``. A score of 1 means that none of the attacks is better than a guess without
    the release. The attack whose confidence interval has the highest upper end determines the score. Use `audit` to
    obtain the whole report.

    The auditor attacks the output of the pipeline step whose output you share: a `PrivateRepresenter`, a
    `WordClassRepresenter`, a pseudonymizer or a vector perturber. The auditor finds this step in pipelines (also nested
    pipelines), frozen estimators, fitted searches and a `NoteDeidentifier`. If you pass a `DSSGDEnsemble` that was
    fitted with ``keep_exchange=True``, the auditor attacks the updates that its workers sent.

    Parameters
    ----------
    attacks : {"default", "quick", "all"}, name, or sequence of names and attacks, default="default"
        Attacks to run. "default" runs every attack on the release. "quick" runs the attacks that find the most in a
        short time, with few epochs (under two minutes for 2,000 sentences). "all" runs the attacks of "default" and
        tests whether models have memorised their training data. These additional attacks train the tagger at the end of
        the pipeline, and the representer, about ten times each. Valid names are the keys in
        ``AdversarialPrivacyAuditor.ATTACKS``. Attack objects are instances of the classes in
        `sklearn_deid.audit.attacks`, or of your own classes with ``run(release)`` and ``skip(reason)``. Derive your own
        classes from `sklearn_deid.audit.attacks.AuditAttack` where possible.
    n_epochs : int, default=50
        Largest number of training epochs of the adversaries that compare pairs of sentences. These adversaries stop
        early if they make no progress. "quick" trains for at most 10 epochs.
    max_seconds : float or None, default=None
        Time limit in seconds. The auditor skips attacks that it expects to exceed the limit, and lists them in the
        report as skipped. Slow and weak attacks are skipped first. The last attack may end somewhat after the limit.
    confidence : float in (0, 1), default=0.95
        Confidence level of the intervals.
    representation_step : str or None, default=None
        Name of the pipeline step to audit (``"outer__inner"`` in nested pipelines). If None, the auditor searches for
        the step, and raises an error if several steps are possible.
    n_candidates : int, default=101
        Number of candidates in a lookup, the original included.
    n_releases : int, default=10
        Number r of releases of each sentence in the attacks on repeated releases. These attacks count in the score. If
        you release every sentence only once, read the results of these attacks as a warning.
    max_sentences : int or None, default=4000
        Largest number of sentences in the audit, for training, validation and measurement together. If you pass more
        sentences, the auditor draws whole patients at random. Of a folder or of released data, the report then lists
        the number of omitted sentences among its warnings.
    n_jobs : int or None, default=None
        Number of processes. Each process runs one attack at a time.
    verbose : int, default=0
        With 1 the auditor prints a line for each attack to standard error.
    random_state : int, RandomState or None, default=None
        Random seed of the split of the patients and of all attacks.

    Notes
    -----
    **Training and measurement.** The attackers train on half of the patients in ``groups``, validate on a fifth, and
    are measured on the rest. Without ``groups`` each sentence counts as a patient. The intervals are then too narrow if
    the sentences of one patient are similar. Audit with patients who were not in the training data of the estimator.
    The updates of a `DSSGDEnsemble` are an exception, because the attacks measure how much the updates reveal about the
    training sentences. Pass all sentences on which the ensemble was fitted, with the same groups. If the workers
    supplied their own data, the groups are the names of the workers (such as "worker-0").

    **Use in a search.** scikit-learn passes ``groups`` to a scorer only with metadata routing. Enable metadata routing,
    and call ``set_score_request(groups=True)``. Each process caches its reports by the content of the release, so that
    equal releases of equal data are attacked only once per process. A representer with an integer ``random_state``
    releases the same vectors in equal audits, so that a grid over the tagger's parameters costs one audit per split.
    Without a random seed, every release has new noise and is attacked again.

    **Failed and skipped attacks.** The score is 0 in three cases: a control failed, a check found that the release is
    not as stated, or a skipped attack was requested by name or belongs to "quick". Other skipped attacks do not lower
    the score; the report lists these attacks. A score describes only the attacks that were run, on similar pairs,
    candidates and patients. A score does not prove privacy. `PrivateRepresenter.certify` proves a bound for the attacks
    that the certificate covers.

    See Also
    --------
    sklearn_deid.audit.attacks : The attacks, one by one.

    References
    ----------
    Friedrich et al. (2019), Adversarial learning of privacy-preserving text representations for de-identification of
    medical records, ACL, section 9. The paper contains neither the stronger attacks nor the controls.

    Examples
    --------
    >>> from sklearn_deid import AdversarialPrivacyAuditor, NeighborPseudonymizer, WordVectors
    >>> vectors = WordVectors(["alder", "birch", "maple", "pain"], [[1, 0], [1, 0.1], [1, -0.1], [0, 1]])
    >>> X, y = [["Dr", "Alder"], ["Dr", "Birch"], ["Dr", "Maple"]] * 10, [["O", "B-DOCTOR"]] * 30
    >>> pseudonymizer = NeighborPseudonymizer(embeddings=vectors, n_neighbors=1).fit(X, y)
    >>> auditor = AdversarialPrivacyAuditor("reidentification", random_state=0)
    >>> report = auditor.audit(pseudonymizer, X, y)
    >>> sorted(report.verdicts)
    ['pseudonymised text']
    >>> round(report.score, 2)  # as auditor(pseudonymizer, X, y) returns it; n_neighbors=1 moves nothing
    0.0
    """

    # ``estimator`` is not metadata. Because of `score`, the auditor has ``set_score_request``, which passes groups to a
    # scorer.
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

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array, tags.input_tags.string = False, True
        return tags

    def __call__(self, estimator: Any, X: Any, y: Any, groups: Any = None) -> float:
        """Return how private the release is, from 0 to 1; see `AuditReport.score`.

        Parameters
        ----------
        estimator : fitted estimator
            Estimator with a step whose output you share.
        X : sequence of n sentences
            Words in the form that the first pipeline step reads.
        y : sequence of n tag sequences
            Tags of the words in X.
        groups : array-like of shape (n,), optional
            Patient of each sentence.

        Raises
        ------
        ValueError
            If no step makes a release, or if several steps make a release and ``representation_step`` does not specify
            one of these steps.
        SequenceError
            If there are fewer than three patients, or y does not match X.
        """
        return self.audit(estimator, X, y, groups).score

    def score(self, estimator: Any, X: Any, y: Any, groups: Any = None) -> float:
        """Return the score that a call of the auditor returns."""
        return self(estimator, X, y, groups)

    def scores(self, estimator: Any, X: Any, y: Any, groups: Any = None) -> dict[str, float]:
        """Return the score of all attacks and the score of each attack family.

        Use this method as a scorer with several results: ``GridSearchCV(pipe, grid, scoring=auditor.scores,
        refit="privacy")``. The key ``"privacy"`` contains the score of all attacks. The key of a family is
        ``"privacy_"`` followed by the ``family`` of the attack, such as ``"privacy_lookup"`` or ``"privacy_updates"``.
        The score of a family is 0 if all its attacks were skipped, because the success of these attacks is unknown. The
        score of a family of checks, or of attacks on properties that the release declares as open, is 1 without a fault
        or a failed control, and otherwise 0. Certified bounds are not attacks and have no score.

        Parameters
        ----------
        estimator, X, y, groups
            Same as in ``__call__``.
        """
        report = self.audit(estimator, X, y, groups)
        out = {"privacy": report.score}
        attacks = [result for result in report.results if result.family and not is_bound(result)]
        for family in dict.fromkeys(result.family for result in attacks):
            own = tuple(r for r in attacks if r.family == family)
            passed = float(all(r.status == "ok" for r in own))
            unscored = all(is_check(r) or is_open(r) for r in own)
            out[f"privacy_{family}"] = passed if unscored else AuditReport(own).score
        return out

    def audit(
        self, released: Any, X: Any = None, y: Any = None, groups: Any = None, *, representer: Any = None
    ) -> AuditReport:
        """Run the attacks and return a report.

        Parameters
        ----------
        released : fitted estimator, path, or sequence of n sentences
            An estimator, a saved release, or released data. An estimator must contain a step whose output you share,
            or, for attacks on models, a tagger. A path must be a folder that `save_representation` wrote; the auditor
            attacks the bytes of the folder and needs no estimator in memory. Released data are the release of X:
            vectors (a `TokenVectors`) or words. The mechanism of released data is unknown, so that fewer attacks are
            possible, and the data cannot pass the audit.
        X : sequence of n sentences
            Original words of the release. X is optional for a folder. Without X, the auditor checks the folder alone
            and lists the other attacks as not run, so that the folder cannot pass the audit. With X, the auditor
            matches the sentences of the folder with X by length, tags, casing and likelihood.
        y : sequence of n tag sequences
            Tags of the words in X.
        groups : array-like of shape (n,), optional
            Patient of each sentence.
        representer : PrivateRepresenter, WordClassRepresenter or path, optional
            Published representer that made the folder. Pass the loaded representer if its word vectors are not GloVe.

        Returns
        -------
        AuditReport
            Results of the attacks. If this process has already run the same attacks on a release with the same content,
            the method returns the earlier report. Audits with attack objects of your own classes always run.

        Raises
        ------
        ValueError
            If there is nothing to attack, several steps are possible, or an attack does not accept the release.
        SequenceError
            If there are fewer than three patients, y does not match, or X does not contain the sentences of a folder.
        BundleError
            If a folder is damaged, or is not a folder of `save_representation`, or was made by another representer.
        """
        check_constraints(self)
        if isinstance(released, (str, os.PathLike)):
            before = bundle_digest(released)
            report = self._audit_folder(released, X, y, groups, representer)
            read_manifest(released)  # checks that the arrays, too, still match the manifest
            check_nothing_else(released)
            if bundle_digest(released) != before:
                raise BundleError("The folder was replaced during the audit.", path=str(released))
            return replace(report, settings={**report.settings, "release": before})
        if representer is not None:
            raise ValueError("The 'representer' parameter belongs to a saved folder. Here an estimator was given.")
        if isinstance(released, (TokenVectors, TokenSequences, list, tuple, np.ndarray)):
            given, X = check_sequences(released, name="released data"), check_sequences(X)
            # Of all sentences: those that the audit leaves out by 'max_sentences' leave the house, too.
            if not np.array_equal(given.offsets, X.offsets):
                raise SequenceError("The released sentences must be those of X, token by token.")
            return self._run(lambda data: dict([release_of_data(given, data)]), "", X, y, groups, given=True)
        step, tagger = find_released_step(released, self.representation_step), None
        # The updates of an ensemble are attacked alone: their data leave no separate patients for attacks on a model.
        if self._asks_for_the_model() and (step is None or step.kind != UPDATES):
            tagger = final_tagger(released)
        if step is None and tagger is None:
            raise ValueError(
                f"The {type(released).__name__} has no step for a release: no representer, no pseudonymizer, no "
                "vector perturber, no DSSGDEnsemble with keep_exchange=True. Audit the step whose output you share. "
                "For attacks on a tagger, set attacks='all' or list 'membership' and 'canaries'. For updates of other "
                "networks, use UpdateLeakageAttack of sklearn_deid.audit.attacks."
            )
        if tagger is not None and step is not None and step.before:
            raise ValueError(
                "Attacks on a model with steps before the released step need an audit of their own: "
                "list only these attacks."
            )
        if step is not None:
            check_is_fitted(step.estimator)
            X = step.inputs(X)
        path, whole = ("", False) if step is None else (step.path, step.kind == UPDATES)

        def releases_of(data: AuditData) -> dict[str, Any]:
            found = {} if step is None else {step.kind: release_of_step(step, data)}
            return found if tagger is None else {**found, MODEL: ReleasedModel(released, data)}

        return self._run(releases_of, path, X, y, groups, whole=whole)

    def _audit_folder(self, path: Any, X: Any, y: Any, groups: Any, representer: Any) -> AuditReport:
        """Attack the bytes of a saved folder, with the original notes if these are given."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", InsecureReleaseWarning)  # becomes a fault in the report
            shared = load_representation(path)
        if not len(shared.X.data):
            raise BundleError("The folder holds no token, so that there is nothing to attack.", path=str(path))
        if isinstance(representer, (str, os.PathLike)):
            kind = WordClassRepresenter if holds_classes(shared.origin) else PrivateRepresenter
            representer = kind.load(representer)
        if X is None:
            since = time.perf_counter()
            return self._attacked(releases_of_folder(shared, representer, None, None, path), "", 0, since)
        X = check_sequences(X)
        check_same_representer(shared, representer)
        match = notes_of_classes if holds_classes(shared.origin) else matched_notes
        notes = match(shared, representer, X, check_tags(y, X), check_groups(groups, len(X)))
        return self._run(
            lambda data: releases_of_folder(shared, representer, data, notes, path), "", X, y, groups, given=True
        )

    def _run(
        self, releases_of: Any, path: str, X: Any, y: Any, groups: Any, *, whole: bool = False, given: bool = False
    ) -> AuditReport:
        """Split the data, make the releases, and attack the releases unless this process has already attacked equal
        releases.

        All sentences of a ``given`` release are shared, including the sentences that the audit leaves out.
        """
        since, rng = time.perf_counter(), own_generator(self.random_state)
        data = whole_data(X, y, groups, rng) if whole else audit_data(X, y, groups, self.max_sentences, rng)
        releases = releases_of(data)
        n_left_out = len(X) - len(data.X) if given else 0
        return recent_reports.get(
            self._key(releases, X, y, groups), lambda: self._attacked(releases, path, data.seed, since, n_left_out)
        )

    def _attacked(
        self, releases: Mapping[str, Any], path: str, seed: int, since: float, n_left_out: int = 0
    ) -> AuditReport:
        """Plan and run the attacks, and build the report."""
        # A release may replace the data: a recorded exchange drops groups that are names of workers.
        data = next(iter(releases.values())).data
        settings = AttackSettings(
            self.n_epochs,
            self.n_candidates,
            self.n_releases,
            self.confidence,
            seed,
            quick=isinstance(self.attacks, str) and self.attacks == "quick",
        )
        planned = plan_attacks(self.attacks, releases, settings)
        results = run_attacks(planned, self.max_seconds, n_jobs=self.n_jobs, say=self._say)
        return AuditReport(
            tuple(results),
            settings={**self._plain_settings(), "released": list(releases), "step": path, "attacks_seed": seed},
            versions=_versions(),
            n_sentences=len(data.test),
            n_patients=data.n_measured_patients,
            seconds=time.perf_counter() - since,
            n_left_out=n_left_out,
        )

    def _key(self, releases: Mapping[str, Any], X: Any, y: Any, groups: Any) -> tuple[Any, ...] | None:
        """Key of the stored report of a release, computed from its content; None if no report is stored."""
        digests = [release.digest() for release in releases.values()]
        if None in digests or self._has_foreign_attacks():
            return None
        # These parameters do not change the results.
        ignored = ("verbose", "n_jobs", "representation_step")
        mine = {k: v for k, v in self.get_params(deep=False).items() if k not in ignored}
        return (*digests, digest_of(X, y, groups), joblib.hash(mine))

    def _has_foreign_attacks(self) -> bool:
        """Whether an attack object has a class of the user: the code of such a class can change in a process, as in a
        notebook, and its instances need not be picklable.
        """
        given = [] if isinstance(self.attacks, str) else [one for one in self.attacks if not isinstance(one, str)]
        library = __name__.partition(".")[0]
        return any(type(one).__module__.partition(".")[0] != library for one in given)

    def _asks_for_the_model(self) -> bool:
        """Whether an attack on a model was requested."""
        asked = [self.attacks] if isinstance(self.attacks, str) else self.attacks
        of_models = {"all", *(name for name, named in ATTACKS.items() if MODEL in named.kinds)}
        return any(one in of_models if isinstance(one, str) else getattr(one, "threat", None) == MODEL for one in asked)

    def _plain_settings(self) -> dict[str, Any]:
        """Parameters of the audit as plain values for the report."""
        asked = self.attacks
        if not isinstance(asked, str):
            asked = [one if isinstance(one, str) else type(one).__name__ for one in asked]
        seed = int(self.random_state) if isinstance(self.random_state, Integral) else None
        names = ("n_epochs", "max_seconds", "confidence", "n_candidates", "n_releases", "max_sentences")
        return {"attacks": asked, **{name: getattr(self, name) for name in names}, "random_state": seed}

    def _say(self, line: str) -> None:
        if self.verbose:
            print(line, file=sys.stderr)


def _versions() -> dict[str, str]:
    found = {"sklearn-deid": __version__, "python": sys.version.split()[0]}
    for name in ("numpy", "scipy", "scikit-learn", "torch"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            # Some ways of installation leave no metadata.
            found[name] = "unknown"
    return found
