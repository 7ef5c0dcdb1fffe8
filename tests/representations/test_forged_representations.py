"""Files of strangers: damaged, mixed up or forged, they are refused or sound."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.numpy import load_file

from sklearn_deid import _storage as bundle_module
from sklearn_deid import load_representation
from sklearn_deid.exceptions import BundleError
from sklearn_deid.sequences import Provenance
from sklearn_deid.tagging.saving import load_tagger

from .saved_releases import ARRAYS, MANIFEST, ORIGIN, PATIENTS, content, forge, manifest_of, saved


def test_other_folders(tmp_path):
    with pytest.raises(BundleError, match="no saved model or representation: manifest.json is missing"):
        load_representation(tmp_path / "nothing")
    with pytest.raises(BundleError, match="class that is no tagger of this version"):
        load_tagger(saved(tmp_path / "a"))
    bundle_module.write_bundle(tmp_path / "b", {"class": "DeidTagger"}, {})
    with pytest.raises(BundleError, match="something else than a representation"):
        load_representation(tmp_path / "b")


def test_files_of_two_folders(tmp_path):
    a, b = saved(tmp_path / "a"), saved(tmp_path / "b", seed=1)
    (a / ARRAYS).write_bytes((b / ARRAYS).read_bytes())
    with pytest.raises(BundleError, match="differ from the arrays that were saved with the manifest"):
        load_representation(a)
    (a / ARRAYS).unlink()
    with pytest.raises(BundleError, match="arrays cannot be read"):
        load_representation(a)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A saved folder, its bytes, and what it says."""
    folder = saved(tmp_path_factory.mktemp("whole") / "a", groups=PATIENTS, audit={"T2": 0.5})
    loaded = load_representation(folder)
    facts = content(loaded.X, loaded.y, loaded.groups), loaded.manifest
    return folder, {name: (folder / name).read_bytes() for name in (MANIFEST, ARRAYS)}, facts


@st.composite
def damaged(draw, data):
    """The bytes cut short, with some of them changed, or with others put in."""
    if draw(st.booleans()):
        return data[: draw(st.integers(0, len(data) - 1))]
    changed = bytearray(data)
    for _ in range(draw(st.integers(1, 3))):
        position, value = draw(st.integers(0, len(data) - 1)), draw(st.integers(0, 255))
        if draw(st.booleans()):
            changed[position] = value
        else:
            changed.insert(position, value)
    return bytes(changed)


@pytest.mark.parametrize("name", [MANIFEST, ARRAYS])
@given(data=st.data())
@settings(max_examples=150, deadline=None)
def test_damage_never_goes_unnoticed(whole, name, data):
    folder, files, facts = whole
    try:
        (folder / name).write_bytes(data.draw(damaged(files[name])))
        loaded = load_representation(folder)
        assert (content(loaded.X, loaded.y, loaded.groups), loaded.manifest) == facts  # such as a changed line break
    except BundleError as error:
        assert error.path == str(folder)
    finally:
        (folder / name).write_bytes(files[name])


@given(data=st.data())
@settings(max_examples=150, deadline=None)
def test_forged_arrays_are_refused_or_sound(whole, data):
    """With the right digests: what loads then is at least a representation with tags."""
    folder, files, _ = whole
    try:
        forge(folder, arrays=data.draw(damaged(files[ARRAYS])))
        loaded = load_representation(folder)
        assert np.isfinite(loaded.X.data).all()
        assert (loaded.y.lengths == loaded.X.lengths).all()
        assert loaded.groups.shape == (6,)
        assert set(loaded.y.data) <= set(loaded.manifest["tags"])
    except BundleError as error:
        assert error.path == str(folder)
    finally:
        for name, content_of in files.items():
            (folder / name).write_bytes(content_of)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
FACTS = [
    *("n_sentences", "n_tokens", "d", "n_groups", "n_duplicates_removed", "shuffled"),
    *("tags", "tag_scheme", "label_scheme", "origin", "new"),
]


