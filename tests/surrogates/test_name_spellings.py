"""Names of a patient are found without a comparison of all names, and as a comparison would find them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_deid import Document, Span
from sklearn_deid.surrogates import SurrogateEngine, name_spellings
from sklearn_deid.surrogates.folding import within_one_slip
from sklearn_deid.surrogates.name_spellings import NameSpellings

WORDS = st.text("abe", min_size=1, max_size=8)


@given(st.lists(WORDS, unique=True), WORDS)
def test_slips_are_those_of_a_comparison_with_all_names(firsts, word):
    spellings = NameSpellings()
    for first in firsts:
        spellings.add(first)
    expected = [
        first
        for first in firsts
        if min(len(word), len(first)) >= 5 and first[0] == word[0] and within_one_slip(word, first)
    ]
    assert list(spellings.slips(word)) == expected
    assert spellings.in_text(word) == [(first, first) for first in firsts if len(first) > 2 and first in word]


def test_the_time_for_a_note_does_not_grow_with_the_square_of_its_names(monkeypatch):
    """A note with 4,000 names and mail addresses kept a service busy for a minute."""
    compared = []

    def counted(one, other):
        compared.append(1)
        return within_one_slip(one, other)

    monkeypatch.setattr(name_spellings, "within_one_slip", counted)
    text, spans = "", []
    for number in range(1500):
        name = "".join("abdegiklmnorstuv"[number // 16**i % 16] * 2 for i in range(3)).title()
        for part, label in ((f"{name} Z{name[::-1].lower()}", "PATIENT"), (f"j{name.lower()}@a.org", "EMAIL")):
            spans.append(Span(len(text), len(text) + len(part), label))
            text += f"{part} . "
    SurrogateEngine(key=bytes(32), locale="en").rewrite(Document("n", text, tuple(spans)))
    assert len(compared) < 3000


@pytest.mark.parametrize(("label", "end"), [("EMAIL", "@mail.com"), ("USERNAME", "")])
def test_an_address_that_is_too_long_gets_the_label(label, end):
    """A login with 1,000 names ended in a RecursionError."""
    text = f"Ann Alder {'ann' * 2000}{end}"
    note = Document("n", text, (Span(0, 9, "PATIENT"), Span(10, len(text), label)))
    assert SurrogateEngine(key=bytes(32), locale="en").rewrite(note).text.endswith(f" [{label}]")
