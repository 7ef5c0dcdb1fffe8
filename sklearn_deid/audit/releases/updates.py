"""Release of the recorded exchange of a distributed training."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cached_property
from typing import Any

import joblib
import numpy as np

from ...federated.layout import ParameterLayout
from ...federated.noise import GaussianUpload, SparseVectorUpload
from ...federated.patient_privacy import PatientPrivacy
from ...federated.selection import largest_number, n_shared
from ...federated.sparse import SparseUpdate
from ...federated.tagger_learner import tagger_layout
from ...tagging.pretrained_encoder import PretrainedEncoder
from ...tagging.strategies import SelfAttention
from ...tagging.tagger_data import distinct_words, encode_tags, inner_tags
from ...text import CASING_CLASSES, character_ids, shape_ids
from ..attacks.noisy_messages import SparseVectorUploads, StepUploads
from ..attacks.updates import CHARACTERS, LABELS, SHAPES, WORD_VECTORS, ReleasedUpdates, UpdateKnowledge
from ..attacks.upload_noise import NoisyUploads
from ..audit_data import AuditData
from ..released_step import UPDATES

_FIRST_LAYER = "encoder.ahead.0.weight_ih_l0"
_WHOLE_EPOCHS = (
    "An upload of this exchange is a local epoch over many sentences. Gradient inversion needs the update of one "
    "plain step on a single sentence. No worker sent an update of this kind."
)


class ReleasedExchange:
    """Uploads of the workers of a `DSSGDEnsemble`, with the training sentences of each worker.

    The audit attacks every upload separately. All uploads of a worker concern the same sentences.

    Parameters
    ----------
    ensemble : fitted DSSGDEnsemble
        Ensemble with a recorded ``exchange_``.
    data : AuditData
        All training sentences, in ``test``. Their groups are the patients that were passed to `DSSGDEnsemble.fit`. If
        the workers supplied their own data, the groups are names of workers.

    Raises
    ------
    ValueError
        If no worker sent an update, the owner of a sentence is not known, or sentences of a patient or worker are
        missing.
    """

    kind = UPDATES
    no_single_steps = _WHOLE_EPOCHS

    def __init__(self, ensemble: Any, data: AuditData) -> None:
        self._uploads = ensemble.exchange_.uploads()
        if not self._uploads:
            raise ValueError(
                f"No worker sent an update with strategy={ensemble.strategy!r}: there is nothing to attack."
            )
        if ensemble.validation_fraction is not None:
            raise ValueError(
                "The patients who were held out from the updates are not known. Fit the audited DSSGDEnsemble with "
                "validation_fraction=None."
            )
        self._owner = _owners(ensemble, data.groups)
        self.data = data if ensemble._patients is not None else replace(data, groups=None)
        self._tagger = ensemble.estimators_[0]
        self._privacy, self._upload_fraction = ensemble.privacy, ensemble.upload_fraction
        self._clip, self._sent_as = ensemble.clip, np.dtype(ensemble.upload_dtype)
        self._layout = tagger_layout(self._tagger)

    def digest(self) -> str:
        """Hash of the recorded messages, the names of the network's parameters, and the stated noise."""
        messages = [(m.worker, m.epoch, m.data) for m in self._uploads]
        stated = (self._privacy, self._upload_fraction, self._clip, self._sent_as)
        return str(joblib.hash((list(self._layout.names), messages, stated)))

    @property
    def n_sites(self) -> int:
        """Number of workers that sent updates."""
        return len(np.unique(self._owner))

    @property
    def noisy_uploads(self) -> NoisyUploads | SparseVectorUploads | StepUploads | None:
        """Uploads with the noise that the settings state; None if the settings state no noise."""
        stated = self._privacy
        if isinstance(stated, PatientPrivacy):
            # The last layers have no parameters that no note reads. All others stay as they are, without noise.
            only_last = stated.trains_last_layers(self._tagger.starts_from_tagger_)
            return None if only_last else self._step_uploads(stated.n_steps)
        if not isinstance(stated, (GaussianUpload, SparseVectorUpload)):
            return None
        updates = [upload.decode() for upload in self._uploads]
        indices, values = ([getattr(update, name) for update in updates] for name in ("indices", "values"))
        # Only the library's mechanisms are tested. The grids and scales of a subclass would be the subclass's own
        # statement.
        if isinstance(stated, SparseVectorUpload):
            n_most, own = n_shared(self._upload_fraction, self._layout.size), SparseVectorUpload(stated.epsilon)
            # Workers clip to a number of the sent type, which leaves other values on their grid.
            clip = largest_number(self._clip, str(self._sent_as))
            scales, grid = own.scales(n_most, clip), own.grid(n_most, clip)
            return SparseVectorUploads(indices, values, self._layout.size, clip, *scales, grid, self._starts)
        std = stated.noise_multiplier * stated.norm_bound
        grid = GaussianUpload(stated.noise_multiplier, stated.norm_bound).grid()
        return NoisyUploads(indices, values, self._layout.size, std, stated.norm_bound, grid, self._starts)

    @property
    def _starts(self) -> list[int]:
        """Position of the first number of each parameter of the network."""
        return [0, *np.cumsum([math.prod(shape) for shape in self._layout.shapes])[:-1].tolist()]

    def _step_uploads(self, n_steps: int) -> StepUploads | None:
        """Updates of the rows of characters and word shapes that no note contains; None if there are no rows of this
        kind."""
        starts = dict(zip(self._layout.names, self._starts, strict=True))
        places: list[np.ndarray] = []
        for name in (CHARACTERS, SHAPES):
            if name in starts and self.reads(name):
                n_rows, width = self._layout.shapes[self._layout.names.index(name)]
                rows = np.setdiff1d(np.arange(1, n_rows), np.concatenate(self._rows(name)))
                places.append((starts[name] + rows[:, None] * width + np.arange(width)).reshape(-1))
        if not sum(map(len, places)):
            return None
        where, whole = np.concatenate(places), [upload.decode().dense() for upload in self._uploads]
        shares = [float(np.count_nonzero(one)) / len(one) for one in whole]
        sites, epochs = [one.worker for one in self._uploads], [one.epoch for one in self._uploads]
        return StepUploads([one[where] for one in whole], shares, sites, epochs, n_steps)

    def reads(self, parameter: str) -> bool:
        """Whether the settings of the tagger imply that its network has a parameter.

        The method uses the settings, because the attack must not be left out silently if the network has another name
        for a parameter.
        """
        tagger = self._tagger
        own_features = not isinstance(tagger.encoder, PretrainedEncoder)
        if parameter in (CHARACTERS, SHAPES):
            return own_features and tagger.characters is not None
        if parameter == WORD_VECTORS:
            return own_features and tagger._vectors is not None and not isinstance(tagger.encoder, SelfAttention)
        return parameter == LABELS or parameter in self._layout.names

    def knowledge_of(self, parameter: str) -> UpdateKnowledge:
        """Knowledge of an attacker who reads one parameter.

        Raises
        ------
        ValueError
            If the network has no parameter of this name, or the rows that a sentence touches are not known.
        """
        own = _FIRST_LAYER if parameter == WORD_VECTORS else parameter
        if own not in self._layout.names:
            raise ValueError(
                f"The network of this exchange has no parameter {own!r}, although its settings say so. The parameter "
                "was renamed, so that its updates cannot be attacked."
            )
        if parameter == WORD_VECTORS:
            return UpdateKnowledge(self._first_layer[0], None, self._readable[1])
        # The general frequencies of labels are public; for the other parameters the attacker knows no frequencies.
        rows = np.concatenate(self._rows(parameter))
        n_rows = self._layout.shapes[self._layout.names.index(parameter)][0]
        frequencies = np.bincount(rows, minlength=n_rows) if parameter == LABELS else None
        return UpdateKnowledge(self._layout, frequencies)

    def updates_of(self, parameter: str) -> ReleasedUpdates:
        """Uploads that contain a parameter, with the rows of the parameter that occurred."""
        updates = self._first_layer[1] if parameter == WORD_VECTORS else list(self._uploads)
        return ReleasedUpdates(updates, self._present(self._rows(parameter)))

    def _present(self, rows: list[np.ndarray]) -> list[set[int]]:
        """For each upload, the rows that occur in the sentences of its worker."""
        of_worker = {
            name: {int(row) for i in np.flatnonzero(self._owner == name) for row in rows[i]}
            for name in {upload.worker for upload in self._uploads}
        }
        return [of_worker[upload.worker] for upload in self._uploads]

    def _rows(self, parameter: str) -> list[np.ndarray]:
        """For each sentence, the rows of a parameter that the sentence touches."""
        X, (ids, words) = self.data.X, self._distinct
        if parameter == LABELS:
            tags = inner_tags(self.data.y, self._tagger.tag_scheme)
            return list(np.split(encode_tags(tags, self._tagger.classes_), X.offsets[1:-1]))
        of_word: list[np.ndarray] = []
        if parameter == WORD_VECTORS:
            of_word = [np.array([row] if row >= 0 else [], dtype=np.int64) for row in self._readable[0].tolist()]
        elif parameter == CHARACTERS:
            of_word = [row[row > 0] for row in character_ids(words)]
        elif parameter == SHAPES:
            of_word = [np.array([number]) for number in shape_ids(words)]
        else:
            raise ValueError(f"The rows of {parameter!r} that a sentence changes are not known.")
        none = np.zeros(0, dtype=np.int64)
        return [np.concatenate([none, *(of_word[i] for i in part)]) for part in np.split(ids, X.offsets[1:-1])]

    @cached_property
    def _readable(self) -> tuple[np.ndarray, np.ndarray]:
        """Row of each word in a table of distinct vectors (-1 for a word without a vector), and the table itself."""
        vectors = self._tagger._vectors
        if vectors is None or _FIRST_LAYER not in self._layout.names:
            raise ValueError("The network of this exchange reads no fixed word vectors.")
        # Words with equal vectors are indistinguishable, and a word without a vector leaves no trace.
        table, rows = np.unique(np.asarray(vectors.vectors_for(self._distinct[1])), axis=0, return_inverse=True)
        is_there = table.any(axis=1)
        numbers = np.where(is_there, np.cumsum(is_there) - 1, -1)
        return numbers[rows.reshape(-1)], table[is_there].astype(np.float64)

    @cached_property
    def _first_layer(self) -> tuple[ParameterLayout, list[SparseUpdate]]:
        """The part of each update that belongs to the word vectors, as the update of a separate model."""
        width, start = self._readable[1].shape[1], len(CASING_CLASSES)
        whole = [self._layout.unflatten(one.decode().dense())[_FIRST_LAYER] for one in self._uploads]
        # The layer reads the casing classes first, then the word vector.
        parts = [np.ascontiguousarray(part[:, start : start + width]).reshape(-1) for part in whole]
        layout = ParameterLayout.of({WORD_VECTORS: np.zeros((len(whole[0]), width), dtype=np.float32)})
        places = np.arange(layout.size)
        return layout, [SparseUpdate(places, part, layout.size, layout.fingerprint) for part in parts]

    @cached_property
    def _distinct(self) -> tuple[np.ndarray, list[str]]:
        """Number of the word of each token, and the distinct words."""
        return distinct_words(self.data.X)


