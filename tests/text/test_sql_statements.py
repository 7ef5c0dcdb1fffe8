"""Notes that are SQL are withheld; ordinary notes with the words of SQL are not."""

import pytest

from sklearn_deid.text import unreadable_reason
from sklearn_deid.text.sql_statements import is_sql

ROWS = "(1, 'Alder, Otis', 'Seen by Birch.'),\n(2, 'Roe', 'Fine.');"


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO notes VALUES ",
        "insert into `notes` (`id`, `note`)\r\nvalues\r\n",
        "-- dump\nINSERT IGNORE INTO db.notes(id) VALUES",
        'REPLACE INTO "my notes" VALUES ',
        "GO\r\n  INSERT [dbo].[Clinical Notes] ([Id], [Note]) VALUES ",
        "INSERT INTO public.notes (id, note) OVERRIDING SYSTEM VALUE VALUES ",
        "INSERT OR REPLACE INTO notes VALUES",
        "INSERT LOW_PRIORITY IGNORE INTO `notes` VALUES ",
        "BEGIN; INSERT INTO notes VALUES ",
    ],
)
def test_statements_that_write_rows_are_withheld(statement):
    """starter-en left two thirds of the words of names in such rows, without a warning."""
    reason = unreadable_reason(statement + ROWS)
    assert "SQL" in reason
    assert "Alder" not in reason


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Insert into the left ear. Lab values (mg) are stable.",
        "Plan: insert into notes\nvalues (mg)",
        "Insert tube, then check values (mg).",
        "Values (mg): 5. He works as a programmer and wrote INSERT INTO t VALUES (1).",
    ],
)
def test_ordinary_notes_are_read(text):
    assert not is_sql(text)
