"""What grows in the folder of an attempt, logs, figures and facts, as it comes to the server: a part of `mirror`.

How far a file was fetched, its size here says, so whoever is killed, the next one goes on there. What is cut of a log
there is cut here before more of it is read. A node is believed nothing: it writes only the files of its own part and
tasks.
"""

import contextlib
import json
import logging
import os
import re
from collections.abc import Mapping, Sequence
from typing import Final

from trainmaster.agent.measuring import logcap
from trainmaster.engines.slurm.messages import slurm_files as say
from trainmaster.engines.slurm.mirror.mirror_trees import MOST_FILES, PIECE, Ask, Shape, pieces
from trainmaster.engines.slurm.mirror.mirror_writing import growing, sound
from trainmaster.engines.slurm.node.mirror import PRINTED, pwrite_all
from trainmaster.engines.slurm.wrong import Wrong

log = logging.getLogger("trainmaster.slurm")

TASK_FILES: Final = ("log", "log.cuts", "log.times", "usage.jsonl", "status")
"""What grows in the folder of a task, beside its metrics."""
MOST_KEPT: Final = 1 << 30
"""Bytes of one file that grows, but a log, whose limit is configured."""
MOST_CUTS: Final = 1 << 20
"""Bytes of a list of cuts: it is read whole whenever it has grown."""
MOST_NAMES: Final = 1 << 20
"""Characters of the names of all files that grow: each question repeats them."""
ENOUGH: Final = 1 << 62
"""As many bytes of a file are here as it can have: it is not fetched any further."""
MOST_LOG: Final = 1 << 44
"""Bytes of a log, with all that was cut of it."""


class Growth:
    """The files that grow of one `part`. `have`: up to where each was taken in, so that the node tells only of those
    with more.
    """

    def __init__(self, shape: Shape, part: str, ask: Ask) -> None:
        self.shape, self.part, self._ask = shape, part, ask
        self.have: dict[str, int] = {}
        number = int(part.partition("-")[0])
        self._tasks = frozenset(shape.tasks[number]) if number < len(shape.tasks) else frozenset()
        self._own = re.compile(
            rf"(facts|again)-{re.escape(part)}\.jsonl|record-task\d+-\d+\.jsonl|{re.escape(PRINTED)}"
        )
        self._short: set[str] = set()  # less came than was asked for: more of it would leave a hole
        self._cuts: dict[str, list[tuple[int, int]]] = {}

    def allowed(self, name: str) -> bool:
        """Return whether the node may write the file `name` of the attempt's folder: one of its own part, or of a task
        of it.
        """
        if self._own.fullmatch(name) is not None:
            return True
        task, _, of = name.partition("/")
        metrics = of.startswith("metrics/") and sound(of)
        return task in self._tasks and (metrics or of in TASK_FILES)

    def fetch(self, sizes: Mapping[str, int]) -> None:
        """Fetch what has grown. What is cut of a log is known before the log is read, and facts come last."""
        asked: list[tuple[str, int, int]] = []
        self._short.clear()
        for name in sorted(sizes, key=_turn):
            size = int(sizes[name])
            if not self.allowed(name):
                self.have[name] = size
                continue
            at = self._skip(name, self._size(name))
            while at < size and name not in self._short:
                most = min(PIECE, self._until(name, at, size) - at)
                if len(asked) >= MOST_FILES or sum(one[2] for one in asked) + most > PIECE:
                    self._get(asked)
                    asked = []
                asked.append((name, at, most))
                at = self._skip(name, at + most)
            if name.endswith(".cuts") and asked:  # its cuts decide what of the log is read next
                self._get(asked)
                asked = []
            self.have[name] = max(size, self.have.get(name, 0))
        if asked:
            self._get(asked)
        if sum(map(len, self.have)) > MOST_NAMES:
            raise Wrong(say.too_many_logs(len(self.have)))

    def _get(self, asked: Sequence[tuple[str, int, int]]) -> None:
        for (name, at, wanted), (piece, *_) in zip(asked, pieces(self._ask, self.shape.folder, asked), strict=True):
            if self.have.get(name) == ENOUGH or name in self._short:
                continue
            if len(piece) < wanted:
                self._short.add(name)
            with growing(self.shape.data, f"{self.shape.folder}/{name}") as fd:
                pwrite_all(fd, piece, at)
                kept = os.fstat(fd).st_blocks * 512
            if name.endswith("/log.cuts"):
                self._cut(name)
            most = self._most(name)
            if most and kept > most:  # our agent would have cut it
                log.warning("%s of %s: %s is far longer than it may be", self.part, self.shape.base, name)
                self.have[name] = ENOUGH

    def _most(self, name: str) -> int:
        """Return how many bytes a file may take here; 0: as many as it likes."""
        if name.endswith("/log"):
            return self.shape.log_mib << 21
        return MOST_CUTS if name.endswith("/log.cuts") else MOST_KEPT

    def _size(self, name: str) -> int:
        with growing(self.shape.data, f"{self.shape.folder}/{name}") as fd:
            return os.fstat(fd).st_size

    def _skip(self, name: str, at: int) -> int:
        """Return from where on a file is to be read: behind what was cut of it."""
        if name.endswith("/log"):
            if name not in self._cuts:
                self._cut(f"{name}.cuts")
            at = next((end for start, end in self._cuts[name] if start <= at < end), at)
        return at

    def _until(self, name: str, at: int, size: int) -> int:
        """Return up to where a file is to be read from `at` on: to the next thing that was cut of it."""
        return min([size, *(start for start, _ in self._cuts.get(name, ()) if start > at)])

    def _cut(self, name: str) -> None:
        """Cut of a log here what its node has cut. Where nobody understands what that is, nothing more of it is
        read.
        """
        of, cuts = name.removesuffix(".cuts"), []
        with contextlib.suppress(FileNotFoundError), open(self.shape.shared.file(name), "rb") as file:
            for line in file:
                cut = _range(line)
                if cut is None:
                    break
                cuts.append(cut)
        before, self._cuts[of] = self._cuts.get(of, []), _merged(cuts)
        for start, end in sorted({*self._cuts[of]} - {*before}):
            with contextlib.suppress(FileNotFoundError):
                logcap.punch(self.shape.shared.file(of), start, end - start)


def _turn(name: str) -> tuple[bool, str, bool]:
    """Return by what files are put into the order in which they are fetched."""
    return (name.startswith("facts-"), name.removesuffix(".cuts"), not name.endswith(".cuts"))


def _merged(cuts: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the same ranges in order, those that touch as one."""
    found: list[tuple[int, int]] = []
    for start, end in sorted(cuts):
        if found and start <= found[-1][1]:
            found[-1] = found[-1][0], max(end, found[-1][1])
        else:
            found.append((start, end))
    return found


def _range(line: bytes) -> tuple[int, int] | None:
    """Return from where to where a line of a list of cuts says that was cut; None: it is not whole, or says what cannot
    be.
    """
    try:
        cut = json.loads(line) if line.endswith(b"\n") else {}
        start, end = int(cut["offset"]), int(cut["offset"]) + int(cut["length"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return (start, end) if 0 <= start < end < MOST_LOG else None
