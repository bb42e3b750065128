"""The live feed: what changed, in commit order, to any number of subscribers. Costs nothing while nobody listens.

A slow subscriber never delays a commit: items of the same job that it has not taken yet are merged into the newest.
Invariants: what a subscriber receives for a job is always its newest committed state; sequence numbers only grow, and
whoever reads them is given a mark of them: they count what everybody does. That one is to list again (`reset`) tells
nothing of what one may not see, either.
"""

import asyncio
import secrets
import struct
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, replace
from typing import Final

from trainmaster.access.visible import InWorkspace, Visible
from trainmaster.core.records import Job
from trainmaster.service.secrets.seals import Seals

REMEMBERED: Final = 2048
"""Newest changes kept for resuming; a client that may miss one is told to list again (`reset`)."""

ELSEWHERE: Final = -1
"""The position of whoever comes from another server, or from before a restart: they list again."""

_KIND: Final = "feed"
_PLACE: Final = struct.Struct(">8sq")


@dataclass(frozen=True, slots=True)
class FeedItem:
    """One change, of `job` where it is a job's. `event`: job, deleted, cluster, notices (of `person` alone), reset or
    idle (a chance to see that the reader has gone). `before`: the job as it was shared before that.
    """

    seq: int
    event: str
    job: Job | None = None
    job_id: str = ""
    before: Job | None = None
    person: str = ""


class _Subscriber:
    def __init__(self, visible: Visible, only: str | None, person: str) -> None:
        self.visible, self.only, self.person = visible, only, person
        self.items: OrderedDict[str, FeedItem] = OrderedDict()
        self.wake = asyncio.Event()

    def put(self, item: FeedItem) -> None:
        if self.only is not None and item.job_id not in ("", self.only):
            return
        if item.person not in ("", self.person):
            return
        if item.job is not None and not self.visible.covers(item.job):
            if item.before is None or not self.visible.covers(item.before):
                return
            item = FeedItem(item.seq, "deleted", item.before, item.job_id)  # it is shared with them no more
        key = item.job_id or item.event
        self.items.pop(key, None)
        # It reads more slowly than jobs change, or not at all: let it list again when it wakes.
        if len(self.items) >= REMEMBERED:
            self.items.clear()
            item, key = FeedItem(item.seq, "reset"), "reset"
        self.items[key] = item
        self.wake.set()


class Feed:
    """Publish from the loop's thread; subscribe from any coroutine."""

    def __init__(self, seals: Seals) -> None:
        self._seals, self._run = seals, secrets.token_bytes(8)
        self._subscribers: set[_Subscriber] = set()
        self._recent: OrderedDict[str, FeedItem] = OrderedDict()
        self._dropped: dict[InWorkspace, int] = {}  # the newest seq that `_recent` no longer holds, of whose jobs
        self.seq = self._began = 0
        self.on_listen: Callable[[], None] = lambda: None

    @property
    def listeners(self) -> int:
        """Number of subscribers now."""
        return len(self._subscribers)

    def start_at(self, seq: int) -> None:
        """Say which sequence number the ledger ended at; older positions are told to list again."""
        self.seq = self._began = seq

    def here(self) -> str:
        """Return a mark of where the feed is: another one each time."""
        return self.mark(self.seq)

    def mark(self, seq: int) -> str:
        """Return a mark of a sequence number, another one each time."""
        return self._seals.mark(_KIND, _PLACE.pack(self._run, seq))

    def position(self, mark: str) -> int:
        """Return the sequence number of a mark, ELSEWHERE for one of another run. Raises NotSealedHere."""
        run, seq = _PLACE.unpack(self._seals.place(_KIND, mark))
        return int(seq) if run == self._run else ELSEWHERE

    def publish(self, item: FeedItem) -> None:
        """Give `item` to every subscriber and remember it."""
        self.seq = max(self.seq, item.seq)
        if item.job_id:
            older = self._recent.pop(item.job_id, None)
            if older is not None and older.before is not None:
                item = replace(item, before=older.before)
            self._recent[item.job_id] = item
            if len(self._recent) > REMEMBERED:
                self._drop(self._recent.popitem(last=False)[1])
        for subscriber in self._subscribers:
            subscriber.put(item)

    def _drop(self, item: FeedItem) -> None:
        for job in (item.job, item.before):
            if job is not None:
                place = InWorkspace(job.workspace, job.owner, job.share)
                self._dropped[place] = max(self._dropped.get(place, 0), item.seq)

    def _misses(self, visible: Visible, after: int) -> bool:
        """Return whether something after `after` is forgotten that may be seen. O(who has jobs where)."""
        return after < self._began or any(seq > after and visible.covers(place) for place, seq in self._dropped.items())

    async def subscribe(
        self, visible: Visible, after: int, only: str | None = None, idle_s: float = 15.0, person: str = ""
    ) -> AsyncIterator[FeedItem]:
        """Yield every change of what is `visible` after sequence number `after`, for ever; an `idle` item when none
        came for `idle_s`.

        `only`: the id of the one job that is watched; `person`: who watches, and hears of their notifications.
        """
        subscriber = _Subscriber(visible, only, person)
        self._subscribers.add(subscriber)
        self.on_listen()
        try:
            if self._misses(visible, after):
                yield FeedItem(self.seq, "reset")
            for item in list(self._recent.values()):
                if item.seq > after:
                    subscriber.put(item)
            while True:
                while subscriber.items:
                    yield subscriber.items.popitem(last=False)[1]
                subscriber.wake.clear()
                try:
                    await asyncio.wait_for(subscriber.wake.wait(), idle_s)
                except TimeoutError:
                    yield FeedItem(self.seq, "idle")
        finally:
            self._subscribers.discard(subscriber)


def changed(seq: int, job: Job, before: Job | None = None) -> FeedItem:
    """Return the item that says `job` changed. `before`: the job as it was, where it was shared in another way."""
    return FeedItem(seq, "job", job, job.id, before)


def deleted(seq: int, job: Job) -> FeedItem:
    """Return the item that says `job` is gone."""
    return FeedItem(seq, "deleted", job, job.id)


def cluster_changed(seq: int) -> FeedItem:
    """Return the item that says nodes or their use changed."""
    return FeedItem(seq, "cluster")


def notices_changed(seq: int, person: str) -> FeedItem:
    """Return the item that says somebody has other notifications."""
    return FeedItem(seq, "notices", person=person)


__all__ = ["Feed", "FeedItem", "changed", "cluster_changed", "deleted", "notices_changed"]
