"""Small helpers of the routes: the platform behind the app, JSON in and out."""

import socket
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import msgspec
from starlette.requests import HTTPConnection, Request
from starlette.responses import Response

from trainmaster.api.problems import InvalidRequest, unreadable
from trainmaster.core.errors import Problem
from trainmaster.service.language import Language, wanted

if TYPE_CHECKING:
    from trainmaster.service.platform import Platform


_ENCODER = msgspec.json.Encoder(enc_hook=str)


def platform(request: HTTPConnection) -> "Platform":
    """Return the platform this application serves."""
    found: Platform = request.app.state.platform
    return found


def language(request: HTTPConnection) -> Language:
    """Return the language of whoever asks."""
    return wanted(request.headers.get("accept-language", ""))


class Json(Response):
    """A JSON answer, encoded by msgspec (NaN and infinity become null)."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        """Encode `content`."""
        return _ENCODER.encode(content)


async def read_json(request: Request) -> Any:
    """Return the decoded body. Raises InvalidRequest for what is not JSON."""
    raw = await request.body()
    try:
        return msgspec.json.decode(raw)
    except (msgspec.DecodeError, RecursionError) as error:
        raise unreadable(str(error)) from None


async def read_object(request: Request) -> Mapping[str, Any]:
    """Return the body, which must be a JSON object. Raises InvalidRequest."""
    body = await read_json(request)
    if isinstance(body, dict):
        return body
    problem = Problem("", "must be a JSON object", "Send {...}.", "type")
    raise InvalidRequest("The body is not a JSON object", remedy=problem.remedy, problems=(problem,))


def server_view(app: "Platform") -> dict[str, Any]:
    """Return what a console shows of the server itself."""
    return {"version": app.version, "name": socket.gethostname(), "sandbox": app.context.engines.first.isolation()}
