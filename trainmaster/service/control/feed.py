"""The live feed: what changed, in commit order, to any number of subscribers. Costs nothing while nobody listens.

A slow subscriber never delays a commit: items of the same job that it has not taken yet are merged into the newest.
Invariant: what a subscriber receives for a job is always its newest committed state; sequence numbers only grow.
"""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, replace

from trainmaster.access.visible import Visible
from trainmaster.core.records import Job

REMEMBERED = 2048
"""Newest changes kept for resuming; a client further behind is told to list again (`reset`)."""


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

    def __init__(self) -> None:
        self._subscribers: set[_Subscriber] = set()
        self._recent: OrderedDict[str, FeedItem] = OrderedDict()
        self._dropped = 0  # the newest seq that `_recent` no longer holds
        self.seq = 0
        self.on_listen: Callable[[], None] = lambda: None

    @property
    def listeners(self) -> int:
        """Number of subscribers now."""
        return len(self._subscribers)

    def start_at(self, seq: int) -> None:
        """Say which sequence number the ledger ended at; older positions are told to list again."""
        self.seq = self._dropped = seq

    def publish(self, item: FeedItem) -> None:
        """Give `item` to every subscriber and remember it."""
        self.seq = max(self.seq, item.seq)
        if item.job_id:
            older = self._recent.pop(item.job_id, None)
            if older is not None and older.before is not None:
                item = replace(item, before=older.before)
            self._recent[item.job_id] = item
            if len(self._recent) > REMEMBERED:
                self._dropped = max(self._dropped, self._recent.popitem(last=False)[1].seq)
        for subscriber in self._subscribers:
            subscriber.put(item)

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
            if after < self._dropped:
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
