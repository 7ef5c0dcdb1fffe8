"""Checks of the JSON of a saved release: strings that contain notes, lists with an entry for each sentence, and bytes
without meaning.

A recipient reads all bytes of a folder. Bytes that the library does not write, such as spaces after the JSON, can
therefore carry hidden information.
"""

from __future__ import annotations

import base64
import binascii
import codecs
import json
import re
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._storage import manifest_bytes
from ..._strict_json import load_strict
from .order_keys import FEWEST, digests_of, written_forms
from .saved_sentences import KnownNotes

_WORD = re.compile(r"[^\W_]+")
_HEX = re.compile(r"[0-9a-f]{16,}")
_RUN, _FEWEST_CHARACTERS = 3, 6  # consecutive words, and their characters together
_PAIR_CHARACTERS = 8  # of two consecutive words, both PHI
_FEWEST_LISTED, _LISTED_CHARACTERS = 3, 4  # words that are only PHI; a string that is no code can decode to short words
_FEWEST_PATIENTS, _DISTINCT_NUMBER = 3, 5
_DIGITS = 16  # of a digest in hexadecimal numbers, from its start
_MOST_DECODED = 2**20  # characters after unpacking
_OWN_DIGESTS = {"arrays_sha256", "manifest_sha256", "fingerprint"}
# Lists of every release, which other checks compare: tags of the sentences, and of the tagger, and classes of words.
_OWN_LISTS = {"tags", "classes", "centroids"}


@dataclass(frozen=True, repr=False)
class FolderText:
    """JSON of a saved folder as bytes.

    Attributes
    ----------
    manifest : bytes
        Manifest.
    header : bytes
        Header of the file of arrays, without its length.
    """

    manifest: bytes
    header: bytes


def format_faults(text: FolderText) -> list[str]:
    """Return a message for each of the two files if the JSON of the file is not in the form that the library writes.

    Examples
    --------
    >>> format_faults(FolderText(b"{}  ", b"{}      "))
    ['The manifest is not in the form that the library writes: its bytes hold more than its entries.']
    """
    more = "is not in the form that the library writes: its bytes hold more than its entries."
    out = []
    if manifest_bytes(load_strict(text.manifest)) != text.manifest:
        out.append(f"The manifest {more}")
    if not _is_plain_header(text.header):
        out.append(f"The header of the arrays {more}")
    return out


def _is_plain_header(header: bytes) -> bool:
    """Whether a header has no repeated key, no additional spaces, and arrays in the order of safetensors."""
    try:
        entries = load_strict(header)
    except ValueError:  # a repeated key
        return False
    if any(list(entry) != ["dtype", "shape", "data_offsets"] for entry in entries.values()):
        return False
    plain = json.dumps(entries, separators=(",", ":"), ensure_ascii=False).encode("utf-8")
    places = [entry["data_offsets"] for entry in entries.values()]
    return header == plain + b" " * (-len(plain) % 8) and places == sorted(places)


def manifest_faults(manifest: Any, notes: KnownNotes | None, counts: dict[str, int]) -> list[str]:
    """Return a message for each kind of entry that reveals more than the properties of the release.

    Parameters
    ----------
    manifest : dict
        Parsed manifest.
    notes : KnownNotes or None
        Notes from which the release was made. Without notes, the function searches only for lists.
    counts : dict of str to int
        Numbers of sentences, tokens and patients, by the name of the unit.
    """
    # The release adds an audit as it is, so that its lists may have any name.
    audits = [one for name, one in _values_of(manifest) if name == "audit"]
    held = [*_values_of(manifest, without=_OWN_LISTS), *_values_of(audits)]
    sizes = {len(one) for _, one in held if isinstance(one, list)}
    out = [
        f"The manifest holds a list with one entry for each {name}: the list discloses the order, or each {name}."
        for name, n in counts.items()
        if n >= FEWEST and n in sizes
    ]
    if notes is None:
        return out
    runs, labels = _runs_of(notes), [one for name, one in _values_of(manifest) if name in _OWN_LISTS]
    listed = _only_phi(notes) - set(_words(_strings_of(labels)))
    told = any(run in runs for texts in _readings(list(_strings_of(manifest))) for run in _runs(_words(texts)))
    if told or any(_n_listed(texts, listed) >= _FEWEST_LISTED for texts in _readings(list(_strings_of(audits)))):
        out.append("The manifest holds words of the notes, and some of these words are PHI.")
    if _holds_patients(manifest, notes):
        out.append("The manifest holds ids of patients.")
    if _holds_digests(manifest, notes):
        out.append("The manifest holds digests of sentences, of PHI or of patients: an attacker can check guesses.")
    return out


def _values_of(value: Any, *, without: Collection[str] = ()) -> Iterator[tuple[str, Any]]:
    """All values of parsed JSON with their keys, and the keys themselves, depth first; the values of keys in
    ``without`` are left out."""
    waiting = [("", value)]
    while waiting:
        name, one = waiting.pop()
        yield name, one
        if isinstance(one, dict):
            entries = [entry for entry in reversed(one.items()) if entry[0] not in without]
            waiting += [part for key, item in entries for part in ((key, item), ("", key))]
        elif isinstance(one, list):
            waiting += [(name, item) for item in reversed(one)]


