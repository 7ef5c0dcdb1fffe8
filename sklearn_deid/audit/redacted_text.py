"""`audit_redacted_text`: count PHI that attackers still find in redacted notes, and patients who remain
identifiable."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from ..exceptions import DeidError
from ..surrogates.folding import fold, plain_letters, transcribed
from ..tagging.rules import find_phi
from ..text import I2B2_2014, MEDDOCAN, Corpus, Document, known_id, nearest_i2b2, normalize, tokenize, unreadable_reason
from ..text.corpus import patients_of

#: Error of a list with which an attacker would find nothing in any text.
NO_WORD = "There is no word in {}, so that the attacker would search for nothing. A word has a letter; a name has two."

_PLACEHOLDER = re.compile(r"\[([A-Z][A-Z0-9_-]+)\]|\*\*\*")
# Share of words with a first capital up to which a note counts as lower case, as for the taggers.
_FEW_CAPITALS = 0.03
_LONG_WORD = re.compile(r"[^\W\d_]{3,}")
# Ids that `redact --number-outputs` writes: their letters are no names.
_RANDOM_ID = re.compile(r"note-[0-9a-f]{12}")
# Kind of quasi-identifier of each label of the known schemes, by its nearest label of i2b2 2014.
_KINDS = {
    "age": "AGE",
    "date": "DATE",
    "place": "CITY STATE COUNTRY ZIP STREET LOCATION-OTHER HOSPITAL ORGANIZATION",
    "profession": "PROFESSION",
}
_KINDS_OF_RULES = ("age", "date")
_KIND_OF = {label: kind for kind, labels in _KINDS.items() for label in labels.split()}
_KIND_OF |= {label: _KIND_OF[goal] for label, goal in nearest_i2b2().items() if goal in _KIND_OF}


@dataclass(frozen=True)
class RemainingPhi:
    """A passage of a redacted note that an attacker classifies as PHI. The object contains no text.

    Attributes
    ----------
    doc_id : str
        Id of the note.
    start, end : int
        Character offsets in the redacted note.
    label : str
        Kind of PHI, as a label of the attacker.
    attacker : {"rules", "model", "names", "terms"}
        Attacker who found the passage.
    """

    doc_id: str
    start: int
    end: int
    label: str
    attacker: str


@dataclass(frozen=True)
class Anonymity:
    """k-anonymity of the patients of a release with respect to the quasi-identifiers that remain readable.

    Attributes
    ----------
    n_passages : int
        Passages with a value of this kind.
    n_patients : int
        Patients with at least one value.
    k : int or None
        Size of the smallest group of patients with exactly the same values; None if no patient has a value.
    n_below : int
        Patients with a value, in groups of fewer than ``least_k`` patients.
    """

    n_passages: int
    n_patients: int
    k: int | None
    n_below: int


@dataclass(frozen=True, repr=False)
class RedactedTextReport:
    """Result of `audit_redacted_text`. Neither the report nor its repr contains text of a note.

    Attributes
    ----------
    n_notes, n_patients : int
        Size of the release.
    found : tuple of RemainingPhi
        Passages, in the order of the notes. Two attackers may find the same passage.
    attackers : tuple of str
        Attackers that were run.
    anonymity : dict of Anonymity
        One entry for each kind of quasi-identifier ("age", "date", "place", "profession"), and "all" together.
    least_k : int
        Group size below which patients are counted in ``n_below``.
    n_named_ids : int
        Number of notes whose id, such as a file name, contains a word of the names that the attacker knows.
    n_unknown : int
        Number of notes without a patient id. If patients have several of these notes, the groups of ``anonymity`` look
        larger than the groups are.
    unsearched : tuple of str
        Kinds of quasi-identifiers for which no attacker searched. Without a model or terms, these are "place", of which
        the rules find only postal codes, and "profession".
    """

    n_notes: int
    n_patients: int
    found: tuple[RemainingPhi, ...]
    attackers: tuple[str, ...]
    anonymity: dict[str, Anonymity] = field(default_factory=dict)
    least_k: int = 5
    n_named_ids: int = 0
    n_unknown: int = 0
    unsearched: tuple[str, ...] = ()

    def counts(self, attacker: str) -> dict[str, int]:
        """Number of passages of each label that an attacker found."""
        return dict(sorted(Counter(one.label for one in self.found if one.attacker == attacker).items()))

    def notes_with(self, attacker: str) -> int:
        """Number of notes in which an attacker found a passage."""
        return len({one.doc_id for one in self.found if one.attacker == attacker})

    def to_dict(self) -> dict[str, Any]:
        """Counts and offsets for JSON. The result contains the ids of the notes, but no text."""
        return {
            "n_notes": self.n_notes,
            "n_patients": self.n_patients,
            "attackers": {
                name: {"notes": self.notes_with(name), "labels": self.counts(name)} for name in self.attackers
            },
            "least_k": self.least_k,
            "n_named_ids": self.n_named_ids,
            "n_unknown": self.n_unknown,
            "unsearched": list(self.unsearched),
            "anonymity": {kind: vars(found).copy() for kind, found in self.anonymity.items()},
            "passages": [vars(one).copy() for one in self.found],
        }

    def __repr__(self) -> str:
        found = ", ".join(f"{name} in {self.notes_with(name)}" for name in self.attackers)
        return f"RedactedTextReport({self.n_notes} notes; found by {found})"


def audit_redacted_text(
    notes: Sequence[Document],
    *,
    deidentifier: Any = None,
    names: Iterable[str] | None = None,
    terms: Mapping[str, Iterable[str]] | None = None,
    patients: Mapping[str, str] | None = None,
    labels: Iterable[str] = (),
    least_k: int = 5,
) -> RedactedTextReport:
    """Attack redacted notes with rules, a model and a list of names, and count remaining quasi-identifiers.

    The audit does not count labels in brackets or asterisks in the form that `redact` writes. Other capitals in
    brackets, such as ``[SMITH]``, count as text. The audit counts surrogates, because attackers cannot distinguish
    surrogates from originals. Therefore, audit a version of the notes in which labels replace the PHI.

    Parameters
    ----------
    notes : sequence of Document
        Redacted notes. The function ignores the spans of these notes.
    deidentifier : NoteDeidentifier, optional
        Model of the attacker. Use a different model from the model that redacted the notes, or a model with higher
        recall. The model searches for all PHI that it can find, with any value of ``labels``: an attacker also reads
        ages, years, states, countries and professions that the Safe Harbor rule keeps. By default, the attacker has no
        model.
    names : iterable of str, optional
        Names that the attacker knows, such as a list of patients or staff. The attacker finds each word of the list
        that begins with a capital letter, with or without accents, or with two letters for a letter ("Mueller" for
        "Müller"). In notes with hardly any capitals, the attacker also finds these words in lower case, and names such
        as Hope and May are found as ordinary words. Hyphens, apostrophes and capitals inside of a word ("RoeJohn")
        separate words. Words of one letter are not searched. The attacker also searches the ids of the notes, which
        become file names, for these words in lower case. By default, the attacker has no list.
    terms : mapping of {"age", "date", "place", "profession"} to iterable of str, optional
        Further quasi-identifiers to search for, such as rare professions. A term needs a letter: numbers alone are not
        searched for. By default, the audit counts only the quasi-identifiers that the rules and the model find.
    patients : mapping, optional
        Patient of each note, by the id of the note. By default, the patient id of the document. A note without patient
        id counts as a separate patient: six notes of one patient are then a group of six patients.
    labels : iterable of str, default=()
        Labels that mark redacted PHI, in addition to those of ``deidentifier``, i2b2 2014 and MEDDOCAN.
    least_k : int, default=5
        Patients in groups smaller than this number count as easily identifiable (``n_below``).

    Returns
    -------
    RedactedTextReport

    Raises
    ------
    ValueError
        If ``least_k`` is below 2, ``terms`` has an unknown key, ``labels`` is a single string, or a name or term is not
        a string.
    DeidError
        If there are no notes, two notes have the same id, an attacker cannot read a note, such as a base64 body, there
        is no word to search for in ``names`` or ``terms``, or a term has no letter.

    Notes
    -----
    For each kind, the values of a patient are the set of found passages, compared without casing and accents. Two
    patients are in one group if their sets are equal (Sweeney 2002). For attackers who know only some of the values,
    the groups are larger. Labels of a model belong to a kind if they are labels of a scheme of
    `sklearn_deid.text.get_label_scheme`; other labels do not count as ages, dates, places or professions.

    References
    ----------
    Sweeney (2002), k-anonymity: a model for protecting privacy, International Journal of Uncertainty, Fuzziness and
    Knowledge-Based Systems 10(5).

    Examples
    --------
    >>> from sklearn_deid import Document
    >>> notes = [Document("n1", "[PATIENT], a 47-year-old, saw Dr. Roe."), Document("n2", "A 47-year-old man.")]
    >>> report = audit_redacted_text(notes, names=["Roe"])
    >>> report
    RedactedTextReport(2 notes; found by rules in 2, names in 1)
    >>> report.anonymity["age"].k
    2
    """
    if isinstance(least_k, bool) or not isinstance(least_k, int) or least_k < 2:
        raise ValueError(f"The 'least_k' parameter must be an int of at least 2. Got {least_k!r} instead.")
    unknown = sorted(set(terms or {}) - set(_KINDS))
    if unknown:
        raise ValueError(f"The 'terms' parameter must have keys among {sorted(_KINDS)}. Got {unknown[0]!r} instead.")
    notes = list(Corpus(notes))  # refuses ids that occur twice
    _check_notes(notes)
    if isinstance(labels, str):
        raise ValueError("The 'labels' parameter must be a list of labels and not a single text.")
    hidden = {*labels, *getattr(deidentifier, "categories_", ()), *I2B2_2014.labels, *MEDDOCAN.labels}
    # Each word of a name is searched. Initials and particles of one letter are too common.
    given_names = () if names is None else names
    known = {word: "NAME" for key, _ in _entries({"NAME": given_names}) for word in key.split(_GAP) if len(word) > 1}
    known_terms = dict(_entries(terms or {}))
    for what, asked, words in (("'names'", names, known), ("'terms'", terms, known_terms)):
        if asked is not None and not words:
            # The report would count the attacker as run, and say that the attacker has found nothing.
            raise DeidError(NO_WORD.format(what))
    # Rules need nothing but the text, so that no audit goes without an attacker.
    attackers = {
        "rules": ([(s.start, s.end, s.label) for s in find_phi(note.text)] for note in notes),
        **({} if deidentifier is None else {"model": _by_model(deidentifier, notes)}),
        **({} if names is None else {"names": _by_words(notes, known, capital=True)}),
        **({} if terms is None else {"terms": _by_words(notes, known_terms)}),
    }
    found = [
        RemainingPhi(note.doc_id, start, end, label, attacker)
        for attacker, finds in attackers.items()
        for note, spans in zip(notes, finds, strict=True)
        for start, end, label in _readable(note.text, spans, hidden)
    ]
    place = {note.doc_id: number for number, note in enumerate(notes)}
    found.sort(key=lambda one: (place[one.doc_id], one.start, one.end, one.attacker))
    patients = {} if patients is None else patients
    given = [replace(note, patient_id=known_id(patients.get(note.doc_id)) or note.patient_id) for note in notes]
    owners = dict(zip(place, patients_of(given), strict=True))
    anonymity = _anonymity(notes, found, owners, least_k)
    ids = [Document(note.doc_id, note.doc_id) for note in notes if not _RANDOM_ID.fullmatch(note.doc_id)]
    n_named = sum(map(bool, _by_words(ids, known)))
    sizes = len(notes), len(set(owners.values()))
    n_unknown = sum(known_id(note.patient_id) is None for note in given)
    searched = {*_KINDS_OF_RULES, *(terms or {}), *map(_KIND_OF.get, getattr(deidentifier, "categories_", ()))}
    unsearched = tuple(kind for kind in _KINDS if kind not in searched)
    return RedactedTextReport(
        *sizes, tuple(found), tuple(attackers), anonymity, least_k, n_named, n_unknown, unsearched
    )


def _check_notes(notes: Sequence[Document]) -> None:
    if not notes:
        raise DeidError("There are no notes to audit.")
    for note in notes:
        if (reason := unreadable_reason(note.text)) is not None:
            # Rules and lists would find nothing in the note, and its recipient decodes it.
            raise DeidError(f"The attackers cannot read this note. {reason}", doc_id=note.doc_id)


Finds = list[tuple[int, int, str]]


def _by_model(deidentifier: Any, notes: Sequence[Document]) -> Iterator[Finds]:
    if getattr(deidentifier, "labels", "all") != "all":
        # With "hipaa", the report would say of states and professions that they are readable for no patient.
        deidentifier = copy(deidentifier)
        deidentifier.labels = "all"
    for note, spans in deidentifier.iter_annotate(notes):
        if spans is None:
            # A note that the attacker could not read would look like a note without PHI.
            raise DeidError("The model cannot read this note.", doc_id=note.doc_id)
        yield [(span.start, span.end, span.label) for span in spans]


_GAP = " "


def _entries(lists: Mapping[str, Iterable[str]]) -> Iterator[tuple[str, str]]:
    """Each spelling of each entry of the lists, with the label of its list."""
    for label, entries in lists.items():
        if isinstance(entries, str):
            raise ValueError("A list of names or terms must not be a single text.")
        for entry in entries:
            if not isinstance(entry, str):  # such as NaN in a column of a table
                raise ValueError(f"A list of names or terms must hold texts only. Got a {type(entry).__name__}.")
            words = _words(entry)
            if entry.strip() and not words and label in _KINDS:
                raise DeidError(f"A term of the kind {label!r} has no letter, and would not be searched for.")
            if words:
                *_, (_, keys) = _passages(words, 0, math.inf)
                yield from ((key, label) for key in keys)


class _Word(NamedTuple):
    """Place of a word or of a part of a word, and its folded spellings."""

    start: int
    end: int
    spellings: tuple[str, ...]


def _words(text: str) -> list[_Word]:
    """Words as a tagger reads them: parts of names with hyphens or apostrophes, "Roe" and "John" of "RoeJohn", and each
    character of scripts without spaces. Unlike in a tagger, also "ROE" and "John" of "ROEJohn"."""
    tokens = tokenize(text)
    found = zip(tokens.starts, tokens.ends, tokens.texts, strict=True)
    parts = (part for token in found for part in _parts(*token))
    return [_Word(start, end, _spellings(word)) for start, end, word in parts if any(map(str.isalpha, word))]


def _parts(start: int, end: int, word: str) -> Iterator[tuple[int, int, str]]:
    """Parts of a token that ends in a word with a capital letter behind other capital letters."""
    kinds = [character.isupper() for character in word]
    if len(word) != end - start or False not in kinds:  # an HTML entity, or no small letter
        yield start, end, word
        return
    first = 0
    for i in range(1, len(word) - 1):
        if kinds[i - 1] and kinds[i] and word[i + 1].islower():
            yield start + first, start + i, word[first:i]
            first = i
    yield start + first, end, word[first:]


def _spellings(word: str) -> tuple[str, ...]:
    """Folded word, without strokes, and with two letters for some letters (ü as ue)."""
    folded = fold(word)
    return (folded,) * 3 if word.isascii() else (folded, plain_letters(word), transcribed(word))


def _passages(words: Sequence[_Word], first: int, longest: float) -> Iterator[tuple[int, tuple[str, ...]]]:
    """End and spellings of the passages that begin with a word, up to the first of ``longest`` letters."""
    keys: tuple[str, ...] = ("",) * 3
    end = words[first].start
    for i in range(first, len(words)):
        if len(keys[0]) >= longest:
            return
        gap = "" if words[i].start == end else _GAP
        keys, end = tuple(key + gap + own for key, own in zip(keys, words[i].spellings, strict=True)), words[i].end
        yield end, keys


def _by_words(notes: Sequence[Document], known: Mapping[str, str], *, capital: bool = False) -> Iterator[Finds]:
    """Known words in each note. The passage of a term of several words extends from its first to its last word."""
    longest = max(map(len, known), default=0)
    for note in notes:
        # As a tagger reads the note: names can hold zero-width characters, entities, or a hyphen at the end of a line.
        reading = normalize(note.text)
        is_cased = capital and _has_capitals(note.text)
        read = _found(reading.text, known, longest, is_cased)
        finds = [(*reading.original(start, end), label) for start, end, label in read]
        if reading.text != note.text:
            # And as the note is written: the number of a footnote, as in "Roe1", is read as a letter.
            at = {i for start, end, _ in finds for i in range(start, end)}
            written = _found(note.text, known, longest, is_cased)
            finds += [one for one in written if at.isdisjoint(range(one[0], one[1]))]
        yield sorted(finds)


def _has_capitals(text: str) -> bool:
    """Whether capitals can distinguish the names of a note. In lower case, as from a dictation, no name has one."""
    # Abbreviations such as MRI are in capitals in every note.
    words = [word for word in _LONG_WORD.findall(_PLACEHOLDER.sub(" ", text)) if not word.isupper()]
    return sum(word[0].isupper() for word in words) > _FEW_CAPITALS * len(words)


def _found(text: str, known: Mapping[str, str], longest: int, capital: bool) -> Finds:
    words, finds = _words(text), Finds()
    for first, word in enumerate(words):
        # Names such as Hope and May are ordinary words in lower case, which would be found in most notes. Letters of
        # many scripts have no case.
        if capital and text[word.start].islower():
            continue
        for end, keys in _passages(words, first, longest):
            found = next((known[key] for key in keys if key in known), None)
            if found is not None:
                finds.append((word.start, end, found))
    return finds


def _readable(text: str, finds: Finds, labels: Set[str]) -> Iterator[tuple[int, int, str]]:
    """Found passages that have a letter or digit outside of placeholders."""
    spans = [match.span() for match in _PLACEHOLDER.finditer(text) if match[1] is None or match[1] in labels]
    hidden = {at for span in spans for at in range(*span)}
    for start, end, label in finds:
        if any(text[at].isalnum() and at not in hidden for at in range(start, end)):
            yield start, end, label


def _anonymity(
    notes: Sequence[Document], found: Sequence[RemainingPhi], owners: Mapping[str, str], least_k: int
) -> dict[str, Anonymity]:
    texts = {note.doc_id: note.text for note in notes}
    values: dict[str, set[tuple[str, str]]] = {owner: set() for owner in owners.values()}
    places: dict[str, set[tuple[str, int, int]]] = {kind: set() for kind in _KINDS}
    for one in found:
        kind = one.label if one.attacker == "terms" else _KIND_OF.get(one.label)
        if kind is not None:
            values[owners[one.doc_id]].add((kind, fold(texts[one.doc_id][one.start : one.end])))
            places[kind].add((one.doc_id, one.start, one.end))
    out = {kind: _groups(values, (kind,), len(places[kind]), least_k) for kind in _KINDS}
    out["all"] = _groups(values, tuple(_KINDS), sum(map(len, places.values())), least_k)
    return out


def _groups(
    values: Mapping[str, set[tuple[str, str]]], kinds: tuple[str, ...], n_passages: int, least_k: int
) -> Anonymity:
    # A patient without any readable value is in no group, because these values cannot identify the patient.
    sets = [frozenset(value for value in held if value[0] in kinds) for held in values.values()]
    sizes = Counter(held for held in sets if held)
    below = sum(size for size in sizes.values() if size < least_k)
    return Anonymity(n_passages, sum(sizes.values()), min(sizes.values(), default=None), below)
