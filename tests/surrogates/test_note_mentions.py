"""What the rules of surrogates read around a span: fields of forms, ranges, titles, relatives and addresses."""

from dataclasses import replace
from datetime import date

import pytest

from sklearn_deid.surrogates import SurrogateEngine, written_form
from sklearn_deid.surrogates.locale_words import locale_words
from sklearn_deid.surrogates.name_parsing import CALLED, parse_name
from sklearn_deid.surrogates.note_mentions import NoteMentions
from sklearn_deid.text import Document, Span

N_PATIENTS = 30


def marked(marked_text, *labels):
    """A note whose spans are in brackets."""
    text, spans = "", []
    for i, piece in enumerate(marked_text.replace("]", "[").split("[")):
        if i % 2:
            spans.append(Span(len(text), len(text) + len(piece), labels[len(spans) % len(labels)]))
        text += piece
    return Document("n", text, tuple(spans))


def surrogates(note, n=N_PATIENTS, locale="es", **settings):
    """Surrogates of a note for several patients, one list for each."""
    out = []
    for number in range(n):
        engine = SurrogateEngine(key=bytes([number]) * 32, locale=locale, **settings)
        out.append([one.surrogate for one in engine.replacements(note)])
    return out


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("Nombre: [Zyxw]. Apellidos: [Rubio Paz]", ["given name", "surname"]),
        ("Nombre : [Zyxw] .\nApellidos : [Rubio Paz]", ["given name", "surname"]),
        ("Apellidos: [Rubio Paz]\nNombre: [Zyxw]", ["surname", "given name"]),
        ("Nombre: [Zyxw Rubio]\nRemitido por: [Luz Paz]", ["person", "person"]),
        ("Nombre y apellidos: [Zyxw Rubio]", ["person"]),
    ],
)
def test_fields_of_a_form_tell_the_parts_of_a_name(text, kinds):
    note = marked(text, "NAME")
    mentions = NoteMentions(note.text, note.spans, ["person"] * len(note.spans), locale_words("es")).read()
    assert [mention.kind for mention in mentions] == kinds


def test_a_given_name_that_no_list_has_becomes_a_given_name_behind_its_field():
    words = locale_words("es")
    given = {name for names in words.given_names.values() for name in names}
    found = surrogates(marked("Nombre: [Zyxw]. Apellidos: [Rubio Paz]", "NOMBRE_SUJETO_ASISTENCIA"))
    assert all(one in given for one, _ in found)


@pytest.mark.parametrize(("title", "locale"), [("Mr.", "en"), ("Herr Dr. med.", "de"), ("M.", "fr")])
def test_a_title_tells_the_sex_of_a_name_that_no_list_has(title, locale):
    words = locale_words(locale)
    note = marked(f"[Zyxw Quillwick]. {title} [Quillwick] left.", "PATIENT")
    female = set(words.given_names["F"]) - set(words.given_names["M"])
    assert not any(one[0].split()[0] in female for one in surrogates(note, locale=locale))
    drawn = [one[0].split()[0] in female for one in surrogates(note, locale=locale, keep_gender=False)]
    assert any(drawn)


def test_a_couple_tells_no_sex():
    note = marked("[Zyxw Quillwick]. Mr. [Quillwick] and Mrs. [Quillwick] left.", "PATIENT")
    female = set(locale_words("en").given_names["F"])
    assert 0 < sum(one[0].split()[0] in female for one in surrogates(note, locale="en")) < N_PATIENTS


def test_a_province_behind_a_town_is_the_province_of_the_new_town():
    words = locale_words("es")
    regions = {town.name: town.region for town in words.towns}
    for text in ("[Getafe], [Madrid]. CP: [28901]", "[Getafe] ([Madrid]), [28901]", "[Getafe] [Madrid], [28901]"):
        for town, region, code in surrogates(marked(text, "TERRITORIO")):
            if town in regions:  # no town of another country
                assert region == regions[town]
                assert any(code.startswith(t.prefix) for t in words.towns if t.name == town)
    # a list of towns is no address
    assert len(set(surrogates(marked("[Madrid] y [Getafe]", "TERRITORIO"), n=1)[0])) == 2
    assert written_form("Madrid", "TERRITORIO", "es") != written_form("Getafe", "TERRITORIO", "es")


