"""From a whole upload to the folder of a version: hard links to contents of which each is kept once.

    datasets/.contents/<2 hex>/<sha256>[.x]    a content, and the same as something that can be executed
    datasets/<upload>/files/...                a version, beside its manifest.json; nothing in it can be written

A version is made beside the upload and renamed when it is whole and durable, so it is there whole or not at all; a
content that nothing links to any more is swept. Invariant: a version never depends on what is in ``.contents``. All of
it blocks: call it from worker threads.
"""

import errno
import os
import shutil
import stat
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Final

import msgspec

from trainmaster.core.errors import Conflict, StorageFailed
from trainmaster.core.folders.layout import Layout
from trainmaster.messages.assets import datasets as said
from trainmaster.storage.datasets.arriving import Arrival, uploads_folder
from trainmaster.storage.datasets.listing import ListedFile
from trainmaster.storage.trees import remove_tree, sync, sync_tree

MANIFEST: Final = "manifest.json"
_TRIES: Final = 8
_GOING: Final = ".going-"


class DatasetManifest(msgspec.Struct, frozen=True):
    """What a version holds: every file, link and empty folder, by path."""

    format: int
    digest: str
    size_bytes: int
    files: tuple[ListedFile, ...]


def place_of(upload: str) -> str:
    """Return where the version of an upload lies, below the bulk."""
    return f"datasets/{upload}"


def contents_folder(layout: Layout) -> str:
    """Return where contents lie."""
    return os.path.join(layout.datasets, ".contents")


def build(layout: Layout, arrival: Arrival) -> str:
    """Make the version of a whole upload; return its place below the bulk. The same again when it is made already.
    Raises Conflict while something is missing, StorageFailed; then nothing is left.
    """
    place = place_of(arrival.plan.id)
    target = os.path.join(layout.bulk, place)
    with arrival.lock:
        if os.path.isdir(target):
            return place
        if arrival.missing:
            raise Conflict(said.contents_missing(len(arrival.missing)))
        tree = os.path.join(arrival.root, "tree")
        try:
            remove_tree(tree)
            _write(layout, arrival, tree)
            sync_tree(tree)
            seal(os.path.join(tree, "files"))
            os.rename(tree, target)
            sync(layout.datasets)
        except OSError as error:
            arrival.discard()
            raise StorageFailed(said.dataset_not_stored(error.strerror or str(error))) from error
    return place


def _write(layout: Layout, arrival: Arrival, tree: str) -> None:
    files = os.path.join(tree, "files")
    os.makedirs(files, 0o700)
    listing, made = arrival.plan.listing, {""}
    for entry in listing.entries:
        make_folders(files, entry.path if entry.kind == "d" else entry.path.rpartition("/")[0], made)
        path = os.path.join(files, entry.path)
        if entry.kind == "l":
            os.symlink(entry.target, path)
        elif entry.kind != "d":
            _link(layout, arrival.got(entry.sha256), entry, path)
    manifest = DatasetManifest(1, listing.digest, listing.size_bytes, listing.entries)
    with open(os.path.join(tree, MANIFEST), "xb") as file:
        file.write(msgspec.json.encode(manifest))
        os.fchmod(file.fileno(), 0o444)


def make_folders(root: str, path: str, made: set[str]) -> None:
    """Make the folder `path` below `root`, and those above it, but for those in `made`, to which they are added."""
    if path not in made:
        make_folders(root, path.rpartition("/")[0], made)
        os.mkdir(os.path.join(root, path), 0o755)
        made.add(path)


def seal(root: str) -> None:
    """Let nothing be written in the folders of a tree."""
    for here, _, _ in os.walk(root, topdown=False):
        os.chmod(here, 0o555)


