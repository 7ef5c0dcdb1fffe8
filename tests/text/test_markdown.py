"""Tables have one line a row and one cell a column."""

import pytest

from sklearn_deid.text.markdown import markdown_table


def test_cells_are_written_as_they_are():
    assert markdown_table(["a", "b"], [["1", "x\\|y"]]).splitlines() == ["| a | b |", "| --- | --- |", "| 1 | x\\|y |"]
    assert markdown_table(iter("ab"), iter([])) == "| a | b |\n| --- | --- |"


@pytest.mark.parametrize("row", [["1"], ["1", "2", "3"]])
def test_a_row_of_another_length_is_refused(row):
    with pytest.raises(ValueError, match="needs 2 cells"):
        markdown_table(["a", "b"], [row])
