"""Webhooks: made, changed, tried and removed. Everybody has their own; those of a workspace belong to who leads it.

Invariant: the secret of a webhook leaves this file once, when it is made; what a receiver answers is told nobody but by
its status.
"""

import asyncio
import time
from collections import defaultdict, deque
from dataclasses import dataclass, replace
from typing import Final
from urllib.parse import urlsplit

from msgspec.structs import asdict

from trainmaster.access.decide import decide
from trainmaster.access.roles import Principal
from trainmaster.access.visible import InWorkspace
from trainmaster.answers import DeliveriesView, DeliveryView, NewWebhook, WebhooksView, WebhookView
from trainmaster.core.errors import InvalidSpec, NotFound, Problem, RateLimited, problem_of
from trainmaster.core.events import Changes
from trainmaster.messages.cluster import cluster
from trainmaster.messages.server import notices as said
from trainmaster.service.beginnings import whole_id
from trainmaster.service.context import Context
from trainmaster.service.language import both
from trainmaster.service.notices.addresses import NotSent, problems_of, target_of
from trainmaster.service.notices.audience import subject_webhook
from trainmaster.service.notices.kinds import OF_WORKSPACES, TEST, Happening, body_of
from trainmaster.service.notices.signing import secret_of
from trainmaster.store.jobs import rows
from trainmaster.store.notices.deliveries import FAILED, SENT, WAITING, WEBHOOK, Delivery
from trainmaster.store.notices.webhooks import OFF, ON, Webhook

MOST_TESTS: Final = 10
"""Tests that one person may send in a minute."""
MINUTE_S: Final = 60.0


@dataclass(frozen=True, slots=True)
class WantedWebhook:
    """A webhook to make. `workspace` "": one's own, which is told what its owner chose (`kinds` empty)."""

    url: str
    name: str = ""
    workspace: str = ""
    kinds: tuple[str, ...] = ()


