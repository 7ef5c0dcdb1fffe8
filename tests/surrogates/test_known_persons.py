"""Persons are found by their initials, as a comparison of all persons would find them."""

from hypothesis import given
from hypothesis import strategies as st

from sklearn_deid.surrogates.known_persons import KnownPersons

GIVEN, INITIAL, SURNAME = "given", "initial", "surname"
WORDS = st.sampled_from(["ann", "abe", "bob", "bea", "cara", "chris"])
FRONTS = st.lists(st.tuples(st.sampled_from([GIVEN, INITIAL]), WORDS), max_size=2)
PERSONS = st.lists(st.tuples(WORDS, FRONTS, st.lists(WORDS, min_size=1, max_size=2)), max_size=8)
LETTERS = st.text("abc", min_size=1, max_size=4)


def added(names):
    """Persons, and the same persons in a dictionary from names to the written forms of their given names."""
    persons, fronts = KnownPersons(GIVEN, INITIAL, SURNAME), {}
    for first, others, family in names:
        front = ((GIVEN, first), *((role, word if role == GIVEN else word[0]) for role, word in others))
        names_in_front = tuple(word for role, word in front if role == GIVEN)
        persons.add(names_in_front, tuple(family), front)
        fronts.setdefault((names_in_front, tuple(family)), {}).setdefault(front)
    return persons, fronts


def told(names, family, fronts):
    last = tuple((SURNAME, name) for name in family)
    for front in (*fronts, ((GIVEN, names[0]),)):
        yield from ((*front, *last), (*front, last[-1]), (*front, last[0]))


def guessed(names, family, fronts, letters):
    if len(letters) > 2 and all(len(front) == 1 for front in fronts):
        yield ((GIVEN, names[0]), *((INITIAL, letter) for letter in letters[1:-1]), (SURNAME, family[-1]))


@given(PERSONS, LETTERS)
def test_initials_are_those_of_the_first_person_that_fits(names, letters):
    persons, fronts = added(names)
    forms = [(form, family) for (own, family), some in fronts.items() for form in told(own, family, some)]
    forms += [(form, family) for (own, family), some in fronts.items() for form in guessed(own, family, some, letters)]
    fitting = [one for one in forms if "".join(name[0] for _, name in one[0]) == letters]
    assert persons.with_initials(letters) == next(iter(fitting), None)


@given(PERSONS, st.sampled_from(["a", "b", "c", "ch", "ab"]), st.lists(WORDS, max_size=3))
def test_an_initial_is_that_of_the_first_person_with_a_surname(names, initial, surnames):
    persons, fronts = added(names)
    fitting = [
        name for own, family in fronts if set(surnames) & set(family) for name in own if name.startswith(initial)
    ]
    assert persons.given_of(initial, tuple(surnames)) == next(iter(fitting), None)


@given(PERSONS, WORDS, st.sampled_from(["a", "b", "c"]))
def test_an_initial_behind_a_given_name_is_that_of_a_surname(names, own, initial):
    persons, fronts = added(names)
    fitting = [name for given, family in fronts if own in given for name in family if name[0] == initial]
    assert persons.surname_of(own, initial) == next(iter(fitting), None)
