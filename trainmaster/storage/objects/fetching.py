"""Fetches what lies below a prefix into a folder that can only be read.

    fetched/.objects/<2 hex>/<name>     an object that is whole, by what the store says of it
    fetched/.arriving/<name>            one that is on its way: what is there is gone on from
    fetched/<key>/...                   a folder: hard links to objects

A folder is built beside the others and renamed when it is whole and durable. A name stands for workspace, key, place,
size and ETag of an object, so nobody is given what another key brought. Blocking: call it from worker threads.
"""

import errno
import fcntl
import hashlib
import os
import shutil
import time
from collections.abc import Collection, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from trainmaster.core.errors import InvalidSpec
from trainmaster.core.folders.layout import Layout
from trainmaster.messages.assets import objects as said
from trainmaster.storage.datasets.building import make_folders, seal
from trainmaster.storage.datasets.listing import MAX_ENTRIES, TreeListing, judged
from trainmaster.storage.objects.bucket import GoOn, StoredObject, StoreTarget
from trainmaster.storage.objects.reaching import StoreFailed
from trainmaster.storage.trees import remove_tree, sync, sync_tree

if TYPE_CHECKING:
    from trainmaster.storage.objects.wire import Bucket

OBJECTS, ARRIVING, BUILDING = ".objects", ".arriving", ".building"
AT_ONCE: Final = 4
PATIENCE_S: Final = 60.0
"""For which an object may bring nothing before the fetch is given up for now."""
PAUSE_S: Final = 1.0
_MIB: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class FetchPlan:
    """What is to be fetched. `key`: the name of the folder; `objects` by the names under which they are kept."""

    key: str
    listing: TreeListing
    objects: Mapping[str, StoredObject]

    @property
    def size_bytes(self) -> int:
        """Bytes of all objects."""
        return self.listing.size_bytes


