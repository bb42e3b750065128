"""What was spent so far: by the stored entries, and by what runs now.

Invariant: an attempt that ends meanwhile is counted once. What runs is taken first; the entries are read afterwards,
with those that came since, and what is among them runs no more. No clock decides it, for clocks are set.
"""

import asyncio
from collections.abc import Callable, Sequence

from trainmaster.core.money.metering import uses
from trainmaster.core.records import Job
from trainmaster.core.states import JobState
from trainmaster.service.context import Context
from trainmaster.store.money.entries import Spending, Spent, spent_of

Read = Callable[[int], Spending]
"""Reads the entries; given the number of one, it says which attempts are in them by later ones. Blocking."""


async def spending(ctx: Context, bounds: Sequence[int], covers: Callable[[Job], bool], read: Read) -> list[Spent]:
    """Return what was spent in each of the spans between `bounds`: what `read` finds, and what those live jobs have
    used so far that are covered.
    """
    last = await asyncio.to_thread(ctx.entries.last)
    now = ctx.clock()
    running = [
        (use, spent)
        for job in ctx.master.live.values()
        if job.state is JobState.ACTIVE and covers(job)
        for use in uses(job, now)
        for spent in spent_of(use, bounds)
    ]
    await ctx.master.durable()  # what had ended is in the entries
    stored = await asyncio.to_thread(read, last)
    return [*stored.parts, *(spent for use, spent in running if (use.job, use.attempt) not in stored.settled)]
