"""The first page: what runs, failed, waits and is free, and what one did last."""

from starlette.requests import Request
from starlette.responses import Response

from trainmaster.api.auth import who
from trainmaster.api.deps import Json, platform
from trainmaster.api.policy import Table

routes = Table("home")


@routes.route("GET", "/home", scope="jobs:read", answers={200: "Home"})
async def get_home(request: Request) -> Response:
    """Say what runs, waits and failed of one's own jobs, what is free, what one used this month and did last; for who
    administers workspaces, how they stand.
    """
    return Json(await platform(request).home.of(who(request)))
