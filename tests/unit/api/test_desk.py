"""What one person may have of the server at a time: their own requests wait for each other, not those of others
(B7).
"""

import asyncio
import operator
import threading
import time
from typing import Any

import httpx
import pytest

from tests.unit.api.test_problems import check
from trainmaster.api import desk
from trainmaster.api.auth import announced
from trainmaster.api.desk import ALL, EACH, PLACES, SMALL, Desk, Intake
from trainmaster.api.routes import watch
from trainmaster.core.errors import RateLimited, TooLarge
from trainmaster.service.helpers.meter import counting


class Work:
    """Requests that take as long as they are let."""

    def __init__(self) -> None:
        self.turns = Desk()
        self.go = asyncio.Event()
        self.running: list[str] = []
        self.tasks: list[asyncio.Task[None]] = []

    async def _one(self, name: str) -> None:
        async with self.turns.working(name):
            self.running.append(name)
            await self.go.wait()
        self.running.remove(name)

    async def ask(self, name: str, times: int = 1) -> None:
        self.tasks += [asyncio.create_task(self._one(name)) for _ in range(times)]
        for _ in range(5):
            await asyncio.sleep(0)

    async def end(self) -> None:
        self.go.set()
        await asyncio.gather(*self.tasks)
        assert self.running == []


async def test_a_person_waits_for_themselves_and_nobody_else_does() -> None:
    work = Work()
    await work.ask("eve", 20)
    assert work.running == ["eve"] * EACH
    await work.ask("amy")
    assert work.running == ["eve"] * EACH + ["amy"]
    await work.end()


async def test_few_are_worked_at_side_by_side() -> None:
    work = Work()
    for name in "abcdefgh":
        await work.ask(name)
    assert len(work.running) == ALL
    await work.end()


async def test_who_asks_without_end_is_told_to_wait() -> None:
    work = Work()
    await work.ask("eve", PLACES)
    with pytest.raises(RateLimited, match=f"You already have {PLACES} requests"):
        async with work.turns.working("eve"):
            pass
    await work.ask("amy")
    assert "amy" in work.running
    await work.end()
    async with work.turns.working("eve"):
        pass  # all places are free again


