"""Requests that ask for much, at every door of the contract: each is answered, in bounded size, and holds up nobody
(B7, R41).

What holds up others is the CPU that the loop's thread uses in one turn; the bound is many times what any of these
requests needs, and far below what one of them took that was judged in that thread.
"""

import threading
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.fixtures.api_contract import signed_in
from tests.fixtures.api_large import cases, watched, wide
from tests.fixtures.fakes.clock import WallClock
from tests.fixtures.fakes.engine import FakeEngine, FakeMachines
from tests.scenario.stage import Stage
from trainmaster.api.app import create_app
from trainmaster.core.records import Node
from trainmaster.queue.rules import never

MOST_ANSWER = 8 * 2**20
MOST_HELD_S = 1.0
"""CPU seconds."""
PER_DOOR = 5
"""Of what can be large at a door, drawn by chance, the same at every run; documents that are large as a whole come
all.
"""


@pytest.fixture
async def roomy(tmp_path: Path) -> AsyncIterator[Stage]:
    """Two machines with memory for many tasks and few cores."""
    nodes = [Node(f"n{at}", f"10.0.0.{at}", 4.0, 1 << 14, ("A100", "A100")) for at in (1, 2)]
    machines = FakeMachines(nodes, WallClock())
    async with Stage(tmp_path / "home", engine=lambda: FakeEngine(machines)) as stage:
        yield stage


async def test_whatever_is_large_is_answered_and_holds_up_nobody(roomy: Stage) -> None:
    app = create_app(roomy.platform)
    running = await roomy.submit(wide(16, 16, 2, command="sleep infinity"))
    await roomy.running(running)
    sent, doors = 0, set()
    async with signed_in(app, roomy.platform) as http:
        with watched() as seen:
            for case in cases(app, {"ref": running, "number": "last", "task": "task0-0"}, PER_DOOR):
                kind: dict[str, str] = {} if case.content is None else {"content-type": "application/json"}
                seen.take()
                answer = await http.request(
                    case.method, case.path, params=case.params, content=case.content, headers=kind
                )
                held = seen.take()
                unready = case.path == "/readyz" and answer.status_code == 503  # the disk of a busy machine is slow
                assert answer.status_code < 500 or unready, (case.what, answer.text[:1000])
                assert len(answer.content) <= MOST_ANSWER, (case.what, len(answer.content))
                assert held <= MOST_HELD_S, (case.what, held, seen.what)
                sent += 1
                doors.add(case.what.partition(":")[0])
    assert sent > 500
    assert {"POST /api/v1/jobs", "POST /api/v1/jobs/batch", "PUT /api/v1/queue/policy", "GET /api/v1/jobs"} <= doors


async def test_whether_a_large_job_can_ever_run_is_found_out_by_a_clerk(
    roomy: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By each who asks: 64 roles of 64 tasks that fit one by one and not together are seconds of work."""
    tried: list[int] = []
    asked: list[Any] = []
    fit, do = never.fit, roomy.platform.context.clerks.do

    def noted(*given: Any, **more: Any) -> Any:
        tried.append(threading.get_ident())
        return fit(*given, **more)

    async def told(person: str, work: Any, *given: Any) -> Any:
        asked.append(getattr(work, "func", work))
        return await do(person, work, *given)

    monkeypatch.setattr(never, "fit", noted)
    monkeypatch.setattr(roomy.platform.context.clerks, "do", told)
    app = create_app(roomy.platform)
    async with signed_in(app, roomy.platform) as http:
        for at, door in enumerate(("/jobs", "/jobs/preview", "/queue/would-start", "/jobs/batch")):
            body: Any = {"spec": wide(64, 60 + at)}
            found = await http.post("/api/v1" + door, json={"items": [body]} if door == "/jobs/batch" else body)
            assert found.status_code in (200, 422), found.text
    assert asked.count(never.can_ever_fit) == 4
    assert not tried, "in no thread of the server"
