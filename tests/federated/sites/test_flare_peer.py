"""Names of peers: what the server has signed is believed, and nothing that a sender says about itself."""

import datetime
from uuid import uuid4

import pytest

pytest.importorskip("nvflare", reason="needs the extra 'federated' (NVIDIA FLARE)")

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from nvflare.fuel.f3.cellnet.defs import MessageHeaderKey
from nvflare.fuel.f3.message import Message
from nvflare.lighter.utils import sign_content

from sklearn_deid.federated.sites.flare_peer import PeerNames

pytestmark = pytest.mark.federated


@pytest.fixture(scope="module")
def key():
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


@pytest.fixture(scope="module")
def peers(key, tmp_path_factory):
    """Names by the certificate of a server with this key."""
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "server")])
    begin = datetime.datetime(2026, 1, 1)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(begin)
        .not_valid_after(begin + datetime.timedelta(days=9000))
        .sign(key, hashes.SHA256())
    )
    path = tmp_path_factory.mktemp("server") / "server.crt"
    path.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    return PeerNames(path)


def message(key, name="site-1", token=None, origin="site-1.job", **other):
    token = token or str(uuid4())
    headers = {
        "client_name": name,
        "__token__": token,
        "__token_signature__": sign_content(name + token, key, return_str=True),
        MessageHeaderKey.ORIGIN: origin,
    }
    return Message({key: value for key, value in {**headers, **other}.items() if value is not None}, b"")


def test_signed_name_is_believed(peers, key):
    assert peers.name_of(message(key)) == "site-1"
    assert peers.name_of(message(key, origin="site-1")) == "site-1"


@pytest.mark.parametrize("missing", ["client_name", "__token__", "__token_signature__", MessageHeaderKey.ORIGIN])
def test_nothing_may_be_missing(peers, key, missing):
    assert peers.name_of(message(key, **{missing: None})) is None


def test_name_of_another_is_not_believed(peers, key):
    assert peers.name_of(message(key, client_name="site-2")) is None
    assert peers.name_of(message(key, client_name="site-2", **{MessageHeaderKey.ORIGIN: "site-2.job"})) is None
    assert peers.name_of(message(key, __token__=str(uuid4()))) is None
    assert peers.name_of(message(key, __token_signature__="bm8=")) is None
    assert peers.name_of(message(rsa.generate_private_key(public_exponent=65537, key_size=2048))) is None


def test_address_must_be_that_of_the_name(peers, key):
    assert peers.name_of(message(key, origin="site-2.job")) is None
    assert peers.name_of(message(key, origin="server.job")) is None


def test_name_and_token_cannot_be_divided_anew(peers, key):
    """The signature covers them in one piece: "site-1" with token "2..." reads like "site-12" with token "..."."""
    token = "2" + str(uuid4())[1:]
    forged = message(key, token=token, **{MessageHeaderKey.ORIGIN: "site-12.job"})
    forged.set_header("client_name", "site-12")
    forged.set_header("__token__", token[1:])
    assert peers.name_of(forged) is None
