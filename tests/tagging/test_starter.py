"""The model that the package ships: its files, its choices, and texts that it must not miss."""

import json
import unicodedata
import warnings
from importlib.resources import files

import pytest

from sklearn_deid import Document, load_model
from sklearn_deid.exceptions import UnlikeNoteWarning
from sklearn_deid.tagging import is_safe_harbor
from sklearn_deid.tagging.shipped_models import STARTERS, starter_folder

TEXT = (
    "Mrs. Amara Okafor is a 54-year-old woman who lives in Dayton, Ohio. She works as a teacher. Seen by Dr. Lindqvist "
    "at Riverside Medical Center on March 3, 2021. MRN 4482913, phone 555-0142. She had a stroke in 2015 and takes "
    "warfarin 5 mg daily."
)
HIDDEN = ("Amara", "Okafor", "Dayton", "Lindqvist", "Riverside", "March 3", "4482913", "555-0142")
KEPT = ("stroke", "warfarin 5 mg", "54-year-old", "Ohio", "2015", "teacher", "Seen by")
# Names of many origins, in sentences of this test.
NAMES = "Nguyen Thi Hoa|Rajesh Subramanian|Mohammed Al-Sayed|Chidi Okonkwo|Kenji Tanaka|Maria Fernandez|Olga Ivanova"

FOREIGN = (
    "Der Patient wurde am 3. Mai wegen zunehmender Atemnot aufgenommen. In der Röntgenaufnahme zeigte sich ein Erguss "
    "auf der rechten Seite, der punktiert wurde. Wir empfehlen die Fortführung der Behandlung für weitere vier Wochen "
    "und bitten um Überprüfung der Blutwerte. Die Entlassung erfolgte in gutem Zustand nach Hause.",
    "La paciente acudió a urgencias por dolor torácico de tres días de evolución. La exploración física no mostró "
    "hallazgos y el electrocardiograma fue normal. Se inició tratamiento con antiagregantes y se solicitó una "
    "ecocardiografía, que descartó lesiones. Ingresó en cardiología, donde permaneció en observación.",
)


@pytest.fixture(scope="module")
def model():
    return load_model("starter-en")


def test_notes_with_html_entities_are_tagged(model):
    """Tokens of entities are their characters, and not the text at their offsets."""
    assert model.redact(["Glucose &lt; 5. Seen by Dr. Lindqvist."]) == ["Glucose &lt; 5. Seen by Dr. [DOCTOR]."]


@pytest.mark.parametrize("name", STARTERS)
def test_files_are_small_and_listed_in_the_package(name):
    content = {path.name: path.stat().st_size for path in starter_folder(name).iterdir()}
    assert content.keys() == {"manifest.json", "arrays.safetensors", "README.md"}
    assert sum(content.values()) <= 6_000_000
    assert files("sklearn_deid.tagging").joinpath(name.replace("-", "_"), "README.md").is_file()


def test_manifest_holds_no_path_and_no_word_of_the_training():
    manifest = (starter_folder("starter-en") / "manifest.json").read_text(encoding="utf-8")
    around = json.loads(manifest)["taggers"][0]["taggers"][0]
    assert "/" not in json.dumps([around["state"], around["taggers"][0]["state"]])
    assert "Okafor" not in manifest


def test_hides_what_safe_harbor_removes_and_keeps_the_rest(model):
    (redacted,) = model.redact([TEXT])
    assert not [words for words in HIDDEN if words in redacted]
    assert not [words for words in KEPT if words not in redacted]


def test_every_span_is_one_that_safe_harbor_removes_and_all_holds_the_others(model):
    everything = load_model("starter-en", labels="all").annotate([TEXT])[0]
    asked = model.annotate([TEXT])[0]
    assert asked == tuple(span for span in everything if is_safe_harbor(span, TEXT))
    assert {"AGE", "STATE", "PROFESSION"} <= {span.label for span in everything}


@pytest.mark.parametrize("casing", [str, str.lower, str.upper])
@pytest.mark.parametrize("name", NAMES.split("|"))
def test_names_are_hidden_whole(model, name, casing):
    text = casing(f"Patient {name} was admitted with chest pain. Discussed with Dr. {name} today.")
    (redacted,) = model.redact([text])
    assert casing(name) not in redacted
    assert "chest pain" in redacted.lower()


def test_larger_bias_never_hides_less(model):
    notes = [Document("a", TEXT), Document("b", "Seen w/ Lee in clinic, Parkinson's, hope to d/c may 5")]
    hidden = []
    for bias in (-3, 0.0, 3.0, 8.0):
        found = load_model("starter-en", decision_bias=bias, labels="all").annotate(notes)
        hidden.append([{i for span in spans for i in range(span.start, span.end)} for spans in found])
    for less, more in zip(hidden, hidden[1:], strict=False):
        assert all(a <= b for a, b in zip(less, more, strict=True))
    assert hidden[0] != hidden[-1]


def test_a_second_run_hides_what_the_first_one_left(model):
    """The page on notes without annotations advises it after a model of few notes."""
    once = "Mr. [NAME] of 123 Maple Street was seen at [GEOGRAPHIC_LOCATION] on [DATE]; call 555-867-5309."
    (twice,) = model.redact([once])
    assert twice == once.replace("123 Maple Street", "[STREET]").replace("555-867-5309", "[PHONE]")


@pytest.mark.parametrize("text", FOREIGN)
def test_note_in_another_language_without_accents_is_unlike(model, text):
    """Notes of systems that write ASCII alone passed, since only letters with accents showed the language."""
    plain = unicodedata.normalize("NFD", text.replace("\u00df", "ss")).encode("ascii", "ignore").decode()
    with pytest.warns(UnlikeNoteWarning, match="frequent words of another language"):
        model.annotate([plain])


def test_names_and_short_texts_are_not_in_another_language(model):
    names = ["Anna van den Berg", "El Camino Hospital, Los Gatos", "Ms. de la Cruz y Perez", "von der Heide"]
    with warnings.catch_warnings():
        warnings.simplefilter("error", UnlikeNoteWarning)
        assert all(spans is not None for spans in model.annotate(names))


@pytest.mark.parametrize("text", FOREIGN)
def test_note_in_another_language_is_unlike(model, text):
    with pytest.warns(UnlikeNoteWarning, match="unlike the training notes of the model"):
        model.annotate([text])
    assert model.annotate([TEXT, TEXT.lower(), TEXT.upper()]) is not None


def test_wrong_values_are_refused():
    with pytest.raises(ValueError, match="starter-en"):
        load_model("starter-fr")
    with pytest.raises(ValueError, match="labels"):
        load_model("starter-en", labels="i2b2")
    for bias in ("2", float("nan"), 1e9, True):
        with pytest.raises(ValueError, match="decision_bias"):
            load_model("starter-en", decision_bias=bias)
