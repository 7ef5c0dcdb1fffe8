"""Training loop of the tagger on skorch: batches, loss and callbacks. This module handles numbers, never strings."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import torch
from skorch.callbacks import GradientNormClipping, ProgressBar
from torch import Tensor, nn
from torch.utils.data import DataLoader

from .._randomness import own_torch_stream
from .._skorch import SkorchEstimator, check_bfloat16, is_fast_in_bfloat16, resolve_device
from ..exceptions import SequenceError, TrainingDivergedError, TrainingInterruptedWarning
from .batching import LengthBucketSampler, SentenceBatch, SentenceDataset
from .callbacks import EarlyStoppingOnF1, LearningRateDecay, WeightAverage
from .note_augmenter import NoteAugmenter
from .pretrained_encoder import PretrainedEncoder, PretrainedFiles, layer_rates
from .strategies import strategy
from .tagger_data import SwappingDataset
from .unbuilt_optimizer import UnbuiltOptimizer
from .weight_checks import weight_problem

# Padded cells of a batch in prediction: enough for fast matrix products, few enough for the caches of the processor.
_TAGGING_CELLS = 4096
# Far above the scores of any training, also of one that hostile sites attack, and below those that hide all others.
_LARGEST_SCORE = 1e12
# max_epochs="auto": at least _EPOCHS epochs. Small data sets need more epochs to reach _FEWEST_BATCHES batches.
_EPOCHS, _MOST_EPOCHS, _FEWEST_BATCHES = 20, 100, 2000
# With a `NoteAugmenter`, the network must also learn what other casings and errors look like. 200 generated notes, seed
# 0: strict F1 92.9 with 2,000 batches, 94.4 with 3,000, 93.9 with 2,000 and no augmenter.
_FEWEST_AUGMENTED = 3000
# Share of the epochs that read altered copies. The last epochs, with small learning rates, read the notes as they are.
_COPIED_EPOCHS = 0.8
# A training that starts from another tagger: fewer epochs, and a share of the learning rate. The public tagger of
# vectors knows the labels and the kind of the notes; a model that the user names may know neither.
_EPOCHS_FROM_TAGGER, RATE_FROM_TAGGER, _RATE_FROM_MODEL = 20, 0.3, 0.6
# The public tagger saw new noise in every epoch, but a release has one draw of it, which long trainings learn by heart:
# 2,000 generated notes (seed 10), strict F1 98.1 after 20 epochs, 98.5 after 2; 98.6 of the public tagger.
_FEWEST_FROM_TAGGER, _MOST_BATCHES_FROM_TAGGER = 2, 1000
# Ten short notes are a single batch, of which 20 epochs learn less than 100: ASQ-PHI, draws 3 to 7, strict F1 87.8 and
# 88.7; 25 notes 90.6 with 20 epochs, 91.1 with 60 (docs/measurements/few_notes.md).
_FEWEST_FROM_MODEL = 200


class NoCriterion(nn.Module):
    """Placeholder for the criterion that skorch requires. `TaggerModule.loss` computes the loss."""


class SequenceNet(SkorchEstimator):
    """skorch training of sentences of different lengths, with averaged weights and F1 on held-out sentences.

    The data set, the splitter and the cached scoring of skorch count a list of token lists as one sample. This class
    therefore replaces all three.
    """

    _stops_if_diverged = False
    _is_in_epoch = False
    # Names and parameters of the network, in an epoch.
    _learned: list[tuple[str, nn.Parameter]] | None = None
    # Configuration and tokenizer of the pretrained encoder, loaded in `fit`; None with the other encoders.
    _pretrained: PretrainedFiles | None = None
    # False while a saved tagger is loaded.
    builds_optimizer = True
    # Parameter from which the optimizer was built; None in pickles of earlier versions.
    _optimizer_of: Any = None

    # ---- methods that skorch calls during training

    @property
    def _default_callbacks(self) -> list[tuple[str, Any]]:
        own: list[tuple[str, Any]] = [("lr_decay", LearningRateDecay(None))]
        if self.gradient_clip is not None:
            own.append(("gradient_clip", GradientNormClipping(self.gradient_clip)))
        if self.weight_average:
            own.append(("weight_average", WeightAverage(self.weight_average)))
        if self.validation_fraction is not None:
            own.append(("early_stopping", EarlyStoppingOnF1(self.patience)))
        # get_params also reads the callbacks, before `fit` has checked that `verbose` is an int.
        if isinstance(self.verbose, int) and self.verbose > 1:
            own.append(("progress_bar", ProgressBar()))
        first, last = super()._default_callbacks[:-1], super()._default_callbacks[-1:]
        # The callback that prints the log line comes last, after all other callbacks have written their columns.
        return first + own + last

    def initialize_optimizer(self, *args: Any, **kwargs: Any) -> SequenceNet:
        """Build the optimizer. For a loaded tagger, the optimizer is built when the first training starts."""
        if self.builds_optimizer:
            super().initialize_optimizer(*args, **kwargs)
            self._optimizer_of = self.optimizer
        else:
            self.optimizer_ = UnbuiltOptimizer()
        return self

    def get_params_for_optimizer(self, prefix: str, named_parameters: Any) -> Any:
        """Parameter groups for the optimizer, with one learning rate for each layer of a pretrained encoder."""
        named = list(named_parameters)
        if self._pretrained is None:
            return super().get_params_for_optimizer(prefix, named)
        settings = self.encoder
        below = [(name, p) for name, p in named if name.startswith("encoder.")]
        args, kwargs = super().get_params_for_optimizer(prefix, [item for item in named if item not in below])
        # A frozen encoder has no parameter group, because its weights never change.
        below = [] if settings.frozen else below
        return ([*args[0], *layer_rates(below, settings.lr, settings.layer_decay)], *args[1:]), kwargs

    def get_split_datasets(self, X: Any, y: Any = None, **fit_params: Any) -> tuple[Any, Any]:
        """Return X, the pair of data sets that `fit` has already split by patient."""
        # skorch would split single sentences here, and sentences of one patient would be on both sides.
        return X

    def get_iterator(self, dataset: SentenceDataset, training: bool = False) -> DataLoader:
        """Batches of sentences of similar length. Training shuffles the batches anew in each epoch."""
        rng = self._rng if training else None
        cells = self.batch_size if training else max(self.batch_size, _TAGGING_CELLS)
        lengths = dataset.drawn_lengths if isinstance(dataset, SwappingDataset) else dataset.unit_lengths
        sampler = LengthBucketSampler(lengths, cells, max_rows=cells, rng=rng)
        if training:
            self.n_training_batches_ = len(sampler)
        pin = resolve_device(self.device).type == "cuda"
        return DataLoader(dataset, batch_sampler=sampler, collate_fn=dataset.collate, pin_memory=pin)

    def on_epoch_begin(self, net: Any, dataset_train: Any = None, dataset_valid: Any = None, **kwargs: Any) -> None:
        """Perturb the training sentences and swap their spans anew."""
        self._is_in_epoch = True
        super().on_epoch_begin(net, dataset_train=dataset_train, dataset_valid=dataset_valid, **kwargs)
        if isinstance(dataset_train, SwappingDataset):
            dataset_train.redraw(self._rng)

    def on_epoch_end(self, net: Any, **kwargs: Any) -> None:
        """Record that the epoch is complete. Callbacks that end the training are called after this method."""
        super().on_epoch_end(net, **kwargs)
        self._is_in_epoch = False

    def on_batch_end(self, net: Any, batch: Any = None, training: bool = False, **kwargs: Any) -> None:
        """Stop at a loss that is not a finite number, because all later weights would be NaN."""
        super().on_batch_end(net, batch=batch, training=training, **kwargs)
        # A worker of a federation checks its parameters itself, and restores the parameters from before the training.
        watched = training and self._stops_if_diverged
        loss = self.history[-1]["batches"][-1].get("train_loss") if watched else None
        if loss is not None and not math.isfinite(loss):
            raise self._diverged("The loss of a batch is not a finite number.")

    def train_step_single(self, batch: Any, **fit_params: Any) -> dict[str, Any]:
        """Compute the gradient of a batch. Set the network to training mode if necessary."""
        x, tags = batch
        if not self.module_.training:
            self._set_training(True)
        with self._narrow_lstm():
            emissions = self.infer(x, **fit_params)
        loss = self.get_loss(emissions, tags, X=x, training=True)
        loss.backward()
        return {"loss": loss, "y_pred": emissions}

    def get_all_learnable_params(self) -> Iterator[tuple[str, nn.Parameter]]:
        """Names and parameters. In a training, the parameters are listed once instead of in each step."""
        return super().get_all_learnable_params() if self._learned is None else iter(self._learned)

    def run_single_epoch(self, iterator: Any, training: bool, prefix: str, step_fn: Any, **fit_params: Any) -> None:
        """Run one pass over the data. Held-out sentences are scored with the averaged weights."""
        if training or iterator is None:
            self._set_training(training)
            self._learned = list(super().get_all_learnable_params())
            try:
                super().run_single_epoch(iterator, training, prefix, step_fn, **fit_params)
            finally:
                del self._learned
            return
        with self.averaged_weights():
            super().run_single_epoch(iterator, training, prefix, step_fn, **fit_params)
            self.history.record("valid_f1", self._held_out_f1(iterator.dataset))

    def averaged_weights(self) -> AbstractContextManager[None]:
        """Use the averaged weights inside a with block; without weight averaging, the current weights."""
        average = dict(self.callbacks_).get("weight_average")
        return nullcontext() if average is None else average.moving_.in_place(self.module_)

    def infer(self, x: SentenceBatch, **fit_params: Any) -> Tensor:
        """Compute the emissions of a batch, shape (batch, time, n_tags)."""
        with self._autocast():
            return self.module_(x.to(resolve_device(self.device)), **fit_params)

    def get_loss(self, y_pred: Tensor, y_true: Tensor, X: Any = None, training: bool = False) -> Tensor:
        """Negative log likelihood of the gold tags."""
        device = y_pred.device
        # Weights apply in training only. The loss of held-out sentences is the plain negative log likelihood.
        weights = self._tag_weights if training else None
        return self.module_.loss(
            y_pred,
            y_true.to(device, non_blocking=True),
            X.mask.to(device, non_blocking=True),
            None if weights is None else weights.to(device),
            strategy("recall_weight", self.recall_weight) if training else None,
        )

    # ---- methods that `fit` and `predict` call

    def _train(self, train: SwappingDataset, valid: SentenceDataset | None, epochs: int | None = None) -> None:
        """Run the training loop of skorch. Ctrl-C ends the loop and keeps the weights, if an epoch is complete.

        Without ``epochs``, the training has ``max_epochs`` epochs with a falling learning rate. With ``epochs``, the
        learning rate is constant.
        """
        if isinstance(self.optimizer_, UnbuiltOptimizer) or self._optimizer_of not in (None, self.optimizer):
            self.initialize_optimizer()
        falls = not epochs
        if falls:
            self.renew_callbacks()  # with warm_start, the parameters may have changed since the network was built
        epochs = epochs or self._planned_epochs(train)
        # A single epoch of `partial_fit` is not the end of a training.
        train.n_copied_epochs = round(_COPIED_EPOCHS * epochs) if falls else epochs
        # None if the user has switched the callback off.
        decay = dict(self.callbacks_).get("lr_decay")
        if decay is not None:
            decay.share, decay.n_epochs = self._rate_share(), epochs if falls else None
            decay.added_epochs = train.copied_share * train.n_copied_epochs
        self.notify("on_train_begin", X=train, y=None)
        self._stops_if_diverged, self._is_in_epoch = True, False
        n_before, interruption = len(self.history), None
        try:
            self.fit_loop((train, valid), epochs=epochs)
        except KeyboardInterrupt as error:
            # Callbacks end a training with the same exception, between two epochs.
            interruption = error if self._is_in_epoch else None
        finally:
            del self._stops_if_diverged, self._is_in_epoch
        self.notify("on_train_end", X=train, y=None)
        if interruption is not None:
            self._tell(interruption, len(self.history) - n_before - 1, epochs)
        problem = weight_problem({name: p.detach().cpu().numpy() for name, p in self.module_.named_parameters()})
        if problem is not None:
            raise self._diverged(problem)

    @contextmanager
    def _forgotten_if_failed(self, is_new: bool) -> Iterator[None]:
        """Delete a new network if the block raises: initial weights, or weights of other classes, must not be used."""
        has_ended = False
        try:
            yield
            has_ended = True
        finally:
            if is_new and not has_ended:
                self.initialized_ = False
                for name in {"module_", "classes_"}.intersection(vars(self)):
                    delattr(self, name)

    def _tell(self, interruption: KeyboardInterrupt, n_complete: int, epochs: int) -> None:
        """Warn that Ctrl-C has ended the training, or raise KeyboardInterrupt if no epoch is complete."""
        if not n_complete:
            raise interruption
        message = (
            f"The training of {type(self).__name__} was interrupted after {n_complete} of {epochs} epochs. The tagger "
            "finds less PHI than after the whole training."
        )
        warn_of_interruption(message, stacklevel=5)

    def _diverged(self, problem: str) -> TrainingDivergedError:
        # A training can be continued by `partial_fit` or by `warm_start`, but not from broken weights.
        self.initialized_ = False
        del self.module_
        clip = "" if self.gradient_clip else ", and set 'gradient_clip', such as 1.0"
        return TrainingDivergedError(
            f"The training diverged. {problem} Lower the 'lr' parameter of {type(self).__name__}, which is "
            f"{self.lr:g}; 3e-3 is usual{clip}."
        )

    def _rate_share(self) -> float:
        """Factor of the learning rate, below 1 if the training starts from another tagger."""
        if not self.starts_from_tagger_:
            return 1.0
        return RATE_FROM_TAGGER if self.warm_start_from is None else _RATE_FROM_MODEL

    def _planned_epochs(self, train: SwappingDataset) -> int:
        """Number of epochs of a whole training."""
        if self.max_epochs != "auto":
            return self.max_epochs
        n_batches = len(LengthBucketSampler(train.unit_lengths, self.batch_size, max_rows=self.batch_size))
        if self.starts_from_tagger_ and self.warm_start_from is None:
            enough = math.ceil(_MOST_BATCHES_FROM_TAGGER / max(1, n_batches))
            return min(_EPOCHS_FROM_TAGGER, max(_FEWEST_FROM_TAGGER, enough))
        fewest = _FEWEST_AUGMENTED if isinstance(self.augmenter_, NoteAugmenter) else _FEWEST_BATCHES
        # A start in another language saves no batch: 50 Spanish notes, strict F1 91.6 with 1,000, 93.1 with 3,000.
        if self.starts_from_tagger_ and not self.learns_another_language_:
            fewest = _FEWEST_FROM_MODEL
        batches = n_batches * (1 + _COPIED_EPOCHS * train.copied_share)
        return max(_EPOCHS, min(_MOST_EPOCHS, math.ceil(fewest / batches)))

    def _outputs(
        self, dataset: SentenceDataset, table: Tensor | None = None
    ) -> Iterator[tuple[list[int], SentenceBatch, Tensor]]:
        """Yield rows, batch and emissions in order of length, without sentences that have no token."""
        device = resolve_device(self.device)
        self._set_training(False)
        crf = {} if self.module_.crf is None else dict(self.module_.crf.named_parameters())
        if not all(scores.detach().abs().max() <= _LARGEST_SCORE for scores in crf.values()):
            # Finite emissions do not show these weights, and the best path of NaN scores can be "O" everywhere.
            raise SequenceError("The CRF holds scores that are not finite, or too large. Train the tagger anew.")
        for units in LengthBucketSampler(dataset.unit_lengths, _TAGGING_CELLS, max_rows=_TAGGING_CELLS):
            batch = dataset.collate(units)[0].to(device)
            # No inference mode: the marginals of the CRF are gradients, and inference tensors allow none.
            with torch.no_grad(), self._autocast(tagging=True):
                emissions = self.module_(batch, table)
            # Minimum and maximum are NaN if any number is NaN, and take one pass.
            if not torch.isfinite(torch.stack(torch.aminmax(emissions))).all():
                # With a NaN score, every tag would be "O".
                raise SequenceError("The network returns scores that are not finite. Train the tagger anew.")
            yield dataset.tagged_rows(units), batch, emissions

    @contextmanager
    def _narrow_lstm(self) -> Iterator[None]:
        """Compute an LSTM in bfloat16 in training, if requested and if the processor is fast in bfloat16."""
        encoder = self.module_.encoder
        wanted = self.mixed_precision == "training" and self.encoder == "lstm"
        if not wanted or not is_fast_in_bfloat16(resolve_device(self.device)):
            yield
            return
        encoder.trains_in_bfloat16 = True
        try:
            yield
        finally:
            encoder.trains_in_bfloat16 = False

    def _own_random_stream(self) -> AbstractContextManager[None]:
        """Seed torch inside a with block and restore the state of its generator afterwards."""
        return own_torch_stream(self._rng, resolve_device(self.device), bits=62)

    def _autocast(self, tagging: bool = False) -> AbstractContextManager[Any]:
        """Context of mixed precision, without effect if mixed precision is off."""
        device = resolve_device(self.device)
        wanted = self.mixed_precision
        if wanted in ("auto", "training"):
            # Recurrent networks tag as fast in float32 (H100), and then 2 of 2,000 notes differ from the CPU, not 22.
            exact = tagging and not isinstance(self.encoder, PretrainedEncoder)
            wanted = device.type == "cuda" and not exact and torch.cuda.is_bf16_supported()
        elif wanted and isinstance(self.encoder, str) and "lstm" in self.encoder:
            check_bfloat16(device)
        return torch.autocast(device.type, dtype=torch.bfloat16) if wanted else nullcontext()


def warn_of_interruption(message: str, stacklevel: int) -> None:
    """Warn that Ctrl-C has ended a training.

    Raises
    ------
    KeyboardInterrupt
        If a filter makes the warning an error.
    """
    try:
        warnings.warn(message, TrainingInterruptedWarning, stacklevel=stacklevel)
    except TrainingInterruptedWarning:
        # As an error, it would only be a failed candidate for a search, which then goes on.
        raise KeyboardInterrupt(message) from None