@given(key=st.sampled_from(FACTS), value=json_values, inside=st.sampled_from([None, *ORIGIN.to_dict(), "new"]))
@settings(max_examples=150, deadline=None)
def test_forged_manifests_are_refused_or_sound(whole, key, value, inside):
    folder, files, _ = whole

    def change(facts):
        if inside is None:
            facts[key] = value
        else:
            facts["origin"][inside] = value

    try:
        forge(folder, change)
        loaded = load_representation(folder)
        assert isinstance(loaded.origin, Provenance)
        assert loaded.X.shape == (6,)
    except BundleError as error:
        assert error.path == str(folder)
    finally:
        (folder / MANIFEST).write_bytes(files[MANIFEST])


def changed(**arrays):
    """A forged array in the place of one that is there; None takes it away."""

    def change(folder):
        found = {**load_file(folder / ARRAYS), **arrays}
        forge(folder, arrays={name: array for name, array in found.items() if array is not None})

    return change


def in_header(name, **entry):
    return lambda folder: forge(folder, header=lambda entries: entries[name].update(entry))


def in_manifest(**values):
    return lambda folder: forge(folder, lambda facts: facts.update(values))


def beside(**values):
    """Put entries beside the description, with the right digest."""

    def change(folder):
        manifest = {**manifest_of(folder), **values}
        del manifest["manifest_sha256"]
        manifest["manifest_sha256"] = bundle_module._manifest_digest(manifest)
        (folder / MANIFEST).write_text(json.dumps(manifest), encoding="utf-8")

    return change


def twice(folder):
    """Write a key twice: parsers keep the last value, and the digest is that of the last value."""
    written = (folder / MANIFEST).read_text(encoding="utf-8")
    (folder / MANIFEST).write_text('{"class": "Ada", ' + written.lstrip()[1:], encoding="utf-8")


def name_twice(folder):
    """Name an array twice in the header of the arrays; the first entry is text."""
    data = (folder / ARRAYS).read_bytes()
    length = int.from_bytes(data[:8], "little")
    header = b'{"tags": "Ada", ' + data[9 : 8 + length]
    header += b" " * (-len(header) % 8)
    forge(folder, arrays=len(header).to_bytes(8, "little") + header + data[8 + length :])


def linked(name):
    """Put a link to a file outside of the folder in the place of a file."""

    def change(folder):
        outside = folder.with_name(f"outside-{name}")
        (folder / name).rename(outside)
        (folder / name).symlink_to(outside)

    return change


