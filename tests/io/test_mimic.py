"""Notes with placeholders become notes with invented text and exact gold spans."""

import re
from datetime import date

import pytest

from sklearn_deid import Corpus, read_corpus, write_corpus
from sklearn_deid.exceptions import CorpusFormatError
from sklearn_deid.io import iter_documents
from sklearn_deid.surrogates import Chance, PlaceholderFiller

# kind and label as the documentation of MIMIC-III's notes has them
KINDS = {
    "2151-7-16": "DATE",
    "7-16": "DATE",
    "2151": "DATE",
    "2151-7": "DATE",
    "2151-7-16/2151-8-2": "DATE",
    "Month/Day (2) 1234": "DATE",
    "Month/Day/Year 12": "DATE",
    "Month (only) 51": "DATE",
    "Month/Year 3": "DATE",
    "Year (4 digits) 12": "DATE",
    "Year (2 digits) 4": "DATE",
    "Day Month 12": "DATE",
    "Date range (1) 9": "DATE",
    "Holiday 3": "DATE",
    "Season 1": "DATE",
    "First Name8 (NamePattern2) 1234": "PATIENT",
    "Last Name (NamePattern1) 12": "PATIENT",
    "Known lastname 12": "PATIENT",
    "Known firstname 12": "PATIENT",
    "Female First Name (un) 3": "PATIENT",
    "Name (NI) ": "PATIENT",
    "Name Initial (PRE) ": "PATIENT",
    "First Name (Titles) ": "DOCTOR",
    "Last Name (STitle) 3": "DOCTOR",
    "Name10 (NameIs) 3": "DOCTOR",
    "Name6 (MD) 3": "DOCTOR",
    "Doctor Last Name 3": "DOCTOR",
    "Attending Info ": "DOCTOR",
    "Dictator Info ": "DOCTOR",
    "Hospital1 18": "HOSPITAL",
    "Hospital 12": "HOSPITAL",
    "Hospital Ward Name 3": "DEPARTMENT",
    "Hospital Unit Name 3": "DEPARTMENT",
    "Location (un) 12": "CITY",
    "Street Address(1) 3": "STREET",
    "PO Box 3": "STREET",
    "State 3": "STATE",
    "Country 3": "COUNTRY",
    "University/College ": "ORGANIZATION",
    "Company 3": "ORGANIZATION",
    "Telephone/Fax (1) 3": "PHONE",
    "Pager number 3": "PHONE",
    "CC Contact Info 3": "PHONE",
    "E-mail address 3": "EMAIL",
    "URL 3": "URL",
    "Medical Record Number 3": "MEDICALRECORD",
    "Unit Number 3": "MEDICALRECORD",
    "Numeric Identifier 3": "IDNUM",
    "Clip Number (Radiology) 3": "IDNUM",
    "Job Number 3": "IDNUM",
    "MD Number(1) 3": "LICENSE",
    "Social Security Number 3": "SSN",
    "Serial Number 3": "DEVICE",
    "Age over 90 3": "AGE",
}


def note(tmp_path, text, **options):
    path = tmp_path / "n1.txt"
    path.write_text(text, encoding="utf-8", newline="")
    return read_corpus(path, format="mimic", **options)[0]


def covered(document):
    return [(document.text[span.start : span.end], span.label) for span in document.spans]


def without_spans(document):
    text = document.text
    for span in reversed(document.spans):
        text = text[: span.start] + "*" + text[span.end :]
    return text


@pytest.mark.parametrize(("kind", "label"), KINDS.items())
def test_every_kind_has_its_label_and_nothing_else_changes(tmp_path, kind, label):
    document = note(tmp_path, f"Was here\r\n\tand [**{kind}**], then left.\n")
    (span,) = document.spans
    assert (span.label, span.start) == (label, len("Was here\r\n\tand "))
    assert span.category is not None
    assert without_spans(document) == "Was here\r\n\tand *, then left.\n"
    surrogate = document.text[span.start : span.end]
    assert surrogate == surrogate.strip() != ""
    assert "**" not in document.text


