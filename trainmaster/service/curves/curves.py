"""The curves of one job: collects from its three sources, keeps them bounded in memory, shows them (R209).

Where things lie: ``metrics/metrics.jsonl`` of each task (written by the task), ``log-points.jsonl`` beside each log and
``tensorboard.jsonl`` in the job's folder (both written here only). The last 8 attempts and their first 64 tasks count.
Not thread-safe: MetricsReader lets one thread at a time work on a job.
"""

import math
import os
import time
from bisect import bisect_right
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from operator import itemgetter
from typing import Final

from trainmaster.answers import MetricResult, Series
from trainmaster.core.errors import Unavailable
from trainmaster.core.folders.layout import TaskPaths
from trainmaster.core.ids import split_task_name
from trainmaster.service.curves.tensorboard import FileRead, TensorBoardChild, event_files
from trainmaster.storage.logs.logpoints import LogPoints
from trainmaster.storage.points import Curve, Growing, PointLog, Record, number

MAX_ATTEMPTS: Final = 8
MAX_TASKS: Final = 64
MAX_CURVES: Final = 400
SOURCES: Final = ("sdk", "log", "tensorboard")
"""Where two sources know a name, the first one gives its last value."""


@dataclass(frozen=True, slots=True)
class Key:
    """What a curve is of. `task` empty: the whole job's. `run`: the TensorBoard run's folder."""

    source: str
    attempt: int
    task: str
    name: str
    run: str = ""


@dataclass(slots=True)
class Told:
    """What `trainmaster.progress` said: how many steps were done when, and the total it said last."""

    counts: Curve
    of: float | None = None


@dataclass(slots=True)
class _Task:
    """The sources of one task."""

    sdk: Growing
    log: LogPoints
    done: bool = False


