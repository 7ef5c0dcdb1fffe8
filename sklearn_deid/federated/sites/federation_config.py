"""Settings that all members of a federation share: `FederationConfig`, the file federation.json."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any

import numpy as np

from ...exceptions import ExchangeError
from ...surrogates import LOCALES
from ...tagging.old_parameters import current_parameters
from ..masks import FixedPoint, MaskedRound
from ..robust import AGGREGATES, FEWEST_UPDATES
from ..server import ParameterServer
from ..server_limits import LARGEST_PROXIMAL, ServerLimits
from .json_file import check_kinds
from .site_settings import LARGEST_SEED

# No dots: in the addresses of FLARE a dot separates a site from its processes.
# Of a whole training: larger numbers would overflow in the accountants.
_MOST_EPOCHS = 1_000_000
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,62}")
_KEY = re.compile(r"[0-9a-f]{64}")
_CHECKSUM = re.compile(r"[0-9a-f]{32}")
_LABEL = re.compile(r"[^\s-]\S*")
_EMBEDDINGS = (None, "auto", "glove-6b-50d")
#: As the ``lists`` of a `FederationConfig`.
ANY_LANGUAGE = "any"
# Parameters of `DeidTagger` that all sites share: plain values that reveal nothing about a site and name no code.
_SHARED = (
    "encoder",
    "head",
    "tag_scheme",
    "characters",
    "embeddings",
    "hidden_size",
    "n_layers",
    "context",
    "dropout",
    "span_swap",
    "class_weight",
    "recall_weight",
    "lr",
    "batch_size",
    "gradient_clip",
    "weight_average",
    "warm_start_from",
)
# The other parameters with the reason. A new parameter of the tagger belongs into one of the two lists.
_NOT_SHARED = {
    "augmenter": "an augmenter is an object, and would learn from each site's own notes",
    "optimizer": "an optimizer is a class, and an agreement names no code",
    "callbacks": "callbacks are objects, and an agreement names no code",
    "max_epochs": "'n_epochs' of the agreement sets the number of epochs",
    "random_state": "'seed' of the agreement sets the first weights, and each site draws its own seed for training",
    "validation_fraction": "all sites train all epochs; a site sets its own validation_fraction",
    "patience": "all sites train all epochs",
    "warm_start": "every site continues from its saved state",
    "device": "each site chooses its device",
    "mixed_precision": "the device of each site decides",
    "verbose": "each site chooses its log",
}
_PRETRAINED = "a folder belongs to one site, and files behind a name on the hub may be replaced by others"


@dataclass(frozen=True)
class FederationConfig:
    """Public settings of a federation, called the *agreement*.

    All sites and the server have the same file. The file contains no secret.

    Parameters
    ----------
    project : str
        Name of the federation: letters, digits, hyphens, underscores.
    sites : list of str
        Names of the sites, as in their certificates.
    labels : list of str
        Label set that all sites share.
    tagger : dict, default={}
        Parameters of `DeidTagger` that differ from its defaults: parameters of the network, its inputs, its loss and
        its training, as plain values. Write settings of nested objects with the names of ``set_params``, such as
        ``dropout__input``. ``embeddings`` may be "auto", "glove-6b-50d" or None. ``encoder`` must not be a
        `PretrainedEncoder`.
    lists : str or None, default=None
        Public lists of names, places and professions that follow the vectors of ``embeddings="auto"``, as in
        `DeidTagger`. The name of a language (`sklearn_deid.surrogates.LOCALES`) adds the lists of this language and the
        joint lists of all languages. "any" adds only the joint lists. None means no lists, as in agreements of earlier
        versions. With None, no spans are invented unless ``tagger`` sets the number of invented spans.
    lists_checksum : str or None, default=None
        Checksum of these lists, because the lists differ between versions of Faker. None means no check.
    n_epochs : int, default=25
        Local epochs of each site, over all sessions.
    n_parts : int, default=1
        Number of parts into which each site divides its sentences. A local epoch trains on one part, so that updates
        are exchanged several times in a pass over the notes. A site refuses parts of fewer than ten sentences.
    proximal : float in [0, 1e6], default=0.0
        Weight of the proximal term of each site (`federated.FederatedAveraging`).
    seed : int, default=0
        Random seed of the first weights.
    max_abs, max_norm : float or None, default=None
        Largest magnitude of a value and largest norm of an update. The server refuses larger updates. None means the
        defaults of `federated.ServerLimits`: 10, and the norm of the first weights.
    max_ratio : float or None, default=None
        Largest norm of an update as a multiple of the norms of the other sites' updates. None means the default of
        `federated.ServerLimits`, which is 5.
    max_staleness : int or None, default=None
        Largest staleness of an update (`federated.ServerLimits`). The server refuses older updates.
    step : float, default=1.0
        Factor by which the server multiplies updates. Use 1 divided by the number of sites if the sites train at the
        same time and the sum of their updates is too large.
    download_selection : {"most-updated", "random", "most-changed"}, default="most-updated"
        Selection of the parameters that a site fetches (`federated.ServerLimits`). With "most-changed" the first
        download of a site in each session is random, because the server does not store the downloads of earlier
        sessions.
    aggregation : {"mean", "median", "trimmed_mean"}, default="mean"
        Rule by which updates are combined (`federated.FederatedAveraging`). With the mean, the server adds each update
        on arrival. With the median or the trimmed mean, all sites send their whole updates in common rounds. Median and
        trimmed mean need at least three sites and cannot be combined with masks. The trimmed mean also needs more than
        ``2 * n_trim`` sites.
    n_trim : int, default=1
        Number of smallest and number of largest values that the trimmed mean leaves out.
    screened : bool, default=False
        Whether all sites send their whole updates in common rounds, and the server leaves out updates that point
        against the updates of most other sites (`federated.AgreementScreen`). A screened round needs three sites. With
        two sites in the agreement, rounds are not screened. The screen cannot be combined with masks.
    keep_exchange : bool, default=False
        Whether the server writes all messages to its disk, so that an audit can attack the messages. The record is as
        sensitive as the messages. With masks, the record contains masked updates.
    mask_keys : dict of str to str, default={}
        Public key of each site for pairwise masks, 64 hexadecimal digits (`make_mask_key`). With keys, all sites send
        their updates in common rounds, and the server learns only the sums. Masks need 3 to 127 sites. Sites read the
        keys only from this file, so that the server cannot replace a key.
    mask_bound : float, default=0.25
        Largest magnitude of a value of a masked update (`federated.FixedPoint`).
    mask_fraction : float, default=1.0
        Fraction of the values of a masked update that is sent. The positions of the sent values are computed from the
        public terms of the round. The other values are discarded.

    Raises
    ------
    ExchangeError
        If a parameter is invalid.

    Examples
    --------
    >>> agreement = FederationConfig("lab", ["site-1", "site-2"], ["PATIENT", "DATE"], {"hidden_size": 8}, n_epochs=2)
    >>> agreement.tagger_to_train().hidden_size
    8
    """

    project: str
    sites: list[str]
    labels: list[str]
    tagger: Mapping[str, Any] = field(default_factory=dict)
    n_epochs: int = 25
    n_parts: int = 1
    proximal: float = 0.0
    seed: int = 0
    max_abs: float | None = None
    max_norm: float | None = None
    max_ratio: float | None = None
    max_staleness: int | None = None
    step: float = 1.0
    download_selection: str = "most-updated"
    aggregation: str = "mean"
    n_trim: int = 1
    screened: bool = False
    keep_exchange: bool = False
    mask_keys: Mapping[str, str] = field(default_factory=dict)
    mask_bound: float = 0.25
    mask_fraction: float = 1.0
    lists: str | None = None
    lists_checksum: str | None = None

    def __post_init__(self) -> None:
        check_kinds(self)
        # Files of version 0.1.0 hold the old names of the parameters.
        object.__setattr__(self, "tagger", current_parameters(self.tagger))
        for name in (self.project, *self.sites):
            if not _NAME.fullmatch(name):
                raise ExchangeError(
                    "Names of projects and sites must consist of letters, digits, hyphens and underscores."
                )
        if not self.sites or len(set(self.sites)) != len(self.sites):
            raise ExchangeError("A federation needs at least one site, and the names of sites must be distinct.")
        for label in self.labels:
            if not _LABEL.fullmatch(label) or not label.isprintable():
                raise ExchangeError("Labels must be text without blanks and control codes.")
        if not self.labels or len(set(self.labels)) != len(self.labels):
            raise ExchangeError("At least one label is needed, and the labels must be distinct.")
        self._check_tagger()
        self._check_masks()
        self._check_aggregation()
        for name in ("n_epochs", "n_parts"):
            if not 1 <= getattr(self, name) <= _MOST_EPOCHS:
                raise ExchangeError(f"'{name}' must be a whole number from 1 to {_MOST_EPOCHS}.")
        if not 0 <= self.seed <= LARGEST_SEED:
            raise ExchangeError(f"'seed' must be a whole number from 0 to {LARGEST_SEED}.")
        if not 0 <= self.proximal <= LARGEST_PROXIMAL:
            raise ExchangeError(f"'proximal' must be a number of at least 0 and at most {LARGEST_PROXIMAL:g}.")
        try:
            self.limits()
        except ValueError as error:
            raise ExchangeError(str(error)) from None

    def _check_tagger(self) -> None:
        for name in sorted(self.tagger):
            parameter = name.partition("__")[0]
            if parameter not in _SHARED:
                reason = _NOT_SHARED.get(parameter, f"the shared settings are {', '.join(_SHARED)}")
                raise ExchangeError(f"The parameter {name!r} cannot be a shared setting: {reason}.")
            if hasattr(self.tagger[name], "get_params"):
                raise ExchangeError(
                    f"{name!r} must be a plain value. Write the settings of an object as '{name}__...'."
                )
        if self.tagger.get("encoder", "lstm") in (None, "pretrained"):
            raise ExchangeError(f"'encoder' cannot be a pretrained encoder: {_PRETRAINED}.")
        if (start := self.tagger.get("warm_start_from")) is not None:
            # The server of a training without a model of the package need not import PyTorch.
            from ..worker_data import check_public_start

            try:
                check_public_start(start)
            except ValueError as error:
                raise ExchangeError(str(error)) from None
        if self.tagger.get("embeddings", "auto") not in _EMBEDDINGS:
            raise ExchangeError("'embeddings' must be public and known everywhere: auto, glove-6b-50d or null.")
        self._check_lists()

    def _check_lists(self) -> None:
        if self.lists is not None and self.lists not in (ANY_LANGUAGE, *LOCALES):
            raise ExchangeError(f"'lists' must be {ANY_LANGUAGE}, {', '.join(LOCALES)} or null.")
        if self.lists is not None and self.tagger.get("embeddings", "auto") != "auto":
            raise ExchangeError("'lists' need the embeddings 'auto', whose vectors they follow.")
        checksum = self.lists_checksum
        if checksum is not None and not _CHECKSUM.fullmatch(checksum):
            raise ExchangeError("'lists_checksum' must have 32 hexadecimal digits in lower case.")

    def _check_masks(self) -> None:
        if not 0 < self.mask_bound < math.inf:
            raise ExchangeError("'mask_bound' must be a positive number.")
        if not 0 < self.mask_fraction <= 1:
            raise ExchangeError("'mask_fraction' must be above 0 and at most 1.")
        if not self.mask_keys:
            return
        if set(self.mask_keys) != set(self.sites):
            raise ExchangeError("'mask_keys' must name a key for each site of the federation, and for nobody else.")
        for key in self.mask_keys.values():
            if not isinstance(key, str) or not _KEY.fullmatch(key):
                raise ExchangeError("Each of the 'mask_keys' must have 64 hexadecimal digits in lower case.")
        # Refuses fewer than three sites, more than 127 sites, and equal keys.
        self.masked_round(0, "0" * 32, 1, "")

    def _check_aggregation(self) -> None:
        if self.aggregation not in AGGREGATES:
            raise ExchangeError(f"'aggregation' must be one of {', '.join(AGGREGATES)}.")
        if self.n_trim < 1:
            raise ExchangeError("'n_trim' must be a whole number of at least 1.")
        if not self.has_rounds:
            return
        if self.mask_keys:
            raise ExchangeError(
                "A median, a trimmed mean and 'screened' need the update of each site, which masks hide."
            )
        if len(self.sites) < self.fewest_updates:
            raise ExchangeError(f"This 'aggregation' needs at least {self.fewest_updates} sites.")

    @property
    def has_rounds(self) -> bool:
        """Whether sites without masks send their updates in common rounds."""
        return self.aggregation != "mean" or self.screened

    @property
    def fewest_updates(self) -> int:
        """Smallest number of sites in a round without masks.

        The screen of a mean needs three updates. With two sites in the agreement, updates are not screened.
        """
        if self.aggregation == "mean":
            return min(FEWEST_UPDATES, len(self.sites))
        return max(FEWEST_UPDATES, 2 * self.n_trim + 1 if self.aggregation == "trimmed_mean" else 0)

    def masked_round(self, number: int, model: str, size: int, start: str) -> MaskedRound:
        """Terms of a masked round of all sites. The parameters are the same as in `federated.MaskedRound`."""
        keys = {name: bytes.fromhex(key) for name, key in self.mask_keys.items()}
        return MaskedRound(number, model, size, keys, FixedPoint(self.mask_bound), start, self.mask_fraction)

    def mask_fingerprint(self) -> str:
        """Hash of the names and keys of all sites, 64 hexadecimal digits. Sites compare the hash with each other."""
        return sha256(json.dumps(dict(self.mask_keys), sort_keys=True).encode("ascii")).hexdigest()

    def limits(self) -> ServerLimits:
        """Create the limits of the server."""
        given: dict[str, Any] = {
            "max_abs": self.max_abs,
            "max_norm": self.max_norm,
            "max_ratio": self.max_ratio,
            "max_staleness": self.max_staleness,
            "last_sequence": self.n_epochs - 1,
            # In common rounds the server adds one mean of all sites instead of the update of each site.
            "step": self.step * (len(self.sites) if self.mask_keys or self.has_rounds else 1),
            "download_selection": self.download_selection,
        }
        return ServerLimits(**{name: value for name, value in given.items() if value is not None})

    def tagger_to_train(self) -> Any:
        """Create a `DeidTagger` with the agreed parameters. The tagger is not fitted.

        Raises
        ------
        ExchangeError
            If a parameter is not a parameter of the tagger, or if the lists of this computer differ from the lists of
            the agreement.
        """
        from ...tagging.tagger import DeidTagger

        try:
            tagger = DeidTagger(random_state=self.seed).set_params(**self.tagger)
            tagger.check_parameters()
        except ValueError as error:
            raise ExchangeError(str(error)) from None
        if self.lists is None and "span_swap__invented" not in self.tagger:
            # Running federations of earlier versions then continue unchanged.
            tagger.set_params(span_swap__invented=0)
        return tagger.set_params(embeddings=self._vectors()) if tagger.embeddings == "auto" else tagger

    def _vectors(self) -> Any:
        """Vectors of n-grams and lists of the agreement. Each member computes the same vectors."""
        from ..worker_data import listed_ngram_vectors, random_ngram_vectors

        if self.lists is None:
            return random_ngram_vectors()
        vectors = listed_ngram_vectors("" if self.lists == ANY_LANGUAGE else self.lists)
        if self.lists_checksum not in (None, vectors.lists_checksum):
            raise ExchangeError(
                "The public word lists of this computer are not those of the agreement, because another version of "
                "Faker is installed. Install the version of the coordinator."
            )
        return vectors

    def with_lists_checksum(self) -> FederationConfig:
        """Copy of the agreement with the checksum of this computer's lists. Members with other lists are refused.

        Raises
        ------
        ExchangeError
            If a parameter is not a parameter of the tagger.
        """
        vectors = self.tagger_to_train().embeddings
        return self if self.lists is None else replace(self, lists_checksum=vectors.lists_checksum)

    def first_learner(self) -> Any:
        """Create a learner with the first weights of the federation, from one made-up token and without notes.

        Raises
        ------
        ExchangeError
            If no network has the agreed parameters, such as a shape that differs from the shape of ``warm_start_from``.
        """
        from ...sequences import TokenSequences
        from ..tagger_learner import make_learner

        note = TokenSequences.from_rows([["a"]]).with_documents(["made-up"])  # taggers with context ask for documents
        try:
            return make_learner(self.tagger_to_train(), note, [["O"]], None, self.labels, n_epochs=self.n_epochs)
        except ValueError as error:
            raise ExchangeError(getattr(error, "message", str(error))) from None

    def new_server(self) -> ParameterServer:
        """Create a parameter server with the first weights."""
        learner = self.first_learner()
        return ParameterServer(learner.get_flat(), learner.layout.fingerprint, self.limits())

    def tagger_with(self, parameters: np.ndarray, model: str) -> Any:
        """Create a fitted `DeidTagger` with the parameters of a server.

        Raises
        ------
        ExchangeError
            If the parameters belong to another agreement.
        """
        learner = self.first_learner()
        # Equal fingerprints mean equal classes, network and word vectors, so that the vector fits.
        if learner.layout.fingerprint != model:
            raise ExchangeError("The parameters are those of another federation.")
        learner.set_flat(parameters)
        learner.finish()
        return learner.tagger
