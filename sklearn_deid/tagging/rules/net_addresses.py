"""Rules for e-mail addresses, web addresses and IP addresses."""

from __future__ import annotations

import ipaddress
import re

from .rule import MAYBE_SPACE, Rule

# End of an address in rebuilt text: a new sentence ("x@y.org.Next") or a number ("x@y.org 33") follows.
_NEXT_SENTENCE = re.compile(r"(?<=[a-z]{2})\.(?=[A-Z][a-z])|(?<=\.(?:com|org|net|edu|gov))\x1f|(?<=\.[a-z][a-z])\x1f")
_BEFORE_SIGN = re.compile(r"[^\W_][^_]{0,60}?\.[^\W\d_]{2,24}(?=[_-])")
_LAST_LABEL = re.compile(r"\.[^\W\d_]{2,24}\Z")
# In rebuilt text, no space stands behind the colon of a name: "MAC:00:1B:44".
_FREE = r"(?:(?<![\w:])|(?<=[g-zG-Z]:)|(?<=[g-zG-Z][a-zA-Z]:)|(?<=[g-zG-Z][a-zA-Z]{2}:))"
_BYTE = r"[\da-fA-F]\x1f?[\da-fA-F]"


def _host_length(host: str) -> int:
    """Length of a host name without words that `rebuild_sentence` has attached; 0 without a top-level domain."""
    end = _NEXT_SENTENCE.search(host)
    kept = (host if end is None else host[: end.start()]).rstrip(".-_" + MAYBE_SPACE)
    if _LAST_LABEL.search(kept):
        return len(kept)
    # "roe@example.org_2011-05-12"
    joined = _BEFORE_SIGN.match(kept)
    return 0 if joined is None else joined.end()


def _email_length(address: str) -> int:
    """Length of an e-mail address without words that `rebuild_sentence` has attached; 0 without a valid host name."""
    local, _, host = address.partition("@")
    length = _host_length(host)
    return length and len(local) + 1 + length


def _url_length(address: str) -> int:
    """Length of a web address without punctuation at its end; 0 without a valid host name."""
    start = address.find("//") + 2 if "//" in address else 0
    host = re.match(r"[^/?#:]*", address[start:])
    assert host is not None
    rest = address[start + host.end() :]
    length = _host_length(host[0])
    if not length:
        return 0
    return start + length if length < host.end() else start + length + len(rest.rstrip(".,;:!?-_" + MAYBE_SPACE))


def _ip_length(address: str) -> int:
    """Length of an IP address, if all four numbers are below 256."""
    return len(address) * all(int(part) < 256 for part in address.split("."))


def _ipv6_length(address: str) -> int:
    """Length of an IPv6 address of at least three groups; 0 for clock times and other text."""
    try:
        ipaddress.IPv6Address(address.translate(dict.fromkeys(map(ord, MAYBE_SPACE))))
    except ValueError:
        return 0
    return len(address) * (address.count(":") > 2)


NET_RULES = (
    Rule(
        "email",
        "email",
        "EMAIL",
        # In rebuilt text, at most one word before a change from lower to upper case may belong to the address. A number
        # before a letter does not belong to the address, because such a number is mostly a token of its own.
        r"(?:[\w+%-]{1,40}\x1e)?(?:[^\W\d][\w.+%\x1f-]{0,63}|\d[\w.+%-]{0,63})@[\w.\x1d\x1f-]{3,200}",
        priority=3,
        measure=_email_length,
        needs="@",
        lead=105,
    ),
    Rule(
        "url",
        "url",
        "URL",
        r"\b(?i:https?://|ftp://|www\.)[\w./~%?=&#:+@\x1f-]{3,300}",
        priority=3,
        measure=_url_length,
        needs="/wW",
        words=("http", "ftp:", "www."),
    ),
    Rule(
        "ip-address",
        "ip",
        "IPADDR",
        r"(?=\d{1,3}\.)(?<!\d)(?<!\d\.)\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}(?!\d)(?!\.\d)",
        priority=3,
        measure=_ip_length,
        not_after=r"\b(?i:v|vers?|version|firmware|release|build)[\s.:]{1,2}",
    ),
    Rule(
        "ip-address-6",
        "ip",
        "IPADDR",
        rf"(?=[\da-fA-F\x1f\x1e]{{1,8}}:){_FREE}[\da-fA-F\x1f\x1e]{{1,8}}:[\da-fA-F:\x1f\x1e]{{4,60}}(?![\w:])",
        priority=3,
        measure=_ipv6_length,
        needs=":",
    ),
    Rule(
        "mac-address",
        "ip",
        "IPADDR",
        rf"(?={_BYTE}[:-]){_FREE}(?<!-)(?:{_BYTE}([:-])(?:{_BYTE}\1){{4}}{_BYTE})(?![\w:-])",
        priority=3,
        needs=":-",
    ),
    # Without a scheme, only under the usual top level: "pain.no fever" lacks a space.
    Rule(
        "url-bare",
        "url",
        "URL",
        r"(?<![\w@./-])[a-z\d][a-z\d.-]{1,80}\.(?:com|org|net|edu|gov)(?![\w@-])(?!\.[a-z\d])[\w./~%?=&#:+@\x1f-]{0,200}",
        priority=2,
        measure=_url_length,
        needs=".",
        words=(".com", ".org", ".net", ".edu", ".gov"),
    ),
)
