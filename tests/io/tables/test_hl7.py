"""HL7 messages: only free text changes, byte by byte; malformed messages are left out and listed."""

import time

import pytest

from sklearn_deid.io.tables import HL7_FIELDS, open_table
from sklearn_deid.io.tables import hl7 as reader
from sklearn_deid.io.tables.hl7_values import text_parts

NAME = "Zyxwvutski"
MESSAGE = (
    "MSH|^~\\&|LAB|X|||20200101||ORU^R01|1|P|2.5\r"
    "PID|1||77^^^H||Doe^Ann\r"
    "OBX|1|TX|N^Note||Line one of Zyxwvutski \\T\\ Co.~two \\.br\\three||||||F\r"
    "OBX|2|FT|N^Note||\\H\\Zyxwvutski\\N\\ is well ^ \\X5A79\\xwvutski\r"
    "OBX|3|NM|K||5.0|mmol\r"
    "NTE|1||About \\F\\Zyxwvutski\\E\\\r"
    "OBX|4|ST|R||positive\r"
)
REDACTED = (
    MESSAGE.replace("of Zyxwvutski", "of [N]")
    .replace("\\H\\Zyxwvutski", "\\H\\[N]")
    .replace("\\X5A79\\xwvutski", "[N]")
    .replace("\\F\\Zyxwvutski", "\\F\\[N]")
)


def redacted(tmp_path, content, function, fields=HL7_FIELDS, encoding=None):
    """Bytes of the output, problems and cells."""
    path = tmp_path / "in.hl7"
    path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
    chunks = list(open_table(path, tmp_path / "out.hl7", hl7=fields, encoding=encoding).chunks())
    done = b"".join(chunk.render([function(cell.text) for cell in chunk.cells]) for chunk in chunks)
    return done, [p for chunk in chunks for p in chunk.problems], [c for chunk in chunks for c in chunk.cells]


def hide(text):
    return text.replace(NAME, "[N]")


def test_the_clinical_information_of_an_order_is_a_text(tmp_path):
    """The free text of a request was copied with the built-in fields."""
    order = f"OBR|1|||K^CT|||||||||Referred by {NAME}~for a cough|||\r"
    done, problems, _ = redacted(tmp_path, MESSAGE.replace("OBX|1|", f"{order}OBX|1|"), hide)
    expected = REDACTED.replace("OBX|1|", f"{hide(order)}OBX|1|")
    assert (done.decode(), problems) == (expected, [])


@pytest.mark.parametrize("fields", [("OBR-13", "OBR-32"), ("OBR-32", "OBR-13"), ("OBR-32", "OBR-13", "OBR-013")])
def test_the_order_of_a_profile_does_not_matter(tmp_path, fields):
    """A field behind one on its right was written twice, and once in clear."""
    order = f"OBR|1|||K^CT|||||||||Referred by {NAME}|||||||||||||||||||seen by {NAME}\r"
    done, problems, _ = redacted(tmp_path, MESSAGE[: MESSAGE.index("OBX")] + order, hide, dict.fromkeys(fields, ()))
    assert (done.decode(), problems) == (MESSAGE[: MESSAGE.index("OBX")] + hide(order), [])


@pytest.mark.parametrize(
    "field", "TQ1-10 TQ1-11 FT1-8 FT1-9 GOL-17 CON-5 CON-9 PEO-13 PEO-15 PEO-17 PES-7 PES-8 QQX-2 NTR-3".split()
)
def test_free_text_of_rare_and_unknown_segments_is_redacted(tmp_path, field):
    """These fields were copied with the texts in them, with exit code 0."""
    name, _, at = field.partition("-")
    segment = name + "|" * int(at) + "seen by {}\r"
    done, problems, _ = redacted(tmp_path, MESSAGE + segment.format(NAME), hide)
    assert (done.decode(), problems) == (REDACTED + segment.format("[N]"), [])