class Webhooks:
    """One object per server."""

    def __init__(self, context: Context) -> None:
        self._ctx = context
        self._tests: defaultdict[str, deque[float]] = defaultdict(deque)

    async def all(self, who: Principal, workspace: str = "") -> WebhooksView:
        """Return one's own webhooks, or those of a workspace. Raises Forbidden, NotFound."""
        visible = decide(who, "webhooks:write").demand()
        if workspace:
            self._demand_leads(workspace, who)
        found = await asyncio.to_thread(self._ctx.notices.tables.webhooks.all, visible, who.name, workspace)
        return WebhooksView(items=[_view(one) for one in found])

    async def add(self, who: Principal, wanted: WantedWebhook) -> NewWebhook:
        """Make a webhook; the answer is the only place where its secret is ever shown. Raises Forbidden, NotFound,
        InvalidSpec with all that is wrong, Conflict where there are too many.
        """
        decide(who, "webhooks:write").demand()
        if wanted.workspace:
            self._demand_leads(wanted.workspace, who)
        elif who.within is not None:
            self._demand_leads("", who)
        await self._demand_good(wanted.url, wanted.kinds, wanted.workspace)
        id_, now = "w" + self._ctx.random_bytes(8).hex(), self._ctx.clock()
        name = wanted.name.strip() or (urlsplit(wanted.url).hostname or id_)
        kinds = tuple(dict.fromkeys(wanted.kinds)) or (OF_WORKSPACES if wanted.workspace else ())
        made = Webhook(id_, who.name, wanted.workspace, name, wanted.url, kinds, created_at=now)
        words = said.webhook_made(name, id_, _host(made))
        await asyncio.to_thread(
            self._ctx.notices.tables.webhooks.add, made, who.did(subject_webhook(made), words, now)
        )  # fmt: skip
        return NewWebhook(**asdict(_view(made)), secret=secret_of(self._ctx.notices.sender.master, id_))

    async def change(
        self,
        who: Principal,
        id_: str,
        *,
        url: str | None = None,
        name: str | None = None,
        kinds: tuple[str, ...] | None = None,
        on: bool | None = None,
    ) -> WebhookView:
        """Change a webhook, or switch it on or off; what failed is forgotten. Raises NotFound, InvalidSpec."""
        before = await self._find(who, id_)
        state = before.state if on is None else (ON if on else OFF)
        chosen = before.kinds if kinds is None else tuple(dict.fromkeys(kinds))
        after = replace(before, url=url or before.url, name=name or before.name, kinds=chosen, state=state)
        await self._demand_good(after.url, after.kinds, after.workspace, chosen=kinds is not None)
        now = self._ctx.clock()
        words, changes = said.webhook_changed(after.name, after.id), _changes(before, after)
        audit_event = who.did(subject_webhook(after), words, now, changes)
        await asyncio.to_thread(self._ctx.notices.tables.webhooks.change, after, now, audit_event)
        self._ctx.notices.sender.wake()
        return _view(replace(after, failures=0, error=None))

    async def drop(self, who: Principal, id_: str) -> None:
        """Remove a webhook with what waits for it. Raises NotFound."""
        one = await self._find(who, id_)
        audit_event = who.did(subject_webhook(one), said.webhook_deleted(one.name, one.id), self._ctx.clock())
        await asyncio.to_thread(self._ctx.notices.tables.webhooks.drop, one.id, audit_event)

    async def deliveries(self, who: Principal, id_: str = "") -> DeliveriesView:
        """Return the newest deliveries of a webhook, "": of all of one's own. Raises Forbidden, NotFound."""
        ids = [(await self._find(who, id_)).id] if id_ else [one.id for one in (await self.all(who)).items]
        found = await asyncio.to_thread(self._ctx.notices.tables.deliveries.newest, WEBHOOK, ids)
        return DeliveriesView(items=[_delivery(each) for each in found])

    async def test(self, who: Principal, id_: str) -> DeliveryView:
        """Send a test now, and return what became of it. Raises NotFound, RateLimited."""
        one = await self._find(who, id_)
        self._count(who.name)
        now, parts = self._ctx.clock(), self._ctx.notices
        what = Happening(TEST, f"{TEST}/{one.id}", now, said.notice_test(one.name), one.workspace, one.owner)
        body = rows.encode(body_of(what, parts.audience.link(TEST, None)))
        message, place = "msg_" + self._ctx.random_bytes(16).hex(), (one.owner, one.workspace)
        sent = Delivery(message, WEBHOOK, one.id, one.owner, TEST, *place, body, now, now, tries=1)
        try:
            status, error, state = await parts.sender.post(sent, one), None, SENT
        except NotSent as failed:
            status, error, state = failed.status or 0, failed.said, FAILED
        done = replace(sent, state=state, status=status or None, error=error, done_at=self._ctx.clock())
        words = said.webhook_tested(one.name, one.id)
        audit_event = who.did(subject_webhook(one), words, now)
        await asyncio.to_thread(parts.tables.deliveries.add, done, audit_event)
        return _delivery(done)

    # -- inside --------------------------------------------------------------------------------------------------

    def _demand_leads(self, workspace: str, who: Principal) -> None:
        """Return when `who` may have webhooks of a workspace that exists: of one they are not in nothing is told."""
        if workspace and workspace not in self._ctx.pools.workspaces:
            raise NotFound(cluster.workspace_not_found(workspace, sorted(self._ctx.pools.workspaces)))
        decide(who, "webhooks:write", InWorkspace(workspace)).demand()

    async def _find(self, who: Principal, id_: str) -> Webhook:
        """Return a webhook by its id or the beginning of it. Raises NotFound, Conflict where several begin so."""
        visible, stored = decide(who, "webhooks:write").demand(), self._ctx.notices.tables.webhooks
        id_ = whole_id(id_, await asyncio.to_thread(stored.ids, visible))
        found = await asyncio.to_thread(stored.find, id_)
        if found is None or not visible.covers(found):
            raise NotFound(said.no_such_webhook(id_))
        return found

    async def _demand_good(self, url: str, kinds: tuple[str, ...], workspace: str, chosen: bool = True) -> None:
        """Return when a webhook can be as it is wanted, also where its name leads now. Raises InvalidSpec."""
        found = problems_of(url, self._ctx.config.webhooks)
        target = target_of(url)
        if not found and target is not None:
            try:
                await self._ctx.notices.guard.addresses(target)
            except NotSent as error:
                found.append(problem_of("url", error.said, url))
        if chosen:
            found += _kind_problems(kinds)
        if found:
            raise InvalidSpec(said.webhook_not_accepted(len(found)), problems=tuple(found))

    def _count(self, name: str) -> None:
        sent, now = self._tests[name], time.monotonic()
        while sent and sent[0] < now - MINUTE_S:
            sent.popleft()
        if len(sent) >= MOST_TESTS:
            raise RateLimited(said.too_many_tests(MOST_TESTS))
        sent.append(now)


def _kind_problems(kinds: tuple[str, ...]) -> list[Problem]:
    known = OF_WORKSPACES
    return [
        problem_of(f"kinds.{at}", said.no_such_notice_kind(kind, known), kind)
        for at, kind in enumerate(kinds)
        if kind not in known
    ]


def _host(one: Webhook) -> str:
    return urlsplit(one.url).netloc


def _changes(before: Webhook, after: Webhook) -> Changes:
    """Return what became something else; of a URL the host alone, since the rest may be a secret."""
    pairs = (
        ("name", before.name, after.name),
        ("host", _host(before), _host(after)),
        ("kinds", list(before.kinds), list(after.kinds)),
        ("state", before.state, after.state),
    )
    return tuple((f"webhooks.{after.id}.{name}", was, now) for name, was, now in pairs if was != now)


def _view(one: Webhook) -> WebhookView:
    return WebhookView(
        id=one.id,
        name=one.name,
        url=one.url,
        workspace=one.workspace or None,
        owner=one.owner,
        kinds=list(one.kinds),
        state=one.state,  # type: ignore[arg-type]
        failures=one.failures,
        error=None if one.error is None else both(one.error),
        created_at=one.created_at,
    )


def _delivery(one: Delivery) -> DeliveryView:
    return DeliveryView(
        id=one.id,
        webhook=one.target,
        kind=one.kind,
        state=one.state,  # type: ignore[arg-type]
        tries=one.tries,
        created_at=one.created_at,
        next_at=one.next_at if one.state == WAITING else None,
        done_at=one.done_at,
        status=one.status,
        error=None if one.error is None else both(one.error),
    )
