"""`decode_body` decodes the text of a note that was exported in a transfer encoding of e-mail."""

from __future__ import annotations

import base64
import binascii
import quopri

from .._parameters import check_parameter

TRANSFER_ENCODINGS = ("quoted-printable", "base64")


def decode_body(text: str, transfer_encoding: str, encoding: str = "utf-8") -> str | None:
    """Decode a whole note from a transfer encoding of e-mail.

    Use the function for notes that `unreadable_reason` refuses because they were exported as bodies of e-mails. Remove
    the headers of the e-mails before you call the function.

    Parameters
    ----------
    text : str
        Encoded note.
    transfer_encoding : {"quoted-printable", "base64"}
        Encoding of the note.
    encoding : str, default="utf-8"
        Encoding of the decoded bytes.

    Returns
    -------
    str or None
        Decoded text. None if the note is not in these encodings.

    Raises
    ------
    ValueError
        If ``transfer_encoding`` is unknown.

    Examples
    --------
    >>> decode_body("Mu=C3=B1oz =", "quoted-printable"), decode_body("TXXDsW96", "base64"), decode_body("?", "base64")
    ('Muñoz ', 'Muñoz', None)
    """
    is_known = transfer_encoding in TRANSFER_ENCODINGS
    check_parameter("", "transfer_encoding", transfer_encoding, is_known, f"one of {TRANSFER_ENCODINGS}")
    try:
        data = text.encode("ascii")
        if transfer_encoding == "base64":
            return base64.b64decode(b"".join(data.split()), validate=True).decode(encoding)
        return quopri.decodestring(data).decode(encoding)
    except (UnicodeError, binascii.Error):
        return None