def test_the_first_number_of_a_range_of_months_is_a_month():
    for first, last in surrogates(marked("Therapie [03] - [05/2021] und", "DATE"), locale="de"):
        month, year = map(int, last.split("/"))
        assert 1 <= int(first) <= 12
        assert (month - int(first)) % 12 in (1, 2, 3), year
    (one,) = surrogates(marked("Chemo [01-12/64]", "DATE"), n=1, locale="de")
    assert one[0] != "[DATE]" and one[0].count("/") == 1


def test_the_first_day_of_a_range_has_the_month_of_the_last():
    """It had the month of the reference day of the note, and the interval changed by up to three days."""
    note = marked("vom [12.] - [14.3.2011], seit [1.1.2011], bis [1.2.2011]", "DATE")
    for first, last, *_ in surrogates(note, locale="de"):
        day, month, year = map(int, last.split("."))
        assert date.fromordinal(date(year, month, day).toordinal() - 2).day == int(first[:-1])


def test_a_month_with_a_year_of_two_digits_does_not_turn_the_order_of_day_and_month():
    note = marked("(ED [04/23]), [05/23], [06/23], vom [2.2.2023] zum [14.2.2023], Therapie [03/12]", "DATE")
    for *months, first, last, therapy in surrogates(note, locale="de"):
        a, b = (date(*map(int, reversed(text.split(".")))) for text in (first, last))
        assert (b - a).days == 12
        assert all(1 <= int(text.split("/")[0]) <= 12 for text in (*months, therapy))
        # "03/12" is a month and a year beside such dates
        assert abs((b.year - 2023) - (int(therapy.split("/")[1]) - 12) % 100) in (0, 1, 99, 100)


def test_a_postal_code_beside_a_region_alone_is_one_of_the_region():
    words = locale_words("es")
    for region, code in surrogates(
        marked("Provincia: [Orense]. CP: [32005]".replace("Orense", "Ourense"), "TERRITORIO")
    ):
        prefixes = {town.prefix for town in words.towns if town.region == region}
        assert not prefixes or any(code.startswith(prefix) for prefix in prefixes)


def test_six_digits_are_read_as_the_date_beside_them():
    for day, scan in surrogates(marked("seen [8-9-14], scan [140809]", "DATE"), locale="en"):
        month, day, year = (f"{int(part):02d}" for part in day.split("-"))
        assert scan == year + month + day


@pytest.mark.parametrize(
    ("relative", "possible"),
    [("abuelo paterno", "abuelo padre hijo"), ("abuela materna", "abuela madre hija"), ("padres", "padres hijos")],
)
def test_a_relative_keeps_gender_and_number(relative, possible):
    words = locale_words("es").numbered("relatives")
    found = {one[0].split()[0] for one in surrogates(marked(f"su [{relative}]", "FAMILIARES_SUJETO_ASISTENCIA"))}
    assert {words[word.replace("ñ", "n").replace("í", "i")] for word in found} == {words[relative.split()[0]]}
    assert len(found) > 3 and set(possible.split()) & found


def test_a_single_name_of_a_relative_is_a_given_name():
    words = locale_words("es")
    for (one,) in surrogates(marked("su hermano [Juan], de siete meses", "FAMILIARES_SUJETO_ASISTENCIA")):
        assert words.may_be_given_name(one)


def test_without_the_gender_a_relative_keeps_its_number():
    words = locale_words("es").numbered("relatives")
    note = marked("su [madre]", "FAMILIARES_SUJETO_ASISTENCIA")
    found = {one[0] for one in surrogates(note, keep_gender=False)}
    assert {words[word.replace("ñ", "n").replace("í", "i")] for word in found} == {"M", "F"}


