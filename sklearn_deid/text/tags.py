"""The grammar of tag sequences: IOB2 and BIOES.

IOB2 marks the first token of a span with B and the others with I. BIOES also marks the last one with E and a span of
one token with S (the BILOU of Ratinov and Roth 2009, with other letters). A tag is ``"O"`` or a prefix and a label, as
in ``"B-PATIENT"``; the prefix ends at the first hyphen, labels may hold more of them.

An illegal sequence is read by one rule, in both schemes: a span ends after E and S, before B, S and O, and before
another label; an I or E that continues nothing begins a span. So ``O I-DATE I-DATE`` is one date, and no tagged token
is ever dropped: what a tagger marked stays hidden.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..exceptions import SequenceError

SCHEMES = ("iob2", "bioes")
_PREFIXES = {"iob2": "BI", "bioes": "BIES"}


def check_tag_scheme(tag_scheme: str) -> str:
    """Return the scheme if it is known.

    Raises
    ------
    ValueError
        If it is not, with the names of the known ones.
    """
    if tag_scheme not in SCHEMES:
        raise ValueError(f"The 'tag_scheme' parameter must be one of {SCHEMES}. Got {tag_scheme!r} instead.")
    return tag_scheme


def split_tag(tag: str) -> tuple[str, str | None]:
    """Prefix and label of a tag; the label of ``"O"`` is None.

    Raises
    ------
    SequenceError
        If the tag is neither ``"O"`` nor one of B, I, E, S with a label. The message does not show it: where X and y
        were swapped, it is a word of a note.

    Examples
    --------
    >>> split_tag("B-ID-NUMBER"), split_tag("O")
    (('B', 'ID-NUMBER'), ('O', None))
    """
    if tag == "O":
        return "O", None
    prefix, _, label = tag.partition("-") if isinstance(tag, str) else ("", "", "")
    if prefix not in ("B", "I", "E", "S") or not label:
        raise SequenceError(
            f"A tag must be 'O', or B, I, E or S with a hyphen and a label, such as 'B-PATIENT'. Got another "
            f"{type(tag).__name__} instead; are X and y in the right order?"
        )
    return prefix, label


def is_allowed(previous: str | None, following: str | None, tag_scheme: str = "iob2") -> bool:
    """Whether one tag may follow another, for a tagger that must not leave the grammar.

    A sequence is legal if and only if all its steps are, those from the start and to the end included.

    Parameters
    ----------
    previous, following : str or None
        Tags; None stands for the start and the end of the sentence.
    tag_scheme : {"iob2", "bioes"}, default="iob2"
        A tag whose prefix the scheme does not have is allowed nowhere.

    Returns
    -------
    bool

    Examples
    --------
    >>> is_allowed("O", "I-DATE"), is_allowed("B-DATE", "I-DATE"), is_allowed("B-DATE", None, "bioes")
    (False, True, False)
    """
    check_tag_scheme(tag_scheme)
    before, label = ("O", None) if previous is None else split_tag(previous)
    after, next_label = ("O", None) if following is None else split_tag(following)
    if any(prefix not in _PREFIXES[tag_scheme] + "O" for prefix in (before, after)):
        return False
    if after in "IE":
        return before in "BI" and label == next_label
    return tag_scheme == "iob2" or before not in "BI"


def labels_of(tags: Sequence[str]) -> list[tuple[int, int, str]]:
    """Spans of a tag sequence of either scheme, illegal sequences included (by the rule at the top of this file).

    Parameters
    ----------
    tags : sequence of str, length n_tokens

    Returns
    -------
    list of (int, int, str)
        First token, token past the last, label; in order, not overlapping.

    Raises
    ------
    SequenceError
        If one of them is no tag.

    Examples
    --------
    >>> labels_of(["B-AGE", "I-AGE", "I-DATE", "O", "S-CITY"])
    [(0, 2, 'AGE'), (2, 3, 'DATE'), (4, 5, 'CITY')]
    """
    spans = []
    start, current = 0, None
    for position, tag in enumerate(tags):
        prefix, label = split_tag(tag)
        if current is not None and (label != current or prefix in "BS"):
            spans.append((start, position, current))
            current = None
        if label is None:
            continue
        if current is None:
            start, current = position, label
        if prefix in "ES":
            spans.append((start, position + 1, label))
            current = None
    if current is not None:
        spans.append((start, len(tags), current))
    return spans


def repair_tags(tags: Sequence[str], tag_scheme: str = "iob2") -> list[str]:
    """The legal sequence with the same spans, and so with the same labels at the same tokens.

    Parameters
    ----------
    tags : sequence of str
        Of either scheme, legal or not; in IOB2 the only change is that an I that continues nothing becomes B.
    tag_scheme : {"iob2", "bioes"}, default="iob2"
        Scheme of the result.

    Returns
    -------
    list of str

    Examples
    --------
    >>> repair_tags(["O", "I-DATE", "I-DATE", "I-AGE"])
    ['O', 'B-DATE', 'I-DATE', 'B-AGE']
    """
    return tags_of(labels_of(tags), len(tags), check_tag_scheme(tag_scheme))


def convert_tags(tags: Sequence[str], source: str, target: str) -> list[str]:
    """Translate between schemes; illegal sequences are repaired on the way.

    Parameters
    ----------
    tags : sequence of str
    source, target : {"iob2", "bioes"}

    Returns
    -------
    list of str

    Examples
    --------
    >>> convert_tags(["B-DATE", "I-DATE", "B-AGE"], "iob2", "bioes")
    ['B-DATE', 'E-DATE', 'S-AGE']
    """
    check_tag_scheme(source)
    return repair_tags(tags, target)


def tags_of(spans: Iterable[tuple[int, int, str]], n_tokens: int, tag_scheme: str = "iob2") -> list[str]:
    """Tag sequence of token spans; the reverse of `labels_of`.

    Parameters
    ----------
    spans : iterable of (first token, token past the last, label)
        Not overlapping.
    n_tokens : int
    tag_scheme : {"iob2", "bioes"}, default="iob2"

    Examples
    --------
    >>> tags_of([(1, 3, "DATE")], 4, "bioes")
    ['O', 'B-DATE', 'E-DATE', 'O']
    """
    tags = ["O"] * n_tokens
    for start, end, label in spans:
        tags[start] = f"B-{label}"
        tags[start + 1 : end] = [f"I-{label}"] * (end - start - 1)
        if tag_scheme == "bioes":
            tags[end - 1] = f"E-{label}" if end - start > 1 else f"S-{label}"
    return tags
