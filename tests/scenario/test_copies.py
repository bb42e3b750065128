"""A job that would take the place of one that waits is judged without it, and what would help is told before it is
submitted.
"""

from pathlib import Path
from typing import Any

import pytest

from tests.fixtures.fakes.engine import FakeEngine
from tests.fixtures.people import person
from tests.scenario.stage import ADMIN, Stage
from tests.scenario.test_suggestions import ANN, job, line, submitted
from trainmaster import answers
from trainmaster.core.cluster import Flavor, Limit, Workspace
from trainmaster.core.errors import InvalidSpec, Problem
from trainmaster.core.records import Node

BOB = person("bob")


async def told(stage: Stage, document: dict[str, Any], **question: Any) -> answers.WouldStart:
    return await stage.platform.queueing.would_start({"spec": document, **question}, ANN)


async def refused(stage: Stage, document: dict[str, Any], **question: Any) -> list[Problem]:
    with pytest.raises(InvalidSpec) as error:
        await told(stage, document, **question)
    return [*error.value.problems]


def waited(forecast: answers.ForecastView) -> float:
    """Seconds from the question to the expected start."""
    assert forecast.at is not None
    return forecast.at - forecast.made_at


async def test_a_copy_is_judged_without_the_job_it_is_of(fake: Stage) -> None:
    """Place in line, forecast and quota; the job itself waits on."""
    for name in "ab":
        await fake.running(await submitted(fake, job(name, duration="100s")))
    head = await submitted(fake, job("head", duration="100s"))
    waits = await submitted(fake, job("waits", duration="300s"))
    before = await told(fake, job("copy", duration="300s"))
    after = await told(fake, job("copy", duration="300s"), instead_of=waits)
    assert (before.position, after.position) == (3, 2)
    assert waited(after.forecast) <= waited(before.forecast) + 1  # jobs ran on between the two questions
    assert (await told(fake, job("copy", duration="100s"), instead_of=head)).position == 1
    assert {one.job for one in fake.platform.queueing.page(ADMIN).items} == {head, waits}


async def test_its_quota_and_its_urgent_place_are_not_counted(fake: Stage) -> None:
    own = {"default": {"gpu": Limit(2)}}
    await fake.platform.administer.put_workspace(
        Workspace("default", urgent_per_user=1, urgent_total=1, quotas=own), ADMIN
    )
    await fake.running(await submitted(fake, job("one", 1)))
    urgent = job("waits", priority="urgent")
    waits = await submitted(fake, urgent)
    assert [one.code for one in await refused(fake, urgent)] == ["urgent_limit_user", "urgent_limit_workspace"]
    beside = await told(fake, job("copy", 1))
    assert (beside.when, beside.reason.code) == ("queue", "quota_kept")
    for document in job("copy", 1), job("copy", 1, priority="urgent"):
        assert (await told(fake, document, instead_of=waits)).when == "now"


async def test_a_full_queue_has_room_for_who_comes_instead(tmp_path: Path, machines: tuple[Node, ...]) -> None:
    async with Stage(tmp_path / "small", {"limits": {"max_queued": 1}}, lambda: FakeEngine(machines)) as stage:
        for name in "ab":
            await stage.running(await submitted(stage, job(name)))
        waits = await submitted(stage, job("waits"))
        assert [one.code for one in await refused(stage, job("copy"))] == ["queue_full"]
        assert (await told(stage, job("copy"), instead_of=waits)).position == 1


async def test_only_who_waits_and_is_the_readers_own_can_be_left_out(fake: Stage) -> None:
    runs = await submitted(fake, job("runs"))
    await fake.running(runs)
    await fake.running(await submitted(fake, job("also")))
    others = await submitted(fake, job("others"), BOB)
    for ref, code in ((runs, "not_waiting"), (others, "no_job"), ("nothing", "no_job"), (7, "no_job")):
        assert [(one.path, one.code) for one in await refused(fake, job("copy"), instead_of=ref)] == [
            ("instead_of", code)
        ]
    asked = {"spec": job("copy"), "instead_of": others}
    assert (await fake.platform.queueing.would_start(asked, ADMIN)).position == 1


async def test_what_would_help_is_told_before_it_is_submitted(fake: Stage) -> None:
    """B1: what starts it now does so when it is submitted; the rest is what the job is told once it waits. Only if
    asked.
    """
    await fake.running(await submitted(fake, job("holds")))
    await fake.running(await submitted(fake, job("one", 1)))
    document = job("late")
    assert (await told(fake, document)).suggestions == []
    found = (await told(fake, document, suggest=True)).suggestions
    assert [one.change for one in found] == [{"roles.0.resources.gpu": 1}]
    copy = await submitted(fake, document, set=found[0].change)
    await fake.running(copy)


async def test_what_brings_it_clearly_forward_is_told_too(fake: Stage) -> None:
    waits = await line(fake)
    late = (await fake.platform.explain(waits, ANN)).suggestions
    again = (await told(fake, job("waits", duration="14h"), instead_of=waits, suggest=True)).suggestions
    assert [one.change for one in again] == [one.change for one in late] != []
    for one, other in zip(again, late, strict=True):
        assert abs(one.forecast.at - other.forecast.at) < 60
        assert abs(one.otherwise_at - other.otherwise_at) < 60
    await fake.platform.administer.put_workspace(Workspace("default", urgent_per_user=0), ADMIN)
    plain = await told(fake, job("waits", duration="14h"), instead_of=waits, suggest=True)
    assert {"priority": "urgent"} not in [one.change for one in plain.suggestions]


async def test_with_several_flavors_all_ways_are_kept_in_mind(fake: Stage) -> None:
    for name, gpu in (("pair", 2), ("couple", 2), ("one", 1)):
        await fake.platform.administer.put_flavor(Flavor(name, cpu=0.5, memory_mib=256, gpu=gpu), ADMIN)
    await fake.running(await submitted(fake, job("holds")))
    await fake.running(await submitted(fake, job("one", 1)))
    answer = await told(fake, job("copy", role={"flavors": ["pair", "couple"]}), suggest=True)
    assert [one.change for one in answer.suggestions] == [{"roles.0.flavors": ["one"]}]
