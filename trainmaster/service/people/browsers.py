"""Known browsers: a browser that signed in as somebody keeps a mark that says so, and is told from strangers by it.

The mark proves nothing about who sits there and opens nothing: whoever has it only does not wait behind strangers. It
is signed, not stored. Invariant: a mark fits one name, and is refused once it is older than KNOWN_S or from another
server.
"""

import base64
import hashlib
import hmac
import secrets
from typing import Final

KNOWN_S: Final = 90 * 86400.0
LONGEST: Final = 200
"""Characters of a mark."""


class Browsers:
    """One per server. `secret` is the server's own."""

    def __init__(self, secret: str) -> None:
        self._secret = secret.encode()

    def mark(self, name: str, now: float) -> str:
        """Return a new mark for a browser in which `name` has signed in."""
        return self._signed(name, f"{secrets.token_urlsafe(16)}.{now:.0f}")

    def recognise(self, name: str, mark: str | None, now: float) -> str | None:
        """Return what tells the browser with this mark from others in which `name` has signed in, None for a
        stranger.
        """
        told, _, _ = (mark or "").rpartition(".")
        nonce, _, at = told.partition(".")
        good = mark is not None and hmac.compare_digest(mark.encode(), self._signed(name, told).encode())
        return nonce if good and 0 <= now - float(at) + 60 <= KNOWN_S else None

    def _signed(self, name: str, told: str) -> str:
        made = hmac.new(self._secret, f"known browser\0{name}\0{told}".encode(), hashlib.sha256).digest()
        return f"{told}.{base64.urlsafe_b64encode(made).decode().rstrip('=')}"
