"""Work that is done by processes beside the server: what comes back, and what a clerk that hangs, dies or is not needed
any more costs.
"""

import asyncio
import contextlib
import gc
import operator
import os
import signal
import subprocess
import sys
import time
import weakref
from collections import UserList
from collections.abc import Callable, Iterator
from typing import Any

import psutil
import pytest

from trainmaster.core.errors import InvalidSpec, Unavailable
from trainmaster.service.helpers.clerks import AT_ONCE, Clerks
from trainmaster.service.language import document_of
from trainmaster.service.submitting.reading import read_body

LONG_S = 600.0
BODY = {"spec": {"name": "a", "roles": [{"name": "main", "command": "true"}]}}


@pytest.fixture
def clerks() -> Iterator[Clerks]:
    made = Clerks()
    yield made
    made.close()


def children() -> list[psutil.Process]:
    """Return the clerks that run; other tests of this process may have left dead ones of their own."""
    found = []
    for one in psutil.Process().children():
        with contextlib.suppress(psutil.Error):
            if "trainmaster.service.helpers.clerk" in one.cmdline():
                found.append(one)
    return found


async def until_begun(count: int) -> None:
    async with asyncio.timeout(60):
        while len(children()) < count:
            await asyncio.sleep(0.01)


async def test_what_it_returns_and_raises_comes_back_as_it_is(clerks: Clerks) -> None:
    assert await clerks.do("ann", read_body, BODY, 2) == read_body(BODY, 2)
    with pytest.raises(InvalidSpec) as here:
        read_body({"spec": {"nmae": "a"}}, 2)
    with pytest.raises(InvalidSpec) as there:
        await clerks.do("ann", read_body, {"spec": {"nmae": "a"}}, 2)
    assert there.value.said == here.value.said
    assert document_of("zh", there.value) == document_of("zh", here.value)
    assert str(there.value) == str(here.value)
    assert len(children()) == 1, "the same clerk again"


async def test_who_waits_for_their_own_holds_nobody_else_up(clerks: Clerks) -> None:
    mine = [asyncio.create_task(clerks.do("ann", time.sleep, LONG_S)) for _ in range(AT_ONCE + 1)]
    await until_begun(1)
    assert await clerks.do("bob", operator.add, 2, 3) == 5
    assert len(children()) == AT_ONCE
    for task in mine:
        task.cancel()
    await asyncio.gather(*mine, return_exceptions=True)
    assert await clerks.do("ann", operator.add, 2, 3) == 5, "what nobody waits for any more is ended"


async def test_one_that_hangs_costs_the_answer_only() -> None:
    clerks = Clerks(limit_s=1.0)
    try:
        with pytest.raises(Unavailable, match=r"longer than 1s"):
            await clerks.do("ann", time.sleep, LONG_S)
        assert children() == []
        clerks._limit_s = 60.0
        assert await clerks.do("ann", operator.add, 2, 3) == 5
    finally:
        clerks.close()


async def test_one_that_dies_or_takes_all_memory_costs_the_answer_only(clerks: Clerks) -> None:
    works: tuple[tuple[Callable[[int], object], int], ...] = ((os._exit, 3), (bytes, 2 << 30))
    for work, given in works:
        with pytest.raises(Unavailable, match="too much memory"):
            await clerks.do("ann", work, given)
    assert await clerks.do("ann", operator.add, 2, 3) == 5


async def test_without_one_the_server_does_it_itself() -> None:
    """Its virtual environment was removed while it runs."""
    clerks = Clerks(("/nowhere/python", "-m", "trainmaster.service.helpers.clerk"))
    try:
        assert await clerks.do("ann", operator.add, 2, 3) == 5
        with pytest.raises(ZeroDivisionError):
            await clerks.do("ann", divmod, 2, 0)
    finally:
        clerks.close()


async def test_one_that_has_ended_meanwhile_is_started_again(clerks: Clerks) -> None:
    for _ in range(2):
        assert await clerks.do("ann", operator.add, 2, 3) == 5
        (clerk,) = children()
        clerk.kill()
        async with asyncio.timeout(60):
            while children():  # it is told, and ends when it has its turn
                await asyncio.sleep(0.01)


async def test_a_refusal_keeps_nothing_of_what_was_asked_in_memory(clerks: Clerks) -> None:
    """The server looks for what holds itself only now and then: each refused document would stay for minutes."""
    gc.disable()
    try:
        large: Any = UserList(["x"])
        seen = weakref.ref(large)
        refused = False
        try:
            await clerks.do("ann", operator.index, large)
        except TypeError:
            refused = True
        del large
        assert refused
        async with asyncio.timeout(60):  # its thread lets go of it, too
            while seen() is not None:
                await asyncio.sleep(0.01)
    finally:
        gc.enable()


SERVER = """
import asyncio, operator, os, time
from trainmaster.service.helpers.clerks import Clerks
async def main():
    clerks = Clerks()
    print(await clerks.do("ann", os.getpid), flush=True)
    await clerks.do("ann", time.sleep, 0.5)
    time.sleep(600)
asyncio.run(main())
"""


def test_it_ends_with_its_server() -> None:
    with subprocess.Popen([sys.executable, "-c", SERVER], stdout=subprocess.PIPE) as server:
        assert server.stdout is not None
        clerk = psutil.Process(int(server.stdout.readline()))
        assert clerk.nice() > psutil.Process(server.pid).nice()
        server.send_signal(signal.SIGKILL)
    assert psutil.wait_procs([clerk], timeout=60)[1] == []
