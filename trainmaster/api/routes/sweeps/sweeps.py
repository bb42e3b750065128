"""Sweeps: many jobs of one document, submitted, looked at, stopped and tried again together."""

from functools import partial
from typing import Annotated

from fastapi import Query
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import Response

from trainmaster.api.auth import who, working
from trainmaster.api.deps import Cursor, Json, language, paged, platform, read_object
from trainmaster.api.policy import By, Table
from trainmaster.api.routes.jobs import BATCH_LIMIT, BATCH_VALUES, IDEMPOTENCY_KEY, Stop
from trainmaster.core.states import Shown
from trainmaster.store.sweeps.sweeps import SweepQuery

routes = Table("sweeps")

Short = Annotated[str, Field(max_length=200)]


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class SweepsQuery(_Body):
    """Which sweeps, and which page of them."""

    q: Short = ""
    owner: Short = ""
    mine: bool = False
    workspace: Short = ""
    limit: Annotated[int, Field(ge=1, le=200)] = 50
    cursor: Cursor = None


class EntriesQuery(_Body):
    """Which entries, and in which order: index, state, run_s, submitted_at, best, parameter:NAME or metric:NAME, with -
    in front for the other way round.
    """

    order: Annotated[str, Field(max_length=400)] = "index"
    state: Annotated[list[Shown], Field(max_length=len(Shown))] = []
    limit: Annotated[int, Field(ge=1, le=1000)] = 100
    offset: Annotated[int, Field(ge=0, le=10_000)] = 0


class Retry(_Body):
    """Which entries are tried again beside those that failed or ran out of time."""

    stopped: bool = False


@routes.route(
    "POST",
    "/sweeps",
    scope="jobs:write",
    raw=True,
    answers={201: "SweepDetail", 200: "SweepDetail"},
    takes="SweepSubmission",
    parameters=[IDEMPOTENCY_KEY],
    body_limit=BATCH_LIMIT,
)
async def submit_sweep(request: Request) -> Response:
    """Submit a sweep: every entry becomes a job, or none does. 201: all are durable and queued; 200: it was submitted
    before under this key.
    """
    body = await read_object(request, BATCH_VALUES)
    async with working(request):
        key = request.headers.get("idempotency-key")
        made, created = await platform(request).sweeps.submit(body, who(request), key)
    return Json(made, status_code=201 if created else 200)


@routes.route(
    "POST",
    "/sweeps/preview",
    scope="jobs:write",
    raw=True,
    answers={200: "SweepPreview"},
    takes="SweepSubmission",
    body_limit=BATCH_LIMIT,
)
async def preview_sweep(request: Request) -> Response:
    """Say everything that is wrong with a sweep, how many entries it has, the first of them, and what all of them ask
    for. Changes nothing.
    """
    body = await read_object(request, BATCH_VALUES)
    async with working(request):
        return Json(await platform(request).sweeps.preview(body, who(request), language(request)))


@routes.route("GET", "/sweeps", scope="jobs:read", answers={200: "SweepPage"}, by=By.ANY)
async def list_sweeps(request: Request, wanted: Annotated[SweepsQuery, Query()]) -> Response:
    """List sweeps, the newest first: one's own and what is shared. Each word of `q` is looked for in name, owner and
    id.
    """
    me = who(request)
    query = SweepQuery(wanted.q, me.name if wanted.mine else wanted.owner, wanted.workspace)
    page = partial(platform(request).sweeps.views.page, me, query, wanted.limit)
    return await paged(request, "sweeps", wanted.cursor, page)


@routes.route("GET", "/sweeps/{ref}", scope="jobs:read", answers={200: "SweepDetail"}, by=By.ANY)
async def get_sweep(request: Request, ref: str) -> Response:
    """Show a sweep with its document, its entries by state and the best of them; `ref` is an id, a unique beginning of
    one (4 or more characters), or a name.
    """
    return Json(await platform(request).sweeps.views.detail(ref, who(request)))


@routes.route("GET", "/sweeps/{ref}/entries", scope="jobs:read", answers={200: "SweepEntryPage"}, by=By.LEADER_FIRST)
async def list_sweep_entries(request: Request, ref: str, wanted: Annotated[EntriesQuery, Query()]) -> Response:
    """List the entries of a sweep: of each number the job that was submitted last, with its parameters and the last
    value of each of its metrics. What has no value to be ordered by comes last.
    """
    views = platform(request).sweeps.views
    states = tuple(wanted.state)
    return Json(await views.entries(ref, who(request), wanted.order, states, wanted.limit, wanted.offset))


@routes.route("POST", "/sweeps/{ref}/stop", scope="jobs:write", answers={202: "SweepDetail"})
async def stop_sweep(request: Request, ref: str, body: Stop | None = None) -> Response:
    """Stop all entries that have not ended. Asking twice is the same as asking once."""
    found = await platform(request).sweeps.stop(ref, who(request), body.reason if body else "")
    return Json(found, status_code=202)


@routes.route(
    "POST", "/sweeps/{ref}/retry", scope="jobs:write", answers={201: "SweepDetail"}, parameters=[IDEMPOTENCY_KEY]
)
async def retry_sweep(request: Request, ref: str, body: Retry | None = None) -> Response:
    """Submit the entries again that failed or ran out of time, under their numbers. The jobs of before stay."""
    key = request.headers.get("idempotency-key")
    stopped = body is not None and body.stopped
    return Json(await platform(request).sweeps.retry(ref, who(request), stopped, key), status_code=201)


@routes.route("DELETE", "/sweeps/{ref}", scope="jobs:write", answers={204: ""})
async def delete_sweep(request: Request, ref: str, keep_jobs: Annotated[bool, Query()] = False) -> Response:
    """Delete a sweep with all of its jobs, which must have ended; `keep_jobs`: these stay, as jobs like any others."""
    await platform(request).sweeps.delete(ref, who(request), keep_jobs)
    return Response(status_code=204)
