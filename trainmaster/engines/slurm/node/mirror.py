"""On a node that shares no folder with the server: keeps what lies there and what lies at the server the same, as the
server asks.

The server starts it (`engines.slurm.mirror.mirror`) as a step of the job's own and speaks with it over standard input
and output. It does nothing by itself: it writes what it is given, tells what has grown, and gives what it is asked for,
so that whoever is killed, the next one goes on where the files themselves end. Its own root on the node has the layout
of the server's data folder, beside:

``wants-<run>``   a run waits for what the server brings (`mirrored`)
``ready``         all is there: [run, package, folder]; the run is the one that has claimed the attempt, at the server
``known``         what was brought of the trees that tasks write, and what was told of them: a line each
``left``          nothing of this node's tasks is left, and nothing more will be written
``heard``         touched by the server as it gets further with what it brings, or fetches at the end: for so long it
                  is waited for
``fetched``       the server has all of it: the root may go

Frames, both ways: length of the head and of the body, 4 bytes each, big-endian; the head, a JSON object; the body.
Every request is answered but ``put``, ``link`` and ``folder``: what went wrong with one of those the next ``sync``
says. This file is sent alone and executed: it imports nothing of ours. Standard library of Python 3.9 only.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import signal
import stat
import struct
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, Final

LENGTHS: Final = struct.Struct(">II")
MOST: Final = 4 << 20
"""Bytes of a head or a body."""
LOOK_S: Final = 0.1
PRINTED: Final = "slurm.log"
"""What the batch script printed on the first node: it lies in the root, for the script knows no more."""
PAGE: Final = 2000
"""Entries that are told at once."""
FOLDER, FILE, LINK, UNKNOWN = "d", "f", "l", "?"


def send(write: Callable[[bytes], Any], head: dict[str, Any], body: bytes = b"") -> None:
    """Write one frame. Raises OSError."""
    data = json.dumps(head, separators=(",", ":")).encode()
    write(LENGTHS.pack(len(data), len(body)) + data + body)


def receive(read: Callable[[int], bytes]) -> tuple[dict[str, Any], bytes]:
    """Read one frame. Raises EOFError at the end of the stream, ValueError for what is no frame."""
    lengths = _exactly(read, LENGTHS.size)
    head, body = LENGTHS.unpack(lengths)
    if max(head, body) > MOST:
        raise ValueError(f"a frame of {head} and {body} bytes")
    said = json.loads(_exactly(read, head))
    if not isinstance(said, dict):
        raise ValueError("a head that is no object")
    return said, _exactly(read, body)


def _exactly(read: Callable[[int], bytes], size: int) -> bytes:
    data = read(size)
    if len(data) < size:
        raise EOFError
    return data


def pwrite_all(fd: int, data: bytes, at: int) -> None:
    """Write all of `data` from byte `at` on: one call may write less of it, on a disk that is nearly full. Raises
    OSError.
    """
    rest = memoryview(data)
    while rest:
        written = os.pwrite(fd, rest, at)
        rest, at = rest[written:], at + written


def squatted(path: str) -> str:
    """Return why the folder `path`, which is made if it is not there, may not be used: somebody else could write there;
    "": it may.
    """
    try:
        os.makedirs(path, 0o700, exist_ok=True)
        found = os.lstat(path)
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o022:
            return f"{path}: others than this user can write there"
        open_ = exposed(os.path.dirname(path))
        return f"{open_}: others than this user and root can replace what lies there" if open_ else ""
    except OSError as error:
        return f"{path}: {error.strerror}"


def exposed(path: str) -> str:
    """Return the first folder or link on the way to `path`, or itself, in which or as which somebody else but root can
    put something else; "": there is none. In a sticky folder that is only its owner. Raises OSError.
    """
    above = os.path.dirname(path)
    if above != path and (found := exposed(above)):
        return found
    info = os.lstat(path)
    link = stat.S_ISLNK(info.st_mode)
    if info.st_uid not in (0, os.geteuid()) or (not link and info.st_mode & 0o022 and not info.st_mode & stat.S_ISVTX):
        return path
    return exposed(os.path.join(os.path.realpath(above), os.readlink(path))) if link else ""


class NodeMirror:
    """One connection. `root`: this node's own folder for the attempt."""

    def __init__(self, root: str, source: BinaryIO, sink: BinaryIO) -> None:
        self.root, self.source, self.sink = root, source, sink
        self.trouble = ""  # what went wrong since the last `sync`
        self.ending = False
        self.listed: list[list[Any]] = []

    def serve(self) -> None:
        """Answer until the server is gone, or has everything."""
        asked: dict[str, Callable[..., None]] = {
            "put": self.put,
            "link": self.link,
            "folder": self.folder,
            "sync": self.sync,
            "state": self.state,
            "made": self.made,
            "get": self.get,
            "ready": self.ready,
            "fetched": self.fetched,
        }
        with contextlib.suppress(EOFError, BrokenPipeError):
            while not os.path.exists(self.path("fetched")):
                head, body = receive(self.source.read)
                asked[head.pop("op")](body=body, **head)

    def path(self, relative: str) -> str:
        """Return where something lies here."""
        return os.path.join(self.root, relative)

    def answer(self, body: bytes = b"", **head: Any) -> None:
        """Answer."""
        send(self.sink.write, head, body)
        self.sink.flush()

    # ------------------------------------------------------------------------------------------------------- is given

    def put(self, path: str, at: int, body: bytes, mode: int = 0, mtime: int = 0, size: int = -1) -> None:
        """Take a piece of a file that begins at byte `at`; with the last one, which ends at `size`, it is there whole.

        `size` -1: the file grows in its place instead.
        """
        with self._noting_trouble():
            to = self.path(path)
            fresh = to if size < 0 else to + "~"
            os.makedirs(os.path.dirname(to), 0o700, exist_ok=True)
            fd = os.open(fresh, os.O_CREAT | os.O_WRONLY | (os.O_TRUNC if size >= 0 and at == 0 else 0), 0o600)
            try:
                pwrite_all(fd, body, at)
                if 0 <= size <= at + len(body):
                    os.fchmod(fd, mode)
                    os.utime(fd, ns=(mtime, mtime))
                    os.replace(fresh, to)
            finally:
                os.close(fd)

    def link(self, path: str, to: str, body: bytes = b"") -> None:
        """Make a symbolic link."""
        with self._noting_trouble():
            os.makedirs(os.path.dirname(self.path(path)), 0o700, exist_ok=True)
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self.path(path))
            os.symlink(to, self.path(path))

    def folder(self, path: str, body: bytes = b"") -> None:
        """Make a folder."""
        with self._noting_trouble():
            os.makedirs(self.path(path), 0o700, exist_ok=True)

    @contextlib.contextmanager
    def _noting_trouble(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            self.trouble = self.trouble or f"{error.strerror} ({error.filename})"

    def sync(self, body: bytes = b"") -> None:
        """Say whether all that was given is there."""
        self.answer(trouble=self.trouble)
        self.trouble = ""

    def ready(self, run: str, package: str, folder: str, trees: list[str], body: bytes = b"") -> None:
        """Let the run that waits begin, if it is `run`."""
        with self._noting_trouble():
            with open(self.path("known"), "w", encoding="utf-8") as file:
                for line in (entry for tree in trees for entry in self._walk(tree)):
                    file.write(json.dumps(line) + "\n")
            fresh = self.path("ready~")
            with open(fresh, "w", encoding="utf-8") as file:
                json.dump([run, self.path(package), self.path(folder)], file)
            os.replace(fresh, self.path("ready"))
        self.sync()

    def fetched(self, body: bytes = b"") -> None:
        """The server has everything."""
        with self._noting_trouble():
            os.close(os.open(self.path("fetched"), os.O_CREAT | os.O_WRONLY, 0o600))
        self.sync()

    # ------------------------------------------------------------------------------------------------------ is asked

    def state(self, folder: str, have: dict[str, int], beat: str, known: list[Any], wait_s: float, body: bytes) -> None:
        """Tell which files in `folder` are longer than the server has them, as soon as any is, or how it stands is not
        as `known`, or `wait_s` is over. Of all that is written together the facts are looked at first: what they tell
        of is then among what has grown.
        """
        give_up = time.monotonic() + wait_s
        while True:
            stands = self._stands()
            sizes = {name: size for name, size in self._growing(folder) if size > have.get(name, 0)}
            if sizes or stands != known or time.monotonic() >= give_up:
                break
            time.sleep(LOOK_S)
        try:
            at = os.stat(os.path.join(self.path(folder), beat)).st_mtime_ns
        except OSError:
            at = 0
        self.answer(sizes=sizes, stands=stands, beat=at, now=time.time_ns())

    def _stands(self) -> list[Any]:
        """Return how it stands: which runs wait, whether one may go on, whether it has left, whether the cluster ends
        it.
        """
        names = os.listdir(self.root)
        waiting = sorted(name[len("wants-") :] for name in names if name.startswith("wants-"))
        return [waiting, "ready" in names, "left" in names, self.ending]

    def _growing(self, folder: str) -> Iterator[tuple[str, int]]:
        """Yield name and size of the files that only grow, facts first."""
        top, here = [], self.path(folder)
        with contextlib.suppress(OSError):
            top = sorted(os.listdir(here), key=lambda name: (not name.startswith("facts-"), name))
        for name in top:
            with contextlib.suppress(OSError):
                found = os.lstat(os.path.join(here, name))
                if stat.S_ISREG(found.st_mode):
                    yield name, found.st_size
                elif name.startswith("task"):
                    yield from self._of_task(here, name)
        with contextlib.suppress(OSError):
            yield PRINTED, os.lstat(self.path(PRINTED)).st_size

    def _of_task(self, here: str, task: str) -> Iterator[tuple[str, int]]:
        for name in sorted(os.listdir(os.path.join(here, task)), reverse=True):  # log.cuts before log
            path = os.path.join(here, task, name)
            found = os.lstat(path)
            if stat.S_ISREG(found.st_mode):
                yield f"{task}/{name}", found.st_size
            elif name == "metrics":
                for of, info in _below(path):
                    if not isinstance(info, OSError) and stat.S_ISREG(info.st_mode):
                        yield f"{task}/metrics/{of}", info.st_size

    def made(self, trees: list[str], at: int, body: bytes = b"") -> None:
        """Tell what in `trees` is not as it was brought, and of what was there before what is there no more: from entry
        `at` on.
        """
        if at == 0:
            self._look(trees)
        page = self.listed[at : at + PAGE]
        self.answer(json.dumps(page).encode(), more=at + len(page) < len(self.listed), now=time.time_ns())

    def _look(self, trees: list[str]) -> None:
        known, text = {}, b""
        with contextlib.suppress(FileNotFoundError), open(self.path("known"), "rb") as file:
            text = file.read()
        for line in text.split(b"\n"):
            with contextlib.suppress(ValueError):  # half a line: its writer was killed, or the disk was full
                entry = json.loads(line)
                known[entry[0]] = entry
        found = {entry[0]: entry for tree in trees for entry in self._walk(tree)}
        new = [entry for name, entry in found.items() if known.get(name) != entry]
        gone = [
            [name, "", 0, 0, 0, ""] for name in sorted(known, reverse=True) if name not in found
        ]  # reverse: files before the folder they lie in
        with contextlib.suppress(OSError), open(self.path("known"), "a", encoding="utf-8") as file:
            file.write("" if text.endswith(b"\n") else "\n")
            for name in (entry[0] for entry in new if entry[0] not in known):
                file.write(json.dumps([name, "", 0, 0, 0, ""]) + "\n")  # noted before the server fetches it
        self.listed = sorted(new, key=lambda entry: int(entry[3])) + gone  # oldest first: new files may refer to old

    def _walk(self, tree: str) -> Iterator[list[Any]]:
        """Yield [path, kind, size, mtime, mode, target] of everything below `tree`; of what is unknown, why it is
        stands last.

        A name that is no text stands there as Python has it, with lone surrogates, which JSON escapes.
        """
        for of, info in _below(self.path(tree)):
            path = f"{tree}/{of}"
            if isinstance(info, OSError):
                yield [path, UNKNOWN, 0, 0, 0, info.strerror]
            elif stat.S_ISDIR(info.st_mode):
                yield [path, FOLDER, 0, 0, 0, ""]
            elif stat.S_ISLNK(info.st_mode):
                with contextlib.suppress(OSError):
                    yield [path, LINK, 0, info.st_mtime_ns, 0, os.readlink(self.path(path))]
            elif stat.S_ISREG(info.st_mode):
                yield [path, FILE, info.st_size, info.st_mtime_ns, stat.S_IMODE(info.st_mode), ""]

    def get(self, folder: str, files: list[list[Any]], holes: bool = False, body: bytes = b"") -> None:
        """Give pieces of files, ``[name, at, size]``; the answer's `got` says of each how much it is, size and time of
        the file, and where it begins: with `holes` where something was written next, which is the size where nothing
        follows.
        """
        got, pieces = [], []
        for name, at, size in files:
            within = self.root if name == PRINTED else self.path(folder)
            piece, found = b"", [-1, 0, at]
            with contextlib.suppress(OSError):
                fd = os.open(os.path.join(within, name), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
                try:
                    info = os.fstat(fd)
                    if stat.S_ISREG(info.st_mode):
                        begin = _written(fd, at, info.st_size) if holes else at
                        piece, found = os.pread(fd, size, begin), [info.st_size, info.st_mtime_ns, begin]
                finally:
                    os.close(fd)
            got.append([len(piece), *found])
            pieces.append(piece)
        self.answer(b"".join(pieces), got=got)


def _written(fd: int, at: int, size: int) -> int:
    """Return where something was written to a file of `size` bytes from byte `at` on; `size`: nowhere."""
    try:
        return os.lseek(fd, at, os.SEEK_DATA)
    except OSError as error:
        return max(at, size) if error.errno == errno.ENXIO else at  # the file system reports no holes


def _below(root: str) -> Iterator[tuple[str, os.stat_result | OSError]]:
    """Yield relative path and lstat of everything below `root`, or why it could not be looked at; no link is followed,
    and what disappears is left out.
    """
    pending = [""]
    for here in pending:  # the loop visits what it appends
        try:
            with os.scandir(os.path.join(root, here)) as entries:
                names = sorted(entry.name for entry in entries)
        except FileNotFoundError:
            continue
        except OSError as error:
            yield here, error
            continue
        for path in (os.path.join(here, name) for name in names):
            try:
                info = os.lstat(os.path.join(root, path))
            except FileNotFoundError:
                continue
            except OSError as error:
                yield path, error
                continue
            yield path, info
            if stat.S_ISDIR(info.st_mode):
                pending.append(path)


def main(argv: list[str]) -> None:
    """Run as ``mirror ROOT`` on one node."""
    root = argv[0]
    os.umask(0o077)
    if trouble := squatted(os.path.dirname(root)) or squatted(root):
        sys.exit(trouble)
    mirror = NodeMirror(root, sys.stdin.buffer, sys.stdout.buffer)
    # The cluster ends all steps of a job at once; this one must outlive the others to bring what they leave.
    signal.signal(signal.SIGTERM, lambda signum, frame: setattr(mirror, "ending", True))
    mirror.serve()
