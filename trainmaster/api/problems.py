"""Everything that goes wrong, as one RFC 9457 problem document. Never a traceback: what nobody foresaw gets an id and is logged.

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
from trainmaster.core.errors import Problem, TrainmasterError
from trainmaster.service.language import Language, document, document_of, wanted

LOG: Final = logging.getLogger("trainmaster.api")
MEDIA_TYPE: Final = "application/problem+json"
RETRY_AFTER_S: Final = 5
"""When to ask again where a part of the platform does not answer."""
MOST_LISTED: Final = 200
"""Problems that one answer lists."""


class Misdirected(TrainmasterError):
    """The Host header names no address of this server (a guard against DNS rebinding)."""

    status = 421
    code = "misdirected"


class BadRequest(TrainmasterError):
    """What came is no request that HTTP knows, or can be read in two ways."""

    status = 400
    code = "bad_request"


class InvalidRequest(TrainmasterError):
    """Query, header or body do not have the shape the contract says; every problem is listed."""

    status = 422
    code = "invalid_request"


_HTTP: Final[Mapping[int, tuple[str, str, str]]] = {
    404: ("not_found", "There is nothing at this address", "See the contract at /api/v1/openapi.json."),
    405: ("method_not_allowed", "This address does not know this method", "See the header Allow."),
    413: ("too_large", "The request is too large", "Send less at once."),
}
"""status -> (code, title, remedy) of what the framework refuses by itself."""

_RULES: Final[Mapping[str, str]] = {
    "missing": "is required",
    "extra_forbidden": "is not known here",
    "json_invalid": "is not valid JSON",
    "json_type": "is not valid JSON",
}


def accepted(scope: Scope) -> str:
    """Return the Accept-Language header of a request, empty when it has none."""
    return Headers(scope=scope).get("accept-language", "")


def answer(found: ProblemView, language: Language, headers: Mapping[str, str] | None = None) -> Response:
    """Return the response for a problem document, which is in `language`."""
    own = {**(headers or {}), "Content-Language": language, "Vary": "Accept-Language"}
    return Response(encode(found), status_code=found.status, headers=own, media_type=MEDIA_TYPE)


def answer_error(error: TrainmasterError, accept: str) -> Response:
    """Return the response for a known error, in the language that `accept` (an Accept-Language header) asks for."""
    headers = {}
    if error.status == 401:
        headers["WWW-Authenticate"] = 'Bearer realm="trainmaster"'
    if error.status == 503:
        headers["Retry-After"] = str(RETRY_AFTER_S)
    language = wanted(accept)
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
    title = f"The server failed in a way nobody foresaw (id {mark})"
    remedy = f"Look for {mark} in the server's log and report it."
    language = wanted(accept)
    return answer(document(language, 500, "internal", title, remedy), language)


def validation_error(error: RequestValidationError) -> InvalidRequest:
    """Return all problems that the framework found in query, headers and body."""
    found = error.errors()
    problems, count = tuple(_problem(item) for item in found[:MOST_LISTED]), len(found)
    title = f"The request is not valid: {count} problem{'s' if count > 1 else ''}"
    if count > MOST_LISTED:
        title = f"The request is not valid: {MOST_LISTED} of its problems are listed, and there are more"
    return InvalidRequest(title, remedy="Mend the fields listed and send it again.", problems=problems)


def _problem(item: Mapping[str, Any]) -> Problem:
    where, *rest = [str(part) for part in item["loc"]]
    path = ".".join(rest) if where == "body" else ".".join([where, *rest])
    kind = str(item["type"])
    rule = _RULES.get(kind) or str(item["msg"])[:1].lower() + str(item["msg"])[1:]
    value = item.get("input") if kind not in ("missing", "json_invalid") else None
    shown = value if isinstance(value, str | int | float | bool) else None
    if isinstance(shown, str):
        shown = shown[:200]
    return Problem(path[:200], rule, "See the contract at /api/v1/openapi.json.", kind, shown)


def unreadable(detail: str) -> InvalidRequest:
    """Return the error for a body that is not JSON at all."""
    problem = Problem("", f"is not valid JSON: {detail}", "Send one JSON document in UTF-8.", "json_invalid")
    return InvalidRequest("The body is not valid JSON", remedy=problem.remedy, problems=(problem,))


async def on_known(request: Request, error: Exception) -> Response:
    """Handle TrainmasterError."""
    assert isinstance(error, TrainmasterError)
    return answer_error(error, accepted(request.scope))


async def on_validation(request: Request, error: Exception) -> Response:
    """Handle FastAPI's RequestValidationError."""
    assert isinstance(error, RequestValidationError)
    return answer_error(validation_error(error), accepted(request.scope))


async def on_http(request: Request, error: Exception) -> Response:
    """Handle what router and framework refuse by status."""
    assert isinstance(error, HTTPException)
    if error.status_code == 400:
        return answer_error(unreadable(str(error.detail)), accepted(request.scope))
    code, title, remedy = _HTTP.get(error.status_code, ("http", str(error.detail), ""))
    language = wanted(accepted(request.scope))
    return answer(document(language, error.status_code, code, title, remedy), language, error.headers)


async def on_gone(request: Request, error: Exception) -> Response:
    """Handle a client that left before its request was whole: nobody reads the answer, and nothing has failed."""
    return Response(status_code=400)


async def on_unknown(request: Request, error: Exception) -> Response:
    """Handle everything else."""
    return answer_unknown(error, f"{request.method} {request.url.path}", accepted(request.scope))
