"""The servers of one home among themselves: one that stands by hands a request to the one that leads, and says who
asked.

Invariant: what such headers say counts only beside the secret that the servers of this home can read, and nobody else.
"""

import hmac
from collections.abc import Iterable
from typing import Final

from starlette.types import Scope

SECRET: Final = b"x-trainmaster-server"
CLIENT: Final = b"x-trainmaster-client"
SCHEME: Final = b"x-trainmaster-scheme"
_OURS: Final = frozenset({SECRET, CLIENT, SCHEME})
HOP: Final = frozenset(
    {b"connection", b"keep-alive", b"proxy-connection", b"te", b"trailer", b"transfer-encoding", b"upgrade"}
)
"""Headers that hold for one connection (RFC 9110, 7.6.1)."""


class Servers:
    """How they know each other. `secret`: what all of them can read, and nobody else."""

    def __init__(self, secret: str) -> None:
        self._secret = secret.encode()

    def apply(self, scope: Scope) -> bool:
        """Put into `scope` who asked another server, where one of ours forwards it; return whether that is so."""
        said = {key: value for key, value in scope["headers"] if key in _OURS}
        if not said:
            return False
        scope["headers"] = [pair for pair in scope["headers"] if pair[0] not in _OURS]
        if not hmac.compare_digest(said.get(SECRET, b""), self._secret):
            return False
        scope["client"] = (said.get(CLIENT, b"").decode("latin-1"), 0)
        scope["scheme"] = said.get(SCHEME, b"").decode("latin-1") or scope["scheme"]
        scope["forwarded"] = True
        return True

    def stamp(self, scope: Scope, without: Iterable[bytes] = ()) -> list[tuple[bytes, bytes]]:
        """Return the headers with which a request goes on to another server."""
        left_out = HOP | _OURS | set(without)
        client = scope["client"][0] if scope.get("client") else ""
        own = [(SECRET, self._secret), (CLIENT, client.encode("latin-1")), (SCHEME, scope["scheme"].encode("latin-1"))]
        return [*(pair for pair in scope["headers"] if pair[0] not in left_out), *own]
