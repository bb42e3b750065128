"""Use cases on what workspaces pass on to each other (R141): a data set is offered to other workspaces, and taken in
there under a name.

Who may share it offers it, whoever is in the other workspace sees what is offered, and who may submit jobs there
subscribes for all. Invariant: neither side learns of the other's people; of workspaces, those that subscribe.
"""

import asyncio
import re
from collections.abc import Sequence
from typing import Final

from trainmaster.access.decide import decide
from trainmaster.access.roles import Principal
from trainmaster.answers import (
    DatasetDetail,
    PublishedPage,
    PublishedView,
    SubscriptionsView,
    SubscriptionView,
)
from trainmaster.core.errors import InvalidSpec, Problem, problem_of
from trainmaster.core.events import AuditEvent, Subject
from trainmaster.messages.assets import datasets as said_of_datasets
from trainmaster.messages.assets import subscriptions as said
from trainmaster.messages.jobs import rules
from trainmaster.service.context import Context
from trainmaster.service.use_cases.assets.datasets import Datasets, subject_of
from trainmaster.service.use_cases.people.inside import demand_inside
from trainmaster.spec.job import NAME
from trainmaster.store.assets.subscriptions import EVERYBODY, Subscription, SubscriptionRows
from trainmaster.store.assets.versions import Asset, AssetKind, AssetVersion

TO_ALL: Final = "*"
"""Who stands for everybody in an address: no workspace is called so."""
_KIND: Final = AssetKind.DATASET
_NAME: Final = re.compile(NAME)


