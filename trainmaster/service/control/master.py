"""The control loop's heart: every change of every live job passes through `Master.apply`, and through nothing else.

Three verbs in three places (flux-core's lesson): *update* - `apply` asks the reducer and changes memory; *commit* - one
cycle of the loop hands everything that changed to the ledger as one batch; *act* - orders are carried out and callers
answered only after the batch is durable. Nothing here polls: a cycle runs because somebody called `apply` or `wake`.

Invariant: memory is never behind the disk. When a commit fails nothing of that batch is acted on, new changes are
refused until live jobs were read back from the ledger (whoever waits for `failed` does that), and facts are asked of
the engine again.

Two ports lead out: `Followers` are told what moved and plan what starts, `Orders` carry out what the reducer orders.
"""

import asyncio
import concurrent.futures
import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from operator import attrgetter
from typing import Final, Protocol

from trainmaster.core.actions import Action, WakePlanner, Watch
from trainmaster.core.errors import StorageFailed, Unavailable
from trainmaster.core.events import Actor, AuditEvent, Event, Kind
from trainmaster.core.records import Job, replace
from trainmaster.core.reduce import reduce
from trainmaster.messages.server import ledger
from trainmaster.service.control.feed import Feed, changed, deleted
from trainmaster.store.jobs.ledger import Batch, Change, IdempotencyRecord, Ledger
from trainmaster.store.sweeps.sweeps import Sweep

log = logging.getLogger("trainmaster.master")

LINGER_S: Final = 0.005
"""How long facts that nobody waits for stay open for others to share their commit. A commit costs the same whatever it
holds; a `true` job's needs fall from 1.1 of them to 0.5."""


@dataclass(frozen=True, slots=True)
class Planned:
    """What a pass decided, and in how many seconds another is wanted though nothing changes: 0 at once, None never."""

    events: Sequence[Event] = ()
    again_s: float | None = None


class Followers(Protocol):
    """All that goes by the live jobs. Called in the loop's thread; nothing may block."""

    def plan(self, now: float) -> Planned:
        """Plan over what waits; called once per cycle, only when something changed or another pass was wanted."""

    def moved(self, before: Job | None, after: Job) -> None:
        """See one change of one job, which is not on disk yet."""

    def stored(self, changed: Iterable[Job], deleted: Iterable[Job]) -> None:
        """See what became durable."""


class Orders(Protocol):
    """Carries out what the reducer orders. Called in the loop's thread; nothing may block or raise."""

    def answer_now(self, action: Action) -> Event | None:
        """Return the answer to an order that needs no waiting, or None: it then joins the batch that the order is
        in.
        """

    def foresee(self, action: Action) -> None:
        """Use the time in which an order is made durable."""

    def act(self, action: Action) -> None:
        """Carry out an order that is durable. The answer comes back through `Master.apply`."""


@dataclass(slots=True)
class _Open:
    """The batch being filled."""

    # By job; a new pair where an attempt starts.
    changes: dict[str, list[tuple[list[Event], Job]]] = field(default_factory=dict)
    specs: dict[str, str] = field(default_factory=dict)
    keys: list[IdempotencyRecord] = field(default_factory=list)
    deleted: list[tuple[int, Job]] = field(default_factory=list)
    ended: list[Job] = field(default_factory=list)  # ended jobs that are changed, as they were
    shared: dict[str, Job] = field(default_factory=dict)  # jobs that are shared in another way, as they were
    audit_events: list[AuditEvent] = field(default_factory=list)
    sweeps: list[Sweep] = field(default_factory=list)
    actions: list[Action] = field(default_factory=list)
    waiters: list[asyncio.Future[None]] = field(default_factory=list)
    notes: dict[str, str] = field(default_factory=dict)

    @property
    def empty(self) -> bool:
        return not (self.changes or self.deleted or self.keys or self.waiters or self.notes or self.audit_events)

    @property
    def awaited(self) -> bool:
        """True when a caller or an order waits for this batch to be durable."""
        if self.waiters or self.keys or self.deleted or self.notes:
            return True
        return any(not isinstance(action, Watch) for action in self.actions)

    def add(self, event: Event, after: Job) -> None:
        """Note one change of one job."""
        parts = self.changes.setdefault(after.id, [])
        if not parts or (event.kind is Kind.PLACED and event.attempt > 1):
            parts.append(([event], after))
        else:
            parts[-1] = ([*parts[-1][0], event], after)

    def newest(self) -> list[tuple[int, Job]]:
        """Return (seq of its last event, job) of every job changed."""
        return [(parts[-1][0][-1].seq, parts[-1][1]) for parts in self.changes.values()]


