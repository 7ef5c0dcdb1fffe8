"""Columns of running text are read one by one; tables and lists are not."""

import pytest

from sklearn_deid.text.page_columns import columns_one_by_one

LEFT = ["She was seen", "by Dr. Otis", "in the clinic", "and told us", "that she had", "no pain at all", "today."]
RIGHT = ["Her mother", "was with her", "and spoke to", "the nurse on", "our ward for", "an hour."]
PAGES = {
    "spaces": lambda a, b: f"{a:16}{b}".rstrip(),
    "tab": lambda a, b: f"{a}\t{b}" if b else a,
    "bar": lambda a, b: f"{a:16} | {b}",
    "indented": lambda a, b: f"   {a:16}  {b}".rstrip(),
}


def page(layout, left=LEFT, right=RIGHT, end="\n"):
    return end.join(PAGES[layout](a, b) for a, b in zip(left, [*right, ""], strict=True))


def words(text):
    return text.split()


@pytest.mark.parametrize("layout", PAGES)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_the_left_column_is_read_before_the_right_one(layout, end):
    """starter-en left twice as much PHI of such notes, because each line was a sentence of two halves."""
    assert words(columns_one_by_one(page(layout, end=end)).text) == words(" ".join([*LEFT, *RIGHT]))


def test_a_line_over_both_columns_is_read_before_them():
    text = (
        "Letter about Ann Roe of Elmtown, admitted\n" + page("spaces") + "\nWith kind regards to all of you and yours"
    )
    read = columns_one_by_one(text).text
    assert words(read)[:7] == "Letter about Ann Roe of Elmtown, admitted".split()
    assert "an hour.\n\n\nWith kind regards" in read


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Drug        Dose\n" + "Metformin   500 mg\nLisinopril  10 mg\n" * 6,
        "Name:\tRoe\nAge:\t40\nSex:\tF\nWard:\t3\nBed:\t2\nPlan:\thome\nDiet:\tall",
        page("spaces", [line.capitalize() for line in LEFT], [line.capitalize() for line in RIGHT]),
        "She was seen. Her mother\nwas with her. She spoke to\nthe nurse on  our ward for\n" * 9,
        "a\tb\tc\n" * 9,
        "pain  cough\n" * 5,
        # In this table, one of twelve rows begins with a small letter, and starter-en hid "54" and "Cheyne-Stokes".
        f"{'':16}before  after\n" + f"Index           58      4\n{'  on the back':16}71      none\n" * 4,
    ],
)
def test_tables_and_lists_are_read_by_lines(text):
    assert columns_one_by_one(text) is None
