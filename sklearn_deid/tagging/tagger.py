"""`DeidTagger`: a sequence tagger with the scikit-learn interface and the skorch training loop."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
import torch
from sklearn.base import clone

from .._compat import HasMethods, Interval, StrOptions, check_constraints, with_objects
from .._randomness import own_generator
from ..exceptions import SequenceError
from ..sequences import (
    RaggedArray,
    TokenSequences,
    TokenVectors,
    check_groups,
    check_sequences,
    check_tags,
    representer_of,
)
from ..text.tags import sorted_tags, split_tag
from .invented_spans import InventedSpans, followed_by, invent_spans
from .layout_changes import LayoutChanges
from .marginals import TokenTagger
from .network import TaggerModule, build_tagger_module
from .network_size import chosen_size
from .note_augmenter import NoteAugmenter, default_augmenter
from .pretrained_encoder import PretrainedEncoder
from .recall_weight import RecallWeight
from .splits import hold_out_patients
from .strategies import (
    LONG_FORMS,
    ContextBlock,
    ContextWindow,
    CRFHead,
    Dropout,
    SelfAttention,
    SoftmaxHead,
    SpanSwap,
    check_strategies,
    strategy,
)
from .tagger_data import (
    AlteredCopies,
    GrowingFeatures,
    SwappingDataset,
    check_labels,
    encode_tags,
    inner_tags,
    tag_weights,
    tagger_vectors,
)
from .tagging_net import TaggingNet
from .training_loop import NoCriterion
from .uniform_casing import NO_CASING, lower_uniform_casing
from .warm_start import (
    STARTER_BIAS,
    check_is_another,
    check_reads_words,
    compared_tags,
    is_in_another_language,
    is_starter,
    loaded_start,
    start_tagger,
    start_vectors,
    start_weights,
    took_public_weights,
    unseen_labels,
)
from .weight_checks import class_problem

_PREFIXES = {"iob2": "BI", "bioes": "BIES"}

_ENCODERS = {"lstm", "gru", "gru-gru", "lstm-gru", "transformer"}


class DeidTagger(TokenTagger, TaggingNet):
    """Tag the tokens of sentences with types of protected health information.

    The features of a word are its characters, its shape, its casing and, unless ``embeddings`` is None, a word vector.
    A bidirectional recurrent network reads the sentence, and a conditional random field (CRF) chooses the tag sequence.
    If X is a `TokenVectors`, the network reads the vectors of X instead of words. X may hold a public tagger, trained
    by the provider of the vectors (``X.tagger``). If the network of the public tagger has the same shape as the new
    network, `fit` starts from the weights of the public tagger, with 30 % of the learning rate. Weights of tags that
    the public tagger does not have start at random. With ``X.with_tagger(None)``, all weights start at random.

    By default the fitted tagger stores no word of the training notes: the network reads words as characters and hashed
    character n-grams.

    The tagger is a `skorch.NeuralNet`. ``callbacks``, ``optimizer__weight_decay`` and ``history`` work as documented in
    skorch. Callbacks that score data (`skorch.callbacks.EpochScoring`), and the methods of skorch for its own data sets
    and networks, such as ``initialize``, ``forward`` and ``load_params``, are not supported. Use
    ``validation_fraction``, `predict_proba`, and `save` and `load` instead.

    Parameters
    ----------
    encoder : {"lstm", "gru", "gru-gru", "lstm-gru", "transformer"}, SelfAttention or PretrainedEncoder, default="lstm"
        Network that reads the sentence. "lstm" and "gru" are bidirectional recurrent layers, "gru-gru" and "lstm-gru"
        are stacks of two such layers. "transformer" means ``SelfAttention()``: self-attention trained from scratch.
        With a `PretrainedEncoder`, the parameters ``characters``, ``embeddings``, ``hidden_size`` and ``n_layers`` have
        no effect.
    head : {"crf", "softmax"}, CRFHead or SoftmaxHead, default="crf"
        Output layer. "crf" means ``CRFHead()``, which decides the tags of a sentence together. "softmax" means
        ``SoftmaxHead()``, which decides the tag of each token separately.
    tag_scheme : {"iob2", "bioes"}, default="iob2"
        Tag scheme inside the network. The tags in y and the predicted tags are always IOB2.
    characters : {"cnn", "bigru", "bilstm", None}, default="cnn"
        Network that reads the characters of a word. With None, the tagger reads neither the characters nor the shape
        of the word. Ignored if X is a `TokenVectors`.
    embeddings : None, "auto", "corpus", "glove-6b-50d", path, WordVectors or KeyedVectors, default="auto"
        Fixed word vectors, read together with the characters. "auto" trains vectors of hashed character n-grams on
        words of X outside of PHI. Only words of at least two patients are used; without ``groups``, each document
        counts as a patient, and without documents, each sentence. These vectors store no word of X. The network also
        reads which public lists contain the word, such as lists of given names, surnames and towns in the language of
        X. The lists come from Faker and are stored as hashes. "corpus" trains vectors of whole words on X and warns,
        because these vectors store the words of X.
    hidden_size : int or "auto", default="auto"
        Number of units of each direction of the recurrent network. The width of self-attention is twice
        ``hidden_size``. "auto" is the number of units of the model in ``warm_start_from``, or 128 without a model.
    n_layers : int or "auto", default="auto"
        Number of layers. With "gru-gru" and "lstm-gru", number of two-layer stacks. "auto" is the number of layers of
        the model in ``warm_start_from``. Without a model, "auto" is 4 for self-attention and 1 for the other encoders.
        Friedrich et al. (2019) used 2 layers of 128 units.
    context : {"sentence", "block", "window", "document"}, ContextBlock or ContextWindow, default="sentence"
        Text that the encoder reads to tag a sentence. "sentence" is the sentence alone. "block" means
        ``ContextBlock()``: consecutive sentences of up to 64 tokens together, as in the default tagger of
        `NoteDeidentifier`. "window" means ``ContextWindow()``: the sentence and two sentences on either side.
        "document" is the whole document. The loss and the predictions cover each sentence once; neighbouring sentences
        are input only. All values except "sentence" need the document of each sentence. `Corpus.to_sentences` and
        `NoteDeidentifier` provide the documents; use `TokenSequences.with_documents` for other data. With "block" and
        "document" the encoder reads every token once, with "window" once for each window that contains the token.
    dropout : float in [0, 1), Dropout or "auto", default="auto"
        Variational dropout before, between and after the layers. A float sets all three rates. "auto" means
        ``Dropout()`` with the rates 0.25, 0.25 and 0.5.
    span_swap : float in [0, 1] or SpanSwap, default=0.5
        Probability that a PHI span of the training data is replaced by another span of the same label. The other span
        comes from the training data or is invented. `fit` draws the replacements anew in each epoch. Swapped spans
        teach the tagger to read the context instead of remembering names. A float means ``SpanSwap(share)``.
    augmenter : "auto", NeighborPseudonymizer or another perturbing transformer, or None, default="auto"
        Transformer that perturbs the training sentences anew in each epoch. "auto" means a `NoteAugmenter` if the
        network reads words with characters or word vectors, and None if X is a `TokenVectors` or the encoder is a
        `PretrainedEncoder`. The "auto" augmenter copies enough documents for about 15 batches an epoch, but at least a
        tenth and at most a third of the documents. A `NoteAugmenter` adds altered copies to the training sentences.
        With another augmenter, the network reads only perturbed sentences, never the original sentences. `predict` and
        `predict_proba` call ``augmenter_.transform`` before they tag sentences. The tagger fits a clone of the
        augmenter and seeds the clone from the ``random_state`` of the tagger.
    class_weight : dict, "balanced" or None, default=None
        Weight of each tag in the loss, at least 0. The tags have the prefixes of ``tag_scheme``, such as "B-DATE". Tags
        that are missing in the dict have weight 1. `fit` warns of keys that are not tags of the network.
    recall_weight : float of at least 1, RecallWeight or None, default=None
        Extra weight of sentences with missed PHI in the loss. The parameter is delta_p of Ahmed et al. (2020), with
        values from 2 to 10 in the paper. A float w means ``RecallWeight(w)``. None is the unweighted loss.
    max_epochs : int or "auto", default="auto"
        Number of passes over the data. "auto" is the smallest number from 20 to 100 with at least 2,000 training
        batches in total, or 100 if 100 epochs have fewer batches. With a `NoteAugmenter`, 3,000 instead of 2,000
        batches are needed. If the training starts from a model in the language of X (``warm_start_from``), 200 batches
        are needed. If the training starts from the public tagger of X, "auto" is the number of epochs with about 1,000
        batches in total, between 2 and 20.
    lr : float, default=3e-3
        Highest learning rate. `fit` raises the learning rate over the first batches and then lowers the learning rate
        linearly to zero.
    batch_size : int, default=900
        Number of tokens (not sentences) of a training batch, padding and context included.
    gradient_clip : float or None, default=1.0
        Largest norm of the gradient of a batch. None switches clipping off.
    weight_average : float in [0, 1), default=0.998
        Decay of the moving average of the weights. The fitted tagger uses the averaged weights. 0 switches averaging
        off.
    warm_start_from : "starter-en", path, fitted model or None, default=None
        Model whose weights the training starts from, with 60 % of the learning rate. The value is the name of a model
        of the package, the folder of a saved model, or a fitted model. Wrap a fitted model in a `FrozenEstimator` if
        the tagger is cloned. The network of the model must have the same shape as the new network. The n-gram vectors
        of the model replace ``embeddings``. With ``embeddings="auto"``, the public lists of the language of X are added
        if the model has no lists. The labels of y may differ from the labels of the model. The weights of a new label
        start from the weights of another label: the label that the model most often assigns to tokens with the new
        label. `fit` keeps labels of the model that are not in y if the model finds no PHI of these labels in X, because
        a few notes do not contain all kinds of PHI. After a training from a model of the package, the score of "O" is
        lowered by 1. If X is in another language than the training texts of this model, the training is as long as
        without a model and uses invented spans (``span_swap``). Without these changes, a tagger trained on a few notes
        misses more PHI.
    validation_fraction : None, float in (0, 1) or scikit-learn splitter, default=None
        Proportion of patients (``groups`` of `fit`) held out to measure F1 after each epoch. `fit` restores the weights
        of the best epoch. With a splitter, the tagger uses the first split. None holds no patient out.
    patience : int or None, default=None
        Number of epochs without a better F1 on the held-out patients after which training stops. Needs
        ``validation_fraction``. None never stops early.
    mixed_precision : bool, "auto" or "training", default="auto"
        Whether the network computes in bfloat16. The CRF always computes in float32. "auto" means bfloat16 in training,
        on CUDA devices that support bfloat16. With a `PretrainedEncoder`, "auto" means bfloat16 also in prediction on
        these devices. All other numbers are computed in float32, so that tags depend little on the device. "training"
        adds bfloat16 in the layers of ``encoder="lstm"`` during training, on processors with fast bfloat16 (AVX-512
        BF16 or AMX). On these processors, a training with "training" takes four fifths of the time, and F1 may be 0.1
        points lower. Other processors compute in float32.
    device : str, default="auto"
        Torch device. "auto" is CUDA if a CUDA device is available, else the CPU.
    random_state : int, RandomState or None, default=None
        Random seed of weights, dropout, batches and span swapping. The tagger does not change the state of the global
        random generators. Trainings in several threads of a process therefore run one after the other.
    **skorch_parameters
        Parameters of skorch. ``optimizer``: a torch optimizer class, default `torch.optim.NAdam`. ``callbacks``: a list
        of skorch callbacks, default None. Callbacks that change the learning rate, such as
        `skorch.callbacks.LRScheduler`, have an effect only with ``callbacks__lr_decay=None``. ``warm_start``: whether
        `fit` continues from the weights of the last `fit`, default False. The parameters of the network, such as
        ``hidden_size``, ``encoder``, ``embeddings`` and ``augmenter``, then keep their effect of the first `fit`.
        ``verbose``: 0 (default) prints nothing, 1 prints a line for each epoch, 2 adds a progress bar. Nested
        parameters such as ``optimizer__weight_decay`` are possible.

    Attributes
    ----------
    augmenter_ : transformer or None
        Fitted clone of ``augmenter``.
    classes_ : ndarray of shape (n_classes,)
        Tags of the network, in the order of the columns of `predict_proba`.
    n_features_in_ : int
        Width of the token vectors. Exists only if X was a `TokenVectors`.
    history_ : skorch.history.History
        Metrics of each epoch.
    module_ : TaggerModule
        Fitted network.
    lowers_uniform_casing_ : bool
        Whether the network reads documents in capitals and in Title Case in lower case. True after training with a
        `NoteAugmenter`. Has an effect only if X holds the document of each sentence (``X.documents``).
    marks_uniform_casing_ : bool
        Whether the network reads a mark at each word of documents in capitals, in Title Case and in lower case.
    continues_spans_ : bool
        Whether a span of the network may continue in the next sentence. True after training with a `NoteAugmenter` that
        breaks lines. `predict` begins a new span with each sentence in any case.
    note_memory_ : NoteMemory or None
        Counts of how often a repeated word of a training note is PHI at all its places in the note. The words are not
        stored. With the memory, the probability of PHI of a word rises if the tagger is sure that the word is PHI at
        another place of the note. None if X has no documents, or if only `partial_fit` was called. Set the attribute to
        None to tag each sentence without the other sentences of the note.
    hidden_size_, n_layers_ : int
        Size of the network: `fit` replaces "auto" by numbers.
    starts_from_tagger_ : bool
        Whether the training started from ``warm_start_from`` or from the public tagger of X.
    learns_another_language_ : bool
        Whether the training started from a model of the package, and the model was trained on texts in another language
        than X.

    Notes
    -----
    The network of Friedrich et al. (2019), table 1, is ``DeidTagger(n_layers=2, hidden_size=128, characters=None,
    embeddings="glove-6b-50d", dropout=Dropout(input=0.1), span_swap=0.0, weight_average=0.0)``.

    The network of Dernoncourt et al. (2017), which Festag & Spreckelsen (2020) train with `DSSGDEnsemble`, is
    ``DeidTagger(characters="bilstm", hidden_size=100, head=SoftmaxHead(projection_size=100), dropout=Dropout(input=0.5,
    output=0.0), span_swap=0.0, gradient_clip=None, weight_average=0.0)`` with word vectors of 300 dimensions as
    ``embeddings``. Three differences remain. The character network reads learned vectors of 25 dimensions with 25 units
    of each direction, instead of one-hot vectors with 128 units. The features of a word include casing and shape. The
    network reads a sentence instead of a whole text.

    See Also
    --------
    NoteDeidentifier : Finds and redacts PHI in raw notes with a tagger.
    RecallTunedTagger : Tunes the decision threshold of a tagger to a target recall.
    HybridTagger : Combines a tagger with rules.

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
        "encoder": [StrOptions(_ENCODERS), SelfAttention, PretrainedEncoder],
        "head": [StrOptions({"crf", "softmax"}), CRFHead, SoftmaxHead],
        "tag_scheme": [StrOptions({"iob2", "bioes"})],
        "characters": [StrOptions({"cnn", "bigru", "bilstm"}), None],
        "hidden_size": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "n_layers": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "context": [StrOptions({"sentence", "block", "window", "document"}), ContextBlock, ContextWindow],
        "dropout": [Interval(Real, 0, 1, closed="left"), StrOptions({"auto"}), Dropout],
        "span_swap": [Interval(Real, 0, 1, closed="both"), SpanSwap],
        "augmenter": [HasMethods(["fit_transform", "sample", "transform"]), StrOptions({"auto"}), None],
        "class_weight": [dict, StrOptions({"balanced"}), None],
        "recall_weight": [Interval(Real, 1, None, closed="left"), RecallWeight, None],
        "max_epochs": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "lr": [Interval(Real, 0, None, closed="neither")],
        "batch_size": [Interval(Integral, 1, None, closed="left")],
        "gradient_clip": [Interval(Real, 0, None, closed="neither"), None],
        "weight_average": [Interval(Real, 0, 1, closed="left")],
        "validation_fraction": [Interval(Real, 0, 1, closed="neither"), "cv_object", None],
        "patience": [Interval(Integral, 1, None, closed="left"), None],
        "mixed_precision": ["boolean", StrOptions({"auto", "training"})],
        "verbose": ["verbose"],
        "random_state": ["random_state"],
        "warm_start": ["boolean"],
        "optimizer": [callable],
        "callbacks": [list, StrOptions({"disable"}), None],
    }
    _skorch_defaults = {"optimizer": torch.optim.NAdam, "callbacks": None, "warm_start": False, "verbose": 0}

    # As an attribute of the class: taggers of earlier versions have no such attribute.
    starts_from_tagger_ = False
    learns_another_language_ = False
    # The same, for spans that lines break.
    continues_spans_ = False

    def __init__(
        self,
        *,
        encoder: Any = "lstm",
        head: Any = "crf",
        tag_scheme: str = "iob2",
        characters: str | None = "cnn",
        embeddings: Any = "auto",
        hidden_size: Any = "auto",
        n_layers: Any = "auto",
        context: Any = "sentence",
        dropout: Any = "auto",
        span_swap: Any = 0.5,
        augmenter: Any = "auto",
        class_weight: Any = None,
        recall_weight: Any = None,
        max_epochs: Any = "auto",
        lr: float = 3e-3,
        batch_size: int = 900,
        gradient_clip: float | None = 1.0,
        weight_average: float = 0.998,
        warm_start_from: Any = None,
        validation_fraction: Any = None,
        patience: int | None = None,
        mixed_precision: Any = "auto",
        device: str = "auto",
        random_state: Any = None,
        **skorch_parameters: Any,
    ) -> None:
        self.encoder, self.head, self.tag_scheme = encoder, head, tag_scheme
        self.characters, self.embeddings = characters, embeddings
        self.hidden_size, self.n_layers, self.context, self.dropout = hidden_size, n_layers, context, dropout
        self.span_swap, self.augmenter, self.class_weight = span_swap, augmenter, class_weight
        self.recall_weight, self.gradient_clip, self.weight_average = recall_weight, gradient_clip, weight_average
        self.warm_start_from = warm_start_from
        self.validation_fraction, self.patience = validation_fraction, patience
        self.mixed_precision, self.random_state = mixed_precision, random_state
        super().__init__(
            module=TaggerModule,
            criterion=NoCriterion,
            lr=lr,
            max_epochs=max_epochs,
            batch_size=batch_size,
            # The train_split of skorch splits sentences; `fit` splits patients instead.
            train_split=None,
            device=device,
            use_caching=False,
            **self._with_skorch_defaults(skorch_parameters),
        )

    def set_params(self, **params: Any) -> DeidTagger:
        """Set parameters, including nested ones of ``encoder``, ``head``, ``context``, ``dropout``, ``recall_weight``.

        Examples
        --------
        >>> from sklearn_deid import DeidTagger
        >>> DeidTagger().set_params(dropout__input=0.1, context="window", context__size=3)
        DeidTagger(context=ContextWindow(size=3), dropout=Dropout(input=0.1))
        """
        super().set_params(**with_objects(self, params, LONG_FORMS))
        return self

    def fit(self, X: Any, y: Any = None, *, groups: Any = None) -> DeidTagger:
        """Train on annotated sentences.

        Parameters
        ----------
        X : sequence of n sentences, `TokenSequences` or `TokenVectors`
            Sentences as lists of tokens, or as arrays of token vectors.
        y : sequence of n tag sequences
            IOB2 tags. Each tag sequence is as long as its sentence.
        groups : array-like of shape (n,), optional
            Patient of each sentence. With ``validation_fraction``, the sentences of a patient are either all held out
            or all used for training.

        Returns
        -------
        self

        Raises
        ------
        SequenceError
            If X and y do not match, X contains no token, or y contains no tag of PHI. With ``validation_fraction``,
            also if the held-out patients or the other patients have no PHI.
        TrainingDivergedError
            If the loss or the weights are not finite, or too large. The message names the parameter to change.

        Warns
        -----
        TrainingInterruptedWarning
            If Ctrl-C ended the training after the first epoch. Ctrl-C during the first epoch raises KeyboardInterrupt.
        """
        self.check_parameters()
        X, tags, groups = self._checked(X, y, groups)
        self._rng = own_generator(self.random_state)
        # With warm_start the classes and word vectors of the first fit stay, and only the weights are trained further.
        goes_on = self.warm_start and self.initialized_
        if goes_on:
            self._check_like_training(X)
            self._tag_weights = tag_weights(self.class_weight, tags, self.classes_)
        with self._own_random_stream(), self._forgotten_if_failed(not goes_on):
            if not goes_on:
                self._begin(X, tags, groups, None, keeps=True)
            # The seed is drawn in any case, so that validation_fraction does not change the later random numbers.
            seed = int(self._rng.integers(2**31))
            train_rows, valid_rows = hold_out_patients(len(X), groups, self.validation_fraction, seed, tags)
            train, valid = (
                None if rows is None else self._training_data(X, tags, groups, rows, held_out=rows is valid_rows)
                for rows in (train_rows, valid_rows)
            )
            assert train is not None
            self._train(train, valid)
            if is_starter(self.warm_start_from) and not goes_on:
                with torch.no_grad():
                    self.module_.emit.bias[0] -= STARTER_BIAS
            self._learn_memory(X[train_rows], tags[train_rows])
        return self

    def partial_fit(self, X: Any, y: Any = None, classes: Any = None, *, groups: Any = None) -> DeidTagger:
        """Train one more epoch with a constant learning rate.

        Parameters
        ----------
        X, y
            Sentences and tags, as in `fit`.
        classes : array-like of str, optional
            All IOB2 tags of all calls. Needed at the first call if later calls contain further tags.
        groups : array-like of shape (n,), optional
            Patient of each sentence, for an ``augmenter`` that needs groups.

        Returns
        -------
        self

        Raises
        ------
        SequenceError
            If X and y do not match, or X contains no token. Also if the first y and ``classes`` contain no tag of PHI,
            or y contains a tag that is not in ``classes``.
        TrainingDivergedError
            If the loss or the weights are not finite, or too large.
        """
        self.check_parameters()
        X, tags, groups = self._checked(X, y, groups)
        is_first = not self.initialized_
        with self._forgotten_if_failed(is_first):
            if is_first:
                self._rng = own_generator(self.random_state)
                with self._own_random_stream():
                    self._begin(X, tags, groups, classes, keeps=False)
            else:
                self._check_like_training(X)
                check_labels(classes, self.classes_)
            with self._own_random_stream():
                self._train(self._training_data(X, tags, groups), None, epochs=1)
        return self

    # ---- the network, built when the data are known

    def initialize_module(self) -> DeidTagger:
        """Build the network for the classes and the kind of X (tokens or vectors) of `fit`."""
        self.module_, self._reads_context = build_tagger_module(self), self.context != "sentence"
        return self

    def _begin(self, X: Any, tags: TokenSequences, groups: np.ndarray | None, classes: Any, keeps: bool) -> None:
        """Learn the inputs of the network and build the network, with new weights or the weights of another tagger.

        With ``keeps``, labels of the other tagger that do not occur in the sentences are kept.
        """
        start = None
        self.learns_another_language_ = False
        if self.warm_start_from is not None:
            check_reads_words(X)
            self.learns_another_language_ = is_in_another_language(self.warm_start_from, X)
            model = loaded_start(self.warm_start_from)
            start = start_tagger(model)
            compared = compared_tags(start, X, tags)
            kept = unseen_labels(model, start, tags, compared[1]) if keeps else {}
            classes = [f"B-{label}" for label in kept] if keeps else classes
        self._learn_inputs(self._fit_augmenter(X, tags, groups), tags, classes, start, groups)
        # A network that starts from weights without marks would have to learn the meaning of the marks.
        knows_marks = self._pretrained is None and (start is None or start.marks_uniform_casing_)
        self.marks_uniform_casing_ = self.lowers_uniform_casing_ and knows_marks
        self.continues_spans_ = self._broken_lines() > 0
        self.initialize()
        self.starts_from_tagger_ = start is not None or took_public_weights(self, X)
        if start is not None:
            start_weights(self, start, *compared, kept)

    def _learn_inputs(self, X: RaggedArray, tags: TokenSequences, classes: Any, start: Any, groups: Any) -> None:
        """Learn all inputs of the network that need no gradient: classes, word vectors, tokenizer, tag weights."""
        known = {"O", *tags.data}
        # A part of the data may lack some prefixes of a label, so that each label of 'classes' adds all its prefixes.
        if classes is not None:
            labels = {split_tag(str(tag))[1] for tag in classes} - {None}
            known |= {f"{prefix}-{label}" for label in labels for prefix in _PREFIXES[self.tag_scheme]}
        # "O" is always class 0: the recall weight counts PHI as tags above 0.
        self.classes_ = np.array(sorted_tags(known), dtype=object)
        self._reads_words = isinstance(X, TokenSequences)
        self._vectors = None
        self._pretrained = None
        self._vectors_from = representer_of(X)
        if isinstance(X, TokenVectors):
            self.n_features_in_ = X.d
            if isinstance(self.encoder, PretrainedEncoder):
                raise SequenceError("A PretrainedEncoder reads words. X holds vectors.")
        elif isinstance(self.encoder, PretrainedEncoder):
            self._pretrained = self.encoder.load_files()
        elif isinstance(X, TokenSequences):
            embeddings = self.embeddings if start is None else start_vectors(start, self.embeddings, X)
            self._vectors = tagger_vectors(embeddings, X, self._rng, tags, groups)
        problem = class_problem(self.classes_)
        if problem is not None:
            raise SequenceError(f"{problem} Pass y with annotated PHI, or name all tags in 'classes' of partial_fit.")
        self._tag_weights = tag_weights(self.class_weight, tags, self.classes_)
        self.hidden_size_, self.n_layers_ = chosen_size(self, start)

    # ---- data in and out

    def check_parameters(self) -> None:
        """Raise scikit-learn's InvalidParameterError for the first parameter that is out of range."""
        check_constraints(self)
        self._autocast()  # refuses what the device cannot compute, before the word vectors are trained
        check_strategies(self)
        check_is_another(self.warm_start_from, self)

    def _checked(self, X: Any, y: Any, groups: Any) -> tuple[Any, TokenSequences, np.ndarray | None]:
        """Check X, y and groups, and convert the tags to the tag scheme of the network."""
        X = check_sequences(X)
        tags = inner_tags(check_tags(y, X), self.tag_scheme)
        if not len(X.data):
            raise SequenceError("X holds no token: there is nothing to train on.")
        return X, tags, check_groups(groups, len(X))

    def _fit_augmenter(self, X: Any, tags: TokenSequences, groups: np.ndarray | None) -> Any:
        """Fit a clone of the augmenter and return the perturbed sentences."""
        self.augmenter_: Any = None
        augmenter = self.augmenter
        if isinstance(augmenter, str):
            reads_words = isinstance(X, TokenSequences) and not isinstance(self.encoder, PretrainedEncoder)
            augmenter = default_augmenter(len(X.data), self.batch_size) if reads_words else None
        # A network that has read no lower case would find less in notes that are read in lower case.
        self.lowers_uniform_casing_ = (
            isinstance(augmenter, NoteAugmenter) and augmenter.copies * augmenter.lower_case > 0
        )
        if augmenter is None:
            return X
        # The clone leaves the augmenter of the user unfitted.
        self.augmenter_ = clone(augmenter).set_params(random_state=int(self._rng.integers(2**31)))
        return self._as_long(X, self.augmenter_.fit_transform(X, tags, groups))

    def _augmented(self, X: Any, tags: TokenSequences | None, groups: np.ndarray | None) -> Any:
        """Return sentences that the augmenter has perturbed with new random numbers."""
        # A new seed for every draw: with a fixed seed, `sample` would perturb all epochs in the same way.
        self.augmenter_.set_params(random_state=int(self._rng.integers(2**31)))
        return self._as_long(X, self.augmenter_.sample(X, tags, groups))

    def _training_data(
        self, X: Any, tags: Any, groups: Any, rows: Any = slice(None), held_out: bool = False, n_invented: Any = None
    ) -> SwappingDataset:
        """Data set of the chosen rows, with ``n_invented`` invented spans (None: the number set in ``span_swap``)."""
        X, tags, groups = X[rows], tags[rows], None if groups is None else groups[rows]
        unknown = set(tags.data).difference(self.classes_)
        if unknown:
            raise SequenceError(
                f"y holds {len(unknown)} tags that are not among classes_, such as {min(unknown)!r}. "
                "Name all tags in 'classes' at the first call of partial_fit."
            )
        adds_copies = isinstance(self.augmenter_, NoteAugmenter) and not held_out
        perturbs = self.augmenter_ is not None and not adds_copies
        invented = None if held_out or perturbs else self._invented(X, tags, groups, n_invented)
        if self.lowers_uniform_casing_:
            X = lower_uniform_casing(X, self.marks_uniform_casing_)
        context, given = strategy("context", self.context), {"offsets": X.offsets, "units": self._units(X)}
        if isinstance(context, ContextBlock) and context.random_borders and not held_out:
            given["moved"] = lambda rng: self._units(X, rng)
        seen, seen_tags = X, tags
        if invented is not None:
            seen, seen_tags, given["more"] = followed_by(X, tags, invented)
        elif perturbs and held_out:
            # As in `predict`. These sentences stay the same in all epochs.
            seen = self._as_long(X, self.augmenter_.transform(X))
        elif perturbs:
            seen = self._augmented(X, tags, groups)
            given["redrawn"] = lambda: self._arrays(self._augmented(X, tags, groups))
        given["copies"] = self._copies(X, seen.data) if adds_copies else None
        share = 0.0 if held_out else strategy("span_swap", self.span_swap).share
        return SwappingDataset(tags, share, tags=encode_tags(seen_tags, self.classes_), **self._arrays(seen), **given)

    def _invented(self, X: Any, tags: Any, groups: Any, n: int | None) -> InventedSpans | None:
        """Return ``n`` invented spans for swapping, or the number set in ``span_swap`` if n is None; None without
        invented spans."""
        swap = strategy("span_swap", self.span_swap)
        if n is None:
            # A tagger from which the training starts has read more names of its language than could be invented.
            n = 0 if self.starts_from_tagger_ and not self.learns_another_language_ else swap.invented
        swaps = n and swap.share and isinstance(X, TokenSequences)
        return invent_spans(X, tags, groups, n, self._rng) if swaps else None

    def _copies(self, X: TokenSequences, tokens: np.ndarray) -> AlteredCopies:
        """Copies of training sentences in other casings and layouts, and with errors."""
        augmenter: NoteAugmenter = self.augmenter_
        by_sentence = strategy("context", self.context) == "sentence"
        layout = LayoutChanges(tokens, self.classes_, augmenter.lost_punctuation, self._broken_lines())
        arrays: Any = GrowingFeatures(self._features)
        if self._pretrained is not None:
            # A pretrained encoder splits words into any number of parts, which do not grow by rows.
            def arrays(tokens: np.ndarray) -> dict[str, Any]:
                return self._arrays(TokenSequences(tokens, np.array([0, len(tokens)])))

        # A sentence that is read alone has a casing of its own; sentences that are read together have the same casing.
        def written(copies: TokenSequences) -> TokenSequences:
            augmenter.set_params(random_state=int(self._rng.integers(2**31)))
            drawn, lowered = augmenter.draw(TokenSequences(copies.data, copies.offsets) if by_sentence else copies)
            if self.marks_uniform_casing_:
                # shape: (n_tokens,)
                marked = np.repeat(lowered, drawn.lengths)
                drawn.data[marked] = [NO_CASING + token for token in drawn.data[marked]]
            return drawn

        return AlteredCopies(X, augmenter.copies, written, arrays, layout, self._units, tokens)

    def _broken_lines(self) -> float:
        """Share of copies with line breaks at other places than in the note."""
        # A part of a line, read alone, often shows too little to be tagged.
        reads_alone = strategy("context", self.context) == "sentence"
        has_copies = isinstance(self.augmenter_, NoteAugmenter) and self.augmenter_.copies > 0
        return 0.0 if reads_alone or not has_copies else self.augmenter_.line_breaks
