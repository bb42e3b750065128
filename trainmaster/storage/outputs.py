"""Saving what a job left: /model and /workspace/outputs become an immutable model version (R138, R147-R149).

    <folder>/files/model/...  files/outputs/...  manifest.json

Called when the engine has proven that nothing of the job runs any more. Files are cloned where the file system can
(reflink) and copied where it cannot, never hard-linked: whatever still held the old inode could change a "version".
Holes stay holes (see storage/sparse). `write` makes a folder of its own, durable and read-only; `publish` renames it: a
version is there whole or not at all, and whoever looks finds by its manifest which job and attempt made it.
"""

import errno
import json
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

from trainmaster.core.errors import StorageFailed, Unavailable
from trainmaster.core.folders.room import Use
from trainmaster.core.folders.tree import TreeEntry, inside, link_digest, tree_digest
from trainmaster.messages import render
from trainmaster.messages.jobs import files as said
from trainmaster.messages.said import Said
from trainmaster.storage import sparse
from trainmaster.storage.safe import MAX_DEPTH, open_beneath, walk
from trainmaster.storage.trees import kind_of, remove_tree, sync, sync_tree

MANIFEST: Final = "manifest.json"
_WENT: Final = ".went"
"""A link beside the folder that is renamed, to where that goes."""
FILES: Final = "files"
MAX_FILES: Final = 200_000
_FULL: Final = (errno.ENOSPC, errno.EDQUOT)
Sources = tuple[tuple[str, str, str], ...]
"""(name in the version, folder, how its tasks saw it)."""


@dataclass(frozen=True, slots=True)
class Saved:
    """A version: `digest` of its content (sha256 hex), how much it is, and what was left out and why."""

    digest: str
    files: int
    size_bytes: int
    manifest: dict[str, Any]
    skipped: tuple[dict[str, Any], ...] = ()


@dataclass(slots=True)
class _Copy:
    """State of one copy run."""

    target: str
    go_on: sparse.GoOn
    records: list[dict[str, Any]] = field(default_factory=list)
    skipped: list[dict[str, Any]] = field(default_factory=list)
    folders: set[str] = field(default_factory=set)
    size: int = 0

    def skip(self, path: str, why: Said) -> None:
        self.skipped.append({"path": path, "reason": render.text(why), "said": why.to_json()})


def write(
    model_dir: str,
    outputs_dir: str,
    folder: str,
    *,
    provenance: dict[str, Any],
    max_mib: int = 0,
    go_on: sparse.GoOn = lambda: None,
    demand: Callable[[Use], None] = lambda use: None,
) -> Saved:
    """Make a version of the two folders in `folder`, which may not be a version yet; return what it holds. O(data),
    holes are free.

    `provenance` (JSON-able; with ``job`` and ``attempt``) goes into the manifest. Links out of the tree, devices, pipes
    and unreadable files are left out and named in `skipped`. Raises StorageFailed when there are too many files or more
    than `max_mib` (0: any), or the disk could never hold them, Unavailable while it is too full, and whatever `go_on`
    raises, or `demand`, which is told what it will take before anything is copied; then nothing is left behind.
    """
    remove_tree(folder)
    copy = _Copy(os.path.join(folder, FILES), go_on)
    sources = (("model", model_dir, "/model/"), ("outputs", outputs_dir, "/workspace/outputs/"))
    try:
        os.makedirs(copy.target)
        use = _weigh(sources, go_on)
        _demand_room(copy, use.bytes, max_mib)
        demand(use)
        for name, source, seen_as in sources:
            _copy_tree(copy, source, name, seen_as)
        return _finish(copy, folder, provenance)
    except OSError as error:
        discard(folder)
        if error.errno in _FULL:
            raise Unavailable(said.no_room_for_outputs()) from error
        raise StorageFailed(said.outputs_not_saved(str(error.strerror))) from error
    except BaseException:
        discard(folder)
        raise


def discard(folder: str) -> None:
    """Remove what `write` made, as far as it can be."""
    with suppress(OSError):
        remove_tree(folder)


def _weigh(sources: Sources, go_on: sparse.GoOn) -> Use:
    """Return what the files take on the disk. Raises StorageFailed when there are too many of them."""
    bytes_, entries = 0, 0
    for _, source, _ in sources:
        for _, info in walk(source, max_entries=MAX_FILES + 1):
            go_on()
            bytes_ += info.st_blocks * 512 if stat.S_ISREG(info.st_mode) else 0
            entries += 1
    if entries > MAX_FILES:
        raise StorageFailed(said.outputs_too_many_files(MAX_FILES))
    return Use(bytes_, entries)


def _demand_room(copy: _Copy, needed: int, max_mib: int) -> None:
    if max_mib and needed > max_mib << 20:
        raise StorageFailed(said.outputs_too_large(max_mib))
    room = os.statvfs(copy.target)
    if needed <= room.f_bavail * room.f_frsize or _clones(copy.target):
        return
    if needed > room.f_blocks * room.f_frsize:
        raise StorageFailed(said.outputs_larger_than_disk(needed >> 20))
    raise Unavailable(said.no_room_for_outputs())


def _clones(folder: str) -> bool:
    """Return whether files in `folder` can share their blocks: a copy then takes no room."""
    names = [os.path.join(folder, name) for name in ("clone-of", "clone")]
    one, two = (os.open(name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600) for name in names)
    try:
        return sparse.clone(one, two)
    finally:
        for fd, name in ((one, names[0]), (two, names[1])):
            os.close(fd)
            os.unlink(name)


