"""One's notifications, where they are told, and webhooks: what `Client.notices` offers. Synchronous.

Every method raises Forbidden for who may not, NotFound, InvalidSpec with all problems, Unavailable.
"""

import builtins
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Literal

from trainmaster import answers
from trainmaster.sdk.administration.cluster import word

if TYPE_CHECKING:
    from trainmaster.sdk.transport import Transport

Language = Literal["zh", "en"]


class NoticeCalls:
    """See the module. Kinds are ended, failed, waits, preempted, idle, limit, budget and webhook."""

    def __init__(self, http: "Transport") -> None:
        self._http = http

    # -- notifications -----------------------------------------------------------------------------------------

    def list(
        self, *, kinds: Sequence[str] = (), unread: bool = False, limit: int | None = None
    ) -> Iterator[answers.NoticeView]:
        """Yield your notifications, newest first, at most `limit` of them."""
        return islice(self._pages(kinds, unread), limit)

    def _pages(self, kinds: Sequence[str], unread: bool) -> Iterator[answers.NoticeView]:
        cursor: str | None = ""
        while cursor is not None:
            params: dict[str, object] = {"kind": [*kinds], "unread": unread, **({"cursor": cursor} if cursor else {})}
            page = self._http.read(answers.NoticePage, "GET", "/notifications", params=params)
            yield from page.items
            cursor = page.next_cursor

    def unread(self) -> int:
        """Return how many are not read."""
        return self._http.read(answers.NoticePage, "GET", "/notifications", params={"limit": 1}).unread

    def read(self, ids: Sequence[str] | None = None) -> int:
        """Mark these as read, by their ids or the beginnings of them, None: all; return how many are not. Raises
        InvalidSpec for what is none, Conflict where several begin so.
        """
        body = {"ids": None if ids is None else [*ids]}
        return self._http.read(answers.UnreadView, "POST", "/notifications/read", json=body, repeat=True).unread

    # -- settings ----------------------------------------------------------------------------------------------

    def settings(self) -> answers.NoticeSettings:
        """Return what you are told, and where."""
        return self._http.read(answers.NoticeSettings, "GET", "/notifications/settings")

    def change_settings(
        self, kinds: Mapping[str, Mapping[str, bool]] | None = None, *, language: Language | None = None
    ) -> answers.NoticeSettings:
        """Change where kinds are told, for example ``{"ended": {"mail": True}}``: console, mail, webhook; what is not
        named stays. `language`: of mails.
        """
        body = {"kinds": {kind: dict(one) for kind, one in (kinds or {}).items()}, "language": language}
        return self._http.read(answers.NoticeSettings, "PATCH", "/notifications/settings", json=body, repeat=True)

    def give_address(self, address: str, *, language: Language | None = None) -> answers.NoticeSettings:
        """Send a code to an e-mail address; mails go there once it was confirmed. Raises Conflict where the server
        sends no mails, RateLimited.
        """
        body = {"address": address, "language": language}
        return self._http.read(answers.NoticeSettings, "POST", "/notifications/address", json=body)

    def confirm_address(self, code: str) -> answers.NoticeSettings:
        """Confirm the address with the code that came there."""
        return self._http.read(answers.NoticeSettings, "POST", "/notifications/address/confirm", json={"code": code})

    def remove_address(self) -> answers.NoticeSettings:
        """Forget your address; no more mails are sent."""
        return self._http.read(answers.NoticeSettings, "DELETE", "/notifications/address")

    # -- webhooks ----------------------------------------------------------------------------------------------

    def webhooks(self, workspace: str = "") -> builtins.list[answers.WebhookView]:
        """Return your webhooks, or those of a workspace that you lead."""
        return self._http.read(answers.WebhooksView, "GET", "/webhooks", params={"workspace": workspace}).items

    def add_webhook(
        self, url: str, *, name: str = "", workspace: str | None = None, kinds: Sequence[str] = ()
    ) -> answers.NewWebhook:
        """Make a webhook; the answer has its secret, which is shown never again. `workspace`: told of all its jobs, of
        these `kinds` (none named: all).
        """
        body = {"url": url, "name": name, "workspace": workspace, "kinds": [*kinds]}
        return self._http.read(answers.NewWebhook, "POST", "/webhooks", json=body)

    def change_webhook(
        self,
        webhook: str,
        *,
        url: str | None = None,
        name: str | None = None,
        kinds: Sequence[str] | None = None,
        on: bool | None = None,
    ) -> answers.WebhookView:
        """Change a webhook, or switch it on or off."""
        body = {"url": url, "name": name, "kinds": None if kinds is None else [*kinds], "on": on}
        return self._http.read(answers.WebhookView, "PATCH", f"/webhooks/{word(webhook)}", json=body, repeat=True)

    def delete_webhook(self, webhook: str) -> None:
        """Delete a webhook, with what waits to be sent to it."""
        self._http.request("DELETE", f"/webhooks/{word(webhook)}")

    def test_webhook(self, webhook: str) -> answers.DeliveryView:
        """Send a test now, and return what became of it."""
        return self._http.read(answers.DeliveryView, "POST", f"/webhooks/{word(webhook)}/test", timeout=60.0)

    def deliveries(self, webhook: str = "") -> builtins.list[answers.DeliveryView]:
        """Return the newest messages to a webhook, "": to all of yours, and what became of them."""
        return self._http.read(answers.DeliveriesView, "GET", "/webhooks/deliveries", params={"webhook": webhook}).items
