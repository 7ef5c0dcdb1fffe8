"""`DeidTagger`: a sequence tagger with the interface of scikit-learn and the training loop of skorch."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
import torch
from sklearn.base import clone
from torch import Tensor

from .._compat import HasMethods, Interval, StrOptions, check_constraints
from .._randomness import own_generator
from ..exceptions import SequenceError
from ..metrics import phi_f1_score
from ..sequences import (
    RaggedArray,
    TokenSequences,
    TokenVectors,
    check_groups,
    check_sequences,
    check_tags,
    object_rows,
)
from ..text import convert_tags, repair_tags, split_tag
from .batching import ContextUnits, SentenceDataset
from .marginals import TokenTagger
from .network import TaggerModule, build_tagger_module
from .pretrained_encoder import PretrainedEncoder, PretrainedFiles, layer_rates
from .recall_weight import RecallWeight
from .splits import hold_out_patients
from .strategies import (
    ContextWindow,
    CRFHead,
    Dropout,
    SelfAttention,
    SoftmaxHead,
    check_strategies,
    strategy,
    with_objects,
)
from .tagger_data import (
    SwappingDataset,
    distinct_words,
    encode_tags,
    inner_tags,
    tag_weights,
    tagger_vectors,
    word_features,
)
from .training_loop import NoCriterion, SequenceNet

_PREFIXES = {"iob2": "BI", "bioes": "BIES"}


class DeidTagger(TokenTagger, SequenceNet):
    """Tag the tokens of sentences with types of protected health information.

    A word is seen as its characters, its shape and its casing (and a vector, if ``embeddings`` are given); a
    bidirectional recurrent network reads the sentence; a conditional random field chooses the tag sequence. Where X is
    a `TokenVectors`, its vectors are read instead of words. The tagger is a `skorch.NeuralNet`: ``callbacks``,
    ``optimizer__weight_decay``, ``history`` and the like work as documented there.

    By default no word of the training notes is stored: words are read by their characters and hashed n-grams.

    Parameters
    ----------
    encoder : {"lstm", "gru", "gru-gru", "lstm-gru", "transformer"}, SelfAttention or PretrainedEncoder, default="lstm"
        Network that reads the sentence: bidirectional recurrent cells, two such layers stacked, self-attention that is
        trained from scratch ("transformer" means ``SelfAttention()``), or a pretrained model. With a
        `PretrainedEncoder`, characters, vectors and the sizes of layers have no effect.
    head : {"crf", "softmax"}, CRFHead or SoftmaxHead, default="crf"
        Whether tags of neighbouring tokens are decided together. "crf" means ``CRFHead()``, "softmax" means
        ``SoftmaxHead()``.
    tag_scheme : {"iob2", "bioes"}, default="iob2"
        Tags inside the network. The tags in y and the predicted tags are IOB2 in any case.
    characters : {"cnn", "bigru", "bilstm", None}, default="cnn"
        How the characters of a word are read. With None the shape of the word is not read either. Ignored where X is a
        `TokenVectors`.
    embeddings : None, "auto", "corpus", "glove-6b-50d", path, WordVectors or KeyedVectors, default="auto"
        Fixed word vectors beside the characters. "auto" trains vectors of hashed character n-grams on X; they hold no
        word of X. "corpus" trains vectors of whole words and warns, since those hold the words of X.
    hidden_size : int, default=128
        Number of units of each direction; self-attention is twice as wide.
    n_layers : int or "auto", default="auto"
        Number of layers, or how often a stack of two is stacked. "auto" is 4 for self-attention and 1 for the others.
        Friedrich et al. (2019) used 2 of 128.
    context : {"sentence", "window", "document"} or ContextWindow, default="sentence"
        Text that is read to tag a sentence: the sentence itself, also some sentences on either side ("window" means
        ``ContextWindow()``, two of them), or the whole document. Only the sentence itself has tags, in training and
        after. X must know its documents then, as that of `Corpus.to_sentences` and that in a `NoteDeidentifier` do
        (`TokenSequences.with_documents` for others). "document" reads every token once, "window" once for each window
        that contains the token.
    dropout : float in [0, 1), Dropout or "auto", default="auto"
        Variational dropout before, between and after the layers. A float sets all three, and "auto" means `Dropout()`
        with 0.25, 0.25 and 0.5.
    span_swap : float in [0, 1], default=0.5
        Share of the PHI spans of the training data that change places with another span of the same label, drawn anew
        in each epoch. The tagger learns to read the context instead of remembering names.
    augmenter : NeighborPseudonymizer or one of its siblings, optional
        Perturbs the training sentences, anew in each epoch; the network never sees the original sentences. Sentences
        to be tagged go through its ``transform``. It is cloned, and draws from this tagger's ``random_state``.
    class_weight : dict, "balanced" or None, default=None
        Weight of each tag in the loss; tags that a dict does not name have weight 1.
    recall_weight : float of at least 1, RecallWeight or None, default=None
        Extra weight of sentences with missed PHI in the loss: delta_p of Ahmed et al. (2020), 2 to 10. A float w means
        ``RecallWeight(w)``. None is the plain loss.
    max_epochs : int or "auto", default="auto"
        Passes over the data. "auto" is 20, and up to 100 where the data are so small that 20 passes make fewer than
        2,000 batches.
    lr : float, default=3e-3
        Learning rate. It rises over the first batches and falls linearly to zero at the end of `fit`.
    batch_size : int, default=900
        Padded tokens (not sentences) of a training batch, context included.
    gradient_clip : float or None, default=1.0
        Largest norm of the gradient of a batch.
    weight_average : float in [0, 1), default=0.998
        Decay of the moving average of the weights. The fitted tagger uses the average; 0 switches it off.
    validation_fraction : None, float in (0, 1) or scikit-learn splitter, default=None
        Share of patients (``groups`` of `fit`) held out to measure F1 after each epoch. The best epoch is restored. Of
        a splitter, the first split is used.
    patience : int or None, default=None
        Epochs without a better F1 on the held-out patients until training stops; needs ``validation_fraction``.
    mixed_precision : bool or "auto", default="auto"
        bfloat16 in the network (never in the CRF); "auto" uses it on CUDA devices that have it.
    device : str, default="auto"
        "auto" is CUDA where there is one, else the CPU.
    verbose : int, default=0
        1 prints a line for each epoch, 2 adds a progress bar.
    random_state : int, RandomState or None, default=None
        Random seed of weights, dropout, batches and span swapping. The global generators are left as they were.
    **skorch_parameters
        ``optimizer`` (a torch optimizer class, default `torch.optim.NAdam`), ``callbacks`` (a list of skorch
        callbacks, default None), ``warm_start`` (bool, default False: whether `fit` continues from the weights of the
        last `fit`), and dunder parameters of skorch, such as ``optimizer__weight_decay``.

    Attributes
    ----------
    augmenter_ : fitted clone of ``augmenter``, or None
    classes_ : ndarray of shape (n_classes,)
        Tags of the network; the columns of `predict_proba`.
    n_features_in_ : int
        Width of the vectors, where X was a `TokenVectors`.
    history_ : skorch.history.History
    module_ : TaggerModule

    Notes
    -----
    The network of Friedrich et al. (2019), table 1, is ``DeidTagger(n_layers=2, hidden_size=128, characters=None,
    embeddings="glove-6b-50d", dropout=Dropout(input=0.1), span_swap=0.0, weight_average=0.0)``.

    That of Dernoncourt et al. (2017), which Festag & Spreckelsen (2020) train with `DSSGDEnsemble`, is
    ``DeidTagger(characters="bilstm", hidden_size=100, head=SoftmaxHead(projection_size=100),
    dropout=Dropout(input=0.5, output=0.0), span_swap=0.0, gradient_clip=None, weight_average=0.0)`` with word vectors
    of 300 dimensions as ``embeddings``. Differences remain: characters are learned vectors of 25 dimensions and 25
    units of each direction instead of one-hot vectors and 128 units, a word is also known by its casing and shape, and
    a sentence is read instead of a whole text.

    See Also
    --------
    NoteDeidentifier : Raw notes in, redacted notes out.

    References
    ----------
    Lample et al. (2016), Neural architectures for named entity recognition, NAACL.
    Ahmed et al. (2020), De-identification of electronic health record using neural network, Scientific Reports 10.
    Dernoncourt et al. (2017), De-identification of patient notes with recurrent neural networks, JAMIA 24(3).
    Friedrich et al. (2019), Adversarial learning of privacy-preserving text representations for de-identification of
    medical records, ACL, section 3.

    Examples
    --------
    >>> from sklearn_deid import DeidTagger
    >>> X = [["Mr", "Alder", "was", "seen"], ["No", "pain"]] * 8
    >>> y = [["O", "B-PATIENT", "O", "O"], ["O", "O"]] * 8
    >>> tagger = DeidTagger(hidden_size=16, batch_size=20, lr=0.01, random_state=0).fit(X, y)
    >>> tagger.predict([["Mr", "Alder", "was", "seen"]])[0]
    ['O', 'B-PATIENT', 'O', 'O']
    """

    _parameter_constraints: dict[str, list] = {
        "encoder": [
            StrOptions({"lstm", "gru", "gru-gru", "lstm-gru", "transformer"}),
            SelfAttention,
            PretrainedEncoder,
        ],
        "head": [StrOptions({"crf", "softmax"}), CRFHead, SoftmaxHead],
        "tag_scheme": [StrOptions({"iob2", "bioes"})],
        "characters": [StrOptions({"cnn", "bigru", "bilstm"}), None],
        "hidden_size": [Interval(Integral, 1, None, closed="left")],
        "n_layers": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "context": [StrOptions({"sentence", "window", "document"}), ContextWindow],
        "dropout": [Interval(Real, 0, 1, closed="left"), StrOptions({"auto"}), Dropout],
        "span_swap": [Interval(Real, 0, 1, closed="both")],
        "augmenter": [HasMethods(["fit_transform", "sample", "transform"]), None],
        "class_weight": [dict, StrOptions({"balanced"}), None],
        "recall_weight": [Interval(Real, 1, None, closed="left"), RecallWeight, None],
        "max_epochs": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "lr": [Interval(Real, 0, None, closed="neither")],
        "batch_size": [Interval(Integral, 1, None, closed="left")],
        "gradient_clip": [Interval(Real, 0, None, closed="neither"), None],
        "weight_average": [Interval(Real, 0, 1, closed="left")],
        "validation_fraction": [Interval(Real, 0, 1, closed="neither"), "cv_object", None],
        "patience": [Interval(Integral, 1, None, closed="left"), None],
        "mixed_precision": ["boolean", StrOptions({"auto"})],
        "verbose": ["verbose"],
        "random_state": ["random_state"],
        "warm_start": ["boolean"],
    }
    _skorch_defaults = {"optimizer": torch.optim.NAdam, "callbacks": None, "warm_start": False}

    # What the network reads; learned in `fit`.
    _pretrained: PretrainedFiles | None = None

    def __init__(
        self,
        *,
        encoder: Any = "lstm",
        head: Any = "crf",
        tag_scheme: str = "iob2",
        characters: str | None = "cnn",
        embeddings: Any = "auto",
        hidden_size: int = 128,
        n_layers: Any = "auto",
        context: Any = "sentence",
        dropout: Any = "auto",
        span_swap: float = 0.5,
        augmenter: Any = None,
        class_weight: Any = None,
        recall_weight: Any = None,
        max_epochs: Any = "auto",
        lr: float = 3e-3,
        batch_size: int = 900,
        gradient_clip: float | None = 1.0,
        weight_average: float = 0.998,
        validation_fraction: Any = None,
        patience: int | None = None,
        mixed_precision: Any = "auto",
        device: str = "auto",
        verbose: int = 0,
        random_state: Any = None,
        **skorch_parameters: Any,
    ) -> None:
        self.encoder, self.head, self.tag_scheme = encoder, head, tag_scheme
        self.characters, self.embeddings = characters, embeddings
        self.hidden_size, self.n_layers, self.context, self.dropout = hidden_size, n_layers, context, dropout
        self.span_swap, self.augmenter, self.class_weight = span_swap, augmenter, class_weight
        self.recall_weight, self.gradient_clip, self.weight_average = recall_weight, gradient_clip, weight_average
        self.validation_fraction, self.patience = validation_fraction, patience
        self.mixed_precision, self.random_state = mixed_precision, random_state
        super().__init__(
            module=TaggerModule,
            criterion=NoCriterion,
            lr=lr,
            max_epochs=max_epochs,
            batch_size=batch_size,
            train_split=None,  # of skorch, which splits sentences and not patients
            verbose=verbose,
            device=device,
            use_caching=False,
            **self._with_skorch_defaults(skorch_parameters),
        )

    def set_params(self, **params: Any) -> DeidTagger:
        """Set parameters, also settings of ``encoder``, ``head``, ``context``, ``dropout`` and ``recall_weight``.

        Examples
        --------
        >>> from sklearn_deid import DeidTagger
        >>> DeidTagger().set_params(dropout__input=0.1, context="window", context__size=3)
        DeidTagger(context=ContextWindow(size=3), dropout=Dropout(input=0.1))
        """
        super().set_params(**with_objects(self, params))
        return self

    def fit(self, X: Any, y: Any = None, *, groups: Any = None) -> DeidTagger:
        """Train on annotated sentences.

        Parameters
        ----------
        X : sequence of n sentences, `TokenSequences` or `TokenVectors`
        y : sequence of n tag sequences
            IOB2 tags, as long as their sentences.
        groups : array-like of shape (n,), optional
            Patient of each sentence; with ``validation_fraction`` a patient is on one side only.

        Returns
        -------
        self

        Raises
        ------
        SequenceError
            If X and y do not match, or hold no token.
        """
        self.check_parameters()
        X, tags, groups = self._checked(X, y, groups)
        self._rng = own_generator(self.random_state)
        with self._own_random_stream():
            if not (self.warm_start and self.initialized_):
                self._learn_inputs(self._fit_augmenter(X, tags, groups), tags, None)
                self.initialize()
            seed = int(self._rng.integers(2**31))
            train_rows, valid_rows = hold_out_patients(len(X), groups, self.validation_fraction, seed)
            train, valid = (
                None if rows is None else self._training_data(X, tags, groups, rows, held_out=rows is valid_rows)
                for rows in (train_rows, valid_rows)
            )
            assert train is not None
            self._train(train, valid)
        return self

    def partial_fit(self, X: Any, y: Any = None, classes: Any = None, *, groups: Any = None) -> DeidTagger:
        """Train one more epoch, at a constant learning rate.

        Parameters
        ----------
        X, y
            As for `fit`.
        classes : array-like of str, optional
            All IOB2 tags that will ever occur; needed at the first call where a later one brings new tags.
        groups : array-like of shape (n,), optional
            For an ``augmenter`` with groups.

        Raises
        ------
        SequenceError
            Also if y holds a tag that is not among ``classes``.
        """
        self.check_parameters()
        X, tags, groups = self._checked(X, y, groups)
        if not self.initialized_:
            self._rng = own_generator(self.random_state)
            with self._own_random_stream():
                self._learn_inputs(self._fit_augmenter(X, tags, groups), tags, classes)
                self.initialize()
        with self._own_random_stream():
            self._train(self._training_data(X, tags, groups), None, epochs=1)
        return self

    def predict(self, X: Any, return_confidence: bool = False) -> Any:
        """Tag sentences.

        Parameters
        ----------
        X : sequence of n sentences, as in `fit`
        return_confidence : bool, default=False
            Also return the probability of each chosen tag.

        Returns
        -------
        y : ndarray of shape (n,), dtype object
            One list of IOB2 tags for each sentence.
        confidence : ndarray of shape (n,), dtype object
            One float array for each sentence; only with ``return_confidence``.
        """
        dataset, table = self._tagging_data(X)
        tags: list[list[str]] = [[] for _ in range(len(dataset))]
        confidence = [np.zeros(0, dtype=np.float32) for _ in range(len(dataset) if return_confidence else 0)]
        for rows, batch, emissions in self._outputs(dataset, table):
            paths = self.module_.decode(emissions, batch.mask)
            for row, path in zip(rows, paths, strict=True):
                tags[row] = self._outer_tags(path)
            if return_confidence:
                # shape: (batch, time, n_classes)
                probabilities = self.module_.marginals(emissions, batch.mask).cpu().numpy()
                for i, (row, path) in enumerate(zip(rows, paths, strict=True)):
                    confidence[row] = probabilities[i, np.arange(len(path)), path]
        return (object_rows(tags), object_rows(confidence)) if return_confidence else object_rows(tags)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Marginal probability of each tag at each token.

        Parameters
        ----------
        X : sequence of n sentences, as in `fit`

        Returns
        -------
        ndarray of shape (n,), dtype object
            Of float32 arrays of shape (n_tokens, n_classes); columns as in ``classes_``.
        """
        dataset, table = self._tagging_data(X)
        out = [np.zeros((0, len(self.classes_)), dtype=np.float32) for _ in range(len(dataset))]
        for rows, batch, emissions in self._outputs(dataset, table):
            # shape: (batch, time, n_classes)
            probabilities = self.module_.marginals(emissions, batch.mask).cpu().numpy()
            for i, row in enumerate(rows):
                out[row] = probabilities[i, : dataset.lengths[row]].copy()
        return object_rows(out)

    # ---- built when the data are known

    def initialize_module(self) -> DeidTagger:
        """Build the network for the classes and the kind of X that `fit` saw."""
        self.module_ = build_tagger_module(self)
        return self

    def get_params_for_optimizer(self, prefix: str, named_parameters: Any) -> Any:
        """Also the learning rates of the layers of a pretrained encoder."""
        named = list(named_parameters)
        if self._pretrained is None:
            return super().get_params_for_optimizer(prefix, named)
        settings = self.encoder
        below = [(name, p) for name, p in named if name.startswith("encoder.")]
        args, kwargs = super().get_params_for_optimizer(prefix, [item for item in named if item not in below])
        below = [] if settings.frozen else below
        return ([*args[0], *layer_rates(below, settings.lr, settings.layer_decay)], *args[1:]), kwargs

    def _learn_inputs(self, X: RaggedArray, tags: TokenSequences, classes: Any) -> None:
        """Everything that depends on the data but is not trained by gradient."""
        known = {"O", *tags.data}
        if classes is not None:
            labels = {split_tag(str(tag))[1] for tag in classes} - {None}
            known |= {f"{prefix}-{label}" for label in labels for prefix in _PREFIXES[self.tag_scheme]}
        self.classes_ = np.array(sorted(known, key=lambda tag: (tag != "O", tag)), dtype=object)
        self._reads_words = isinstance(X, TokenSequences)
        self._vectors = None
        self._pretrained = None
        if isinstance(X, TokenVectors):
            self.n_features_in_ = X.d
            if isinstance(self.encoder, PretrainedEncoder):
                raise SequenceError("A PretrainedEncoder reads words; X holds vectors.")
        elif isinstance(self.encoder, PretrainedEncoder):
            self._pretrained = self.encoder.load_files()
        elif isinstance(X, TokenSequences):
            self._vectors = tagger_vectors(self.embeddings, X, self._rng)
        self._tag_weights = tag_weights(self.class_weight, tags, self.classes_)

    # ---- data in and out

    def check_parameters(self) -> None:
        """Raise scikit-learn's InvalidParameterError for the first parameter that is out of range."""
        check_constraints(self)
        check_strategies(self)

    def _checked(self, X: Any, y: Any, groups: Any) -> tuple[Any, TokenSequences, np.ndarray | None]:
        X = check_sequences(X)
        tags = inner_tags(check_tags(y, X), self.tag_scheme)
        if not len(X.data):
            raise SequenceError("X holds no token: there is nothing to train on.")
        return X, tags, check_groups(groups, len(X))

    def _fit_augmenter(self, X: Any, tags: TokenSequences, groups: np.ndarray | None) -> Any:
        """Fit a clone of the augmenter; the sentences as the network will first see them."""
        self.augmenter_: Any = None
        if self.augmenter is None:
            return X
        self.augmenter_ = clone(self.augmenter).set_params(random_state=int(self._rng.integers(2**31)))
        return self.augmenter_.fit_transform(X, tags, groups)

    def _augmented(self, X: Any, tags: TokenSequences, groups: np.ndarray | None) -> Any:
        """A new draw of the augmenter."""
        # Seeded anew for every draw: `sample` of a fixed seed would perturb all epochs alike.
        self.augmenter_.set_params(random_state=int(self._rng.integers(2**31)))
        return self.augmenter_.sample(X, tags, groups)

    def _arrays(self, X: RaggedArray) -> dict[str, Any]:
        if not isinstance(X, TokenSequences):
            return {"offsets": X.offsets, "vectors": X.data}
        words, distinct = distinct_words(X)
        if self._pretrained is not None:
            return {"offsets": X.offsets, "words": words, "features": self._pretrained.features(distinct)}
        features = word_features(distinct, characters=self.characters is not None, vectors=self._vectors)
        return {"offsets": X.offsets, "words": words, "features": features}

    def _units(self, X: RaggedArray) -> ContextUnits | None:
        """Which sentences are read together."""
        context = strategy("context", self.context)
        if context == "sentence" or not len(X):
            return None
        if X.documents is None:
            raise SequenceError(
                f"context={self.context!r} needs to know which sentences stand in one document. X of "
                "Corpus.to_sentences() knows it; else pass TokenSequences.from_rows(X).with_documents(document_ids)."
            )
        if context == "document":
            return ContextUnits.documents(X.documents)
        return ContextUnits.windows(X.documents, context.size)

    def _training_data(
        self, X: Any, tags: Any, groups: np.ndarray | None, rows: Any = slice(None), held_out: bool = False
    ) -> SentenceDataset:
        X, tags, groups = X[rows], tags[rows], None if groups is None else groups[rows]
        unknown = set(tags.data).difference(self.classes_)
        if unknown:
            raise SequenceError(
                f"y holds {len(unknown)} tags that are not among classes_, such as {min(unknown)!r}. "
                "Name all tags in 'classes' at the first call of partial_fit."
            )
        share = 0.0 if held_out else self.span_swap
        if self.augmenter_ is None:
            return SwappingDataset(
                tags, share, **self._arrays(X), tags=encode_tags(tags, self.classes_), units=self._units(X)
            )
        seen = self.augmenter_.transform(X) if held_out else self._augmented(X, tags, groups)
        redrawn = None if held_out else lambda: self._arrays(self._augmented(X, tags, groups))
        arrays = {**self._arrays(seen), "tags": encode_tags(tags, self.classes_), "units": self._units(X)}
        return SwappingDataset(tags, share, redrawn, **arrays)

    def _tagging_data(self, X: Any) -> tuple[SentenceDataset, Tensor | None]:
        """Sentences to tag, and the words encoded once for all batches."""
        self.check_is_fitted()
        X = check_sequences(X)
        units = self._units(X)
        if self.augmenter_ is not None and isinstance(X, TokenSequences):
            X = self.augmenter_.transform(X)
        if self._reads_words != isinstance(X, TokenSequences) and len(X.data):
            trained, given = ("tokens", "vectors") if self._reads_words else ("vectors", "tokens")
            raise SequenceError(f"This tagger was trained on {trained}; X holds {given}.")
        arrays = self._arrays(X)
        if self.module_.words is None:  # vectors, or sub-words, which only their sentence makes vectors of
            return SentenceDataset(**arrays, units=units), None
        features = arrays.pop("features")
        device = next(self.module_.parameters()).device
        self._set_training(False)
        with torch.inference_mode(), self._autocast():
            table = self.module_.encode_words({k: v.to(device) for k, v in features.items()})
        return SentenceDataset(**arrays, units=units), table

    def _outer_tags(self, path: list[int]) -> list[str]:
        tags = self.classes_[path].tolist()
        return repair_tags(tags if self.tag_scheme == "iob2" else convert_tags(tags, self.tag_scheme, "iob2"))

    def _held_out_f1(self, dataset: SentenceDataset) -> float:
        assert isinstance(dataset.tags, np.ndarray)
        gold = TokenSequences(self.classes_[dataset.tags], dataset.offsets)
        predicted: list[list[str]] = [[] for _ in range(len(dataset))]
        for rows, batch, emissions in self._outputs(dataset):
            for row, path in zip(rows, self.module_.decode(emissions, batch.mask), strict=True):
                predicted[row] = self.classes_[path].tolist()
        return float(phi_f1_score(gold, predicted))
