"""Bringing a version of a data set into a folder. Standard library and the transport only.

The list of files comes first. Of the contents come only those that are not here: small ones many in one stream, large
ones from where they broke off, also in another process. Each is hashed as it comes. Invariants: what is here under its
own name is whole and what the server lists; nothing is overwritten; nothing is written outside the folder.
"""

import hashlib
import os
import shutil
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final

from trainmaster import answers
from trainmaster.core.errors import Conflict, InvalidSpec, Problem, StorageFailed, Unavailable, problem_of
from trainmaster.core.folders.tree import inside
from trainmaster.core.formats.frames import HEAD
from trainmaster.messages.server import client as said

if TYPE_CHECKING:
    from trainmaster.sdk.transport import Transport

TRIES: Final = 6
NEAR: Final = 64
"""So many contents that are here already are sent once more rather than asked for around."""
_BLOCK: Final = 1 << 20
_NAMED: Final = 20
"""Problems that are named."""
_NO_LINK: Final = getattr(os, "O_NOFOLLOW", 0)

Moved = Callable[[int], None]
"""Is told how many more bytes are here."""


@dataclass(slots=True)
class _Content:
    """A content, and the files that have it: (path in the version, place, executable)."""

    sha256: str
    size: int
    files: list[tuple[str, str, bool]] = field(default_factory=list)


@dataclass(slots=True)
class TreeDownload:
    """One download. `at`: the address of the version; `name`: what it is called in refusals."""

    http: "Transport"
    at: str
    name: str
    folder: str
    on_bytes: Moved
    _made: set[str] = field(default_factory=set)

    def run(self) -> list[Path]:
        """Download; return the files, sorted. Raises Conflict naming what is here already and is not the same, and then
        nothing is written; InvalidSpec for what cannot be right, StorageFailed, Unavailable.
        """
        tree = self.http.read(answers.DatasetTree, "GET", f"{self.at}/tree", timeout=300.0)
        try:
            self._demand_inside(tree.files)
            contents, found = self._plan(tree.files)
            small = [one for one in contents.values() if one.size <= tree.small_bytes]
            for one in (one for one in contents.values() if one.files and one.size > tree.small_bytes):
                self._fetch_large(one)
            for first, count in runs_of([bool(one.files) for one in small]):
                self._fetch_small(small, first, count)
            self._finish(tree.files)
        except OSError as error:
            place = error.filename or self.folder
            raise StorageFailed(said.download_not_written(place, error.strerror or str(error))) from error
        return sorted(Path(one) for one in found)

    def _demand_inside(self, files: list[answers.DatasetEntry]) -> None:
        wrong = [
            problem_of(one.path[:200], said.leads_out_of_the_folder())
            for one in files
            if any(part in ("", ".", "..") for part in one.path.split("/"))
            or (one.link is not None and not inside(one.path, one.link))
        ]
        if wrong:
            raise InvalidSpec(said.dataset_not_downloaded(self.name), problems=tuple(wrong[:_NAMED]))

    def _plan(self, files: list[answers.DatasetEntry]) -> tuple[dict[str, _Content], list[str]]:
        """Return every content with the files to be written of it, none where all are here; and all files."""
        contents: dict[str, _Content] = {}
        found, clashes = list[str](), list[Problem]()
        for one in files:
            place = os.path.join(self.folder, one.path)
            if one.sha256 is None:
                if os.path.lexists(place) and not _is_same(place, one):
                    clashes.append(problem_of(place, said.exists()))
                continue
            content = contents.setdefault(one.sha256, _Content(one.sha256, one.size or 0))
            found.append(place)
            if not os.path.lexists(place):
                content.files.append((one.path, place, one.executable))
            elif _is_here(place, content):
                self.on_bytes(content.size)
            else:
                clashes.append(problem_of(place, said.exists()))
        if clashes:
            raise Conflict(said.files_exist(len(clashes)), problems=tuple(clashes[:_NAMED]))
        return contents, found

    # -- contents --------------------------------------------------------------------------------------------------

    def _fetch_small(self, small: list[_Content], first: int, count: int) -> None:
        """Bring small contents, from number `first` on; where the line breaks, from the one that did not come."""
        done = tries = 0
        while done < count:
            asked = {"first": first + done, "count": count - done}
            before = done
            try:
                for name, data in _framed(self.http.download(f"{self.at}/contents", params=asked)):
                    self._keep(small[first + done], name, data)
                    done += 1
                    if done == count:
                        break
                else:
                    raise Unavailable(said.dataset_not_downloaded(self.name))  # it was cut off
            except Unavailable:
                tries = 0 if done > before else tries + 1
                if tries >= TRIES:
                    raise
                time.sleep(min(0.2 * 2**tries, 5.0))

    def _keep(self, content: _Content, name: str, data: bytes) -> None:
        if name != content.sha256 or hashlib.sha256(data).hexdigest() != name:
            raise self._otherwise(content)
        for _, place, executable in content.files:
            with self._arriving(content, place, executable) as file:
                file.truncate()
                file.write(data)
            _put(content, place)
            self.on_bytes(len(data))

    def _fetch_large(self, content: _Content) -> None:
        """Bring one content; where the line breaks, from the byte that did not come."""
        (path, place, executable), *others = content.files
        with self._arriving(content, place, executable) as file:
            self._receive(content, path, file)
            for _, other, runs in others:
                file.seek(0)
                with self._arriving(content, other, runs) as copy:
                    copy.truncate()
                    shutil.copyfileobj(file, copy, _BLOCK)
                _put(content, other)
                self.on_bytes(content.size)
        _put(content, place)

    def _receive(self, content: _Content, path: str, file: IO[bytes]) -> None:
        """Let `file` hold the whole content; what it has is taken for its beginning."""
        hashed, size, tries = hashlib.sha256(), 0, 0
        while size < content.size and (block := file.read(min(_BLOCK, content.size - size))):
            hashed.update(block)
            size += len(block)
        self.on_bytes(size)
        while size < content.size:
            before = size
            try:
                for block in self._from(path, size):
                    file.write(block)
                    hashed.update(block)
                    size += len(block)
                    self.on_bytes(len(block))
                if size < content.size:
                    raise Unavailable(said.dataset_not_downloaded(self.name))  # it was cut off
            except Unavailable:
                tries = 0 if size > before else tries + 1
                if tries >= TRIES:
                    raise
                time.sleep(min(0.2 * 2**tries, 5.0))
        if hashed.hexdigest() != content.sha256:
            os.unlink(_part(content, content.files[0][1]))
            raise self._otherwise(content)

    def _from(self, path: str, offset: int) -> Iterator[bytes]:
        headers = {"range": f"bytes={offset}-"} if offset else {}
        return self.http.download(f"{self.at}/files/content", params={"path": path}, headers=headers)

    def _otherwise(self, content: _Content) -> InvalidSpec:
        wrong = problem_of(content.files[0][0] if content.files else content.sha256, said.arrived_otherwise())
        return InvalidSpec(said.dataset_not_downloaded(self.name), problems=(wrong,))

    # -- what is no file -------------------------------------------------------------------------------------------

    def _finish(self, files: list[answers.DatasetEntry]) -> None:
        """Make the links and the empty folders, when all files are here."""
        for one in files:
            place = os.path.join(self.folder, one.path)
            if one.folder:
                os.makedirs(place, exist_ok=True)
            elif one.link is not None and not os.path.lexists(place):
                os.makedirs(os.path.dirname(place), exist_ok=True)
                os.symlink(one.link, place)
        os.makedirs(self.folder, exist_ok=True)

    @contextmanager
    def _arriving(self, content: _Content, place: str, executable: bool) -> Iterator[IO[bytes]]:
        """Give the file beside `place` for what comes of a content, with what came of it before."""
        parent = os.path.dirname(place)
        if parent not in self._made:
            os.makedirs(parent, exist_ok=True)
            self._made.add(parent)
        mode = 0o777 if executable else 0o666
        with open(os.open(_part(content, place), os.O_RDWR | os.O_CREAT | _NO_LINK, mode), "r+b", buffering=0) as file:
            yield file


