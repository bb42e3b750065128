"""One node that shares no folder with the server: brings it what its tasks need, and fetches what they make. All of it
blocks.

The other end is `engines.slurm.node.mirror`, a step of the job's own that srun connects with us. We ask, it answers;
how far something was fetched the files here say themselves, so that whoever is killed, the next one goes on there.
Invariants: a node is believed nothing: it writes only the files of its own part and tasks, and below the trees of its
job; no link is followed here, no path leaves its folder. Which run has the attempt is decided here
(`agent.folder.Folder.claim`). What tells of an end is fetched after what was written before it.
"""

import contextlib
import ctypes
import fcntl
import logging
import os
import re
import socket
import stat
import subprocess
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from trainmaster.engines.slurm.client.commands import plain
from trainmaster.engines.slurm.messages import slurm_files as say
from trainmaster.engines.slurm.mirror.mirror_growth import Growth
from trainmaster.engines.slurm.mirror.mirror_progress import MirrorProgress
from trainmaster.engines.slurm.mirror.mirror_trees import PIECE, Shape, Trees
from trainmaster.engines.slurm.mirror.mirror_writing import Failed, growing
from trainmaster.engines.slurm.node import mirror
from trainmaster.engines.slurm.node.mirror_start import START, root_of

log = logging.getLogger("trainmaster.slurm")

