"""For administrators: what everybody did, and what is removed by itself."""

from typing import Annotated

from fastapi import Query
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import Response

from trainmaster.api.auth import who, working
from trainmaster.api.deps import Json, platform
from trainmaster.api.policy import By, Table
from trainmaster.service.upkeep.retention_rules import DAY_S

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


class AuditFilter(BaseModel):
    """What is looked for. `subject`: a kind of thing or one of them (`pool:default`, `job:<id>`); `after` < when <=
    `before`.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    subject: Annotated[str, Field(max_length=300)] = ""
    by: Annotated[str, Field(max_length=200)] = ""
    kind: Annotated[str, Field(max_length=100)] = ""
    after: Moment = None
    before: Moment = None
    limit: Annotated[int, Field(ge=1, le=500)] = 50
    cursor: Annotated[str | None, Field(max_length=500)] = None


@routes.route("GET", "/audit", scope="audit:read", answers={200: "AuditPage"}, by=By.ANY)
async def get_audit(request: Request, wanted: Annotated[AuditFilter, Query()]) -> Response:
    """List what people did to pools, workspaces, nodes, people and jobs, newest first."""
    return Json(await platform(request).auditing.page(who(request), **wanted.model_dump()))


@routes.route("GET", "/retention", scope="retention:read", answers={200: "Retention"})
async def get_retention(request: Request, wanted: Annotated[RetentionQuery, Query()]) -> Response:
    """Say what would be removed by itself now, and why, also with other settings; nothing is removed by asking."""
    days = {name.removesuffix("_days"): value for name, value in wanted.model_dump().items() if value is not None}
    async with working(request):
        found = await platform(request).retention.ask(
            who(request), **{name: value * DAY_S for name, value in days.items()}
        )
    return Json(found)