def _strings_of(value: Any) -> Iterator[str]:
    """All strings, and lists of code points as strings."""
    for _, one in _values_of(value):
        if isinstance(one, str):
            yield one
        elif isinstance(one, list) and one and all(type(item) is int and 0 <= item < 0xD800 for item in one):
            yield "".join(map(chr, one))


def _readings(strings: Sequence[str]) -> Iterator[Sequence[str]]:
    """All strings in order, and the strings after decoding: reversed, rot13, or packed."""
    yield strings
    for read in (lambda text: text[::-1], lambda text: codecs.encode(text, "rot13"), *_PACKED):
        yield list(filter(None, map(read, strings)))


def _words(strings: Iterable[str]) -> list[str]:
    return [word.casefold() for text in strings for word in _WORD.findall(text)]


def _unpacked(decode: Callable[[str], bytes]) -> Callable[[str], str]:
    def read(text: str) -> str:
        try:
            data = decode(text)
        except (ValueError, binascii.Error):  # no such code
            return ""
        try:
            data = zlib.decompressobj(wbits=47).decompress(data, _MOST_DECODED)
        except zlib.error:  # not compressed
            pass
        return data.decode("utf-8", "replace")

    return read


def _padded(text: str) -> str:
    return text + "=" * (-len(text) % 4)


_PACKED = tuple(
    _unpacked(decode)
    for decode in (
        bytes.fromhex,
        lambda text: base64.b64decode(_padded(text), validate=True),
        lambda text: base64.b64decode(_padded(text), altchars=b"-_", validate=True),
        lambda text: base64.b32decode(text, casefold=True),
        base64.b85decode,
    )
)


def _runs_of(notes: KnownNotes) -> set[tuple[str, ...]]:
    """Sequences of three words that include PHI, and sequences of two PHI words; both only above a minimum length."""
    out: set[tuple[str, ...]] = set()
    for tokens, marked in zip(notes.X, np.split(notes.marked, notes.X.offsets[1:-1]), strict=True):
        pairs = zip(tokens, marked.tolist(), strict=True)
        parts = [(word, is_phi) for token, is_phi in pairs for word in _words([str(token)])]
        for size in (2, _RUN):
            for some in zip(*(parts[i:] for i in range(size)), strict=False):
                words, of = zip(*some, strict=True)
                least = _FEWEST_CHARACTERS if size == _RUN else _PAIR_CHARACTERS
                if (any(of) if size == _RUN else all(of)) and len("".join(words)) >= least:
                    out.add(words)
    return out


def _runs(words: list[str]) -> Iterator[tuple[str, ...]]:
    for size in (2, _RUN):
        yield from zip(*(words[i:] for i in range(size)), strict=False)


def _only_phi(notes: KnownNotes) -> set[str]:
    """Words of letters that occur in the notes as PHI and not elsewhere."""
    phi, others = (set(_words(map(str, notes.X.data[some]))) for some in (notes.marked, ~notes.marked))
    return {word for word in phi - others if word.isalpha() and len(word) >= _LISTED_CHARACTERS}


def _n_listed(strings: Iterable[str], words: set[str]) -> int:
    """Number of these words in strings that consist of such words only, as in a list of names."""
    return len({word for text in strings if (own := set(_words([text]))) <= words for word in own})


def _holds_patients(manifest: Any, notes: KnownNotes) -> bool:
    """Whether a list, or the keys of a mapping, contain the ids of at least three patients."""
    ids = set() if notes.patients is None else set(np.unique(notes.patients).astype(str).tolist())
    # Short numbers occur in every manifest.
    ids = {one for one in ids if not one.isdigit() or len(one) >= _DISTINCT_NUMBER}
    held = (set(map(str, one)) for _, one in _values_of(manifest) if isinstance(one, (dict, list)))
    return any(len(ids & members) >= _FEWEST_PATIENTS for members in held)


def _holds_digests(manifest: dict[str, Any], notes: KnownNotes) -> bool:
    """Whether a hexadecimal number in the manifest is the beginning of the digest of a text from the notes."""
    shown = {
        found[:_DIGITS]
        for key, value in _values_of(manifest)
        if isinstance(value, str) and key not in _OWN_DIGESTS
        for found in _HEX.findall(value.casefold())
    }
    if not shown:
        return False
    rows = [list(map(str, row)) for row in notes.X]
    rows += [[str(word)] for word in np.unique(notes.X.data[notes.marked].astype(str))]
    rows += [] if notes.patients is None else [[str(one)] for one in np.unique(notes.patients)]
    return any(
        not shown.isdisjoint(one.hex()[:_DIGITS] for one in digests)
        for _, texts in written_forms(rows)
        for _, digests in digests_of(texts)
    )
