"""Text of another kind is recognised, and ordinary notes never are."""

import base64
import binascii
import quopri
import re
import time
from urllib.parse import quote, quote_plus

import pytest

from sklearn_deid import fetch_meddocan, make_clinical_notes
from sklearn_deid.exceptions import DataNotFoundError
from sklearn_deid.text import unreadable_reason

NOTE = (
    "Mr. John Alder, 45yo, was seen on 3/4/2021 in Northwick.\nHR=80, BP=120/80, pH=7.4. Jos\u00e9 Mu\u00f1oz called.\n"
    * 3
)
PLAIN = NOTE.encode("ascii", "ignore").decode()


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
@pytest.mark.parametrize("read_as", ["utf-8", "latin-1"])
def test_utf_16_and_32_name_the_encoding_to_pass(encoding, read_as):
    reason = unreadable_reason(PLAIN.encode(encoding).decode(read_as))
    assert reason.startswith(f"The note is {encoding[:6].upper()} that was not decoded.")
    assert f"Pass encoding='{encoding}' when" in reason


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (f"{PLAIN}\0", "holds NUL characters"),
        (f"{PLAIN}\x1b[2J", "holds control characters. Convert"),
        (f"\x02{PLAIN}", "holds control characters. Convert"),
        ("Mr. O\x8dBrien", "holds control characters. Convert"),
        (NOTE.encode("utf-16-be").decode("utf-16-le"), "wrong byte order"),
        (r"{\rtf1\ansi{\fonttbl\f0 Arial;}\f0 Mr. John Alder\par}", "is RTF"),
        (f"From: a\n\n{{\\rtf1 {PLAIN}}}", "is RTF"),
        ("%PDF-1.4\n1 0 obj", "is PDF"),
        ('<?xml version="1.0"?>\n<letter><name>Alder</name></letter>', "is XML"),
        ("\ufeff\n<?XML version='1.0' encoding='utf-8'?><!-- a --><a>Alder</a>", "is XML"),
        ('<ClinicalDocument xmlns="urn:hl7-org:v3"><given>John</given></ClinicalDocument>', "is XML"),
        ("Letter\n<x:Patient xmlns:x='http://hl7.org/fhir'><x:family value='Alder'/></x:Patient>", "is XML"),
        ("<Patient><Last>Alder</Last><First>John</First></Patient>\r\n", "is XML"),
        ('\ufeff<visit>\n <who n="Alder, John"/>\n <md>Mu\u00f1oz</md>\n</visit>', "is XML"),
        ('<rec pt="Alder" ward="B2"><text>Seen.</text></rec>\n<rec pt="Birch"/>\n<end></end>', "is XML"),
        # Elements with names that HTML has, too.
        ("<form><patientName>Alder</patientName><mrn>12345</mrn></form>", "is XML"),
        ("<section><title>Visit</title>\n<given>Otis</given><family>Alder</family></section>", "is XML"),
        ("<table><row><patient>Alder</patient><md>Birch</md></row></table>", "is XML"),
        ("<form><patient name='Alder'/><md name='Birch'/></form>", "is XML"),
        ("<hl:rec ><hl:a\n>Alder</hl:a><hl:b >Ann</hl:b ></hl:rec >", "is XML"),
        (quopri.encodestring(NOTE.encode()).decode(), "is quoted-printable"),
        ("Patient: Mu=C3=B1oz", "is quoted-printable"),
        ("Patient: Mu=F1oz", "is quoted-printable"),
        ("Patient: " + "".join(f"={ord(c):02X}" for c in "John"), "is quoted-printable"),
        ("Content-Transfer-Encoding: quoted-printable\n\nJohn a=3Db", "is quoted-printable"),
        ("From: =?utf-8?Q?John_Alder?= <j@example.org>", "encoded words"),
        ("Subject: =?ISO-8859-1?q?Letter=20of=20Alder?=", "encoded words"),
        (f"To: =?utf-8?B?{base64.b64encode(b'John Alder').decode()}?=", "encoded words"),
        (base64.encodebytes(NOTE.encode()).decode(), "base64"),
        (f"Attachment: {base64.b64encode(b'Mr. John Alder, 45 years').decode()}", "base64"),
        ("Letter\n" + base64.encodebytes(bytes(range(256)) * 3).decode(), "base64"),
        ("".join(chr(0xE0000 + ord(c)) for c in "Mr. Alder"), "invisible text"),
        ("Fine." + "".join(chr(0xE0100 + ord(c)) for c in "Mr. Alder"), "invisible text"),
        ("Seen by \u202eredlA .rM\u202c today.", "the other direction"),
        (quote(NOTE), "web form"),
        ("text=" + quote_plus("Se\u00f1ora Mu\u00f1oz, Jos\u00e9"), "web form"),
        ("Seen. Se%C3%B1ora Mu%C3%B1oz, Jos%C3%A9 came.", "web form"),
        ("Seen. Se%F1ora Mu%F1oz, Jos%E9fa came.", "web form"),
        (NOTE.replace(" ", "+"), "joined by signs"),
        (NOTE.replace(" ", "=20"), "joined by signs"),
        ("+".join(20 * ["SEEN", "BY"]), "joined by signs"),
        (3 * "SEEN+BY+DR.+ANN+ROE+ON+WARD\n", "joined by signs"),
        ("Ward: Visto+en+la+planta+por+Ana+Roe+y+Luis y", "joined by signs"),
        *(
            (NOTE.replace(" ", sign), "joined by signs")
            for sign in ("_", "~", "|", ".", "-", "/", "\u00b7", "\\t", "{sp}")
        ),
        *(
            (NOTE.replace(" ", sign), "joined by signs")
            for sign in ("--", "||", "+-", "&sp;", "(sp)", "\\t\\t", "=", "?", "!", '"', "\u2014")
        ),
        (3 * NOTE.upper().replace(" ", "^"), "joined by signs"),
        (
            "Ward note.\n"
            + "Seen_in_the_ward_by_Dr._Ann_Roe_for_a_fall_at_home_with_pain_of_the_hip_and_of_the_leg " * 2
            + PLAIN,
            "joined by signs",
        ),
        ("text=" + quote_plus("Seen in the ward by Dr. Ann Roe on Monday"), "joined by signs"),
        (quote_plus("Se\u00f1ora Mu\u00f1oz, Jos\u00e9, www.example.org"), "web form"),
        (quote_plus("www.example.org\n" + 80 * "Se\u00f1ora Roe was seen by us\n"), "web form"),
        (NOTE.encode().hex(), "hexadecimal"),
        (f"0x{PLAIN.encode().hex().upper()}", "hexadecimal|base64"),
        ("Letter: " + PLAIN.encode("utf-16-le").hex(":") + " end", "hexadecimal"),
        (NOTE.encode().hex(" "), "hexadecimal"),
        (
            "a\nbegin 644 letter.txt\n"
            + "".join(binascii.b2a_uu(PLAIN.encode()[i : i + 45]).decode() for i in range(0, 180, 45)),
            "uuencoded",
        ),
        ("Se\u00f1ora Mu\u00f1oz, \u00c1vila, Jos\u00e9".encode("utf-7").decode(), "UTF-7.*utf-7"),
    ],
)
def test_text_of_another_kind_has_a_reason_without_its_text(text, reason):
    found = unreadable_reason(text)
    assert re.search(reason, found), found
    assert "Alder" not in found and "Mu" not in found


