"""The queue: what waits and why, a timeline, the policy, and whether a job would start now."""

from functools import partial
from typing import Annotated, Any

from fastapi import Query
from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response

from trainmaster.api.auth import who, working
from trainmaster.api.deps import Cursor, Json, paged, platform, read_object
from trainmaster.api.policy import By, Table
from trainmaster.api.routes.pools import Body, VirtualClusterBody, Word, virtual_cluster_of
from trainmaster.api.routes.workspaces import WorkspaceBody, workspace_of

routes = Table("queue")


class QueueQuery(Body):
    """What of the queue is shown."""

    pool: Annotated[str, Field(max_length=63)] = ""
    workspace: Annotated[str, Field(max_length=63)] = ""
    model: Annotated[str, Field(max_length=63)] = ""
    owner: Annotated[str, Field(max_length=63)] = ""
    mine: bool = False
    offset: Annotated[int, Field(ge=0, le=1_000_000)] = 0
    limit: Annotated[int, Field(ge=1, le=500)] = 50


class QueueSlice(Body):
    """Which part of a list."""

    limit: Annotated[int, Field(ge=1, le=500)] = 500
    cursor: Cursor = None


class PolicyBody(Body):
    """New values by setting; null is the default again, what is absent stays."""

    values: Annotated[dict[str, Any], Field(max_length=100)]


class WhatIfBody(Body):
    """What is to be tried: settings of the policy; workspaces and virtual clusters by name, as they are to be."""

    values: Annotated[dict[str, Any], Field(max_length=100, default_factory=dict)]
    workspaces: Annotated[dict[Word, WorkspaceBody], Field(max_length=1000, default_factory=dict)]
    virtual_clusters: Annotated[dict[Word, VirtualClusterBody], Field(max_length=1000, default_factory=dict)]


@routes.route("GET", "/queue", scope="cluster:read", answers={200: "QueuePage"})
async def get_queue(request: Request, wanted: Annotated[QueueQuery, Query()]) -> Response:
    """List queued jobs in the order they are considered, each with its reason. Of others' jobs only sizes and owners
    are told.
    """
    return Json(platform(request).queueing.page(who(request), **wanted.model_dump()))


@routes.route("GET", "/queue/timeline", scope="cluster:read", answers={200: "Timeline"})
async def get_timeline(request: Request, pool: Annotated[str, Query(max_length=63)] = "") -> Response:
    """Show running and foreseen jobs by node and time."""
    return Json(platform(request).queueing.timeline(who(request), pool))


@routes.route("GET", "/queue/history", scope="jobs:read", answers={200: "History"}, by=By.ANY)
async def get_history(request: Request, wanted: Annotated[QueueSlice, Query()]) -> Response:
    """List what the jobs that ended asked for, oldest first: the past, for a simulation."""
    page = partial(platform(request).what_if.history, who(request), wanted.limit)
    return await paged(request, "history", wanted.cursor, page)


@routes.route("GET", "/queue/policy", scope="cluster:read", answers={200: "Policy"})
async def get_policy(request: Request) -> Response:
    """Show every setting of the queue's policy with its bounds, meaning and value."""
    return Json(platform(request).queueing.policy(who(request)))


@routes.route("PUT", "/queue/policy", scope="queue:write", answers={200: "Policy"})
async def set_policy(request: Request, body: PolicyBody) -> Response:
    """Change the queue's policy; it holds from the next pass on."""
    return Json(await platform(request).queueing.set_policy(body.values, who(request)))


@routes.route("POST", "/queue/policy/simulate", scope="queue:write", answers={200: "PolicyEffect"})
async def simulate_policy(request: Request, body: WhatIfBody) -> Response:
    """Say how long the latest jobs would have waited under a changed policy, weights and quotas; nothing is saved."""
    workspaces = [workspace_of(name, one) for name, one in body.workspaces.items()]
    shares = [virtual_cluster_of(name, one) for name, one in body.virtual_clusters.items()]
    async with working(request):
        return Json(await platform(request).what_if.policy(body.values, who(request), workspaces, shares))


@routes.route("POST", "/queue/would-start", scope="jobs:write", raw=True, answers={200: "WouldStart"}, takes="Question")
async def would_start(request: Request) -> Response:
    """Say whether a job would start now or queue, also instead of one that waits; with several flavors, now when any
    way can.
    """
    body = await read_object(request)
    async with working(request):
        return Json(await platform(request).queueing.would_start(body, who(request)))
