"""What is removed by itself, rule by rule. A rule says what is due (`due`) and removes what it said (`remove`), and
decides nothing else.

Both the question "what would go now?" and the sweep ask `due`, so that the answer to one is what the other does.
Everything goes in pages of a bounded size. Invariants: a live job, a job that a saved model needs, and an upload that a
stored job or template names are never due; asking changes nothing.
"""

import asyncio
import logging
import os
import re
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Final

import msgspec

from trainmaster.answers import RetentionName
from trainmaster.core.config import Config
from trainmaster.core.errors import Conflict, NotFound
from trainmaster.core.events import AuditEvent, did_itself, subject_job
from trainmaster.core.folders.layout import Layout
from trainmaster.core.records import Job
from trainmaster.messages import render
from trainmaster.messages.jobs import jobs
from trainmaster.messages.server import audit
from trainmaster.messages.server import retention as said
from trainmaster.service.control.ended import EndedJobs
from trainmaster.storage.trees import bytes_in, remove_tree
from trainmaster.store.jobs.read_ledger import LedgerReader
from trainmaster.store.leftovers import FIRST, Ended, Key, Leftovers

log = logging.getLogger("trainmaster.retention")

DAY_S: Final = 86400.0
LOGS_GONE: Final = "logs_gone"
"""What the store notes of logs: up to which job, in the order of their ends, they are gone."""
_LOG_FILES: Final = ("log", "log.idx", "log.cuts", "log.times")
_DIGEST: Final = re.compile(r"[0-9a-f]{64}")
_GOING: Final = ".going-"

Step = Callable[[], Awaitable[None]] | None
"""What is to be done in the loop before the sweep goes on; None: nothing but a pause."""


@dataclass(frozen=True, slots=True)
class Keeping:
    """For how many seconds each kind of thing is kept; 0: for ever."""

    jobs: float = 0.0
    logs: float = 0.0
    audit: float = 0.0
    uploads: float = 0.0
    keys: float = 0.0
    bin: float = 0.0

    @classmethod
    def of(cls, config: Config) -> "Keeping":
        """Return what the settings say."""
        days, limits = config.retention, config.limits
        return cls(
            days.jobs_days * DAY_S,
            days.logs_days * DAY_S,
            days.audit_days * DAY_S,
            limits.uploads_s,
            limits.keys_s,
            days.bin_days * DAY_S,
        )


@dataclass(frozen=True, slots=True)
class DueItem:
    """One thing that goes: what its rule knows it by, and since when it is there, or ended."""

    key: Any
    at: float


@dataclass(frozen=True, slots=True)
class DuePage:
    """Some of what goes, and how far the rule has looked."""

    items: tuple[DueItem, ...]
    upto: Any = None


class Rule(ABC):
    """One rule. All methods but the steps that `remove` yields block: in a worker thread."""

    name: ClassVar[RetentionName]

    def begin(self, keeping: Keeping, now: float) -> Iterator[Step]:
        """Settle what a sweep before left half done."""
        yield from ()

    @abstractmethod
    def due(self, keeping: Keeping, now: float) -> Iterator[DuePage]:
        """Yield what goes at `now`, oldest first where there is an order. Asked only where it is not kept for ever."""

    @abstractmethod
    def remove(self, page: DuePage, keeping: Keeping, now: float) -> Iterator[Step]:
        """Remove what `due` said, in small steps. Raises StorageFailed, OSError."""

    def size(self, due: DueItem) -> int | None:
        """Return what goes of the disk with it, in bytes; None: next to nothing."""
        return None


class KeysRule(Rule):
    """Keys by which repeated requests are known (B4). Looks at every key there is."""

    name = "keys"

    def __init__(self, rows: Leftovers) -> None:
        self._rows = rows

    def due(self, keeping: Keeping, now: float) -> Iterator[DuePage]:
        after: Key | None = ("", "")
        while after is not None:
            old, after = self._rows.old_keys(now - keeping.keys, after)
            yield DuePage(tuple(DueItem(key, at) for key, at in old))

    def remove(self, page: DuePage, keeping: Keeping, now: float) -> Iterator[Step]:
        if page.items:
            self._rows.forget_keys([due.key for due in page.items], now - keeping.keys)
        yield None


