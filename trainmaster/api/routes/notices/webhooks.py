"""Webhooks: of one's own, and of workspaces."""

from typing import Annotated

from fastapi import Query
from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response

from trainmaster.api.auth import who
from trainmaster.api.deps import Json, platform
from trainmaster.api.policy import By, Table
from trainmaster.api.routes.notices.notifications import Kind
from trainmaster.api.routes.pools import Body
from trainmaster.service.notices.addresses import LONGEST
from trainmaster.service.use_cases.notices.webhooks import WantedWebhook

routes = Table("webhooks")

Url = Annotated[str, Field(min_length=1, max_length=LONGEST)]
Title = Annotated[str, Field(max_length=100, pattern=r"^[^\x00-\x1f\x7f]*$")]
Kinds = Annotated[tuple[Kind, ...], Field(max_length=20)]


class WebhookBody(Body):
    """A webhook to make. `workspace`: whose jobs it is told of, absent: your own; `kinds`: of what, for a workspace's
    (absent: everything). Your own is told what you choose in your settings.
    """

    url: Url
    name: Title = ""
    workspace: Annotated[str, Field(min_length=1, max_length=63)] | None = None
    kinds: Kinds = ()


class WebhookChange(Body):
    """What is to change of a webhook; what is absent stays. `on`: switch it on or off."""

    url: Url | None = None
    name: Annotated[Title, Field(min_length=1)] | None = None
    kinds: Kinds | None = None
    on: bool | None = None


@routes.route("GET", "/webhooks", scope="webhooks:write", answers={200: "Webhooks"}, by=By.ANY)
async def list_webhooks(request: Request, workspace: Annotated[str, Query(max_length=200)] = "") -> Response:
    """List your webhooks, or those of a workspace that you lead."""
    return Json(await platform(request).webhooks.all(who(request), workspace))


@routes.route("POST", "/webhooks", scope="webhooks:write", answers={201: "NewWebhook"}, body_limit=16 * 1024)
async def add_webhook(request: Request, body: WebhookBody) -> Response:
    """Make a webhook; its secret is shown in this answer and never again."""
    wanted = WantedWebhook(body.url, body.name, body.workspace or "", body.kinds)
    return Json(await platform(request).webhooks.add(who(request), wanted), status_code=201)


@routes.route("PATCH", "/webhooks/{webhook}", scope="webhooks:write", answers={200: "Webhook"}, body_limit=16 * 1024)
async def change_webhook(request: Request, webhook: str, body: WebhookChange) -> Response:
    """Change a webhook, or switch it on or off."""
    app, me = platform(request), who(request)
    return Json(
        await app.webhooks.change(me, webhook, url=body.url, name=body.name, kinds=body.kinds, on=body.on)
    )  # fmt: skip


@routes.route("DELETE", "/webhooks/{webhook}", scope="webhooks:write", answers={204: ""})
async def delete_webhook(request: Request, webhook: str) -> Response:
    """Delete a webhook, with what waits to be sent to it."""
    await platform(request).webhooks.drop(who(request), webhook)
    return Response(status_code=204)


@routes.route("POST", "/webhooks/{webhook}/test", scope="webhooks:write", answers={200: "Delivery"})
async def try_webhook(request: Request, webhook: str) -> Response:
    """Send a test to a webhook now, and say what became of it."""
    return Json(await platform(request).webhooks.test(who(request), webhook))


@routes.route("GET", "/webhooks/deliveries", scope="webhooks:write", answers={200: "Deliveries"}, by=By.ANY)
async def list_deliveries(request: Request, webhook: Annotated[str, Query(max_length=200)] = "") -> Response:
    """List the newest messages to a webhook (without: to all of yours), and what became of them."""
    return Json(await platform(request).webhooks.deliveries(who(request), webhook))
