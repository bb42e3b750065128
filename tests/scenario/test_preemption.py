"""Preemption through the whole service: who gives way, what its owner is told, and that it settles (B15)."""

from typing import Any

from tests.fixtures.people import person
from tests.scenario.stage import ADMIN, Stage
from trainmaster.access.roles import Principal
from trainmaster.answers import Text

ANN = person("ann")


async def submitted(stage: Stage, who: Principal, name: str, **fields: Any) -> str:
    """Submit a job of half the cards there are."""
    resources = {"cpu": 0.5, "memory": 256, "gpu": 2}
    document = {"name": name, "command": "sleep infinity", "resources": resources, **fields}
    view, _ = await stage.platform.submit({"spec": document}, who, None)
    return str(view.id)


async def test_a_lower_class_gives_way_keeps_its_place_and_is_told_why(fake: Stage) -> None:
    knobs = {"preemption": "class", "preempt_min_run_s": 0, "restart_cost_s": 0}
    fixed = await submitted(fake, ANN, "fixed")
    await fake.running(fixed)
    gives = await submitted(fake, ANN, "gives", preemptible=True)
    await fake.running(gives)
    waits = await submitted(fake, ANN, "waits", preemptible=True)
    head = await submitted(fake, ADMIN, "head", priority="urgent")
    assert (await fake.view(head)).state == "queued"  # off by default
    await fake.platform.queueing.set_policy(knobs, ADMIN)
    assert (await fake.running(head)).nodes == ["n2"]
    again = await fake.state(gives, "queued")
    assert [waiting.job for waiting in fake.platform.queueing.page(ADMIN).items] == [gives, waits]
    assert (again.attempts, again.retries.used) == (1, 0)
    for who, by, zh, en in ((ANN, None, "用户 admin 的任务", "a job of admin"), (ADMIN, head, "任务 head", "job head")):
        (told,) = [e for e in (await fake.platform.events(gives, who, 0)).items if e.kind == "preempted"]
        assert told.text == Text(
            zh=f"让位给{zh}：它的优先级更高",
            en=f"Makes room for {en}, which has a higher priority",
        )
        assert told.data["by"] == by
    await fake.platform.stop(head, ADMIN)
    view = await fake.running(gives)
    assert (view.attempts, view.attempt_list[-1].cause) == (2, "preempted")
    assert [fake.kinds(job).count("preempted") for job in (fixed, gives, waits, head)] == [0, 1, 0, 0]
    assert (await fake.view(waits)).state == "queued"
