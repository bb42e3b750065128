"""Who hears of what: turns what happened into notifications and messages to send. Asks the policy for everybody, when
something is told and again when it is sent; whoever may not see a thing hears nothing of it.

Methods block: in a worker thread.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from trainmaster.access.decide import decide
from trainmaster.access.roles import Principal
from trainmaster.access.visible import InWorkspace
from trainmaster.core.events import Subject, subject_of
from trainmaster.service.notices.kinds import BUDGET, TEST, WEBHOOK, Happening, Wishes, body_of, wishes_of
from trainmaster.store.jobs import rows
from trainmaster.store.notices.deliveries import MAIL, Delivery, DeliveryRows
from trainmaster.store.notices.deliveries import WEBHOOK as TO_WEBHOOK
from trainmaster.store.notices.rows import Notice
from trainmaster.store.notices.settings import NoticeSettingRows
from trainmaster.store.notices.webhooks import Webhook, WebhookRows
from trainmaster.store.people.accounts import PeopleRows
from trainmaster.store.people.members import MemberRows

GATHER_S: Final = 30.0
"""A mail waits so long for what else happens."""
EVERY_S: Final = 300.0
"""Between two mails to one person."""
_LEADS: Final = frozenset({"owner", "admin"})


@dataclass(frozen=True, slots=True)
class NoticeTables:
    """The rows that notifications are made of."""

    people: PeopleRows
    members: MemberRows
    settings: NoticeSettingRows
    webhooks: WebhookRows
    deliveries: DeliveryRows


@dataclass(frozen=True, slots=True)
class Heard:
    """Somebody as they are now, and what they chose."""

    principal: Principal
    wishes: Wishes


class Audience:
    """One object per server. `base`: the console's address; `mails`: whether any are sent."""

    def __init__(self, tables: NoticeTables, base: str, mails: bool, new_id: Callable[[], str]) -> None:
        self._tables, self._base, self._mails, self._new_id = tables, base, mails, new_id

    def leaders(self, workspace: str) -> tuple[str, ...]:
        """Return the owners and admins of a workspace."""
        return tuple(one.user for one in self._tables.members.of_workspace(workspace) if one.role in _LEADS)

    def principal(self, name: str) -> Principal | None:
        """Return who somebody is, None for an account that is not in use."""
        found = self._tables.people.person(name)
        if found is None or found.user.state != "active":
            return None
        memberships = tuple((one.workspace, one.role) for one in found.members)
        return Principal(name, found.user.role, memberships=memberships, owners_told=found.owners_told)

    def link(self, kind: str, job: str | None) -> str:
        """Return where the console shows more of it."""
        places = {BUDGET: "/usage", WEBHOOK: "/settings?tab=notifications"}
        return self._base + (f"/jobs/{job}" if job else places.get(kind, "/notifications"))

    def may_send(self, one: Delivery, hook: Webhook | None = None) -> bool:
        """Return whether somebody may be sent this now."""
        principal = self.principal(one.user)
        if principal is None or (hook is not None and not _leads(principal, hook)):
            return False
        return _may_hear(principal, one.kind, one.owner, one.workspace)

    def told(self, happenings: Sequence[Happening], now: float) -> tuple[list[Notice], list[Delivery]]:
        """Return what is told to whom."""
        names = {name for one in happenings for name in _persons(one)}
        hooks = self._tables.webhooks.on_for(names, {one.workspace for one in happenings})
        kept = self._tables.settings.of(names)
        known: dict[str, Heard | None] = {}

        def heard(name: str) -> Heard | None:
            if name not in known:
                principal = self.principal(name)
                known[name] = None if principal is None else Heard(principal, wishes_of(kept.get(name)))
            return known[name]

        notices: list[Notice] = []
        deliveries: list[Delivery] = []
        for one in happenings:
            for name in _persons(one):
                who = heard(name)
                if who is not None and _may_hear(who.principal, one.kind, one.owner, one.workspace):
                    notices += _in_console(one, name, who.wishes)
                    deliveries += self._mail(one, name, who.wishes, now)
            for hook in hooks:
                who = heard(hook.owner)
                if who is not None and _wants(one, hook, who):
                    deliveries.append(self._message(one, hook, now))
        return notices, deliveries

    def _mail(self, one: Happening, name: str, wishes: Wishes, now: float) -> Iterator[Delivery]:
        if self._mails and wishes.address and one.by != name and wishes.where[one.kind].mail:
            last = self._tables.deliveries.last_sent(MAIL, name) or 0.0
            due = max(now + GATHER_S, min(last, now) + EVERY_S)
            body = rows.encode({**one.record(), "link": self.link(one.kind, one.job)})
            yield self._delivery(one, MAIL, name, name, body, now, due)

    def _message(self, one: Happening, hook: Webhook, now: float) -> Delivery:
        body = rows.encode(body_of(one, self.link(one.kind, one.job)))
        return self._delivery(one, TO_WEBHOOK, hook.id, hook.owner, body, now, max(now, hook.resume_at))

    def _delivery(
        self, one: Happening, channel: str, target: str, user: str, body: str, now: float, next_at: float
    ) -> Delivery:
        return Delivery(
            self._new_id(), channel, target, user, one.kind, one.owner, one.workspace, body, next_at, now
        )  # fmt: skip


def subject_webhook(hook: Webhook) -> Subject:
    """Return what a webhook is in the audit: its workspace's, or its owner's."""
    return subject_of("workspace", hook.workspace) if hook.workspace else subject_of("person", hook.owner)


def _persons(one: Happening) -> Iterable[str]:
    return dict.fromkeys(name for name in (one.owner, *one.persons) if name)


def _in_console(one: Happening, name: str, wishes: Wishes) -> Iterator[Notice]:
    if one.by != name and wishes.where[one.kind].console:
        yield Notice(name, one.key, one.at, one.kind, one.job, one.workspace, one.record())


def _wants(one: Happening, hook: Webhook, who: Heard) -> bool:
    """Return whether a webhook is told: in a workspace by its own list, else as its owner chose."""
    if hook.workspace:
        chosen = hook.workspace == one.workspace and one.kind in hook.kinds
    else:
        chosen = hook.owner in _persons(one) and who.wishes.where[one.kind].webhook
    return chosen and _leads(who.principal, hook) and _may_hear(who.principal, one.kind, one.owner, one.workspace)


def _leads(principal: Principal, hook: Webhook) -> bool:
    """Return whether somebody may still have this webhook: in a workspace who leads it."""
    return not hook.workspace or decide(principal, "webhooks:write", InWorkspace(hook.workspace)).allowed


def _may_hear(principal: Principal, kind: str, owner: str, workspace: str) -> bool:
    if kind in (WEBHOOK, TEST):
        return principal.name == owner
    scope = "balance:read" if kind == BUDGET else "jobs:read"
    return decide(principal, scope, InWorkspace(workspace, owner)).allowed
