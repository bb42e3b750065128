"""Uploads of data sets on their way: ``.uploads/<id>/`` with what is wanted and the contents that came so far.

    owner           who
    held            for whom how much room is set aside
    plan.json       who wants what, written last when an upload begins: without it there is none
    got/<sha256>    a whole content; hard links to what the server had already
    part/<sha256>   a content that comes in pieces

Bytes are hashed as they are written. Invariants: what lies in ``got`` has the sha256 by which it is called; of an
upload for which the disk was too full nothing is left. All of it blocks: call it from worker threads.
"""

import hashlib
import os
import shutil
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec

from trainmaster.core.errors import Conflict, NotFound, ProblemList, StorageFailed
from trainmaster.core.folders.layout import Layout
from trainmaster.core.folders.room import Use
from trainmaster.core.folders.tree import EMPTY
from trainmaster.core.formats.frames import frames
from trainmaster.messages.assets import datasets as said
from trainmaster.storage.datasets.listing import ListedFile, TreeListing
from trainmaster.storage.trees import remove_tree
from trainmaster.storage.uploads import MAX_PROBLEMS

PLAN: Final = "plan.json"
OWNER: Final = "owner"
HELD: Final = "held"
WAITS_S: Final = 24 * 3600.0
"""How long an upload waits to be continued."""
_BLOCK: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class DatasetPlan:
    """What an upload is to become: the next version of the data set `name`, or the first one."""

    id: str
    owner: str
    name: str
    workspace: str
    at: float
    entries: tuple[ListedFile, ...]
    description: str = ""
    share: str = "none"

    @property
    def listing(self) -> TreeListing:
        """What it holds."""
        return TreeListing(self.entries)


def uploads_folder(layout: Layout) -> str:
    """Return where uploads lie that are on their way."""
    return os.path.join(layout.datasets, ".uploads")


@dataclass(slots=True)
class _Part:
    """A content that comes in pieces: how much of it is here, and the sha256 of that."""

    size: int
    hashed: Any


