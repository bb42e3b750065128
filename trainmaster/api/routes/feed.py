"""The one live feed. List first, then watch from the list's `seq`; resumable by Last-Event-ID.

Positions go out sealed, each event with one of its own: numbers would count what everybody does.
"""

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
from trainmaster.core.errors import InvalidSpec, problem_of
from trainmaster.messages.jobs import jobs as said
from trainmaster.service.control.feed import ELSEWHERE
from trainmaster.service.secrets.seals import NotSealedHere

if TYPE_CHECKING:
    from trainmaster.service.platform import Platform

routes = Table("feed")


@routes.route("GET", "/feed", scope="jobs:read", answers={200: MEDIA_TYPE})
async def get_feed(
    request: Request,
    after: Annotated[str | None, Query(max_length=200)] = None,
    job: Annotated[str | None, Query(max_length=200)] = None,
) -> Response:
    """Watch jobs and the cluster change (server-sent events: job, deleted, cluster, notices, reset, ping)."""
    app, me = platform(request), who(request)
    start = _start(app, after, request.headers.get("last-event-id", ""))
    only = (await app.resolve(job, me)).id if job is not None else None
    return stream(request, _items(app, me, start, only))


def _start(app: "Platform", after: str | None, resumed: str) -> int:
    """Return after which number to begin. A browser sends `resumed` of its own accord and can do nothing about it, so
    with one that is not known it lists again. Raises InvalidSpec for such an `after`.
    """
    try:
        if resumed:
            return app.feed.position(resumed)
        return app.feed.seq if after is None else app.feed.position(after)
    except NotSealedHere:
        if resumed:
            return ELSEWHERE
        problem = problem_of("after", said.not_a_position())
        raise InvalidSpec(said.position_not_known(), problems=(problem,)) from None


async def _items(app: "Platform", me: Principal, after: int, only: str | None) -> AsyncIterator[Sent]:
    visible = decide(me, "jobs:read").demand()  # whose role changes is cut off
    async for item in app.feed.subscribe(visible, after, only, person=me.name if only is None else ""):
        if item.event == "idle":
            continue  # EventStream sends its own heartbeat
        mark = app.feed.mark(item.seq)
        if item.event == "job" and item.job is not None:
            yield Sent("job", (await app.views([item.job], me, mark))[0], mark)
        elif item.event == "deleted":
            yield Sent("deleted", DeletedJob(id=item.job_id), mark)
        else:
            yield Sent(item.event, FeedPosition(seq=mark), mark)
