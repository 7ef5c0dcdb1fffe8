"""Name of the sender of a message, verified with the certificates of NVIDIA FLARE.

FLARE passes a peer context to handlers of auxiliary messages. The sender writes the peer context, and can therefore
write the name of another participant. The headers of the message contain a proof of the name. At registration, the
server checks the certificate of a site, and signs the pair of the site's name and a token. Each message contains name,
token and signature. This module checks the signature again, in the process that uses the name. The name must also be
the first part of the address from which the message came.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any
from uuid import UUID

from cryptography.exceptions import InvalidSignature
from nvflare.apis.fl_constant import CellMessageAuthHeaderKey
from nvflare.fuel.f3.cellnet.defs import MessageHeaderKey
from nvflare.lighter.utils import load_crt, verify_content

CHANNEL, TOPIC = "sklearn_deid", "exchange"


class PeerNames:
    """Verified names of the senders of messages.

    Parameters
    ----------
    certificate : path
        Certificate of the server, whose key signed the tokens.
    """

    def __init__(self, certificate: Path) -> None:
        self._key = load_crt(str(certificate)).public_key()

    def name_of(self, message: Any) -> str | None:
        """Name of the sender, or None without a valid proof."""
        name, token, signature = (
            message.get_header(key)
            for key in (
                CellMessageAuthHeaderKey.CLIENT_NAME,
                CellMessageAuthHeaderKey.TOKEN,
                CellMessageAuthHeaderKey.TOKEN_SIGNATURE,
            )
        )
        origin = message.get_header(MessageHeaderKey.ORIGIN)
        if not all(isinstance(part, str) and part for part in (name, token, signature, origin)):
            return None
        try:
            # The signature covers name and token in one piece: with a token of fixed form they cannot be divided anew.
            if str(UUID(token)) != token:
                return None
            verify_content(content=name + token, signature=signature, public_key=self._key)
        except (InvalidSignature, ValueError):
            return None
        # The address of the sender must belong to the proven name.
        return name if origin.split(".")[0] == name else None
