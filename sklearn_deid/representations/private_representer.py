"""`PrivateRepresenter` turns tokens into noisy vectors that a hospital can share."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
import torch
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from .._compat import Interval, StrOptions, check_constraints, unfitted_if_failed, with_objects
from .._randomness import own_generator, own_torch_stream, release_generator
from .._skorch import resolve_device
from ..embeddings import WordVectors
from ..embeddings.resolving import required_embeddings
from ..pseudonyms.neighbor_pseudonymizer import NeighborPseudonymizer
from ..pseudonyms.phi_tokens import warn_of_absent_labels
from ..sequences import TokenSequences, TokenVectors, check_groups, check_tags
from ..sequences.sentence_transformer import SentenceTransformer
from ..tagging.network import TaggerModule
from ..tagging.splits import hold_out_patients
from ..tagging.tagger_data import inner_tags
from ..text import CASING_CLASSES
from ..text.tags import sorted_tags
from .bound import PrivacyBound, WorstCase, pairs_bound, worst_case
from .certificate import Certificate, disclosure_of
from .confidence_limits import n_held_out
from .encoding import encode_sentences
from .few_notes import warn_of_few_notes
from .network import Representer
from .noise import GaussianNoise
from .pair_batches import PairBatches
from .pair_data import PairData, make_pair_data
from .phi_coverage import phi_coverage
from .private_model import PrivateModel
from .public_start import check_public, start_from_public
from .public_tagger import public_tagger, vector_tagger
from .randomized_casing import RandomizedCasing
from .recipients import with_recipients
from .saving import (
    check_unchanged,
    fingerprint_of,
    load_representer,
    origin_of,
    release_settings,
    save_representer,
    settings_of,
)
from .strategies import (
    DANN,
    LONG_FORMS,
    STRATEGIES,
    Bounded,
    Schedule,
    ThreePart,
    TrainableNoise,
    TrainingRun,
    as_strategy,
    noise_settings,
)


class PrivateRepresenter(SentenceTransformer):
    """Turn tokens into noisy vectors, from which a tagger can learn and an attacker can hardly recognise PHI words.

    A network reads the word vectors of a sentence and returns a vector for each token. Noise is added to each vector.
    The network is trained for two aims. First, a tagger must find PHI in the noisy vectors. Second, an attacker must
    hardly be able to distinguish a sentence from a copy in which a PHI token was replaced by one of its N nearest
    words. **Vectors that version 0.1.0 made on a CPU are as readable as vectors without noise** (``docs/security.md``).

    A hospital with annotated notes can hand out these vectors with their tags. A tagger that is trained on the vectors
    of many hospitals can tag the notes of all these hospitals.

    Parameters
    ----------
    embeddings : "auto", "corpus", "glove-6b-50d", path, WordVectors or KeyedVectors, default="auto"
        Public word vectors. "corpus" trains the word vectors on X and warns: the word vectors then hold the words of X,
        so you must not share representations made with these vectors. "auto" takes the installed public word vectors.
        Without installed vectors, "auto" is equal to "corpus".
    n_components : int, default=50
        d, width of the representation.
    n_neighbors : int, default=100
        N, number of nearest words by which a token may be replaced. The token's own word is one of the N words, so N is
        at least 2.
    noise : "trainable", TrainableNoise, float or None, default="trainable"
        "trainable" learns a standard deviation for each dimension. `TrainableNoise` also sets the initial value, the
        floor and the learning rate. A number fixes the standard deviation. With None, no noise is added and the vectors
        have no privacy; use None for comparisons only. Bounded training does not allow ``noise=None``.
    encoder : {"lstm", "dense"}, default="lstm"
        "lstm" reads the whole sentence. With "dense", the vector of a token depends on its word alone, and `worst_case`
        can be computed.
    hidden_size : int, default=128
        Units of each direction of the LSTM.
    training : {"bounded", "three_part", "dann"}, Bounded, ThreePart or DANN, default="bounded"
        "bounded" keeps a bound on the accuracy of the best attacker, for ideal noise and single tokens. "three_part" is
        the training of the paper, against an adversary. "dann" trains the representer and the adversary at once by
        gradient reversal; the paper found that DANN fails. An object sets the parameters of the training, such as
        ``Bounded(max_attack_accuracy=0.52)``.
    public : "auto", "generated", public notes, fitted PrivateRepresenter or None, default="auto"
        Public notes on which bounded training starts. The start from public notes costs no privacy, since the bound
        holds for any weights. "auto" starts from weights that the library ships, which were learned from generated
        notes and from short texts of the training of "starter-en". Shipped weights exist for the word vectors
        "glove-6b-50d" and the default network. For other vectors or networks, "auto" is equal to None. "generated"
        learns from generated notes in `fit`, which takes minutes. Public notes are a `Corpus`, a list of `Document` or
        a tuple (X, y). Tags of public notes may differ from the tags of y; tags with equal names are treated as equal.
        A fitted representer with equal vectors and networks starts the training with its own weights. In a search, put
        the fitted representer into scikit-learn's FrozenEstimator, since a search clones its parameters. With None, the
        training uses X alone.
    labels : collection of str, optional
        PHI categories to protect; all by default.
    exclude : str, collection of str or None, default="en"
        Words that are not protected if they are written in lower case. A language code means the stop words of spaCy.
    digits : {"near", "same", "random"}, default="near"
        Replacement of all-digit words; see `NeighborPseudonymizer`.
    casing : bool, "randomized" or RandomizedCasing, default=True
        Whether the casing class of each token is appended (7 columns, one-hot). True releases the true classes, without
        noise and without a bound. "randomized" draws each class by randomised response; `RandomizedCasing` sets the
        privacy loss of a token. False releases no casing. ``bound_`` states how the casing changes the attacker's
        accuracy.
    unit_norm : bool, default=True
        Whether each noisy vector is scaled to length 1.
    tagger_hidden_size : int, default=128
        Units of each direction of the tagger that is trained together with the network. With the default, a
        ``DeidTagger()`` with default parameters can start from this tagger.
    max_epochs : int or "auto", default="auto"
        Bounded training: number of epochs; afterwards, the tagger alone is fine-tuned for half as many epochs. Other
        trainings: largest number of rounds of the last phase. "auto" is 20 if the training starts from public notes, 40
        if such a training reads at least 40,000 PHI tokens that can be replaced, and 60 without public notes.
    lr : float or None, default=None
        Learning rate of the networks. None means 4e-3 for bounded training and 2e-3 (the paper's rate) for the other
        trainings.
    batch_size : int or None, default=None
        Sentences of a batch. With None, bounded training uses 128, or a 20th of the sentences if there are fewer than
        2,560 (at least 8). The other trainings use 32 (the paper's size).
    validation_fraction : "auto", float in (0, 1) or None, default="auto"
        Share of the patients in ``groups`` that is held out; without ``groups``, share of the sentences. Held-out data
        are used to choose the epoch, to steer the dual variables and to measure the bound. With few held-out patients,
        the confidence limits are wide, and the noise is larger than the bound needs. "auto" holds out a tenth of the
        patients, but at least 10 patients and about 100 sentences with replaceable PHI, and never more than a quarter
        of the patients, except for one patient of two or three. None holds nothing out.
    memmap_dir : path, optional
        Folder for vectors that do not fit into memory. Each call of `transform` writes its vectors to a new file
        ``representation-*.npy`` in this folder and maps them from the file. `noise_free` writes ``noise-free-*.npy``,
        which must not be shared. You must delete the files in ``memmap_dir`` yourself. By default the vectors are held
        in memory.
    device : str, default="auto"
        "auto" means CUDA if a CUDA device is available, and the CPU otherwise.
    n_jobs : int, optional
        Threads of the neighbour search.
    verbose : int, default=0
        1 prints a line for each epoch of each phase. 0 prints the remaining time to standard error, about every 10
        seconds, if `fit` takes more than a minute. -1 prints nothing.
    random_state : int, RandomState or None, default=None
        Random seed of the training, and of the noise of `transform` in this process. **An attacker who knows the seed
        can remove the noise.** Therefore representations made with a seed are for experiments and cannot be saved for
        sharing. With None, each call of `transform` draws its noise from ChaCha20 under a new key of 256 bits from the
        operating system.

    Attributes
    ----------
    adversaries_ : PairAdversaries or None
        Adversaries of three-part training or DANN, with the weights of the selected round.
    bound_ : PrivacyBound or None
        Bound on the accuracy of the best attacker on held-out patients. The bound covers three kinds of cases: random
        pairs that differ in one token, all PHI of a patient, and an attacker who picks token and neighbour. The bound
        also lists the PHI tokens that it does not cover, and states how the casing changes the accuracy. None if there
        is no output noise or no held-out PHI.
    control_accuracy_ : float or None
        Three-part training and DANN: accuracy of the adversary T2 before the representer hides PHI words. Below 0.9,
        the adversary is too weak, and its failure is no evidence of privacy.
    classes_ : ndarray
        Tags of the tagger that is trained together with the network.
    fingerprint_ : str
        Hash of the weights, the settings and the word vectors. Vectors with equal fingerprints may be pooled.
    history_ : list of dict
        Phase, epoch, seconds, losses and accuracies of every epoch.
    interrupted_ : bool
        Whether Ctrl-C ended the training. The best state up to that moment was kept.
    network_ : Representer
        Network that makes the vectors.
    selected_round_ : int
        Number of the epoch (bounded training) or round (other trainings) whose weights were kept, counted from 1.
    tagger_ : DeidTagger or None
        Tagger of the vectors, trained together with the network. The tagger is published with the representer: `save`
        writes it, the vectors of `transform` carry it, and a `DeidTagger` that is fitted on these vectors starts from
        this tagger. None in a representer that was saved by version 0.1.0.
    training_ : Bounded, ThreePart or DANN
        Training that was used, with its parameters.
    n_features_out_ : int
        Width of the vectors that `transform` returns.
    training_counts_ : dict
        Number of sentences, tokens, replaceable PHI tokens, and patients (None without ``groups``) in `fit`.

    Notes
    -----
    **Meaning of the bound.** Before scaling to length 1, the representation is Gaussian with a known mean mu and a
    known standard deviation sigma. The best attacker knows the network and two sentences x and x'. The best attacker
    sees one release of x or of x', and cannot predict the noise. The answer of this attacker is right with probability
    Phi(d'/2), where ``d'^2 = sum((mu(x) - mu(x'))^2 / sigma^2)`` over tokens and dimensions. ``bound_`` first states
    the accuracy of the best attacker for all PHI of a patient, and for an attacker who picks the token and the
    neighbour. Then ``bound_`` states the mean, a quantile and the largest value over random pairs (x, x'). Here, x is a
    sentence of a held-out patient. In x', one random PHI token of x is replaced by a random word among its N nearest
    words. Training keeps a bound on random pairs or, with ``Bounded(unit="patient")``, on patients. `certify` computes
    the bound for other data and for several releases.

    **Limits of the bound.** The bound is no statement about

    - cases beyond the quantile;
    - PHI tokens that cannot be replaced, about a third of them: stop words, punctuation and words without a vector
      (``bound_.coverage`` counts them);
    - words that are further away;
    - tags, the number of tokens, and which sentences of a call are equal;
    - information about the notes in the weights of the network.

    Accuracies for a patient are larger than accuracies for a token: in one measurement, 0.87 for all PHI of a patient,
    and 0.53 in the mean over random pairs.

    **Noise.** Without ``random_state``, each call of `transform` draws new noise from ChaCha20 under a new key that is
    never stored. Copies of a pickled representer therefore draw different, independent noise. Vectors are rounded to a
    public grid. Equal sentences of one call share their noise, since each further release of a sentence reveals more of
    the sentence.

    **Paper and code.** `representations.Representer` lists the differences between the paper and its code.

    See Also
    --------
    representations.Bounded, representations.ThreePart, representations.DANN : Strategies of training.
    representations.TrainableNoise : Parameters of learned noise.
    representations.RandomizedCasing : Casing classes drawn by randomised response.
    NeighborPseudonymizer : Moves words and releases text.
    save_representation : Writes vectors and tags for others.

    References
    ----------
    Friedrich et al. (2019), Adversarial learning of privacy-preserving text representations for de-identification of
    medical records, ACL, section 5. Bounded training is not part of that paper.

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

    _releases = "representation"  # for audits: the result of `transform` is shared
    _vectors: WordVectors
    _noise_seeds: np.random.Generator | None
    _parameter_constraints: dict[str, list] = {
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "n_neighbors": [Interval(Integral, 2, None, closed="left")],
        "noise": [StrOptions({TrainableNoise.key}), TrainableNoise, Interval(Real, 0, None, closed="neither"), None],
        "encoder": [StrOptions({"lstm", "dense"})],
        "hidden_size": [Interval(Integral, 1, None, closed="left")],
        "training": [StrOptions(set(STRATEGIES["training"])), Bounded, ThreePart, DANN],
        "labels": ["array-like", set, frozenset, None],
        "digits": [StrOptions({"near", "same", "random"})],
        "casing": ["boolean", StrOptions(set(STRATEGIES["casing"])), RandomizedCasing],
        "unit_norm": ["boolean"],
        "tagger_hidden_size": [Interval(Integral, 1, None, closed="left")],
        "max_epochs": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "lr": [Interval(Real, 0, None, closed="neither"), None],
        "batch_size": [Interval(Integral, 1, None, closed="left"), None],
        "validation_fraction": [Interval(Real, 0, 1, closed="neither"), StrOptions({"auto"}), None],
        "n_jobs": [Integral, None],
        "verbose": [Interval(Integral, -1, None, closed="left"), "boolean"],
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
        public: Any = "auto",
        labels: Any = None,
        exclude: Any = "en",
        digits: str = "near",
        casing: Any = True,
        unit_norm: bool = True,
        tagger_hidden_size: int = 128,
        max_epochs: Any = "auto",
        lr: float | None = None,
        batch_size: int | None = None,
        validation_fraction: float | str | None = "auto",
        memmap_dir: Any = None,
        device: str = "auto",
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.embeddings, self.n_components, self.n_neighbors = embeddings, n_components, n_neighbors
        self.noise, self.encoder, self.hidden_size, self.training = noise, encoder, hidden_size, training
        self.public, self.labels, self.exclude, self.digits = public, labels, exclude, digits
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
            Patient of each sentence. All sentences of a patient are either used for training or held out.

        Returns
        -------
        self

        Raises
        ------
        SequenceError
            If y is missing or does not match X, if X holds vectors, or if no PHI token has a word vector. Also if
            patients must be held out and there are fewer than two patients.
        ValueError
            If a parameter does not fit the word vectors or the training.

        Warns
        -----
        FewNotesWarning
            If X has few PHI tokens for the requested bound; the warning states the expected loss of F1.
        TrainingInterruptedWarning
            If Ctrl-C ended the training. The best state up to that moment was kept.
        UserWarning
            If no token has a label of ``labels``, for example because the label is misspelt.
        """
        self._check_parameters()
        X = self._words(X)
        tags, groups = inner_tags(check_tags(y, X), "iob2"), check_groups(groups, len(X))
        warn_of_absent_labels(self.labels, tags, stacklevel=2)
        rng = own_generator(self.random_state)
        vectors = required_embeddings(self, X, rng.integers(2**31))
        # Settings of this fit must never describe a network of an earlier one.
        with unfitted_if_failed(self):
            self._vectors, self.classes_ = vectors, np.array(sorted_tags({"O", *tags.data}), dtype=object)
            self.training_, self._settings = clone(as_strategy("training", self.training)), settings_of(self)
            self._released_as = release_settings(self)
            self._fit_networks(X, tags, groups, rng)
            self.n_features_out_ = self.n_components + self._n_casing
            self.fingerprint_ = fingerprint_of(self)
            self._noise_seeds = None if self.random_state is None else np.random.default_rng(int(rng.integers(2**62)))
        return self

    def transform(self, X: Any) -> TokenVectors:
        """Return noisy vectors of sentences, with new noise at every call.

        Parameters
        ----------
        X : sequence of n sentences, each a sequence of tokens

        Returns
        -------
        TokenVectors of n sentences
            Arrays of shape (n_tokens, n_components), with 7 more columns if casing is released. Equal sentences of one
            call have equal arrays.

        Raises
        ------
        SequenceError
            If X contains vectors or is not a sequence of sentences.
        ValueError
            If a parameter was changed after `fit`, so that ``bound_`` no longer describes the release.
        """
        self._check_fitted()
        return self._released(self._words(X), noise=True)

    def sample(self, X: Any, n: int) -> list[TokenVectors]:
        """Return several independent releases of the same sentences, for audits.

        Share one release at most, since each further release reveals more of the sentences.

        Parameters
        ----------
        X : sequence of sentences
        n : int
            Number of releases.

        Returns
        -------
        list of n TokenVectors
        """
        self._check_fitted()
        X = self._words(X)
        return [self._released(X, noise=True) for _ in range(n)]

    def noise_free(self, X: Any) -> TokenVectors:
        """Return the vectors of the network without noise, and the true casing. Never share vectors without noise.

        An attacker who has the network can compute these vectors, and use them as the best template of a sentence.

        Parameters
        ----------
        X : sequence of sentences

        Returns
        -------
        TokenVectors
            Vectors without a provenance, so that the vectors cannot be saved for sharing.
        """
        self._check_fitted()
        return self._released(self._words(X), noise=False)

    def certify(
        self,
        X: Any,
        y: Any,
        groups: Any = None,
        *,
        n_releases: int = 1,
        quantile: float = 0.95,
        max_sentences: int | None = 100,
        recipients_of: tuple[Any, Any] | None = None,
        random_state: Any = None,
    ) -> PrivacyBound:
        """Bound the accuracy of the best attacker over the PHI sentences of X.

        The bound holds for ideal noise and for tokens that can be replaced; see the notes of `PrivateRepresenter`.

        Parameters
        ----------
        X, y
            Sentences and tags as for `fit`. Use patients who were not in `fit`; otherwise the bound is too optimistic.
        groups : array-like of shape (n,), optional
            Patient of each sentence. Without ``groups``, each sentence counts as a patient of its own, and the metrics
            of patients are too small.
        n_releases : int, default=1
            r, number of releases of each sentence.
        quantile : float in (0, 1), default=0.95
            Quantile of the accuracy that is reported in addition to the mean.
        max_sentences : int or None, default=100
            Number of sentences that are sampled for the attacker who picks token and neighbour. Each sentence has about
            500 counterfactuals. With None, all sentences are compared. With 0, the part on the attacker who picks token
            and neighbour is left out.
        recipients_of : tuple of sentences and tags, optional
            Sentences and tags that a recipient gets, usually the sentences of `fit`. The bound then also states the F1
            of a recipient's tagger, beside the provider's, on X (`representations.recipient_scores`). The training of
            the recipient's tagger takes about half as long as `fit`.
        random_state : int, RandomState or None, default=None
            Random seed for drawing the replaced tokens, their new words and the sampled sentences, and of the
            recipient's tagger.

        Raises
        ------
        SequenceError
            If no PHI token of X can be replaced, or if ``recipients_of`` does not contain sentences and their tags.
        ValueError
            If there is no output noise, or if ``n_releases``, ``quantile`` or ``max_sentences`` is out of range.
        """
        self._check_fitted()
        if self.network_.output_noise.kind == "none":
            raise ValueError("Without noise (noise=None), no attacker has a bound.")
        X = self._words(X)
        y, device = check_tags(y, X), resolve_device(self.device)
        tags, rng = inner_tags(y, "iob2"), own_generator(random_state)
        self.network_.to(device)
        batches = PairBatches(self._pair_data(X, tags, check_groups(groups, len(X))), device=device)
        # This generator draws counterfactuals, not noise that is released: a seed of 62 bits is enough.
        generator = torch.Generator(device).manual_seed(int(rng.integers(2**62)))
        bound = pairs_bound(self.network_.eval(), batches, generator, n_releases=n_releases, quantile=quantile)
        options = {"n_releases": n_releases, "quantile": quantile, "max_sentences": max_sentences}
        bound = self._completed(bound, batches, X, tags, rng, **options)
        return with_recipients(bound, self, recipients_of, X, y, random_state=int(rng.integers(2**31)))

    def worst_case(self, words: Any = None) -> WorstCase:
        """Compute the exact worst case over words and their N nearest words.

        The computation needs ``encoder="dense"`` and bounded training.

        Parameters
        ----------
        words : sequence of str, optional
            Words to examine. By default all words that have a vector are examined, which takes minutes for 400,000
            words.

        Returns
        -------
        WorstCase
            With ideal noise, one release of a sentence is mu-Gaussian differentially private, with mu equal to
            ``gdp_mu``. Neighbouring sentences differ in one token that is replaced by one of its N nearest words. For k
            replaced tokens, multiply mu by the square root of k.

        Raises
        ------
        ValueError
            If the vector of a token depends on other tokens or on noise at the input, or if there is no noise. Also if
            none of the words has a vector with neighbours.

        References
        ----------
        Dong, Roth & Su (2022), Gaussian differential privacy, definition 2.6.
        """
        self._check_fitted()
        network = self.network_
        if self.encoder != "dense" or network.input_noise.kind != "none" or network.output_noise.kind == "none":
            raise ValueError(
                "The exact worst case is known for encoder='dense' and training='bounded' only: elsewhere it "
                "depends on all words of the sentence, or on the noise at the input. See `certify`."
            )
        return worst_case(network, self._vectors, self._neighbor_mechanism().moves, words)

    def pair_data(self, X: Any, y: Any) -> PairData:
        """Return sentences as arrays of numbers, with the words by which each PHI token may be replaced; for audits.

        Parameters
        ----------
        X, y
            Sentences and tags as for `fit`. A tag that was not seen in `fit` counts as "O" for the tagger, but its
            token can still be replaced.
        """
        self._check_fitted()
        X = self._words(X)
        return self._pair_data(X, inner_tags(check_tags(y, X), "iob2"), None)

    def pair_batches(self, X: Any, y: Any, batch_size: int = 32) -> PairBatches:
        """Return batches of the sentences of X and their counterfactuals, to train attackers on; for audits.

        A counterfactual is a copy of a sentence in which one PHI token was replaced.

        Parameters
        ----------
        X, y
            Sentences and tags as for `pair_data`.
        batch_size : int, default=32
            Largest number of sentences of a batch.
        """
        data, device = self.pair_data(X, y), resolve_device(self.device)
        self.network_.to(device)
        return PairBatches(data, batch_size, device)

    def _column_names(self) -> list[str]:
        self._check_fitted()
        return self._vector_names(self.n_components, CASING_CLASSES[: self._n_casing])

    def save(self, path: Any, *, overwrite: bool = False, audit: Any = None, utility: Any = None) -> None:
        """Save the fitted representer for others, as a folder of JSON, safetensors and a privacy card (``README.md``).

        The word vectors are not saved, since they are public. The folder identifies the word vectors by a checksum.

        Parameters
        ----------
        path : path
            Folder to make.
        overwrite : bool, default=False
            Whether a saved representer at ``path`` may be replaced.
        audit : mapping, optional
            Metrics of an audit, for the privacy card.
        utility : mapping, optional
            F1 of taggers on other patients, for the privacy card, such as ``{"recipient_strict_f1": 0.776}``; see
            `representations.privacy_card`.

        Raises
        ------
        BundleError
            If the word vectors are not public, or ``path`` exists.
        """
        self._check_fitted()
        save_representer(self, path, overwrite=overwrite, audit=audit, utility=utility)

    @classmethod
    def load(cls, path: Any, *, embeddings: Any = None, device: str = "auto") -> PrivateRepresenter:
        """Load a representer that `save` wrote; nothing in the folder is executed.

        Parameters
        ----------
        path : path
            Folder that `save` wrote.
        embeddings : as in the constructor, optional
            Public word vectors with which the representer was trained. Required unless the word vectors are
            "glove-6b-50d".
        device : str, default="auto"
            Device of the loaded representer, as in the constructor.

        Raises
        ------
        BundleError
            If the folder is damaged, incomplete or of another format, or if the representer was trained with other word
            vectors.
        """
        return load_representer(cls, path, embeddings).set_params(device=device)

    def set_params(self, **params: Any) -> PrivateRepresenter:
        """Set parameters; name a parameter of a strategy ``training__name``, ``noise__name`` or ``casing__name``.

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
            If there is no such parameter.
        """
        return super().set_params(**with_objects(self, params, LONG_FORMS))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = True  # also with a seed: each `transform` draws new noise
        return tags

    def __getstate__(self) -> dict[str, Any]:
        # Replayed noise could be subtracted, so a pickled copy never keeps the seeds. The copy takes new noise from the
        # operating system instead.
        return {name: None if name == "_noise_seeds" else value for name, value in super().__getstate__().items()}

    def _check_fitted(self) -> None:
        """Check that the representer is fitted, and that its bound, provenance and card describe its releases."""
        check_is_fitted(self)
        check_unchanged(self)

    def _check_parameters(self) -> None:
        check_constraints(self)
        check_public(self.public)
        training, noise, casing = (as_strategy(name, getattr(self, name)) for name in ("training", "noise", "casing"))
        for strategy in (training, noise, casing):
            if hasattr(strategy, "get_params"):
                check_constraints(strategy)
        # Refused before the training. The accuracy of an attacker without noise is 1, and no dual variable changes
        # that.
        if noise is None and isinstance(training, Bounded):
            raise ValueError(
                "The 'noise' parameter of PrivateRepresenter must not be None with bounded training, which needs "
                "noise: without it no attacker is bounded. Got None instead. Take noise='trainable', or another "
                "training."
            )

    def _fit_networks(
        self, X: TokenSequences, tags: TokenSequences, groups: np.ndarray | None, rng: np.random.Generator
    ) -> None:
        data = self._pair_data(X, tags, groups)
        n_patients = None if groups is None else len(np.unique(groups))
        held_out: Any = self.validation_fraction
        if held_out == "auto":
            held_out = n_held_out(len(X) if n_patients is None else n_patients, data.n_movable_sentences)
        # Patients are held out, not sentences: the bound is about patients that the network has not seen.
        rows = hold_out_patients(len(X), groups, held_out, int(rng.integers(2**31)))
        run = TrainingRun(
            data,
            rows,
            rng,
            device=resolve_device(self.device),
            batch_size=self.batch_size or self.training_.batch_of(len(rows[0])),
            schedule=Schedule(self.max_epochs, self.lr, getattr(as_strategy("noise", self.noise), "lr", None)),
            verbose=self.verbose,
        )
        with own_torch_stream(rng, run.device, bits=62):
            model = PrivateModel(self._new_network(self._vectors.dim), self._new_tagger(len(self.classes_)))
            model = model.to(run.device)
            self._starts_from_public = start_from_public(self, model, run)
            if isinstance(self.training_, Bounded):
                warn_of_few_notes(len(data.eligible), self.training_, self._starts_from_public)
            run.schedule = run.schedule.with_epochs(self._starts_from_public, len(data.eligible))
            result = self.training_.train(model, run)
        self.network_ = model.representer.eval()
        width, size = self.n_components + self._n_casing, self.tagger_hidden_size
        self.tagger_ = public_tagger(model.tagger, self.classes_, width, hidden_size=size, device=self.device)
        self.training_counts_ = {
            "n_sentences": len(X),
            "n_tokens": len(X.data),
            "n_movable_phi_tokens": len(data.eligible),
            "n_patients": n_patients,
        }
        self.history_, self.bound_, self.interrupted_ = run.log.rows, result.bound, result.interrupted
        if self.bound_ is not None and run.valid is not None:
            # An own stream: the noise of a seeded representer does not depend on the parts of the bound.
            own = rng.spawn(1)[0]
            self.bound_ = self._completed(self.bound_, run.valid, X[rows[1]], tags[rows[1]], own)
        self.adversaries_, self.control_accuracy_ = result.adversaries, result.control_accuracy
        self.selected_round_, self._is_protected = result.selected_round, result.is_protected
        run.tell_interruption(result.interrupted)

    def _completed(
        self, bound: PrivacyBound, batches: PairBatches, X: Any, tags: Any, rng: Any, **options: Any
    ) -> PrivacyBound:
        """Complete a bound on random pairs with the bounds on stronger attackers and the data that no bound covers."""
        generator = torch.Generator(batches.device).manual_seed(int(rng.integers(2**62)))
        casing = disclosure_of(as_strategy("casing", self.casing))
        certificate = Certificate(self.network_, batches, rng, generator, casing, **options)
        return certificate.complete(bound, phi_coverage(X, tags, self._neighbor_mechanism(), self.labels))

    def _pair_data(
        self, X: TokenSequences, tags: TokenSequences, groups: Any, classes: np.ndarray | None = None
    ) -> PairData:
        return make_pair_data(
            X,
            tags,
            self.classes_ if classes is None else classes,
            self._neighbor_mechanism(),
            labels=self.labels,
            casing=self._n_casing > 0,
            casing_epsilon=getattr(as_strategy("casing", self.casing), "epsilon", None),
            patients=None if groups is None else np.unique(groups, return_inverse=True)[1],
        )

    @property
    def _n_casing(self) -> int:
        """Number of columns of the casing."""
        return len(CASING_CLASSES) if self.casing else 0

    def _neighbor_mechanism(self) -> Any:
        """Return the token mechanism of a `NeighborPseudonymizer`, which determines how PHI tokens may be replaced."""
        pseudonymizer = NeighborPseudonymizer(
            embeddings=self._vectors,
            n_neighbors=self.n_neighbors,
            exclude=self.exclude,
            digits=self.digits,
            n_jobs=self.n_jobs,
            verbose=max(0, self.verbose),
            random_state=0,
        )
        # An empty fit suffices: the mechanism depends on the word vectors and the parameters, not on notes.
        return pseudonymizer.fit([], []).mechanism_

    def _new_network(self, input_size: int) -> Representer:
        """Make the network from embeddings to the representation, with the noise that the parameters set."""
        noise = noise_settings(as_strategy("noise", self.noise), self.training_)
        at_input = noise if self.training_.has_input_noise else noise | {"kind": "none", "floor": 0.0}
        return Representer(
            input_size,
            self.n_components,
            kind=self.encoder,
            hidden_size=self.hidden_size,
            input_noise=GaussianNoise(input_size, **at_input),
            output_noise=GaussianNoise(self.n_components, **noise),
            unit_norm=self.unit_norm,
        )

    def _new_tagger(self, n_classes: int) -> TaggerModule:
        """Make the tagger that is trained together with the network; it reads representation and casing."""
        return vector_tagger(n_classes, self.n_components + self._n_casing, self.tagger_hidden_size)

    def _released(self, X: TokenSequences, noise: bool) -> TokenVectors:
        self.network_.to(resolve_device(self.device))
        seed = None if self._noise_seeds is None else int(self._noise_seeds.integers(2**62))
        data = encode_sentences(
            self.network_,
            self._vectors,
            X,
            casing=as_strategy("casing", self.casing),
            generator=release_generator(seed) if noise else None,
            memmap_dir=self.memmap_dir,
        )
        # Vectors without an origin cannot be saved for sharing: noise-free vectors, and vectors of an unprotected
        # network.
        origin = origin_of(self) if noise and self._is_protected else None
        tagger = None if origin is None else self.tagger_
        return TokenVectors(data, X.offsets, origin, tagger).with_documents(X.documents)
