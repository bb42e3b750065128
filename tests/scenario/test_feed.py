"""List, then watch: a client that lists once and follows the feed is never wrong, also after it was away."""

import asyncio
import threading
import time
from collections.abc import AsyncIterator
from typing import Any

import pytest
from sqlalchemy import Connection

from tests.fixtures.people import person
from tests.fixtures.seeing import ALL
from tests.scenario.stage import ADMIN, ENDED, PATIENCE_S, Stage, fake_spec
from trainmaster.api.routes.feed import _items
from trainmaster.service.context import Context
from trainmaster.service.control.feed import FeedItem
from trainmaster.service.use_cases.listing import Chosen
from trainmaster.store.jobs.ledger import Ledger
from trainmaster.store.jobs.read_jobs import JobQuery


class Follower:
    """A console: what it shows comes from one list and from the feed alone."""

    def __init__(self, stage: Stage) -> None:
        self.stage, self.shown, self.seq, self.resets = stage, dict[str, str](), 0, 0
        self.seen: list[int] = []

    async def list(self) -> None:
        """Ask for everything."""
        page = await self.stage.platform.jobs(JobQuery(), 500, None, ADMIN)
        self.shown = {item.id: item.state for item in page.items}
        self.seq = self.stage.platform.feed.position(page.seq)

    async def watch(self, until: str, job: str) -> None:
        """Follow until `job` is shown as `until` ("" : gone)."""
        if self.shown.get(job, "") == until:
            return
        feed: AsyncIterator[FeedItem] = self.stage.platform.feed.subscribe(ALL, self.seq)
        async for item in feed:
            await self._take(item)
            if self.shown.get(job, "") == until:
                return

    async def one(self) -> None:
        """Connect, take one item, and be cut off."""
        feed = self.stage.platform.feed.subscribe(ALL, self.seq)
        await self._take(await anext(feed))
        await feed.aclose()

    async def _take(self, item: FeedItem) -> None:
        if item.event == "reset":
            self.resets += 1
            await self.list()
        elif item.event == "deleted":
            self.shown.pop(item.job_id, None)
        elif item.job is not None:
            self.shown[item.job.id] = item.job.shown.value
            self.seen.append(item.seq)
        self.seq = item.seq


async def test_what_is_followed_is_what_is_listed(fake: Stage) -> None:
    """Every change arrives in commit order; in the end the follower shows what a new list shows."""
    follower = Follower(fake)
    await follower.list()
    last = ""
    watching = None
    for number in range(30):
        last = await fake.submit(fake_spec(f"j{number}"))
        watching = watching or asyncio.create_task(follower.watch("succeeded", last))
    for job in fake.job_ids():
        await fake.ended(job)
    await asyncio.wait_for(follower.watch("succeeded", last), 30)
    watching.cancel()
    await asyncio.gather(watching, return_exceptions=True)
    other = Follower(fake)
    await other.list()
    assert follower.shown == other.shown
    assert set(other.shown.values()) == {"succeeded"}
    assert follower.resets == 0
    assert follower.seen == sorted(follower.seen)


async def test_a_client_cut_off_after_any_item_misses_nothing(fake: Stage) -> None:
    """Whoever has seen one number has seen all below it: reconnecting after every single item tells the whole story."""
    follower = Follower(fake)
    await follower.list()
    made = await fake.platform.submit_batch([{"spec": fake_spec(f"j{n}")} for n in range(20)], ADMIN, None)
    for item in made.items:
        await fake.ended(item.id)
    await fake.platform.many("delete", Chosen(tuple(item.id for item in made.items[:10])), ADMIN)
    last = await fake.submit(fake_spec("last"))
    await fake.ended(last)
    while follower.shown.get(last) != "succeeded":
        await asyncio.wait_for(follower.one(), 30)
    assert follower.shown == dict.fromkeys((*(item.id for item in made.items[10:]), last), "succeeded")
    assert follower.resets == 0


async def test_resuming_after_a_number_tells_what_was_missed(fake: Stage) -> None:
    """A client that was away gets each job's newest state once, and deletions."""
    gone, kept = [await fake.submit(fake_spec(name)) for name in ("gone", "kept")]
    for job in (gone, kept):
        await fake.ended(job)
    follower = Follower(fake)
    await follower.list()
    await fake.platform.delete(gone, ADMIN)
    later = await fake.submit(fake_spec("later"))
    await fake.ended(later)
    await asyncio.wait_for(follower.watch("succeeded", later), 30)
    await asyncio.wait_for(follower.watch("", gone), 30)
    assert (follower.shown, follower.resets) == ({kept: "succeeded", later: "succeeded"}, 0)


