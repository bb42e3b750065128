"""Everything that goes wrong, as one RFC 9457 problem document. Never a traceback: what nobody foresaw gets an id and
is logged.

Invariant: every answer of status 400 and above, from any layer, has this shape and `application/problem+json`.
"""

import logging
import secrets
from collections.abc import Mapping
from typing import Any, Final

from fastapi.exceptions import RequestValidationError
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from trainmaster.answers import ProblemView
from trainmaster.api.written import encode
from trainmaster.core.errors import NotFound, Problem, TrainmasterError, problem_of
from trainmaster.messages.said import Said, verbatim
from trainmaster.messages.server import requests
from trainmaster.messages.server.requests import FRAMEWORK, RENAMED
from trainmaster.service.language import Language, document_of, preferred_language

LOG: Final = logging.getLogger("trainmaster.api")
MEDIA_TYPE: Final = "application/problem+json"
RETRY_AFTER_S: Final = 5
"""When to ask again where a part of the platform does not answer."""
MOST_LISTED: Final = 200
"""Problems that one answer lists."""


class Misdirected(TrainmasterError):
    """The Host header names no address of this server (a guard against DNS rebinding)."""

    status = 421
    kind = "misdirected"


class BadRequest(TrainmasterError):
    """What came is no request that HTTP knows, or can be read in two ways."""

    status = 400
    kind = "bad_request"


class InvalidRequest(TrainmasterError):
    """Query, header or body do not have the shape the contract says; every problem is listed."""

    status = 422
    kind = "invalid_request"


class MethodNotAllowed(TrainmasterError):
    """There is something at this address, but nothing that can be done with it in this way."""

    status = 405
    kind = "method_not_allowed"


class HttpRefusal(TrainmasterError):
    """What the framework refuses by itself, by a status that nothing else of ours has."""

    kind = "http"

    def __init__(self, status: int, said: Said) -> None:
        super().__init__(said)
        self.status = status


def accepted(scope: Scope) -> str:
    """Return the Accept-Language header of a request, empty when it has none."""
    return Headers(scope=scope).get("accept-language", "")


def answer(found: ProblemView, language: Language, headers: Mapping[str, str] | None = None) -> Response:
    """Return the response for a problem document, which is in `language`."""
    own = {**(headers or {}), "Content-Language": language, "Vary": "Accept-Language"}
    return Response(encode(found), status_code=found.status, headers=own, media_type=MEDIA_TYPE)


def answer_error(error: TrainmasterError, accept: str, more: Mapping[str, str] | None = None) -> Response:
    """Return the response for a refusal, in the language that `accept` (an Accept-Language header) asks for."""
    headers = dict(more or {})
    if error.status == 401:
        headers["WWW-Authenticate"] = 'Bearer realm="trainmaster"'
    if error.status == 503:
        headers["Retry-After"] = str(RETRY_AFTER_S)
    language = preferred_language(accept)
    return answer(document_of(language, error), language, headers)


async def refuse_socket(error: TrainmasterError, scope: Scope, receive: Receive, send: Send) -> None:
    """Refuse a websocket before it is accepted, with the problem document where the server program can send one."""
    if "websocket.http.response" in (scope.get("extensions") or {}):
        await answer_error(error, accepted(scope))(scope, receive, send)
    else:
        await send({"type": "websocket.close", "code": 1008, "reason": "refused"})


def answer_unknown(error: BaseException, where: str, accept: str) -> Response:
    """Log `error` under a new id and return a 500 that names only the id."""
    mark = secrets.token_hex(6)
    LOG.error("internal error %s at %s", mark, where, exc_info=error)
    return answer_error(TrainmasterError(requests.internal(mark)), accept)


def validation_error(error: RequestValidationError, *, tells_values: bool = True) -> InvalidRequest:
    """Return all problems that the framework found in query, headers and body. `tells_values`: with what was given."""
    found = error.errors()
    problems, count = tuple(_problem(item, tells_values) for item in found[:MOST_LISTED]), len(found)
    said = requests.request_not_valid(count) if count <= MOST_LISTED else requests.request_not_valid_more(MOST_LISTED)
    return InvalidRequest(said, problems=problems)


def _problem(item: Mapping[str, Any], tells_value: bool) -> Problem:
    where, *rest = [str(part) for part in item["loc"]]
    path = ".".join(rest) if where == "body" else ".".join([where, *rest])
    kind, given = str(item["type"]), item.get("ctx") or {}
    value = item.get("input") if tells_value and kind not in ("missing", "json_invalid") else None
    shown = value if isinstance(value, str | int | float | bool) else None
    shown = shown[:200] if isinstance(shown, str) else shown
    if isinstance(own := given.get("said"), Said):  # by a rule of our own, which says it itself
        return problem_of(path[:200], own, shown)
    args = {name: value if isinstance(value, int | float) else str(value) for name, value in given.items()}
    said = Said(RENAMED.get(kind, kind), args) if kind in FRAMEWORK else requests.against_the_contract(str(item["msg"]))
    return problem_of(path[:200], said, shown)


def unreadable(detail: Said) -> InvalidRequest:
    """Return the error for a body that is not JSON at all."""
    return InvalidRequest(requests.body_not_json(), problems=(problem_of("", requests.json_invalid(detail)),))


async def on_known(request: Request, error: Exception) -> Response:
    """Handle TrainmasterError."""
    assert isinstance(error, TrainmasterError)
    return answer_error(error, accepted(request.scope))


async def on_validation(request: Request, error: Exception) -> Response:
    """Handle FastAPI's RequestValidationError."""
    assert isinstance(error, RequestValidationError)
    told = not any(part in request.url.path for part in ("/secrets/", "/storage/"))
    return answer_error(validation_error(error, tells_values=told), accepted(request.scope))


async def on_http(request: Request, error: Exception) -> Response:
    """Handle what router and framework refuse by status."""
    assert isinstance(error, HTTPException)
    if error.status_code == 400:
        refused: TrainmasterError = unreadable(verbatim(str(error.detail)))
    elif error.status_code == 404:
        refused = NotFound(requests.no_such_address())
    elif error.status_code == 405:
        refused = MethodNotAllowed(requests.method_not_known())
    else:
        refused = HttpRefusal(error.status_code, requests.refused_by_http(str(error.detail)))
    return answer_error(refused, accepted(request.scope), error.headers)


async def on_gone(request: Request, error: Exception) -> Response:
    """Handle a client that left before its request was whole: nobody reads the answer, and nothing has failed."""
    return Response(status_code=400)


async def on_unknown(request: Request, error: Exception) -> Response:
    """Handle everything else."""
    return answer_unknown(error, f"{request.method} {request.url.path}", accepted(request.scope))
