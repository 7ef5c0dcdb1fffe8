"""`PrivateRepresenter`: tokens in, noisy vectors out that can be shared."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._compat import Interval, StrOptions, check_constraints
from .._randomness import own_generator
from ..embeddings import WordVectors, resolve_embeddings
from ..sequences import TokenVectors, check_groups, check_tags
from ..tagging.tagger_data import inner_tags
from ..text import CASING_CLASSES
from .representer_base import SentenceRepresenter, check_tokens
from .representer_files import load_representer, save_representer
from .saving import fingerprint_of

__all__ = ["PrivateRepresenter"]


class PrivateRepresenter(SentenceRepresenter):
    """Turn tokens into noisy vectors from which a tagger can be trained, and PHI words hardly be read.

    A network reads the word vectors of a sentence and returns a vector for each token, to which noise is added. It is
    trained so that a tagger finds PHI in the noisy vectors while it is hard to tell a sentence from one in which a PHI
    token was moved to one of its N nearest words. **Vectors made on a CPU by version 0.1.0 are as readable as without
    noise** (``docs/security.md``). Whoever holds annotated notes can hand out these vectors with their tags; a tagger
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
    noise : "trainable", float or None, default="trainable"
        "trainable" learns a standard deviation for each dimension; a number fixes it; None adds no noise, for
        comparison: then nothing is private (not with ``training="bounded"``).
    noise_init : float, "normal" or None, default=None
        Standard deviation at the start, see `GaussianNoise`. None is 0.8 for bounded training and else "normal", as in
        the paper's code.
    noise_floor : float, default=0.0
        Smallest standard deviation of trainable noise.
    encoder : {"lstm", "dense"}, default="lstm"
        "lstm" reads the whole sentence; with "dense" a token's vector depends on its word alone, and `worst_case` can
        be computed.
    hidden_size : int, default=128
        Units of each direction of the LSTM.
    training : {"bounded", "three_part", "dann"}, default="bounded"
        "bounded" keeps a bound on the best attacker, for ideal noise and single tokens; "three_part" is the paper's
        training against an adversary; "dann" trains both at once by gradient reversal, which the paper found to fail.
    max_attack_accuracy : float in (0.5, 1), default=0.54
        Bounded training: mean accuracy of the best possible attacker who is to tell a sentence from one with a moved
        token; 0.5 is chance. A mean over random pairs of PHI tokens that can move; no figure for a patient.
    quantile_attack_accuracy : float in (0.5, 1) or None, default=0.6
        Bounded training: accuracy that they may have for 95 % of the pairs; None asks for the mean alone.
    adversary : {"strong", "paper"}, default="strong"
        Three-part training and DANN: which networks attack while training. The paper's are much weaker. Against strong
        ones the noise starts anew at 0.3 after the first phase, which shrinks it.
    stopping : {"robust", "paper"}, default="robust"
        Three-part training and DANN: which round is kept. "paper" asks for the combined loss alone; "robust" also for
        a fresh strong adversary to be near chance.
    adversary_weight : float, default=1.0
        lambda, weight of the adversary's loss (for bounded training: of the prices at the start, which adapt).
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
        Bounded training and DANN: epochs; after bounded training the tagger alone learns for half as many.
        Three-part training: most rounds of its last phase.
    pretrain_epochs : int, default=20
        Three-part training: most epochs of each of the first two phases.
    patience : int, default=10
        Three-part training: epochs without progress until a phase ends.
    lr, noise_lr : float or None, default=None
        Learning rates of the networks and of the noise. None is 4e-3 for bounded training and else 2e-3 (the paper's),
        and ten times as much for the noise; against the paper's adversary as much.
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
        Seeds training, and the noise of `transform` in this process. **Whoever knows the seed can remove the noise**,
        so seeded representations are for experiments and cannot be saved for sharing. With None each call
        of `transform` draws its noise from ChaCha20 under a new key of 256 bits of the operating system.

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
    n_features_out_ : int
        Width of the vectors of `transform`.
    training_counts_ : dict
        Sentences, tokens, PHI tokens that can move, and patients (None without ``groups``) of `fit`.

    Notes
    -----
    **What the bound says.** Before its length is made 1, the representation is Gaussian with a known mean mu and
    standard deviation sigma. If the noise cannot be predicted, the best attacker who knows the network and two
    sentences x, x', and sees one release of one of them, is right with probability Phi(d'/2), ``d'^2 = sum((mu(x) -
    mu(x'))^2 / sigma^2)`` over tokens and dimensions. ``bound_`` is the mean, and a quantile, of this over sentences x
    of held-out patients and x' with one PHI token moved to one of its N nearest words, token and word drawn at random.
    About two thirds of PHI tokens can move; stop words, punctuation and words without a vector cannot. It is no
    statement about pairs beyond the quantile, attackers who pick the pair, moves of several tokens (all PHI of a
    patient: 0.87 where the mean for one token is 0.53), words that are further away or have no vector (these
    all look alike, but can be told from words with one), r releases of a sentence (d' grows by the root of r), casing,
    tags, the number of tokens, or what the weights themselves keep of the notes. `certify` computes it for other data
    and r.

    **Noise.** It is drawn anew at every call of `transform`, from ChaCha20 under a key of its own that is never stored
    (unless ``random_state`` is given): copies of a pickled representer draw independently. Vectors are rounded to a
    public grid. Equal sentences of
    one call share their draw, since each further release of a sentence gives more of it away.

    **Where the paper and its code differ**, see `representations.Representer`.

    See Also
    --------
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

    _parameter_constraints: dict[str, list] = {
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "n_neighbors": [Interval(Integral, 2, None, closed="left")],
        "noise": [StrOptions({"trainable"}), Interval(Real, 0, None, closed="neither"), None],
        "noise_init": [StrOptions({"normal"}), Interval(Real, 0, None, closed="neither"), None],
        "noise_floor": [Interval(Real, 0, None, closed="left")],
        "encoder": [StrOptions({"lstm", "dense"})],
        "hidden_size": [Interval(Integral, 1, None, closed="left")],
        "training": [StrOptions({"bounded", "three_part", "dann"})],
        "max_attack_accuracy": [Interval(Real, 0.5, 1.0, closed="neither")],
        "quantile_attack_accuracy": [Interval(Real, 0.5, 1.0, closed="neither"), None],
        "adversary": [StrOptions({"strong", "paper"})],
        "stopping": [StrOptions({"robust", "paper"})],
        "adversary_weight": [Interval(Real, 0, None, closed="neither")],
        "labels": ["array-like", set, frozenset, None],
        "digits": [StrOptions({"near", "same", "random"})],
        "casing": ["boolean"],
        "unit_norm": ["boolean"],
        "tagger_hidden_size": [Interval(Integral, 1, None, closed="left")],
        "max_epochs": [Interval(Integral, 1, None, closed="left")],
        "pretrain_epochs": [Interval(Integral, 1, None, closed="left")],
        "patience": [Interval(Integral, 1, None, closed="left")],
        "lr": [Interval(Real, 0, None, closed="neither"), None],
        "noise_lr": [Interval(Real, 0, None, closed="neither"), None],
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
        noise_init: Any = None,
        noise_floor: float = 0.0,
        encoder: str = "lstm",
        hidden_size: int = 128,
        training: str = "bounded",
        max_attack_accuracy: float = 0.54,
        quantile_attack_accuracy: float | None = 0.6,
        adversary: str = "strong",
        stopping: str = "robust",
        adversary_weight: float = 1.0,
        labels: Any = None,
        exclude: Any = "en",
        digits: str = "near",
        casing: bool = True,
        unit_norm: bool = True,
        tagger_hidden_size: int = 96,
        max_epochs: int = 60,
        pretrain_epochs: int = 20,
        patience: int = 10,
        lr: float | None = None,
        noise_lr: float | None = None,
        batch_size: int | None = None,
        validation_fraction: float | None = 0.1,
        memmap_dir: Any = None,
        device: str = "auto",
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.embeddings, self.n_components, self.n_neighbors = embeddings, n_components, n_neighbors
        self.noise, self.noise_init, self.noise_floor = noise, noise_init, noise_floor
        self.encoder, self.hidden_size, self.training = encoder, hidden_size, training
        self.max_attack_accuracy, self.quantile_attack_accuracy = max_attack_accuracy, quantile_attack_accuracy
        self.adversary, self.stopping, self.adversary_weight = adversary, stopping, adversary_weight
        self.labels, self.exclude, self.digits = labels, exclude, digits
        self.casing, self.unit_norm, self.tagger_hidden_size = casing, unit_norm, tagger_hidden_size
        self.max_epochs, self.pretrain_epochs, self.patience = max_epochs, pretrain_epochs, patience
        self.lr, self.noise_lr, self.batch_size = lr, noise_lr, batch_size
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
        check_constraints(self)
        if self.training == "bounded" and self.noise is None:
            raise ValueError("training='bounded' needs noise: without it no attacker is bounded. Got noise=None.")
        X = check_tokens(X)
        tags, groups = inner_tags(check_tags(y, X), "iob2"), check_groups(groups, len(X))
        rng = own_generator(self.random_state)
        vectors = resolve_embeddings(self.embeddings, X, random_state=rng.integers(2**31))
        if not isinstance(vectors, WordVectors):
            raise ValueError("The 'embeddings' parameter of PrivateRepresenter must not be None.")
        self._vectors = vectors
        self.classes_ = np.array(sorted({"O", *tags.data}, key=lambda tag: (tag != "O", tag)), dtype=object)
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
        return self._released(check_tokens(X), noise=True)

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
        X = check_tokens(X)
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
        return self._released(check_tokens(X), noise=False)

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
