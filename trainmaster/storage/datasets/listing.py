"""The list of files that somebody wants to upload as a version of a data set: judged before a byte of them is taken.

Nothing in it is trusted; all problems are named at once. Pure. Invariant: what is let through can be built below a
folder without leaving it, and no two of its paths are the same to a system that ignores case or encodes text otherwise.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from trainmaster.core.errors import ProblemList
from trainmaster.core.folders.tree import TreeEntry, folded, inside, link_digest, tree_digest
from trainmaster.messages.assets import datasets as said
from trainmaster.messages.jobs import uploads
from trainmaster.storage.uploads import MAX_DEPTH, MAX_NAME, MAX_PATH, MAX_PROBLEMS

MAX_ENTRIES: Final = 200_000
MAX_SIZE: Final = 2**53
_SHA256: Final = re.compile(r"[0-9a-f]{64}")
_KEYS: Final = (
    {"path", "size", "sha256"},
    {"path", "size", "sha256", "executable"},
    {"path", "link"},
    {"path", "folder"},
)


@dataclass(frozen=True, slots=True)
class ListedFile:
    """One thing that is to be in a version. `kind` as in `core.folders.tree`: f, x, l or d; `target`: of a link."""

    path: str
    kind: str
    sha256: str = ""
    size: int = 0
    target: str = ""


@dataclass(frozen=True, slots=True)
class TreeListing:
    """All of them, by path; `digest` of the whole tree."""

    entries: tuple[ListedFile, ...]

    @property
    def digest(self) -> str:
        """The name of the tree (sha256 hex). O(n log n)."""
        return tree_digest(_named(entry) for entry in self.entries)

    @property
    def size_bytes(self) -> int:
        """Bytes of all files."""
        return sum(entry.size for entry in self.entries)

    @property
    def files(self) -> int:
        """How many files there are; links and folders are none."""
        return sum(entry.kind in "fx" for entry in self.entries)

    def contents(self) -> dict[str, int]:
        """Return the size of each content, by its sha256."""
        return {entry.sha256: entry.size for entry in self.entries if entry.kind in "fx"}


def _named(entry: ListedFile) -> TreeEntry:
    if entry.kind == "l":
        return TreeEntry(entry.path, "l", link_digest(entry.target))
    return TreeEntry(entry.path, "d") if entry.kind == "d" else TreeEntry(entry.path, entry.kind, entry.sha256)


def judged(given: Any, max_mib: int) -> TreeListing:
    """Return what a client's list asks for. Raises InvalidSpec with all problems, a hundred at most. O(n log n)."""
    judging = _Judging()
    if not isinstance(given, list) or not given:
        judging.problems.add("files", said.not_a_listing())
        given = []
    if len(given) > MAX_ENTRIES:
        judging.problems.add("files", said.too_many_listed(MAX_ENTRIES))
        given = []
    for at, item in enumerate(given):
        judging.take(at, item)
        if len(judging.problems.problems) >= MAX_PROBLEMS:
            break
    judging.finish(max_mib)
    judging.problems.raise_if_any(said.listing_not_usable)
    filled = {entry.path.rpartition("/")[0] for entry in judging.entries}
    entries = (one for one in judging.entries if one.kind != "d" or one.path not in filled)
    return TreeListing(tuple(sorted(entries, key=lambda entry: entry.path)))


@dataclass(slots=True)
class _Judging:
    problems: ProblemList = field(default_factory=ProblemList)
    entries: list[ListedFile] = field(default_factory=list)
    kinds: dict[str, str] = field(default_factory=dict)
    known: dict[str, str] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)

    def take(self, at: int, item: Any) -> None:
        """Judge one item by itself, and its path beside those before it."""
        if not isinstance(item, Mapping) or not isinstance(item.get("path"), str):
            self.problems.add(f"files.{at}", said.not_an_entry())
            return
        path = item["path"]
        entry = _read(path, item)
        if entry is None:
            self.problems.add(_shown(path), said.not_an_entry())
            return
        if not self._plain(path):
            return
        if entry.kind == "l" and not inside(path, entry.target):
            self.problems.add(path, said.link_leaves_dataset(), value=entry.target)
            return
        if entry.kind in "fx" and self.sizes.setdefault(entry.sha256, entry.size) != entry.size:
            self.problems.add(path, said.sizes_differ())
            return
        if self._put(path, entry.kind):
            self.entries.append(entry)

    def finish(self, max_mib: int) -> None:
        """Judge all together."""
        if max_mib and sum(entry.size for entry in self.entries) > max_mib << 20:
            self.problems.add("files", said.dataset_too_large(max_mib))

    def _plain(self, path: str) -> bool:
        parts = path.split("/")
        try:
            long = len(path.encode()) > MAX_PATH or any(len(part.encode()) > MAX_NAME for part in parts)
        except UnicodeError:
            self.problems.add(_shown(path), uploads.name_not_utf8())
            return False
        if any(part in ("", ".", "..") for part in parts):
            self.problems.add(_shown(path), said.path_not_plain())
        elif long or len(parts) > MAX_DEPTH:
            self.problems.add(_shown(path), uploads.path_too_long(MAX_PATH, MAX_DEPTH, MAX_NAME))
        elif any(ord(letter) < 32 or ord(letter) == 127 for letter in path):
            self.problems.add(_shown(path), uploads.name_with_control_characters())
        else:
            return True
        return False

    def _put(self, path: str, kind: str) -> bool:
        """Note that `path` is a `kind`, with the folders above it; False, and a problem, when it cannot be."""
        parent = path.rpartition("/")[0]
        if parent and self.kinds.get(parent) != "d" and not self._put(parent, "d"):
            return False
        known = self.kinds.get(path)
        if known is not None:
            if known == kind == "d":
                return True
            self.problems.add(path, said.listed_twice() if "d" not in (known, kind) else said.beneath_a_file())
            return False
        other = self.known.setdefault(folded(path), path)
        if other != path:
            self.problems.add(path, uploads.names_collide(other))
            return False
        self.kinds[path] = kind
        return True


def _shown(path: str) -> str:
    return ascii(path[:200]) if not path.isprintable() else path[:200]


def _read(path: str, item: Mapping[str, Any]) -> ListedFile | None:
    """Return one item of the list, None where it is none."""
    if set(item) not in _KEYS:
        return None
    if "link" in item:
        return ListedFile(path, "l", target=item["link"]) if _is_target(item["link"]) else None
    if "folder" in item:
        return ListedFile(path, "d") if item["folder"] is True else None
    size, name, executable = item["size"], item["sha256"], item.get("executable", False)
    good = type(size) is int and 0 <= size < MAX_SIZE and isinstance(executable, bool)
    if not good or not isinstance(name, str) or not _SHA256.fullmatch(name):
        return None
    return ListedFile(path, "x" if executable else "f", name, size)


def _is_target(target: Any) -> bool:
    if not isinstance(target, str) or not 0 < len(target) <= MAX_PATH:
        return False
    try:
        target.encode()
    except UnicodeError:
        return False
    return not any(ord(letter) < 32 or ord(letter) == 127 for letter in target)
