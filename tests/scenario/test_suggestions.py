"""What would help a waiting job is what a submit accepts of the person who asks, and the changed job starts (B1)."""

import asyncio
from typing import Any

from tests.fixtures.people import person
from tests.scenario.stage import ADMIN, Stage
from trainmaster.access.roles import Principal
from trainmaster.core.cluster import Flavor, Pool, Workspace

ANN = person("ann")


def job(name: str, gpu: int = 2, **fields: Any) -> dict[str, Any]:
    """A job that runs for ever on `gpu` cards."""
    role = {
        "name": "main",
        "command": "sleep infinity",
        **fields.pop("role", {"resources": {"cpu": 0.5, "memory": 256, "gpu": gpu}}),
    }
    return {"name": name, "roles": [role], **fields}


async def submitted(stage: Stage, document: dict[str, Any], who: Principal = ANN, **body: Any) -> str:
    view, _ = await stage.platform.submit({"spec": document, **body}, who, None)
    return str(view.id)


async def changes(stage: Stage, waits: str, document: dict[str, Any]) -> list[dict[str, Any]]:
    """Return what is suggested for a waiting job, after each change was tried on a copy in its stead, which started."""
    await stage.state(waits, "queued")
    found = [one.change for one in (await stage.platform.explain(waits, ANN)).suggestions]
    await stage.platform.stop(waits, ANN)
    await stage.ended(waits)
    for change in found:
        copy = await submitted(stage, document, set=change)
        await stage.running(copy)
        await stage.platform.stop(copy, ANN)
        await stage.ended(copy)
    return found


async def test_pools_are_named_that_the_person_may_use(fake: Stage) -> None:
    administer = fake.platform.administer
    await administer.put_workspace(Workspace("vision"), ADMIN)
    await administer.put_pool(Pool("lab", kind="dedicated", workspaces=("vision",)), ADMIN)
    await administer.assign("n2", "lab", ADMIN)
    await fake.running(await submitted(fake, job("holds")))
    document = job("waits")
    assert await changes(fake, await submitted(fake, document), document) == []
    await administer.put_pool(Pool("lab"), ADMIN)
    assert await changes(fake, await submitted(fake, document), document) == [{"pool": "lab"}]


async def test_another_flavor_is_named_instead_of_amounts(fake: Stage) -> None:
    for name, gpu in (("pair", 2), ("one", 1), ("none", 0)):
        await fake.platform.administer.put_flavor(Flavor(name, cpu=0.5, memory_mib=256, gpu=gpu), ADMIN)
    await fake.running(await submitted(fake, job("holds")))
    await fake.running(await submitted(fake, job("one", 1)))
    document = job("waits", role={"flavors": ["pair"]})
    found = await changes(fake, await submitted(fake, document), document)
    assert found == [{"roles.0.flavors": ["one"]}], "never a flavor without cards for one with cards"


async def test_fewer_replicas_than_must_succeed_are_not_named(fake: Stage) -> None:
    await fake.running(await submitted(fake, job("holds")))
    role = {"replicas": 4, "resources": {"cpu": 0.5, "memory": 256, "gpu": 1}}
    for more, wanted in ({}, [{"roles.0.replicas": 2}]), ({"min_succeeded": 3}, []):
        document = job("waits", role={**role, **more})
        assert await changes(fake, await submitted(fake, document), document) == wanted


async def line(stage: Stage) -> str:
    """Two cards are held for 3 hours, two for 12; the first in line wants all four. Return who waits behind it for
    14.
    """
    for name, hours in (("short", 3), ("long", 12)):
        await stage.running(await submitted(stage, job(name, duration=f"{hours}h")))
    role = {"replicas": 2, "resources": {"cpu": 0.5, "memory": 256, "gpu": 2}}
    await submitted(stage, job("head", role=role, duration="1h"))
    return await submitted(stage, job("waits", duration="14h"))


async def expected(stage: Stage, waits: str, after: float) -> float:
    """Return when a waiting job is expected to start, by a forecast made after some time."""
    while True:
        told = (await stage.platform.explain(waits, ANN)).forecast
        if told is not None and told.at is not None and told.made_at > after:
            return float(told.at)
        await asyncio.sleep(0.05)


async def test_what_does_not_start_it_now_but_clearly_sooner_is_named_with_both_times(fake: Stage) -> None:
    """Each is applied, and the job is expected to start then: before the first in line, or gone before that one
    starts.
    """
    waits = await line(fake)
    clock = fake.platform.context.clock
    before = await expected(fake, waits, clock())
    told = await fake.platform.explain(waits, ANN)
    found = told.suggestions
    assert [one.change for one in found] == [{"duration": 7 * 3600.0}, {"priority": "urgent"}]
    for one in found:
        assert one.otherwise_at == told.forecast.at, "one start, not two that are a minute apart"
        assert one.forecast.at < before - 3 * 3600
        wanted = {"duration_s" if name == "duration" else name: value for name, value in one.change.items()}
        changed_at = clock()
        await fake.platform.change(waits, ANN, **wanted)
        assert abs(await expected(fake, waits, changed_at) - one.forecast.at) < 60
        await fake.platform.change(waits, ANN, duration_s=14 * 3600, priority="normal")


async def test_to_be_urgent_is_named_to_those_only_who_may(fake: Stage) -> None:
    await fake.platform.administer.put_workspace(Workspace("default", urgent_per_user=0), ADMIN)
    waits = await line(fake)
    await expected(fake, waits, 0.0)
    found = (await fake.platform.explain(waits, ANN)).suggestions
    assert [one.change for one in found] == [{"duration": 7 * 3600.0}]
