"""`RowRedactor`: redaction of rows in the processes of a cluster."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Any

from .._storage import bundle_digest
from ..exceptions import DeidError
from ..surrogates import LOCALES, SURROGATE, SurrogateEngine, note_rewriter, read_key
from ..tagging.note_tagger import NoteFailure, UnlikeNote
from ..tagging.tagger_failure import TaggerFailure
from ..text import Document, known_id
from ..text.characters import LONE_SURROGATE, has_surrogate
from ..text.column_names import ALIKE, IN_NAME, INSIDE, REPEATED, named_text, names_inside, repeats, resembled
from ..text.row_copies import RowCopies
from .deidentifiers import as_deidentifier
from .frames import text_columns

_BATCH = 128
_NO_TEXT = "The cell holds no text."
# Taggers of this process, by path and digest of the model. Threads of one process take turns.
_taggers: dict[tuple[str, str, str], Any] = {}
_turn = threading.Lock()


class RowRedactor:
    """Function that redacts text columns of some rows. The function can be sent to the processes of a cluster.

    The function contains the paths of the model and of the key file with their digests, and neither the model nor the
    key. The digest does not reveal a key of 256 bits. Each process loads the model once. The result of a row depends on
    this row only, and not on the other rows of its partition.

    Parameters
    ----------
    model : path
        Folder that `save` wrote. This path must lead to the same model on this computer and on all computers of the
        cluster.
    columns : str, int, or sequence of them
        Columns of texts.
    patient_column : str, optional
        Column of the patient. Needed for surrogates.
    mode : {"label", "mask", "remove", "surrogate"}, default="label"
        Replacement of PHI, as in `NoteDeidentifier.redact`.
    key_file : path, optional
        File with the key of surrogates. This path must lead to the same key on this computer and on all computers of
        the cluster: with another key, the computation ends with an error. Needed for surrogates; `read_or_make_key`
        makes a key file. The same name of a patient has the same surrogate in all rows. Misspelled names and initials
        in a row are compared with the names of this row only.
    locale : str, optional
        Language of surrogates. Needed for surrogates: with a guess of the language in each row, a patient could have
        two names.
    reason_column : str, default="withheld"
        New column with the reason why a text is withheld. The text column of a withheld text has no value.

    Raises
    ------
    BundleError
        If the path does not hold a saved model.
    DeidError
        If there is no column, if the key file cannot be used, or if an option of surrogates is missing, or given
        without ``mode="surrogate"``.

    Examples
    --------
    >>> import tempfile
    >>> from sklearn_deid import RuleTagger, save
    >>> path = tempfile.mkdtemp() + "/model"
    >>> save(RuleTagger().fit([]), path)
    >>> RowRedactor(path, "note")({"note": ["Mail to roe@example.org", None, "a\\x00"]}, 3)["note"]
    ['Mail to [EMAIL]', None, None]
    """

    def __init__(
        self,
        model: str | os.PathLike[str],
        columns: str | int | Sequence[str | int],
        *,
        patient_column: str | None = None,
        mode: str = "label",
        key_file: str | os.PathLike[str] | None = None,
        locale: str | None = None,
        reason_column: str = "withheld",
    ) -> None:
        if mode != SURROGATE:
            note_rewriter(mode)  # refuses an unknown mode
        needed = {"patient_column": patient_column, "key_file": key_file, "locale": locale}
        for name, value in needed.items():
            if mode == SURROGATE and value is None:
                raise DeidError(f"Surrogates on a cluster need {name}.")
            if mode != SURROGATE and value is not None and name != "patient_column":
                raise DeidError(f"{name} needs mode='surrogate'.")
        if mode == SURROGATE and locale not in LOCALES:
            raise DeidError(f"The 'locale' parameter must be one of {', '.join(LOCALES)}.")
        self.model = os.fspath(model)
        self.columns = text_columns(columns)
        self.patient_column, self.mode, self.locale, self.reason_column = patient_column, mode, locale, reason_column
        self.key_file = None if key_file is None else os.fspath(key_file)
        self._digest = bundle_digest(self.model)
        self._key_digest = None if self.key_file is None else _digest(read_key(self.key_file))

    @property
    def read_columns(self) -> list[str]:
        """Columns that a call needs: the columns of texts, and the column of the patient."""
        return [*self.columns, *([] if self.patient_column is None else [self.patient_column])]

    def check_columns(self, names: Sequence[str]) -> None:
        """Refuse a table that lacks a column, or has a column named like the new column or like a column of texts.

        Raises
        ------
        DeidError
            If the table is refused.
        """
        for name in self.read_columns:
            if list(names).count(name) != 1:
                raise DeidError(f"The table must have one column of the name {name!r}.")
        # Spark does not distinguish names that differ in case only.
        if any(str(name).casefold() == self.reason_column.casefold() for name in names):
            raise DeidError(f"The table has a column {self.reason_column!r}. Choose another reason_column.")
        if (alike := resembled(names, self.columns, self.read_columns)) is not None:
            raise DeidError(f"The table has a column {ALIKE.format(alike)}")

    def check_copies(
        self, values: Mapping[str, Sequence[Any]], others: Iterable[Sequence[Any]], names: Iterable[Any] = ()
    ) -> None:
        """Refuse rows with a text that another column, or the name of a column or of an index, repeats.

        Parameters
        ----------
        values : mapping of str to sequence
            Values of the text columns.
        others : iterable of sequence
            Values of the columns that are copied.
        names : iterable of object, default=()
            Names of all columns and indexes.

        Raises
        ------
        DeidError
            If another column in the row repeats a text of five words or more, or a long part of a text. Also if a name
            holds a whole text of five words or more, or if an object inside of another column has a key that resembles
            the name of a column of texts.
        """
        texts = ((name, text) for name in self.columns for text in values[name])
        if (named := named_text(names, texts)) is not None:
            raise DeidError(IN_NAME.format(named))
        for other in others:
            if (alike := resembled(names_inside(other), self.columns, ())) is not None:
                raise DeidError(INSIDE.format(alike))
            for name in self.columns:
                if any(repeats(text, [copy]) for text, copy in zip(values[name], other, strict=True)):
                    raise DeidError(REPEATED.format(name))

    def check_rows(
        self,
        values: Mapping[str, Sequence[Any]],
        others: Iterable[Iterable[Any]],
        copies: RowCopies | None = None,
    ) -> None:
        """Refuse rows with a text that a copied value of another row repeats, as ``note.shift()`` does.

        Parameters
        ----------
        values : mapping of str to sequence
            Values of the text columns.
        others : iterable of iterables
            Values that are copied.
        copies : RowCopies, optional
            Texts and copied values of earlier rows, to which these rows are added. With None, these rows are compared
            with each other only.

        Raises
        ------
        DeidError
            If a copied value is a whole text of twelve words or more.
        """
        copies = RowCopies() if copies is None else copies
        for name in self.columns:
            copies.add(name, values[name])
        for other in others:
            copies.add_copied(other)
        if (name := copies.repeated()) is not None:
            raise DeidError(REPEATED.format(name))

    def __call__(self, values: Mapping[str, Sequence[Any]], n_rows: int) -> dict[str, list[str | None]]:
        """New values of the text columns, and the reasons.

        Parameters
        ----------
        values : mapping of str to sequence
            Values of the text columns and of the patient column. None is not a value.
        n_rows : int
            Number of rows.
        """
        if not n_rows:
            return {name: [] for name in (*self.columns, self.reason_column)}
        patients = [None] * n_rows if self.patient_column is None else list(values[self.patient_column])
        new: dict[str, list[str | None]] = {}
        reasons: list[list[str]] = [[] for _ in range(n_rows)]
        for name in self.columns:
            new[name] = [None] * n_rows
            rows = [row for row, value in enumerate(values[name]) if value is not None]
            for start in range(0, len(rows), _BATCH):
                batch = rows[start : start + _BATCH]
                for row, found in zip(batch, self._found([values[name][row] for row in batch]), strict=True):
                    text, reason = self._rewritten(values[name][row], found, patients[row])
                    new[name][row] = text
                    reasons[row] += [] if reason is None else [f"{name}: {reason}"]
        return new | {self.reason_column: ["; ".join(given) or None for given in reasons]}

    def _found(self, texts: list[Any]) -> list[Any]:
        with _turn:
            known = self.model, self._digest, self.mode
            if known not in _taggers:
                deidentifier = as_deidentifier(self.model).set_params(on_unlike="withhold")
                # Behind the load: the model can be replaced while it is loaded.
                if bundle_digest(self.model) != self._digest:
                    raise DeidError("This computer of the cluster has another model at this path.", path=self.model)
                _taggers[known] = deidentifier.note_tagger(self.mode)
            return _taggers[known]([text if isinstance(text, str) else None for text in texts])

    def _rewritten(self, text: Any, found: Any, patient: Any) -> tuple[str | None, str | None]:
        """New text, or the reason why there is no new text."""
        if not isinstance(text, str):
            return None, _NO_TEXT
        if isinstance(found, (NoteFailure, UnlikeNote)):
            return None, found.reason
        if self.mode == SURROGATE and known_id(patient) is None:
            return None, "The row has no patient, whom surrogates need."
        note = Document("row", text, found, known_id(patient))
        rewrite = self._rewriter()
        with TaggerFailure() as failure:
            new = rewrite(note).text
            # As in a table of one process: such a text cannot be written to a file.
            return (None, LONE_SURROGATE) if has_surrogate(new) else (new, None)
        return None, failure.reason()

    def _rewriter(self) -> Any:
        if self.mode != SURROGATE:
            return note_rewriter(self.mode)
        assert self.key_file is not None and self.locale is not None
        key = read_key(self.key_file)
        # A patient would have several names, and several shifts of the dates.
        if _digest(key) != self._key_digest:
            raise DeidError("This computer of the cluster has another key at this path.", path=self.key_file)
        # A new engine for each row: what an engine has learned from other rows would depend on the partitions.
        return SurrogateEngine(key=key, locale=self.locale).rewrite


def _digest(key: bytes) -> str:
    return sha256(key).hexdigest()
