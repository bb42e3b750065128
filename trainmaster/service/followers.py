"""All that goes by the live jobs, in memory: one of the two ports of the control loop (`control.master.Followers`).

Each part sees every change of every live job, and begins anew from what the ledger holds after a start, a failed
commit, or a clock that was set. Invariant: a part that is not named here follows nothing. Decides nothing itself.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from trainmaster.core.events import Kind
from trainmaster.core.records import Job, Role
from trainmaster.service.admission.urgent import UrgentLimits
from trainmaster.service.control.master import Planned
from trainmaster.service.folders.disks import Disks
from trainmaster.service.money.purses import Purses
from trainmaster.service.scheduling.counts import StateCounts
from trainmaster.service.scheduling.forecasts import Forecasts
from trainmaster.service.scheduling.scheduling import Scheduling
from trainmaster.service.scheduling.shares import Shares
from trainmaster.service.scheduling.tally import Tally
from trainmaster.service.scheduling.waits import Waits


class LiveWatcher(Protocol):
    """Sees what live jobs become, to tell people of it. May not block, and decides nothing about jobs."""

    def moved(self, before: Job | None, after: Job) -> None:
        """See one change of one job, which is not on disk yet."""

    def stored(self, changed: Iterable[Job]) -> None:
        """See what became durable."""

    def restore(self, jobs: Iterable[Job]) -> None:
        """Begin anew from the live jobs the ledger holds."""


@dataclass(slots=True)
class LiveFollowers:
    """One object per server; all methods in the loop's thread."""

    scheduling: Scheduling
    disks: Disks
    counts: StateCounts
    urgent: UrgentLimits
    tally: Tally
    forecasts: Forecasts
    shares: Shares
    waits: Waits
    purses: Purses
    watchers: list[LiveWatcher] = field(default_factory=list)
    leaving: bool = False
    """Set once this server is about to end: it starts nothing more, for whoever told it to may have told the agent,
    too.
    """

    def plan(self, now: float) -> Planned:
        """Plan, while there is room for what a job writes."""
        if self.leaving or self.disks.short:
            return Planned()
        found = self.scheduling.schedule(now)
        events = [self.purses.priced(event) if event.kind is Kind.PLACED else event for event in found]
        return Planned(events, self.scheduling.again_s)

    def moved(self, before: Job | None, after: Job) -> None:
        """Let all see one change of one job."""
        self.scheduling.moved(before, after)
        self.urgent.moved(before, after)
        self.tally.moved(before, after)
        self.forecasts.moved(before, after)
        self.shares.moved(before, after)
        self.waits.moved(before, after)
        self.purses.moved(before, after)
        for watcher in self.watchers:
            watcher.moved(before, after)

    def stored(self, changed: Iterable[Job], deleted: Iterable[Job]) -> None:
        """Count what became durable."""
        found = list(changed)
        self.counts.changed(found, deleted)
        for watcher in self.watchers:
            watcher.stored(found)

    def restore(self, jobs: list[Job], asked: Sequence[Sequence[Role]]) -> None:
        """Begin anew from the live jobs the ledger holds. `asked`: the gangs submitted last, oldest first."""
        self.scheduling.restore(jobs, asked)
        self.urgent.restore(jobs)
        self.tally.restore(jobs)
        self.forecasts.restore(jobs)
        self.waits.restore()
        self.purses.restore(jobs)
        for watcher in self.watchers:
            watcher.restore(jobs)