def publish(folder: str, target: str) -> None:
    """Let what `write` made be the version `target`, which nothing may be yet. Whoever ends before `forget` finds it as
    `published`.

    Raises OSError.
    """
    beside = os.path.dirname(folder)
    forget(folder)
    os.symlink(os.path.relpath(target, beside), folder + _WENT)
    sync(beside)
    os.replace(folder, target)
    sync(os.path.dirname(target))


def published(folder: str, provenance: dict[str, Any]) -> tuple[str, Saved] | None:
    """Return where the version of `folder` lies and what it holds, None when it was not published: its number is not
    looked for, for others may have counted on since.
    """
    try:
        target = os.path.normpath(os.path.join(os.path.dirname(folder), os.readlink(folder + _WENT)))
        with open(os.path.join(target, MANIFEST), "rb") as file:
            manifest = json.load(file)
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return None
    if any(manifest["provenance"].get(key) != provenance.get(key) for key in ("job", "attempt")):
        return None  # it was not published: another version took the number
    return target, _saved(manifest)


def forget(folder: str) -> None:
    """Let go of where the version of `folder` lies: it is known by now."""
    with suppress(FileNotFoundError):
        os.unlink(folder + _WENT)


def _saved(manifest: dict[str, Any]) -> Saved:
    files = sum(record["kind"] in "fx" for record in manifest["files"])
    return Saved(manifest["digest"], files, manifest["size_bytes"], manifest, tuple(manifest["skipped"]))


def _copy_tree(copy: _Copy, source: str, name: str, seen_as: str) -> None:
    for path, info in walk(source, max_entries=MAX_FILES + 1):
        copy.go_on()
        shown = f"{name}/{path}"
        kind = kind_of(info.st_mode)
        try:
            path.encode()
            if kind == "folder":
                os.makedirs(os.path.join(copy.target, shown), exist_ok=True)
                copy.folders.add(shown)
                if path.count("/") >= MAX_DEPTH - 1:
                    copy.skip(shown, said.output_too_deep(MAX_DEPTH))
            elif kind == "link":
                _copy_link(copy, source, path, shown, seen_as)
            elif kind == "file":
                _copy_file(copy, source, path, shown)
            else:
                copy.skip(shown, said.output_is_no_file())
        except UnicodeError:
            copy.skip(ascii(shown), said.output_name_not_utf8())
        except PermissionError:
            copy.skip(shown, said.output_not_readable())
        except FileNotFoundError:
            copy.skip(shown, said.output_disappeared())


def _copy_link(copy: _Copy, source: str, path: str, shown: str, seen_as: str) -> None:
    target = os.readlink(os.path.join(source, path))
    if target.startswith(seen_as):  # an absolute path inside the task's own tree: make it relative
        target = "../" * path.count("/") + target.removeprefix(seen_as)
    if not inside(path, target):
        copy.skip(shown, said.output_leads_out(target))
        return
    _parent(copy, shown)
    os.symlink(target, os.path.join(copy.target, shown))
    copy.records.append({"path": shown, "kind": "l", "sha256": link_digest(target), "size": 0, "target": target})


def _parent(copy: _Copy, shown: str) -> None:
    os.makedirs(os.path.dirname(os.path.join(copy.target, shown)), exist_ok=True)


def _copy_file(copy: _Copy, source: str, path: str, shown: str) -> None:
    fd = open_beneath(source, path)
    try:
        info = os.fstat(fd)
        _parent(copy, shown)
        executable = bool(info.st_mode & stat.S_IXUSR)
        out = os.open(os.path.join(copy.target, shown), os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            content = sparse.copy(fd, out, info.st_size, copy.go_on)
            os.utime(out, ns=(info.st_mtime_ns, info.st_mtime_ns))
            os.fchmod(out, 0o555 if executable else 0o444)
        finally:
            os.close(out)
    finally:
        os.close(fd)
    copy.size += info.st_size
    record = {"path": shown, "kind": "x" if executable else "f", "sha256": content.digest, "size": info.st_size}
    copy.records.append({**record, "sparse": True} if content.sparse else record)


def _finish(copy: _Copy, temporary: str, provenance: dict[str, Any]) -> Saved:
    """Write the manifest, make everything durable and read-only."""
    filled = {parent for record in copy.records for parent in _parents(record["path"])}
    filled |= {parent for name in copy.folders for parent in _parents(name)}
    for name in sorted(copy.folders - filled):
        copy.records.append({"path": name, "kind": "d", "sha256": link_digest(""), "size": 0})
    entries = [TreeEntry(record["path"], record["kind"], record["sha256"]) for record in copy.records]
    manifest = {
        "format": 1,
        "digest": tree_digest(entries),
        "size_bytes": copy.size,
        "provenance": provenance,
        "skipped": copy.skipped,
        "files": sorted(copy.records, key=lambda record: str(record["path"])),
    }
    with open(os.path.join(temporary, MANIFEST), "x", encoding="utf-8") as file:
        json.dump(manifest, file, ensure_ascii=False, indent=1)
        os.fchmod(file.fileno(), 0o444)
    sync_tree(temporary)
    folders = [name for name, info in walk(copy.target) if stat.S_ISDIR(info.st_mode)]
    for name in (*reversed(folders), ""):
        os.chmod(os.path.join(copy.target, name), 0o555)
    return _saved(manifest)


def _parents(path: str) -> Iterator[str]:
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path
