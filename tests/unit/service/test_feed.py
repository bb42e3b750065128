"""The live feed's memory does not grow with a reader that does not read, and what it forgets tells nothing."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.fixtures.seeing import ALL, only
from trainmaster.access.visible import Visible
from trainmaster.core.folders.layout import Layout
from trainmaster.core.records import Job
from trainmaster.service.control.feed import ELSEWHERE, REMEMBERED, Feed, FeedItem, changed
from trainmaster.service.secrets.seals import NotSealedHere, Seals


@pytest.fixture
def feed(tmp_path: Path) -> Feed:
    return Feed(Seals(Layout(str(tmp_path))))


def _job(number: int) -> Job:
    return Job(f"t{number:032x}", "a", "admin", (), "", 0.0, seq=number)


async def _next(items: AsyncIterator[FeedItem]) -> FeedItem:
    return await asyncio.wait_for(anext(items), 10)


async def test_a_reader_that_sleeps_is_told_to_list_again(feed: Feed) -> None:
    """A console left open on a sleeping machine costs the server a bounded number of changes, whatever happens
    meanwhile.
    """
    items = feed.subscribe(ALL, 0)
    feed_ready = asyncio.ensure_future(_next(items))
    await asyncio.sleep(0)
    feed.publish(changed(1, _job(1)))
    assert (await feed_ready).job_id == _job(1).id
    for number in range(2, 3 * REMEMBERED):
        feed.publish(changed(number, _job(number)))
    (subscriber,) = feed._subscribers
    assert len(subscriber.items) <= REMEMBERED
    first = await _next(items)
    assert first.event == "reset"
    rest = [await _next(items) for _ in range(len(subscriber.items))]
    assert rest[-1].job_id == _job(3 * REMEMBERED - 1).id
    await items.aclose()  # type: ignore[attr-defined]


async def _begins(feed: Feed, visible: Visible, after: int) -> str:
    """Return what somebody hears first who goes on after a number; "idle": nothing."""
    items = feed.subscribe(visible, after, idle_s=0.0)
    try:
        return (await _next(items)).event
    finally:
        await items.aclose()  # type: ignore[attr-defined]


def _of(owner: str, number: int) -> Job:
    return replace(_job(number), owner=owner)


async def test_that_something_is_forgotten_is_told_to_those_alone_who_might_have_seen_it(feed: Feed) -> None:
    """Or who comes back again and again to one position would be told how much others do."""
    feed.publish(changed(1, _of("ann", 1)))
    for number in range(2, 3 * REMEMBERED):
        feed.publish(changed(number, _of("bob", number)))
    assert await _begins(feed, only("ann"), 0) == "reset"  # hers is forgotten, too
    assert await _begins(feed, only("ann"), 1) == "idle"
    assert await _begins(feed, only("cleo"), 0) == "idle"
    assert await _begins(feed, only("bob"), 1) == "reset"
    assert await _begins(feed, ALL, 1) == "reset"
    assert await _begins(feed, only("bob"), 3 * REMEMBERED - 2) == "job"


async def test_that_something_is_hidden_from_one_is_forgotten_for_them(feed: Feed) -> None:
    """Who could see it before must hear that it has gone from them."""
    before = replace(_of("bob", 1), owner="ann")
    feed.publish(changed(2, _of("bob", 1), before))
    for number in range(3, REMEMBERED + 3):
        feed.publish(changed(number, _of("bob", number)))
    assert await _begins(feed, only("ann"), 1) == "reset"
    assert await _begins(feed, only("ann"), 2) == "idle"


async def test_a_mark_is_read_by_the_server_that_gave_it(feed: Feed, tmp_path: Path) -> None:
    """After a restart nobody knows what came between, so everybody lists again, whether something did or not."""
    feed.start_at(40)
    marks = [feed.here(), feed.mark(40), feed.mark(2**40)]
    assert [feed.position(mark) for mark in marks] == [40, 40, 2**40]
    assert (len(set(marks)), len({len(mark) for mark in marks})) == (3, 1)
    again = Feed(Seals(Layout(str(tmp_path))))
    again.start_at(40)
    assert again.position(marks[0]) == ELSEWHERE
    assert await _begins(again, only("ann"), ELSEWHERE) == "reset"
    with pytest.raises(NotSealedHere):
        Feed(Seals(Layout(str(tmp_path / "another")))).position(marks[0])
