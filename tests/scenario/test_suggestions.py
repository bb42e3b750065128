"""What would help a waiting job is what a submit accepts of the person who asks, and the changed job starts (B1)."""

from typing import Any

from tests.scenario.stage import ADMIN, Stage
from trainmaster.access.roles import Principal
from trainmaster.core.cluster import Flavor, Pool, Workspace

ANN = Principal("ann", "user")


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
    return str(view["id"])


async def changes(stage: Stage, waits: str, document: dict[str, Any]) -> list[dict[str, Any]]:
    """Return what is suggested for a waiting job, after each change was tried on a copy in its stead, which started."""
    await stage.state(waits, "queued")
    found = [one["change"] for one in (await stage.platform.explain(waits, ANN))["suggestions"]]
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
    assert found == [{"roles.0.flavors": ["one"]}, {"roles.0.flavors": ["none"]}]


async def test_fewer_replicas_than_must_succeed_are_not_named(fake: Stage) -> None:
    await fake.running(await submitted(fake, job("holds")))
    role = {"replicas": 4, "resources": {"cpu": 0.5, "memory": 256, "gpu": 1}}
    for more, wanted in ({}, [{"roles.0.replicas": 2}]), ({"min_succeeded": 3}, []):
        document = job("waits", role={**role, **more})
        assert await changes(fake, await submitted(fake, document), document) == wanted