@pytest.mark.parametrize(
    "text",
    [
        "",
        NOTE,
        "Mr. O\x92Brien \x93well\x94",
        "Line\r\nother\ttab\fpage\vbreak\x85next \x1cgroup",
        "HR=80 BP=12 SpO2=98 FiO2=40 GCS=15 T=37 K=4 Na=14 pH=74",
        '<?xml version="1.0" encoding="utf-8"?>\n<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0//EN">\n<p>Fine.</p>',
        '<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><p>Fine.</p></html>',
        'See <?xml in the manual, <div xmlns="http://www.w3.org/1999/xhtml">Fine.</div>',
        f"<note><text>{NOTE}</text></note>",
        f"<DOC>\n<TEXT>\n{NOTE}</TEXT>\n</DOC>",
        "<doc><p>Fine.</p><p class='a'>Home.</p></doc>",
        "<div><o:p>Seen.</o:p><st1:City w:st='on'>Northwick</st1:City></div>",
        "<div><button>Print</button><time>3 May</time> <svg><path d='M0'/></svg>Fine.</div>",
        "<div>Seen by <Alder>A</Alder> and <Birch>B</Birch> on the ward.</div>",
        "<MD> called. See <a href='b'>this</a>. <b>Home.</b> K <4 and Na >130, told to <patient>",
        "<Alder> was <u>seen</u> by <Birch>, <c></c> and </Birch>",
        "Neut%DEcreased, Hct%dec, RBC%fall, Carbs%FAt",
        "pain =?= pressure =?yes?= HR=80? b?Q?",
        "========\nPlan\n=====\nNone\n=\nx\n====\ny",
        "x" * 100_000,
        "https://www.example.org/patients/notes/2019/records/file/of/the/clinic",
        "sha256 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0bb22cd15d6c15b0f00a08",
        "ACETAMINOPHENHYDROCODONEBITARTRATE and hydroxymethylglutarylcoenzymeAreductase",
        "Call +4916012345678- or +34-912345678- or +1-555-0142- or +12- and +34- then +56-",
        "\u4e2d\u6587\u75c5\u5386\u3002\u60a3\u8005\u5f20\u4e09",
        "England \U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f and \u2764\ufe0f\u26a0\ufe0e",
        "\u05e9\u05dc\u05d5\u05dd \u202d12345\u202c \u202b\u05d0\u202c \u202e\u05d0\u202c",
        "https://www.example.org/a%20b%20c%20d%20e%20f%20g%C3%A9%C3%A9%C3%A9 and 5%20 ml, 100%, 20%30%40%",
        "https://www.example.org/search?q=pain+of+the+lower+back+after+a+fall and CD3+CD4+CD8+CD19+CD45+CD56+CD57+",
        "PMH: HTN+DM2+CAD+HLD+OSA+GERD+BPH+OA. Aspirin+clopidogrel+atorvastatin+ramipril+bisoprolol+pantoprazole+iron",
        "Herz+Lunge+Abdomen+Extremit\u00e4ten+Haut+Neuro+Psyche o.B., fever+cough+chills+myalgia+headache+rash+pain",
        "Na+K+Cl+Ca+Mg+P+Fe+Cu, blood types A+, B+, AB+, O+, RR=20bpm, ECOG+KPS+BMI",
        "HTN/DM/CAD/COPD/CKD/OSA/GERD/BPH/OA/RA/AFIB/CHF/CVA/TIA/PVD/DVT/PE, " + "aspirin,metformin,iron," * 12,
        # rows of answers, values of HL7, and abbreviations that are spelled like words of sentences
        "ROS\n" + "fever,no,chills,no,cough,no," * 3,
        "\r".join(f"OBX|{i}|ST|{name}||no|no|no|N|||F" for i, name in enumerate(["fever", "chills", "cough"] * 3)),
        "Panel: ALK/BRAF/EGFR/MET/RET/KRAS/NRAS/ERBB/MET/NTRK/FGFR/MET/KIT/IDH/TERT/BRCA/PALB/TSC",
        "fever--no--chills--no--cough--no--rash--no " * 4,
        "Nausea/vomiting/fever/chills/cough/rash: no. well-to-do, up-to-date, discharge_summary_of_the_year.pdf",
        "\n".join(["name|value|unit|low|high", *("sodium|normal|mmol|yes|yes" for _ in range(20))]),
        "<td>Seen</td><td>in</td><td>the</td><td>ward</td>" * 3 + NOTE.replace(" ", "&nbsp;"),
        "heart rates 72 75 70 68 66 71 73 20 74 70 69 72 75 70 68 66 71 73 72 74 70 69 72 75 70 68",
        "begin 644 mg daily, then taper",
        "key 4a 6f 68 6e; MAC 00:1b:44:11:3a:b7; md5 9e107d9d372bb6826bd81d3542a419d6",
        "UDI 00380740000011172012345678901234567890123456789012345678901234567890",
        "\ufeffMr. Alder \U0001f468\u200d\U0001f469",
    ],
)
def test_ordinary_text_has_no_reason(text):
    assert unreadable_reason(text) is None


