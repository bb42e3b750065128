"""The live feed's memory does not grow with a reader that does not read."""

import asyncio
from collections.abc import AsyncIterator

from tests.fixtures.seeing import ALL
from trainmaster.core.records import Job
from trainmaster.service.control.feed import REMEMBERED, Feed, FeedItem, changed


def _job(number: int) -> Job:
    return Job(f"t{number:032x}", "a", "admin", (), "", 0.0, seq=number)


async def _next(items: AsyncIterator[FeedItem]) -> FeedItem:
    return await asyncio.wait_for(anext(items), 10)


async def test_a_reader_that_sleeps_is_told_to_list_again() -> None:
    """A console left open on a sleeping machine costs the server a bounded number of changes, whatever happens
    meanwhile.
    """
    feed = Feed()
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
