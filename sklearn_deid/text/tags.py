"""Rules of the tag schemes IOB2 and BIOES.

IOB2 marks the first token of a span with B and the other tokens with I. BIOES also marks the last token with E, and
marks a span of a single token with S (BIOES is the BILOU scheme of Ratinov and Roth 2009 with other letters). A tag is
``"O"``, or a prefix and a label such as ``"B-PATIENT"``. The prefix ends at the first hyphen; the label may contain
further hyphens.

Both schemes read illegal sequences by the same rule. A span ends after E and S, before B, S and O, and before another
label. An I or E without a preceding span starts a new span. The sequence ``O I-DATE I-DATE`` is therefore one date. The
rule never drops a tagged token, so redaction hides every token that a tagger tagged as PHI.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..exceptions import SequenceError

SCHEMES = ("iob2", "bioes")
_PREFIXES = {"iob2": "BI", "bioes": "BIES"}


def check_tag_scheme(tag_scheme: str) -> str:
    """Return the name of a tag scheme after checking it.

    Raises
    ------
    ValueError
        If the scheme is unknown. The message lists the known schemes.
    """
    if tag_scheme not in SCHEMES:
        raise ValueError(f"The 'tag_scheme' parameter must be one of {SCHEMES}. Got {tag_scheme!r} instead.")
    return tag_scheme


def split_tag(tag: str) -> tuple[str, str | None]:
    """Prefix and label of a tag; the label of ``"O"`` is None.

    Raises
    ------
    SequenceError
        If the tag is neither ``"O"`` nor one of B, I, E, S with a label. The message does not show the invalid tag: if
        X and y were swapped, the tag is a word of a note.

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


def sorted_tags(tags: Iterable[str]) -> list[str]:
    """Return the distinct tags, "O" first; the order reveals nothing about the notes.

    Raises
    ------
    SequenceError
        If a string is not a valid tag. The message does not show the string: if X and y were swapped, the string is a
        word of a note.

    Examples
    --------
    >>> sorted_tags(["B-DATE", "O", "B-AGE", "O"])
    ['O', 'B-AGE', 'B-DATE']
    """
    distinct = sorted(set(tags), key=lambda tag: (tag != "O", tag))
    for tag in distinct:
        split_tag(tag)
    return distinct


def is_allowed(previous: str | None, following: str | None, tag_scheme: str = "iob2") -> bool:
    """Whether a tag may follow another tag. Taggers use this function to produce only legal sequences.

    A sequence is legal if and only if all its transitions are allowed, including the transitions from the start and to
    the end of the sentence.

    Parameters
    ----------
    previous, following : str or None
        Two consecutive tags. None for ``previous`` means the start of the sentence, and None for ``following`` means
        the end of the sentence.
    tag_scheme : {"iob2", "bioes"}, default="iob2"
        Scheme of the tags. A tag with a prefix outside of the scheme is never allowed.

    Returns
    -------
    bool
        Whether the transition is allowed.

    Examples
    --------
    >>> is_allowed("O", "I-DATE"), is_allowed("B-DATE", "I-DATE"), is_allowed("B-DATE", None, "bioes")
    (False, True, False)
    """
    check_tag_scheme(tag_scheme)
    before, label = ("O", None) if previous is None else split_tag(previous)
    # The borders of a sentence count as O: an entity can neither continue from before nor after the sentence.
    after, next_label = ("O", None) if following is None else split_tag(following)
    if any(prefix not in _PREFIXES[tag_scheme] + "O" for prefix in (before, after)):
        return False
    # I and E continue an open span of the same label.
    if after in "IE":
        return before in "BI" and label == next_label
    # In BIOES every span that is open must be closed by E. IOB2 spans end without a mark.
    return tag_scheme == "iob2" or before not in "BI"


def labels_of(tags: Sequence[str]) -> list[tuple[int, int, str]]:
    """Spans of an IOB2 or BIOES tag sequence.

    Illegal sequences are read as follows: a span ends after E and S, before B, S and O, and before another label; an I
    or E without a preceding span starts a new span.

    Parameters
    ----------
    tags : sequence of str, length n_tokens
        Tags of one sentence.

    Returns
    -------
    list of (int, int, str)
        First token, end token (exclusive) and label of each span, in order and without overlaps.

    Raises
    ------
    SequenceError
        If a tag is invalid.

    Examples
    --------
    >>> labels_of(["B-AGE", "I-AGE", "I-DATE", "O", "S-CITY"])
    [(0, 2, 'AGE'), (2, 3, 'DATE'), (4, 5, 'CITY')]
    """
    spans = []
    start, current = 0, None
    for position, tag in enumerate(tags):
        if tag == "O" and current is None:
            continue
        prefix, label = split_tag(tag)
        # A span without an end mark ends here. IOB2 has no end marks, and illegal BIOES sequences lack them.
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
    """Convert a tag sequence to a legal sequence with the same spans and labels.

    Parameters
    ----------
    tags : sequence of str
        Legal or illegal sequence of either scheme. In an IOB2 sequence the only change is from I to B, for an I
        without a preceding span.
    tag_scheme : {"iob2", "bioes"}, default="iob2"
        Scheme of the result.

    Returns
    -------
    list of str
        Legal tag sequence.

    Examples
    --------
    >>> repair_tags(["O", "I-DATE", "I-DATE", "I-AGE"])
    ['O', 'B-DATE', 'I-DATE', 'B-AGE']
    """
    return tags_of(labels_of(tags), len(tags), check_tag_scheme(tag_scheme))


def convert_tags(tags: Sequence[str], source: str, target: str) -> list[str]:
    """Convert tags from one scheme to another. Illegal sequences are repaired.

    Parameters
    ----------
    tags : sequence of str
        Tags in the scheme ``source``.
    source, target : {"iob2", "bioes"}
        Schemes of the given tags and of the result.

    Returns
    -------
    list of str
        Legal tag sequence in the scheme ``target``.

    Examples
    --------
    >>> convert_tags(["B-DATE", "I-DATE", "B-AGE"], "iob2", "bioes")
    ['B-DATE', 'E-DATE', 'S-AGE']
    """
    check_tag_scheme(source)
    return repair_tags(tags, target)


def tags_of(spans: Iterable[tuple[int, int, str]], n_tokens: int, tag_scheme: str = "iob2") -> list[str]:
    """Tag sequence of token spans; the inverse of `labels_of`.

    Parameters
    ----------
    spans : iterable of (first token, token past the last, label)
        Spans without overlaps.
    n_tokens : int
        Number of tokens of the sentence.
    tag_scheme : {"iob2", "bioes"}, default="iob2"
        Scheme of the result.

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