def test_texts_in_segments_of_a_site_are_redacted(tmp_path):
    """They were copied. Components of one word are taken for codes."""
    own = f"ZAB|1|seen by {NAME}^C1|{NAME}|a\\T\\b {NAME}~x\r"
    done, problems, cells = redacted(tmp_path, MESSAGE + own, hide)
    assert (done.decode(), problems) == (
        REDACTED + f"ZAB|1|seen by [N]^C1|{NAME}|a\\T\\b [N]~x\r",
        [],
    )
    assert [cell.column.partition("[")[0] for cell in cells[-2:]] == ["ZAB-2", "ZAB-4"]


def test_the_time_of_a_segment_is_linear_in_its_fields(tmp_path):
    """40,000 fields took 15 seconds, and a million fields would have taken hours."""
    path = tmp_path / "in.hl7"
    path.write_text(MESSAGE + "ZAB" + f"|by {NAME}" * 60_000 + "\r")
    before = time.process_time()
    (chunk,) = open_table(path, tmp_path / "out.hl7", hl7=HL7_FIELDS).chunks()
    assert time.process_time() - before < 10
    assert [cell.text for cell in chunk.cells[-60_000:]] == [f"by {NAME}"] * 60_000


@pytest.mark.parametrize("end", ["\r", "\n", "\r\n"])
@pytest.mark.parametrize("frame", ["{}", "\x0b{}\x1c\r"])
def test_only_free_text_changes(tmp_path, monkeypatch, end, frame):
    monkeypatch.setattr(reader, "CHUNK_ROWS", 2)
    content = "".join(frame.format(MESSAGE).replace("\r", end) for _ in range(5))
    done, problems, cells = redacted(tmp_path, content, str)
    assert (done, problems) == (content.encode(), [])
    done, problems, cells = redacted(tmp_path, content, hide)
    assert (done.decode(), problems) == ("".join(frame.format(REDACTED).replace("\r", end) for _ in range(5)), [])
    assert [cell.text for cell in cells[:3]] == [
        "Line one of Zyxwvutski & Co.\ntwo  three\nZyxwvutski is well ^ Zyxwvutski",
        "About |Zyxwvutski\\",
        "positive",
    ]
    assert {cell.patient_id for cell in cells} == {"77^^^H"}
    assert len({cell.place for cell in cells}) == len(cells) == 15


def test_fields_are_those_of_another_reader(tmp_path):
    """The oracle is python-hl7."""
    hl7 = pytest.importorskip("hl7")
    _, _, cells = redacted(tmp_path, MESSAGE, str)
    message = hl7.parse(MESSAGE)
    expected = [
        "\n".join(message.unescape(str(line)) for s in message.segments("OBX")[:1] for line in s[5]),
        message.unescape(str(message.segments("NTE")[0][3])),
    ]
    assert cells[0].text.split("\n")[0] == expected[0].split("\n")[0]
    assert cells[1].text == expected[1]
    after = hl7.parse(redacted(tmp_path, MESSAGE, hide)[0].decode())
    assert [str(s) for s in after if str(s[0]) in ("MSH", "PID")] == [str(s) for s in message[:2]]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("MSH|^~\\&", "MSH|^^\\&"),
        ("MSH|^~\\&", "MSH|"),
        ("PID|", "Zyxwvutski|"),
        ("|NM|K||5.0", "|ED|K||Zyxwvutski"),
        ("|NM|K||5.0", "||K||Zyxwvutski"),
        ("\\T\\", "\\T"),
        ("\\T\\", "\\Zyxwvutski\\"),
        ("\\X5A79\\", "\\X00\\"),
        ("ORU^R01|1|P|2.5", "ORU^R01|1|P|2.5||||||Zyxwvutski"),
        ("Ann", "\udcff"),
    ],
)
def test_malformed_message_is_left_out_and_listed(tmp_path, old, new):
    wrong = MESSAGE.replace(old, new, 1).encode("utf-8", "surrogateescape")
    done, problems, _ = redacted(tmp_path, MESSAGE.encode() + wrong + MESSAGE.encode(), str)
    assert done == MESSAGE.encode() * 2 and [place for place, _ in problems] == ["row 2"]
    assert NAME not in str(problems)


