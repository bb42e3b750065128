"""What everybody did, and, for administrators, what is removed by itself."""

from collections.abc import Iterator
from functools import partial
from typing import Annotated

from fastapi import Query
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import Response

from trainmaster.api.auth import who, working
from trainmaster.api.deps import Cursor, Json, paged, platform
from trainmaster.api.downloads import send_stream
from trainmaster.api.policy import By, Table
from trainmaster.api.written import encode
from trainmaster.service.upkeep.retention_rules import DAY_S
from trainmaster.service.use_cases.auditing import AuditFilters

routes = Table("upkeep")

Moment = Annotated[int | float | None, Field(ge=0, le=2**53)]


Days = Annotated[float | None, Field(ge=0, le=36600, allow_inf_nan=False)]


class RetentionQuery(BaseModel):
    """How long things were kept if it were set so, in days; 0: for ever; absent: as it is set."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    jobs_days: Days = None
    logs_days: Days = None
    audit_days: Days = None
    uploads_days: Days = None
    keys_days: Days = None
    bin_days: Days = None


class AuditWanted(BaseModel):
    """What is looked for. `subject`: a kind of thing or one of them (`pool:default`, `job:<id>`); `actor`: person,
    token, job or system; `after` < when <= `before`.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    subject: Annotated[str, Field(max_length=300)] = ""
    by: Annotated[str, Field(max_length=200)] = ""
    kind: Annotated[str, Field(max_length=100)] = ""
    workspace: Annotated[str, Field(max_length=63)] = ""
    actor: Annotated[str, Field(max_length=20)] = ""
    after: Moment = None
    before: Moment = None

    def filters(self) -> AuditFilters:
        """Return it without what is only of a page."""
        return AuditFilters(**self.model_dump(include=set(AuditWanted.model_fields)))


class AuditPageWanted(AuditWanted):
    """One page of it."""

    limit: Annotated[int, Field(ge=1, le=500)] = 50
    cursor: Cursor = None


@routes.route("GET", "/audit", scope="audit:read", answers={200: "AuditPage"}, by=By.ANY)
async def get_audit(request: Request, wanted: Annotated[AuditPageWanted, Query()]) -> Response:
    """List what was done to what one may read of, newest first: everything for administrators, a workspace for its
    owners and admins, what is theirs for everybody.
    """
    page = partial(platform(request).auditing.page, who(request), wanted.filters(), wanted.limit)
    return await paged(request, "audit", wanted.cursor, page)


@routes.route("GET", "/audit/export", scope="audit:read", answers={200: "application/x-ndjson"}, by=By.ANY)
async def export_audit(request: Request, wanted: Annotated[AuditWanted, Query()]) -> Response:
    """Download all of it, newest first: a line of JSON for each."""
    pieces = platform(request).auditing.export(who(request), wanted.filters())

    def lines() -> Iterator[bytes]:
        return (b"".join(encode(one) + b"\n" for one in piece) for piece in pieces)

    return await send_stream(request, lines, "application/x-ndjson", "audit.jsonl")


@routes.route("GET", "/retention", scope="retention:read", answers={200: "Retention"})
async def get_retention(request: Request, wanted: Annotated[RetentionQuery, Query()]) -> Response:
    """Say what would be removed by itself now, and why, also with other settings; nothing is removed by asking."""
    days = {name.removesuffix("_days"): value for name, value in wanted.model_dump().items() if value is not None}
    async with working(request):
        found = await platform(request).retention.ask(
            who(request), **{name: value * DAY_S for name, value in days.items()}
        )
    return Json(found)
