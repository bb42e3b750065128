"""For administrators: what everybody did."""

from typing import Annotated

from fastapi import Query
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import Response

from trainmaster.api.auth import who
from trainmaster.api.deps import Json, platform
from trainmaster.api.policy import Table

routes = Table("upkeep")

Moment = Annotated[int | float | None, Field(ge=0, le=2**53)]


class AuditFilter(BaseModel):
    """What is looked for. `subject`: a kind of thing or one of them (`pool:default`, `job:<id>`); `after` < when <= `before`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    subject: Annotated[str, Field(max_length=300)] = ""
    by: Annotated[str, Field(max_length=200)] = ""
    kind: Annotated[str, Field(max_length=100)] = ""
    after: Moment = None
    before: Moment = None
    limit: Annotated[int, Field(ge=1, le=500)] = 50
    cursor: Annotated[str | None, Field(max_length=500)] = None


@routes.route("GET", "/audit", scope="audit:read", answers={200: "AuditPage"})
async def get_audit(request: Request, wanted: Annotated[AuditFilter, Query()]) -> Response:
    """List what people did to pools, workspaces, nodes, people and jobs, newest first."""
    return Json(await platform(request).auditing.page(who(request), **wanted.model_dump()))
