"""No pattern can backtrack without bound: the number of ways to match is computed from the pattern's own parts.

Timing would say the same about one machine and some inputs; this says it about all inputs.
"""

import itertools
import re

import pytest

from sklearn_deid.tagging.rules import LANGUAGES, RULES, find_phi

try:
    from re import _constants as constants
    from re import _parser as parser
except ImportError:  # Python 3.10
    import sre_constants as constants
    import sre_parse as parser

LONGEST_MATCH, MOST_WAYS = 400, 300_000
ONE_WAY = {constants.LITERAL, constants.NOT_LITERAL, constants.IN, constants.ANY, constants.AT, constants.GROUPREF}


def ways(items, last=False):
    """At most so many ways to match from one place; a repetition with nothing behind it is never taken back."""
    total = 1
    for position, (kind, value) in enumerate(items):
        ends = last and position == len(items) - 1
        if kind in (constants.MAX_REPEAT, constants.MIN_REPEAT):
            least, most, part = value
            assert most is not constants.MAXREPEAT, "a repetition without an upper bound"
            one = ways(part)
            total *= 1 if ends and one == 1 else sum(one**n for n in range(least, most + 1))
        elif kind is constants.SUBPATTERN:
            total *= ways(value[-1], ends)
        elif kind is constants.BRANCH:
            total *= sum(ways(branch) for branch in value[1])
        elif kind in (constants.ASSERT, constants.ASSERT_NOT):
            assert ways(value[1]) <= 200  # what is looked at is not taken back
        else:
            assert kind in ONE_WAY, kind
    return total


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_ways_and_length_are_bounded(rule):
    parsed = parser.parse(rule.pattern)
    assert parsed.getwidth()[1] <= LONGEST_MATCH
    assert ways(parsed, last=True) <= MOST_WAYS
    for around in filter(None, (rule.after, rule.not_after, rule.not_before)):
        assert ways(parser.parse(around)) <= MOST_WAYS
        assert re.compile(around).flags == re.compile("").flags


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule.lead], ids=lambda rule: rule.name)
def test_no_match_begins_before_the_searched_text(rule):
    """The part of the pattern before the needed character is no longer than the text that is searched before it."""
    items = list(parser.parse(rule.pattern))
    (place,) = [i for i, item in enumerate(items) if item == (constants.LITERAL, ord(rule.needs))]
    assert len(rule.needs) == 1
    assert parser.parse(rule.pattern.split(rule.needs)[0]).getwidth()[1] <= rule.lead
    assert place
    local = "a" * 39 + "B\x1e" + "c" * 64
    text = "x, " * 40 + local + "@example.org"
    assert [(span.start, span.end) for span in find_phi(text, recognizers=["email"])] == [(120, len(text))]


@pytest.mark.parametrize("pattern", [r"(?:a|b)*c", r"a+", r"(?:\d{1,9}){1,9}x"])
def test_the_measure_sees_what_it_should(pattern):
    with pytest.raises(AssertionError):
        assert ways(parser.parse(pattern), last=True) <= MOST_WAYS


def looks_behind(kind, value):
    return kind in (constants.ASSERT, constants.ASSERT_NOT) and value[0] < 0


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_long_lists_of_look_behinds_are_tried_at_few_places(rule):
    parsed = list(parser.parse(rule.pattern))
    behind = list(itertools.takewhile(lambda item: looks_behind(*item), parsed))
    assert len(behind) <= 8, "begin the pattern with a look-ahead for its first character"


def spellings(items):
    """All texts of literals that a pattern may match, with a blank sign for all other characters."""
    texts = {""}
    for kind, value in items:
        if kind is constants.LITERAL:
            more = {chr(value).casefold()}
        elif kind is constants.SUBPATTERN:
            more = spellings(value[-1])
        elif kind is constants.BRANCH:
            more = set().union(*map(spellings, value[1]))
        elif kind is constants.MAX_REPEAT and value[1] == 1:
            more = spellings(value[2]) | {""} if value[0] == 0 else spellings(value[2])
        elif kind is constants.IN and all(part is constants.LITERAL for part, _ in value):
            more = {chr(letter) for _, letter in value}
        else:
            more = {""} if kind in (constants.ASSERT, constants.ASSERT_NOT, constants.AT) else {"\0"}
        # Parts that are too many lie behind the words in question.
        texts = {a + b for a in texts for b in (more if len(more) * len(texts) < 20_000 else {"\0"})}
    return texts


@pytest.mark.parametrize(
    "rule", [rule for rule in RULES if rule.words and rule.family != "age-over-89"], ids=lambda rule: rule.name
)
def test_every_match_contains_one_of_the_words(rule):
    """A text without the words is skipped, so that a missing word would leave PHI."""
    texts = [text for part in (rule.pattern, rule.after) for text in [spellings(parser.parse(part))]]
    assert any(all(any(word in text for word in rule.words) for text in some) for some in texts)


def test_the_measure_of_words_sees_what_it_should():
    texts = spellings(parser.parse(r"\b(?i:n[úu]m(?:ber)?|no)\s?\d{3}"))
    assert all("n" in text for text in texts)
    assert not all("num" in text for text in texts)


@pytest.mark.parametrize(
    "piece",
    [
        "1",
        "a",
        "a1",
        "1-",
        "1 ",
        "1/",
        "a@",
        "www.a",
        "MRN ",
        "Tel ",
        "a.",
        "1\x1f",
        "\x1e",
        "de 3 años ",
        "Dec ",
        "Tel. 0",
        "3. Mai ",
    ],
)
def test_long_repetitive_texts_are_worked_off(piece):
    text = (piece * 20_000)[:20_000]
    spans = find_phi(text, language=LANGUAGES)
    assert sum(span.length for span in spans) <= len(text)
    assert max((span.length for span in spans), default=0) <= LONGEST_MATCH


def test_a_match_is_found_wherever_it_stands():
    filler = "x " * 5_000
    assert [s.start for s in find_phi(filler + "12/03/2019 " + filler + "ana@example.org")] == [10_000, 20_011]


def test_patterns_compile_without_flags():
    assert all(re.compile(rule.pattern).flags == re.compile("").flags for rule in RULES)
