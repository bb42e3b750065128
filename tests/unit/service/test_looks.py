"""A file system that hangs costs who asks for it some seconds, and nobody else anything."""

import asyncio
import threading
from collections.abc import Iterator

import pytest

from trainmaster.service.folders.looks import MOST, Looks


@pytest.fixture
def hung() -> Iterator[threading.Event]:
    """Set it to let what hangs go on."""
    event = threading.Event()
    yield event
    event.set()


async def test_a_look_gives_its_answer_or_its_error() -> None:
    looks = Looks()
    answers = await asyncio.gather(*(looks.look(f"/{n}", lambda n=n: n) for n in range(3 * MOST)))
    assert answers == list(range(3 * MOST))
    with pytest.raises(OSError, match="broken"):
        await looks.look("/", _broken)


def _broken() -> None:
    raise OSError("broken")


async def test_a_place_that_hangs_is_given_up_and_tried_again_when_it_answers(hung: threading.Event) -> None:
    looks = Looks(limit_s=0.05)
    with pytest.raises(TimeoutError):
        await looks.look("/hung", hung.wait)
    looks.limit_s = 60.0
    with pytest.raises(TimeoutError):  # at once
        await looks.look("/hung", lambda: True)
    assert await looks.look("/fine", lambda: True)
    hung.set()
    while looks._silent:
        await asyncio.sleep(0)
    assert await looks.look("/hung", lambda: True)


async def test_all_that_may_hang_hang(hung: threading.Event) -> None:
    looks = Looks(limit_s=0.05)
    hanging = [looks.look(f"/{n}", hung.wait) for n in range(MOST)]
    assert {type(one) for one in await asyncio.gather(*hanging, return_exceptions=True)} == {TimeoutError}
    threads = threading.active_count()
    with pytest.raises(TimeoutError):
        await looks.look("/more", lambda: True)
    assert threading.active_count() == threads
