"""What people used of late decides who goes first, over a restart too."""

import asyncio
import json
from typing import Any

import pytest

from tests.fixtures.people import person
from tests.scenario.stage import ADMIN, Stage
from trainmaster.access.roles import Principal
from trainmaster.service.scheduling import shares

ANN, BOB, CARA = (person(name) for name in ("ann", "bob", "cara"))


async def submitted(stage: Stage, who: Principal, name: str) -> str:
    """Submit a job of half the cards there are."""
    document: dict[str, Any] = {
        "name": name,
        "command": "sleep infinity",
        "resources": {"cpu": 0.5, "memory": 256, "gpu": 2},
    }
    view, _ = await stage.platform.submit({"spec": document}, who, None)
    return str(view.id)


async def line(stage: Stage) -> list[str]:
    """Return who waits, in the order of a pass."""
    while stage.platform.queueing.page(ADMIN).planned_at is None:
        await asyncio.sleep(0.01)
    return [waits.owner for waits in stage.platform.queueing.page(ADMIN).items]


async def test_a_restart_does_not_change_who_goes_first(fake: Stage) -> None:
    """Ann used cards and bob did not; what she used is in no live job any more."""
    used = await submitted(fake, ANN, "used")
    await fake.running(used)
    await fake.platform.stop(used, ANN)
    await fake.ended(used)
    for job in [await submitted(fake, CARA, f"holds{number}") for number in (1, 2)]:
        await fake.running(job)
    for who in (ANN, BOB):
        await submitted(fake, who, "waits")
    await fake.until(used, lambda _: fake.platform.queueing.page(ADMIN).total == 2, "both to wait")
    assert await line(fake) == ["bob", "ann"]
    await fake.restart()
    assert await line(fake) == ["bob", "ann"]
    (fake.home / "shares.json").write_text('{"at": 1, "used": [["ann"]]}')
    await fake.platform.context.shares.start()  # a file that is none costs what it knew, not the server
    assert await line(fake) == ["bob", "ann"]


async def test_a_server_that_is_killed_has_kept_what_was_used(fake: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file is written some time after an attempt ended, not only at the end."""
    monkeypatch.setattr(shares, "SAVE_S", 0.01)
    file = fake.home / "shares.json"
    used = await submitted(fake, ANN, "used")
    await fake.running(used)
    assert not file.exists()
    await fake.platform.stop(used, ANN)
    await fake.ended(used)
    await fake.until(used, lambda _: file.exists(), "the file")
    assert [name for name, _ in json.loads(file.read_text())["used"]] == [["default"], ["default", "ann"]]