class Subscribing:
    """One object per server."""

    def __init__(self, context: Context, rows: SubscriptionRows, datasets: Datasets) -> None:
        self._ctx, self._rows, self._datasets = context, rows, datasets

    # -- offers ------------------------------------------------------------------------------------------------

    async def offer(self, ref: str, workspace: str, who: Principal) -> DatasetDetail:
        """Offer a data set to a workspace, or to everybody (TO_ALL). Raises NotFound, Forbidden, InvalidSpec."""
        line = await self._datasets.lines.find(ref, who, "datasets:share")
        sharable = decide(who, "datasets:share").visible
        told = said.dataset_offered_to_all(line.name)
        if workspace != TO_ALL:
            told = said.dataset_offered(line.name, workspace)
        async with self._ctx.pools.changing():  # nobody removes the workspace meanwhile
            if found := self._problems(line, workspace):
                raise InvalidSpec(said.offer_not_valid(), problems=tuple(found))
            now = self._ctx.clock()
            audit_event = who.did(subject_of(line), told, now)
            to = _row(workspace)
            await asyncio.to_thread(self._rows.offer, sharable, line, to, now, who.name, audit_event)
        return await self._datasets.detail(line.id, who)

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

    async def withdraw(self, ref: str, workspace: str, who: Principal) -> DatasetDetail:
        """Take an offer back; whoever subscribed by it sees nothing of the data set any more. Raises NotFound,
        Forbidden.
        """
        line = await self._datasets.lines.find(ref, who, "datasets:share")
        sharable, now = decide(who, "datasets:share").visible, self._ctx.clock()
        over = said.dataset_withdrawn_from_all(line.name)
        if workspace != TO_ALL:
            over = said.dataset_withdrawn(line.name, workspace)

        def told(lapsed: Sequence[Subscription]) -> list[AuditEvent]:
            theirs = [who.did(_subject(one), said.subscription_lapsed(one.name), now) for one in lapsed]
            return [who.did(subject_of(line), over, now), *theirs]

        await asyncio.to_thread(self._rows.withdraw, sharable, line, _row(workspace), told)
        return await self._datasets.detail(line.id, who)

    async def published(
        self, workspace: str, who: Principal, q: str, limit: int, cursor: str | None = None
    ) -> PublishedPage:
        """Return a page of what other workspaces offer to one, what was changed last first. Raises NotFound for one
        that the caller is not in, InvalidSpec for a cursor of another list.
        """
        self._demand(workspace, who, "datasets:read")
        if self._shares_nothing(workspace):
            return PublishedPage(items=[], next_cursor=None)

        def read() -> PublishedPage:
            closed = self._closed()
            page = self._rows.published(workspace, closed, _KIND, q, limit, cursor)
            last = self._rows.latest(page.items)
            items = [_published(one, last.get(one.id), workspace) for one in page.items]
            return PublishedPage(items=items, next_cursor=page.next_cursor)

        return await asyncio.to_thread(read)

    # -- subscriptions -----------------------------------------------------------------------------------------

    async def subscriptions(self, workspace: str, who: Principal) -> SubscriptionsView:
        """Return what a workspace subscribes to, by name. Raises NotFound for one that the caller is not in."""
        self._demand(workspace, who, "datasets:read")
        closed = self._closed()
        found = await asyncio.to_thread(self._rows.of_workspace, workspace, closed)
        return SubscriptionsView(items=[_view(one) for one in found])

    async def subscribe(self, workspace: str, name: str, asset: str, who: Principal) -> SubscriptionView:
        """Take a data set in under a name, also in place of the one that it had there. Raises NotFound for what is not
        offered there, Forbidden, InvalidSpec, Conflict where the name is taken.
        """
        self._demand(workspace, who, "jobs:submit")
        problems = []
        if not _NAME.fullmatch(name):
            problems.append(problem_of("name", said_of_datasets.not_a_dataset_name(), name[:200]))
        if self._shares_nothing(workspace):
            problems.append(problem_of("workspace", said.nothing_passed_on(workspace), workspace))
        if problems:
            raise InvalidSpec(said.subscription_not_valid(), problems=tuple(problems))
        async with self._ctx.pools.changing():
            self._demand(workspace, who, "jobs:submit")
            wanted = Subscription(workspace, _KIND, name, asset, self._ctx.clock(), who.name)

            def told(line: Asset) -> AuditEvent:
                return who.did(_subject(wanted), said.dataset_subscribed(name, line.workspace), wanted.at)

            line = await asyncio.to_thread(self._rows.subscribe, wanted, self._closed(), told)
        return _view(Subscription(workspace, _KIND, name, asset, wanted.at, who.name, line))

    async def end(self, workspace: str, name: str, who: Principal) -> None:
        """End a subscription: the name means nothing there any more. Raises NotFound, Forbidden."""
        self._demand(workspace, who, "jobs:submit")
        now = self._ctx.clock()

        def told(asset: str) -> AuditEvent:
            over = Subscription(workspace, _KIND, name, asset, now, who.name)
            return who.did(_subject(over), said.subscription_ended(name), now)

        await asyncio.to_thread(self._rows.end, workspace, _KIND, name, told)

    # -- inside ------------------------------------------------------------------------------------------------

    def _demand(self, workspace: str, who: Principal, scope: str) -> None:
        """Return when `who` may do this in a workspace; data sets that lie there need not be theirs to read."""
        decide(who, scope).demand()
        inside = "members:read" if scope == "datasets:read" else scope
        demand_inside(who, inside, workspace, self._ctx.pools.workspaces)

    def _shares_nothing(self, workspace: str) -> bool:
        return workspace in self._closed()

    def _closed(self) -> frozenset[str]:
        """Return the workspaces in which an administrator lets nothing be shared."""
        return frozenset(name for name, one in self._ctx.pools.workspaces.items() if one.sharing == "off")


def _row(workspace: str) -> str:
    return EVERYBODY if workspace == TO_ALL else workspace


def _subject(one: Subscription) -> Subject:
    """Return what the audit of a workspace calls what it subscribes to."""
    return Subject("dataset", one.asset, one.workspace, "", one.name)


def _published(line: Asset, last: AssetVersion | None, workspace: str) -> PublishedView:
    return PublishedView(
        id=line.id,
        kind="dataset",
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
        kind="dataset",
        name=one.name,
        asset=one.asset,
        called=line.name if line is not None else None,
        source=line.workspace if line is not None else None,
        owner=line.owner if line is not None else None,
        latest=line.latest if line is not None else 0,
        at=one.at,
        by=one.by,
    )