@pytest.mark.parametrize(
    ("text", "article"),
    [("Plaza de la Zyxw, 3", "de la"), ("Av. del Zyxw, 3", "del"), ("Plaza de los zyxw, 3", "de los")],
)
def test_behind_an_article_stands_a_noun_that_agrees(text, article):
    nouns = {
        name.split()[-1].lower() for name in locale_words("es").block("street names") if name.startswith(f"{article} ")
    }
    found = {one[0].split(article)[1].split(",")[0].strip().lower() for one in surrogates(marked(f"[{text}]", "CALLE"))}
    assert found <= nouns and len(found) > 3
    hospital = surrogates(marked(f"Hospital [Hospital {article} Zyxw]", "HOSPITAL"))
    assert {one[0].split(article)[1].strip().lower() for one in hospital} <= nouns


def test_a_profession_fits_its_article_in_the_whole_note():
    for text, is_vowel in (("Retired [waitress]. She was a [waitress].", False), ("An [editor], once [editor].", True)):
        for one, other in surrogates(marked(text, "PROFESSION"), locale="en"):
            assert one.lower() == other.lower() and (one[0].lower() in "aeiou") == is_vowel


def test_particles_stay_in_capitals_and_at_the_start_of_a_name():
    (one,) = surrogates(marked("[Calle De Los Zyxw, 22]", "CALLE"), n=1)
    assert one[0].startswith("Calle De Los ")
    (one,) = surrogates(marked("[PLAZA DE LA ZYXW, 22]", "CALLE"), n=1)
    assert one[0].startswith("PLAZA DE LA ") and one[0].isupper()


def test_a_hospital_in_capitals_has_the_surrogate_of_the_hospital():
    for capitals, usual in surrogates(marked("[ST. ZYXW'S] and [St. Zyxw's]", "HOSPITAL"), locale="en"):
        assert capitals == usual.upper()


@pytest.mark.parametrize(
    ("locale", "name", "noun"),
    [
        ("en", "Zyxw Hospital", " Hospital"),
        ("es", "Hospital de Zyxw", "Hospital de "),
        ("de", "Zyxwenkrankenhaus", "krankenhaus"),
        ("fr", "Clinique Zyxw", "Clinique "),
        ("nb", "Zyxw sykehus", " sykehus"),
        ("pt", "Centro de Sa\u00fade de Zyxw", "Centro de Sa\u00fade de "),
    ],
)
def test_a_hospital_has_one_surrogate_under_each_label(locale, name, noun):
    """As a LOCATION, the hospital became a town; as an ORGANIZATION, it had another name."""
    for hospital, place, firm in surrogates(
        marked(f"[{name}] ... [{name}, Zyxton] ... [{name}]", "HOSPITAL", "LOCATION", "ORGANIZATION"), locale=locale
    ):
        assert hospital == place.partition(", ")[0] == firm and noun in hospital and "," in place


@pytest.mark.parametrize("text", ["L'Hospitalet de Llobregat", "Hospital"])
def test_a_town_that_is_called_like_a_hospital_is_a_town(text):
    assert all("Hospital" not in one for (one,) in surrogates(marked(f"[{text}]", "TERRITORIO")))


def test_an_inflected_public_word_stays():
    for (one,) in surrogates(marked("[Klinik der Medizinischen Hochschule Zyxw]", "LOCATION_HOSPITAL"), locale="de"):
        assert one.startswith("Klinik der Medizinischen Hochschule ")


def test_the_initial_in_a_mail_address_is_that_of_the_surrogate():
    note = marked("[Norbert Quillwick], [nquillwick@x.org]", "DOCTOR", "EMAIL")
    for name, mail in surrogates(note, locale="en"):
        given, surname = name.lower().split()
        assert mail.split("@")[0] == given[0] + surname


