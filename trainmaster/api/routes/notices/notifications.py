"""One's own notifications, and what one wants to be told where."""

from typing import Annotated, Literal

from fastapi import Query
from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response

from trainmaster.api.auth import who
from trainmaster.api.deps import Cursor, Json, paged, platform
from trainmaster.api.policy import By, Table
from trainmaster.api.routes.pools import Body
from trainmaster.service.use_cases.notices.choosing import Switches

routes = Table("notifications")

Kind = Annotated[str, Field(min_length=1, max_length=40)]
Language = Literal["zh", "en"]


class SwitchesBody(Body):
    """Where one kind is to be told; what is absent stays."""

    console: bool | None = None
    mail: bool | None = None
    webhook: bool | None = None


class NoticeSettingsBody(Body):
    """Switches by kind, and the language of mails; what is absent stays."""

    kinds: Annotated[dict[Kind, SwitchesBody], Field(max_length=40, default_factory=dict)]
    language: Language | None = None


class AddressBody(Body):
    """An address to which a code is sent; mails go there once it was confirmed. `language`: of mails."""

    address: Annotated[str, Field(min_length=1, max_length=254)]
    language: Language | None = None


class CodeBody(Body):
    """The code that came by e-mail."""

    code: Annotated[str, Field(min_length=1, max_length=20)]


class ReadBody(Body):
    """Which are read, by their ids or the beginnings of them (4 characters or more); null: all of them."""

    ids: Annotated[tuple[Annotated[str, Field(max_length=100)], ...] | None, Field(max_length=500)] = None


@routes.route("GET", "/notifications", scope="notices:self", answers={200: "NoticePage"}, by=By.ANY)
async def list_notifications(
    request: Request,
    kind: Annotated[list[Kind] | None, Query(max_length=20)] = None,
    unread: bool = False,
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
    cursor: Cursor = None,
) -> Response:
    """List your notifications, newest first, and how many are not read."""
    app, me = platform(request), who(request)
    return await paged(
        request,
        "notifications",
        cursor,
        lambda place: app.notifications.page(me, limit, place, tuple(kind or ()), unread),
    )


@routes.route("POST", "/notifications/read", scope="notices:self", answers={200: "Unread"}, body_limit=32 * 1024)
async def read_notifications(request: Request, body: ReadBody) -> Response:
    """Mark notifications as read."""
    return Json(await platform(request).notifications.read(who(request), body.ids))


@routes.route("GET", "/notifications/settings", scope="notices:self", answers={200: "NoticeSettings"}, by=By.ANY)
async def get_notification_settings(request: Request) -> Response:
    """Show what you are told, and where."""
    return Json(await platform(request).choosing.settings(who(request)))


@routes.route("PATCH", "/notifications/settings", scope="notices:self", answers={200: "NoticeSettings"})
async def change_notification_settings(request: Request, body: NoticeSettingsBody) -> Response:
    """Change what you are told, and where."""
    kinds = {kind: Switches(one.console, one.mail, one.webhook) for kind, one in body.kinds.items()}
    return Json(await platform(request).choosing.change(who(request), kinds, body.language))


@routes.route(
    "POST", "/notifications/address", scope="notices:self", answers={200: "NoticeSettings"}, body_limit=16 * 1024
)
async def give_address(request: Request, body: AddressBody) -> Response:
    """Send a code to an e-mail address; mails go there once the code was typed."""
    return Json(await platform(request).choosing.ask(who(request), body.address.strip(), body.language))


@routes.route(
    "POST", "/notifications/address/confirm", scope="notices:self", answers={200: "NoticeSettings"}, body_limit=1024
)
async def confirm_address(request: Request, body: CodeBody) -> Response:
    """Confirm an e-mail address with the code that came there."""
    return Json(await platform(request).choosing.confirm(who(request), body.code))


@routes.route("DELETE", "/notifications/address", scope="notices:self", answers={200: "NoticeSettings"})
async def remove_address(request: Request) -> Response:
    """Forget your e-mail address; no more mails are sent."""
    return Json(await platform(request).choosing.remove(who(request)))
