"""Forecasts beside the loop: when a refresh comes, what is kept of what was learnt, and that nothing lies in the
past.
"""

import asyncio
import json
from pathlib import Path

import pytest
import uvloop
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import EPOCH, job, node
from trainmaster.answers import ForecastView
from trainmaster.core.config import LocalConfig
from trainmaster.core.records import Job, Policy, replace
from trainmaster.core.reduce import reduce
from trainmaster.core.states import JobState, Priority
from trainmaster.queue.forecasting.calibration import Calibration
from trainmaster.queue.forecasting.forecast import Foreseen, Prospect
from trainmaster.service.scheduling import forecasts
from trainmaster.service.scheduling.forecasts import Forecasts
from trainmaster.service.scheduling.scheduling import Scheduling

HOUR_S = 3600.0


def card(name: str) -> Job:
    built = job(name).role(gpu=2, cpu=0, memory_mib=0).policy(duration_s=HOUR_S)
    return built.seq(ord(name[0])).fields(queued_at=EPOCH).done()


class Server:
    """One node that another job holds since EPOCH, and what keeps its forecasts; `now` is set by hand."""

    def __init__(self, home: Path) -> None:
        self.now = EPOCH
        self.file = home / "forecast.json"
        self.scheduling = Scheduling(LocalConfig(), str(home), lambda _: 1)
        self.scheduling.set_nodes((node("n1", gpus=2),))
        self.forecasts = Forecasts(self.scheduling, lambda most: [], str(self.file), lambda: self.now)
        holder = card("holder")
        self.scheduling.moved(None, holder)
        (placed,) = self.scheduling.schedule(EPOCH)
        self.scheduling.moved(holder, reduce(holder, placed)[0])

    def moved(self, before: Job | None, after: Job) -> None:
        self.scheduling.moved(before, after)
        self.forecasts.moved(before, after)

    async def forecast(self, waiting: Job) -> ForecastView:
        """Return the forecast of a job that waits, once one is made."""
        async with asyncio.timeout(60):
            while (found := self.forecasts.view(waiting, self.now)) is None or found.made_at is None:
                await asyncio.sleep(0.001)
        return found


def test_a_change_while_a_refresh_is_due(tmp_path: Path) -> None:
    """uvloop: what `call_at` returns for a time that has come is no timer. Each change asks whether one comes
    already.
    """

    async def story() -> None:
        server, waiting = Server(tmp_path), card("a")
        server.moved(None, waiting)  # a refresh may come at once
        for name in "bcd":
            server.moved(None, card(name))
        server.moved(card("d"), replace(card("d"), state=JobState.STOPPED))
        found = await server.forecast(waiting)
        assert found.made_at == EPOCH
        await server.forecasts.close()

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(story())


async def test_what_was_learnt_survives_a_restart(tmp_path: Path) -> None:
    first, (a, b) = Server(tmp_path), (card("a"), card("b"))
    for waiting in (a, b):
        first.moved(None, waiting)
    told = await first.forecast(b)
    first.now = told.high + HOUR_S
    first.moved(a, replace(a, state=JobState.ACTIVE))
    await first.forecasts.close()
    kept = first.forecasts.calibration.to_json()
    assert {name: left_at for name, *_, left_at, _ in kept} == {a.id: first.now, b.id: None}

    second = Server(tmp_path)
    for waiting in (b, card("c")):
        second.moved(None, waiting)
    await second.forecast(b)
    assert [one for one in second.forecasts.calibration.to_json() if one[0] != card("c").id] == kept
    await second.forecasts.close()


async def test_who_waits_on_with_another_priority_or_limit_has_not_left(tmp_path: Path) -> None:
    server, waiting = Server(tmp_path), card("a")
    server.moved(None, waiting)
    await server.forecast(waiting)
    for after in (replace(waiting, priority=Priority.URGENT), replace(waiting, policy=Policy(duration_s=60.0))):
        server.moved(waiting, after)
    assert [left_at for *_, left_at, _ in server.forecasts.calibration.to_json()] == [None]
    await server.forecasts.close()


async def test_who_left_while_nobody_looked_is_forgotten(tmp_path: Path) -> None:
    first, gone = Server(tmp_path), card("gone")
    first.moved(None, gone)
    await first.forecast(gone)
    await first.forecasts.close()
    assert json.loads(first.file.read_text())[0][0] == gone.id

    second, other = Server(tmp_path), card("other")
    second.moved(None, other)
    await second.forecast(other)
    assert [name for name, *_ in second.forecasts.calibration.to_json()] == [other.id]
    second.scheduling.restore([], [])
    second.forecasts.restore([])
    assert second.forecasts.calibration.to_json() == []
    await second.forecasts.close()


async def test_a_server_before_which_nothing_waited_leaves_the_file_alone(tmp_path: Path) -> None:
    server = Server(tmp_path)
    server.file.write_text("[]  ")
    await server.forecasts.close()
    assert server.file.read_text() == "[]  "


async def test_a_server_that_leads_no_more_leaves_the_file_to_the_one_that_does(tmp_path: Path) -> None:
    server, waiting, ours = Server(tmp_path), card("a"), True
    server.forecasts = Forecasts(server.scheduling, lambda most: [], str(server.file), lambda: server.now, lambda: ours)
    server.moved(None, waiting)
    await server.forecast(waiting)
    async with asyncio.timeout(60):
        while not server.file.exists():  # the first of those that come once a minute
            await asyncio.sleep(0.001)
    server.file.write_text("the new leader's")
    ours = False
    await server.forecasts.close()
    assert server.file.read_text() == "the new leader's"


@pytest.mark.parametrize(
    "content", ["", "{", "null", '{"scale": 1.5}', "[[1, 2]]", f'[["a", {10**400}, 5, 9, 3, true]]', "\udc80"]
)
async def test_a_bad_file_is_survived(content: str, tmp_path: Path) -> None:
    server, waiting = Server(tmp_path), card("a")
    server.file.write_bytes(content.encode(errors="surrogateescape"))
    server.moved(None, waiting)
    await server.forecast(waiting)
    assert server.forecasts.calibration.scale == Calibration().scale
    await server.forecasts.close()
    again = Calibration()
    again.restore(json.loads(server.file.read_text()))
    assert [name for name, *_ in again.to_json()] == [waiting.id]


times = st.floats(0, 1e9)


@given(times, st.tuples(times, times, times).map(sorted), times, st.floats(0.5, 8.0))
def test_nothing_shown_lies_in_the_past_and_the_range_is_in_order(
    tmp_path_factory: pytest.TempPathFactory, made_at: float, ahead_s: list[float], later_s: float, scale: float
) -> None:
    server = Server(tmp_path_factory.getbasetemp())
    server.forecasts.calibration.scale = scale
    low, at, high = (made_at + one for one in ahead_s)
    made = forecasts._Made(made_at, Prospect({"a": Foreseen(at, low, high)}, {}, endless=False), "a")
    shown = server.forecasts._view("a", made, made_at + later_s)
    assert made_at + later_s <= shown.low <= shown.at <= shown.high
