"""Names in the notes of one patient, and the rules by which two written names are treated as the same name."""

from __future__ import annotations

from collections.abc import Iterable

from .folding import fold, plain_letters, transcribed
from .known_persons import Initialled, KnownPersons
from .locale_words import LocaleWords
from .name_parsing import GIVEN, INITIAL, SURNAME, NamePart
from .name_spellings import NameSpellings

# Ends of English plurals: the Lindens, the Joneses.
PLURALS = ("s", "es")


class KnownNames:
    """Names that the notes of one patient contain, as folded words (lower case, without accents).

    Two written words are the same name by these rules:

    1. They are equal without case and accents (Alder, ALDER), also of letters with a stroke (\u0141ukasz, Lukasz), if
       one letter is written as two letters (M\u00fcller, Mueller), or without the s of a genitive in German and
       Norwegian (M\u00fcllers) or of a plural in English (the Alders, if the notes contain Alder).
    2. One typing error turns one word into the other (Adler, Aldder), and both words have 5 to 40 letters and the same
       first letter. At most one word is a name of the locale: Marina and Martina are two names.
    3. An initial is the given name of the same person, if a person with this surname and a given name with this initial
       is known (J. Alder, John Alder), or the surname of a known person with this given name (John A.).
    4. Capitals without a name are the initials of a known person (JA), also with a further letter between them that
       contradicts no name of the person (JQA).

    Given names and surnames are compared separately. If the patient's notes use a word in only one role, the word keeps
    this role where no other name is next to it (Mr. Alder, John), and where two of these words are exchanged (Alder
    John).

    Parameters
    ----------
    words : LocaleWords
        Names of the locale.

    Examples
    --------
    >>> from sklearn_deid.surrogates.locale_words import locale_words
    >>> from sklearn_deid.surrogates.name_parsing import parse_name
    >>> names = KnownNames(locale_words("en"))
    >>> names.learn([parse_name("John Quillwick", locale_words("en"))])
    >>> names.canonical("surname", "QUILWICK"), names.given_of("J", "quillwick")
    ('quillwick', 'john')
    """

    def __init__(self, words: LocaleWords) -> None:
        self._words = words
        self._known: dict[str, dict[str, str]] = {GIVEN: {}, SURNAME: {}}
        self._spellings = {GIVEN: NameSpellings(), SURNAME: NameSpellings()}
        self._persons = KnownPersons(GIVEN, INITIAL, SURNAME)
        # The first two given names of a person, the first three, ...
        self._several: set[str] = set()

    def __repr__(self) -> str:  # counts only: the words are note text
        return f"KnownNames({len(self._persons)} persons)"

    def learn(self, names: Iterable[tuple[NamePart, ...]]) -> None:
        """Learn the names of a note, in the order of their number of words, longest first."""
        for parts in sorted(names, key=lambda parts: -sum(part.role in self._known for part in parts)):
            named = [
                (part.role, self._first_spelling(part)) for part in parts if part.role in (GIVEN, INITIAL, SURNAME)
            ]
            given, family = (tuple(word for role, word in named if role == wanted) for wanted in (GIVEN, SURNAME))
            if given and family:
                self._several.update(" ".join(given[:n]) for n in range(2, len(given) + 1))
                self._persons.add(given, family, tuple(one for one in named if one[0] != SURNAME))

    def in_address(self, role: str, text: str) -> list[tuple[str, str]]:
        """Spellings of names with this role in a folded mail address, each with its first spelling."""
        return self._spellings[role].in_text(text)

    def role_of(self, folded: str) -> str | None:
        """Role of a word, or of several given names, in the names of the patient, if the word has a single role."""
        if " " in folded:
            alone = (self._known[GIVEN].get(word, word) for word in folded.split())
            return GIVEN if " ".join(alone) in self._several else None
        is_given, is_surname = folded in self._known[GIVEN], folded in self._known[SURNAME]
        return None if is_given == is_surname else GIVEN if is_given else SURNAME

    def canonical(self, role: str, word: str) -> str:
        """First spelling of a name, for any of its spellings. A new word is learned."""
        folded, known = fold(word), self._known[role]
        if folded not in known:
            # "Mueller" is M\u00fcller, and "Lukasz" is \u0141ukasz.
            spelled = [other for other in (transcribed(word), plain_letters(word)) if other != folded]
            base = self._words.without_genitive(word)
            if base != word:
                known[folded] = self.canonical(role, base)
            elif same := [known[other] for other in (*spelled, *self._singulars(role, folded)) if other in known]:
                known[folded] = same[0]
            else:
                # First spellings only: slips of slips would lead from one name to any other.
                alike = self._spellings[role].slips(folded)
                known[folded] = next((other for other in alike if not self._are_names(folded, other)), folded)
                if known[folded] == folded:
                    self._spellings[role].add(folded)
            for other in spelled:
                known.setdefault(other, known[folded])
                self._spellings[role].add_transcribed(other, known[folded])
        return known[folded]

    def given_of(self, initial: str, *surnames: str) -> str | None:
        """Given name with this initial of a known person with one of these surnames; None without such a person."""
        return self._persons.given_of(fold(initial), surnames)

    def surname_of(self, given: str, initial: str) -> str | None:
        """Surname with this initial of a known person with this given name; None without such a person."""
        return self._persons.surname_of(given, fold(initial))

    def with_initials(self, letters: str) -> Initialled | None:
        """Names and initials with their roles, given names first, of a known person with these initials.

        A letter between the initials of a given name and a surname counts as a middle name, if no middle name of the
        person is known.

        Returns
        -------
        tuple of (tuple of (str, str), tuple of str), or None
            Role and word for each letter, and the surnames of the person; None without such a person.
        """
        return self._persons.with_initials(fold(letters))

    def _singulars(self, role: str, folded: str) -> tuple[str, ...]:
        """English surnames of which a word that is no name itself may be the plural (the Lindens)."""
        is_plural = self._words.locale == "en" and role == SURNAME and not self._words.is_name(folded)
        return tuple(folded.removesuffix(end) for end in PLURALS if is_plural and folded.endswith(end))

    def _first_spelling(self, part: NamePart) -> str:
        return fold(part.text) if part.role == INITIAL else self.canonical(part.role, part.text)

    def _are_names(self, word: str, other: str) -> bool:
        return self._words.is_name(word) and self._words.is_name(other)
