"""Which certificates are trusted, and what is said of one that is not.

Trusted are those that httpx trusts (SSL_CERT_FILE replaces them, as everywhere), and those in a file that was named: a
CA of one's own.
"""

import os
import ssl
from collections.abc import Iterator

import httpx

from trainmaster.core.errors import InvalidSpec
from trainmaster.messages.said import Said
from trainmaster.messages.server import client


def trusted(ca: str | None) -> ssl.SSLContext:
    """Return what checks a server's certificate. `ca`: a file of more certificates. Raises InvalidSpec."""
    named = ca or os.environ.get("SSL_CERT_FILE") or ""
    try:
        context = httpx.create_ssl_context()
        if ca:
            context.load_verify_locations(ca)
    except OSError as error:
        why = error.strerror or str(error)
        raise InvalidSpec(client.certificates_not_read(named, why)) from error
    return context


def refusal(url: str, error: BaseException) -> Said | None:
    """Return what is wrong with the server's certificate, None where something else kept it from answering."""
    for cause in _causes(error):
        if isinstance(cause, ssl.SSLCertVerificationError):
            return client.certificate_not_trusted(url, cause.verify_message)
        if isinstance(cause, ssl.SSLError) and cause.reason in ("WRONG_VERSION_NUMBER", "HTTP_REQUEST"):
            return client.no_tls_there(url, str(cause.reason))
    return None


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