def test_a_generated_sample(tmp_path):
    """Every kind in random order between random text, in many notes."""
    chance = Chance(0)
    for number in range(20):
        kinds = chance.sample(list(KINDS), 15)
        text = "".join(f"{chance.pick(('seen', 'for 3.5 mg', 'x'))}; [**{kind}**]\n" for kind in kinds)
        (tmp_path / f"note{number}.txt").write_text(text)
    corpus = read_corpus(tmp_path, format="mimic")
    assert (len(corpus), corpus.n_spans) == (20, 20 * 15)
    for document in corpus:
        kinds = re.findall(r"; \*\n", without_spans(document))
        assert len(kinds) == 15
    assert corpus.to_sentences().report.n_lost == 0


def test_equal_placeholders_have_equal_text_within_a_note(tmp_path):
    text = "[**Hospital1 18**] and [**Hospital1 19**] and [**Hospital1  18**]"
    first, other, again = (text for text, _ in covered(note(tmp_path, text)))
    assert first == again != other


def test_a_name_with_and_without_a_title_has_equal_text(tmp_path):
    """Each occurrence behind a title had a name of its own."""
    text = "Dr. [**Last Name (STitle) 3**] left. [**Last Name (STitle) 3**] called. [**Known lastname 4**], M.D., saw "
    names = covered(note(tmp_path, text + "[**Known lastname 4**]."))
    assert [label for _, label in names] == ["DOCTOR", "DOCTOR", "DOCTOR", "PATIENT"]
    assert names[0][0] == names[1][0] != names[2][0] == names[3][0]


def test_seeds_order_and_company_of_notes(tmp_path):
    text = "Seen by [**Last Name (STitle) 3**] on [**2151-7-16**] at [**Hospital 1**]"
    for name in "abc":
        (tmp_path / f"{name}.txt").write_text(text)
    together = read_corpus(tmp_path, format="mimic")
    alone = read_corpus(tmp_path / "b.txt", format="mimic")
    assert alone[0] == together[1] == read_corpus(tmp_path, format="mimic", random_state=0)[1]
    assert len({document.text for document in together}) == 3
    assert read_corpus(tmp_path, format="mimic", random_state=1)[1].text != together[1].text


def test_names_of_a_person_are_one_span_and_titles_make_doctors(tmp_path):
    text = (
        "Dr. [**First Name8 (NamePattern2) 1**] [**Last Name (NamePattern1) 2**] saw "
        "Mrs. [**Known lastname 3**], then [**Last Name (NamePattern1) 4**], M.D.\n"
        "[**First Name (NamePattern1) 5**] [**Last Name (NamePattern1) 6**], RN"
    )
    document = note(tmp_path, text)
    assert [span.label for span in document.spans] == ["DOCTOR", "PATIENT", "DOCTOR", "DOCTOR"]
    assert document.text[document.spans[0].start : document.spans[0].end].count(" ") >= 1
    assert without_spans(document) == "Dr. * saw Mrs. *, then *, M.D.\n*, RN"


def test_state_and_zip_are_two_spans(tmp_path):
    document = note(tmp_path, "[**State/Zipcode 3**].")
    assert [span.label for span in document.spans] == ["STATE", "ZIP"]
    assert without_spans(document) == "* *."


def test_dates_keep_their_distances():
    for seed in range(30):
        filler = PlaceholderFiller(Chance(seed))
        filler._form = date.isoformat
        days = [
            date.fromisoformat(filler.fill(text)[0][0]) for text in ("2151-7-16", "2151-7-20", "2152-7-16", "2151-2-30")
        ]
        assert (days[1] - days[0]).days == 4
        assert (days[2] - days[0]).days in (365, 366)
        assert 1985 <= days[0].year <= 2021


def test_ends_of_months_and_leap_years_keep_their_distances():
    """The 29th, 30th and 31st became the 28th, and leap years changed distances by a day."""
    days = [date(2151, 7, 29), date(2151, 7, 30), date(2151, 7, 31), date(2152, 2, 20), date(2152, 3, 5)]
    for seed in range(30):
        filler = PlaceholderFiller(Chance(seed))
        filler._form = date.isoformat
        moved = [date.fromisoformat(filler.fill(f"{day.year}-{day.month}-{day.day}")[0][0]) for day in days]
        assert [day - moved[0] for day in moved] == [day - days[0] for day in days]


@pytest.mark.parametrize("content", ["0000-1-1", "9999-12-31", "2151-2-30", "2151-0-0", "2151-99-99", "2-31"])
def test_impossible_dates_are_replaced(content):
    filler = PlaceholderFiller(Chance(0))
    assert [filler.fill(text)[0][1] for text in (content, "2151-7-16", "9998-12", "0001")] == ["DATE"] * 4