@pytest.mark.parametrize("label", ["PATIENT", "STREET", "HOSPITAL", "ORGANIZATION", "CITY", "PROFESSION", "USERNAME"])
def test_no_numeral_in_front_of_a_word_keeps_the_word(label):
    """Marks of footnotes, circled and Roman digits and fractions are neither letters nor digits for patterns."""
    numerals = [chr(i) for i in range(0x20000) if chr(i).isnumeric() and not chr(i).isdecimal()]
    numerals = [sign for sign in numerals if not sign.isalpha()]
    assert {"\u00b9", "\u2460", "\u2167", "\u00bd", "\u2488"} <= set(numerals)
    engine = SurrogateEngine(key=bytes(32), locale="en")
    for sign in numerals:
        (one,) = engine.replacements(marked(f"[{sign}Zyxwal]", label))
        assert "zyxwal" not in one.surrogate.casefold()


@pytest.mark.parametrize(
    "date", ["5 March \u00b2\u2070\u00b9\u00b9", "\u2462/\u2464/2011", "12:30 \u00b2\u00b3\u00b9", "\u2462/5/11"]
)
def test_raised_and_circled_digits_of_dates_move(date):
    for (one,) in surrogates(marked(f"[{date}]", "DATE"), locale="en"):
        assert not {sign for sign in one if sign.isdigit() and not sign.isdecimal()}


def test_a_raised_digit_makes_an_age_over_89():
    found = surrogates(marked("[9\u00b2] [2\u00bd]", "AGE"), n=1, locale="en")
    assert found == [["90+", "2\u00bd"]]


@pytest.mark.parametrize(
    ("text", "locale"),
    [
        ("His sister [Zyxw] came.", "en"),
        ("Discussed with her neighbor, [Zyxw].", "en"),
        ("HIS PARTNER [ZYXW] CALLED.", "en"),
        ("Per [Zyxw] (his daughter).", "en"),
        ("Gespräch mit der Tochter [Zyxw].", "de"),
        ("Acude con su marido [Zyxw].", "es"),
        ("Venue avec son compagnon ([Zyxw]).", "fr"),
    ],
)
def test_a_single_name_beside_a_relative_is_a_given_name(text, locale):
    note = marked(text, "NAME")
    (mention,) = NoteMentions(note.text, note.spans, ["person"], locale_words(locale)).read()
    assert mention.kind == CALLED
    assert roles(mention.text, CALLED, locale) == ["given"]


@pytest.mark.parametrize(
    "text",
    [
        "Sister [Zyxw] took the history.",
        "Dr. [Zyxw] (father) was called.",
        "His sister, Dr. [Zyxw], came.",
        "She has a sister. [Zyxw] called.",
        "The parents [Zyxw] came.",
    ],
)
def test_a_name_with_a_title_or_in_another_sentence_is_not_beside_a_relative(text):
    note = marked(text, "NAME")
    assert [m.kind for m in NoteMentions(note.text, note.spans, ["person"], locale_words("en")).read()] == ["person"]


def test_names_beside_a_relative_that_are_no_given_names():
    assert roles("Zyxw Paz", CALLED) == ["given", "surname"]
    assert roles("Gonzalez", CALLED) == roles("de Zyxw", CALLED) == ["surname"]
    # The patient is a Zyxw.
    assert roles("Zyxw", CALLED, role_of={"zyxw": "surname"}.get) == ["surname"]


def test_a_relative_is_one_person_in_notes_with_and_without_the_surname():
    notes = ["[Zyxw] came. His sister [Zyxw] can be called.", "History is from [Zyxw Quillwick]; [Zyxw] is near."]
    engine = SurrogateEngine(key=bytes(32), locale="en")
    documents = [replace(marked(note, "NAME"), patient_id="p") for note in notes]
    found = [[one.surrogate for one in engine.replacements(document)] for document in documents]
    (first, second), (full, again) = found
    assert first == second == again == full.split()[0] != full