def test_text_that_fails_or_loses_a_line_leaves_the_message_out(tmp_path):
    other = MESSAGE.replace("one", "other")
    for failing in (None, "all in one line", "a\rb\nc\nd"):
        done, problems, _ = redacted(tmp_path, MESSAGE + other, lambda t, f=failing: f if "one" in t else t)
        assert (done, problems) == (other.encode(), [])


def test_message_that_cannot_be_written_is_listed(tmp_path):
    path = tmp_path / "in.hl7"
    path.write_bytes((MESSAGE * 2).encode())
    (chunk,) = open_table(path, tmp_path / "out.hl7", hl7=HL7_FIELDS).chunks()
    texts = [cell.text for cell in chunk.cells]
    assert chunk.check(texts) == [] and chunk.check([None, *texts[1:]]) == []
    ((number, reason),) = chunk.check([*texts[:3], "all in one line", *texts[4:]])
    assert number == 3 and "reaches over two fields" in reason


def test_new_text_is_escaped_and_encoded(tmp_path):
    head = MESSAGE.split("\r")[0]
    content = f"{head}||||||8859/1\rNTE|1||Zyxwvutski é\r".encode("latin-1")
    done, _, _ = redacted(tmp_path, content, lambda text: text.replace(NAME, "a|b^c&d~e\\"))
    assert done == content.replace(NAME.encode(), rb"a\F\b\S\c\T\d\R\e\E" + b"\\")
    assert redacted(tmp_path, content, lambda text: "Ł")[0] == b""
    assert redacted(tmp_path, content, str, encoding="latin-1")[0] == content


@pytest.mark.parametrize("kind", ["tx", "TXT", "ED", ""])
def test_text_of_an_unknown_type_is_left_out(tmp_path, kind):
    done, problems, _ = redacted(tmp_path, MESSAGE.replace("|TX|", f"|{kind}|"), hide)
    assert (done, len(problems)) == (b"", 1)


def test_rest_of_a_text_behind_a_separator_in_clear_is_left_out(tmp_path):
    """It would be a unit, which is copied."""
    done, problems, _ = redacted(tmp_path, MESSAGE.replace(" of Zyxwvutski", " of | Zyxwvutski"), hide)
    assert (done, len(problems)) == (b"", 1)


@pytest.mark.parametrize(
    "segment",
    [
        "OBX|1|ST|N||well | Zyxwvutski",
        "OBX|1|ST|N||well | Zyxwvutski||||||F",
        "OBX|1|ST|N||well || Zyxwvutski||||||F|||20200101",
        "OBX|1|TX|N||well || Zyxwvutski||||||F",
        "OBX|1|FT|N||well ||| Zyxwvutski||||||F",
        "OBX|1|ST|N||a|b|c|d|e|f|Zyxwvutski",
        "OBX|1|CE|N||I10|I10^Seen by Zyxwvutski^ICD||||||F",
        "NTE|1|L|well | Zyxwvutski",
        "NTE|1|\u738b\u5c0f\u660e\u4eca\u65e5|well",
        "NTE|1||well|Zyxwvutski|RE",
        "NTE|1||well|||6175551234x",
        "NTE|1||well|seen by Zyxwvutski^his wife",
        "NTE|1||well||Zyxwvutski said ^so",
        "OBX|1|TX|N||well||||||F\rADD|Zyxwvutski",
    ],
)
def test_rest_of_a_text_in_a_field_that_is_copied_leaves_the_message_out(tmp_path, segment):
    wrong = MESSAGE + segment + "\r"
    done, problems, _ = redacted(tmp_path, wrong + MESSAGE, hide)
    assert (done.decode(), [place for place, _ in problems]) == (REDACTED, ["row 1"])


