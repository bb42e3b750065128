"""What is worth knowing of the places where the entries of a sweep send their outputs (R50, R148): that they share one,
or that those of some are not empty. Stops nothing.
"""

import asyncio
from contextlib import suppress
from dataclasses import replace
from typing import Final

from trainmaster.access.roles import Principal
from trainmaster.core.errors import Problem
from trainmaster.messages.jobs import sweeps as said
from trainmaster.service.context import Context
from trainmaster.service.use_cases.sweeps.planning import PlannedSweep
from trainmaster.spec.outputs import fresh, place_of
from trainmaster.spec.problems import problem

FEW: Final = 20
"""Entries whose places are looked at: those that a preview tells of."""
AT_ONCE: Final = 6
LOOK_S: Final = 5.0
_NOT_EMPTY: Final = ("send_place_kept", "send_place_overwritten")
"""What else is said of a place is the same for all."""


async def warnings_of_places(ctx: Context, wanted: PlannedSweep, who: Principal) -> list[Problem]:
    """Return them; of the first entry alone its own preview tells. At most seconds."""
    spec, found = wanted.first.spec, list[Problem]()
    if len(wanted.entries) == 1:
        return found
    for at, item in enumerate(spec.outputs):
        if place_of(item.s3, "", "") == item.s3:
            path = f"outputs.{at}.s3"
            found.append(problem(path, said.outputs_of_entries_in_one_place(len(wanted.entries), item.s3), item.s3))
    own = tuple(item for item in spec.outputs if "{name}" in item.s3 and not fresh(item.s3))
    if own:
        places = spec.model_copy(update={"inputs": (), "outputs": own})
        numbers = {f"outputs.{at}.s3": f"outputs.{spec.outputs.index(item)}.s3" for at, item in enumerate(own)}

        async def look(index: int) -> list[Problem]:
            named = places.model_copy(update={"name": f"{wanted.job.name}-{index}"})
            told = await ctx.admission.outside_warnings(named, who)
            return [replace(one, path=f"entries.{index}.{numbers[one.path]}") for one in told if one.code in _NOT_EMPTY]

        with suppress(TimeoutError):
            async with asyncio.timeout(LOOK_S):
                others = [entry.index for entry in wanted.entries[1:FEW]]
                for at in range(0, len(others), AT_ONCE):
                    for told in await asyncio.gather(*map(look, others[at : at + AT_ONCE])):
                        found += told
    return found
