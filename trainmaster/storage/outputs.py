"""Saving what a job left: /model and /workspace/outputs become an immutable model version (R138, R147-R149).

    <target>/files/model/...  files/outputs/...  manifest.json

Called when the engine has proven that nothing of the job runs any more. Files are cloned where the file system can
(reflink) and copied where it cannot, never hard-linked: whatever still held the old inode could change a "version".
Written under a temporary name, made durable, made read-only, then renamed: a version is there whole or not at all, and
a second call for the same job and attempt returns the first one's result.
"""

import errno
import fcntl
import hashlib
import json
import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

from trainmaster.core.errors import Conflict, StorageFailed
from trainmaster.core.tree import TreeEntry, inside, link_digest, tree_digest
from trainmaster.storage.safe import open_beneath, walk
from trainmaster.storage.trees import kind_of, remove_tree, sync_tree

MANIFEST: Final = "manifest.json"
FILES: Final = "files"
MAX_FILES: Final = 200_000
_BLOCK: Final = 1 << 20
_FICLONE: Final = 0x40049409


@dataclass(frozen=True, slots=True)
class Saved:
    """A version: `digest` of its content (sha256 hex), how much it is, and what was left out and why."""

    digest: str
    files: int
    size_bytes: int
    manifest: dict[str, Any]
    skipped: tuple[dict[str, str], ...] = ()


@dataclass(slots=True)
class _Copy:
    """State of one copy run."""

    target: str
    budget: int | None
    records: list[dict[str, Any]] = field(default_factory=list)
    skipped: list[dict[str, str]] = field(default_factory=list)
    folders: set[str] = field(default_factory=set)
    size: int = 0

    def skip(self, path: str, reason: str) -> None:
        self.skipped.append({"path": path, "reason": reason})


def has_entries(*folders: str) -> bool:
    """Return whether any of the folders holds anything."""
    return any(next(walk(path, max_entries=1), None) is not None for path in folders)


def save(
    model_dir: str, outputs_dir: str, target_dir: str, *, provenance: dict[str, Any], max_mib: int | None = None
) -> Saved:
    """Make the version `target_dir` from the two folders; return what it holds. O(bytes).

    `provenance` (JSON-able; with ``job`` and ``attempt``) goes into the manifest. Links out of the tree, devices, pipes
    and unreadable files are left out and named in `skipped`. Raises StorageFailed when it does not fit (the disk, or
    `max_mib`) and Conflict when the target holds something else; then nothing is left behind.
    """
    done = _existing(target_dir, provenance)
    if done is not None:
        return done
    temporary = f"{target_dir}.saving-{provenance.get('job', '')}-{provenance.get('attempt', 0)}"
    remove_tree(temporary)
    copy = _Copy(os.path.join(temporary, FILES), None if max_mib is None else max_mib << 20)
    try:
        os.makedirs(copy.target)
        for name, source, seen_as in (("model", model_dir, "/model/"), ("outputs", outputs_dir, "/workspace/outputs/")):
            _copy_tree(copy, source, name, seen_as)
        saved = _finish(copy, temporary, provenance)
        os.replace(temporary, target_dir)
        _sync_folder(os.path.dirname(target_dir))
    except OSError as error:
        with suppress(OSError):
            remove_tree(temporary)
        if error.errno in (errno.ENOTEMPTY, errno.EEXIST):
            return _existing(target_dir, provenance) or _refuse(target_dir)
        message = f"the outputs could not be saved: {error.strerror}"
        raise StorageFailed(message, remedy="Free space and retry.") from error
    except StorageFailed:
        remove_tree(temporary)
        raise
    return saved


def _existing(target: str, provenance: dict[str, Any]) -> Saved | None:
    try:
        with open(os.path.join(target, MANIFEST), "rb") as file:
            manifest = json.load(file)
    except FileNotFoundError:
        return None
    except ValueError:
        _refuse(target)
    if any(manifest["provenance"].get(key) != provenance.get(key) for key in ("job", "attempt")):
        _refuse(target)
    return _saved(manifest)


def _refuse(target: str) -> Saved:
    raise Conflict(f"the model version {os.path.basename(target)} exists already", remedy="Save under another version.")