async def test_a_client_from_before_a_restart_is_told_to_list_again(fake: Stage) -> None:
    """What the new server does not remember it does not pretend to know."""
    follower = Follower(fake)
    await follower.list()
    jobs = [await fake.submit(fake_spec(f"j{n}")) for n in range(3)]
    for job in jobs:
        await fake.ended(job)
    await fake.restart()
    await asyncio.wait_for(follower.watch("succeeded", jobs[-1]), 30)
    assert follower.resets == 1
    assert set(follower.shown.values()) <= ENDED


async def test_a_state_once_shown_is_not_taken_back(fake: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever asks again while the end is on its way to a slow disk is not shown an earlier state."""
    inner = Ledger._write

    def slow(ledger: Ledger, connection: Connection, items: list[Any]) -> None:
        time.sleep(0.1)  # in the disk's own thread
        inner(ledger, connection, items)

    monkeypatch.setattr(Ledger, "_write", slow)
    order = ["queued", "initialising", "running", "saving", "stopping", "succeeded"]
    job = await fake.submit(fake_spec("steady"))
    seen: list[str] = []

    async def look() -> None:
        while True:
            seen.append((await fake.view(job)).state)
            await asyncio.sleep(0.005)

    looking = asyncio.create_task(look())
    await fake.ended(job)  # and that is on the disk: nothing is on its way any more
    on_disk = len(seen)
    async with asyncio.timeout(PATIENCE_S):
        while len(seen) < on_disk + 2:  # a whole look after it
            await asyncio.sleep(0.005)
    looking.cancel()
    await asyncio.gather(looking, return_exceptions=True)
    assert seen == sorted(seen, key=order.index)
    assert seen[-1] == "succeeded"


@pytest.mark.parametrize("look", ["one", "list", "feed"])
async def test_an_end_that_comes_while_a_view_is_made_is_heard_by_who_watches_from_it(
    fake: Stage, monkeypatch: pytest.MonkeyPatch, look: str
) -> None:
    """The state that a view shows is never older than its number: else who waits for the end waits for ever."""
    platform, job = fake.platform, await fake.submit(fake_spec("short", "sleep 1000"))
    await fake.state(job, "running")
    watched, at_it, go_on = Context.watched, threading.Event(), threading.Event()

    def slow(context: Context, jobs: Any) -> Any:
        at_it.set()
        assert go_on.wait(PATIENCE_S)
        return watched(context, jobs)

    monkeypatch.setattr(Context, "watched", slow)
    if look == "one":
        looking: Any = platform.job(job, ADMIN)
    elif look == "list":
        looking = platform.jobs(JobQuery(), 500, None, ADMIN)
    else:
        looking = anext(_items(platform, ADMIN, 0, job))
    seen = asyncio.create_task(looking)
    await asyncio.to_thread(at_it.wait, PATIENCE_S)
    monkeypatch.setattr(Context, "watched", watched)
    await platform.stop(job, ADMIN)
    await fake.ended(job)
    while platform.context.master.live.get(job) is not None:
        await asyncio.sleep(0)
    go_on.set()
    found = await seen
    view = found.items[0] if look == "list" else found.data if look == "feed" else found
    assert view.state not in ENDED
    follower = Follower(fake)
    follower.seq = platform.feed.position(view.seq)
    await asyncio.wait_for(follower.watch("stopped", job), PATIENCE_S)


async def test_nobody_hears_of_other_peoples_jobs(fake: Stage) -> None:
    """Neither of their changes nor of their end: an id that is not in the list must not be in the feed."""
    start = fake.platform.feed.seq
    mine, theirs = person("bob"), ADMIN
    jobs = {}
    for who in (mine, theirs):
        view, _ = await fake.platform.submit({"spec": fake_spec("a")}, who, None)
        jobs[who.name] = view.id
        await fake.ended(view.id)
        await fake.platform.delete(view.id, who)
    last, _ = await fake.platform.submit({"spec": fake_spec("last")}, mine, None)
    heard = []
    async with asyncio.timeout(PATIENCE_S):
        async for sent in _items(fake.platform, mine, start, None):
            heard.append((sent.event, sent.data.id))
            if sent.data.id == last.id:
                break
    assert ("deleted", jobs["bob"]) in heard
    assert jobs["admin"] not in {job for _, job in heard}
    await fake.ended(last.id)