def in_noise(**values):
    return lambda folder: forge(folder, lambda facts: facts["origin"]["noise"].update(values))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (changed(offsets=np.array([0, 5, 3, 4, 8, 10, 11])), "borders of the sentences decrease"),
        (changed(offsets=np.array([0, 3, 3, 4, 8, 10, 12])), "do not fit the vectors"),
        (changed(offsets=np.array([-1, 3, 3, 4, 8, 10, 11])), "do not fit the vectors"),
        (changed(offsets=np.array([0, 2**63 - 1, -(2**63), 4, 8, 10, 11])), "borders of the sentences decrease"),
        (changed(offsets=np.array([0, 11])), "not those that the manifest describes"),
        (changed(tags=np.full(11, 5, dtype=np.uint16)), "a number that the manifest does not name"),
        (changed(tags=np.zeros(11, dtype=np.int64)), "of other types"),
        (changed(tags=np.zeros(11, dtype=np.float32)), "of other types"),
        (changed(tags=np.zeros(11, dtype=np.float64)), "must be of the types F32, I64, U16"),
        (changed(groups=np.array([0, 0, 0, 1, 1, 3])), "not consecutive"),
        (changed(groups=np.full(6, -1)), "not consecutive"),
        (changed(groups=None), "not those that the manifest describes"),
        (changed(notes=np.zeros(3, dtype=np.int64)), "not those that the manifest describes"),
        (changed(vectors=np.full((11, 3), np.nan, dtype=np.float32)), "NaN or infinity"),
        (changed(vectors=np.full((11, 3), -np.inf, dtype=np.float32)), "NaN or infinity"),
        (changed(vectors=np.zeros((11, 3))), "must be of the types"),
        (changed(vectors=np.zeros((3, 11), dtype=np.float32)), "not those that the manifest describes"),
        (changed(vectors=np.zeros((11, 3, 1), dtype=np.float32)), "a shape that cannot be"),
        (in_header("vectors", shape=[11, 2**62]), "a shape that cannot be"),
        (in_header("vectors", shape=[11, -3]), "a shape that cannot be"),
        (in_header("vectors", shape=[11, True]), "a shape that cannot be"),
        (in_header("vectors", shape=[11, 4]), "a shape and a place that do not fit"),
        (in_header("vectors", shape=33), "a shape that cannot be"),
        (in_header("vectors", dtype=["F32"]), "must be of the types"),
        (in_header("vectors", dtype="O"), "must be of the types"),
        (in_header("vectors", data_offsets=[0, 2**40]), "a place that is not in the file"),
        (in_header("vectors", data_offsets=[0, 132]), "overlap, or leave gaps"),
        (in_header("vectors", note="x"), "describes no array"),
        (lambda f: forge(f, header=lambda e: {"__metadata__": {"note": "x"}, **e}), "describes no array"),
        (lambda f: forge(f, header=lambda e: [e]), "does not name any"),
        (lambda f: forge(f, header=lambda e: {k: v for k, v in e.items() if k != "tags"}), "longer or shorter|gaps"),
        (lambda f: forge(f, arrays=b""), "no header of a possible length"),
        (lambda f: forge(f, arrays=b"\xff" * 8), "no header of a possible length"),
        (lambda f: forge(f, arrays=(4).to_bytes(8, "little") + b"nope"), "header of the arrays is no JSON"),
        (lambda f: forge(f, arrays=(2).to_bytes(8, "little") + b"{}"), "not those that the manifest describes"),
        (lambda f: forge(f, arrays=(f / ARRAYS).read_bytes() + b"\0"), "longer or shorter than its header says"),
        (in_manifest(n_sentences=7), "not those that the manifest describes"),
        (in_manifest(n_tokens=11.0), "has an invalid count"),
        (in_manifest(d=0), "has an invalid count"),
        (in_manifest(n_groups=-1), "has an invalid count"),
        (in_manifest(n_groups=2), "not consecutive"),
        (in_manifest(tags=["O", "O"]), "names a duplicate or invalid tag"),
        (in_manifest(tags=["O", "B-A", "B-B", "B-C", 3]), "names a duplicate or invalid tag"),
        (in_manifest(tags=["O", "B-A", "B-B", "B-C", "Ada"]), "names an invalid tag"),
        (in_manifest(tags=["O", "B-A", "B-B", "B-C", ["O"]]), "names an invalid tag"),
        (in_manifest(tags=["O"]), "a number that the manifest does not name"),
        (in_manifest(tag_scheme="bioes"), "a tag scheme that is not that of its tags"),
        (in_manifest(origin=None), "does not state which representer made"),
        (in_manifest(origin={**ORIGIN.to_dict(), "n_components": 4}), "3 columns, those of their representer 4"),
        (in_manifest(origin={**ORIGIN.to_dict(), "n_components": "4"}), "'n_components' of an origin must be"),
        (in_manifest(text="x"), "something else than this version writes"),
        (beside(notes=["Ada"]), "something else than this version writes"),
        (beside(library_version="Ada was here"), "an invalid version"),
        (beside(library_version="0.2.0+alder.in.northwick"), "an invalid version"),
        (beside(library_version="0alder"), "an invalid version"),
        (in_manifest(label_scheme="Ada"), "an invalid label scheme"),
        (in_manifest(tags=["O", "B-CITY", "B-DATE", "B-PATIENT", "I-PATIENT", "B-Ada"]), "tags that no token has"),
        (in_manifest(origin={**ORIGIN.to_dict(), "fingerprint": "Ada"}), "text that no representer has"),
        (
            in_manifest(origin={**ORIGIN.to_dict(), "settings": {"training": "Ada was here"}}),
            "text that no representer",
        ),
        (in_manifest(origin={**ORIGIN.to_dict(), "settings": {"Ada was here": 1}}), "text that no representer has"),
        (in_manifest(origin={**ORIGIN.to_dict(), "settings": {"training": ["Ada"]}}), "text that no representer has"),
        (in_manifest(origin={**ORIGIN.to_dict(), "library_version": "Ada"}), "an invalid version"),
        (in_noise(words="Ada"), "something else than this version writes"),
        (twice, "not valid JSON"),
        (in_noise(generator="seeded"), "states no noise that PrivateRepresenter draws"),
        (in_noise(generator=None), "states no noise that PrivateRepresenter draws"),
        (in_noise(seeded=True), "states no noise that PrivateRepresenter draws"),
        (in_noise(law="none"), "states no noise that PrivateRepresenter draws"),
        (in_noise(grid=0.1), "states an invalid grid"),
        (in_noise(mean_std="Ada was here"), "no possible size of the noise"),
        (in_noise(mean_std=-1.0), "no possible size of the noise"),
        (in_noise(smallest_std=1.5), "no possible size of the noise"),
        (in_noise(smallest_std=0.5), "a grid that does not follow from the noise"),
        (in_noise(smallest_std=2.0**-16, grid=2.0**-20), "their noise is smaller than the finest grid allows"),
        (in_manifest(n_duplicates_removed=2**63), "has an invalid count"),
        (in_manifest(label_scheme="binary"), "a label scheme that is not that of its tags"),
        (name_twice, "header of the arrays is no JSON"),
        (in_noise(released_grid=2.0**-30), "states an invalid grid"),
        (in_noise(released_grid=2.0**-12), "a released grid other than the grid of its noise"),
        (in_noise(released_grid=2.0**-5), "do not lie on the grid"),
        (
            in_manifest(origin={**ORIGIN.to_dict(), "settings": {"unit_norm": False}}),
            "a released grid other than the grid of its noise",
        ),
        (linked(ARRAYS), "A file of the folder is a link"),
        (linked(MANIFEST), "A file of the folder is a link"),
        (changed(vectors=np.full((11, 3), 0.1, dtype=np.float32)), "do not lie on the grid"),
    ],
)
def test_what_a_forger_could_write(tmp_path, change, message):
    folder = saved(tmp_path / "a", groups=PATIENTS)
    change(folder)
    with pytest.raises(BundleError, match=message) as caught:
        load_representation(folder)
    assert caught.value.path == str(folder)
    assert "Ada" not in str(caught.value)


