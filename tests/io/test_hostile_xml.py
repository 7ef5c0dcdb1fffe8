"""XML that tries to expand, to read files or to reach the network."""

import pytest

from sklearn_deid.exceptions import CorpusFormatError
from sklearn_deid.io import read_corpus

from .corpora_for_io import put

NOTE = "<deIdi2b2><TEXT>{text}</TEXT><TAGS></TAGS></deIdi2b2>"
LAUGHS = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10 if n else "lol"}">' for n in range(10))
HOSTILE = {
    "billion laughs": f"<!DOCTYPE deIdi2b2 [{LAUGHS}]>" + NOTE.format(text="&l9;"),
    "quadratic blowup": f'<!DOCTYPE deIdi2b2 [<!ENTITY a "{"x" * 100000}">]>' + NOTE.format(text="&a;" * 1000),
    "external entity": '<!DOCTYPE deIdi2b2 [<!ENTITY x SYSTEM "SECRET">]>' + NOTE.format(text="&x;"),
    "external entity over the network": '<!DOCTYPE deIdi2b2 [<!ENTITY x SYSTEM "http://127.0.0.1:9/x">]>'
    + NOTE.format(text="&x;"),
    "external subset": '<!DOCTYPE deIdi2b2 SYSTEM "SECRET">' + NOTE.format(text="a"),
    "public subset": '<!DOCTYPE deIdi2b2 PUBLIC "-//x//y" "http://127.0.0.1:9/x.dtd">' + NOTE.format(text="a"),
    "parameter entity": '<!DOCTYPE deIdi2b2 [<!ENTITY % p SYSTEM "SECRET"> %p;]>' + NOTE.format(text="a"),
    "default attributes": '<!DOCTYPE deIdi2b2 [<!ATTLIST TEXT a CDATA "x">]>' + NOTE.format(text="a"),
    "empty declaration": "<!DOCTYPE deIdi2b2>" + NOTE.format(text="a"),
}


@pytest.mark.parametrize("attack", HOSTILE)
@pytest.mark.parametrize("prolog", ["", "<?xml version='1.0' encoding='UTF-8'?>\n<!-- c -->"])
def test_every_document_type_declaration_is_refused(attack, prolog, tmp_path, monkeypatch):
    secret = put(tmp_path / "secrets", {"passwd": "root:x:0"}) / "passwd"
    put(tmp_path / "in", {"110-01.xml": prolog + HOSTILE[attack].replace("SECRET", secret.as_uri())})

    def no_network(*address):
        raise AssertionError("the network was asked")

    monkeypatch.setattr("socket.socket.connect", no_network)
    for name in ("i2b2", None):
        with pytest.raises(CorpusFormatError, match="document type declaration"):
            read_corpus(tmp_path / "in", format=name)


def test_an_entity_without_declaration_is_an_error(tmp_path):
    put(tmp_path, {"a.xml": NOTE.format(text="&nbsp;")})
    with pytest.raises(CorpusFormatError, match=r"not well-formed XML \(undefined entity, line 1"):
        read_corpus(tmp_path, format="i2b2")


def test_an_include_stays_an_unexpected_element(tmp_path):
    include = '<xi:include xmlns:xi="http://www.w3.org/2001/XInclude" href="secret.txt" parse="text"/>'
    put(tmp_path, {"a.xml": NOTE.format(text=include)})
    with pytest.raises(CorpusFormatError, match="There is another element"):
        read_corpus(tmp_path, format="i2b2")


@pytest.mark.parametrize("encoding", ["idna", "unicode_escape", "zlib", "utf-7", "rot13", "no-such"])
def test_a_file_cannot_choose_any_codec(encoding, tmp_path):
    put(tmp_path, {"a.xml": f"<?xml version='1.0' encoding='{encoding}'?>" + NOTE.format(text="a")})
    for name in ("i2b2", None):
        with pytest.raises(CorpusFormatError, match="encoding that is not read by default"):
            read_corpus(tmp_path, format=name)


def test_deep_nesting_is_refused(tmp_path):
    put(tmp_path, {"a.xml": "<deIdi2b2>" + "<TAGS>" * 100000})
    with pytest.raises(CorpusFormatError, match="There is another element"):
        read_corpus(tmp_path, format="i2b2")


@pytest.mark.parametrize(
    ("declared", "encoding"),
    [
        ("UTF-8", "utf-8"),
        ("UTF-8", "utf-8-sig"),
        ("UTF-16", "utf-16"),
        ("ISO-8859-1", "latin-1"),
        ("windows-1252", "cp1252"),
    ],
)
def test_a_declared_encoding_is_obeyed(declared, encoding, tmp_path):
    content = f"<?xml version='1.0' encoding='{declared}'?>" + NOTE.format(text="Mar\u00eda")
    put(tmp_path, {"a.xml": content.encode(encoding)})
    assert read_corpus(tmp_path)[0].text == "Mar\u00eda"


def test_an_encoding_by_argument_overrides_the_declared_one(tmp_path):
    put(tmp_path, {"a.xml": ("<?xml version='1.0' encoding='UTF-8'?>" + NOTE.format(text="\u00e1")).encode("cp1252")})
    assert read_corpus(tmp_path, format="i2b2", encoding="cp1252")[0].text == "\u00e1"
    with pytest.raises(CorpusFormatError, match=r"not in the encoding UTF-8 \(byte 54\)"):
        read_corpus(tmp_path, format="i2b2")