@pytest.mark.parametrize(
    ("text", "start", "end", "message"),
    [
        ("At [**Zyxwvut 12**]", 3, 19, "kind of the placeholder is unknown"),
        ("At [****]", 3, 9, "kind of the placeholder is unknown"),
        ("At [**Hospital 12 and", 3, 6, "incomplete"),
        ("At Hospital 12**] and", 14, 17, "incomplete"),
        ("At [**Hospital [**Hospital 1**]", 3, 6, "incomplete"),
    ],
)
def test_broken_placeholders_are_named_by_offsets_without_text(tmp_path, text, start, end, message):
    with pytest.raises(CorpusFormatError, match=message) as caught:
        note(tmp_path, text)
    assert (caught.value.doc_id, caught.value.start, caught.value.end) == ("n1", start, end)
    assert "Zyxwvut" not in str(caught.value)
    result = read_corpus(tmp_path, format="mimic", on_error="collect")
    assert (len(result.corpus), len(result.errors)) == (0, 1)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_table_of_notes(tmp_path, encoding):
    path = tmp_path / "NOTEEVENTS.csv"
    path.write_text(
        '"ROW_ID","SUBJECT_ID","TEXT"\n'
        '174,22532,"Admission Date:  [**2151-7-16**]\nSaid ""fine"".\n"\n'
        '175,22532,"[**Nonsense 1**]"\n'
        '176,,"No names."\n'
        ",1,Nothing\n",
        encoding=encoding,
    )
    result = read_corpus(path, format="mimic", on_error="collect")
    assert [(d.doc_id, d.patient_id, len(d.spans)) for d in result.corpus] == [("174", "22532", 1), ("176", None, 0)]
    assert result.corpus[0].text.endswith('\nSaid "fine".\n')
    assert [error.doc_id for error in result.errors] == ["175", None]
    path.write_bytes(b"ROW_ID,TEXT\n1,\xff\n")
    with pytest.raises(CorpusFormatError, match="not in the encoding utf-8"):
        read_corpus(path, format="mimic")
    path.write_text('ROW_ID,TEXT\n1,"open\n')
    with pytest.raises(CorpusFormatError, match="not a table of comma-separated values"):
        read_corpus(path, format="mimic")


def test_only_this_format_is_seeded_and_it_is_never_guessed_nor_written(tmp_path):
    document = note(tmp_path, "Fine.")
    with pytest.raises(ValueError, match="'random_state' parameter must be None for the format"):
        read_corpus(tmp_path, format="text", random_state=0)
    for wrong in (-1, 1.5, True):
        with pytest.raises(ValueError, match="must be an int of at least 0"):
            iter_documents(tmp_path, format="mimic", random_state=wrong)
    with pytest.raises(CorpusFormatError, match="format cannot be inferred"):
        read_corpus(tmp_path)
    with pytest.raises(CorpusFormatError, match="cannot be written with placeholders"):
        write_corpus(Corpus([document]), tmp_path / "out", format="mimic")


def test_text_with_a_comma_and_no_quotes_is_refused(tmp_path):
    """The note ended at its first comma."""
    path = tmp_path / "NOTEEVENTS.csv"
    path.write_text("ROW_ID,TEXT\n1,Seen, by [**Hospital 1**]\n2,Well\n")
    result = read_corpus(path, format="mimic", on_error="collect")
    assert [document.text for document in result.corpus] == ["Well"]
    assert [error.message for error in result.errors] == [
        "Row 1 needs a ROW_ID and a TEXT, and no more cells than the header."
    ]


def test_two_columns_of_one_name_are_refused(tmp_path):
    """The reader took the last column."""
    path = tmp_path / "NOTEEVENTS.csv"
    path.write_text("ROW_ID,TEXT,Text\n1,Seen,Well\n")
    with pytest.raises(CorpusFormatError, match="two columns of the same name"):
        read_corpus(path, format="mimic")


def test_a_table_beside_a_note_of_the_same_name_is_read(tmp_path):
    """It counted as a part of the note, as the .ann file of brat."""
    (tmp_path / "a.txt").write_text("Well.")
    (tmp_path / "a.csv").write_text("ROW_ID,TEXT\n1,Seen\n2,Home\n")
    assert [note.text for note in read_corpus(tmp_path, format="mimic")] == ["Seen", "Home", "Well."]