def test_no_generated_note_is_refused():
    assert [d.doc_id for d in make_clinical_notes(300, random_state=5) if unreadable_reason(d.text)] == []


@pytest.mark.data
def test_no_note_of_meddocan_is_refused():
    try:
        corpus = fetch_meddocan("dev", download_if_missing=False)
    except DataNotFoundError as error:
        pytest.skip(str(error))
    assert [d.doc_id for d in corpus if unreadable_reason(d.text)] == []


@pytest.mark.parametrize(
    "piece",
    [
        "=",
        "a=\n",
        "+AB",
        "AAAA\n",
        "{",
        "=3D=",
        "aB3/" * 8 + " ",
        "\u4a00",
        "{\\rt",
        "%C3",
        "%C3%A9 ",
        "4a",
        "4a ",
        "\u202ea ",
        "begin 644 a\n",
    ],
)
def test_the_time_is_linear(piece):
    text = piece * (2_000_000 // len(piece))
    start = time.process_time()
    unreadable_reason(text)
    assert time.process_time() - start < 5


def test_a_long_run_beside_a_percent_sign_is_read_once():
    """Each of its characters began a search up to its end."""
    start = time.process_time()
    unreadable_reason("5 % " + "b" * 1_000_000)
    assert time.process_time() - start < 5