@pytest.mark.parametrize(
    "segment",
    [
        "OBX|1|ST|N||120|mg/dL^^UCUM|70-110|H|||F|||20200101120000+0100",
        "OBX|1|ST|N||120|beats per minute|||||C|2020",
        "OBX|1|TX|N||fine|||A|||F|||20200101||7^DOE^ANN",
        "NTE|1|L|fine|RE",
        "NTE|1|L|fine|ZZ^Local^L|7^DOE^ANN|20200101|2020||RE",
    ],
)
def test_usual_fields_behind_a_text_are_copied(tmp_path, segment):
    content = MESSAGE + segment + "\r"
    done, problems, _ = redacted(tmp_path, content, str)
    assert (done.decode(), problems) == (content, [])


def test_comment_behind_a_note_is_read_if_a_profile_names_it(tmp_path):
    content = MESSAGE + "NTE|1||well|by Zyxwvutski\r"
    done, problems, _ = redacted(tmp_path, content, hide, {**HL7_FIELDS, "NTE-4": []})
    assert (done.decode(), problems) == (REDACTED + "NTE|1||well|by [N]\r", [])


def test_type_that_a_profile_names_is_known(tmp_path):
    _, problems, cells = redacted(tmp_path, MESSAGE.replace("|TX|", "|ZZ|"), hide, {"OBX-5": ["ZZ"]})
    assert (problems, len(cells)) == ([], 1)


@pytest.mark.parametrize("head", ["FHS|^~\\&|A", "BTS|1"])
def test_segments_behind_a_batch_segment_are_left_out_and_listed(tmp_path, head):
    """They belong to no message, so that nothing reads them."""
    content = f"{head}\rNTE|1||{NAME}\r"
    done, problems, _ = redacted(tmp_path, f"{MESSAGE}{content}", hide)
    assert (done.decode(), [place for place, _ in problems]) == (REDACTED, ["row 2"])


