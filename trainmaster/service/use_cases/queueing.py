"""The queue for people: what waits in which order and why, a timeline of what runs, the policy, and "would it start
now?".

Reads and asks; the order and the reasons are those of the last pass. Of jobs that the reader may not know of, only
sizes and owners are told.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final, Literal

from msgspec.structs import replace as replaced

from trainmaster.access.decide import decide
from trainmaster.access.roles import Principal
from trainmaster.access.visible import Visible
from trainmaster.answers import (
    PRIORITY_NAMES,
    Alternative,
    Bar,
    KnobView,
    PolicyView,
    QueuePage,
    SuggestionView,
    Timeline,
    TimelineNode,
    WaitingView,
    When,
    WouldStart,
)
from trainmaster.core.errors import InvalidSpec
from trainmaster.core.records import Assignment, Job
from trainmaster.messages.jobs import jobs
from trainmaster.messages.server import requests
from trainmaster.queue.explaining.explain import Judged
from trainmaster.queue.placing.need import WHOLE
from trainmaster.queue.policy import DEFAULT, KNOBS, Knob, QueuePolicy, Values, problems
from trainmaster.queue.snapshot import Reason, Start
from trainmaster.service.cluster.pools import POLICY
from trainmaster.service.context import Context
from trainmaster.service.language import both
from trainmaster.service.scheduling.reasons import view_judged, view_reason
from trainmaster.service.submitting.candidate import read
from trainmaster.service.submitting.choosing_pool import with_pool_chosen
from trainmaster.service.submitting.estimates import Outlook, with_engine
from trainmaster.service.submitting.replacing import asked_about, split
from trainmaster.service.use_cases.cluster_views import ClusterViews
from trainmaster.service.use_cases.sooner import helping
from trainmaster.service.views import identity, totals
from trainmaster.spec.document import Given
from trainmaster.spec.lower import effective

MAX_BARS: Final = 2000
"""Bars of one timeline; the picture of a larger cluster is cut, and says so."""

AHEAD_S: Final = 3600.0
"""How far a timeline shows when no end is known."""


class Queueing:
    """One object per server; all methods in the loop's thread."""

    def __init__(self, context: Context, views: ClusterViews) -> None:
        self._ctx, self._views = context, views

    # -- what waits --------------------------------------------------------------------------------------------

    def page(
        self,
        who: Principal,
        *,
        pool: str = "",
        workspace: str = "",
        model: str = "",
        owner: str = "",
        mine: bool = False,
        offset: int = 0,
        limit: int = 50,
    ) -> QueuePage:
        """Return waiting jobs in the order they are considered; `mine`: of `who`, whatever `owner` says. Raises
        Forbidden. O(jobs before the page's end).
        """
        decide(who, "cluster:read").demand()
        visible = decide(who, "jobs:read").visible
        now, found, matching = self._ctx.clock(), [], 0
        owner = who.name if mine else owner
        total = None if model else self._total(visible, pool, workspace, owner)
        for place, job in self._line():
            if pool not in ("", job.pool) or workspace not in ("", job.workspace):
                continue
            if owner and visible.owner_of(job) != owner:
                continue
            if model and not _asks(job, model):
                continue
            matching += 1
            if offset < matching <= offset + limit:
                found.append(self._waiting(visible, job, place, now))
            if matching == offset + limit and total is not None:
                break
        return QueuePage(
            items=found,
            total=matching if total is None else total,
            offset=offset,
            demand=self._views.demand(pool),
            planned_at=self._ctx.scheduling.planned_at or None,
            seq=self._ctx.feed.here(),
        )

    def _total(self, visible: Visible, pool: str, workspace: str, owner: str) -> int | None:
        """Return how many match where that is known without looking at each, else None. `owner` empty: anybody's."""
        if owner and (workspace or not (visible.everything or visible.whose or owner == visible.owner)):
            return None
        if owner:
            return self._ctx.tally.of("owner", owner, *([pool] if pool else [])).waiting
        if workspace:
            return self._ctx.tally.of("workspace", workspace, *([pool] if pool else [])).waiting
        return self._ctx.tally.of("pool", pool).waiting if pool else len(self._ctx.scheduling.queue)

    def _line(self) -> Iterator[tuple[int, Job]]:
        """Yield (position in its pool from 1, job) in order."""
        behind: dict[str, int] = {}
        for pending in self._ctx.scheduling.line():
            job = self._ctx.master.live.get(pending.job)
            if job is not None:
                behind[job.pool] = behind.get(job.pool, 0) + 1
                yield behind[job.pool], job

    def _waiting(self, visible: Visible, job: Job, place: int, now: float) -> WaitingView:
        seen = identity(visible, job)
        reason = self._ctx.scheduling.reason(job, self._ctx.names_for(visible), place - 1)
        first = next((i for i, role in enumerate(job.roles) if role.flavor is not None), None)
        shapes = job.shapes or (job.roles,)
        flavors = () if first is None else dict.fromkeys(shape[first].flavor for shape in shapes)
        return WaitingView(
            job=seen.job,
            name=seen.name,
            owner=seen.owner,
            workspace=job.workspace,
            pool=job.pool,
            virtual_cluster=job.virtual_cluster,
            priority=PRIORITY_NAMES[job.priority],
            position=place,
            reason=reason,
            submitted_at=job.submitted_at,
            queued_at=job.queued_at,
            wait_s=max(0.0, now - job.submitted_at),
            duration_s=job.policy.duration_s,
            resources=totals(job.roles),
            tasks=job.tasks_total,
            flavors=[flavor for flavor in flavors if flavor is not None],
            forecast=self._ctx.forecasts.view(job, now),
        )

    # -- the timeline ------------------------------------------------------------------------------------------

    def timeline(self, who: Principal, pool: str = "") -> Timeline:
        """Return what runs, and what is foreseen to, by node. Raises Forbidden. O(running tasks)."""
        decide(who, "cluster:read").demand()
        visible = decide(who, "jobs:read").visible
        now, held = self._ctx.clock(), self._views.held()
        nodes = [node for node in self._ctx.pools.nodes if pool in ("", node.pool)]
        bars = [bar for node in nodes for bar in self._running(visible, node.name, held.get(node.name, ()), now)]
        names = {node.name for node in nodes}
        for waiting, places, start, low, high in self._ctx.forecasts.bars(now):
            job = self._ctx.master.live[waiting]
            bars += [
                self._foreseen(visible, job, place, (start, low, high), len(places))
                for place in places
                if place in names
            ]
        ends = [bar.end for bar in bars if bar.end is not None]
        return Timeline(
            now=now,
            until=max([now + AHEAD_S, *ends]),
            nodes=[
                TimelineNode(
                    name=node.name, pool=node.pool, service=self._views.service_of(node, held), cards=len(node.gpus)
                )
                for node in nodes
            ],
            bars=bars[:MAX_BARS],
            left_out=max(0, len(bars) - MAX_BARS),
        )

    def _running(
        self, visible: Visible, node: str, here: Sequence[tuple[Job, Assignment]], now: float
    ) -> Iterator[Bar]:
        by_job: dict[str, tuple[Job, list[Assignment]]] = {}
        for job, place in here:
            by_job.setdefault(job.id, (job, []))[1].append(place)
        for job, places in by_job.values():
            attempt = job.attempt
            start = (attempt.started_at or attempt.created_at) if attempt is not None else now
            duration = job.policy.duration_s
            end = job.expires_at if job.expires_at is not None else None if duration is None else start + duration
            yield self._bar(visible, job, tuple(places), "running", start, end, (None, None))

    def _foreseen(
        self, visible: Visible, job: Job, node: str, when: tuple[float, float | None, float | None], parts: int
    ) -> Bar:
        """Return one of `parts` equal bars of a job whose cards are not known yet."""
        takes = totals(job.roles)
        cards = sum(role.resources.gpu * role.resources.gpu_milli * role.replicas for role in job.roles)
        end = None if job.policy.duration_s is None else when[0] + job.policy.duration_s
        bar = self._bar(visible, job, (), "forecast", when[0], end, when[1:])
        return replaced(
            bar, node=node, gpu=cards / WHOLE / parts, cpu=takes.cpu / parts, memory_mib=takes.memory_mib // parts
        )

    def _bar(
        self,
        visible: Visible,
        job: Job,
        places: tuple[Assignment, ...],
        kind: Literal["running", "forecast"],
        start: float,
        end: float | None,
        span: tuple[float | None, float | None],
    ) -> Bar:
        asks = [job.roles[place.role].resources for place in places]
        seen = identity(visible, job)
        return Bar(
            node=places[0].node if places else "",
            job=seen.job,
            name=seen.name,
            owner=seen.owner,
            workspace=job.workspace,
            priority=PRIORITY_NAMES[job.priority],
            kind=kind,
            start=start,
            end=end,
            low=span[0],
            high=span[1],
            cards=sorted({card for place in places for card in place.gpus}),
            gpu=sum(ask.gpu * ask.gpu_milli for ask in asks) / WHOLE,
            cpu=sum(ask.cpu for ask in asks),
            memory_mib=sum(ask.memory_mib for ask in asks),
        )

    # -- the policy --------------------------------------------------------------------------------------------

    def policy(self, who: Principal) -> PolicyView:
        """Return every knob with its bounds, meaning and value. Raises Forbidden."""
        decide(who, "cluster:read").demand()
        changed = self._ctx.pools.changed_last("policy", POLICY)
        return PolicyView(
            knobs=[_knob(knob, self._ctx.scheduling.policy) for knob in KNOBS],
            changed_at=changed.at if changed else None,
            changed_by=changed.by if changed else None,
        )

    async def set_policy(self, values: Values, who: Principal) -> PolicyView:
        """Change knobs; those not named keep their value, null is the default again. It holds from the next pass on.

        Raises Forbidden, InvalidSpec with all problems, StorageFailed.
        """
        decide(who, "queue:write").demand()
        checked_values(values)
        async with self._ctx.pools.changing():
            merged = {name: value for name, value in {**self._ctx.pools.policy, **values}.items() if value is not None}
            await self._ctx.pools.put("policy", POLICY, merged, who.actor)
        return self.policy(who)

    # -- would it start? ---------------------------------------------------------------------------------------

    async def would_start(self, body: Given, who: Principal) -> WouldStart:
        """Say whether a job would start if it were submitted now; with several flavors, whether any way can (R163).

        Beside a submission the body may hold `instead_of`, the id of a job that waits and would no longer, and
        `suggest`: whether to say what would let it start sooner if it waits (tenths of a second of work in a large
        cluster). Raises Forbidden, and InvalidSpec with everything that a submit would refuse apart from inputs.
        """
        decide(who, "jobs:write").demand()
        submission, ref, _ = split({name: value for name, value in body.items() if name != "suggest"})
        first, suggest = asked_about(self._ctx, ref, who), body.get("suggest") is True
        candidate = await read(self._ctx, submission, who)
        candidate, job = await with_pool_chosen(self._ctx, candidate, who, first)
        wrong = [*self._ctx.admission.problems(job, who, first), *candidate.refused]
        if wrong:
            raise InvalidSpec(jobs.would_be_refused(), problems=tuple(wrong))
        ways = [replace(job, roles=shape, shapes=()) for shape in job.shapes or (job.roles,)]
        found_of = [self._when(way, first) for way in ways]
        when, found = min(found_of, key=lambda answer: _WHEN.index(answer[0]))
        reason, name_of = None, self._ctx.names_for(decide(who, "jobs:read").visible)
        suggestions: list[SuggestionView] = []
        forecast = None
        if isinstance(found, Reason):
            reason = view_reason(found, None, name_of)
        elif when == "queue":
            reason = view_judged(found, name_of)
            judged = found if len(ways) == 1 else self._ctx.scheduling.would_start(job, first)
            gone = () if first is None else (first.id,)
            forecast = await self._ctx.forecasts.would(judged, self._ctx.clock(), gone)
            if suggest:
                suggestions = await helping(self._ctx, who, job, judged, effective(candidate.spec), first)
        ours = Outlook(when, reason, forecast)
        chosen = ways[next(at for at, answer in enumerate(found_of) if answer[0] == when)]
        outlook, _ = await with_engine(self._ctx, chosen, candidate.spec, ours)
        return WouldStart(
            **outlook._asdict(),
            position=outlook.reason.position if outlook.reason is not None else None,
            alternatives=[
                Alternative(flavors=[role.flavor for role in way.roles], when=when)
                for way, (when, _) in zip(ways, found_of, strict=True)
            ],
            suggestions=suggestions,
            pool=job.pool,
        )

    def _when(self, job: Job, instead_of: Job | None) -> tuple[When, Judged | Reason]:
        refused = self._ctx.scheduling.refusal(job)
        if refused is not None:
            return "never", refused
        judged = self._ctx.scheduling.would_start(job, instead_of)
        return ("now" if isinstance(judged.found, Start) else "queue"), judged


_WHEN: Final = ("now", "queue", "never")
_KNOBS: Final = frozenset(knob.name for knob in KNOBS)


def checked_values(values: Values) -> None:
    """Raise InvalidSpec with everything that is wrong with new values by knob; null, the default again, is right."""
    found = problems({name: value for name, value in values.items() if value is not None or name not in _KNOBS})
    if found:
        wrong = tuple(replace(item, path=f"values.{item.path}") for item in found)
        raise InvalidSpec(requests.change_not_valid(), problems=wrong)


def _asks(job: Job, model: str) -> bool:
    """Return whether any way to run the job takes cards of that model."""
    shapes = job.shapes or (job.roles,)
    return any(role.resources.gpu and role.resources.gpu_type == model for shape in shapes for role in shape)


def _knob(knob: Knob, policy: QueuePolicy) -> KnobView:
    return KnobView(
        name=knob.name,
        title=both(knob.title),
        meaning=both(knob.meaning),
        unit=knob.unit,
        value=getattr(policy, knob.name),
        default=getattr(DEFAULT, knob.name),
        minimum=None if knob.choices else knob.least,
        maximum=None if knob.choices else knob.most,
        choices=list(knob.choices),
    )
