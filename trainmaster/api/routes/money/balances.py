"""Balances of workspaces: how they stand, credits, corrections, credit limits and budgets."""

from functools import partial
from typing import Annotated, Literal

from fastapi import Query
from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response

from trainmaster.api.auth import who
from trainmaster.api.deps import Cursor, Json, paged, platform
from trainmaster.api.policy import Table
from trainmaster.api.routes.money.amounts import Signed, Sum
from trainmaster.api.routes.pools import Body, Name, Text
from trainmaster.core.cluster import Budget

routes = Table("balances")


class BudgetBody(Body):
    """Credit limit and budget as they are to be. `credit_limit`: how far the balance may go below 0, null however far;
    `budget`: of a month, null none; `alarms`: at how many percent of it an alarm is told.
    """

    credit_limit: Sum | None = None
    budget: Sum | None = None
    alarms: Annotated[tuple[int, ...], Field(max_length=10)] = (80, 100)


class EntryBody(Body):
    """An entry to add: a credit (less than 0 takes one back and says why), or a correction of what use cost, which says
    why and counts as spent. `key`: the same again adds nothing.
    """

    kind: Literal["credit", "correction"] = "credit"
    amount: Signed
    note: Text = ""
    key: Annotated[str, Field(min_length=1, max_length=200)] | None = None


@routes.route("GET", "/balances", scope="balance:read", answers={200: "Balances"})
async def list_balances(request: Request) -> Response:
    """List how the workspaces stand that the caller is in."""
    return Json(await platform(request).balances.all(who(request)))


@routes.route("GET", "/workspaces/{workspace}/balance", scope="balance:read", answers={200: "Balance"})
async def get_balance(request: Request, workspace: Name) -> Response:
    """Show how a workspace stands: its balance, what is set aside, its budget."""
    return Json(await platform(request).balances.of(workspace, who(request)))


@routes.route("PUT", "/workspaces/{workspace}/budget", scope="balance:write", answers={200: "Balance"})
async def put_budget(request: Request, workspace: Name, body: BudgetBody) -> Response:
    """Set how far a workspace may go below 0, and its budget of a month."""
    wanted = Budget(workspace, body.credit_limit, body.budget, tuple(sorted(set(body.alarms))))
    return Json(await platform(request).balances.set_budget(wanted, who(request)))


@routes.route("GET", "/workspaces/{workspace}/entries", scope="balance:read", answers={200: "EntryPage"})
async def list_entries(
    request: Request,
    workspace: Name,
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
    cursor: Cursor = None,
) -> Response:
    """List what changed the balance of a workspace, newest first; who does not see all of it sees their own use."""
    page = partial(platform(request).balances.entries, workspace, who(request), limit)
    return await paged(request, "entries", cursor, page)


@routes.route(
    "POST", "/workspaces/{workspace}/entries", scope="balance:write", answers={201: "Entry"}, body_limit=16 * 1024
)
async def add_entry(request: Request, workspace: Name, body: EntryBody) -> Response:
    """Enter a credit or a correction. Nothing that was entered is ever changed."""
    app, me = platform(request), who(request)
    made = await app.balances.enter(workspace, me, body.kind, body.amount, body.note, body.key)
    return Json(made, status_code=201)
