"""Small helpers of the routes: the platform behind the app, JSON in and out."""

import socket
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from starlette.requests import HTTPConnection, Request
from starlette.responses import Response

from trainmaster.api.body import MOST_VALUES, decoded
from trainmaster.api.problems import InvalidRequest
from trainmaster.api.written import encode
from trainmaster.core.errors import Problem
from trainmaster.service.language import Language, wanted

if TYPE_CHECKING:
    from trainmaster.service.platform import Platform


def platform(request: HTTPConnection) -> "Platform":
    """Return the platform this application serves."""
    found: Platform = request.app.state.platform
    return found


def language(request: HTTPConnection) -> Language:
    """Return the language of whoever asks."""
    return wanted(request.headers.get("accept-language", ""))


class Json(Response):
    """A JSON answer."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        """Encode `content`."""
        return encode(content)


async def read_object(request: Request, values: int = MOST_VALUES) -> Mapping[str, Any]:
    """Return the body, which must be a JSON object of at most `values` values. Raises InvalidRequest, TooLarge."""
    body = await decoded(await request.body(), values)
    if isinstance(body, dict):
        return body
    problem = Problem("", "must be a JSON object", "Send {...}.", "type")
    raise InvalidRequest("The body is not a JSON object", remedy=problem.remedy, problems=(problem,))


def server_view(app: "Platform") -> dict[str, Any]:
    """Return what a console shows of the server itself."""
    return {"version": app.version, "name": socket.gethostname(), "sandbox": app.context.engines.first.isolation()}
