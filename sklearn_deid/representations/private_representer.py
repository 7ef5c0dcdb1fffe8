"""`PrivateRepresenter`: tokens in, noisy vectors out that can be shared."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
import torch
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from .._compat import Interval, StrOptions, check_constraints, resolve_device
from .._randomness import own_generator, release_generator
from ..embeddings import WordVectors, resolve_embeddings
from ..pseudonyms.neighbor_pseudonymizer import NeighborPseudonymizer
from ..pseudonyms.sentence_transformer import SentenceTransformer
from ..sequences import TokenSequences, TokenVectors, check_groups, check_tags
from ..tagging.encoders import BidirectionalRecurrent
from ..tagging.network import TaggerModule
from ..tagging.splits import hold_out_patients
from ..tagging.tagger_data import inner_tags
from ..text import CASING_CLASSES
from .bound import PrivacyBound, WorstCase, pair_distances, pair_slack, privacy_bound, worst_case
from .encoding import encode_sentences
from .network import Representer
from .noise import GaussianNoise
from .pair_batches import PairBatches
from .pair_data import PairData, make_pair_data
from .private_model import PrivateModel
from .saving import fingerprint_of, load_representer, origin_of, save_representer, settings_of
from .strategies import DANN, STRATEGIES, Bounded, Schedule, ThreePart, TrainableNoise, TrainingRun, as_strategy


class PrivateRepresenter(SentenceTransformer):
    """Turn tokens into noisy vectors from which a tagger can be trained, and PHI words hardly be read.

    A network reads the word vectors of a sentence and returns a vector for each token, to which noise is added. It is
    trained so that a tagger finds PHI in the noisy vectors while it is hard to tell a sentence from one in which a PHI
    token was moved to one of its N nearest words. **Vectors made on a CPU by version 0.1.0 are as readable as without
    noise** (``docs/security.md``). A hospital with annotated notes can hand out these vectors with their tags; a tagger
    trained on vectors of many hospitals tags notes of all of them.

    Parameters
    ----------
    embeddings : "auto", "corpus", "glove-6b-50d", path, WordVectors or KeyedVectors, default="auto"
        Public word vectors. "corpus" trains them on X and warns: they hold the words of X, and what is made with them
        must not be shared. "auto" takes the installed public vectors, else does as "corpus".
    n_components : int, default=50
        d, width of the representation.
    n_neighbors : int, default=100
        N, how many nearest words (itself included) a moved token may go to; at least 2.
    noise : "trainable", TrainableNoise, float or None, default="trainable"
        "trainable" learns a standard deviation for each dimension; `TrainableNoise` also sets where it starts, its
        floor and its learning rate. A number fixes the standard deviation. None adds no noise, for comparison: then
        nothing is private (not with bounded training).
    encoder : {"lstm", "dense"}, default="lstm"
        "lstm" reads the whole sentence; with "dense" a token's vector depends on its word alone, and `worst_case` can
        be computed.
    hidden_size : int, default=128
        Units of each direction of the LSTM.
    training : {"bounded", "three_part", "dann"}, Bounded, ThreePart or DANN, default="bounded"
        "bounded" keeps a bound on the best attacker, for ideal noise and single tokens. "three_part" is the training of
        the paper, against an adversary. "dann" trains both at once by gradient reversal, which the paper found to fail.
        An object sets the parameters of the training, such as ``Bounded(max_attack_accuracy=0.52)``.
    labels : collection of str, optional
        PHI categories to protect; all by default.
    exclude : str, collection of str or None, default="en"
        Words that count as harmless where they are written in lower case; a language code means spaCy's stop words.
    digits : {"near", "same", "random"}, default="near"
        Where all-digit words may move; see `NeighborPseudonymizer`.
    casing : bool, default=True
        Append the casing class of each token (7 columns, one-hot). It is what the word looks like, carries no noise,
        and no bound covers it.
    unit_norm : bool, default=True
        Scale each noisy vector to length 1.
    tagger_hidden_size : int, default=96
        Units of each direction of the tagger that is trained along.
    max_epochs : int, default=60
        Bounded training: epochs; then only the tagger is fine-tuned, for half as many. Otherwise: most rounds of the
        last phase.
    lr : float or None, default=None
        Learning rate of the networks. None is 4e-3 for bounded training and else 2e-3 (the paper's).
    batch_size : int or None, default=None
        Sentences of a batch. None is 128 for bounded training and else 32 (the paper's).
    validation_fraction : float in (0, 1) or None, default=0.1
        Share of the patients (``groups``; without them: of the sentences) that is held out to choose the epoch, to
        steer the prices and to measure the bound. None holds nothing out.
    memmap_dir : path, optional
        Folder in which `transform` writes the vectors, to a new file each time, and from which they are mapped: for
        more than fits into memory. The files are the caller's to delete. By default they are held in memory.
    device : str, default="auto"
        "auto" is CUDA where there is one, else the CPU.
    n_jobs : int, optional
        Threads of the neighbour search.
    verbose : int, default=0
        1 prints a line for each epoch of each phase.
    random_state : int, RandomState or None, default=None
        Seeds training, and the noise of `transform` in this process. **An attacker who knows the seed can remove the
        noise**, so seeded representations are for experiments and cannot be saved for sharing. With None each call of
        `transform` draws its noise from ChaCha20 under a new key of 256 bits of the operating system.

    Attributes
    ----------
    adversaries_ : PairAdversaries or None
        Of three-part training and DANN, as they were in the round that was kept.
    bound_ : PrivacyBound or None
        Bound on the best attacker, in the mean and at a quantile over pairs of held-out patients. None without output
        noise, or without held-out PHI.
    control_accuracy_ : float or None
        Three-part training and DANN: how often T2 was right before anything was hidden. Under 0.9 the adversary was
        too weak to prove anything.
    classes_ : ndarray
        Tags of the tagger that was trained along.
    fingerprint_ : str
        Of weights, settings and word vectors; vectors of equal fingerprints may be pooled.
    history_ : list of dict
        Phase, epoch, seconds, losses and accuracies of every epoch.
    interrupted_ : bool
        Whether Ctrl-C ended the training; the best state until then was kept.
    network_ : Representer
        Makes the vectors.
    selected_round_ : int
        Epoch of bounded training, or round of the others, whose weights were kept; from 1.
    tagger_ : TaggerModule
        Was trained along; it is not saved.
    training_ : Bounded, ThreePart or DANN
        The training that was used, with its parameters.
    n_features_out_ : int
        Width of the vectors of `transform`.
    training_counts_ : dict
        Sentences, tokens, PHI tokens that can move, and patients (None without ``groups``) of `fit`.

    Notes
    -----
    **What the bound says.** Before its length is made 1, the representation is Gaussian with a known mean mu and
    standard deviation sigma. The best attacker knows the network and two sentences x, x', sees one release of one of
    them, and cannot predict the noise. They are right with probability Phi(d'/2), ``d'^2 = sum((mu(x) - mu(x'))^2 /
    sigma^2)`` over tokens and dimensions. ``bound_`` is the mean, and a quantile, of this accuracy. The pairs are
    sentences x of held-out patients, and x' with one PHI token moved to one of its N nearest words, token and word
    drawn at random. About two thirds of PHI tokens can move; stop words, punctuation and words without a vector cannot.
    `certify` computes the bound for other data and several releases.

    **What the bound does not say.** It is no statement about

    - pairs beyond the quantile, and attackers who pick the pair;
    - moves of several tokens (all PHI of a patient: 0.87 where the mean for one token is 0.53);
    - words that are further away, and words without a vector, which all look alike but differ from words with one;
    - r releases of a sentence: d' grows by the root of r;
    - casing, tags and the number of tokens;
    - information on the notes in the weights of the network.

    **Noise.** Each call of `transform` draws its noise anew, from ChaCha20 under a key of its own that is never stored
    (unless ``random_state`` is given): copies of a pickled representer draw independently. Vectors are rounded to a
    public grid. Equal sentences of one call share their draw, since each further release of a sentence gives more of
    it away.

    **Where the paper and its code differ**, see `representations.Representer`.

    See Also
    --------
    representations.Bounded, representations.ThreePart, representations.DANN : Strategies of training.
    representations.TrainableNoise : How noise is learned.
    NeighborPseudonymizer : Moves words, and shares text.
    save_representation : Writes vectors and tags for others.

    References
    ----------
    Friedrich et al. (2019), Adversarial learning of privacy-preserving text representations for de-identification of
    medical records, ACL, section 5. Bounded training is not part of it.

    Examples
    --------
    >>> from sklearn_deid import PrivateRepresenter, WordVectors
    >>> vectors = WordVectors(["alder", "birch", "maple", "dr", "pain"],
    ...                       [[1, 0.1], [1, 0.2], [1, -0.1], [-1, 0], [0, 1]], is_public=True)
    >>> X, y = [["Dr", "Alder"], ["pain"], ["Dr", "Birch"]] * 10, [["O", "B-DOCTOR"], ["O"], ["O", "B-DOCTOR"]] * 10
    >>> representer = PrivateRepresenter(embeddings=vectors, n_neighbors=2, n_components=4, max_epochs=2)
    >>> R = representer.fit(X, y).transform(X)
    >>> len(R), R[0].shape, bool((R[0] == representer.transform(X)[0]).all())
    (30, (2, 11), False)
    """

    _releases = "representation"  # for audits: what `transform` makes is shared
    _vectors: WordVectors
    _noise_seeds: np.random.Generator | None
    _parameter_constraints: dict[str, list] = {
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "n_neighbors": [Interval(Integral, 2, None, closed="left")],
        "noise": [
            StrOptions(set(STRATEGIES["noise"])),
            TrainableNoise,
            Interval(Real, 0, None, closed="neither"),
            None,
        ],
        "encoder": [StrOptions({"lstm", "dense"})],
        "hidden_size": [Interval(Integral, 1, None, closed="left")],
        "training": [StrOptions(set(STRATEGIES["training"])), Bounded, ThreePart, DANN],
        "labels": ["array-like", set, frozenset, None],
        "digits": [StrOptions({"near", "same", "random"})],
        "casing": ["boolean"],
        "unit_norm": ["boolean"],
        "tagger_hidden_size": [Interval(Integral, 1, None, closed="left")],
        "max_epochs": [Interval(Integral, 1, None, closed="left")],
        "lr": [Interval(Real, 0, None, closed="neither"), None],
        "batch_size": [Interval(Integral, 1, None, closed="left"), None],
        "validation_fraction": [Interval(Real, 0, 1, closed="neither"), None],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        *,
        embeddings: Any = "auto",
        n_components: int = 50,
        n_neighbors: int = 100,
        noise: Any = "trainable",
        encoder: str = "lstm",
        hidden_size: int = 128,
        training: Any = "bounded",
        labels: Any = None,
        exclude: Any = "en",
        digits: str = "near",
        casing: bool = True,
        unit_norm: bool = True,
        tagger_hidden_size: int = 96,
        max_epochs: int = 60,
        lr: float | None = None,
        batch_size: int | None = None,
        validation_fraction: float | None = 0.1,
        memmap_dir: Any = None,
        device: str = "auto",
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.embeddings, self.n_components, self.n_neighbors = embeddings, n_components, n_neighbors
        self.noise, self.encoder, self.hidden_size, self.training = noise, encoder, hidden_size, training
        self.labels, self.exclude, self.digits = labels, exclude, digits
        self.casing, self.unit_norm, self.tagger_hidden_size = casing, unit_norm, tagger_hidden_size
        self.max_epochs, self.lr, self.batch_size = max_epochs, lr, batch_size
        self.validation_fraction, self.memmap_dir, self.device = validation_fraction, memmap_dir, device
        self.n_jobs, self.verbose, self.random_state = n_jobs, verbose, random_state

    def fit(self, X: Any, y: Any = None, groups: Any = None) -> PrivateRepresenter:
        """Train on annotated sentences.

        Parameters
        ----------
        X : sequence of n sentences, each a sequence of tokens
        y : sequence of n tag sequences
            IOB2.
        groups : array-like of shape (n,), optional
            Patient of each sentence: a patient is either trained on or held out.

        Returns
        -------
        self

        Raises
        ------
        SequenceError
            If y is missing or does not match X, X holds vectors, no PHI token has a word vector, or there are fewer
            than two patients and some are to be held out.
        ValueError
            If a parameter does not fit the word vectors or the training.
        """
        self._check_parameters()
        X = self._words(X)
        tags, groups = inner_tags(check_tags(y, X), "iob2"), check_groups(groups, len(X))
        rng = own_generator(self.random_state)
        vectors = resolve_embeddings(self.embeddings, X, random_state=rng.integers(2**31))
        if not isinstance(vectors, WordVectors):
            raise ValueError("The 'embeddings' parameter of PrivateRepresenter must not be None.")
        self._vectors = vectors
        self.classes_ = np.array(sorted({"O", *tags.data}, key=lambda tag: (tag != "O", tag)), dtype=object)
        self.training_, self._settings = clone(as_strategy("training", self.training)), settings_of(self)
        self._fit_networks(X, tags, groups, rng)
        self.n_features_out_ = self.n_components + len(CASING_CLASSES) * self.casing
        self.fingerprint_ = fingerprint_of(self)
        self._noise_seeds = None if self.random_state is None else np.random.default_rng(int(rng.integers(2**62)))
        return self

    def transform(self, X: Any) -> TokenVectors:
        """Noisy vectors of sentences; other noise at every call.

        Parameters
        ----------
        X : sequence of n sentences, each a sequence of tokens

        Returns
        -------
        TokenVectors of n sentences
            Arrays of shape (n_tokens, n_components), with ``casing`` 7 columns more; equal for equal sentences.

        Raises
        ------
        SequenceError
            If X holds vectors or is no sequence of sentences.
        """
        check_is_fitted(self)
        return self._released(self._words(X), noise=True)

    def sample(self, X: Any, n: int) -> list[TokenVectors]:
        """Several independent releases of the same sentences, for audits; sharing more than one gives more away.

        Parameters
        ----------
        X : sequence of sentences
        n : int

        Returns
        -------
        list of n TokenVectors
        """
        check_is_fitted(self)
        X = self._words(X)
        return [self._released(X, noise=True) for _ in range(n)]

    def noise_free(self, X: Any) -> TokenVectors:
        """What the network returns with both noises switched off: the best template an attacker has. Never share it.

        Parameters
        ----------
        X : sequence of sentences

        Returns
        -------
        TokenVectors
            Without origin, so that it cannot be saved for sharing.
        """
        check_is_fitted(self)
        return self._released(self._words(X), noise=False)

    def certify(
        self, X: Any, y: Any, *, n_releases: int = 1, quantile: float = 0.95, random_state: Any = None
    ) -> PrivacyBound:
        """Accuracy of the best attacker over the PHI sentences of X, each with one token moved at random.

        For ideal noise and single tokens that can move, not for patients; see the notes of `PrivateRepresenter`.

        Parameters
        ----------
        X, y
            As for `fit`; sentences of other patients than those of `fit` give an honest number.
        n_releases : int, default=1
            r, how often each sentence is released.
        quantile : float in (0, 1), default=0.95
        random_state : int, RandomState or None, default=None
            Draws the moves.

        Raises
        ------
        SequenceError
            If no PHI token of X can move.
        ValueError
            If there is no output noise.
        """
        check_is_fitted(self)
        if self.network_.output_noise.kind == "none":
            raise ValueError("Without noise no attacker is bounded: noise=None.")
        X = self._words(X)
        batches = self.pair_batches(X, y)
        seed = int(own_generator(random_state).integers(2**62))
        generator = torch.Generator(batches.device).manual_seed(seed)
        distances = pair_distances(self.network_.eval(), batches, generator)
        slack = pair_slack(self.network_, batches)
        return privacy_bound(distances, n_releases=n_releases, quantile=quantile, slack=slack)

    def worst_case(self, words: Any = None) -> WorstCase:
        """Exact worst case over words and their N nearest words; for ``encoder="dense"`` with bounded training.

        Parameters
        ----------
        words : sequence of str, optional
            Words to look at; by default all that have a vector (minutes for 400,000 words).

        Returns
        -------
        WorstCase
            With ideal noise, one release of a sentence is mu-Gaussian differentially private with its ``gdp_mu``, for
            sentences that differ in one token moved to one of its N nearest words. k such tokens: root of k times mu.

        Raises
        ------
        ValueError
            If a token's vector depends on other tokens or on noise at the input, or there is no noise.

        References
        ----------
        Dong, Roth & Su (2022), Gaussian differential privacy, definition 2.6.
        """
        check_is_fitted(self)
        network = self.network_
        if self.encoder != "dense" or network.input_noise.kind != "none" or network.output_noise.kind == "none":
            raise ValueError(
                "The exact worst case is known for encoder='dense' and training='bounded' only: elsewhere it "
                "depends on all words of the sentence, or on the noise at the input. See `certify`."
            )
        rows = np.arange(len(self._vectors)) if words is None else np.unique(self._vectors.indices(words))
        rows = rows[rows >= 0]
        rows = rows[self._vectors.vectors_at(rows).any(axis=1)]
        return worst_case(network, self._vectors, self._neighbor_mechanism().moves, rows)

    def pair_data(self, X: Any, y: Any) -> PairData:
        """Sentences as arrays of numbers, with the words to which each PHI token may move; for audits.

        Parameters
        ----------
        X, y
            As for `fit`; tags that were not seen in `fit` count as "O" for the tagger, but their tokens move.
        """
        check_is_fitted(self)
        X = self._words(X)
        tags = inner_tags(check_tags(y, X), "iob2")
        return make_pair_data(X, tags, self.classes_, self._neighbor_mechanism(), **self._pair_options())

    def pair_batches(self, X: Any, y: Any, batch_size: int = 32) -> PairBatches:
        """Sentences of X with their moved twins, as attackers are trained on; for audits.

        Parameters
        ----------
        X, y
            As for `pair_data`.
        batch_size : int, default=32
        """
        data, device = self.pair_data(X, y), resolve_device(self.device)
        self.network_.to(device)
        return PairBatches(data, batch_size, device)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of the columns of a token's vector.

        Parameters
        ----------
        input_features : None
            Not used; there for the interface of scikit-learn.

        Returns
        -------
        ndarray of shape (n_columns,), dtype object
        """
        check_is_fitted(self)
        names = [f"privaterepresenter{i}" for i in range(self.n_components)]
        return np.array(names + [f"casing_{name}" for name in CASING_CLASSES] * self.casing, dtype=object)

    def save(self, path: Any, *, overwrite: bool = False, audit: Any = None) -> None:
        """Save for others, as a folder of JSON and safetensors with a privacy card (``README.md``).

        Word vectors are not saved: they are public, and named by a checksum.

        Parameters
        ----------
        path : path
            Folder to make.
        overwrite : bool, default=False
            Whether a saved representer at ``path`` may be replaced.
        audit : mapping, optional
            Figures of an audit, for the card.

        Raises
        ------
        BundleError
            If the word vectors are not public, or ``path`` exists.
        """
        check_is_fitted(self)
        save_representer(self, path, overwrite=overwrite, audit=audit)

    @classmethod
    def load(cls, path: Any, *, embeddings: Any = None, device: str = "auto") -> PrivateRepresenter:
        """Load what `save` wrote; nothing in the folder is executed.

        Parameters
        ----------
        path : path
        embeddings : as in the constructor, optional
            The public word vectors it was trained with; needed unless they are "glove-6b-50d".
        device : str, default="auto"

        Raises
        ------
        BundleError
            If the folder is damaged, incomplete or of another format, or these are other word vectors.
        """
        return load_representer(cls, path, embeddings).set_params(device=device)

    def set_params(self, **params: Any) -> PrivateRepresenter:
        """Set parameters, those of a strategy as ``training__name`` and ``noise__name``.

        Parameters
        ----------
        **params
            Parameters and their values.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If there is no such parameter, or a strategy is a string, which has none.
        """
        for whole in ("training", "noise"):
            value = params.get(whole, getattr(self, whole))
            nested = [name for name in params if name.startswith(f"{whole}__")]
            if nested and not hasattr(value, "set_params"):
                raise ValueError(
                    f"The {whole!r} parameter of PrivateRepresenter must be a strategy object for {nested[0]!r} to be "
                    f"set. Got {value!r} instead. See sklearn_deid.representations.Bounded, ThreePart, DANN and "
                    "TrainableNoise."
                )
        return super().set_params(**params)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = True  # also with a seed: each `transform` draws new noise
        return tags

    def __getstate__(self) -> dict[str, Any]:
        # Noise that could be replayed is no noise: a copy takes its numbers from the operating system.
        state = super().__getstate__().copy()
        if "_noise_seeds" in state:
            state["_noise_seeds"] = None
        return state

    def _check_parameters(self) -> None:
        check_constraints(self)
        training, noise = (as_strategy(name, getattr(self, name)) for name in ("training", "noise"))
        for strategy in (training, noise):
            if hasattr(strategy, "get_params"):
                check_constraints(strategy)
        if noise is None and isinstance(training, Bounded):
            raise ValueError(
                "The 'noise' parameter of PrivateRepresenter must not be None with bounded training, which needs "
                "noise: without it no attacker is bounded. Got None instead. Take noise='trainable', or another "
                "training."
            )

    def _fit_networks(
        self, X: TokenSequences, tags: TokenSequences, groups: np.ndarray | None, rng: np.random.Generator
    ) -> None:
        data = make_pair_data(X, tags, self.classes_, self._neighbor_mechanism(), **self._pair_options())
        rows = hold_out_patients(len(X), groups, self.validation_fraction, int(rng.integers(2**31)))
        device = resolve_device(self.device)
        noise = as_strategy("noise", self.noise)
        run = TrainingRun(
            data,
            rows,
            rng,
            device=device,
            batch_size=self.batch_size or self.training_.batch_size,
            schedule=Schedule(self.max_epochs, self.lr, getattr(noise, "lr", None)),
            verbose=self.verbose,
        )
        with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
            torch.manual_seed(int(rng.integers(2**62)))
            model = PrivateModel(self._new_network(self._vectors.dim), self._new_tagger()).to(device)
            result = self.training_.train(model, run)
        self.network_, self.tagger_ = model.representer.eval(), model.tagger.eval()
        self.training_counts_ = {
            "n_sentences": len(X),
            "n_tokens": len(X.data),
            "n_movable_phi_tokens": len(data.eligible),
            "n_patients": None if groups is None else len(np.unique(groups)),
        }
        self.history_, self.bound_, self.interrupted_ = run.log.rows, result.bound, result.interrupted
        self.adversaries_, self.control_accuracy_ = result.adversaries, result.control_accuracy
        self.selected_round_, self._is_protected = result.selected_round, result.is_protected

    def _neighbor_mechanism(self) -> Any:
        """Where PHI tokens may move: the machinery of `NeighborPseudonymizer`."""
        pseudonymizer = NeighborPseudonymizer(
            embeddings=self._vectors,
            n_neighbors=self.n_neighbors,
            exclude=self.exclude,
            digits=self.digits,
            n_jobs=self.n_jobs,
            verbose=self.verbose,
            random_state=0,
        )
        return pseudonymizer.fit([], []).mechanism_

    def _new_network(self, input_size: int) -> Representer:
        """The network from embeddings to the representation, with noise as the parameters ask for."""
        noise = as_strategy("noise", self.noise)
        kind, floor = "none", 0.0
        init: float | str = 0.0
        if isinstance(noise, TrainableNoise):
            init = self.training_.noise_init if noise.init is None else noise.init
            kind, floor = "trainable", float(noise.floor)
        elif noise is not None:
            kind, init = "fixed", float(noise)
        at_input = kind if self.training_.has_input_noise else "none"
        return Representer(
            input_size,
            self.n_components,
            kind=self.encoder,
            hidden_size=self.hidden_size,
            input_noise=GaussianNoise(input_size, kind=at_input, init=init, floor=floor if at_input != "none" else 0.0),
            output_noise=GaussianNoise(self.n_components, kind=kind, init=init, floor=floor),
            unit_norm=self.unit_norm,
        )

    def _new_tagger(self) -> TaggerModule:
        """The tagger that is trained along, which reads representation and casing."""
        width = self.n_components + len(CASING_CLASSES) * self.casing
        encoder = BidirectionalRecurrent(width, self.tagger_hidden_size)
        return TaggerModule(len(self.classes_), None, encoder, input_dropout=0.1, output_dropout=0.5)

    def _pair_options(self) -> dict[str, Any]:
        return {"labels": None if self.labels is None else set(self.labels), "casing": self.casing}

    def _released(self, X: TokenSequences, noise: bool) -> TokenVectors:
        device = resolve_device(self.device)
        self.network_.to(device)
        seed = None if self._noise_seeds is None else int(self._noise_seeds.integers(2**62))
        data = encode_sentences(
            self.network_,
            self._vectors,
            X,
            casing=self.casing,
            generator=release_generator(seed) if noise else None,
            memmap_dir=self.memmap_dir,
        )
        origin = origin_of(self) if noise and self._is_protected else None
        return TokenVectors(data, X.offsets, origin).with_documents(X.documents)
