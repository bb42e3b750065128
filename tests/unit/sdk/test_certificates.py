"""A server behind a CA of one's own: trusted once it is named, and told so plainly until then."""

import ssl
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from trainmaster.core.errors import InvalidSpec, NotFound, TrainmasterError, Unavailable
from trainmaster.sdk.client import Client


class Answers(BaseHTTPRequestHandler):
    """Knows nothing, and says so."""

    def do_GET(self) -> None:
        self.send_response(404)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate that signed itself, its key beside it."""
    folder = tmp_path_factory.mktemp("tls")
    command = [
        *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"),
        *("-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"),
        *("-keyout", str(folder / "key.pem"), "-out", str(folder / "cert.pem")),
    ]
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    return folder / "cert.pem"


@pytest.fixture
def url(certificate: Path) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, certificate.with_name("key.pem"))
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"https://localhost:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


def asked(url: str, **more: Any) -> TrainmasterError:
    with Client(url, **more) as client, pytest.raises(TrainmasterError) as refused:
        client.session()
    return refused.value


def test_an_unknown_authority_is_named_as_the_cause(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SSL_CERT_FILE", "TRAINMASTER_CA"):
        monkeypatch.delenv(name, raising=False)
    error = asked(url)
    assert isinstance(error, Unavailable)
    assert error.code == "certificate_not_trusted"
    assert "self-signed certificate" in error.message or "self signed certificate" in error.message
    assert "TRAINMASTER_CA" in error.remedy


@pytest.mark.parametrize("how", ["argument", "TRAINMASTER_CA", "SSL_CERT_FILE"])
def test_one_that_was_named_is_trusted(how: str, url: str, certificate: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SSL_CERT_FILE", "TRAINMASTER_CA"):
        monkeypatch.delenv(name, raising=False)
    if how != "argument":
        monkeypatch.setenv(how, str(certificate))
    error = asked(url, ca=str(certificate) if how == "argument" else None)
    assert isinstance(error, NotFound), "it was reached"


def test_a_file_that_is_none_is_refused(tmp_path: Path) -> None:
    (tmp_path / "text.pem").write_text("nothing")
    for path in (tmp_path / "missing.pem", tmp_path / "text.pem"):
        with pytest.raises(InvalidSpec) as refused:
            Client("https://localhost:1", ca=str(path))
        assert refused.value.code == "certificates_not_read"
        assert str(path) in refused.value.message


def test_a_server_without_tls_is_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        error = asked(f"https://localhost:{server.server_address[1]}")
    finally:
        server.shutdown()
        server.server_close()
    assert error.code == "no_tls_there"
    assert "http://" in error.remedy
