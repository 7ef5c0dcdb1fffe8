"""Names in the notes of one patient, and the rules by which two written names are treated as the same name."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from .folding import fold, plain_letters, transcribed, within_one_slip
from .locale_words import LocaleWords
from .name_parsing import GIVEN, INITIAL, SURNAME, NamePart

#: Role and folded word of a part of a name.
Named = tuple[str, str]

# Short names that differ in a letter are often two names (Ann and Anna, Lee and Leo).
_LEAST_LETTERS = 5


class KnownNames:
    """Names that the notes of one patient contain, as folded words (lower case, without accents).

    Two written words are the same name by these rules:

    1. They are equal without case and accents (Alder, ALDER), if one letter is written as two letters (M\u00fcller,
       Mueller), or without the s of a genitive in German and Norwegian (M\u00fcllers).
    2. One typing error turns one word into the other (Adler, Aldder), and both words have at least five letters and the
       same first letter. At most one word is a name of the locale: Marina and Martina are two names.
    3. An initial is the given name of the same person, if a person with this surname and a given name with this initial
       is known (J. Alder, John Alder).
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
        # "mueller" -> "muller"
        self._transcribed: dict[str, dict[str, str]] = {GIVEN: {}, SURNAME: {}}
        # (given names, surnames) of each person, as canonical words, and the given names and initials in their order
        self.persons: dict[tuple[tuple[str, ...], tuple[str, ...]], dict[tuple[Named, ...], None]] = {}

    def __repr__(self) -> str:  # counts only: the words are note text
        return f"KnownNames({len(self.persons)} persons)"

    def learn(self, names: Iterable[tuple[NamePart, ...]]) -> None:
        """Learn the names of a note, in the order of their number of words, longest first."""
        for parts in sorted(names, key=lambda parts: -sum(part.role in self._known for part in parts)):
            named = [
                (part.role, self._first_spelling(part)) for part in parts if part.role in (GIVEN, INITIAL, SURNAME)
            ]
            given, family = (tuple(word for role, word in named if role == wanted) for wanted in (GIVEN, SURNAME))
            if given and family:
                front = tuple(one for one in named if one[0] != SURNAME)
                self.persons.setdefault((given, family), {}).setdefault(front)

    def spellings(self, role: str) -> tuple[tuple[str, str], ...]:
        """Spellings of the names with this role, in the letters of mail addresses, each with its first spelling."""
        firsts = dict.fromkeys(self._known[role].values())
        plain = {plain_letters(first): first for first in firsts}
        return tuple({**plain, **{first: first for first in firsts}, **self._transcribed[role]}.items())

    def role_of(self, folded: str) -> str | None:
        """Role of the word in the names of the patient, if the word has a single role."""
        is_given, is_surname = folded in self._known[GIVEN], folded in self._known[SURNAME]
        return None if is_given == is_surname else GIVEN if is_given else SURNAME

    def canonical(self, role: str, word: str) -> str:
        """First spelling of a name, for any of its spellings. A new word is learned."""
        folded, known = fold(word), self._known[role]
        if folded not in known:
            # Compared with the first spellings only: slips of slips would lead from one name to any other.
            firsts = dict.fromkeys(known.values())
            base = self._words.without_genitive(word)
            if base != word:
                known[folded] = self.canonical(role, base)
            else:
                known[folded] = next((other for other in firsts if self._is_slip(folded, other)), folded)
            # "Mueller" is Müller.
            if (spelled := transcribed(word)) != folded:
                known.setdefault(spelled, known[folded])
                self._transcribed[role].setdefault(spelled, known[folded])
        return known[folded]

    def given_of(self, initial: str, *surnames: str) -> str | None:
        """Given name with this initial of a known person with one of these surnames; None without such a person."""
        letter = fold(initial)
        for given, family in self.persons:
            if set(surnames) & set(family):
                for name in given:
                    if name.startswith(letter):
                        return name
        return None

    def with_initials(self, letters: str) -> tuple[tuple[Named, ...], tuple[str, ...]] | None:
        """Names and initials with their roles, given names first, of a known person with these initials.

        A letter between the initials of a given name and a surname counts as a middle name, if no middle name of the
        person is known.

        Returns
        -------
        tuple of (tuple of (str, str), tuple of str), or None
            Role and word for each letter, and the surnames of the person; None without such a person.
        """
        folded = fold(letters)
        for forms_of in (_told_forms, _guessed_forms):
            for (given, family), fronts in self.persons.items():
                for form in forms_of(given, family, fronts, folded):
                    if "".join(name[0] for _, name in form) == folded:
                        return form, family
        return None

    def _first_spelling(self, part: NamePart) -> str:
        return fold(part.text) if part.role == INITIAL else self.canonical(part.role, part.text)

    def _is_slip(self, word: str, other: str) -> bool:
        if min(len(word), len(other)) < _LEAST_LETTERS or word[0] != other[0] or not within_one_slip(word, other):
            return False
        return not (self._words.is_name(word) and self._words.is_name(other))


def _told_forms(
    given: tuple[str, ...], family: tuple[str, ...], fronts: Collection[tuple[Named, ...]], letters: str
) -> Iterator[tuple[Named, ...]]:
    """Names of a person that initials can abbreviate: with and without the names between first and last name."""
    last = tuple((SURNAME, name) for name in family)
    for front in (*fronts, ((GIVEN, given[0]),)):
        yield from ((*front, *last), (*front, last[-1]), (*front, last[0]))


def _guessed_forms(
    given: tuple[str, ...], family: tuple[str, ...], fronts: Collection[tuple[Named, ...]], letters: str
) -> Iterator[tuple[Named, ...]]:
    """Names of a person with a single given name, with a middle name for each middle letter."""
    if len(letters) > 2 and all(len(front) == 1 for front in fronts):
        middle = tuple((INITIAL, letter) for letter in letters[1:-1])
        yield ((GIVEN, given[0]), *middle, (SURNAME, family[-1]))
