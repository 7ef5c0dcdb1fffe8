"""`DeidTagger`: a sequence tagger with the interface of scikit-learn and the engine of skorch."""

from __future__ import annotations

from typing import Any

import torch

from .._compat import check_constraints
from .._randomness import own_generator
from .network import TaggerModule
from .splits import hold_out_patients
from .tagger_parameters import TAGGER_CONSTRAINTS
from .tagging_net import TaggingNet
from .training_loop import NoCriterion

__all__ = ["DeidTagger"]


class DeidTagger(TaggingNet):
    """Tag the tokens of sentences with types of protected health information.

    A word is seen as its characters, its shape and its casing (and a vector, if ``embeddings`` are given); a
    bidirectional recurrent network reads the sentence; a conditional random field chooses the tag sequence. Where X is
    a `TokenVectors`, its vectors are read instead of words. The tagger is a `skorch.NeuralNet`: ``callbacks``,
    ``optimizer__weight_decay``, ``history`` and the like work as documented there.

    By default no word of the training notes is stored: words are read by their characters and hashed n-grams.

    Parameters
    ----------
    encoder : {"lstm", "gru", "gru-gru", "lstm-gru", "transformer", "pretrained"}, default="lstm"
        What reads the sentence: bidirectional recurrent cells, two such layers one on the other, or self-attention that
        is trained from scratch (rotary positions; wants a smaller ``lr``, such as 5e-4). "pretrained" is what
        ``pretrained`` names; characters, vectors and the sizes of layers then do not matter.
    pretrained : str, path, PretrainedEncoder or None, default=None
        Folder of a Hugging Face encoder or its name on the hub, or a `PretrainedEncoder` that also says how it is read
        and trained. Needs the extra ``transformers``.
    head : {"crf", "softmax"}, default="crf"
        Whether tags of neighbouring tokens are decided together.
    constrained : bool, default=True
        Whether the CRF knows which tags may follow one another: illegal sequences then have no probability and are
        never chosen. Without it such sequences are repaired after decoding. Nothing changes for ``head="softmax"``.
    tag_scheme : {"iob2", "bioes"}, default="iob2"
        Tags that the network uses inside. X's tags and predictions are IOB2 in any case.
    characters : {"cnn", "bigru", "bilstm", None}, default="cnn"
        How the characters of a word are read; with None its shape is not read either. Ignored where X is a
        `TokenVectors`.
    embeddings : None, "auto", "corpus", "glove-6b-50d", path, WordVectors or KeyedVectors, default="auto"
        Fixed word vectors beside the characters. "auto" trains vectors of hashed character n-grams on X; they hold no
        word of X. "corpus" trains vectors of whole words and warns, since those hold the words of X.
    hidden_size : int, default=128
        Units of each direction; self-attention is twice as wide.
    n_layers : int or "auto", default="auto"
        Layers, or how often a stack of two is stacked; "auto" is 4 for self-attention and 1 for the others. Friedrich
        et al. (2019) used 2 of 128.
    n_heads : int, default=4
        Heads of self-attention; 2 * ``hidden_size`` must be a multiple of 2 * ``n_heads``.
    projection_size : int or None, default=None
        Units of a tanh layer between what reads the sentence and the scores of the tags; None is none.
    context : {"sentence", "window", "document"}, default="sentence"
        What is read to tag a sentence: itself, also ``context_size`` sentences on either side, or the whole document.
        Only the sentence itself has tags, in training and after. X must know its documents then, as that of
        `Corpus.to_sentences` and that in a `NoteDeidentifier` do (`TokenSequences.with_documents` for others).
        "document" reads every token once, "window" once for each window that it stands in.
    context_size : int, default=2
        Sentences on either side, for ``context="window"``.
    input_dropout, layer_dropout, output_dropout : float in [0, 1), default=0.25, 0.25, 0.5
        Variational dropout before, between and after the layers; one mask for a whole sentence.
    span_swap : float in [0, 1], default=0.5
        Share of the PHI spans of the training data that change places with another span of the same label, drawn anew
        in each epoch; it teaches the tagger to read the context instead of remembering names.
    augmenter : NeighborPseudonymizer or one of its siblings, optional
        Perturbs the training sentences, anew in each epoch; the network never sees them as they are. Sentences to be
        tagged go through its ``transform``. It is cloned, and draws from this tagger's ``random_state``.
    class_weight : dict, "balanced" or None, default=None
        Weight of each tag in the loss; tags that a dict does not name count 1.
    recall_weight : float of at least 1 or None, default=None
        How much more counts in training where PHI is missed: delta_p of Ahmed et al. (2020), 2 to 10. None is the plain
        loss.
    recall_form : {"repaired", "batch", "printed"}, default="repaired"
        "repaired" multiplies the loss of each sentence by 1 + (``recall_weight`` - 1) FNR, where FNR is
        FN / (1 + FN + TP) in tokens; "batch" that of a batch, of which clipping and optimizer leave little; "printed"
        is the formula of the paper, ``recall_weight`` FNR of a batch: one without a miss then teaches nothing.
    max_epochs : int or "auto", default="auto"
        Passes over the data. "auto" is 20, and up to 100 where the data are so small that 20 passes make fewer than
        2,000 batches.
    lr : float, default=3e-3
        Learning rate; rises over the first batches and falls linearly to zero at the end of `fit`.
    batch_size : int, default=900
        Padded tokens (not sentences) of a training batch, context included.
    optimizer : torch optimizer class, default=torch.optim.NAdam
    gradient_clip : float or None, default=1.0
        Largest norm of the gradient of a batch.
    weight_average : float in [0, 1), default=0.998
        Decay of the moving average of the weights, which is what the fitted tagger uses; 0 switches it off.
    train_split : None, float in (0, 1) or scikit-learn splitter, default=None
        Share of patients (``groups`` of `fit`) held out to measure F1 after each epoch. The best epoch is restored.
    patience : int or None, default=None
        Epochs without a better F1 on the held-out patients until training stops; needs ``train_split``.
    mixed_precision : bool or "auto", default="auto"
        bfloat16 in the network (never in the CRF); "auto" uses it on CUDA devices that have it.
    device : str, default="auto"
        "auto" is CUDA where there is one, else the CPU.
    callbacks : list of skorch callbacks, optional
    warm_start : bool, default=False
        Whether `fit` goes on from the weights of the last `fit`.
    verbose : int, default=0
        1 prints a line for each epoch, 2 adds a progress bar.
    random_state : int, RandomState or None, default=None
        Seeds weights, dropout, batches and span swapping. The global generators are left as they were.
    **skorch_parameters
        Dunder parameters of skorch, such as ``optimizer__weight_decay``.

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
    embeddings="glove-6b-50d", input_dropout=0.1, layer_dropout=0.25, output_dropout=0.5, span_swap=0.0,
    weight_average=0.0)``.

    That of Dernoncourt et al. (2017), which Festag & Spreckelsen (2020) train with `DSSGDEnsemble`, is
    ``DeidTagger(characters="bilstm", hidden_size=100, projection_size=100, head="softmax", input_dropout=0.5,
    output_dropout=0.0, span_swap=0.0, gradient_clip=None, weight_average=0.0)`` with word vectors of 300 dimensions as
    ``embeddings``. What remains different: characters are learned vectors of 25 dimensions and 25 units of each
    direction instead of one-hot vectors and 128 units, a word is also known by its casing and shape, and a sentence is
    read instead of a whole text.

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

    _parameter_constraints: dict[str, list] = TAGGER_CONSTRAINTS

    def __init__(
        self,
        *,
        encoder: str = "lstm",
        pretrained: Any = None,
        head: str = "crf",
        constrained: bool = True,
        tag_scheme: str = "iob2",
        characters: str | None = "cnn",
        embeddings: Any = "auto",
        hidden_size: int = 128,
        n_layers: Any = "auto",
        n_heads: int = 4,
        projection_size: int | None = None,
        context: str = "sentence",
        context_size: int = 2,
        input_dropout: float = 0.25,
        layer_dropout: float = 0.25,
        output_dropout: float = 0.5,
        span_swap: float = 0.5,
        augmenter: Any = None,
        class_weight: Any = None,
        recall_weight: float | None = None,
        recall_form: str = "repaired",
        max_epochs: Any = "auto",
        lr: float = 3e-3,
        batch_size: int = 900,
        optimizer: Any = torch.optim.NAdam,
        gradient_clip: float | None = 1.0,
        weight_average: float = 0.998,
        train_split: Any = None,
        patience: int | None = None,
        mixed_precision: Any = "auto",
        device: str = "auto",
        callbacks: Any = None,
        warm_start: bool = False,
        verbose: int = 0,
        random_state: Any = None,
        **skorch_parameters: Any,
    ) -> None:
        self.pretrained = pretrained
        self.encoder, self.head, self.constrained, self.tag_scheme = encoder, head, constrained, tag_scheme
        self.characters, self.embeddings = characters, embeddings
        self.hidden_size, self.n_layers, self.n_heads = hidden_size, n_layers, n_heads
        self.projection_size = projection_size
        self.input_dropout, self.layer_dropout, self.output_dropout = (
            input_dropout,
            layer_dropout,
            output_dropout,
        )
        self.context, self.context_size = context, context_size
        self.augmenter = augmenter
        self.span_swap, self.class_weight, self.gradient_clip = span_swap, class_weight, gradient_clip
        self.recall_weight, self.recall_form = recall_weight, recall_form
        self.weight_average, self.patience = weight_average, patience
        self.mixed_precision, self.random_state = mixed_precision, random_state
        super().__init__(
            module=TaggerModule,
            criterion=NoCriterion,
            optimizer=optimizer,
            lr=lr,
            max_epochs=max_epochs,
            batch_size=batch_size,
            train_split=train_split,
            callbacks=callbacks,
            warm_start=warm_start,
            verbose=verbose,
            device=device,
            use_caching=False,
            **skorch_parameters,
        )

    def fit(self, X: Any, y: Any = None, *, groups: Any = None) -> DeidTagger:
        """Train on annotated sentences.

        Parameters
        ----------
        X : sequence of n sentences, `TokenSequences` or `TokenVectors`
        y : sequence of n tag sequences
            IOB2 tags, as long as their sentences.
        groups : array-like of shape (n,), optional
            Patient of each sentence; with ``train_split`` a patient is on one side only.

        Returns
        -------
        self

        Raises
        ------
        SequenceError
            If X and y do not match, or hold no token.
        """
        check_constraints(self)
        X, tags, groups = self._checked(X, y, groups)
        self._rng = own_generator(self.random_state)
        with self._own_random_stream():
            if not (self.warm_start and self.initialized_):
                self._learn_inputs(self._fit_augmenter(X, tags, groups), tags, None)
                self.initialize()
            train_rows, valid_rows = hold_out_patients(len(X), groups, self.train_split, int(self._rng.integers(2**31)))
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
        check_constraints(self)
        X, tags, groups = self._checked(X, y, groups)
        if not self.initialized_:
            self._rng = own_generator(self.random_state)
            with self._own_random_stream():
                self._learn_inputs(self._fit_augmenter(X, tags, groups), tags, classes)
                self.initialize()
        with self._own_random_stream():
            self._train(self._training_data(X, tags, groups), None, epochs=1)
        return self