@dataclass(slots=True)
class Arrival:
    """One upload. Made by `begin` or `load`."""

    root: str
    plan: DatasetPlan
    sizes: dict[str, int]
    missing: set[str]
    lock: threading.RLock = field(default_factory=threading.RLock)
    _parts: dict[str, _Part] = field(default_factory=dict)
    _busy: set[str] = field(default_factory=set)

    def touch(self) -> bool:
        """Say that it is continued; return whether it is still there."""
        with suppress(OSError):
            os.utime(self.root)
        return self.there()

    def there(self) -> bool:
        """Return whether it can be continued."""
        return os.path.lexists(os.path.join(self.root, PLAN))

    def hold(self, person: str, use: Use) -> None:
        """Keep how much room is set aside for it, and for whom, beside it. Raises StorageFailed."""
        with self._storing(), open(os.path.join(self.root, HELD), "wb") as file:
            file.write(msgspec.json.encode((self.plan.workspace, person, use.bytes, use.files)))

    def got(self, name: str) -> str:
        """Return where a whole content lies."""
        return os.path.join(self.root, "got", name)

    def begun(self) -> dict[str, int]:
        """Return how many bytes are here of each content that is not whole."""
        found = {}
        for name in os.listdir(os.path.join(self.root, "part")):
            if name in self.missing:
                found[name] = os.path.getsize(self._part_path(name))
        return found

    def take_batch(self, body: bytes) -> int:
        """Keep small contents, as `core.formats.frames` has them; return how many were new. Raises InvalidSpec with all
        that is wrong, and then keeps none, StorageFailed.
        """
        problems, found = ProblemList(), dict[str, memoryview]()
        try:
            for name, content in frames(body):
                if name not in self.sizes:
                    problems.add(name, said.content_not_listed())
                elif len(content) != self.sizes[name] or hashlib.sha256(content).hexdigest() != name:
                    problems.add(name, said.content_is_another())
                elif name in self.missing:
                    found[name] = content
                if len(problems.problems) >= MAX_PROBLEMS:
                    break
        except ValueError:
            problems.add("body", said.batch_not_readable())
        problems.raise_if_any(said.contents_not_usable)
        with self._storing():
            for name, content in found.items():
                path = os.path.join(self.root, "part", f"{name}.{threading.get_ident()}")
                with open(path, "wb") as file:
                    file.write(content)
                self._whole(name, path)
        return len(found)

    @contextmanager
    def piece(self, name: str, offset: int) -> Iterator["PieceWriter"]:
        """Give what takes the bytes of a content from `offset` on. Raises NotFound for a content that is not listed,
        Conflict where another request sends it, or another part of it is wanted, StorageFailed.
        """
        with self.lock:
            if name not in self.sizes:
                raise NotFound(said.content_not_listed())
            if name in self._busy:
                raise Conflict(said.piece_under_way())
            self._busy.add(name)
        try:
            with self._storing():
                part = self._part(name)
            if part.size != offset:
                raise Conflict(said.piece_elsewhere(part.size, offset))
            yield PieceWriter(self, name, part)
        except BaseException:
            self._parts.pop(name, None)  # hashed anew from what is on the disk
            raise
        finally:
            self._busy.discard(name)

    def _part(self, name: str) -> _Part:
        """Return how far a content is, from the disk where nobody remembers."""
        if name not in self.missing:
            return _Part(self.sizes[name], None)
        if name not in self._parts:
            part = _Part(0, hashlib.sha256())
            with suppress(FileNotFoundError), open(self._part_path(name), "rb") as file:
                while block := file.read(_BLOCK):
                    part.hashed.update(block)
                    part.size += len(block)
            self._parts[name] = part
        return self._parts[name]

    def _part_path(self, name: str) -> str:
        return os.path.join(self.root, "part", name)

    def write(self, name: str, part: _Part, block: bytes) -> None:
        """Write one block at the end of a part."""
        with self._storing():
            fd = os.open(self._part_path(name), os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
            try:
                done = 0
                while done < len(block):
                    done += os.pwrite(fd, block[done:], part.size + done)
            finally:
                os.close(fd)
        part.hashed.update(block)
        part.size += len(block)

    def end_piece(self, name: str, part: _Part) -> bool:
        """Return whether a content is whole now. Raises InvalidSpec where it is another than was said; then it begins
        anew.
        """
        if name not in self.missing or part.size < self.sizes[name]:
            return name not in self.missing
        self._parts.pop(name, None)
        if part.size > self.sizes[name] or part.hashed.hexdigest() != name:
            self.refuse(name)
        with self._storing():
            self._whole(name, self._part_path(name))
        return True

    def refuse(self, name: str) -> None:
        """Forget what came of a content, which is another than was said. Raises InvalidSpec."""
        with suppress(FileNotFoundError):
            os.unlink(self._part_path(name))
        problems = ProblemList()
        problems.add(name, said.content_is_another())
        problems.raise_if_any(said.contents_not_usable)

    def _whole(self, name: str, path: str) -> None:
        os.chmod(path, 0o444)
        os.rename(path, self.got(name))
        self.missing.discard(name)

    @contextmanager
    def _storing(self) -> Iterator[None]:
        """Let nothing be left of it when the disk refuses."""
        try:
            yield
        except OSError as error:
            if not self.there():
                raise NotFound(said.no_such_dataset_upload(self.plan.id)) from error  # it was cancelled meanwhile
            self.discard()
            raise StorageFailed(said.dataset_not_stored(error.strerror or str(error))) from error

    def discard(self) -> None:
        """Remove all of it. Any number of times."""
        with suppress(OSError):
            os.unlink(os.path.join(self.root, PLAN))
        with suppress(OSError):
            remove_tree(self.root)


@dataclass(slots=True)
class PieceWriter:
    """Takes the bytes of one piece: `write` any number of times, then `finish`."""

    arrival: Arrival
    name: str
    part: _Part

    def write(self, block: bytes) -> None:
        """Keep more of it. Raises InvalidSpec for more than was said, StorageFailed."""
        if self.part.size + len(block) > self.arrival.sizes[self.name]:
            self.arrival.refuse(self.name)
        self.arrival.write(self.name, self.part, block)

    def finish(self) -> tuple[int, bool]:
        """Return how many bytes are here, and whether that is all. Raises InvalidSpec, StorageFailed."""
        whole = self.arrival.end_piece(self.name, self.part)
        return self.part.size, whole


def begin(layout: Layout, plan: DatasetPlan, there: Mapping[str, str]) -> Arrival:
    """Begin an upload. `there`: files that hold contents which its owner may see, by sha256. Raises StorageFailed; then
    nothing is left. O(files).
    """
    root, sizes = os.path.join(uploads_folder(layout), plan.id), plan.listing.contents()
    try:
        for name in ("got", "part"):
            os.makedirs(os.path.join(root, name), 0o700)
        missing = {name for name in sizes if not _had(there.get(name), os.path.join(root, "got", name))}
        if EMPTY in missing:
            with open(os.path.join(root, "got", EMPTY), "xb") as file:
                os.fchmod(file.fileno(), 0o444)
            missing.discard(EMPTY)
        _demand_room(root, sum(sizes[name] for name in missing))
        with open(os.path.join(root, OWNER), "x", encoding="utf-8") as file:
            file.write(plan.owner)
        with open(os.path.join(root, PLAN + ".new"), "xb") as file:
            file.write(msgspec.json.encode(plan))
        os.rename(os.path.join(root, PLAN + ".new"), os.path.join(root, PLAN))
        return Arrival(root, plan, sizes, missing)
    except OSError as error:
        remove_tree(root)
        raise StorageFailed(said.dataset_not_stored(error.strerror or str(error))) from error
    except BaseException:
        remove_tree(root)
        raise


def _had(source: str | None, target: str) -> bool:
    """Let `target` be a content that the server has."""
    if source is None:
        return False
    try:
        os.link(source, target, follow_symlinks=False)
    except FileNotFoundError:
        return False  # its version was removed meanwhile
    except OSError:  # as many links as the file system lets a file have
        shutil.copyfile(source, target, follow_symlinks=False)
        os.chmod(target, 0o444)
    return True


def _demand_room(root: str, needed: int) -> None:
    room = os.statvfs(root)
    if needed > room.f_bavail * room.f_frsize:
        raise StorageFailed(said.no_room_for_dataset(-(-needed >> 20)))


def load(layout: Layout, id_: str) -> Arrival:
    """Return an upload as it is on the disk. Raises NotFound. O(files)."""
    root = os.path.join(uploads_folder(layout), id_)
    try:
        with open(os.path.join(root, PLAN), "rb") as file:
            plan = msgspec.json.decode(file.read(), type=DatasetPlan)
        got = set(os.listdir(os.path.join(root, "got")))
    except (OSError, msgspec.MsgspecError):
        raise NotFound(said.no_such_dataset_upload(id_)) from None
    sizes = plan.listing.contents()
    return Arrival(root, plan, sizes, set(sizes) - got)


def owners(layout: Layout) -> list[str]:
    """Return the owner of every upload on its way. O(uploads)."""
    found = []
    with suppress(FileNotFoundError):
        for name in os.listdir(uploads_folder(layout)):
            with suppress(OSError), open(os.path.join(uploads_folder(layout), name, OWNER), encoding="utf-8") as file:
                found.append(file.read())
    return found


def held_uploads(layout: Layout) -> dict[str, tuple[tuple[str, str], Use]]:
    """Return for which workspace and person how much room is set aside for each upload on its way, by its id.
    O(uploads).
    """
    found = {}
    with suppress(FileNotFoundError):
        for name in os.listdir(uploads_folder(layout)):
            root = os.path.join(uploads_folder(layout), name)
            with suppress(OSError, msgspec.MsgspecError), open(os.path.join(root, HELD), "rb") as file:
                workspace, person, size, files = msgspec.json.decode(file.read(), type=tuple[str, str, int, int])
                if os.path.lexists(os.path.join(root, PLAN)):
                    found[name] = (workspace, person), Use(size, files)
    return found
