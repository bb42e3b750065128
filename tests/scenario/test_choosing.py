"""A job that names no pool goes where it would start first; that choice is made once and said."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.fixtures.fakes.clock import WallClock
from tests.fixtures.fakes.cluster import FakeCluster, FakeClusterEngine
from tests.fixtures.fakes.engine import FakeEngine, FakeMachines
from tests.scenario.stage import ADMIN, Stage
from tests.scenario.test_recovery import fake_spec
from trainmaster.core.cluster import Pool
from trainmaster.core.errors import InvalidSpec, Problem
from trainmaster.core.records import Node
from trainmaster.engines.registry import Engines


class Strict(FakeEngine):
    """Machines on which not everybody's jobs can run. `strangers`: of whom not."""

    strangers: frozenset[str] = frozenset()

    async def owner_problem(self, owner: str) -> Problem | None:
        """Return what is wrong with a stranger."""
        if owner not in self.strangers:
            return None
        return Problem("", f"{owner} has no system user there", "Make one.", "no_system_user")


@pytest.fixture
def cluster() -> FakeCluster:
    """A node of four cards whose queue is held."""
    made = FakeCluster([Node("c1", "10.1.0.1", 4.0, 4096, ("A100",) * 4, "alps")], WallClock())
    made.hold()
    return made


@pytest.fixture
async def stage(tmp_path: Path, cluster: FakeCluster) -> AsyncIterator[Stage]:
    """A machine with one card, and that cluster."""

    def engines() -> Engines:
        here = FakeMachines([Node("n1", "127.0.0.2", 4.0, 4096, ("T4",))], WallClock())
        return Engines([Strict(here, "local"), FakeClusterEngine(cluster, "alps")], {"alps": "alps"})

    async with Stage(tmp_path / "home", engine=engines) as stage:
        yield stage


def anywhere(name: str, cards: int, **more: Any) -> dict[str, Any]:
    return fake_spec(name, "sleep infinity", pool="any", resources={"gpu": cards}, **more)


async def test_it_goes_where_it_starts_now_and_that_is_said(stage: Stage) -> None:
    """The cluster's queue is held, this machine is free; then it is not."""
    first = await stage.submit(anywhere("first", 1))
    view = await stage.state(first, "running")
    assert view.pool == "default"
    detail = await stage.view(first)
    assert [note.code for note in detail.warnings] == ["pool_now"]
    assert detail.spec["pool"] == "default"
    answer = await stage.platform.queueing.would_start({"spec": anywhere("next", 1)}, ADMIN)
    assert (answer.when, answer.pool) == ("queue", "default"), "it waits in both, the first by name is taken"


async def test_what_only_one_pool_can_take_goes_there(stage: Stage, cluster: FakeCluster) -> None:
    wide = await stage.submit(anywhere("wide", 4))
    view = await stage.state(wide, "pending")
    assert view.pool == "alps"
    cluster.release()
    await stage.state(wide, "running")
    preview = await stage.platform.preview({"spec": anywhere("wider", 2)}, ADMIN)
    assert (preview.ok, preview.spec["pool"]) == (True, "alps")


async def test_where_its_owner_is_a_stranger_it_does_not_go(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Strict, "strangers", frozenset({ADMIN.name}))
    job = await stage.submit(anywhere("elsewhere", 1))
    assert (await stage.state(job, "pending")).pool == "alps"


async def test_what_no_pool_can_take_is_refused_with_what_each_says(stage: Stage) -> None:
    with pytest.raises(InvalidSpec) as refused:
        await stage.submit(anywhere("huge", 64))
    assert "No pool" in refused.value.message
    assert len(refused.value.problems) >= 1
    with pytest.raises(InvalidSpec) as unknown:
        await stage.submit(anywhere("lost", 1, workspace="nowhere"))
    assert [problem.path for problem in unknown.value.problems] == ["workspace"], "said once, not once for each pool"


async def test_the_same_request_twice_is_one_job_wherever_it_would_go_now(stage: Stage) -> None:
    """B4."""
    body = {"spec": anywhere("once", 1)}
    first, created = await stage.platform.submit(body, ADMIN, "key-1")
    await stage.state(first.id, "running")
    again, created_again = await stage.platform.submit(body, ADMIN, "key-1")
    assert (created, created_again, again.id) == (True, False, first.id)


async def test_no_pool_may_be_called_any(stage: Stage) -> None:
    with pytest.raises(InvalidSpec) as refused:
        await stage.platform.administer.put_pool(Pool("any"), ADMIN)
    assert [problem.code for problem in refused.value.problems] == ["pool_any"]