@pytest.mark.parametrize(
    "rest",
    [
        "MSH|^~\\&|Zyxwvutski was seen",
        "MSH|^~\\&|and|to|Zyxwvutski|",
        "MSH|^~\\&|||||Zyxwvutski||ORU",
        "MSH|^~\\&|||||||Zyxwvutski",
        "MSH|^~\\&|||||||ORU||Zyxwvutski",
        "MSH|^~\\&|||||||ORU|||Zyxwvutski",
        "BTS|Zyxwvutski",
        "FTS|1 of Zyxwvutski",
        "BHS|Zyxwvutski",
        "BHS|^~\\&|||||Zyxwvutski",
        "FHS",
        "ZYX",
        "PID|Zyxwvutski was seen",
        "OBR|by Zyxwvutski||",
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_rest_of_a_text_behind_a_line_break_in_clear_is_left_out(tmp_path, rest, end):
    """A line that begins like the header of a message or of a batch was copied, with exit code 0."""
    wrong = MESSAGE + f"NTE|1||Seen by{end}{rest}{end}"
    done, problems, _ = redacted(tmp_path, MESSAGE + wrong + MESSAGE, hide)
    assert NAME not in done.decode() and not any(line.startswith(rest) for line in done.decode().splitlines())
    assert (done.decode().count(REDACTED) >= 2, len(problems)) == (True, 1)


@pytest.mark.parametrize(
    "head",
    [
        "MSH|^~\\&|LAB|X|||20200101101530.1+0100||ORU^R01^ORU_R01|1|P^T|2.5.1^DEU|||AL|NE",
        "MSH|^~\\&#|LAB|St. Roe Hospital|||||ACK|1|D|2.3",
        "MSH|^~\\&|||||||QRY",
    ],
)
def test_usual_headers_are_copied(tmp_path, head):
    content = MESSAGE.replace(MESSAGE[: MESSAGE.index("\r")], head)
    ends = "FHS|^~\\&|LAB||||20200101\r", "BHS|^~\\&\r", "BTS|2\r", "FTS|\r"
    content = ends[0] + ends[1] + content * 2 + ends[2] + ends[3]
    done, problems, _ = redacted(tmp_path, content, str)
    assert (done.decode(), problems) == (content, [])


@pytest.mark.parametrize(
    ("segment", "texts"),
    [
        ("OBX|5|CE|D||I10^Seen by Zyxwvutski^ICD~Z99^Zyxwvutski^L||||||F", ["Seen by Zyxwvutski", NAME]),
        (
            "OBX|5|CWE|D||I10^High^ICD^^Zyxwvutski^L^1^2^as Zyxwvutski wrote||||||F",
            ["High", NAME, "as Zyxwvutski wrote"],
        ),
        ("OBX|5|CE|D||told by Zyxwvutski||||||F", ["told by Zyxwvutski"]),
        ("OBX|5|NM|K||see Zyxwvutski|mmol|||||F", ["see Zyxwvutski"]),
        ("OBX|5|DT|K||Zyxwvutski knows~20200101||||||F", ["Zyxwvutski knows"]),
        ("OBX|5|CE|D||I10^^ICD||||||F", []),
        ("OBX|5|SN|D||<^10|mmol|||||F", []),
    ],
)
def test_texts_of_codes_and_words_for_numbers(tmp_path, segment, texts):
    """They were copied. The codes stay."""
    end = "NTE|1||end\r"
    done, problems, cells = redacted(tmp_path, f"{MESSAGE}{end}{segment}\r", hide)
    assert (done.decode(), problems) == (f"{REDACTED}{end}{segment}\r".replace(NAME, "[N]"), [])
    assert [line for cell in cells[4:] for line in cell.text.split("\n")] == texts
    if "see" in segment:
        shifted = segment.replace("see ", "see |")
        assert redacted(tmp_path, f"{MESSAGE}{shifted}\r", hide)[0] == b"", "the rest of the text would be copied"


def test_parts_of_a_coded_value_are_its_components():
    """The oracle splits the value."""
    value = "I10^High^ICD~^by Zyxwvutski~a code^b^^Z 9^^^^^in words"
    texts = [value[start:end] for start, end in text_parts("CWE", value, "^", "~")]
    expected = [
        part
        for repetition in value.split("~")
        for at, part in enumerate(repetition.split("^"))
        if part and (at in (1, 4, 8, 10) or " " in part)
    ]
    assert texts == expected == ["High", "by Zyxwvutski", "a code", "b", "Z 9", "in words"]
    assert [value[start:end] for start, end in text_parts("TX", value, "^", "~")] == value.split("~")


@pytest.mark.parametrize("kind", ["XPN", "XCN", "XAD", "XTN", "CX"])
def test_a_person_as_a_result_is_left_out(tmp_path, kind):
    wrong = f"{MESSAGE}OBX|5|{kind}|P||{NAME}^Ann||||||F\r"
    done, problems, _ = redacted(tmp_path, wrong, hide)
    assert (done, "data of a person" in problems[0][1]) == (b"", True)
    done, problems, _ = redacted(tmp_path, wrong, hide, {"OBX-5": []})
    assert (done.decode().split("\r")[-2], problems) == (f"OBX|5|{kind}|P||[N]^Ann||||||F", [])


def test_batches_and_profiles(tmp_path):
    content = f"FHS|^~\\&|X\rBHS|^~\\&|X\r{MESSAGE}BTS|1\rFTS|1\r"
    done, problems, cells = redacted(tmp_path, content, hide, {"OBX-5": ["ST"], "PID-5": []})
    assert (done, problems) == (content.encode(), [])
    assert [cell.text for cell in cells] == ["Doe^Ann", "positive"]


@pytest.mark.parametrize("wrong", ["", '""', "^^^H", "~^^^H"])
def test_missing_id_is_no_patient(tmp_path, wrong):
    _, _, cells = redacted(tmp_path, MESSAGE.replace("77^^^H", wrong), str)
    assert {cell.patient_id for cell in cells} == {None}


def test_patients_and_text_before_the_first_message(tmp_path):
    two = MESSAGE + MESSAGE[MESSAGE.index("PID") :].replace("77^^^H", "78")
    _, _, cells = redacted(tmp_path, two, str)
    assert [cell.patient_id for cell in cells] == ["77^^^H"] * 3 + ["78"] * 3
    done, problems, _ = redacted(tmp_path, f"NTE|1||{NAME}\r" + MESSAGE, str)
    assert done == MESSAGE.encode() and len(problems) == 1


@pytest.mark.parametrize(
    "path",
    "OBR-31 OBR-39 DG1-4 DSP-3 AL1-5 ORC-16 PV2-3 RXD-9 RXG-9 RXE-21 RF1-10 SCH-7 ARQ-7 SPM-14 VAR-6 ACC-8 MSA-3 ERR-7 "
    "ERR-8".split(),
)
def test_reasons_comments_and_diagnoses_are_texts(tmp_path, path):
    """The reason of an examination and the description of a diagnosis are free text in most systems."""
    name, _, number = path.partition("-")
    segment = f"{name}{'|' * int(number)}I10^Referred by {NAME}^L|\r"
    done, problems, _ = redacted(tmp_path, MESSAGE + segment, hide)
    assert (done.decode(), problems) == (REDACTED + hide(segment), [])


@pytest.mark.parametrize("kind", ["ID", "IS", "EI", "GTS", "PL", "VR", "MO", "CK"])
def test_texts_under_types_of_codes_are_redacted(tmp_path, kind):
    """A text with the wrong type in OBX-2 was copied."""
    segment = f"OBX|5|{kind}|D||A1^seen by {NAME}^B||||||F\r"
    done, problems, _ = redacted(tmp_path, MESSAGE + segment, hide)
    assert (done.decode(), problems) == (REDACTED + hide(segment), [])


def test_a_comment_in_the_place_of_its_source_is_left_out(tmp_path):
    done, problems, _ = redacted(tmp_path, f"{MESSAGE}NTE|1|seen by {NAME}\r", hide)
    assert (done, [place for place, _ in problems]) == (b"", ["row 1"])


@pytest.mark.parametrize("segment", ["FHS|^~\\&|A|B|C|D|2020||f|{}", "BHS|^~\\&||||||||{}", "BTS|1|{}|3", "FTS|1|{}"])
def test_comments_of_batches_are_left_out(tmp_path, segment):
    """They were copied with the segment."""
    done, problems, _ = redacted(tmp_path, f"{segment.format(NAME)}\r{MESSAGE}{segment.format('')}\r", hide)
    assert (done.decode(), len(problems)) == (f"{REDACTED}{segment.format('')}\r", 1)
    assert NAME not in str(problems)


@pytest.mark.parametrize("front", ["\ufeff", "\ufeff\x0b", "\ufeffFHS|^~\\&|A\r", "\ufeff\r\n", "\r\n"])
def test_a_byte_order_mark_in_front_of_a_message_stays(tmp_path, front):
    """The message behind it was left out; the files of two programs can be joined."""
    done, problems, cells = redacted(tmp_path, f"{front}{MESSAGE}{front}{MESSAGE}", hide)
    assert (done.decode(), problems) == (f"{front}{REDACTED}{front}{REDACTED}", []) and len(cells) == 6


@pytest.mark.parametrize("content", ["\r\n", " \n", "\ufeff"])
def test_a_file_without_segments_is_copied(tmp_path, content):
    """A file of empty lines ended in a KeyError."""
    assert redacted(tmp_path, content, hide) == (content.encode(), [], [])
