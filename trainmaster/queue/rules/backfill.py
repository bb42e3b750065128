"""EASY backfill: when and where the head of a line starts if nothing but limits ends what runs, and what may pass it.

Lifka 1995: a later job may start now when it does not delay the first that cannot. Either its limit ends it before that
start, or it fits in what the head leaves on its nodes ("behind"). Pure. Invariant: whoever starts on `behind` or ends
by `at` leaves the head's placement possible at `at`.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from trainmaster.core.records import Assignment, Role
from trainmaster.queue.ordering.order import Place
from trainmaster.queue.placing.capacity import Held, Room
from trainmaster.queue.placing.failures import Demand, Failures
from trainmaster.queue.placing.packing import Packing
from trainmaster.queue.rules.rehearsal import earliest
from trainmaster.queue.snapshot import Pending, Reservation, Usage

AT_FIRST: Final = 64
"""So many releases are tried first, then eight times as many: most heads wait for few."""

HeldBy = Callable[[Usage], tuple[Held, ...]]
"""What an attempt gives back when it ends."""


@dataclass(frozen=True, slots=True)
class Promise:
    """The head of a line starts at `at` with `roles`, placed so. `later`: true of its nodes at that time, before it
    starts.
    """

    at: float
    roles: tuple[Role, ...]
    placement: tuple[Assignment, ...]
    later: Room
    releases: int = 0  # how many attempts must end first


@dataclass(slots=True)
class Line:
    """One pool's line during a pass: who is first of those that cannot start, and what the others may use.

    `head_at`: its place in the order. `unfit`: what is known not to fit now; `unfit_behind`: what does not fit beside
    the promise.
    """

    pool: str
    unfit: Failures
    unfit_behind: Failures = field(init=False)
    head: Pending | None = None
    head_at: Place | None = None
    promise: Promise | None = None
    closed: bool = False  # nobody behind the head may start
    _behind: Room | None = None

    def __post_init__(self) -> None:
        self.unfit_behind = Failures(self.unfit)

    def behind(self, room: Room) -> Room:
        """Return what is left of `room` for those who may still run when the head starts."""
        promise = self.promise
        if promise is None:
            return room
        if self._behind is None:
            self._behind = room.reduced(promise.later, promise.roles, promise.placement)
        return self._behind

    def in_time(self, ends_at: float) -> bool:
        """Return whether who ends at `ends_at` is gone before the head starts."""
        return self.promise is None or (ends_at <= self.promise.at and ends_at < math.inf)

    def took(self, taken: Sequence[Held], ends_at: float) -> None:
        """Note what a start behind the head took. O(tasks)."""
        promise = self.promise
        if promise is None:
            return
        kept = {a.node for a in promise.placement}
        if not self.in_time(ends_at):
            promise.later.take_held(held for held in taken if held.node in kept)
        elif any(held.node in kept for held in taken):
            self._behind = None  # it ends in time: `later` is as before; `behind` makes this anew
            return
        if self._behind is not None:
            self._behind.take_held(taken)

    def clear(self) -> None:
        """Forget the head, which starts after all."""
        self.head = self.head_at = self.promise = self._behind = None
        self.closed = False
        self.unfit_behind = Failures(self.unfit)

    @property
    def reservation(self) -> Reservation | None:
        """What the head is promised, None without a head or a promise."""
        if self.head is None or self.promise is None:
            return None
        nodes = tuple(dict.fromkeys(a.node for a in self.promise.placement))
        return Reservation(self.head.job, self.pool, self.promise.at, nodes)


def rehearse(
    room: Room,
    ways: Iterable[Demand],
    releases: Sequence[Usage],
    now: float,
    held_by: HeldBy,
    packing: Packing,
    allowed: Callable[[Promise], bool],
) -> Promise | None:
    """Return when and how a job that may run in any of `ways` and cannot start in `room` can as `releases` end in turn.

    It is the way that can start first of those that are `allowed`. None when none fits even after all releases. An
    attempt beyond its limit counts as ending now. O(ways x replicas released).
    """
    best: Promise | None = None
    given: list[tuple[Held, ...]] = []
    for demand in ways:
        most = len(releases) if best is None else best.releases - 1
        found, tried = None, 0
        while found is None and tried < most:
            tried = min(8 * tried or AT_FIRST, most)
            given += [held_by(usage) for usage in releases[len(given) : tried]]
            found = earliest(room, demand, given[:tried], packing)
        if found is None:
            continue
        count = found.releases
        at = max(releases[count - 1].ends_at, now) if count else now
        nodes = {a.node for a in found.placement}
        for usage in releases[count:] if at < math.inf else ():
            if usage.ends_at > at:
                break
            # It ends at that very time as well.
            found.room.give_held(one for one in held_by(usage) if one.node in nodes)
        promise = Promise(at, demand.roles, found.placement, found.room, count)
        best = promise if allowed(promise) else best
    return best


def after(room: Room, demand: Demand, ended: Sequence[tuple[Held, ...]], packing: Packing) -> Promise | None:
    """Return how a gang starts once all of `ended` have given back what they hold, None when it cannot even then."""
    found = earliest(room, demand, ended, packing)
    return None if found is None else Promise(0.0, demand.roles, found.placement, found.room, found.releases)
