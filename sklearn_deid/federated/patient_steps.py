"""Steps of a training with `PatientPrivacy`: one clipped gradient for each patient, and noise on their sum."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import torch

from .._randomness import grid_step, release_generator, to_grid
from ..exceptions import ExchangeError
from .patient_ledger import PatientLedger
from .patient_privacy import PatientPrivacy
from .robust import clip_norm
from .worker_data import WorkerData

# Layers behind the encoder, and the largest factor of their learning rate: the weights of new labels must change a lot.
# With few patients, most of each step is noise: with the factor 16, six patients lost 2.8 points.
_LAST_LAYERS = ("projection.", "emit.", "crf.")
_LARGEST_FACTOR, _PATIENTS_OF_LARGEST = 16.0, 100


def rate_of_last_layers(n_patients: int, has_new_labels: bool, known: float) -> float:
    """Factor of the learning rate of the last layers in a training that starts from another tagger.

    Parameters
    ----------
    n_patients : int
        Number of patients of the site.
    has_new_labels : bool
        Whether the other tagger lacks one of the labels.
    known : float
        Factor if the other tagger has all labels. The factor is never smaller.

    Examples
    --------
    >>> rate_of_last_layers(50, True, 0.3), rate_of_last_layers(50, False, 0.3), rate_of_last_layers(400, True, 0.3)
    (8.0, 0.3, 16.0)
    """
    new = _LARGEST_FACTOR * min(1.0, n_patients / _PATIENTS_OF_LARGEST)
    return max(known, new) if has_new_labels else known


def freeze_encoder(module: torch.nn.Module, is_frozen: bool = True) -> None:
    """Train only the layers after the encoder, or all layers again."""
    for name, p in module.named_parameters():
        p.requires_grad_(not is_frozen or name.startswith(_LAST_LAYERS))


def noisy_mean(
    gradients: Iterable[np.ndarray], size: int, clip: float, noise_multiplier: float, expected: float, rng: Any
) -> np.ndarray:
    """Sum of clipped gradients of patients with Gaussian noise, divided by the expected number of patients.

    Parameters
    ----------
    gradients : iterable of ndarray of shape (size,)
        Gradient of each patient of the step. A gradient with a value that is not finite counts as zero.
    size : int
        Number of parameters.
    clip : float
        Largest Euclidean norm of the gradient of a patient.
    noise_multiplier : float
        Standard deviation of the noise, divided by ``clip``.
    expected : float
        Expected number of patients of a step. The value does not depend on the drawn patients.
    rng : numpy.random.Generator
        Generator of the noise, from `release_generator` outside of tests.

    Returns
    -------
    ndarray of shape (size,), float32
        Noisy mean. Noise and sum are float64. The sum is rounded to a public grid, so that low bits reveal nothing
        (Mironov 2012).
    """
    total = np.zeros(size)  # shape: (size,)
    for gradient in gradients:
        total += clipped(gradient, clip)
    std = noise_multiplier * clip
    # Distribution of the noise: independent normal numbers with mean 0 and standard deviation std.
    total += rng.standard_normal(size) * std
    return (to_grid(total, grid_step(std)) / expected).astype(np.float32)


def clipped(gradient: np.ndarray, clip: float) -> np.ndarray:
    """Gradient of a patient with a Euclidean norm of at most ``clip``; zeros if a value is not finite.

    Examples
    --------
    >>> clipped(np.array([3.0, 4.0]), 1.0).round(3).tolist(), clipped(np.array([np.nan, 1.0]), 1.0).tolist()
    ([0.6, 0.8], [0.0, 0.0])
    """
    vector = np.asarray(gradient, dtype=np.float64)
    # Raising an error instead would reveal that this patient took part.
    if not np.isfinite(vector).all():
        return np.zeros_like(vector)
    # The squares of large finite numbers overflow, so that the vector is first scaled by its largest value.
    largest = float(np.abs(vector).max(initial=0.0))
    return clip_norm(vector / largest, clip / largest) * largest if largest > clip else clip_norm(vector, clip)


class PatientSteps:
    """The sentences of each patient, and the steps of a local epoch.

    Parameters
    ----------
    tagger : DeidTagger
        Initialized tagger of the learner.
    part : WorkerData
        Sentences of the site with ``groups``.
    rows : ndarray of shape (n_rows,)
        Sentences to train on. Held-out patients are left out.
    privacy : PatientPrivacy
        Settings of the steps.
    """

    def __init__(self, tagger: Any, part: WorkerData, rows: np.ndarray, privacy: PatientPrivacy) -> None:
        assert part.groups is not None
        self.privacy = privacy
        patients = part.groups[rows]
        # One data set for each patient: no batch, padding or table of words holds anything of two patients.
        self._patients = []
        for patient in np.unique(patients):
            data = tagger._training_data(part.X, part.tags, None, rows[patients == patient], held_out=True)
            if data.lengths.any():
                self._patients.append(data)
        self.n_patients = len(np.unique(patients))
        self._expected = privacy.sampling_rate * self.n_patients

    def epoch(self, tagger: Any, ledger: PatientLedger, callbacks: Iterable[Any]) -> float:
        """Charge the ledger, then train one local epoch. Returns the mean loss of the drawn patients, without noise.

        Raises
        ------
        ExchangeError
            If the budget is spent.
        """
        ledger.charge(self.privacy.n_steps)
        callbacks = list(callbacks)
        # The schedule of the learning rate counts batches. The number of steps does not depend on the notes.
        tagger.n_training_batches_ = self.privacy.n_steps
        losses: list[float] = []
        for _ in range(self.privacy.n_steps):
            for callback in callbacks:
                callback.on_batch_begin(tagger, training=True)
            losses += self._step(tagger, ledger.noise_multiplier)
            for callback in callbacks:
                callback.on_batch_end(tagger, training=True)
        return float(np.mean(losses)) if losses else float("nan")

    def _step(self, tagger: Any, noise_multiplier: float) -> list[float]:
        # A new key for each step: nobody can repeat the draw of the patients or the noise.
        rng = release_generator()
        drawn = rng.random(len(self._patients)) < self.privacy.sampling_rate  # shape: (n_patients,)
        # Dropout of one stream for all patients would depend on the patients before: one more patient would change the
        # gradients of the others, too, which the clip does not bound.
        seeds = rng.integers(2**63, size=len(self._patients))  # shape: (n_patients,)
        parameters = [p for p in tagger.module_.parameters() if p.requires_grad]
        losses: list[float] = []
        mean = noisy_mean(
            self._gradients(tagger, parameters, np.flatnonzero(drawn), seeds, losses),
            sum(p.numel() for p in parameters),
            self.privacy.clip,
            noise_multiplier,
            self._expected,
            rng,
        )
        for p, part in zip(parameters, torch.from_numpy(mean).split([p.numel() for p in parameters]), strict=True):
            p.grad = part.reshape(p.shape).to(p.device, p.dtype)  # (p.numel(),) -> shape of p
        tagger.optimizer_.step()
        tagger.optimizer_.zero_grad(set_to_none=True)
        return losses

    def _gradients(
        self, tagger: Any, parameters: list[Any], drawn: np.ndarray, seeds: np.ndarray, losses: list[float]
    ) -> Iterator[np.ndarray]:
        """Gradient of the mean loss of each drawn patient, one patient at a time."""
        for place in drawn.tolist():
            torch.manual_seed(int(seeds[place]))
            tagger.optimizer_.zero_grad(set_to_none=True)
            losses.append(self._backward(tagger, self._patients[place]))
            # shape: (n_parameters,)
            yield np.concatenate(
                [
                    np.zeros(p.numel()) if p.grad is None else p.grad.detach().cpu().double().numpy().reshape(-1)
                    for p in parameters
                ]
            )

    @staticmethod
    def _backward(tagger: Any, patient: Any) -> float:
        """Add up the gradient of the mean loss of all sentences of a patient. Returns the loss."""
        n_sentences, total = int(np.count_nonzero(patient.lengths)), 0.0
        # Dropout would add noise to the few gradients of the last layers.
        tagger._set_training(all(p.requires_grad for p in tagger.module_.parameters()))
        for batch, tags in tagger.get_iterator(patient, training=False):
            share = len(batch) / n_sentences
            loss = tagger.get_loss(tagger.infer(batch), tags, X=batch, training=True) * share
            loss.backward()
            total += float(loss.detach())
        return total


def check_trainable(tagger: Any, part: WorkerData) -> None:
    """Refuse data and settings with which a patient would influence the gradient of another patient.

    Raises
    ------
    ExchangeError
        If the patients are unknown, or if the weights of tags would be computed from the notes.
    """
    if part.groups is None:
        raise ExchangeError("PatientPrivacy needs the patient of each sentence: pass 'groups'.")
    if isinstance(tagger.class_weight, str):
        raise ExchangeError("PatientPrivacy needs a 'class_weight' that is not counted in the notes: None or a dict.")
    documents = part.X.documents
    if documents is not None and tagger.context != "sentence":
        # A document of two patients would let the encoder read one patient beside the other.
        pairs = {(d, g) for d, g in zip(documents.tolist(), part.groups.tolist(), strict=True)}
        if len(pairs) != len(set(documents.tolist())):
            raise ExchangeError("PatientPrivacy with 'context' needs documents of one patient each.")
