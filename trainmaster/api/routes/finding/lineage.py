"""Lineage: what a version or a job was made of, and what was made of it."""

from typing import Annotated, Literal

from fastapi import Query
from starlette.requests import Request
from starlette.responses import Response

from trainmaster.api.auth import who
from trainmaster.api.deps import Json, platform
from trainmaster.api.policy import By, Table
from trainmaster.service.use_cases.finding.lineage import DEEPEST, DEPTH

routes = Table("lineage")


@routes.route("GET", "/lineage", scope="meta:read", answers={200: "Lineage"}, by=By.ANY)
async def lineage(
    request: Request,
    kind: Literal["job", "dataset", "model", "algorithm", "image", "volume"],
    ref: Annotated[str, Query(max_length=200)],
    depth: Annotated[int, Query(ge=1, le=DEEPEST)] = DEPTH,
) -> Response:
    """Tell what a job, or a version of something that is kept under a name, was made of, and what was made of it, so
    many steps each way. `ref`: NAME or NAME@VERSION (the latest where none is given), with an id for the name too; of a
    job its id or short name. What the caller may not see is not in it. At most 60 nodes each way.
    """
    return Json(await platform(request).lineages.of(kind, ref, who(request), depth))
