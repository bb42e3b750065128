"""The one live feed. List first, then watch from the list's `seq`; resumable by Last-Event-ID."""

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Annotated

from fastapi import Query
from starlette.requests import Request
from starlette.responses import Response

from trainmaster.access.decide import decide
from trainmaster.access.roles import Principal
from trainmaster.answers import DeletedJob, FeedPosition
from trainmaster.api.auth import who
from trainmaster.api.deps import platform
from trainmaster.api.policy import Table
from trainmaster.api.sse import MEDIA_TYPE, Sent, stream

if TYPE_CHECKING:
    from trainmaster.service.platform import Platform

routes = Table("feed")


@routes.route("GET", "/feed", scope="jobs:read", answers={200: MEDIA_TYPE})
async def get_feed(
    request: Request,
    after: Annotated[int | None, Query(ge=0, le=2**53)] = None,
    job: Annotated[str | None, Query(max_length=200)] = None,
) -> Response:
    """Watch jobs and the cluster change (server-sent events: job, deleted, cluster, notices, reset, ping)."""
    app, me = platform(request), who(request)
    resumed = request.headers.get("last-event-id", "")
    start = int(resumed) if resumed.isascii() and resumed.isdigit() and len(resumed) < 17 else after
    only = (await app.resolve(job, me)).id if job is not None else None
    return stream(request, _items(app, me, app.feed.seq if start is None else start, only))


async def _items(app: "Platform", me: Principal, after: int, only: str | None) -> AsyncIterator[Sent]:
    visible = decide(me, "jobs:read").demand()  # whose role changes is cut off
    async for item in app.feed.subscribe(visible, after, only, person=me.name if only is None else ""):
        if item.event == "idle":
            continue  # EventStream sends its own heartbeat
        if item.event == "job" and item.job is not None:
            yield Sent("job", (await app.views([item.job], me, item.seq))[0], item.seq)
        elif item.event == "deleted":
            yield Sent("deleted", DeletedJob(id=item.job_id), item.seq)
        else:
            yield Sent(item.event, FeedPosition(seq=item.seq), item.seq)
