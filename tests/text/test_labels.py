"""Label schemes: the official lists, and maps between them."""

import pickle

import pytest

from sklearn_deid import Document, Span
from sklearn_deid.exceptions import SpanError
from sklearn_deid.text import (
    BINARY,
    I2B2_2014,
    MEDDOCAN,
    LabelScheme,
    get_label_scheme,
    label_map,
    names_of_i2b2,
    nearest_i2b2,
    propose_label_map,
    relabel,
)

HIPAA_TYPES, GRASCCO, EDS_PSEUDO = (get_label_scheme(name) for name in ("hipaa-types", "grascco", "eds-pseudo"))
SCHEMES = (I2B2_2014, MEDDOCAN, HIPAA_TYPES, GRASCCO, EDS_PSEUDO, BINARY)
# Category and types as the official i2b2 2014 script names its HIPAA subset; its pattern for IDNUM never matches.
OFFICIAL_HIPAA = {
    "NAME": {"PATIENT"},
    "LOCATION": {"CITY", "STREET", "ZIP", "ORGANIZATION"},
    "DATE": {"DATE"},
    "AGE": {"AGE"},
    "CONTACT": {"PHONE", "FAX", "EMAIL"},
    "ID": {"SSN", "MEDICALRECORD", "HEALTHPLAN", "ACCOUNT", "LICENSE", "VEHICLE", "DEVICE", "BIOID"},
}


def test_hipaa_subset_is_the_official_one():
    pairs = {(I2B2_2014.category(label), label) for label in I2B2_2014.hipaa}
    assert pairs == {(category, label) for category, labels in OFFICIAL_HIPAA.items() for label in labels}
    for label in ("IDNUM", "DOCTOR", "USERNAME", "HOSPITAL", "STATE", "COUNTRY", "PROFESSION", "URL", "IPADDR", "ROOM"):
        assert label in I2B2_2014.labels
        assert not I2B2_2014.is_hipaa(label)


def test_numbers_of_labels_and_categories():
    categories = {"NAME", "PROFESSION", "LOCATION", "AGE", "DATE", "CONTACT", "ID", "OTHER"}
    assert set(I2B2_2014.categories.values()) == set(MEDDOCAN.categories.values()) == categories
    assert [len(scheme.labels) for scheme in SCHEMES] == [31, 29, 17, 24, 13, 1]
    assert I2B2_2014.category("NONSENSE") is None
    assert not I2B2_2014.is_hipaa("NONSENSE")


# Type and XML element of one MEDDOCAN label of each element, as the corpus writes them.
@pytest.mark.parametrize(
    ("label", "category"),
    [
        ("NOMBRE_PERSONAL_SANITARIO", "NAME"),
        ("TERRITORIO", "LOCATION"),
        ("CENTRO_SALUD", "LOCATION"),
        ("FECHAS", "DATE"),
        ("EDAD_SUJETO_ASISTENCIA", "AGE"),
        ("CORREO_ELECTRONICO", "CONTACT"),
        ("ID_TITULACION_PERSONAL_SANITARIO", "ID"),
        ("PROFESION", "PROFESSION"),
        ("SEXO_SUJETO_ASISTENCIA", "OTHER"),
        ("FAMILIARES_SUJETO_ASISTENCIA", "OTHER"),
    ],
)
def test_categories_of_meddocan(label, category):
    assert MEDDOCAN.category(label) == category


@pytest.mark.parametrize("scheme", SCHEMES, ids=lambda s: s.name)
def test_maps_have_every_label_and_lead_into_their_target(scheme):
    targets = {"binary": BINARY, "hipaa": scheme, scheme.name: scheme}
    if scheme is not BINARY:
        targets["i2b2-2014"] = I2B2_2014
    for name, goal in targets.items():
        mapping = label_map(scheme, name)
        assert set(mapping) == set(scheme.labels)
        assert set(mapping.values()) - {None} <= set(goal.labels)
    assert {a for a, b in label_map(scheme.name, "hipaa").items() if b is not None} == scheme.hipaa
    assert all(a == b for a, b in label_map(scheme, scheme).items())


@pytest.mark.parametrize("scheme", SCHEMES[1:5], ids=lambda s: s.name)
def test_maps_to_i2b2_keep_category_and_hipaa(scheme):
    for label, target in label_map(scheme, "i2b2-2014").items():
        assert target is None or I2B2_2014.category(target) == scheme.category(label)
        # Safe Harbor lists identifiers that the i2b2 evaluation leaves out.
        assert scheme is HIPAA_TYPES or I2B2_2014.is_hipaa(target) == scheme.is_hipaa(label)
    assert HIPAA_TYPES.hipaa == set(HIPAA_TYPES.labels)
    assert label_map(GRASCCO, I2B2_2014)["NAME_TITLE"] is None


