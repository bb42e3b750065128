"""The account of whom tasks run as, in the /etc of an image that knows others. Pure."""

from __future__ import annotations


def lines_of(uid: int, gid: int) -> tuple[tuple[str, int, str], ...]:
    """Return (file of /etc, number, line) of the account with these numbers, and of its group."""
    return (("passwd", uid, f"user:x:{uid}:{gid}:user:/workspace:/bin/sh"), ("group", gid, f"user:x:{gid}:"))


def with_account(text: str, number: int, line: str) -> str:
    """Return the `text` of such a file with `line`, as it is where it has one for `number` already."""
    if any(one.split(":")[2:3] == [str(number)] for one in text.splitlines()):
        return text
    return text + ("\n" if text and not text.endswith("\n") else "") + line + "\n"
