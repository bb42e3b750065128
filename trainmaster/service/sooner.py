"""Changes that bring the expected start of a waiting job clearly forward (B1), each tried in the forecast's own futures.

Played in steps, others having their turn in between; bounded by how many are tried, most of them in one future only: those
that do not help in the typical one. Invariant: what is named starts, as
expected, clearly before the job does as it is, in the same scene.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, Final

from trainmaster.core.records import Job, Resources
from trainmaster.queue.forecast import MOST
from trainmaster.queue.future import Scene
from trainmaster.queue.snapshot import Pending
from trainmaster.queue.sooner import clearly_sooner
from trainmaster.service.context import Context
from trainmaster.service.scheduling import SUGGESTED, suggestion

TRIED: Final = 6
"""So many changes are played, the cheapest first."""


async def sooner(
    context: Context, job: Job, flavors: Mapping[str, Resources], works: Callable[[Mapping[str, Any]], bool],
    known: Sequence[Mapping[str, Any]],
) -> list[dict[str, Any]]:  # fmt: skip
    """Return changes, the cheapest first, that bring the start of `job` forward, so many that with `known` there are SUGGESTED."""
    found = context.scheduling.promising(job, flavors) if len(known) < SUGGESTED else None
    if found is None:
        return []
    waits, changes = found
    named = {field for one in known for field in one["change"]}
    changes = [*islice((one for one in changes if not named & one.change.keys() and works(one.change)), TRIED)]
    play = _Play(context, waits, [replace(one.job, job=f"{job.id}+{nth}") for nth, one in enumerate(changes)])
    usual, before, out = await play.typical(waits), None, []
    for one, changed in zip(changes, play.tried, strict=True):
        if not clearly_sooner(await play.typical(changed), usual, play.now):
            continue
        before = before or await play.foreseen(waits)
        after = await play.foreseen(changed)
        if clearly_sooner(_at(after), _at(before), play.now):
            out.append(suggestion(one, after, before["at"]))
        if len(known) + len(out) == SUGGESTED:
            break
    return out


def _at(forecast: Mapping[str, Any]) -> float:
    return math.inf if forecast["at"] is None else float(forecast["at"])


FAR: Final[dict[str, Any]] = {"at": None}
"""What is foreseen of one behind all who are."""


class _Play:
    """One moment, in which `waits` may be changed. `tried`: as what, under names of their own."""

    def __init__(self, context: Context, waits: Pending, tried: Sequence[Pending]) -> None:
        self.tried, self.now = tried, context.clock()
        self._scheduling, self._forecasts, self._waits = context.scheduling, context.forecasts, waits
        self._scenes: dict[str, Scene] = {}  # by pool, with everybody who may come into its line

    async def typical(self, changed: Pending) -> float:
        """Return when `changed` would start if it waited instead, as `Forecasts.typical` says."""
        scene = await self._scene_of(changed)
        return math.inf if scene is None else await self._forecasts.typical(scene, changed.job)

    async def foreseen(self, changed: Pending) -> dict[str, Any]:
        """Return the same as `Forecasts.foreseen` says."""
        scene = await self._scene_of(changed)
        return FAR if scene is None else await self._forecasts.foreseen(scene, changed.job)

    async def _scene_of(self, changed: Pending) -> Scene | None:
        """Return the scene in which `changed` waits instead; None: behind all who are foreseen."""
        if changed.pool not in self._scenes:
            await self._take_in(changed.pool)
        scene = self._scenes[changed.pool]
        also = None if changed is self._waits else changed
        line = self._scheduling.line(changed.pool, also)
        names = [one.job for one in islice((one for one in line if self._stays(one, changed)), MOST)]
        if changed.job not in names:
            return None
        there = {each.job: each for each in scene.line}
        return replace(scene, line=tuple(there[name] for name in names if name in there))

    async def _take_in(self, pool: str) -> None:
        ours = [one for one in (self._waits, *self.tried) if one.pool == pool]
        rest = (one for one in self._scheduling.line(pool) if one.job != self._waits.job)
        self._scenes[pool] = await self._forecasts.scene(pool, self.now, [*ours, *islice(rest, MOST)])

    def _stays(self, one: Pending, changed: Pending) -> bool:
        return one.job != self._waits.job or changed is self._waits