def test_a_label_of_several_schemes_has_one_nearest_label():
    maps = [label_map(scheme, "i2b2-2014") for scheme in SCHEMES[:5]]
    for label in {label for one in maps for label in one}:
        assert len({one[label] for one in maps if label in one}) == 1
        assert (
            nearest_i2b2().get(label, label) == next(one[label] for one in maps if label in one)
            or label == "NAME_TITLE"
        )


def test_a_scheme_with_a_known_name_but_other_labels_has_no_map():
    with pytest.raises(ValueError, match="no map from meddocan to i2b2-2014"):
        label_map(LabelScheme("meddocan", {"A": "A"}, frozenset()), "i2b2-2014")


def test_names_of_i2b2_are_those_of_the_one_scheme_with_all_labels():
    assert names_of_i2b2(["NAME", "DATE"])["SSN"] == "SOCIAL_SECURITY_NUMBER"
    assert names_of_i2b2(["NAME", "DATE"])["ZIP"] == "GEOGRAPHIC_LOCATION"
    # The first of two labels gives the name.
    assert names_of_i2b2(["FECHAS"])["MEDICALRECORD"] == "ID_SUJETO_ASISTENCIA"
    assert names_of_i2b2(["NOM", "VILLE"])["PATIENT"] == "NOM"
    for labels in (["DATE"], ["DATE", "CITY"], ["NAME", "MINE"], ["PHI"], []):
        assert names_of_i2b2(labels) == {}


def test_there_is_no_way_back():
    with pytest.raises(ValueError, match="no map from i2b2-2014 to meddocan. Pass a dict"):
        label_map("i2b2-2014", "meddocan")
    with pytest.raises(ValueError, match="no map from binary to i2b2-2014"):
        label_map(BINARY, I2B2_2014)


@pytest.mark.parametrize("scheme", SCHEMES, ids=lambda s: s.name)
def test_a_scheme_is_found_by_name_copied_and_hashed(scheme):
    assert get_label_scheme(scheme.name) is scheme
    assert get_label_scheme(scheme) is scheme
    twin = pickle.loads(pickle.dumps(scheme))
    assert twin == scheme
    assert hash(twin) == hash(scheme)
    with pytest.raises(TypeError, match="does not support item assignment"):
        scheme.categories["NEW"] = "NAME"


def test_wrong_schemes():
    with pytest.raises(ValueError, match=r"must be one of \['binary', 'eds-pseudo', .* Got 'i2b2' instead"):
        get_label_scheme("i2b2")
    with pytest.raises(ValueError, match=r"must have a category in 'categories'. These have none: \['AGE'\]"):
        LabelScheme("mine", {"DATE": "DATE"}, frozenset({"AGE", "DATE"}))


NOTE = Document("n1", "0123456789", (Span(0, 2, "DOCTOR", "NAME"), Span(3, 5, "DATE", "DATE", 0.5)), "p1", {"a": 1})


def test_relabel_changes_labels_and_nothing_else():
    binary = relabel(NOTE, label_map("i2b2-2014", "binary"), "binary")
    assert binary == Document(
        "n1", NOTE.text, (Span(0, 2, "PHI", "PHI"), Span(3, 5, "PHI", "PHI", 0.5)), "p1", {"a": 1}
    )
    assert relabel(NOTE, label_map(I2B2_2014, I2B2_2014), I2B2_2014) == NOTE
    assert relabel(NOTE, {"DOCTOR": "X", "DATE": "Y"}).spans[0] == Span(0, 2, "X")


def test_relabel_leaves_out_what_maps_to_none_only():
    assert relabel(NOTE, label_map(I2B2_2014, "hipaa"), I2B2_2014).spans == NOTE.spans[1:]
    with pytest.raises(SpanError, match=r"no entry for the label 'DATE'. .*\[document n1, characters 3-5\]"):
        relabel(NOTE, {"DOCTOR": "PATIENT"})


def test_a_proposed_map_leaves_every_doubt_to_a_person():
    labels = [
        "NAME_PATIENT",
        "patientName",
        "IP-Addr",
        "HOSPITAL_CITY",
        "DATES",
        "medical_record no",
        "ZIP",
        "VILLE",
        "",
    ]
    assert propose_label_map(labels, "i2b2-2014") == {
        "NAME_PATIENT": "PATIENT",
        "patientName": "PATIENT",
        "IP-Addr": "IPADDR",
        "medical_record no": "MEDICALRECORD",
        "ZIP": "ZIP",
    }
    proposed = propose_label_map(["VILLE"], "i2b2-2014")
    with pytest.raises(SpanError, match="no entry for the label 'VILLE'"):
        relabel(Document("a", "Ort", (Span(0, 3, "VILLE"),)), proposed)


@pytest.mark.parametrize("scheme", ["i2b2-2014", "meddocan", "binary"])
def test_a_scheme_is_proposed_as_itself_where_names_are_unambiguous(scheme):
    labels = get_label_scheme(scheme).labels
    proposed = propose_label_map(labels, scheme)
    assert all(proposed.get(label, label) == label for label in labels) and len(proposed) > len(labels) / 2