def _owners(ensemble: Any, groups: np.ndarray | None) -> np.ndarray:
    """Name of the worker that owned each sentence."""
    names = {upload.worker for upload in ensemble.exchange_.uploads()}
    if groups is None:
        raise ValueError(
            "Pass as 'groups' the patients with which the DSSGDEnsemble was fitted. They state which "
            "worker had which sentence."
        )
    patients = ensemble._patients
    given = np.asarray(groups).tolist()
    found = given if patients is None else [f"worker-{patients[p]}" if p in patients else None for p in given]
    if not set(found) <= names:
        must = (
            "names of workers, such as 'worker-0': the workers came with data of their own, or this is a copy"
            if patients is None
            else "patients with whom the DSSGDEnsemble was fitted: audit its updates on what it was trained on"
        )
        raise ValueError(f"All 'groups' must be {must}.")
    # A word that occurs only in the missing notes would count as a word that the site does not have.
    wanted = names if patients is None else {p for p in patients if f"worker-{patients[p]}" in names}
    n_missing = len(wanted - set(given))
    if n_missing:
        raise ValueError(
            f"The 'groups' lack {n_missing} of {len(wanted)} {'workers' if patients is None else 'patients'} of the "
            "training: the attacks need all sentences on which the DSSGDEnsemble was fitted."
        )
    return np.array(found)
