"""Watching a job run: logs, usage and metrics, read in place in worker threads. Nothing of them passes through the
ledger.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Annotated, Final

from fastapi import Query
from starlette.requests import Request
from starlette.responses import Response

from trainmaster.answers import Cut, LinesAt, LogHit, LogHits, LogPiece, LogWindowView, Nothing, TaskLimits, UsageView
from trainmaster.api.auth import looking, who
from trainmaster.api.deps import Json, platform
from trainmaster.api.downloads import send_stream
from trainmaster.api.policy import By, Table
from trainmaster.api.sse import MEDIA_TYPE, Sent, stream
from trainmaster.core.errors import NotFound
from trainmaster.core.folders.layout import Layout
from trainmaster.core.ids import task_name
from trainmaster.core.records import Job
from trainmaster.core.states import JobState
from trainmaster.messages.jobs import jobs
from trainmaster.service.use_cases.jobs import task_in
from trainmaster.storage import usage
from trainmaster.storage.logs import logs, logsearch, logtimes

routes = Table("watching")

TASK: Final = "/jobs/{ref}/attempts/{number}/tasks/{task}"
MAX_USAGE_TASKS: Final = 64
"""Replicas of each role whose usage one answer holds."""


@dataclass(frozen=True, slots=True)
class LogPlace:
    """One task of one attempt, the path of its log, and whether it has ended (asked again while following)."""

    job: Job
    number: int
    name: str
    log: str
    ended: Callable[[], bool]


def attempt_number(job: Job, text: str) -> int:
    """Return the number that `text` ("last" or a number from 1) means. Raises NotFound."""
    last = job.attempts_used
    number = last if text == "last" else int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0
    if not 1 <= number <= last:
        raise NotFound(jobs.no_such_attempt(text, last) if last else jobs.no_attempt_yet(text, job.id))
    return number


async def locate(request: Request, ref: str, number: str, task: str) -> LogPlace:
    """Return the task that the address names. Raises NotFound."""
    app = platform(request)
    job = await app.resolve(ref, who(request))
    found = attempt_number(job, number)
    role, index = task_in(job, task)
    path = app.layout.task(job.id, found, role, index).log

    def ended() -> bool:
        live = app.context.newest(job)
        if live is None or live.state is not JobState.ACTIVE or live.attempt is None or live.attempt.number != found:
            return True
        state = live.attempt.task(role, index)
        return state is None or state.ended

    return LogPlace(job, found, task_name(role, index), path, ended)


@routes.route("GET", TASK + "/log", scope="jobs:read", answers={200: "LogWindow"}, by=By.ANY)
async def get_log(
    request: Request,
    ref: str,
    number: str,
    task: str,
    offset: Annotated[int, Query(ge=-(2**53), le=2**53)] = 0,
    limit: Annotated[int, Query(ge=1, le=logs.MAX_WINDOW)] = 256 * 1024,
    line: Annotated[int | None, Query(ge=0, le=2**53)] = None,
    count: Annotated[int, Query(ge=1, le=100_000)] = 1000,
    tail: Annotated[int | None, Query(ge=1, le=100_000)] = None,
    times: bool = False,
) -> Response:
    """Read a window of a replica's log: by bytes, from line `line`, or its last `tail` lines. `times`: also say when
    its lines were written, as far as that is known.
    """
    place = await locate(request, ref, number, task)
    ended = place.ended()
    async with looking(request):
        window = await asyncio.to_thread(_window, place.log, offset, limit, line, count, tail, ended)
        now = None if ended else platform(request).context.clock()
        known = await asyncio.to_thread(logtimes.line_times, place.log, window, now) if times else ()
    return Json(
        LogWindowView(
            offset=window.offset,
            next_offset=window.next_offset,
            size=window.size,
            text=window.text,
            cut=_cut(window),
            ended=ended,
            first_line=window.first_line,
            times=[LinesAt(lines=one.lines, after=one.after, by=one.by) for one in known],
        )
    )


def _cut(window: logs.LogWindow) -> list[Cut]:
    return [Cut(offset=at, length=length) for at, length in window.cut]


def _window(
    path: str, offset: int, limit: int, line: int | None, count: int, tail: int | None, ended: bool
) -> logs.LogWindow:
    if line is not None:
        return logs.read_lines(path, line, count, ended=ended)
    if tail is not None:
        return logs.read(path, logs.tail_offset(path, tail), logs.MAX_WINDOW, ended=ended)
    return logs.read(path, offset, limit, ended=ended)


@routes.route("GET", TASK + "/log/search", scope="jobs:read", answers={200: "LogHits"}, by=By.ANY)
async def search_log(
    request: Request,
    ref: str,
    number: str,
    task: str,
    q: Annotated[str, Query(min_length=1, max_length=1000)],
    regex: bool = False,
    offset: Annotated[int, Query(ge=0, le=2**53)] = 0,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> Response:
    """Search a replica's log, a bounded piece per call: go on at `next_offset` until `done`."""
    place = await locate(request, ref, number, task)
    async with looking(request):
        hits = await asyncio.to_thread(logsearch.search, place.log, q, regex=regex, offset=offset, limit=limit)
    items = [LogHit(offset=hit.offset, line=hit.line, text=hit.text) for hit in hits.items]
    return Json(LogHits(items=items, next_offset=hits.next_offset, done=hits.done))


