"""What an attempt is charged for: which machines, from when until when, at which price. Pure.

Charged is the time in which an attempt really ran: from the start of its first replica to the end of its last, as the
nodes' agents tell it, and a debug hold until its end. All its replicas are charged for all of it, since none gives up
its place before. The platform's own time is not charged: queueing, staging, saving, and in which no server ran. The
price is the one of the moment in which the attempt got its nodes (`Attempt.rates`). Invariant: the parts into which
`parts_of` cuts a use add up to it, in time and in money.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence

from trainmaster._compat import dataclass
from trainmaster.core.money.amounts import charge
from trainmaster.core.money.rates import Rate
from trainmaster.core.records import Attempt, Job
from trainmaster.core.states import Phase


@dataclass(frozen=True, slots=True)
class MachineUse:
    """What one role of an attempt used. `start_ms`, `end_ms`: milliseconds since the epoch; `rate`: of one machine."""

    workspace: str
    owner: str
    pool: str
    job: str
    attempt: int
    role: int
    machines: int
    rate: Rate
    start_ms: int
    end_ms: int

    @property
    def machine_ms(self) -> int:
        """The time of all machines together."""
        return self.machines * (self.end_ms - self.start_ms)

    @property
    def amount(self) -> int:
        """What it costs, in millionths."""
        return charge(self.rate.price, self.machine_ms)


def ran(attempt: Attempt, now: float) -> tuple[float, float] | None:
    """Return from when until when an attempt ran, until `now` where it still does; None where nothing of it ran."""
    begun = [task for task in attempt.tasks if task.started_at is not None]
    if not begun:
        return None
    start = min(task.started_at for task in begun if task.started_at is not None)
    last = attempt.ended_at if attempt.ended_at is not None else now
    ends = [last if task.ended_at is None else task.ended_at for task in begun]
    if attempt.retained_at is not None:
        ends.append(last if attempt.draining_at is None else attempt.draining_at)
    return start, max(start, *ends)


def uses(job: Job, now: float) -> list[MachineUse]:
    """Return what the last attempt of a job is charged for up to `now`, by role; nothing where nothing ran.
    O(tasks).
    """
    attempt = job.attempt
    span = None if attempt is None else ran(attempt, now)
    if attempt is None or span is None:
        return []
    counts: dict[int, int] = {}
    for place in attempt.placement:
        counts[place.role] = counts.get(place.role, 0) + 1
    start, end = (round(at * 1000) for at in span)
    return [
        MachineUse(
            job.workspace,
            job.owner,
            job.pool,
            job.id,
            attempt.number,
            role,
            count,
            attempt.rates[role] if role < len(attempt.rates) else Rate(),
            start,
            end,
        )
        for role, count in sorted(counts.items())
    ]


def just_ended(before: Job | None, after: Job) -> bool:
    """Return whether the attempt of a job ended with this change of it."""
    if after.attempt is None or after.attempt.phase is not Phase.ENDED or before is None or before.attempt is None:
        return False
    return before.attempt.number == after.attempt.number and before.attempt.phase is not Phase.ENDED


def parts_of(use: MachineUse, bounds: Sequence[int]) -> Iterator[tuple[int, int, int]]:
    """Yield (which span, milliseconds of all machines, amount) of a use within the spans between `bounds`, which rise.

    What lies before the first and behind the last bound is left out.
    """
    first = max(0, bisect_right(bounds, use.start_ms) - 1)
    for at in range(first, len(bounds) - 1):
        start, end = max(use.start_ms, bounds[at]), min(use.end_ms, bounds[at + 1])
        if start >= end:
            return
        before, until = (use.machines * (moment - use.start_ms) for moment in (start, end))
        yield at, until - before, charge(use.rate.price, until) - charge(use.rate.price, before)
        if use.end_ms <= bounds[at + 1]:
            return
