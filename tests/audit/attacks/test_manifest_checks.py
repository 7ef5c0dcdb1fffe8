"""JSON of a saved folder: notes, digests and lists among its entries, and bytes that the library does not write."""

import base64
import codecs
import hashlib
import json
import zlib

import numpy as np
import pytest
from safetensors.numpy import save

from sklearn_deid._storage import bundle_text, manifest_bytes, write_bundle
from sklearn_deid.audit.attacks import KnownNotes
from sklearn_deid.audit.attacks.manifest_checks import FolderText, format_faults, manifest_faults
from sklearn_deid.sequences import TokenSequences

X = TokenSequences.from_rows(
    [["Seen", "by", "Dr", "Alder-Smith", "of", "Birch", "Hill"], ["No", "further", "visits", "were", "planned", "."]]
)
NOTES = KnownNotes(X, np.array([False] * 3 + [True, False, True, True] + [False] * 6), np.array(["a-1", "b-2"]))
TEXT = "seen by dr alder-smith of birch hill"
NONE: dict[str, int] = {}


@pytest.mark.parametrize(
    "audit",
    [
        {"note": TEXT},
        {"Alder_Smith_of": 1},
        ["Seen", {"by": "x"}, "of", "Birch", "Hill"],
        {"a": [ord(one) for one in TEXT]},
        {"a": TEXT[::-1]},
        {"a": codecs.encode(TEXT, "rot13")},
        {"a": base64.b64encode(TEXT.encode()).decode().rstrip("=")},
        {"a": zlib.compress(TEXT.encode()).hex()},
        {"birch": "hill"},
        {"Hill": 0.5, "n": 3, "Birch": 0.4, "smith": 0.3},
        {"found": ["Hill", "Smith"], "more": {"by": "Alder"}},
        {"found": "Hill Smith Birch"},
        {"found": [name[::-1] for name in ("Hill", "Smith", "Birch")]},
    ],
)
def test_words_of_the_notes_are_named(audit):
    assert "words of the notes" in " ".join(manifest_faults({"representation": {"audit": audit}}, NOTES, NONE))


@pytest.mark.parametrize("text", [TEXT, "Seen by Dr Alder-Smith of Birch Hill", "Alder-Smith", "b-2"])
@pytest.mark.parametrize("digest", ["md5", "sha256", "blake2b"])
def test_digests_of_the_notes_are_named(text, digest):
    audit = {"ids": [hashlib.new(digest, text.encode()).hexdigest()[:24]]}
    assert "digests" in " ".join(manifest_faults({"audit": audit}, NOTES, NONE))


@pytest.mark.parametrize(
    ("ids", "audit", "is_named"),
    [
        ("a-{}", {"f1": {"a-1": 0.9, "a-3": 0.8, "a-4": 0.7}}, True),
        ("a-{}", {"patients": ["a-1", "a-2", "a-3"]}, True),
        ("{}", {"patients": [7_001, 7_002, 7_003]}, False),  # as any numbers
        ("70{}", {"patients": [701, 702, 703]}, False),
        ("7000{}", {"patients": [70001, 70002, 70003]}, True),
        ("a-{}", {"f1": 0.9, "a-1": 1, "n": [1, 2, 3, 4]}, False),
    ],
)
def test_ids_of_patients_are_named(ids, audit, is_named):
    X = TokenSequences.from_rows([["a", "b"]] * 6)
    notes = KnownNotes(X, None, np.array([ids.format(i) for i in range(6)]))
    assert ("ids of patients" in " ".join(manifest_faults({"audit": audit}, notes, NONE))) == is_named


def test_entries_without_notes_have_no_fault():
    audit = {"text": "No further visits were planned.", "seen by": "Dr X of Y", "f1": [0.9, 0.8], "n": [65, 66, 67]}
    audit |= {"recall": {"HILL": 0.9, "Smith": 0.8}, "birch wood": 1.0, "tested in": "a Birch hut"}
    plain = {"audit": audit, "fingerprint": hashlib.md5(TEXT.encode()).hexdigest(), "other": "0" * 40}
    plain["tags"] = ["O", "B-HILL"]
    assert manifest_faults(plain, NOTES, {"sentence": 30, "patient": 2}) == []


def test_lists_for_each_sentence_are_named():
    manifest = {"audit": {"rows": list(range(30))}}
    assert "one entry for each sentence" in manifest_faults(manifest, None, {"sentence": 30, "token": 90})[0]
    assert manifest_faults(manifest, None, {"sentence": 31, "patient": 29}) == []


def test_the_tags_of_a_release_are_no_list_of_patients():
    """A release with as many tags as patients was blamed."""
    tags = ["O", *(f"B-LABEL{i}" for i in range(29))]
    manifest = {"representation": {"tags": tags, "audit": None}, "tagger": {"classes": tags}}
    assert manifest_faults(manifest, None, {"patient": 30}) == []


def arrays():
    ones, tags = np.ones((3, 2), np.float32), np.zeros(3, np.uint16)
    return {"vectors": ones, "tags": tags, "offsets": np.arange(4), "a.b": np.eye(2)}


def test_what_the_library_writes_has_no_fault(tmp_path):
    write_bundle(tmp_path / "a", {"representation": {"ä": [1.5, None, 1e-30], "b": {}}}, arrays())
    assert format_faults(FolderText(*bundle_text(tmp_path / "a"))) == []


HEADER = save(arrays())[8:].split(b"}}")[0] + b"}}"
HEADER += b" " * (-len(HEADER) % 8)
PLAIN = manifest_bytes({"a": 1.5, "b": ["ä", {}]})


@pytest.mark.parametrize(
    "manifest",
    [
        PLAIN + b" \t",
        PLAIN.replace(b"1.5", b"1.50"),
        PLAIN.replace(b"\\u00e4", "ä".encode()),
        json.dumps({"b": ["ä", {}], "a": 1.5}, indent=1).encode(),
        json.dumps({"a": 1.5, "b": ["ä", {}]}, sort_keys=True).encode(),
    ],
)
def test_other_forms_of_the_manifest_are_named(manifest):
    assert format_faults(FolderText(PLAIN, HEADER)) == []
    assert "The manifest is not in the form" in format_faults(FolderText(manifest, HEADER))[0]


@pytest.mark.parametrize(
    "header",
    [
        HEADER + b" " * 8,
        HEADER.replace(b'{"', b'{"tags":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"', 1),
        HEADER.replace(b'"dtype":"F32"', b'"dtype": "F32"'),
        json.dumps(dict(reversed(json.loads(HEADER).items())), separators=(",", ":")).encode(),
    ],
)
def test_other_forms_of_the_header_are_named(header):
    assert "header of the arrays" in format_faults(FolderText(PLAIN, header))[0]


def test_lists_of_an_audit_are_named_whatever_their_name():
    """The tags of a release are its own list; an audit that is saved with it may hold anything."""
    manifest = {"representation": {"tags": ["O", "B-AGE"], "audit": {"figures": {"tags": list(range(30))}}}}
    assert "one entry for each sentence" in manifest_faults(manifest, None, {"sentence": 30})[0]


def test_metadata_in_the_header_are_named():
    header = HEADER.strip().replace(b'{"', b'{"__metadata__":{"a":"b"},"', 1)
    assert "header of the arrays" in format_faults(FolderText(PLAIN, header + b" " * (-len(header) % 8)))[0]