@routes.route("GET", TASK + "/log/follow", scope="jobs:read", answers={200: MEDIA_TYPE})
async def follow_log(
    request: Request,
    ref: str,
    number: str,
    task: str,
    offset: Annotated[int, Query(ge=-(2**53), le=2**53)] = 0,
) -> Response:
    """Follow a replica's log live (server-sent events: log, end); resumable by Last-Event-ID, which is an offset."""
    place = await locate(request, ref, number, task)
    resumed = request.headers.get("last-event-id", "")
    start = int(resumed) if resumed.isascii() and resumed.isdigit() and len(resumed) < 17 else offset
    return stream(request, _follow(request, place, start))


async def _follow(request: Request, place: LogPlace, start: int) -> AsyncIterator[Sent]:
    follower, clock = request.app.state.follower, platform(request).context.clock
    before = await asyncio.to_thread(logs.size_of, place.log)  # what is behind it was written while it is followed
    async for window in follower.follow(place.log, start, place.ended):
        piece = LogPiece(
            offset=window.offset,
            next_offset=window.next_offset,
            text=window.text,
            cut=_cut(window) or None,
            at=clock() if window.offset >= before else None,
        )
        yield Sent("log", piece, window.next_offset)
    yield Sent("end", Nothing())


@routes.route("GET", TASK + "/log/download", scope="jobs:read", answers={200: "text/plain"}, by=By.ANY)
async def download_log(request: Request, ref: str, number: str, task: str) -> Response:
    """Download a replica's whole log."""
    place = await locate(request, ref, number, task)
    name = f"{place.job.name}-{place.job.id[:9]}-{place.number}-{place.name}.log"
    return await send_stream(request, lambda: logs.stream(place.log), "text/plain; charset=utf-8", name)


@routes.route("GET", "/jobs/{ref}/logs.zip", scope="jobs:read", answers={200: "application/zip"}, by=By.ANY)
async def download_logs(request: Request, ref: str) -> Response:
    """Download all logs of all attempts as one archive."""
    app = platform(request)
    job = await app.resolve(ref, who(request))
    attempts = os.path.dirname(app.layout.attempt(job.id, 1))
    name = f"{job.name}-{job.id[:9]}-logs.zip"
    return await send_stream(request, lambda: logs.zip_stream(logs.attempt_logs(attempts)), "application/zip", name)


@routes.route("GET", "/jobs/{ref}/usage", scope="jobs:read", answers={200: "Usage"}, by=By.ANY)
async def get_usage(
    request: Request, ref: str, attempt: str = "last", points: Annotated[int, Query(ge=4, le=5000)] = 300
) -> Response:
    """Give usage samples of every replica of an attempt, at most `points` each."""
    app = platform(request)
    job = await app.resolve(ref, who(request))
    number = attempt_number(job, attempt)
    async with looking(request):
        return Json(await asyncio.to_thread(_usage, app.layout, job, number, points))


def _usage(layout: Layout, job: Job, number: int, points: int) -> UsageView:
    tasks: dict[str, dict[str, list[float | None]]] = {}
    limits: dict[str, TaskLimits] = {}
    for role, kind in enumerate(job.roles):
        need = kind.resources
        for index in range(min(kind.replicas, MAX_USAGE_TASKS)):
            name = task_name(role, index)
            tasks[name] = usage.read(layout.task(job.id, number, role, index).usage, points)
            limits[name] = TaskLimits(cpu=need.cpu, memory_mib=need.memory_mib, gpu=need.gpu)
    return UsageView(tasks=tasks, limits=limits)


@routes.route("GET", "/jobs/{ref}/metrics", scope="jobs:read", answers={200: "Metrics"}, by=By.ANY)
async def get_metrics(
    request: Request, ref: str, attempt: str | None = None, points: Annotated[int, Query(ge=4, le=10_000)] = 500
) -> Response:
    """Give training metrics from all sources, at most `points` per series, and the last value of each."""
    app = platform(request)
    job = await app.resolve(ref, who(request))
    number = None if attempt is None else attempt_number(job, attempt)
    spec = await asyncio.to_thread(app.context.specs.fetch_or_none, job.spec_digest)
    async with looking(request):
        return Json(await asyncio.to_thread(app.context.metrics.series, job, spec, number, points))
