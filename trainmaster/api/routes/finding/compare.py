"""Jobs side by side: what differs of them, their curves over each other, and their code."""

from typing import Annotated

from fastapi import Query
from starlette.requests import Request
from starlette.responses import Response

from trainmaster.api.auth import looking, who
from trainmaster.api.deps import Json, platform
from trainmaster.api.policy import By, Table
from trainmaster.service.use_cases.finding.comparing import MOST_JOBS

routes = Table("compare")

Ref = Annotated[str, Query(min_length=1, max_length=400)]
Refs = Annotated[list[Annotated[str, Query(max_length=400)]], Query(alias="job", min_length=1, max_length=MOST_JOBS)]


@routes.route("GET", "/compare", scope="jobs:read", answers={200: "Comparison"}, by=By.LEADER_FIRST)
async def compare_jobs(request: Request, refs: Refs) -> Response:
    """Compare jobs: what differs between their job files, and what became of each metric. A job is named as elsewhere,
    or by the version of a model that it made: `NAME@VERSION`.
    """
    async with looking(request):
        return Json(await platform(request).comparing.jobs(refs, who(request)))


@routes.route("GET", "/compare/curves", scope="jobs:read", answers={200: "Overlay"}, by=By.LEADER_FIRST)
async def compare_curves(
    request: Request,
    refs: Refs,
    names: Annotated[list[Annotated[str, Query(max_length=200)]], Query(alias="metric", min_length=1, max_length=16)],
    points: Annotated[int, Query(ge=4, le=2048)] = 500,
) -> Response:
    """Give the curves of some metrics of several jobs, to be drawn over each other, at most `points` points each."""
    async with looking(request):
        return Json(await platform(request).comparing.curves(refs, names, points, who(request)))


@routes.route("GET", "/compare/code", scope="jobs:read", answers={200: "CodeDiff"}, by=By.LEADER_FIRST)
async def compare_code(request: Request, base: Ref, other: Ref) -> Response:
    """Compare the code of two jobs, file by file; of texts as a unified diff, as far as it is not too long."""
    async with looking(request):
        return Json(await platform(request).comparing.code(base, other, who(request)))
