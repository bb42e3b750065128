"""What would start a job that waits, or would if it were submitted, now or clearly sooner (B1).

Changes that start it now come from the pass that judged it. Where they are few, others are tried in the forecast's own
futures: played in steps, others having their turn in between; bounded by how many are tried, most of them in one future
only: those that do not help in the typical one. Invariant: what is named is accepted of the person who asks, and
starts, as expected, clearly before the job does as it is, in the same scene.
"""

import math
from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import islice
from typing import Final

from msgspec.structs import replace as replaced

from trainmaster.access.roles import Principal
from trainmaster.answers import ForecastView, SuggestionView
from trainmaster.core.records import Job
from trainmaster.queue.explaining.changes import Suggestion
from trainmaster.queue.explaining.explain import Judged
from trainmaster.queue.explaining.sooner import clearly_sooner
from trainmaster.queue.forecasting.forecast import MOST
from trainmaster.queue.forecasting.future import Scene
from trainmaster.queue.snapshot import Pending, Plan
from trainmaster.service.context import Context
from trainmaster.service.language import both
from trainmaster.spec.document import Document

SUGGESTED: Final = 3
"""Changes told of one job."""

TRIED: Final = 6
"""So many changes are played, the cheapest first."""


async def helping(
    context: Context, who: Principal, job: Job, judged: Judged, document: Document, instead_of: Job | None = None
) -> list[SuggestionView]:
    """Return the changes of `document`, which `job` was made of, that would start it sooner, those that start it now
    first.

    Each would be accepted of `who`. `judged`: how the job waits; `instead_of`: who is taken not to wait meanwhile.
    """

    def works(one: Suggestion) -> bool:
        wanted = one.change.get("priority")
        if wanted is not None and context.admission.change_problems(job, wanted, who, instead_of):
            return False
        return context.submit.would_take(document, one.change, who)

    flavors = {name: one.resources() for name, one in context.pools.flavors.get(job.workspace, {}).items()}
    now, later = context.scheduling.helping(judged, flavors, _spent_s(job))
    known = [_suggestion_view(one) for one in islice(filter(works, now), SUGGESTED)]
    named = {field for one in known for field in one.change}
    if len(known) == SUGGESTED:
        return known
    others = [*islice((one for one in later if not named & one.change.keys() and works(one)), TRIED)]
    if not others:
        return known
    gone = () if instead_of is None else (instead_of.id,)
    found = await _sooner(context, judged, others, gone, SUGGESTED - len(known))
    return known + [_as_told(one, context.forecast(job)) for one in found]


async def _sooner(
    context: Context, judged: Judged, changes: Sequence[Suggestion], gone: Collection[str], most: int
) -> list[SuggestionView]:
    """Return those of `changes`, `most` at most, that bring the start of who waits clearly forward, if others `gone` do
    not wait.
    """
    waits = judged.job
    tried = [replace(one.job, job=f"{waits.job}+{nth}") for nth, one in enumerate(changes)]
    play = _Play(context, [waits, *tried], {waits.job, *gone}, judged.made)
    usual, before, out = await play.typical(waits), None, []
    for one, changed in zip(changes, tried, strict=True):
        if not clearly_sooner(await play.typical(changed), usual, play.now):
            continue
        before = before or await play.foreseen(waits)
        after = await play.foreseen(changed)
        if clearly_sooner(_at(after), _at(before), play.now):
            out.append(_suggestion_view(one, after, before.at))
        if len(out) == most:
            break
    return out


def _spent_s(job: Job) -> float:
    """Return what is over of the time of a waiting job's limit: it counts from the first start."""
    return 0.0 if job.started_at is None else max(0.0, job.queued_at - job.started_at)


def _suggestion_view(
    one: Suggestion, forecast: ForecastView | None = None, before: float | None = None
) -> SuggestionView:
    """Return a change as the API shows it. `forecast`: when it starts then, None: now; `before`: when without the
    change.
    """
    return SuggestionView(
        code=one.message.code,
        message=both(one.message),
        change=one.change,
        forecast=forecast,
        otherwise_at=before,
    )


def _as_told(one: SuggestionView, told: ForecastView | None) -> SuggestionView:
    """Return it beside the start that people are told of a job that waits: the same minute, though made a moment
    before.
    """
    return one if told is None or told.at is None else replaced(one, otherwise_at=told.at)


def _at(forecast: ForecastView) -> float:
    return math.inf if forecast.at is None else forecast.at


FAR: Final = ForecastView(when="unknown", at=None, low=None, high=None, why=None, made_at=None)
"""What is foreseen of one behind all who are."""


class _Play:
    """One moment, in which any one of `ways` waits, each under a name of its own, and nobody of `gone` otherwise.

    `made`: the pass whose order holds.
    """

    def __init__(self, context: Context, ways: Sequence[Pending], gone: Collection[str], made: Plan) -> None:
        self.now, self._ways, self._gone, self._made = context.clock(), ways, gone, made
        self._scheduling, self._forecasts = context.scheduling, context.forecasts
        self._scenes: dict[str, Scene] = {}  # by pool, with everybody who may come into its line

    async def typical(self, changed: Pending) -> float:
        """Return when `changed` would start if it waited instead, as `Forecasts.typical` says."""
        scene = await self._scene_of(changed)
        return math.inf if scene is None else await self._forecasts.typical(scene, changed.job)

    async def foreseen(self, changed: Pending) -> ForecastView:
        """Return the same as `Forecasts.foreseen` says."""
        scene = await self._scene_of(changed)
        return FAR if scene is None else await self._forecasts.foreseen(scene, changed.job)

    async def _scene_of(self, changed: Pending) -> Scene | None:
        """Return the scene in which `changed` waits instead; None: behind all who are foreseen."""
        if changed.pool not in self._scenes:
            await self._take_in(changed.pool)
        scene = self._scenes[changed.pool]
        line = self._scheduling.line(changed.pool, changed, self._gone, self._made)
        names = [one.job for one in islice(line, MOST)]
        if changed.job not in names:
            return None
        there = {each.job: each for each in scene.line}
        return replace(scene, line=tuple(there[name] for name in names if name in there))

    async def _take_in(self, pool: str) -> None:
        ours = [one for one in self._ways if one.pool == pool]
        rest = islice(self._scheduling.line(pool, None, self._gone, self._made), MOST)
        self._scenes[pool] = await self._forecasts.scene(pool, self.now, [*ours, *rest])
