"""Small helpers of the routes: the platform behind the app, JSON in and out, cursors sealed and opened."""

import socket
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
from pydantic import Field
from starlette.requests import HTTPConnection, Request
from starlette.responses import Response

from trainmaster.answers import Answer, Sandbox, ServerView
from trainmaster.api.body import MOST_VALUES, decoded
from trainmaster.api.problems import InvalidRequest
from trainmaster.api.written import encode
from trainmaster.core.errors import InvalidSpec, problem_of
from trainmaster.messages.jobs import jobs as said
from trainmaster.messages.server import requests
from trainmaster.service.language import Language, preferred_language
from trainmaster.service.secrets.seals import NotSealedHere
from trainmaster.spec.document import Given

if TYPE_CHECKING:
    from trainmaster.service.platform import Platform


Cursor = Annotated[str | None, Field(max_length=8400)]
"""Where a page begins, as the page before told it; none: the first."""


def platform(request: HTTPConnection) -> "Platform":
    """Return the platform this application serves."""
    found: Platform = request.app.state.platform
    return found


def language(request: HTTPConnection) -> Language:
    """Return the language of whoever asks."""
    return preferred_language(request.headers.get("accept-language", ""))


class Json(Response):
    """An answer of the contract."""

    media_type = "application/json"

    def __init__(self, content: Answer, status_code: int = 200) -> None:
        super().__init__(content, status_code)

    def render(self, content: Any) -> bytes:
        """Encode `content`."""
        return encode(content)


class DocumentJson(Json):
    """A JSON document of a format of its own: a job, a schema, the contract."""

    def __init__(self, content: Mapping[str, Any]) -> None:
        Response.__init__(self, content)


async def paged(
    request: Request, of: str, cursor: str | None, page: Callable[[str | None], Awaitable[Any]]
) -> Response:
    """Answer the page of a list that begins at `cursor`. What the places in it are made of stays here: they go out
    sealed, for the list that is called `of`. Raises InvalidSpec for a cursor that this home has not given for it.
    """
    seals = platform(request).seals
    try:
        place = None if cursor is None else seals.text(of, cursor)
    except NotSealedHere:
        problem = problem_of("cursor", said.not_a_cursor_here())
        raise InvalidSpec(said.cursor_of_another_list(), problems=(problem,)) from None
    found = await page(place)
    if found.next_cursor is not None:
        found = msgspec.structs.replace(found, next_cursor=seals.text_mark(of, found.next_cursor))
    return Json(found)


async def read_object(request: Request, values: int = MOST_VALUES) -> Given:
    """Return the body, which must be a JSON object of at most `values` values. Raises InvalidRequest, TooLarge."""
    body = await decoded(await request.body(), values)
    if isinstance(body, dict):
        return body
    raise InvalidRequest(requests.body_not_object(), problems=(problem_of("", requests.must_be_object()),))


def server_view(app: "Platform") -> ServerView:
    """Return what a console shows of the server itself."""
    sandbox = Sandbox(**app.context.engines.first.isolation())
    return ServerView(version=app.version, name=socket.gethostname(), sandbox=sandbox)