@dataclass(slots=True)
class JobCurves:
    """All curves of one job."""

    folder: str
    patterns: tuple[str, ...] | None  # None: the spec is not at hand; nothing new is matched
    ours: Callable[[], bool] = lambda: True  # whether files are ours to write (`storage.points.PointLog`)
    curves: dict[Key, Curve] = field(default_factory=dict)
    told: dict[tuple[int, str], Told] = field(default_factory=dict)  # by attempt and task
    _tasks: dict[tuple[int, str], _Task] = field(default_factory=dict)
    _starts: list[float] = field(default_factory=list)
    _numbers: list[int] = field(default_factory=list)
    _board: PointLog | None = None
    _board_done: dict[str, int] = field(default_factory=dict)
    _board_seen: dict[str, tuple[int, int]] = field(default_factory=dict)
    board_looked_at: float = -math.inf
    board_asked_at: float = -math.inf
    board_ended: bool = False  # the job has ended and all its event files are read

    def collect(self, now: float, deadline: float, ended: Callable[[int], bool]) -> bool:
        """Read what logs and tasks wrote since, until `deadline` (monotonic); return whether there is more."""
        self._find_tasks()
        more = False
        for (attempt, name), task in self._tasks.items():
            if task.done:
                continue
            over = ended(attempt)
            left = self._collect_task(attempt, name, task, now, deadline, over)
            task.done = over and not left
            more = more or left
        return more

    def _collect_task(self, attempt: int, name: str, task: _Task, now: float, deadline: float, over: bool) -> bool:
        reading = True
        while reading:
            again, records = task.sdk.news()
            if again:
                for key in [
                    key for key in self.curves if (key.source, key.attempt, key.task) == ("sdk", attempt, name)
                ]:
                    del self.curves[key]
                self.told.pop((attempt, name), None)
            for record in records:
                self._add("sdk", attempt, name, record)
            reading = task.sdk.more and time.monotonic() < deadline
        try:
            more = task.log.collect(lambda record: self._add("log", attempt, name, record), now, deadline, ended=over)
        except OSError:
            return False  # the disk is full: what could not be kept is found again later
        return more or task.sdk.more

    def _find_tasks(self) -> None:
        attempts = os.path.join(self.folder, "attempts")
        self._numbers = sorted(int(name) for name in _names(attempts) if name.isdecimal())
        self._starts = [_made_at(os.path.join(attempts, str(attempt), "gang.json")) for attempt in self._numbers]
        for attempt in self._numbers[-MAX_ATTEMPTS:]:
            names = sorted(filter(_is_task, _names(os.path.join(attempts, str(attempt)))), key=split_task_name)
            for name in names[:MAX_TASKS]:
                if (attempt, name) not in self._tasks:
                    self._tasks[attempt, name] = self._open_task(attempt, name)

    def _open_task(self, attempt: int, name: str) -> _Task:
        paths = TaskPaths(os.path.join(self.folder, "attempts", str(attempt), name))
        cache = PointLog(os.path.join(paths.root, "log-points.jsonl"), self.ours)
        log = LogPoints(paths.log, cache, self.patterns, self._began(attempt))
        log.load(lambda record: self._add("log", attempt, name, record))
        return _Task(Growing(os.path.join(paths.metrics, "metrics.jsonl")), log)

    def _began(self, attempt: int) -> float:
        return dict(zip(self._numbers, self._starts, strict=True)).get(attempt, 0.0)

    def _add(self, source: str, attempt: int, task: str, record: Record) -> None:
        """Take one record; whatever is malformed in it is passed over."""
        at, step, values, rank = record.get("t"), number(record.get("step")), record.get("values"), record.get("rank")
        moment = number(at) or 0.0
        said, order = record.get("progress"), rank if isinstance(rank, int) else -1
        if source == "sdk" and isinstance(said, list) and len(said) == 2 and (done := number(said[0])) is not None:
            self._tell(attempt, task, order, done, number(said[1]), moment)
        if step is None or not isinstance(values, dict):
            return
        run = str(record.get("run", ""))
        for name, raw in values.items():
            value = number(raw)
            if value is not None:
                self._point(Key(source, attempt, task, str(name)[:200], run), order, (step, moment, value))

    def _tell(self, attempt: int, task: str, rank: int, done: float, of: float | None, at: float) -> None:
        told = self.told.get((attempt, task))
        if told is None or rank < told.counts.rank:
            told = self.told[attempt, task] = Told(Curve(rank))
        if rank == told.counts.rank:
            told.of = of
            told.counts.add(done, at, done)

    def _point(self, key: Key, rank: int, point: tuple[float, float, float]) -> None:
        curve = self.curves.get(key)
        if curve is None or rank < curve.rank:
            if curve is None and len(self.curves) >= MAX_CURVES:
                return
            curve = self.curves[key] = Curve(rank)
        if rank == curve.rank:
            curve.add(*point)

    # -- TensorBoard -----------------------------------------------------------------------------------------------

    def load_board(self) -> None:
        """Take what was read of event files before. Cheap after the first time."""
        if self._board is None:
            self._board = PointLog(os.path.join(self.folder, "tensorboard.jsonl"), self.ours)
            self._board.load(self._add_board)
            self._board_done = {str(path): int(done) for path, done in self._board.cursor.items()}

    def collect_board(self, child: TensorBoardChild, deadline: float) -> bool:
        """Read new scalars of the job's event files through `child`, until `deadline`; return whether there is more."""
        self.load_board()
        self._find_tasks()
        self.board_looked_at = time.monotonic()
        folders = ["outputs", "model", *(f"attempts/{number}/{name}/metrics" for number, name in self._tasks)]
        files = event_files(self.folder, folders)
        news = {path: seen for path, seen in files.items() if self._board_seen.get(path) != seen}
        while news:
            if time.monotonic() >= deadline:
                return True
            try:
                answer = child.ask(self.folder, {path: self._board_done.get(path, 0) for path in news})
                self._keep_board(answer.files)
            except (Unavailable, OSError):
                return False  # the next look tries again
            if not answer.more:
                self._board_seen.update(news)
                return False
        return False

    def _keep_board(self, files: list[FileRead]) -> None:
        records = []
        for file in files:
            path = file.path
            self._board_done[path] = file.done
            where = {"run": _run(path), "attempt": _attempt(path), "task": _task(path)}
            records += [{"t": t, "step": step, "values": {tag: v}, **where} for tag, step, t, v in file.points]
        if records and self._board is not None:
            self._board.append(records, dict(self._board_done))
            for record in records:
                self._add_board(record)

    def _add_board(self, record: Record) -> None:
        attempt = record.get("attempt") or self._attempt_at(number(record.get("t")) or 0.0)
        self._add("tensorboard", int(attempt), str(record.get("task") or ""), record)

    def _attempt_at(self, moment: float) -> int:
        """Return the attempt that ran at `moment`: outputs are shared by all attempts of a job."""
        position = bisect_right(self._starts, moment) - 1
        return self._numbers[max(position, 0)] if self._numbers else 1

    @property
    def size(self) -> int:
        """Number of points held in memory."""
        return sum(len(curve.steps) for curve in self.curves.values())

    # -- showing ---------------------------------------------------------------------------------------------------

    def series(self, attempt: int | None, points: int) -> list[Series]:
        """Return the curves of `attempt` (None: all), at most `points` points each, in a stable order."""
        chosen = [key for key in self.curves if attempt is None or key.attempt == attempt]
        runs: dict[int, set[str]] = {}
        for key in chosen:
            if key.source == "tensorboard":
                runs.setdefault(key.attempt, set()).add(key.run)
        shown = []
        for key in sorted(chosen, key=_order):
            many = key.run not in ("", ".") and len(runs.get(key.attempt, ())) > 1
            shown.append(self._series(key, f"{key.run}/{key.name}" if many else key.name, points))
        return shown

    def overlay(self, names: Collection[str], points: int) -> list[Series]:
        """Return the curves of these metrics by which jobs are compared, of all attempts: of each name those of the
        source and the task whose last value counts.
        """
        counted = {(key.name, key.source, key.task, key.run) for key in self._counting().values() if key.name in names}
        chosen = [key for key in self.curves if (key.name, key.source, key.task, key.run) in counted]
        return [self._series(key, key.name, points) for key in sorted(chosen, key=_order)]

    def _series(self, key: Key, name: str, points: int) -> Series:
        curve = self.curves[key]
        steps, times, values = curve.downsampled(points)
        return Series(
            name=name,
            source=key.source,
            attempt=key.attempt,
            task=key.task or None,
            count=curve.count,
            steps=steps,
            t=times,
            values=values,
        )

    def last(self) -> dict[str, float | None]:
        """Return the newest value of every name in the newest attempt that has it; None for one that is no number."""
        return {name: _finite(self.curves[key].values[-1]) for name, key in self._counting().items()}

    def results(self) -> dict[str, MetricResult]:
        """Return what became of every name: `last`, and of all attempts the least and the largest value; their steps
        are those at which they came first. O(points).
        """
        found = {}
        for name, key in self._counting().items():
            same = self._alike(key)
            points = [
                (v, step) for curve in same for v, step in zip(curve.values, curve.steps, strict=True) if v - v == 0
            ]
            low = min(points, key=itemgetter(0), default=(None, None))
            high = max(points, key=itemgetter(0), default=(None, None))
            found[name] = MetricResult(
                last=_finite(self.curves[key].values[-1]),
                low=low[0],
                low_step=low[1],
                high=high[0],
                high_step=high[1],
                count=sum(curve.count for curve in same),
            )
        return found

    def _alike(self, key: Key) -> list[Curve]:
        """Return the curves of all attempts that are of the same thing as `key`, the oldest first."""
        attempts = sorted({one.attempt for one in self.curves})
        return [self.curves[one] for at in attempts if (one := replace(key, attempt=at)) in self.curves]

    def _counting(self) -> dict[str, Key]:
        """Return by its name the curve whose last value counts, in the newest attempt that has the name."""
        best: dict[str, Key] = {}
        for key in sorted(self.curves, key=lambda key: (key.attempt, -SOURCES.index(key.source), key.task, key.run)):
            held = best.get(key.name)
            if held is None or (held.attempt, held.source) != (key.attempt, key.source):
                best[key.name] = key  # of several tasks, that of the first
        return dict(sorted(best.items()))


def _finite(value: float) -> float | None:
    return value if value - value == 0 else None


def _order(key: Key) -> tuple[object, ...]:
    return key.name, SOURCES.index(key.source), key.attempt, key.task, key.run


def _names(folder: str) -> Sequence[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return ()


def _made_at(path: str) -> float:
    try:
        return os.stat(path, follow_symlinks=False).st_mtime
    except OSError:
        return 0.0


def _is_task(name: str) -> bool:
    try:
        split_task_name(name)
    except ValueError:
        return False
    return True


def _run(path: str) -> str:
    """Return the folder of an event file beneath outputs, model or the task's metrics folder."""
    parts = path.split("/")[:-1]
    return "/".join(parts[4:] if parts[0] == "attempts" else parts[1:])


def _attempt(path: str) -> int | None:
    parts = path.split("/")
    return int(parts[1]) if parts[0] == "attempts" else None


def _task(path: str) -> str:
    parts = path.split("/")
    return parts[2] if parts[0] == "attempts" else ""