def _part(content: _Content, place: str) -> str:
    """Return where a content lies until it is whole: short, so that it is never too long for a file system."""
    return os.path.join(os.path.dirname(place), f".{content.sha256[:16]}.part")


def _put(content: _Content, place: str) -> None:
    os.replace(_part(content, place), place)


def _is_here(place: str, content: _Content) -> bool:
    """Return whether the file at `place` is a content."""
    info = os.lstat(place)
    if not stat.S_ISREG(info.st_mode) or info.st_size != content.size:
        return False
    hashed = hashlib.sha256()
    with open(place, "rb", buffering=0) as file:
        while block := file.read(_BLOCK):
            hashed.update(block)
    return hashed.hexdigest() == content.sha256


def _is_same(place: str, entry: answers.DatasetEntry) -> bool:
    """Return whether the link or folder of an entry is at `place`."""
    if entry.link is not None:
        return os.path.islink(place) and os.readlink(place) == entry.link
    return os.path.isdir(place)


def runs_of(wanted: list[bool]) -> list[tuple[int, int]]:
    """Return (first, count) of what is to be asked for, so that all that are wanted come, with few others."""
    runs: list[tuple[int, int]] = []
    for at in (at for at, one in enumerate(wanted) if one):
        if runs and at - sum(runs[-1]) <= NEAR:
            runs[-1] = (runs[-1][0], at + 1 - runs[-1][0])
        else:
            runs.append((at, 1))
    return runs


def _framed(blocks: Iterator[bytes]) -> Iterator[tuple[str, bytes]]:
    """Yield (sha256, content) of what `core.formats.frames.frame` made, as it comes; what is cut off is left out."""
    waiting = bytearray()
    for block in blocks:
        waiting += block
        at = 0
        while len(waiting) - at >= HEAD.size:
            name, length = HEAD.unpack_from(waiting, at)
            if len(waiting) - at - HEAD.size < length:
                break
            at += HEAD.size + length
            yield name.hex(), bytes(waiting[at - length : at])
        del waiting[:at]
