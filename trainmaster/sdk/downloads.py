"""Bringing files here: one file, or a folder that the server sends as an archive. Standard library and the transport
only.

A file is written beside its place under another name and moved there when it is whole; an archive is unpacked only
after its last byte, and nothing in it is written outside the folder asked for. Invariant: what is there under its own
name is whole.
"""

import os
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Final

from trainmaster.core.errors import Conflict, StorageFailed, problem_of
from trainmaster.messages.server import client

Received = Callable[[int], None]
"""Is told how many more bytes have come."""

_BLOCK: Final = 1 << 20


def to_file(blocks: Iterable[bytes], path: Path, on_bytes: Received | None = None) -> Path:
    """Write `blocks` to the new file `path`; return it. Raises Conflict when it is there, StorageFailed when it cannot
    be written.
    """
    _demand_new([path])
    with _writable(path), _beside(path) as (file, part):
        _copy(blocks, file, on_bytes)
        os.replace(part, path)
    return path


def unpacked(blocks: Iterable[bytes], folder: Path, on_bytes: Received | None = None) -> list[Path]:
    """Unpack the zip archive in `blocks` into `folder`; return its files, sorted.

    Raises Conflict naming every file that is there already, and then writes none; StorageFailed when they cannot be
    written.
    """
    with _writable(folder), _beside(folder / "download.zip") as (file, _):
        _copy(blocks, file, on_bytes)
        file.flush()
        with zipfile.ZipFile(file) as archive:
            members = [(one, folder / _inside(one.filename)) for one in archive.infolist() if not one.is_dir()]
            _demand_new([path for _, path in members])
            for one, path in members:
                with archive.open(one) as source, _beside(path) as (target, part):
                    _copy(iter(lambda: source.read(_BLOCK), b""), target, None)
                    os.replace(part, path)
    return sorted(path for _, path in members)


def _copy(blocks: Iterable[bytes], file: IO[bytes], on_bytes: Received | None) -> None:
    for block in blocks:
        file.write(block)
        if on_bytes is not None:
            on_bytes(len(block))


@contextmanager
def _beside(path: Path) -> Iterator[tuple[IO[bytes], Path]]:
    """Give a file for what becomes `path`, which is removed again unless it was moved there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    with suppress(FileNotFoundError):
        part.unlink()  # left by a dead process of this pid, or a link laid there as a trap
    try:
        with open(part, "x+b") as file:
            yield file, part
    finally:
        with suppress(OSError):
            part.unlink()


@contextmanager
def _writable(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StorageFailed(client.download_not_written(str(path), error.strerror or str(error))) from error


def _demand_new(paths: Iterable[Path]) -> None:
    there = [path for path in paths if os.path.lexists(path)]
    if there:
        problems = tuple(problem_of(str(path), client.exists()) for path in there[:20])
        raise Conflict(client.files_exist(len(there)), problems=problems)


def _inside(name: str) -> Path:
    """Return a member's place below its folder: a name that leads elsewhere loses what leads there."""
    parts = [part for part in name.replace(os.sep, "/").split("/") if part not in ("", ".", "..")]
    return Path(*parts)
