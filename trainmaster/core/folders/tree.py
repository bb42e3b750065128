"""The name of a folder's content: one digest over paths, kinds, executable bits and bytes. Pure.

Client (pack) and server (unpack, model versions) share it, so that equal folders get equal names whatever the order,
times, owners or compression they travelled with.

Invariant: the digest is sha256 over one line per entry, sorted by the bytes of the path:
``<kind> <sha256 of the content, of the link's target, or of nothing> <path>\\0``; kinds are f (file), x (executable
file), l (symbolic link) and d (a folder without any entry beneath it).
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Iterable
from typing import Final

from trainmaster._compat import dataclass

EMPTY: Final = hashlib.sha256(b"").hexdigest()


@dataclass(frozen=True, slots=True)
class TreeEntry:
    """One file, link or empty folder. `path` is relative, with ``/``; `content` the sha256 hex digest."""

    path: str
    kind: str
    content: str = EMPTY


def tree_digest(entries: Iterable[TreeEntry]) -> str:
    """Return the sha256 hex digest of the tree made of `entries`, in any order. O(n log n)."""
    total = hashlib.sha256(b"trainmaster tree 1\n")
    for path, line in sorted((_bytes(entry.path), f"{entry.kind} {entry.content} ") for entry in entries):
        total.update(line.encode() + path + b"\0")
    return total.hexdigest()


def link_digest(target: str) -> str:
    """Return the content digest of a symbolic link to `target`."""
    return hashlib.sha256(_bytes(target)).hexdigest()


def folded(path: str) -> str:
    """Return what two paths have in common that some system takes for the same: canonical caseless matching (Unicode,
    section 3.13).
    """
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", path).casefold())


def _bytes(path: str) -> bytes:
    return path.encode("utf-8", "surrogateescape")


def inside(path: str, target: str) -> bool:
    """Return whether the link `target` of the entry at `path` provably stays in the tree, by its text alone.

    ``..`` is accepted only in front: behind a name it would be resolved against wherever that name leads. O(length).
    """
    if target.startswith("/") or not target:
        return False
    ups, named = 0, False
    for part in target.split("/"):
        if part == "..":
            if named:
                return False
            ups += 1
        elif part not in ("", "."):
            named = True
    return ups <= path.count("/")