class AuditRule(Rule):
    """What people did. The events of jobs are the jobs' own."""

    name = "audit"

    def __init__(self, rows: Leftovers) -> None:
        self._rows = rows

    def due(self, keeping: Keeping, now: float) -> Iterator[DuePage]:
        after: Ended = FIRST
        while page := self._rows.old_audit_events(now - keeping.audit, after):
            after = page[-1]
            yield DuePage(tuple(DueItem(number, at) for at, number in page))

    def remove(self, page: DuePage, keeping: Keeping, now: float) -> Iterator[Step]:
        self._rows.forget_audit_events([due.key for due in page.items], now - keeping.audit)
        yield None


class UploadsRule(Rule):
    """Code folders that no stored job or template names, and that nobody sent or submitted with of late.

    A submit touches what it names before it is stored (`storage.uploads.use`): the time is looked at last, before a
    folder is set aside and once more behind it, and one that was touched goes back. Reads every stored document once
    there is an old folder.
    """

    name = "uploads"

    def __init__(self, rows: Leftovers, layout: Layout) -> None:
        self._rows, self._layout = rows, layout
        self._folder = os.path.join(layout.bulk, "uploads")

    def begin(self, keeping: Keeping, now: float) -> Iterator[Step]:
        for name in os.listdir(self._folder):
            if name.startswith(_GOING):  # a server ended while removing it
                self._settle(os.path.join(self._folder, name), keeping, now)
                yield None

    def due(self, keeping: Keeping, now: float) -> Iterator[DuePage]:
        names = filter(_DIGEST.fullmatch, os.listdir(self._folder))
        old = {name: at for name in names if (at := self._old(self._layout.upload(name), keeping, now))}
        after: str | None = ""
        while old and after is not None:
            named, after = self._rows.uploads_named(after)
            old = {name: at for name, at in old.items() if name not in named}
            yield DuePage(())
        yield from (DuePage((DueItem(name, at),)) for name, at in sorted(old.items()))

    def remove(self, page: DuePage, keeping: Keeping, now: float) -> Iterator[Step]:
        for due in page.items:
            folder, aside = self._layout.upload(due.key), os.path.join(self._folder, _GOING + due.key)
            if self._old(folder, keeping, now):
                os.rename(folder, aside)
                self._settle(aside, keeping, now)
        yield None

    def size(self, due: DueItem) -> int:
        return bytes_in(self._layout.upload(due.key))

    @staticmethod
    def _old(path: str, keeping: Keeping, now: float) -> float:
        """Return when a folder was used last where that is too long ago, else 0."""
        with suppress(OSError):
            at = max(os.stat(path).st_mtime, 1e-9)
            return at if keeping.uploads and at < now - keeping.uploads else 0.0
        return 0.0

    def _settle(self, aside: str, keeping: Keeping, now: float) -> None:
        """Remove an upload that was set aside, or put it back where somebody began to use it in that moment."""
        if self._old(aside, keeping, now):
            remove_tree(aside)
        else:
            os.rename(aside, self._layout.upload(os.path.basename(aside).removeprefix(_GOING)))