WAIT_S: Final = 0.5
"""How long a node that has nothing new lets us wait for an answer; so late it learns of an order."""
SILENT_S: Final = 60.0
"""A node that does not answer for so long is asked by another srun."""
HEARD_S: Final = 1.0
"""Between two times that a node is shown that we get further."""
LEAVE_S: Final = 5.0
"""What srun has to end by itself."""
COLLECT_S: Final = 15.0
"""Between two looks at what the tasks have made, while they run."""
MOST_SAID: Final = 1 << 16
"""Bytes of what srun, or Python there, may say."""
RUN: Final = re.compile("[0-9a-f-]{36}")
_SOURCE: Final = Path(mirror.__file__).read_bytes()
_INTO: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class Mirror:
    """One connection with the node of `part`, which is the `order`-th. `argv`: srun with all its words but what it
    runs.
    """

    def __init__(
        self,
        shape: Shape,
        part: str,
        order: int,
        argv: Sequence[str],
        env: Mapping[str, str],
        progress: MirrorProgress | None = None,
    ) -> None:
        self._progress, self._shown, self._final = progress or MirrorProgress(), 0.0, False
        self.shape, self.part, self.order = shape, part, order
        self.root = root_of(shape.base, part)
        self._growth = Growth(shape, part, self._ask)
        self._trees = Trees(shape, part, order, self._ask, self._meanwhile)
        self._rounded = 0.0
        self._told = 0  # how many bytes of the orders the node has
        self._beat = 0
        self._said = _sealed("said", MOST_SAID)
        self._socket, its = socket.socketpair()
        with its:
            self.process = subprocess.Popen(
                [*argv, "-I", "-S", "-c", START, self.root],
                env=env,
                cwd="/",
                start_new_session=True,
                stdin=its.fileno(),
                stdout=its.fileno(),
                stderr=self._said,
            )
        self._socket.settimeout(SILENT_S)
        self._source = self._socket.makefile("rb", buffering=1 << 16)

    def last_words(self) -> str:
        """Return what srun, or Python there, had to say."""
        return plain(os.pread(self._said, 1 << 12, 0).rstrip(b"\0").decode("utf-8", "replace"))

    def close(self) -> None:
        """End it: whatever waits for an answer gets none."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self.process.kill()

    def closed(self) -> None:
        """Let go of everything."""
        self.close()
        self.process.wait()
        self._source.close()
        self._socket.close()
        os.close(self._said)

    # ------------------------------------------------------------------------------------------------------------ wire

    def _tell(self, op: str, body: bytes = b"", **more: Any) -> None:
        mirror.send(self._socket.sendall, {"op": op, **more}, body)

    def _ask(self, op: str, **more: Any) -> tuple[dict[str, Any], bytes]:
        self._tell(op, **more)
        answer = mirror.receive(self._source.read)
        if op == "get" and self._final:
            asked = zip(more["files"], answer[0]["got"], strict=False)
            self._further(op, [(name, at, min(size, got[0])) for (name, at, size), got in asked])
        return answer

    def _further(self, op: str, files: Iterable[Sequence[Any]]) -> None:
        """Take in that these were brought or fetched, and let the node wait on if that is further than ever."""
        further = [self._progress.reached(op, name, at + size) for name, at, size in files]
        if any(further) and time.monotonic() - self._shown >= HEARD_S:
            self._tell("put", b".", path="heard", at=0)
            self._shown = time.monotonic()

    def _sync(self, op: str = "sync", **more: Any) -> None:
        """Raises Failed where the node cannot write what it was given."""
        if trouble := self._ask(op, **more)[0]["trouble"]:
            raise Failed(say.failed_on_node(str(trouble)))

    # ------------------------------------------------------------------------------------------------------------ life

    def run(self) -> None:
        """Return when all was fetched, or there is nothing to do. Raises OSError, EOFError, ValueError, KeyError or
        TypeError else.
        """
        self._socket.sendall(len(_SOURCE).to_bytes(4, "big") + _SOURCE)
        if os.path.exists(self.shape.fetched(self.part)):  # the last connection broke before the node knew
            self._leave()
            return
        stands: list[Any] = []
        looked = time.monotonic()
        while True:
            stands = self._round(stands, WAIT_S)
            waiting, ready, left, ending = stands
            if waiting and not ready and not self._begin(waiting):
                return
            if ready and (left or ending or time.monotonic() - looked >= COLLECT_S):
                self._trees.collect(final=left or ending)
                looked = time.monotonic()
            if ready and left:
                self._trees.complete()
                self._finish()
                return

    def _round(self, known: Sequence[Any], wait_s: float) -> list[Any]:
        """Bring the orders, fetch what has grown, and return how it stands: after `wait_s` if that is still as
        `known`.
        """
        said, _ = self._ask(
            "state",
            folder=self.shape.folder,
            have=self._growth.have,
            beat=f"beat-{self.part}",
            known=known,
            wait_s=wait_s,
        )
        self._rounded = time.monotonic()
        stands: list[Any] = said["stands"]
        self._final = bool(stands[2] or stands[3])
        if stands[1]:
            self._order()
            self._growth.fetch(said["sizes"])
            self._live(said["beat"])
        return stands

    def _meanwhile(self) -> None:
        """Let nobody wait for orders and logs while something large is fetched."""
        if time.monotonic() - self._rounded >= WAIT_S:
            self._round([], 0.0)

    def _begin(self, waiting: Sequence[str]) -> bool:
        """Let the run begin that has the attempt, if it waits here."""
        with self.shape.turn:  # one thread at a time may claim
            run = next((run for run in waiting if RUN.fullmatch(run) and self.shape.shared.claim(run)), None)
        if run is not None:
            self._bring()
            self._mark("brought")
        with open(self.shape.shared.file("run"), encoding="ascii") as file:
            owner = file.read()
        package = os.path.relpath(self.shape.brings[0], self.shape.data)
        self._sync("ready", run=owner, package=package, folder=self.shape.folder, trees=self.shape.trees)
        return run is not None

    def _finish(self) -> None:
        """All is here: say so here, where it lasts, and there."""
        fd = os.open(self.shape.shared.path, _INTO)
        try:
            if ctypes.CDLL(None).syncfs(fd) != 0:
                raise Failed(say.fetched_not_on_disk())
        finally:
            os.close(fd)
        self._mark("fetched")
        self._leave()

    def _mark(self, what: str) -> None:
        """Write down, here, that the part was brought or fetched."""
        fd = os.open(self.shape.shared.path, _INTO)
        try:
            os.close(os.open(f"{what}-{self.part}", os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o600, dir_fd=fd))
            os.fsync(fd)
        finally:
            os.close(fd)

    def _leave(self) -> None:
        """Say to the node that all is here. A step whose srun is killed tries to reach it for seconds, and the job ends
        later.
        """
        self._sync("fetched")
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(LEAVE_S)

    # ----------------------------------------------------------------------------------------------------------- bring

    def _bring(self) -> None:
        """Bring everything that the part's tasks read. What cannot be brought is said by OSError."""
        for path in self.shape.brings:
            self._give(path)
        for tree in self.shape.trees:
            self._tell("folder", path=tree)
            self._give(os.path.join(self.shape.data, tree))
        text = self.shape.text(self.root).encode()
        self._tell(
            "put",
            text,
            path=f"{self.shape.folder}/{self.shape.request}",
            at=0,
            mode=0o600,
            mtime=time.time_ns(),
            size=len(text),
        )
        self._told = 0
        self._order(always=True)
        self._sync()

    def _order(self, always: bool = False) -> None:
        """Bring what of the orders is new. A second connection brings all of them again: they only grow."""
        with open(self.shape.shared.orders, "rb") as file:
            file.seek(self._told)
            new = file.read()
        if new or always:
            self._tell("put", new, path=f"{self.shape.folder}/orders.jsonl", at=self._told)
            self._told += len(new)

    def _give(self, path: str) -> None:
        """Bring a file, a link, or a folder with all that is in it."""
        to = os.path.relpath(path, self.shape.data)
        try:
            found = os.lstat(path)
        except FileNotFoundError:
            return
        if stat.S_ISLNK(found.st_mode):
            self._tell("link", path=to, to=os.readlink(path))
        elif stat.S_ISDIR(found.st_mode):
            self._tell("folder", path=to)
            for name in sorted(os.listdir(path)):
                self._give(os.path.join(path, name))
        elif stat.S_ISREG(found.st_mode):
            with open(path, "rb") as file:
                at = 0
                while True:
                    piece, mode = file.read(PIECE), stat.S_IMODE(found.st_mode)
                    size = found.st_size if piece else at  # the file may have shrunk
                    self._tell("put", piece, path=to, at=at, mode=mode, mtime=found.st_mtime_ns, size=size)
                    self._further("put", [(to, at, len(piece))])
                    at += len(piece)
                    if at >= size:
                        break

    def _live(self, beat: int) -> None:
        """Show that the agent there lives."""
        if beat and beat != self._beat:
            self._beat = int(beat)
            with growing(self.shape.data, f"{self.shape.folder}/beat-{self.part}") as fd:
                os.utime(fd, ns=(self._beat, self._beat))


def _sealed(name: str, size: int) -> int:
    """Return a file in memory of `size` bytes, zeros at first, into which nobody can write more."""
    fd = os.memfd_create(name, os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.ftruncate(fd, size)
    fcntl.fcntl(fd, fcntl.F_ADD_SEALS, fcntl.F_SEAL_GROW | fcntl.F_SEAL_SHRINK)
    return fd