def plan_of(bucket: "Bucket", workspace: str, path: str, shown: str, most_mib: int) -> FetchPlan:
    """Return what lies at `path` below a connection: what lies below it as a folder, or the one object of that name.
    `shown`: what the place is called to a person. Raises StoreFailed, also where there is nothing, or a name that can
    be no file.
    """
    place = bucket.target.place(path)
    within = f"{place}/" if place else ""
    found: dict[str, StoredObject] = {}
    for one in bucket.listed(within):
        found[one.key.removeprefix(within)] = one
        if len(found) > MAX_ENTRIES:
            raise StoreFailed(said.store_too_many_objects(shown, MAX_ENTRIES))
    if not found and place and (one_object := bucket.find(place)) is not None:
        found[place.rpartition("/")[2]] = one_object
    own = identity_of(bucket.target, workspace)
    items = list(_items(found, own))
    if not items:
        raise StoreFailed(said.store_nothing_there(shown))
    size = sum(one.size for one in found.values())
    if most_mib and size > most_mib * _MIB:
        raise StoreFailed(said.store_too_much(shown, size // _MIB, most_mib))
    try:
        listing = judged(items, 0)
    except InvalidSpec as error:
        first = error.problems[0]
        raise StoreFailed(said.store_names_not_usable(shown, len(error.problems), first.path, first.said)) from None
    key = hashlib.sha256(f"{own}\0{within}\0{listing.digest}".encode()).hexdigest()[:40]
    return FetchPlan(key, listing, {_name(own, one): one for one in found.values()})


def identity_of(target: StoreTarget, workspace: str) -> str:
    """Return what all objects have in common that one key of a workspace reads in a bucket."""
    parts = (workspace, target.endpoint, target.bucket, target.key_id)
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _name(own: str, one: StoredObject) -> str:
    told = f"{own}\0{one.key}\0{one.size}\0{one.etag}"
    return hashlib.sha256(told.encode("utf-8", "surrogatepass")).hexdigest()


def _items(found: Mapping[str, StoredObject], own: str) -> Iterator[dict[str, Any]]:
    """Yield objects as a list of files has them. An empty object whose name ends in / is the mark of a folder."""
    for path, one in found.items():
        if (path == "" or path.endswith("/")) and one.size == 0:
            if (folder := path.rstrip("/")) and path == f"{folder}/" and folder not in found:
                yield {"path": folder, "folder": True}
        else:
            yield {"path": path, "size": one.size, "sha256": _name(own, one)}


@dataclass(slots=True)
class Arrived:
    """How far a fetch is."""

    files: int = 0
    size_bytes: int = 0


class Fetch:
    """Brings what a plan says, and builds its folder. `go_on` raises where nobody wants it any more."""

    def __init__(self, layout: Layout, plan: FetchPlan, go_on: GoOn, patience_s: float = PATIENCE_S) -> None:
        self._root, self._plan, self._go_on, self._patience_s = layout.fetched, plan, go_on, patience_s
        self.arrived = Arrived()

    def missing_bytes(self) -> int:
        """Return how much is to come. O(objects)."""
        return sum(one.size for name, one in self._plan.objects.items() if not os.path.exists(self._kept(name)))

    def run(self, bucket: "Bucket") -> str:
        """Return the folder, whole. Raises StoreFailed, OSError, and what `go_on` raises."""
        files = {entry.sha256 for entry in self._plan.listing.entries if entry.kind == "f"}
        wanted = [(name, one) for name, one in self._plan.objects.items() if name in files]
        os.makedirs(os.path.join(self._root, ARRIVING), 0o700, exist_ok=True)
        with ThreadPoolExecutor(AT_ONCE, "fetch") as pool:
            work = [pool.submit(self._bring, bucket, name, one) for name, one in wanted]
            try:
                for one in work:
                    one.result()
            except BaseException:
                for one in work:
                    one.cancel()
                raise
        return self._build()

    def _kept(self, name: str) -> str:
        return os.path.join(self._root, OBJECTS, name[:2], name)

    # -- one object --------------------------------------------------------------------------------------------

    def _bring(self, bucket: "Bucket", name: str, one: StoredObject) -> None:
        """Let an object be there whole."""
        kept, part = self._kept(name), os.path.join(self._root, ARRIVING, name)
        if not os.path.exists(kept):
            os.makedirs(os.path.dirname(kept), 0o700, exist_ok=True)
            with self._held(part) as fd:
                if os.path.exists(kept):  # another job has brought it meanwhile
                    os.unlink(part)
                else:
                    self._fill(bucket, one, fd)
                    os.fchmod(fd, 0o444)
                    os.rename(part, kept)
        else:
            self.arrived.size_bytes += one.size
        self.arrived.files += 1

    @contextmanager
    def _held(self, part: str) -> Iterator[int]:
        """Open what there is of an object, for us alone; whoever else brings it is waited for."""
        while True:
            self._go_on()
            fd = os.open(part, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
            try:
                if _lock(fd, part):
                    yield fd
                    return
            finally:
                os.close(fd)
            time.sleep(0.1)

    def _fill(self, bucket: "Bucket", one: StoredObject, fd: int) -> None:
        moved, mismatches = time.monotonic(), 0
        while True:
            before = _size(fd)
            try:
                right = self._go_ahead(bucket, one, fd)
            except StoreFailed as error:
                if error.lasting:
                    raise
                moved = time.monotonic() if _size(fd) > before else moved
                if time.monotonic() - moved > self._patience_s:
                    raise
                self._go_on()
                time.sleep(PAUSE_S)
                continue
            if right:
                return
            os.ftruncate(fd, 0)  # what came is not what was listed: once more from the beginning
            mismatches += 1
            if mismatches == 2:
                raise StoreFailed(said.store_content_differs(one.key))

    def _go_ahead(self, bucket: "Bucket", one: StoredObject, fd: int) -> bool:
        """Fetch the rest of an object; return whether the whole of it is what was listed."""
        if _size(fd) > one.size:
            os.ftruncate(fd, 0)
        digest, at, hashed = _hashed(fd), _size(fd), True
        if at < one.size:
            reading = bucket.read(one, at)
            hashed = reading.hashed
            if reading.offset != at:  # it knows no ranges
                os.ftruncate(fd, 0)
                digest, at = _hashed(fd), 0
            for block in reading.blocks():
                if at + len(block) > one.size:
                    return False
                os.pwrite(fd, block, at)
                digest.update(block)
                at += len(block)
                self.arrived.size_bytes += len(block)
            if at < one.size:
                raise StoreFailed(said.store_broke_off(), lasting=False)
        told = one.etag.lower()
        plain = hashed and len(told) == 32 and all(letter in "0123456789abcdef" for letter in told)
        return not plain or digest.hexdigest() == told

    # -- the folder --------------------------------------------------------------------------------------------

    def _build(self) -> str:
        target = os.path.join(self._root, self._plan.key)
        tree = os.path.join(self._root, BUILDING, self._plan.key)
        remove_tree(tree)
        os.makedirs(tree, 0o700)
        made = {""}
        for entry in self._plan.listing.entries:
            self._go_on()
            make_folders(tree, entry.path if entry.kind == "d" else entry.path.rpartition("/")[0], made)
            if entry.kind != "d":
                _link(self._kept(entry.sha256), os.path.join(tree, entry.path))
        sync_tree(tree)
        seal(tree)
        os.chmod(tree, 0o755)  # a folder that cannot be written cannot be moved
        remove_tree(target)
        os.rename(tree, target)
        os.chmod(target, 0o555)
        sync(self._root)
        return target


def _lock(fd: int, path: str) -> bool:
    """Return whether the file that is open is ours now, and still that of this name."""
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return os.path.samestat(os.fstat(fd), os.stat(path))
    except (BlockingIOError, FileNotFoundError):
        return False


def _hashed(fd: int) -> Any:
    digest, at = hashlib.md5(usedforsecurity=False), 0
    while block := os.pread(fd, _MIB, at):
        digest.update(block)
        at += len(block)
    return digest


def _size(fd: int) -> int:
    return os.fstat(fd).st_size


def _link(kept: str, target: str) -> None:
    try:
        os.link(kept, target)
    except OSError as error:
        if error.errno != errno.EMLINK:
            raise
        shutil.copyfile(kept, target)
        os.chmod(target, 0o444)


def sweep_objects(root: str, before: float, keep: Collection[str] = ()) -> None:
    """Remove objects that no folder links to, and what is half there, that nobody went on with since `before`; none of
    those of the names `keep`.
    """
    for folder in (os.path.join(root, ARRIVING), *_folders(os.path.join(root, OBJECTS))):
        with suppress(FileNotFoundError), os.scandir(folder) as entries:
            for entry in entries:
                info = entry.stat(follow_symlinks=False)
                if info.st_nlink == 1 and info.st_ctime < before and entry.name not in keep:
                    with suppress(FileNotFoundError):
                        os.unlink(entry.path)


def _folders(root: str) -> list[str]:
    with suppress(FileNotFoundError):
        return [os.path.join(root, name) for name in os.listdir(root)]
    return []