@pytest.mark.parametrize(
    "noise", [{"smallest_std": "Ada was here"}, {"grid": [1]}, {"grid": -1.0}, {"law": "none, k-anonymous classes"}]
)
def test_noise_that_version_0_1_0_did_not_write_is_refused(tmp_path, noise):
    """The audit of such a folder ended in an error of Python."""
    folder = saved(tmp_path / "a")
    manifest = manifest_of(folder)
    manifest["representation"]["origin"]["noise"] = noise
    (folder / MANIFEST).write_text(json.dumps({**manifest, "format": 1}), encoding="utf-8")
    forge(folder)
    with pytest.raises(BundleError, match="possible size of the noise|newer than its format"):
        load_representation(folder)


def test_forging_itself_changes_nothing(tmp_path):
    folder = saved(tmp_path / "a", groups=PATIENTS)
    before = content(load_representation(folder).X, load_representation(folder).y)
    changed()(folder)
    in_header("vectors")(folder)
    in_manifest()(folder)
    assert content(load_representation(folder).X, load_representation(folder).y) == before


def test_numbers_between_their_places(tmp_path):
    """A header of another length puts the arrays where processors do not like to read them."""
    folder = saved(tmp_path / "a")
    data = (folder / ARRAYS).read_bytes()
    length = int.from_bytes(data[:8], "little")
    forge(folder, arrays=(length + 1).to_bytes(8, "little") + data[8 : 8 + length] + b" " + data[8 + length :])
    with pytest.raises(BundleError, match="does not start at a multiple"):
        load_representation(folder)
