"""Use cases on what workspaces pass on to each other (R141): data sets, algorithms, images and templates are offered to
other workspaces, and taken in there under a name.

Who may share a thing offers it, whoever is in the other workspace sees what is offered, and who may submit jobs there
subscribes for all. Invariant: who offers learns which workspaces subscribe, and of none of their people; who subscribes
learns what the page of the thing tells, as of what is shared to be read.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, cast

from trainmaster.access.decide import decide
from trainmaster.access.roles import Principal
from trainmaster.answers import (
    PassedKind,
    PublishedPage,
    PublishedView,
    SubscriptionsView,
    SubscriptionView,
)
from trainmaster.answers.base import Answer
from trainmaster.core.errors import InvalidSpec, Problem, problem_of
from trainmaster.core.events import AuditEvent, Subject, did_itself
from trainmaster.messages.assets import subscriptions as said
from trainmaster.messages.jobs import rules
from trainmaster.messages.said import Said
from trainmaster.service.context import Context
from trainmaster.service.use_cases.assets.algorithms import Algorithms
from trainmaster.service.use_cases.assets.datasets import Datasets
from trainmaster.service.use_cases.assets.images import Images
from trainmaster.service.use_cases.assets.lines import TO_ALL, Lines, subject_of, wrong_name
from trainmaster.service.use_cases.assets.templates import Templates
from trainmaster.service.use_cases.people.inside import demand_inside
from trainmaster.store.assets.subscriptions import EVERYBODY, Subscription
from trainmaster.store.assets.versions import Asset, AssetKind, AssetVersion

_WHAT: Final[Mapping[AssetKind, Callable[[], Said]]] = {
    AssetKind.DATASET: said.a_dataset,
    AssetKind.ALGORITHM: said.an_algorithm,
    AssetKind.IMAGE: said.an_image,
    AssetKind.TEMPLATE: said.a_template,
}


@dataclass(frozen=True, slots=True)
class PassedOn:
    """What is asked of a kind that is passed on: which one is meant, and what is shown of it."""

    lines: Lines
    detail: Callable[[str, Principal], Awaitable[Answer]]


def passed_kinds(
    datasets: Datasets, algorithms: Algorithms, images: Images, templates: Templates
) -> dict[AssetKind, PassedOn]:
    """Return all kinds that are passed on."""
    return {
        AssetKind.DATASET: PassedOn(datasets.lines, datasets.detail),
        AssetKind.ALGORITHM: PassedOn(algorithms.lines, algorithms.detail),
        AssetKind.IMAGE: PassedOn(images.lines, images.detail),
        AssetKind.TEMPLATE: PassedOn(templates.lines, templates.detail),
    }


class Subscribing:
    """One object per server."""

    def __init__(self, context: Context, kinds: Mapping[AssetKind, PassedOn]) -> None:
        self._ctx, self._rows, self._kinds = context, context.passed_on, kinds

    # -- offers ------------------------------------------------------------------------------------------------

    async def offer(self, kind: AssetKind, ref: str, workspace: str, who: Principal) -> Answer:
        """Offer something to a workspace, or to everybody (TO_ALL); return its detail. Raises NotFound, Forbidden,
        InvalidSpec, Conflict for an image that cannot be passed on.
        """
        line = await self._kinds[kind].lines.find(ref, who, f"{kind}s:share")
        sharable = decide(who, f"{kind}s:share").visible
        told = said.offered_to_all(_WHAT[kind](), line.name)
        if workspace != TO_ALL:
            told = said.offered(_WHAT[kind](), line.name, workspace)
        async with self._ctx.pools.changing():  # nobody removes the workspace meanwhile
            if found := self._problems(line, workspace):
                raise InvalidSpec(said.offer_not_valid(), problems=tuple(found))
            now = self._ctx.clock()
            audit_event = who.did(subject_of(line), told, now)
            to = _row(workspace)
            await asyncio.to_thread(self._rows.offer, sharable, line, to, now, who.name, audit_event)
        return await self._kinds[kind].detail(line.id, who)

    def _problems(self, line: Asset, workspace: str) -> list[Problem]:
        spaces, found = self._ctx.pools.workspaces, []
        if workspace == line.workspace:
            found.append(problem_of("workspace", said.offered_to_itself(workspace), workspace))
        elif workspace != TO_ALL and workspace not in spaces:
            unknown = rules.unknown_workspace(name=workspace, known=sorted(spaces))
            found.append(problem_of("workspace", unknown, workspace))
        if (there := spaces.get(line.workspace)) is not None and there.sharing == "off":
            found.append(problem_of("workspace", said.nothing_passed_on(line.workspace), line.workspace))
        return found

    async def withdraw(self, kind: AssetKind, ref: str, workspace: str, who: Principal) -> Answer:
        """Take an offer back; whoever subscribed by it sees nothing of it any more. Return the detail. Raises NotFound,
        Forbidden.
        """
        line = await self._kinds[kind].lines.find(ref, who, f"{kind}s:share")
        sharable, now = decide(who, f"{kind}s:share").visible, self._ctx.clock()
        over, ended = said.withdrawn_from_all(_WHAT[kind](), line.name), list[Subscription]()
        if workspace != TO_ALL:
            over = said.withdrawn(_WHAT[kind](), line.name, workspace)

        def told(lapsed: Sequence[Subscription]) -> list[AuditEvent]:
            ended.extend(lapsed)
            theirs = [did_itself(_subject(one), said.lapsed(_WHAT[kind](), one.name), now) for one in lapsed]
            return [who.did(subject_of(line), over, now), *theirs]

        await asyncio.to_thread(self._rows.withdraw, sharable, line, _row(workspace), told)
        for one in ended:
            self._forget(kind, one.workspace, one.name)
        return await self._kinds[kind].detail(line.id, who)

    async def published(
        self, kind: AssetKind, workspace: str, who: Principal, q: str, limit: int, cursor: str | None = None
    ) -> PublishedPage:
        """Return a page of what other workspaces offer to one, what was changed last first. Raises NotFound for one
        that the caller is not in, InvalidSpec for a cursor of another list.
        """
        self._demand_reading(kind, workspace, who)
        if self._shares_nothing(workspace):
            return PublishedPage(items=[], next_cursor=None)

        def read() -> PublishedPage:
            closed = self._closed()
            page = self._rows.published(workspace, closed, kind, q, limit, cursor)
            last = self._rows.latest(page.items)
            items = [_published(one, last.get(one.id), workspace) for one in page.items]
            return PublishedPage(items=items, next_cursor=page.next_cursor)

        return await asyncio.to_thread(read)

    # -- subscriptions -----------------------------------------------------------------------------------------

    async def subscriptions(self, kind: AssetKind, workspace: str, who: Principal) -> SubscriptionsView:
        """Return what of a kind a workspace subscribes to, by name. Raises NotFound for one that the caller is not
        in.
        """
        self._demand_reading(kind, workspace, who)
        closed = self._closed()
        found = await asyncio.to_thread(self._rows.of_workspace, workspace, kind, closed)
        return SubscriptionsView(items=[_view(one) for one in found])

    async def subscribe(
        self, kind: AssetKind, workspace: str, name: str, asset: str, who: Principal
    ) -> SubscriptionView:
        """Take something in under a name, also in place of the one that it had there. Raises NotFound for what is not
        offered there, Forbidden, InvalidSpec, Conflict where the name is taken.
        """
        self._demand(workspace, who)
        problems = []
        if (wrong := wrong_name(kind, name)) is not None:
            problems.append(problem_of("name", wrong, name[:200]))
        if self._shares_nothing(workspace):
            problems.append(problem_of("workspace", said.nothing_passed_on(workspace), workspace))
        if problems:
            raise InvalidSpec(said.subscription_not_valid(), problems=tuple(problems))
        async with self._ctx.pools.changing():
            self._demand(workspace, who)
            wanted = Subscription(workspace, kind, name, asset, self._ctx.clock(), who.name)

            def told(line: Asset) -> AuditEvent:
                words = said.subscribed(_WHAT[kind](), name, line.workspace)
                return who.did(_subject(wanted), words, wanted.at)

            line = await asyncio.to_thread(self._rows.subscribe, wanted, self._closed(), told)
        for place, other in line.taken:
            if place == workspace and other != name:
                self._forget(kind, workspace, other)  # as it was called
        return _view(Subscription(workspace, kind, name, asset, wanted.at, who.name, line))

    async def end(self, kind: AssetKind, workspace: str, name: str, who: Principal) -> None:
        """End a subscription: the name means nothing there any more. Raises NotFound, Forbidden."""
        self._demand(workspace, who)
        now = self._ctx.clock()

        def told(asset: str) -> AuditEvent:
            over = Subscription(workspace, kind, name, asset, now, who.name)
            return who.did(_subject(over), said.unsubscribed(_WHAT[kind](), name), now)

        await asyncio.to_thread(self._rows.end, workspace, kind, name, told)
        self._forget(kind, workspace, name)

    # -- inside ------------------------------------------------------------------------------------------------

    def _demand(self, workspace: str, who: Principal) -> None:
        """Return when `who` may say what a workspace takes in."""
        decide(who, "jobs:submit").demand()
        demand_inside(who, "jobs:submit", workspace, self._ctx.pools.workspaces)

    def _demand_reading(self, kind: AssetKind, workspace: str, who: Principal) -> None:
        """Return when `who` may see what is offered to a workspace; what lies there need not be theirs to read."""
        decide(who, f"{kind}s:read").demand()
        demand_inside(who, "members:read", workspace, self._ctx.pools.workspaces)

    def _forget(self, kind: AssetKind, workspace: str, name: str) -> None:
        """Let a name mean nothing to jobs that wait there. Data sets are looked for at each start."""
        if kind is AssetKind.IMAGE:
            self._ctx.images.forget([(workspace, name)])

    def _shares_nothing(self, workspace: str) -> bool:
        return workspace in self._closed()

    def _closed(self) -> frozenset[str]:
        """Return the workspaces in which an administrator lets nothing be shared."""
        return frozenset(name for name, one in self._ctx.pools.workspaces.items() if one.sharing == "off")


def _row(workspace: str) -> str:
    return EVERYBODY if workspace == TO_ALL else workspace


def _subject(one: Subscription) -> Subject:
    """Return what the audit of a workspace calls what it subscribes to."""
    return Subject(one.kind.value, one.asset, one.workspace, "", one.name)


def _published(line: Asset, last: AssetVersion | None, workspace: str) -> PublishedView:
    return PublishedView(
        id=line.id,
        kind=cast("PassedKind", line.kind.value),
        name=line.name,
        description=line.description,
        workspace=line.workspace,
        owner=line.owner,
        latest=line.latest,
        versions=line.versions,
        size_bytes=last.size_bytes if last is not None else 0,
        files=last.files if last is not None else 0,
        changed_at=line.changed_at,
        taken_as=next((name for place, name in line.taken if place == workspace), None),
    )


def _view(one: Subscription) -> SubscriptionView:
    line = one.line
    return SubscriptionView(
        workspace=one.workspace,
        kind=cast("PassedKind", one.kind.value),
        name=one.name,
        asset=one.asset,
        called=line.name if line is not None else None,
        source=line.workspace if line is not None else None,
        owner=line.owner if line is not None else None,
        latest=line.latest if line is not None else 0,
        at=one.at,
        by=one.by,
    )