async def test_who_looks_at_many_logs_can_still_submit(
    app: Any, local: httpx.AsyncClient, platform: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As many log windows as may wait, of one person: one more is told what to close, everything else is answered."""
    spec = {"spec": {"name": "a"}}
    job = (await local.post("/api/v1/jobs", json=spec)).json()["id"]
    platform.run(job)
    address = f"/api/v1/jobs/{job}/attempts/last/tasks/task0-0/log"
    go = threading.Event()
    read = watch.logs.read
    monkeypatch.setattr(watch.logs, "read", lambda *asked, **more: go.wait(60) and read(*asked, **more))
    windows = [asyncio.create_task(local.get(address)) for _ in range(PLACES)]
    try:
        while app.app.state.desk.of("admin").looks.here < PLACES:
            await asyncio.sleep(0)
        document = check(await local.get(address), 429, "rate_limited")
        assert document["title"] == f"You already have {PLACES} requests for logs and curves in progress or waiting"
        assert document["remedy"] == "Close some pages that show logs or curves."
        assert (await local.post("/api/v1/jobs/preview", json=spec)).status_code == 200
        large = {"spec": {"name": "a", "description": "x" * 2 * SMALL}}
        assert (await local.post("/api/v1/jobs", json=large)).status_code == 201
        assert (await local.get(f"/api/v1/jobs/{job}")).status_code == 200
    finally:
        go.set()
    assert {answer.status_code for answer in await asyncio.gather(*windows)} == {200}


async def test_who_leaves_while_waiting_leaves_no_place_taken() -> None:
    work = Work()
    await work.ask("eve", EACH + 3)
    for task in work.tasks[EACH:]:
        task.cancel()
    await asyncio.gather(*work.tasks[EACH:], return_exceptions=True)
    assert work.turns.of("eve").here == EACH
    work.tasks = work.tasks[:EACH]
    await work.end()
    assert work.turns.of("eve").here == 0


def body(pieces: int, size: int) -> Any:
    left = [b"x" * size] * pieces

    async def receive() -> Any:
        return {"type": "http.request", "body": left.pop(), "more_body": bool(left)}

    return receive


async def read(intake: Intake) -> int:
    taken = 0
    while True:
        message = await intake.receive()
        taken += len(message["body"])
        if not message["more_body"]:
            return taken


async def test_large_bodies_of_a_person_come_in_turn_and_small_ones_at_once() -> None:
    person = desk.Person()
    large = [Intake(body(4, SMALL), None, 10 * SMALL, person) for _ in range(EACH + 1)]
    small = Intake(body(1, SMALL), None, 10 * SMALL, person)
    reading = [asyncio.create_task(read(one)) for one in large]
    async with asyncio.timeout(30):
        while sum(one.done() for one in reading) < EACH or person.here <= EACH:
            await asyncio.sleep(0)
    assert await asyncio.create_task(read(small)) == SMALL
    assert [one.done() for one in reading] == [True] * EACH + [False]
    large[0].done()
    assert await reading[-1] == 4 * SMALL
    for one in (*large, *large, small):
        one.done()
    assert person.here == 0


async def test_no_more_than_agreed_is_read() -> None:
    with pytest.raises(TooLarge, match="larger than this server accepts"):
        Intake(body(1, 1), announced({b"content-length": b"9" * 5000}), 10, None)
    with pytest.raises(TooLarge):
        await read(Intake(body(3, 5), announced({b"content-length": b"10"}), 10, None))


async def one(done: list[str], name: str) -> None:
    done.append(name)


async def test_who_took_much_waits_with_large_requests_while_others_are_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stop does not wait, nobody else does, and alone one may take everything."""
    turns, done = Desk(), list[str]()
    turns.comes("eve")
    turns.of("eve").allowance.take(desk.CREDIT_S + 1)
    await turns.work(turns.of("eve"), one(done, "alone"), large=True)
    turns.comes("amy")
    waits = asyncio.create_task(turns.work(turns.of("eve"), one(done, "large"), large=True))
    await asyncio.sleep(0)
    await turns.work(turns.of("eve"), one(done, "small"), large=False)
    await turns.work(turns.of("amy"), one(done, "amy's"), large=True)
    assert done == ["alone", "small", "amy's"]
    assert turns.of("eve").allowance.waiting == 1
    waits.cancel()
    await asyncio.gather(waits, return_exceptions=True)
    assert turns.of("eve").allowance.waiting == 0
    monkeypatch.setattr(desk, "SHARE", 1000.0)
    async with asyncio.timeout(30):
        await turns.work(turns.of("eve"), one(done, "later"), large=True)
    assert done[-1] == "later"


async def test_what_was_taken_is_forgotten_and_places_are_counted() -> None:
    turns = Desk()
    for name in ("amy", "eve"):
        turns.comes(name)
    eve = turns.of("eve").allowance
    eve.take(1e6)
    assert eve._now() == pytest.approx(-desk.DEBT_S, abs=0.1), "nobody waits for hours"
    waiting = [asyncio.create_task(turns.work(turns.of("eve"), one([], ""), large=True)) for _ in range(PLACES)]
    await asyncio.sleep(0)
    with pytest.raises(RateLimited):
        await turns.work(turns.of("eve"), one([], ""), large=True)
    for task in waiting:
        task.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)


def burn(seconds: float) -> None:
    until = time.thread_time() + seconds
    while time.thread_time() < until:
        pass


async def test_a_request_is_charged_for_the_servers_time_not_for_waiting() -> None:
    turns = Desk()

    async def work() -> None:
        burn(0.05)
        await asyncio.sleep(0.3)  # time itself is what is tested: this much is waited, and not charged
        await asyncio.to_thread(counting, burn, 0.05)
        await asyncio.gather(asyncio.sleep(0), asyncio.sleep(0.01))
        with pytest.raises(ZeroDivisionError):
            await asyncio.to_thread(counting, operator.truediv, 1, 0)

    turns.comes("eve")
    await turns.work(turns.of("eve"), work(), large=True)
    assert 0.1 <= desk.CREDIT_S - turns.of("eve").allowance._now() < 0.3


async def test_over_http_it_is_of_whoever_is_signed_in(
    app: Any, local: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(desk, "SHARE", 1e-9)  # nothing comes back, however slow the machine is
    turns: Desk = app.app.state.desk
    mine = turns.of("admin").allowance
    assert (await local.post("/api/v1/jobs", json={"spec": {"name": "a"}})).status_code == 201
    assert mine._now() < desk.CREDIT_S, "it was counted"
    mine.take(desk.CREDIT_S + 1)
    turns.comes("amy")
    large = asyncio.create_task(local.post("/api/v1/jobs", json={"spec": {"name": "b", "description": "x" * 5000}}))
    async with asyncio.timeout(30):
        while mine.waiting == 0:
            await asyncio.sleep(0)
    assert (await local.post("/api/v1/jobs", json={"spec": {"name": "c"}})).status_code == 201
    assert not large.done()
    large.cancel()
    await asyncio.gather(large, return_exceptions=True)
    assert mine.waiting == 0
