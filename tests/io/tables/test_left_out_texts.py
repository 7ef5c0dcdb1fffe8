"""A row that is left out can hold a text that another row repeats, and no copy of this text is written."""

import json
import time

import pytest

from sklearn_deid.exceptions import CorpusFormatError
from sklearn_deid.io.tables import Columns, open_table
from sklearn_deid.io.tables.left_out_texts import of_cell, of_line, of_row

# Twelve words and a comma.
NOTE = "Seen by Dr. Zyxwvutski, who saw no fever, no pain and no rash today."
OTHER = "Slept well and ate well, walked to the window and back without any help."


def texts_of(path, content):
    path.write_bytes(content)
    return [cell.text for chunk in open_table(path, path, Columns(("text",))).chunks() for cell in chunk.cells]


@pytest.mark.parametrize(
    "row",
    [
        f'1,-,"{NOTE}",A,surplus\n',
        f'1,surplus,-,"{NOTE}",A\n',
        f'1,"{NOTE}",A\n',
        f"1,-,{NOTE},A\n",
        f'1,-,"{NOTE}","A\n4,-,no pain,B"\n',
        f'1,-,no pain,"A\n4,-,{NOTE.replace(",", ";")},B\n5,-,fine,C"\n',
        f'1,"A,no pain,B\n4,-,{NOTE.replace(",", ";")},B\n5,x",no pain,A\n',
    ],
)
@pytest.mark.parametrize("is_first", [True, False])
def test_a_copy_of_the_text_of_a_row_that_is_left_out_is_refused(tmp_path, row, is_first):
    """The text of a row with a surplus cell left in the next row, as the note before."""
    copy = f'2,"{NOTE.replace(",", ";" if ";" in row else ",")}","{OTHER}",B\n'
    rows = [row, copy] if is_first else [copy, row]
    with pytest.raises(CorpusFormatError, match="repeats a text of the column 'text'") as caught:
        texts_of(tmp_path / "notes.csv", "".join(["id,before,text,ward\n", *rows]).encode())
    assert "Zyxwvutski" not in str(caught.value)


@pytest.mark.parametrize(
    "line",
    [
        f'{{"id": 1, "text": "{NOTE}",}}',
        f'{{"id": 1, "text": "{NOTE}", "id": 1}}',
        f'{{"text": "{NOTE}", "age": NaN}}',
        f'{{"text" : "{NOTE.replace(" ", "  ")}" "id": 1',
        f'[{{"text": "{NOTE}"}}]',
        f"{{'id': 1, 'text': '{NOTE}', 'ward': 'A'}}",
        f'{{"text": "{NOTE}", "ward": "A"}} {{}}',
        '{"text": "' + "".join(f"\\u{ord(c):04x}" for c in NOTE) + '", "id": 1]',
        json.dumps({"noet": NOTE}),
        '{"ward": "\xe9", "text": "' + NOTE + '"}',
        '{"a": ' * 9_999 + '"b", "text": "' + NOTE + '"}',
    ],
)
def test_a_copy_of_the_text_of_a_line_that_is_no_object_is_refused(tmp_path, line):
    lines = [line.encode("latin-1"), json.dumps({"text": OTHER, "before": NOTE}).encode(), b""]
    with pytest.raises(CorpusFormatError, match="repeats a text of the column 'text'"):
        texts_of(tmp_path / "notes.jsonl", b"\n".join(lines))


def test_other_cells_of_a_row_that_is_left_out_may_be_equal(tmp_path):
    """A notice that each row repeats is no text, and the table is written."""
    notice = "The sender of this letter is not liable for its content, if it is read by others."
    rows = [f'{n},"{notice}","text {n}",{"A" if n else "A,B"}\n' for n in range(3)]
    assert texts_of(tmp_path / "notes.csv", "".join(["id,notice,text,ward\n", *rows]).encode()) == ["text 1", "text 2"]
    lines = [f'{{"notice": "{notice}", "text": "text {n}"{"" if n else ","}}}\n' for n in range(3)]
    assert texts_of(tmp_path / "notes.jsonl", "".join(lines).encode()) == ["text 1", "text 2"]


def test_the_parts_that_can_be_texts():
    assert of_row(["1", "a", "b", "c", "A"], 1, 3, "|") == ["a", "b", "c", "a|b|c"]
    assert of_row(["1", "a", "b"], 2, 5, ",") == ["1", "a", "b"]
    assert of_row([], 1, 3, ",") == []
    assert of_cell("B2\n4,no pain,C\n5,fine", 2, 1, ",") == ["no pain", "fine"]
    assert of_cell("5\n4,no pain,C\n6", 0, 1, ",") == ["no pain"]
    assert list(of_line(r'{"note": "a \"b\" \ud83d\ude00\tc","x":1', "note")) == ['a "b" \U0001f600\tc']
    assert list(of_line('{"note": "a "b", c", "x":1', "note")) == ['a "b", c']
    assert list(of_line('{"note": "cut', "note")) == []


@pytest.mark.parametrize("piece", ['"note":', '"note":"', '"note": "a",', '"', '",', '"note":"a" ' + " " * 9])
def test_the_time_for_a_damaged_line_is_linear(piece):
    seconds = []
    for n in (2_000, 16_000):
        line = (piece * n)[:n]
        start = time.process_time()
        for _ in range(160_000 // n):
            list(of_line(line + "x", "note"))
        seconds.append(time.process_time() - start)
    assert seconds[1] < 4 * seconds[0] + 0.02