def roles(text, kind, locale="en", role_of=lambda word: None):
    return [part.role for part in parse_name(text, locale_words(locale), kind, role_of) if part.role != "kept"]


@pytest.mark.parametrize(
    ("locale", "text", "labels", "expected"),
    [
        ("en", "[Boston], [MA] [02115]. [Austin] was", ("CITY", "STATE", "ZIP", "CITY"), {1: "Boston", 2: "Boston"}),
        ("en", "[Boston], [MA]\n[Austin], [TX]", ("CITY", "STATE"), {1: "Boston", 3: "Austin"}),
        ("en", "[02115] [Boston], [MA]", ("ZIP", "CITY", "STATE"), {0: "Boston", 2: "Boston"}),
        ("de", "[Ulm], [80331] [M\u00fcnchen]", ("CITY", "ZIP", "CITY"), {1: "M\u00fcnchen"}),
        ("de", "[Ulm], [89073], [Hamburg]", ("CITY", "ZIP", "CITY"), {1: "Ulm"}),
        ("es", "[Getafe] ([Madrid]) [28901]\n[Toledo]", ("CITY", "STATE", "ZIP", "CITY"), {1: "Getafe", 2: "Getafe"}),
    ],
)
def test_codes_and_regions_belong_to_the_town_of_their_address(locale, text, labels, expected):
    """The next town was nearer than the town of the address."""
    note = marked(text, *labels)
    kind_of = {"CITY": "place", "STATE": "region", "ZIP": "postcode"}
    kinds = [kind_of[span.label] for span in note.spans]
    mentions = NoteMentions(note.text, note.spans, kinds, locale_words(locale)).read()
    assert {i: mentions[i].town for i in expected} == expected


def test_signs_of_quoted_mails_and_boxes_are_no_part_of_a_name_or_date():
    """A person whose name went on in the next line of a quotation became another person, and the date a label."""
    notes = [
        ("Seen by [Otis Alder] on [March 14, 2021].", "[March 14, 2021]"),
        ("> Seen by [Otis\n> Alder] on [March\n> 14, 2021].", "[March\n> 14, 2021]"),
        ("| Seen by [Otis   |\n| Alder] on [March |\n| 14, 2021].", "[March |\n| 14, 2021]"),
        ("1: To\n2:\n3: by [Otis\n4: Alder] on [March\n5: 14, 2021].\n6:\n7: May\n8:", "[March\n5: 14, 2021]"),
        ("# To\n#\n# by [Otis\n# Alder] on [March\n# 14, 2021].\n#\n# May\n#", "[March\n# 14, 2021]"),
    ]
    engine = SurrogateEngine(key=bytes(32), locale="en")
    documents = [replace(marked(note, "NAME", "DATE"), patient_id="p") for note, _ in notes]
    found = [[one.surrogate.split() for one in engine.replacements(document)] for document in documents]
    assert all(one == found[0] for one in found)
    assert len(found[0][0]) == 2


@pytest.mark.parametrize("label", ["LICENSE", "SSN", "MEDICALRECORD", "IDNUM"])
@pytest.mark.parametrize("word", ["Tel ", "Phone: ", "fax (", "Call ", "cell phone # "])
def test_a_telephone_number_has_a_reserved_surrogate_under_any_label_of_a_number(label, word):
    """ "Tel 617-726-2000" with the label LICENSE had random digits, which can be the number of a person."""
    note = marked(f"{word}[617-726-2000], or [617-726-2000]", label, "PHONE")
    for first, second in surrogates(note, n=5, locale="en"):
        assert first == second and first[4:9] == "555-0"


@pytest.mark.parametrize("text", ["MRN [617-726-2000]", "hotel [617-726-2000]", "Tel [A617262]"])
def test_other_identifiers_are_no_telephone_numbers(text):
    assert NoteMentions(*_read(text), locale_words("en")).read()[0].kind == "identifier"


def _read(text):
    note = marked(text, "IDNUM")
    return note.text, note.spans, ["identifier"]