def _saved(manifest: dict[str, Any]) -> Saved:
    files = sum(record["kind"] in "fx" for record in manifest["files"])
    return Saved(manifest["digest"], files, manifest["size_bytes"], manifest, tuple(manifest["skipped"]))


def _copy_tree(copy: _Copy, source: str, name: str, seen_as: str) -> None:
    for path, info in walk(source):
        shown = f"{name}/{path}"
        kind = kind_of(info.st_mode)
        try:
            path.encode()
            if kind == "folder":
                os.makedirs(os.path.join(copy.target, shown), exist_ok=True)
                copy.folders.add(shown)
            elif kind == "link":
                _copy_link(copy, source, path, shown, seen_as)
            elif kind == "file":
                _copy_file(copy, source, path, shown)
            else:
                copy.skip(shown, "a device, pipe or socket")
        except UnicodeError:
            copy.skip(ascii(shown), "a name that is not UTF-8")
        except PermissionError:
            copy.skip(shown, "not readable")
        except FileNotFoundError:
            copy.skip(shown, "disappeared while it was saved")
        if len(copy.records) > MAX_FILES:
            raise StorageFailed(f"the outputs hold more than {MAX_FILES} files", remedy="Pack them into fewer files.")


def _copy_link(copy: _Copy, source: str, path: str, shown: str, seen_as: str) -> None:
    target = os.readlink(os.path.join(source, path))
    if target.startswith(seen_as):  # absolute, as the task saw it, but in its own tree
        target = "../" * path.count("/") + target.removeprefix(seen_as)
    if not inside(path, target):
        copy.skip(shown, f"a link out of the tree, to {target}")
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
        if copy.budget is not None and copy.size + info.st_size > copy.budget:
            message = f"the outputs are larger than the {copy.budget >> 20} MiB allowed"
            raise StorageFailed(message, remedy="Save less, or raise the limit.")
        _parent(copy, shown)
        executable = bool(info.st_mode & stat.S_IXUSR)
        out = os.open(os.path.join(copy.target, shown), os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            digest, size = _transfer(fd, out)
            os.utime(out, ns=(info.st_mtime_ns, info.st_mtime_ns))
            os.fchmod(out, 0o555 if executable else 0o444)
        finally:
            os.close(out)
    finally:
        os.close(fd)
    copy.size += size
    copy.records.append({"path": shown, "kind": "x" if executable else "f", "sha256": digest, "size": size})


def _transfer(fd: int, out: int) -> tuple[str, int]:
    """Bring the content of `fd` to `out`; return (sha256, size) of what was *written*. One read of every byte."""
    try:
        fcntl.ioctl(out, _FICLONE, fd)
        cloned = True
    except OSError:
        cloned = False
    digest, size = hashlib.sha256(), 0
    for block in _blocks(out if cloned else fd):
        digest.update(block)
        size += len(block)
        if cloned:
            continue
        if not block.strip(b"\0"):  # zero bytes stay a hole: a sparse file takes no more room than it did
            os.lseek(out, len(block), os.SEEK_CUR)
            continue
        view = memoryview(block)
        while view:
            view = view[os.write(out, view) :]
    if not cloned:
        os.ftruncate(out, size)
    return digest.hexdigest(), size


def _blocks(fd: int) -> Iterator[bytes]:
    while block := os.read(fd, _BLOCK):
        yield block


def _finish(copy: _Copy, temporary: str, provenance: dict[str, Any]) -> Saved:
    """Write the manifest, make everything durable and read-only."""
    filled = {parent for record in copy.records for parent in _parents(record["path"])}
    filled |= {parent for name in copy.folders for parent in _parents(name)}
    for name in sorted(copy.folders - filled):
        copy.records.append({"path": name, "kind": "d", "sha256": link_digest(""), "size": 0})
    entries = [TreeEntry(record["path"], record["kind"], record["sha256"]) for record in copy.records]
    manifest = {
        "format": 1, "digest": tree_digest(entries), "size_bytes": copy.size, "provenance": provenance,
        "skipped": copy.skipped, "files": sorted(copy.records, key=lambda record: str(record["path"])),
    }  # fmt: skip
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


def _sync_folder(path: str) -> None:
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