def _link(layout: Layout, source: str, entry: ListedFile, target: str) -> None:
    """Let `target` be a link to the content of `entry`, which is kept from `source` on."""
    kept = _kept(layout, entry)
    for _ in range(_TRIES):
        try:
            os.link(kept, target)
            return
        except FileNotFoundError:
            _keep(source, kept, entry)
        except OSError as error:
            if error.errno != errno.EMLINK:
                raise
            _copy(kept, kept, entry)  # the one before stays with those that link to it
    raise OSError(errno.EBUSY, "the content goes again and again", kept)


def _kept(layout: Layout, entry: ListedFile) -> str:
    name = entry.sha256 + (".x" if entry.kind == "x" else "")
    return os.path.join(contents_folder(layout), name[:2], name)


def _keep(source: str, kept: str, entry: ListedFile) -> None:
    """Keep a content: what came itself, or a copy where that is kept already as something else."""
    os.makedirs(os.path.dirname(kept), 0o700, exist_ok=True)
    if os.stat(source).st_nlink > 1:
        _copy(source, kept, entry)
        return
    os.chmod(source, _mode(entry))
    with suppress(FileExistsError):
        os.link(source, kept)


def _copy(source: str, kept: str, entry: ListedFile) -> None:
    made = f"{kept}.{os.getpid()}-{time.monotonic_ns()}.new"
    try:
        shutil.copyfile(source, made)
        os.chmod(made, _mode(entry))
        os.replace(made, kept)
    finally:
        with suppress(FileNotFoundError):
            os.unlink(made)


def _mode(entry: ListedFile) -> int:
    return 0o555 if entry.kind == "x" else 0o444


def manifest_of(layout: Layout, place: str) -> DatasetManifest | None:
    """Return what a version holds, None where that cannot be read."""
    try:
        with open(os.path.join(layout.bulk, place, MANIFEST), "rb") as file:
            return msgspec.json.decode(file.read(), type=DatasetManifest)
    except (OSError, msgspec.MsgspecError):
        return None


def contents_in(layout: Layout, places: Iterator[str], most: int) -> dict[str, str]:
    """Return a file of each content of these versions, by sha256, of the first so many files. O(files)."""
    found: dict[str, str] = {}
    for place in places:
        manifest = manifest_of(layout, place)
        for entry in manifest.files if manifest is not None else ():
            if entry.kind in "fx":
                found.setdefault(entry.sha256, os.path.join(layout.version_files(place), entry.path))
        if len(found) >= most:
            break
    return found


def remove_version(layout: Layout, place: str) -> None:
    """Remove the folder of a version that has no row any more: set aside at once, then file by file."""
    path = os.path.join(layout.bulk, place)
    aside = os.path.join(layout.datasets, _GOING + os.path.basename(place))
    with suppress(FileNotFoundError):
        os.rename(path, aside)
    remove_tree(aside)


def sweep(layout: Layout, places: set[str], before: float) -> Iterator[None]:
    """Remove what is half made or left over: uploads that nobody continued since `before`, folders older than that
    which are in none of `places`, contents that nothing links to. A bounded piece before each yield.
    """
    for entry in _entries(uploads_folder(layout)):
        if entry.stat(follow_symlinks=False).st_mtime < before:
            with suppress(OSError):
                os.unlink(os.path.join(entry.path, "plan.json"))
            remove_tree(entry.path)
            yield
    for entry in _entries(layout.datasets):
        own = entry.name in (".uploads", ".contents")
        if not own and place_of(entry.name) not in places and entry.stat(follow_symlinks=False).st_mtime < before:
            remove_tree(entry.path)
            yield
    for folder in _entries(contents_folder(layout)):
        for entry in _entries(folder.path):
            info = entry.stat(follow_symlinks=False)
            if stat.S_ISREG(info.st_mode) and info.st_nlink == 1 and info.st_ctime < before:
                with suppress(FileNotFoundError):
                    os.unlink(entry.path)
        yield


def _entries(folder: str) -> list["os.DirEntry[str]"]:
    try:
        with os.scandir(folder) as found:
            return list(found)
    except FileNotFoundError:
        return []
