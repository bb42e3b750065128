"""Seals the numbers that answers carry: places in lists, positions of the feed, numbers of rows.

Such a number counts what everybody does, also what its reader may not see. So it leaves the server encrypted, and only
what this home has sealed is taken back. AES-256-SIV (RFC 5297): the same each time where a row has to have one id, and
without a nonce that must never come twice, however many are sealed. Its key is made of HOME/secrets/seals, so the
servers of one home read each other's. A kind ("jobs", "feed") is part of what is sealed: what one takes, no other does.

Invariant: two marks of one place look as different as those of two places, and how long a mark is tells at most how
long a text in it is, in steps of `_STEP`.
"""

import base64
import hashlib
import os
from typing import TYPE_CHECKING, Final

from trainmaster.core.errors import Unavailable
from trainmaster.core.folders.layout import Layout
from trainmaster.messages.server import secrets as said
from trainmaster.service.folders.secret_files import seals_secret

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESSIV

_LOT: Final = 8
"""Bytes drawn by lot in front of what is sealed, so that no two marks are alike."""
_STEP: Final = 128
"""Bytes. The numbers in a place of a list are written in digits; how many there are is not to be told."""
_END: Final = b"\x80"


class NotSealedHere(Exception):
    """This home has not sealed it, or not as this kind."""


class Seals:
    """Of one home; for any thread. Nothing is read or made before it is asked for."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._made: AESSIV | None = None

    def mark(self, kind: str, place: bytes) -> str:
        """Return a mark of `place`, another one each time. Raises Unavailable."""
        return self._sealed(kind, os.urandom(_LOT) + place)

    def place(self, kind: str, mark: str) -> bytes:
        """Return of what `mark` was made. Raises NotSealedHere, Unavailable."""
        return self._opened(kind, mark)[_LOT:]

    def text_mark(self, kind: str, text: str) -> str:
        """Return a mark of `text` that hides how long it is. Raises Unavailable."""
        raw = text.encode() + _END
        return self.mark(kind, raw + bytes(-(len(raw) + _LOT) % _STEP))

    def text(self, kind: str, mark: str) -> str:
        """Return of which text `text_mark` made `mark`. Raises NotSealedHere, Unavailable."""
        return self.place(kind, mark).rstrip(b"\0").removesuffix(_END).decode()

    def id(self, kind: str, number: int) -> str:
        """Return the id of the row that has this number, the same each time: a letter, that of `kind`, comes first, as
        in all ids, and never "-", with which options begin. Raises Unavailable.
        """
        return kind[0] + self._sealed(kind, number.to_bytes(8, "big"))

    def number(self, kind: str, id_: str) -> int:
        """Return the number of the row that has this id. Raises NotSealedHere, Unavailable."""
        if not id_.startswith(kind[0]):
            raise NotSealedHere
        return int.from_bytes(self._opened(kind, id_[1:]), "big")

    def _sealed(self, kind: str, raw: bytes) -> str:
        return _written(self._cipher().encrypt(raw, [kind.encode()]))

    def _opened(self, kind: str, sealed: str) -> bytes:
        from cryptography.exceptions import InvalidTag  # noqa: PLC0415 - see `_cipher`

        try:
            raw = base64.b64decode(sealed + "=" * (-len(sealed) % 4), b"-_", validate=True)
            found = self._cipher().decrypt(raw, [kind.encode()])
        except (ValueError, InvalidTag):
            raise NotSealedHere from None
        if _written(raw) != sealed:  # the last letter has bits to spare: one place has one text
            raise NotSealedHere
        return found

    def _cipher(self) -> "AESSIV":
        if self._made is None:
            from cryptography.hazmat.primitives.ciphers.aead import AESSIV  # noqa: PLC0415 - it takes 8 MB

            try:
                secret = seals_secret(self._layout)
            except OSError as error:
                raise Unavailable(said.seals_not_readable(error.strerror or str(error))) from error
            self._made = AESSIV(hashlib.sha512(b"trainmaster seals\0" + secret.encode()).digest())
        return self._made


def _written(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).decode("ascii").rstrip("=")
