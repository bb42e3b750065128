"""Reports of what was used and what it cost."""

from typing import Annotated

from fastapi import Query
from starlette.requests import Request
from starlette.responses import Response

from trainmaster.api.auth import who
from trainmaster.api.deps import Json, platform
from trainmaster.api.policy import Table

routes = Table("reports")

MonthName = Annotated[str, Query(max_length=20)]
Wanted = Annotated[str, Query(max_length=200)]


@routes.route("GET", "/reports/usage", scope="usage:read", answers={200: "UsageReport"})
async def report_usage(request: Request, month: MonthName = "", workspace: Wanted = "", owner: Wanted = "") -> Response:
    """Show what was used in a month (YYYY-MM, without one this month) and what it cost, by workspace, person and
    flavor: to an administrator everything, to a workspace's owners and admins all of it, to others their own.
    """
    return Json(await platform(request).reports.usage(who(request), month, workspace, owner))


@routes.route("GET", "/reports/usage.csv", scope="usage:read", answers={200: "text/csv"})
async def report_usage_csv(
    request: Request, month: MonthName = "", workspace: Wanted = "", owner: Wanted = ""
) -> Response:
    """Give the lines of the report as CSV."""
    text = await platform(request).reports.usage_csv(who(request), month, workspace, owner)
    name = f"usage-{month or 'now'}.csv" if month.replace("-", "").isdigit() else "usage.csv"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(text, media_type="text/csv; charset=utf-8", headers=headers)
