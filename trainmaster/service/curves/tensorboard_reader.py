"""Reads TensorBoard event files as a child of the server: ``python -m trainmaster.service.curves.tensorboard_reader``.

TensorBoard's own reader is the only one that follows the format, but importing it takes more memory than the whole
server may. So it lives here (see service.child), and speaks JSON: it is asked an `EventQuestion`
and answers with `EventScalars` (see `tensorboard`).

Invariant: it only reads, never follows a link, and a broken file is an error of that file, not of the process.
"""

import logging
import math
import os
from collections import OrderedDict
from collections.abc import Iterator
from typing import Any, Final

import msgspec
from tensorboard.backend.event_processing.event_file_loader import EventFileLoader
from tensorboard.util import tensor_util

from trainmaster.service.curves.tensorboard import EventQuestion, EventScalars, FileRead
from trainmaster.service.helpers.child import answer_all
from trainmaster.storage.safe import open_beneath

IDLE_S: Final = 20.0
MAX_POINTS: Final = 20_000
MAX_OPEN: Final = 64
MAX_MEMORY: Final = 2 << 30

Point = tuple[str, int, float, float | str]


class EventFile:
    """One event file and how many of its scalars were given out."""

    def __init__(self, root: str, path: str) -> None:
        self._fd = open_beneath(root, path)
        self.inode = os.fstat(self._fd).st_ino
        self._loader = EventFileLoader(f"/proc/self/fd/{self._fd}")  # by descriptor: the very file that was checked
        self.done = 0
        self._ready: Iterator[Point] = iter(())

    def close(self) -> None:
        """Let go of the file."""
        os.close(self._fd)

    def read(self, skip: int, room: int) -> list[Point]:
        """Return up to `room` scalars behind the first `skip`; fewer means that the file has no more now."""
        points: list[Point] = []
        while len(points) < room:
            point = next(self._ready, None)
            if point is None:
                self._ready = self._scalars()
                point = next(self._ready, None)
                if point is None:
                    break
            self.done += 1
            if self.done > skip:
                points.append(point)
        return points

    def _scalars(self) -> Iterator[Point]:
        for event in self._loader.Load():
            if not event.HasField("summary"):
                continue
            for value in event.summary.value:
                number = _scalar(value)
                if number is not None:
                    shown = number if math.isfinite(number) else repr(number)
                    yield value.tag[:200], int(event.step), float(event.wall_time), shown


def _scalar(value: Any) -> float | None:
    """Return the number in a summary value, None when it is anything else (an image, a histogram, a text)."""
    kind = value.WhichOneof("value")
    if kind == "simple_value":
        return float(value.simple_value)
    if kind != "tensor" or any(dim.size != 1 for dim in value.tensor.tensor_shape.dim):
        return None
    if len(value.tensor.float_val) == 1:
        return float(value.tensor.float_val[0])
    try:
        array = tensor_util.make_ndarray(value.tensor)
        return float(array.item()) if array.size == 1 and array.dtype.kind in "fiu" else None
    except (TypeError, ValueError):
        return None


class Reader:
    """Answers requests; keeps the newest files open so that going on is cheap."""

    def __init__(self) -> None:
        self._files: OrderedDict[tuple[str, str], EventFile] = OrderedDict()

    def answer(self, asked: EventQuestion) -> EventScalars:
        """Return the answer to one request."""
        room, found, more = MAX_POINTS, [], False
        for path, skip in asked.files.items():
            if room <= 0:
                more = True
                break
            try:
                file = self._open(asked.root, path, skip)
                points = file.read(skip, room)
            except Exception as error:  # whatever a broken file makes the loader raise concerns that file only
                self._drop((asked.root, path))
                found.append(FileRead(path, skip, error=f"{type(error).__name__}: {error}"[:300]))
                continue
            room -= len(points)
            more = more or room <= 0
            found.append(FileRead(path, file.done, points))
        return EventScalars(found, more)

    def _open(self, root: str, path: str, skip: int) -> EventFile:
        key = (root, path)
        file = self._files.get(key)
        if file is not None and (file.done != skip or file.inode != _inode(root, path)):
            self._drop(key)
            file = None
        if file is None:
            file = self._files[key] = EventFile(root, path)
            if len(self._files) > MAX_OPEN:
                self._drop(next(iter(self._files)))
        self._files.move_to_end(key)
        return file

    def _drop(self, key: tuple[str, str]) -> None:
        file = self._files.pop(key, None)
        if file is not None:
            file.close()


def _inode(root: str, path: str) -> int:
    fd = open_beneath(root, path)
    try:
        return os.fstat(fd).st_ino
    finally:
        os.close(fd)


def main() -> None:
    """Answer until the server has ended or nothing comes for a while."""
    logging.disable(logging.CRITICAL)
    reader = Reader()
    answer_all(
        lambda asked: msgspec.json.encode(reader.answer(msgspec.json.decode(asked, type=EventQuestion))),
        MAX_MEMORY,
        IDLE_S,
    )


if __name__ == "__main__":
    main()
