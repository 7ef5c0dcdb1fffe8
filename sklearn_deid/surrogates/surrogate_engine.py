"""`SurrogateEngine` replaces the PHI of notes by invented PHI of the same kind and form."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from ..text import Document, Span, known_id
from ..text.rewriting import inserted, joined_spans
from .guessed_locale import guess_locale
from .keyed_chance import KEY_BYTES, KeyedChance, new_key
from .locale_words import locale_words
from .note_mentions import NoteMentions
from .patient_chance import PatientChance
from .patient_surrogates import Mention, PatientSurrogates
from .surrogate_settings import SurrogateSettings
from .time_zones import with_time_zones

_LEAST_KEY = 16
_MOST_PATIENTS = 1000
_MOST_ATTEMPTS = 40
# Longer spans are no names and no addresses, but for example coded text. With this limit, the time for a note is linear
# in its length.
_LONGEST_SPAN = 1000


class Replacement(NamedTuple):
    """A span and the text that replaces it. The repr shows offsets and the label only.

    Parameters
    ----------
    span : Span
        Span of the note.
    surrogate : str
        New text.
    has_rule : bool
        False if the new text is the label in brackets, because the form of the span is unknown.
    """

    span: Span
    surrogate: str
    has_rule: bool

    def __repr__(self) -> str:
        return f"Replacement({self.span.start}-{self.span.end}, {self.span.label})"


class SurrogateEngine:
    """Replace annotated PHI by invented PHI that does not depend on the letters of the original.

    A surrogate is computed with HMAC-SHA256 from a secret key, the patient, the entity, the label and the written form.
    The written form consists of the number of words, casing, punctuation, number of digits, and public words (such as
    titles, street types and units). The written form also contains the number of letters of codes, initials and words
    of up to three letters. The written form also shows whether an institution is named after a listed town. Surrogates
    also agree with words next to them in the note: articles, titles such as "Mr.", and fields such as "First name:". In
    all notes of a patient, the same name, place or number has the same surrogate. All dates of a patient move by one
    secret number of days. A span of unknown form or of more than 1,000 characters is replaced by its label in brackets,
    never by the original. A note with a missing patient id (None, empty, NaN, NULL) is treated as a patient of its own.

    Parameters
    ----------
    key : bytes, optional
        Secret key of at least 16 bytes. With one key, every run gives the same surrogates, if the versions of this
        library and of Faker are the same. With None, a new key of 256 bits is drawn and not stored, so that no other
        run repeats the surrogates.
    locale : {"auto", "en", "es", "de", "fr", "nb", "it", "nl", "pt"}, default="auto"
        Language of names, places and months. "auto" selects the language whose most frequent words are most frequent in
        the first note of each patient.
    date_shift : int, default=3650
        Largest shift of dates in days. The smallest shift is a tenth of ``date_shift``.
    whole_weeks : bool, default=False
        Whether dates move by whole weeks, so that weekdays are kept. The shift may become up to six days shorter.
    keep_seasons : bool, default=False
        Whether dates move by whole years, plus or minus two weeks (with ``whole_weeks``, three weeks).
    ages : {"keep", "shift", "band"}, default="keep"
        Treatment of ages up to 89 years: unchanged; moved by one to three years for each patient, together with the
        birth dates, but to no age below 1 or over 89; or replaced by bands of five years, which a birth date in the
        notes makes exact again. Ages over 89 are always replaced by ``90+``.
    keep_gender : bool, default=True
        Whether given names keep their sex.
    check_digits : {"invalid", "valid"}, default="invalid"
        Check digits of cards and of nine national numbers: invalid, so that nobody has the number, or valid. The check
        digits of all other numbers, such as British NHS numbers, are random.
    kinds : mapping of str to str or None, optional
        Kind of surrogate of further labels; see `label_kinds`. With None as kind, the span is replaced by the label in
        brackets.
    avoid : collection of str, optional
        Names that are not allowed as surrogates of people, towns, streets, institutions, professions and addresses,
        such as the names of the corpus. From the surrogates, a reader can then learn which names the corpus does not
        contain. Regions, departments and relatives have no such choice, because there are few of them.
    copy : int, default=0
        Number of the copy. Copies of the same notes under one key have different surrogates. Only the shifts of dates
        and ages are equal in all copies, because each further shift would exclude possible originals.

    Notes
    -----
    **Protected.** Spans with a rule. For readers without the key, the surrogates are independent of the letters of the
    originals, given the written forms.

    **Not protected.** PHI that is not annotated remains in the text. The written form, the sex of given names, repeated
    names, intervals between dates, ages up to 89 (by default) and the rest of the text remain visible. A surrogate may
    equal its original by chance. A reader with the key can check a guess of an original and shift the dates back.

    Examples
    --------
    >>> note = Document("n1", "Ann Alder, 95, seen 3/5/2011.", (Span(0, 9, "PATIENT"), Span(11, 13, "AGE")))
    >>> engine = SurrogateEngine(key=bytes(32), locale="en")
    >>> new = engine.rewrite(note)
    >>> new.text[new.spans[1].start :], new.text.startswith("Ann")
    ('90+, seen 3/5/2011.', False)
    """

    def __init__(
        self,
        *,
        key: bytes | None = None,
        locale: str = "auto",
        date_shift: int = 3650,
        whole_weeks: bool = False,
        keep_seasons: bool = False,
        ages: str = "keep",
        keep_gender: bool = True,
        check_digits: str = "invalid",
        kinds: Mapping[str, str | None] | None = None,
        avoid: Collection[str] | None = None,
        copy: int = 0,
    ) -> None:
        if key is not None and (not isinstance(key, bytes) or len(key) < _LEAST_KEY):
            raise ValueError(
                f"The 'key' parameter of SurrogateEngine must be at least {_LEAST_KEY} bytes or None. Got "
                f"{len(key) if isinstance(key, bytes) else type(key).__name__} instead. "
                f"Draw a key with secrets.token_bytes({KEY_BYTES})."
            )
        self.settings = SurrogateSettings(
            locale, date_shift, whole_weeks, keep_seasons, ages, keep_gender, check_digits, kinds, avoid
        )
        self._key = new_key() if key is None else key
        self._copy = copy
        # The rules for misspelt names and initials need the names of the earlier notes of a patient. The number of
        # patients is limited, so that the memory of a long run stays flat.
        self._patients: OrderedDict[str, PatientSurrogates] = OrderedDict()
        # The languages of all patients: with another language, a later note had other names and other dates.
        self._guessed: dict[str, str] = {}

    def __repr__(self) -> str:  # neither the key nor names
        return f"SurrogateEngine(locale={self.settings.locale!r})"

    def __getstate__(self) -> dict:
        raise TypeError("A SurrogateEngine cannot be pickled or copied: it holds a secret key.")

    def rewrite(self, document: Document) -> Document:
        """Return the note with surrogates. The spans of the new note are exactly the surrogates.

        Parameters
        ----------
        document : Document
            Note with PHI spans. Overlapping spans are joined; touching spans are not.

        Returns
        -------
        Document
            Note with the same id, patient id and labels. Spans of dates contain the time zones behind them, and other
            zones are spans with the label of a date. ``meta`` is left out, since it may hold PHI. Spans have no
            confidence, since the confidence depends on the letters of the original.
        """
        document = self.with_time_zones(document)
        return rewritten(document, self.replacements(document))

    def with_time_zones(self, document: Document) -> Document:
        """Return the note with spans for the time zones beside its dates ("14:30 EDT"), which show summer time."""
        return with_time_zones(document, self.settings.kind_of)

    def rewrite_all(self, documents: Iterable[Document]) -> Iterator[Document]:
        """Yield the notes with surrogates, one after the other."""
        return map(self.rewrite, documents)

    def replacements(self, document: Document, fits: Callable[[str, Span], bool] | None = None) -> list[Replacement]:
        """Surrogates of the spans of a note, in order; zones beside the spans have none (`with_time_zones`).

        Parameters
        ----------
        document : Document
            Note with PHI spans.
        fits : callable, optional
            Function that returns whether a surrogate may be used for a span. Places and institutions are drawn again
            until a surrogate fits, at most 40 times; if none fits, the last draw is returned.

        Returns
        -------
        list of Replacement
            One replacement for each joined span.
        """
        spans = joined_overlaps(document.spans)
        patient = self._patient(document)
        mentions = self._mentions(document, spans, patient)
        # All names of the note before any is replaced: a full name further down may show that a single word is a
        # surname.
        patient.learn([mention for mention in mentions if mention is not None])
        return [self._replacement(patient, s, m, fits) for s, m in zip(spans, mentions, strict=True)]

    def chance(self, owner: str, kind: str, *entity: str) -> KeyedChance:
        """Draws of a patient for an entity that no rule knows; see `PatientChance`."""
        return PatientChance(self._key, owner, self._copy).of(kind, *entity)

    def _replacement(
        self,
        patient: PatientSurrogates,
        span: Span,
        mention: Mention | None,
        fits: Callable[[str, Span], bool] | None,
    ) -> Replacement:
        if mention is None:
            return Replacement(span, f"[{span.label}]", False)
        for attempt in range(1 if fits is None else _MOST_ATTEMPTS):
            patient.chance.attempt = attempt
            # The number of the attempt enters the draw: the surrogate is different, and the same in every run.
            surrogate = patient.surrogate(mention)
            if surrogate is None or fits is None or fits(surrogate, span):
                break
        patient.chance.attempt = 0
        return Replacement(span, f"[{span.label}]" if surrogate is None else surrogate, surrogate is not None)

    def _patient(self, document: Document) -> PatientSurrogates:
        # The id of a note alone is not enough: row 3, or a file of the same name, is another patient in another run.
        known = known_id(document.patient_id)
        owner = known or f"{document.doc_id}\n{_digest(document.text)}"
        if owner in self._patients:
            self._patients.move_to_end(owner)
            return self._patients[owner]
        # The first note determines the language of a patient: a short later note could be mistaken for another
        # language, and the patient would have other names there.
        is_auto = self.settings.locale == "auto"
        locale = self._guessed.get(owner) or guess_locale(document.text) if is_auto else self.settings.locale
        chance = PatientChance(self._key, owner, self._copy)
        patient = PatientSurrogates(chance, locale_words(locale), self.settings)
        # A date of birth from a table is written in no language, and must not determine the language of the notes after
        # it. A note without a patient has no later notes, and must not displace a patient: a resumed run does not read
        # such notes again.
        if known is None or (is_auto and not any(map(str.isalpha, document.text))):
            return patient
        if is_auto:
            self._guessed[owner] = locale
        self._patients[owner] = patient
        if len(self._patients) > _MOST_PATIENTS:
            self._patients.popitem(last=False)
        return self._patients[owner]

    def _mentions(self, document: Document, spans: Sequence[Span], patient: PatientSurrogates) -> list[Mention | None]:
        kinds = [self.settings.kind_of.get(span.label) if span.length <= _LONGEST_SPAN else None for span in spans]
        return NoteMentions(document.text, spans, kinds, patient.words, patient.place_parts).read()


def rewritten(document: Document, replacements: Iterable[Replacement]) -> Document:
    """Insert the surrogates into the note; all other characters are unchanged.

    Parameters
    ----------
    document : Document
        Note with the spans of the replacements.
    replacements : iterable of Replacement
        Result of `SurrogateEngine.replacements`, in order.

    Returns
    -------
    Document
        New note whose spans are the surrogates, without ``meta`` and confidences.

    Examples
    --------
    >>> note = Document("n1", "Ann left.", (Span(0, 3, "PATIENT"),))
    >>> rewritten(note, [Replacement(note.spans[0], "Zelda", True)]).text
    'Zelda left.'
    """
    text, places = inserted(document.text, ((old, new) for old, new, _ in replacements))
    # No confidence: whoever has the model computes it for a guess of the original, and compares.
    spans = tuple(Span(at, end, old.label, old.category) for old, at, end in places)
    return Document(document.doc_id, text, spans, document.patient_id)


def joined_overlaps(spans: Iterable[Span]) -> list[Span]:
    """Join spans that share characters, with the label of the longest span; spans that only touch are not joined.

    Examples
    --------
    >>> [(s.start, s.end) for s in joined_overlaps([Span(0, 3, "CITY"), Span(2, 9, "STREET"), Span(9, 12, "ZIP")])]
    [(0, 9), (9, 12)]
    """
    # A text has one surrogate: two for a shared part would leave a rest of one of the originals.
    return joined_spans(spans, gap=-1)


def rewrite_note(
    note: str | Document,
    spans: Iterable[Span],
    rewrite: Callable[[Document], Document],
    *,
    name: str = "note",
    patient_id: str | None = None,
) -> Document:
    """Rewrite a raw note whose PHI spans are given.

    A string without a patient is treated as a patient of its own: the digest of the string replaces the patient id, so
    that one key gives the same surrogates in every run. The digest is not in the result, since readers could use it to
    check guesses of the note.

    Parameters
    ----------
    note : str or Document
        Raw note. A Document keeps its id and its patient id.
    spans : iterable of Span
        PHI spans.
    rewrite : callable
        Function from a note with spans to the new note.
    name : str, default="note"
        Id of the new note, for a string.
    patient_id : str, optional
        Patient of a string.

    Returns
    -------
    Document
        New note.

    Examples
    --------
    >>> rewrite_note("95 years", [Span(0, 2, "AGE")], SurrogateEngine(locale="en").rewrite).text
    '90+ years'
    """
    if isinstance(note, Document):
        return rewrite(Document(note.doc_id, note.text, tuple(spans), note.patient_id))
    owner = known_id(patient_id) or _digest(note)
    return replace(rewrite(Document(name, note, tuple(spans), owner)), patient_id=patient_id)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