class LogsRule(Rule):
    """Logs of jobs that ended. Jobs that go with everything are the other rule's.

    Logs go in the order in which their jobs ended, and the store notes how far: no sweep looks at a job twice, however
    many are kept.
    """

    name = "logs"

    def __init__(self, rows: Leftovers, layout: Layout) -> None:
        self._rows, self._layout = rows, layout

    def due(self, keeping: Keeping, now: float) -> Iterator[DuePage]:
        after = max(self._upto(), (now - keeping.jobs, 0) if keeping.jobs else FIRST)
        while page := self._rows.ended(now - keeping.logs, after):
            after = page[-1].ended
            yield DuePage(tuple(DueItem(job.id, job.ended[0]) for job in page if self._logs(job.id)), after)

    def remove(self, page: DuePage, keeping: Keeping, now: float) -> Iterator[Step]:
        gone = said.log_removed(now, keeping.logs)
        text = "".join(f"{render.text(gone, language)}\n" for language in ("en", "zh"))
        for due in page.items:
            try:
                self._replace(self._logs(due.key), text)
            except OSError as error:
                log.warning("logs of the job %s could not be removed and stay with it: %s", due.key, error)
            yield None
        self._rows.set_mark(LOGS_GONE, msgspec.json.encode(page.upto).decode())
        yield None

    def size(self, due: DueItem) -> int:
        found = 0
        for path in self._logs(due.key):
            with suppress(OSError):
                found += os.lstat(path).st_blocks * 512
        return found

    def _upto(self) -> Ended:
        with suppress(msgspec.MsgspecError):
            at, number = msgspec.json.decode(self._rows.mark(LOGS_GONE) or "[]", type=tuple[float, int])
            return at, number
        return FIRST

    def _logs(self, job: str) -> list[str]:
        """Return the files of a job that are its logs. Follows no link: what a task may have left there is not ours."""
        found = []
        for attempt in _folders(self._layout.attempts(job)):
            for task in _folders(attempt):
                found += [path for name in _LOG_FILES if os.path.lexists(path := os.path.join(task, name))]
        return found

    @staticmethod
    def _replace(paths: Sequence[str], text: str) -> None:
        """Remove files, and say in the place of each log that it is gone."""
        for path in paths:
            os.unlink(path)
            if os.path.basename(path) == "log":
                fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
                with open(fd, "w", encoding="utf-8") as file:
                    file.write(text)


class JobsRule(Rule):
    """Jobs that ended, with all that they left but saved models: deleted the way in which people delete them."""

    name = "jobs"

    def __init__(
        self, rows: Leftovers, layout: Layout, records: LedgerReader, ended: EndedJobs, clock: Callable[[], float]
    ) -> None:
        self._rows, self._layout, self._records, self._ended, self._clock = rows, layout, records, ended, clock

    def due(self, keeping: Keeping, now: float) -> Iterator[DuePage]:
        after: Ended = FIRST
        while page := self._rows.ended(now - keeping.jobs, after):
            after = page[-1].ended
            yield DuePage(tuple(DueItem(job.id, job.ended[0]) for job in page))

    def remove(self, page: DuePage, keeping: Keeping, now: float) -> Iterator[Step]:
        for due in page.items:
            yield partial(self._go, due.key, keeping.jobs)

    def size(self, due: DueItem) -> int:
        return bytes_in(self._layout.job(due.key))

    async def _go(self, id_: str, after_s: float) -> None:
        def audit_event(job: Job) -> AuditEvent:
            gone = audit.job_outlived(job.name, job.owner, after_s)
            return did_itself(subject_job(job), gone, self._clock())

        try:
            await self._ended.delete(id_, self._find(id_), audit_event)
        except (NotFound, Conflict) as error:  # deleted meanwhile, or its record cannot be read
            log.info("the job %s is not removed: %s", id_, error.message)

    async def _find(self, id_: str) -> Job:
        job = await asyncio.to_thread(self._records.get_job, id_)
        if job is None:
            raise NotFound(jobs.no_such_job(repr(id_)))
        return job


def _folders(path: str) -> list[str]:
    try:
        with os.scandir(path) as entries:
            return sorted(entry.path for entry in entries if entry.is_dir(follow_symlinks=False))
    except OSError:
        return []


def rules_of(
    rows: Leftovers, layout: Layout, records: LedgerReader, ended: EndedJobs, clock: Callable[[], float]
) -> tuple[Rule, ...]:
    """Return all rules in their order: jobs go last, since what they named would be due the moment after."""
    return (
        KeysRule(rows),
        AuditRule(rows),
        UploadsRule(rows, layout),
        LogsRule(rows, layout),
        JobsRule(rows, layout, records, ended, clock),
    )
