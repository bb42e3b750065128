"""Public keys as people paste them: what is a key, what is none, and what must never be pasted."""

import base64
import struct

import pytest

from trainmaster.service.people.public_keys import NotAKey, read


def field(*parts: bytes) -> bytes:
    return b"".join(struct.pack(">I", len(part)) + part for part in parts)


def line(name: str, *parts: bytes, told: str = "") -> str:
    return f"{told or name} {base64.b64encode(field(name.encode(), *parts)).decode()} ann@laptop"


def number(bits: int) -> bytes:
    return ((1 << bits - 1) + 1).to_bytes(bits // 8 + 1, "big")


POINT = b"\x04" + b"p" * 64
GOOD = {
    "ed25519 256": line("ssh-ed25519", b"k" * 32),
    "ecdsa 256": line("ecdsa-sha2-nistp256", b"nistp256", POINT),
    "ecdsa 384": line("ecdsa-sha2-nistp384", b"nistp384", b"\x04" + b"p" * 96),
    "ecdsa 521": line("ecdsa-sha2-nistp521", b"nistp521", b"\x04" + b"p" * 132),
    "rsa 2048": line("ssh-rsa", b"\x01\x00\x01", number(2048)),
    "rsa 4096": line("ssh-rsa", b"\x01\x00\x01", number(4096)),
    "sk-ed25519 256": line("sk-ssh-ed25519@openssh.com", b"k" * 32, b"ssh:"),
    "sk-ecdsa 256": line("sk-ecdsa-sha2-nistp256@openssh.com", b"nistp256", POINT, b"ssh:"),
}
BAD = {
    "not_a_key": [
        "",
        "hello",
        "ssh-ed25519",
        "ssh-ed25519 AAAA",
        "ssh-ed25519 ???? ann",
        line("ssh-ed25519", b"k" * 31),
        line("ssh-ed25519", b"k" * 32, b"more"),
        line("ssh-ed25519", b"k" * 32, told="ssh-rsa"),
        line("ecdsa-sha2-nistp256", b"nistp384", POINT),
        line("ecdsa-sha2-nistp256", b"nistp256", b"\x02" + b"p" * 32),
        line("ssh-rsa", b"\x01", number(2048)),
        line("ssh-rsa", b"\x01\x00\x01", number(17_000)),
        line("sk-ssh-ed25519@openssh.com", b"k" * 32),
        GOOD["ed25519 256"] + "\n" + GOOD["rsa 2048"],
        'from="10.0.0.1" ' + GOOD["ed25519 256"],
        GOOD["ed25519 256"][:40],
    ],
    "key_too_short": [line("ssh-rsa", b"\x01\x00\x01", number(1024))],
    "key_kind_unknown": [line("ssh-dss", b"k" * 32), line("ssh-ed448", b"k" * 57)],
    "key_comment_long": [GOOD["ed25519 256"] + "x" * 200],
    "key_is_private": [
        "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXk\n-----END OPENSSH PRIVATE KEY-----",
        "-----BEGIN RSA PRIVATE KEY-----",
        "PuTTY-User-Key-File-3: ssh-ed25519",
    ],
}


@pytest.mark.parametrize("what", GOOD)
def test_a_good_key_is_read(what: str) -> None:
    key = read(f"  {GOOD[what]}\n")
    assert (f"{key.kind} {key.bits}", key.comment) == (what, "ann@laptop")
    assert read(key.line).fingerprint == key.fingerprint


def test_the_fingerprint_is_that_of_ssh_keygen() -> None:
    """As ssh-keygen -l shows it of this key."""
    known = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl"
    assert read(known).fingerprint == "SHA256:+DiY3wvvV6TuJJhbpZisF/zLDA0zPMSvHdkr4UvCOqU"


@pytest.mark.parametrize(("code", "text"), [(code, text) for code, texts in BAD.items() for text in texts])
def test_what_is_no_key_is_refused_and_not_repeated(code: str, text: str) -> None:
    with pytest.raises(NotAKey) as refused:
        read(text)
    assert refused.value.said.code == code
    assert "b3BlbnNzaC1rZXk" not in str(refused.value.said)