class Master:
    """Owns the live jobs in memory, each until its end is on disk. All methods are called in the event loop's
    thread.
    """

    def __init__(self, ledger: Ledger, feed: Feed, clock: Callable[[], float], followers: Followers) -> None:
        self._ledger, self._feed, self._clock, self._followers = ledger, feed, clock, followers
        self.orders: Orders  # set later, because it needs the master itself
        self.failed = asyncio.Event()
        """Set while nothing can be made durable: whoever waits for it reads the truth again, and calls `restore`."""
        self.live: dict[str, Job] = {}
        self.seq = 0
        self.committed = 0  # batches made durable, for /metrics
        self._open = _Open()
        self._scheduled = self._dirty = False
        self._blocked_by: BaseException | None = None  # why nothing can be made durable
        self._linger: asyncio.TimerHandle | None = None
        self._waking: asyncio.TimerHandle | None = None
        self._waking_at = 0.0  # by the loop: a timer for less than a millisecond does not say it (uvloop)
        self._flights = 0

    # -- update ------------------------------------------------------------------------------------------------

    def submit(self, job: Job, document: str, key: IdempotencyRecord | None, by: Actor | None = None) -> Job:
        """Take in a new job with its spec document, submitted `by` its owner. Raises StorageFailed or Unavailable while
        the ledger is out of order.
        """
        self._refuse_when_blocked()
        self._open.specs[job.spec_digest] = document
        if key is not None:
            self._open.keys.append(key)
        event = Event(job.id, Kind.SUBMITTED, self._clock(), job.owner, data={"job": job}, by=by)
        return self.apply(event)

    def apply(self, event: Event) -> Job:
        """Change one live job by one fact, now in memory and soon on disk; return the job after it.

        Raises KeyError when the job is not live (and the event is not `submitted`), StorageFailed while the ledger is
        out of order.
        """
        self._refuse_when_blocked()
        before = self.live.get(event.job)
        if before is None and event.kind is not Kind.SUBMITTED:
            raise KeyError(event.job)
        if before is not None and before.terminal and before.id not in self._open.changes:
            self._open.ended.append(before)
        if before is not None and event.kind is Kind.SHARED:
            self._open.shared.setdefault(before.id, before)
        self.seq += 1
        event = replace(event, seq=self.seq)
        after, actions = reduce(before, event)
        self.live[after.id] = after
        self._open.add(event, after)
        self._followers.moved(before, after)
        for action in actions:
            self._order(action)
        self._cycle_soon()
        return after

    def apply_to_ended(self, job: Job, event: Event) -> Job:
        """Change a job that ended and is as the ledger holds it; return it after that. It is live until it is stored.

        Nobody else may change or delete it meanwhile (`Ended` sees to that). Raises like `apply`.
        """
        self._refuse_when_blocked()
        self.live.setdefault(job.id, job)
        return self.apply(event)

    def delete(self, job: Job, audit_event: AuditEvent) -> None:
        """Forget an ended job: its rows go in the next batch, and with them what the audit is told of it."""
        self._refuse_when_blocked()
        self.seq += 1  # a number of its own: a client that resumes after an older one must hear of it
        self._open.deleted.append((self.seq, job))
        self._open.audit_events.append(audit_event)
        self._cycle_soon()

    def tell(self, audit_event: AuditEvent, sweep: Sweep | None = None) -> None:
        """Tell the audit of what was done to several jobs since the last turn of the loop, in the batch of that;
        with it store the `sweep` that it made of them. Raises like `apply`.
        """
        self._refuse_when_blocked()
        self._open.audit_events.append(audit_event)
        if sweep is not None:
            self._open.sweeps.append(sweep)
        self._cycle_soon()

    def set_clock(self, by_s: float, stand: str) -> None:
        """Move the times of every live job, and note where the clock stands now: together on disk, or not at all."""
        self._refuse_when_blocked()
        self._open.notes["clock"] = stand
        for job in [job for job in self.live.values() if by_s and not job.terminal]:
            self.apply(Event(job.id, Kind.CLOCK_SET, self._clock(), data={"by_s": by_s}))
        self._cycle_soon()

    def durable(self) -> asyncio.Future[None]:
        """Return a future that is done when everything applied so far is on disk, or holds why it is not."""
        self._refuse_when_blocked()
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._open.waiters.append(future)
        self._cycle_soon()
        return future

    def wake(self) -> None:
        """Ask for a planning pass in the next cycle."""
        self._dirty = True
        self._cycle_soon()

    def _wake_in(self, seconds: float) -> None:
        """Ask for a pass in so many seconds, unless one comes sooner."""
        loop = asyncio.get_running_loop()
        if self._waking is not None:
            if loop.time() < self._waking_at <= loop.time() + seconds:
                return
            self._waking.cancel()
        self._waking, self._waking_at = loop.call_later(seconds, self.wake), loop.time() + seconds

    def close(self) -> None:
        """Hand over what is open, and wake no more."""
        if self._waking is not None:
            self._waking.cancel()
        self.hand_over()

    def _order(self, action: Action) -> None:
        if isinstance(action, WakePlanner):
            self._dirty = True
            return
        self._open.actions.append(action)

    def _refuse_when_blocked(self) -> None:
        if isinstance(self._blocked_by, Unavailable):
            raise Unavailable(self._blocked_by.said)
        if self._blocked:
            raise StorageFailed(ledger.ledger_not_writable())

    # -- commit ------------------------------------------------------------------------------------------------

    def _cycle_soon(self) -> None:
        if not self._scheduled:
            self._scheduled = True
            asyncio.get_running_loop().call_soon(self._cycle)

    def _cycle(self) -> None:
        """Plan if something changed, answer what can be answered at once, hand the batch over when somebody waits for
        it.
        """
        self._scheduled = False
        if self._blocked:
            return
        if self._dirty:
            self._dirty = False
            self._plan()
        self._answer_at_once()
        if self._open.awaited:
            self.hand_over()
        elif not self._open.empty and self._linger is None:
            self._linger = asyncio.get_running_loop().call_later(LINGER_S, self.hand_over)

    def hand_over(self) -> None:
        """Give what is open to the ledger now. Nothing happens when nothing is open, or the ledger is out of order."""
        if self._linger is not None:
            self._linger.cancel()
            self._linger = None
        if self._open.empty or self._blocked:
            return
        batch, self._open = self._open, _Open()
        changes = [Change(tuple(events), job) for parts in batch.changes.values() for events, job in parts]
        self._flights += 1
        gone = [job.id for _, job in batch.deleted]
        future = self._ledger.commit(
            Batch(changes, batch.specs, batch.keys, gone, self.seq, batch.notes, batch.audit_events, batch.sweeps)
        )
        loop = asyncio.get_running_loop()
        future.add_done_callback(lambda done: loop.call_soon_threadsafe(self._committed, batch, done))
        for action in batch.actions:
            self.orders.foresee(action)

    def _plan(self) -> None:
        try:
            planned = self._followers.plan(self._clock())
            for event in planned.events:
                self.apply(event)
            if planned.again_s == 0:
                self.wake()
            elif planned.again_s is not None:
                self._wake_in(planned.again_s)
        except Exception:  # a bug about one waiting job must not keep all other changes from the disk
            log.exception("the queue could not be planned; it is planned again at the next change")

    def _answer_at_once(self) -> None:
        """Orders that need no waiting (a pre-check from memory, nothing to stage) join the same batch."""
        index = 0
        while index < len(self._open.actions):
            answer = self.orders.answer_now(self._open.actions[index])
            if answer is None:
                index += 1
                continue
            del self._open.actions[index]
            self.apply(answer)

    # -- act ---------------------------------------------------------------------------------------------------

    def _committed(self, batch: _Open, done: concurrent.futures.Future[None]) -> None:
        self._flights -= 1
        error = done.exception()
        if error is not None:
            self._failed(batch, error)
            return
        self.committed += 1
        newest = batch.newest()
        gone = chain((job for _, job in batch.deleted), batch.ended)
        self._followers.stored((job for _, job in newest), gone)
        for _, job in newest:
            if job.terminal:  # not before the commit: until then the ledger has the old row
                self.live.pop(job.id, None)
        for action in batch.actions:
            self.orders.act(action)
        # One turn of the loop later, so that orders leave before answers are made: programs start sooner.
        asyncio.get_running_loop().call_soon(self._tell, batch, newest)

    def _tell(self, batch: _Open, newest: list[tuple[int, Job]]) -> None:
        for waiter in batch.waiters:
            if not waiter.done():
                waiter.set_result(None)
        news = [changed(seq, job, batch.shared.get(job.id)) for seq, job in newest] + [
            deleted(seq, job) for seq, job in batch.deleted
        ]
        for item in sorted(news, key=attrgetter("seq")):  # who has seen one has seen all before it
            self._feed.publish(item)

    def _failed(self, batch: _Open, error: BaseException) -> None:
        """Nothing of the batch happened: tell its callers, refuse changes, and ask for the truth to be read again."""
        log.error("a batch of %d jobs could not be made durable: %s", len(batch.changes), error)
        self._refuse(batch, error)
        self._refuse(self._open, error)
        self._open = _Open()
        if not self._blocked:
            self._blocked_by = error
            self.failed.set()

    @staticmethod
    def _refuse(batch: _Open, error: BaseException) -> None:
        for waiter in batch.waiters:
            if not waiter.done():
                waiter.set_exception(error)

    @property
    def _blocked(self) -> bool:
        return self._blocked_by is not None

    @property
    def in_flight(self) -> int:
        """Batches handed to the ledger and not answered yet."""
        return self._flights

    def restore(self, jobs: list[Job], seq: int) -> None:
        """Replace memory by what the ledger holds; changes are accepted again. Only while nothing is in flight."""
        self.live = {job.id: job for job in jobs}
        self.seq = max(self.seq, seq)
        self._open = _Open()
        self._blocked_by = None
        self.failed.clear()
        self._dirty = True
        self._cycle_soon()
