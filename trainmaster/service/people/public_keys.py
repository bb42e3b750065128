"""Public keys of SSH as people paste them: one line of type, key and comment, judged by what is in the key itself
(RFC 4253 section 6.6, RFC 5656, RFC 8709; PROTOCOL.u2f of OpenSSH). Pure.

Invariant: what is let through is one line that SSH reads as it was checked here; nothing of a private key is repeated.
"""

import base64
import binascii
import hashlib
import re
from dataclasses import dataclass
from typing import Final

from trainmaster.messages.said import Said
from trainmaster.messages.server import sign_in

LONGEST: Final = 16_384
"""Characters of what is given."""
LONGEST_COMMENT: Final = 200
LEAST_RSA: Final = 2048
MOST_RSA: Final = 16_384
_CURVES: Final = {"nistp256": 256, "nistp384": 384, "nistp521": 521}
KINDS: Final[dict[str, str]] = {
    "ssh-ed25519": "ed25519",
    "ecdsa-sha2-nistp256": "ecdsa",
    "ecdsa-sha2-nistp384": "ecdsa",
    "ecdsa-sha2-nistp521": "ecdsa",
    "ssh-rsa": "rsa",
    "sk-ssh-ed25519@openssh.com": "sk-ed25519",
    "sk-ecdsa-sha2-nistp256@openssh.com": "sk-ecdsa",
}
"""What stands first in the line -> what is shown of it."""
_PRIVATE: Final = re.compile(r"PRIVATE KEY|PuTTY-User-Key-File")


@dataclass(frozen=True, slots=True)
class PublicKey:
    """A key that was checked. `line`: as SSH reads it, without the comment."""

    kind: str
    bits: int
    fingerprint: str
    line: str
    comment: str


class NotAKey(Exception):
    """What was given is no public key that is accepted. `said`: why."""

    def __init__(self, said: Said) -> None:
        super().__init__(said.code)
        self.said = said


def read(text: str) -> PublicKey:
    """Return the key in `text`. Raises NotAKey."""
    if _PRIVATE.search(text):
        raise NotAKey(sign_in.key_is_private())
    words = text.strip().split(None, 2)
    if len(words) < 2 or not text.strip().isprintable():
        raise NotAKey(sign_in.not_a_key())
    name, encoded, comment = words[0], words[1], words[2].strip() if len(words) > 2 else ""
    if name not in KINDS:
        looks_like_one = re.fullmatch(r"[a-z0-9@.-]+", name) and encoded.startswith("AAAA")
        raise NotAKey(sign_in.key_kind_unknown(name[:60], list(KINDS)) if looks_like_one else sign_in.not_a_key())
    if len(comment) > LONGEST_COMMENT:
        raise NotAKey(sign_in.key_comment_long(LONGEST_COMMENT))
    try:
        blob = base64.b64decode(encoded, validate=True)
        bits = _bits(name, blob)
    except (binascii.Error, ValueError) as error:
        raise NotAKey(sign_in.not_a_key()) from error
    if KINDS[name] == "rsa" and not LEAST_RSA <= bits <= MOST_RSA:
        raise NotAKey(sign_in.key_too_short(bits) if bits < LEAST_RSA else sign_in.not_a_key())
    mark = base64.b64encode(hashlib.sha256(blob).digest()).decode().rstrip("=")
    line = f"{name} {base64.b64encode(blob).decode()}"
    return PublicKey(KINDS[name], bits, f"SHA256:{mark}", line, comment)


def _bits(name: str, blob: bytes) -> int:
    """Return the size of the key. Raises ValueError where it is none of this name."""
    parts = _parts(blob)
    if parts[0] != name.encode():
        raise ValueError("the key is of another type than its line says")
    fields = parts[1:-1] if name.startswith("sk-") else parts[1:]
    if name.startswith("sk-") and (len(parts) < 3 or not parts[-1]):
        raise ValueError("a key in a security key names its application")
    if "ed25519" in name:
        if [len(field) for field in fields] != [32]:
            raise ValueError("an ed25519 key has 32 bytes")
        return 256
    if "ecdsa" in name:
        curve = name.removeprefix("sk-").removeprefix("ecdsa-sha2-").removesuffix("@openssh.com")
        size = 1 + 2 * ((_CURVES[curve] + 7) // 8)
        if len(fields) != 2 or fields[0] != curve.encode() or len(fields[1]) != size or fields[1][0] != 4:
            raise ValueError("this is no point of the curve")
        return _CURVES[curve]
    if len(fields) != 2:
        raise ValueError("an RSA key has two numbers")
    exponent, modulus = (int.from_bytes(field, "big", signed=True) for field in fields)
    if exponent < 3 or exponent % 2 == 0 or modulus <= 0:
        raise ValueError("these are no numbers of an RSA key")
    return modulus.bit_length()


def _parts(blob: bytes) -> list[bytes]:
    """Return the fields of a key, each with its length before it. Raises ValueError."""
    found, at = [], 0
    while at < len(blob):
        length = int.from_bytes(blob[at : at + 4], "big")
        if at + 4 + length > len(blob):
            raise ValueError("the key is cut off")
        found.append(blob[at + 4 : at + 4 + length])
        at += 4 + length
    if not found:
        raise ValueError("the key is empty")
    return found
