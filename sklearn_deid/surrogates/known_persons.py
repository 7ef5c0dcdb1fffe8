"""Persons in the notes of one patient, found by their initials without a comparison of all persons."""

from __future__ import annotations

from math import inf

#: Role and folded word of a part of a name.
Named = tuple[str, str]
#: Role and word for each letter of initials, and the surnames of the person.
Initialled = tuple[tuple[Named, ...], tuple[str, ...]]
_Person = tuple[tuple[str, ...], tuple[str, ...]]

# An initial has up to three letters (Chr.).
_LONGEST_INITIAL = 3


class KnownPersons:
    """Given names and surnames of persons, in the order in which the notes mention them.

    Parameters
    ----------
    given, initial, surname : str
        Roles of the parts of a name.

    Examples
    --------
    >>> persons = KnownPersons("given", "initial", "surname")
    >>> persons.add(("john",), ("alder",), (("given", "john"),))
    >>> persons.given_of("j", ("alder",)), persons.with_initials("jqa")[0][1]
    ('john', ('initial', 'q'))
    """

    def __init__(self, given: str, initial: str, surname: str) -> None:
        self._given, self._initial, self._surname = given, initial, surname
        # Given names and initials of each person, in their order
        self._fronts: dict[_Person, tuple[int, set[tuple[Named, ...]]]] = {}
        # Surname and start of a given name -> number of the person and the given name
        self._by_initial: dict[tuple[str, str], tuple[int, str]] = {}
        # Given name and initial of a surname -> surname
        self._by_last_initial: dict[tuple[str, str], str] = {}
        # Initials -> place in the order, and the names
        self._told: dict[str, tuple[tuple[float, ...], Initialled]] = {}
        # First and last initial -> persons without a known middle name
        self._guessed: dict[tuple[str, str], dict[_Person, None]] = {}

    def __len__(self) -> int:
        return len(self._fronts)

    def __repr__(self) -> str:  # counts only: the words are note text
        return f"KnownPersons({len(self)})"

    def add(self, given: tuple[str, ...], family: tuple[str, ...], front: tuple[Named, ...]) -> None:
        """Add a person, or a further written form of the names in front of the surnames of a person."""
        person = (given, family)
        is_new = person not in self._fronts
        number, fronts = self._fronts.setdefault(person, (len(self._fronts), set()))
        if front in fronts:
            return
        last: tuple[Named, ...] = tuple((self._surname, name) for name in family)
        self._tell((*front, *last), family, (number, len(fronts), 0))
        self._tell((*front, last[-1]), family, (number, len(fronts), 1))
        self._tell((*front, last[0]), family, (number, len(fronts), 2))
        fronts.add(front)
        ends = given[0][:1], family[-1][:1]
        if len(front) > 1:
            self._guessed.get(ends, {}).pop(person, None)
        if not is_new:
            return
        alone = (self._given, given[0])
        for place, form in enumerate(((alone, *last), (alone, last[-1]), (alone, last[0]))):
            self._tell(form, family, (number, inf, place))
        if len(front) == 1:
            self._guessed.setdefault(ends, {})[person] = None
        for surname in family:
            for name in given:
                self._by_last_initial.setdefault((name, surname[:1]), surname)
                for length in range(_LONGEST_INITIAL + 1):
                    self._by_initial.setdefault((surname, name[:length]), (number, name))

    def given_of(self, initial: str, surnames: tuple[str, ...]) -> str | None:
        """Given name with this initial of the first person with one of these surnames; None without such a person."""
        found = (self._by_initial.get((surname, initial)) for surname in surnames)
        return min(filter(None, found), key=lambda one: one[0], default=(0, None))[1]

    def surname_of(self, given: str, initial: str) -> str | None:
        """Surname with this initial of the first person with this given name; None without such a person."""
        return self._by_last_initial.get((given, initial))

    def with_initials(self, letters: str) -> Initialled | None:
        """Names of a person that initials can abbreviate.

        First come the persons whose names are known, with and without the names between first and last name. Then come
        persons with a single given name, with a middle name for each middle letter.
        """
        if letters in self._told:
            return self._told[letters][1]
        guessed = self._guessed.get((letters[:1], letters[-1:])) if len(letters) > 2 else None
        if not guessed:
            return None
        given, family = next(iter(guessed))
        middle = tuple((self._initial, letter) for letter in letters[1:-1])
        return ((self._given, given[0]), *middle, (self._surname, family[-1])), family

    def _tell(self, form: tuple[Named, ...], family: tuple[str, ...], place: tuple[float, ...]) -> None:
        letters = "".join(name[:1] for _, name in form)
        if letters not in self._told or place < self._told[letters][0]:
            self._told[letters] = place, (form, family)
