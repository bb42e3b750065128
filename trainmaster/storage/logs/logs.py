"""Windows into a task's log: by byte, by line, from the end; and the whole of it as a stream (R207, R208).

Nothing here loads a file: a window is at most 1 MiB. Invariants: the windows of a chain ``offset -> next_offset``
concatenate to the whole log without its holes, and a UTF-8 character is never split between two of them; bytes that are
not UTF-8 become U+FFFD.
"""

import codecs
import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from trainmaster.storage.logs.lineindex import LineIndex
from trainmaster.storage.logs.logfile import LogFile
from trainmaster.storage.logs.whole import Logs, cut_line
from trainmaster.storage.zips import ZipMember, stream_zip

MAX_WINDOW: Final = 1 << 20
MIN_WINDOW: Final = 16


@dataclass(frozen=True, slots=True)
class LogWindow:
    """`text` is what lies at [offset, next_offset); `cut` are (offset, length) of the holes skipped to get there.

    `size` is the log's size when it was read; `first_line` is set by `read_lines`.
    """

    offset: int
    next_offset: int
    size: int
    text: str
    cut: tuple[tuple[int, int], ...] = ()
    first_line: int | None = None


def read(path: str, offset: int = 0, limit: int = MAX_WINDOW, *, ended: bool = False) -> LogWindow:
    """Return the window at `offset` (negative: that many bytes before the end), at most `limit` bytes.

    An incomplete character at the end of a log that is still written is left for the next window; with `ended` it is
    shown as U+FFFD. A log that does not exist yet is empty; an offset behind the end gives an empty window there.
    """
    with LogFile(path) as log:
        start = max(0, log.size + offset) if offset < 0 else min(offset, log.size)
        return _window(log, start, limit, ended)


def _window(log: LogFile, start: int, limit: int, ended: bool) -> LogWindow:
    limit = max(MIN_WINDOW, min(limit, MAX_WINDOW))
    position = log.next_data(start)
    cut = ((start, position - start),) if position > start else ()
    if not cut:
        position = _align(log, position)
    end = log.data_end(position, limit)
    data = log.read(position, end - position)
    last = position + len(data) >= end and (end < position + limit)  # a hole or the end stopped the read, not the limit
    text, used = _decode(data, final=last and (ended or end < log.size))
    return LogWindow(position, position + used, log.size, text, cut)


def _align(log: LogFile, position: int) -> int:
    """Return `position`, moved behind the character it points into the middle of."""
    before = log.read(max(0, position - 3), min(3, position))
    after = log.read(position, 3)
    for back in range(1, len(before) + 1):
        lead = before[-back:]
        if lead[0] & 0xC0 == 0x80:
            continue
        for ahead in range(1, 4 - back + 1):
            try:
                whole = (lead + after[:ahead]).decode()
            except UnicodeDecodeError:
                continue
            return position + ahead if len(whole) == 1 and ahead <= len(after) else position
        return position
    return position


def _decode(data: bytes, final: bool) -> tuple[str, int]:
    """Return (text, bytes used); an incomplete last character is used only when `final`."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    text = decoder.decode(data, final)
    return text, len(data) - len(decoder.getstate()[0])


def read_lines(path: str, first_line: int, count: int, *, ended: bool = False) -> LogWindow:
    """Return `count` lines from line `first_line` (0-based), at most 1 MiB; behind the last line an empty window.

    Lines end with a newline; a progress bar's carriage returns stay inside their line.
    """
    with LogFile(path) as log:
        index = LineIndex.load(log)
        start = index.offset_of(log, max(0, first_line))
        if start is None:
            return LogWindow(log.size, log.size, log.size, "", (), index.lines)
        end = index.offset_of(log, max(0, first_line) + max(1, count))
        window = _window(log, start, MAX_WINDOW if end is None else min(MAX_WINDOW, end - start), ended)
        if end is not None and window.next_offset > end:  # `read` gives no less than its smallest window
            text, used = _decode(log.read(window.offset, end - window.offset), final=True)
            window = LogWindow(window.offset, window.offset + used, log.size, text, window.cut)
        return LogWindow(window.offset, window.next_offset, window.size, window.text, window.cut, first_line)


def size_of(path: str) -> int:
    """Return how many bytes the log has, 0 for a missing one."""
    with LogFile(path) as log:
        return log.size


def tail_offset(path: str, lines: int, max_bytes: int = MAX_WINDOW) -> int:
    """Return where the last `lines` lines start, at most `max_bytes` before the end. O(max_bytes)."""
    with LogFile(path) as log:
        data = log.read(max(0, log.size - max_bytes), min(log.size, max_bytes))
        base = log.size - len(data)
        position = len(data) - 1 if data.endswith(b"\n") else len(data)
        for _ in range(max(1, lines)):
            position = data.rfind(b"\n", 0, position)
            if position < 0:
                return base
        return base + position + 1


def stream(path: str) -> Iterator[bytes]:
    """Yield the whole log in blocks; in place of every hole one line that says how much was cut."""
    with LogFile(path) as log:
        expected = 0
        for offset, data in log.blocks():
            if offset > expected:
                yield cut_line(offset - expected)
            yield data
            expected = offset + len(data)


def zip_stream(logs: Iterable[tuple[str, str]]) -> Iterator[bytes]:
    """Yield a zip archive of `logs`, (name in the archive, path) each; missing ones become empty files."""
    return stream_zip(ZipMember(name, stream(path), _modified(path)) for name, path in logs)


def attempt_logs(attempts: str) -> list[tuple[str, str]]:
    """Return (``attempt-1/task0-0.log``, path) of every log under the ``attempts`` folder of a job (R207)."""
    logs = Logs()
    found = ((path, info) for path, info in logs.walk(attempts) if stat.S_ISREG(info.st_mode))
    return [(logs.named(path), os.path.join(attempts, path)) for path, _ in found]


def _modified(path: str) -> float:
    try:
        return os.stat(path, follow_symlinks=False).st_mtime
    except OSError:
        return 0.0
