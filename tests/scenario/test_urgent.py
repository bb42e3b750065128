"""Urgent jobs are limited per user and workspace (R20, R170, R171): never one more, whatever comes at once."""

import asyncio
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fixtures.people import person
from tests.scenario.conftest import FarEngine, WatchfulMachines
from tests.scenario.stage import ADMIN, Stage
from trainmaster.access.roles import Principal
from trainmaster.core.cluster import Workspace
from trainmaster.core.errors import InvalidSpec, NotFound, TrainmasterError
from trainmaster.core.events import Actor
from trainmaster.core.states import Priority

ANN = person("ann")
BOB = person("bob")


async def limit(stage: Stage, **fields: Any) -> None:
    pools = stage.platform.context.pools
    async with pools.changing():
        await pools.put("workspace", "default", Workspace("default", **fields), Actor("admin"))


def urgent(stage: Stage, owner: str = "") -> int:
    live = stage.platform.context.master.live.values()
    return sum(job.priority is Priority.URGENT and not job.terminal and owner in ("", job.owner) for job in live)


def wish(name: str = "u", **fields: Any) -> dict[str, Any]:
    """Return the body of a job that runs until it is stopped."""
    small = {"cpu": 0.5, "memory": 256}
    return {"spec": {"name": name, "command": "sleep infinity", "resources": small, "priority": "urgent", **fields}}


async def test_fifty_at_once_never_get_one_more(fake: Stage) -> None:
    await limit(fake, urgent_per_user=3, urgent_total=5)

    codes: set[str] = set()

    async def submit(who: Principal, number: int) -> bool:
        slug = {"slug": f"s{number}"} if number % 3 == 0 else {}  # these look into the ledger before they are entered
        key = f"k{number}" if number % 2 else None
        try:
            await fake.platform.submit(wish(**slug), who, key)
        except InvalidSpec as refused:
            codes.update(item.code for item in refused.problems)
            return False
        return True

    made = await asyncio.gather(*(submit((ANN, BOB)[number % 2], number) for number in range(50)))
    assert sum(made) == 5 == urgent(fake)
    assert codes == {"urgent_limit_user", "urgent_limit_workspace"}
    assert max(urgent(fake, "ann"), urgent(fake, "bob")) == 3


async def test_a_batch_counts_as_a_whole(fake: Stage) -> None:
    await limit(fake, urgent_per_user=3)
    with pytest.raises(InvalidSpec) as refused:
        await fake.platform.submit_batch([wish()] * 4, ANN, None)
    assert refused.value.problems[0].code == "urgent_limit_user"
    assert urgent(fake) == 0
    batches = [fake.platform.submit_batch([wish()] * 2, ANN, None) for _ in range(5)]
    made = await asyncio.gather(*batches, return_exceptions=True)
    assert sum(not isinstance(one, BaseException) for one in made) == 1
    assert urgent(fake) == 2


async def test_the_limit_survives_a_restart_and_counts_what_runs(fake: Stage) -> None:
    await limit(fake, urgent_per_user=1)
    view, _ = await fake.platform.submit(wish(), ANN, None)
    await fake.running(view.id)
    await fake.restart()
    with pytest.raises(InvalidSpec, match="cannot be accepted"):
        await fake.platform.submit(wish(), ANN, None)
    await fake.platform.stop(view.id, ANN)
    await fake.ended(view.id)
    await fake.platform.submit(wish(), ANN, None)


async def test_raising_a_queued_job_is_refused_in_clear_words(fake: Stage) -> None:
    """R171; users may set normal and urgent, administrators also very urgent (R170)."""
    await limit(fake, urgent_per_user=1)
    first, _ = await fake.platform.submit(wish(), ANN, None)
    other, _ = await fake.platform.submit(wish("n", priority="normal"), ANN, None)
    with pytest.raises(InvalidSpec) as refused:
        await fake.platform.change(other.id, ANN, priority="urgent")
    (item,) = refused.value.problems
    assert item.rule == "ann has 1 urgent job queued or running in workspace default; the limit is 1"
    with pytest.raises(InvalidSpec) as refused:
        await fake.platform.change(other.id, ANN, priority="very_urgent")
    assert refused.value.problems[0].code == "urgent_right"
    with pytest.raises(NotFound):
        await fake.platform.change(other.id, BOB, priority="urgent")
    await fake.platform.change(other.id, ADMIN, priority="very_urgent")
    await fake.platform.change(first.id, ANN, priority="normal")
    await fake.platform.change(other.id, ANN, priority="urgent")
    assert urgent(fake, "ann") == 1
    both = [fake.platform.change(first.id, ANN, priority="urgent") for _ in range(5)]
    assert all(isinstance(one, InvalidSpec) for one in await asyncio.gather(*both, return_exceptions=True))


@settings(max_examples=12, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 2**32), per_user=st.integers(0, 3), total=st.integers(0, 4))
async def test_any_mix_of_requests_at_once_keeps_both_limits(
    tmp_path_factory: pytest.TempPathFactory, seed: int, per_user: int, total: int
) -> None:
    """Property: submits, batches, changes and stops side by side; the counts are those of the live jobs at every
    moment.
    """
    chance = random.Random(seed)
    machines = WatchfulMachines()
    async with Stage(_fresh(tmp_path_factory), engine=lambda: FarEngine(machines)) as stage:
        machines.stage = stage
        await limit(stage, urgent_per_user=per_user, urgent_total=total)
        platform, ids = stage.platform, []

        async def one(number: int) -> None:
            who = chance.choice((ANN, BOB))
            act = chance.choice(("submit", "batch", "change", "stop"))
            priority = chance.choice(("normal", "urgent"))
            body = wish(f"j{number}", priority=priority)
            try:
                if act == "submit":
                    ids.append((await platform.submit(body, who, None))[0].id)
                elif act == "batch":
                    ids.extend(item.id for item in (await platform.submit_batch([body] * 2, who, None)).items)
                elif ids and act == "change":
                    await platform.change(chance.choice(ids), who, priority=priority)
                elif ids:
                    await platform.stop(chance.choice(ids), who)
            except TrainmasterError:
                pass
            counts = platform.context.followers.urgent
            assert all(urgent(stage, who.name) == counts.used("default", who.name) <= per_user for who in (ANN, BOB))
            assert urgent(stage) == counts.used("default") <= total

        for _ in range(4):
            await asyncio.gather(*(one(number) for number in range(15)))


def _fresh(factory: pytest.TempPathFactory) -> Path:
    return factory.mktemp("home")
