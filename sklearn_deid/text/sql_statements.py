"""Notes that are SQL, such as a dump of a database. No words around its cells say what they are."""

from __future__ import annotations

import re

_NAME = r"""(?:[\w.$]|"[^"\n]{1,100}"|`[^`\n]{1,100}`|\[[^\]\n]{1,100}\]){1,80}"""
# INSERT without INTO is a form of SQL Server, whose programs write names in brackets. Rows of COPY, with tabs between
# the cells, are read well.
# What programs write around the name: SQLite "OR REPLACE", MySQL "LOW_PRIORITY", PostgreSQL "OVERRIDING SYSTEM VALUE".
_HOW = r"(?:\s+(?:IGNORE|(?:LOW|HIGH)_PRIORITY|DELAYED|OR\s+(?:REPLACE|IGNORE|ABORT|FAIL|ROLLBACK))){0,2}"
_STATEMENT = re.compile(
    rf"(?:^|;)[ \t]{{0,8}}(?:INSERT|REPLACE){_HOW}\s+(?:INTO\s|(?=\[))\s*{_NAME}\s*"
    r"(?:\([^()';]{1,4000}\)\s*)?(?:OVERRIDING\s+(?:SYSTEM|USER)\s+VALUE\s+)?VALUES\s*\(",
    re.IGNORECASE | re.MULTILINE,
)
_WORDS = ("VALUES", "values", "Values")


def is_sql(text: str) -> bool:
    """Whether a line of a note begins a statement that writes cells into a table.

    Examples
    --------
    >>> is_sql("INSERT INTO notes (id, note) VALUES (1, 'Alder');"), is_sql("Insert into left ear. See values (mg).")
    (True, False)
    """
    # Most notes do not have this word, and a search for words is far faster.
    return any(word in text for word in _WORDS) and _STATEMENT.search(text) is not None
