"""What each person may hold at most in a workspace, on machines turned by hand: at submit, in the queue, as shown."""

import asyncio
from typing import Any

import pytest

from tests.fixtures.people import person
from tests.scenario.stage import ADMIN, Stage
from trainmaster.access.roles import Principal
from trainmaster.core.cluster import DEFAULT, Limit, Workspace
from trainmaster.core.errors import Forbidden, InvalidSpec, NotFound
from trainmaster.service.use_cases.auditing import AuditFilters

ANN, BOB, EVE = person("ann"), person("bob"), person("eve", "elsewhere")
MANY = 50


def job(name: str = "j", gpu: int = 0, **fields: Any) -> dict[str, Any]:
    resources = {"cpu": 0.01, "memory": 32, "gpu": gpu}
    return {"name": name, "command": "sleep infinity", "resources": resources, **fields}


async def limited(stage: Stage, most: dict[str, float | None], **more: Any) -> None:
    await stage.platform.administer.put_workspace(Workspace(DEFAULT, per_person={DEFAULT: most}, **more), ADMIN)


async def submitted(stage: Stage, document: dict[str, Any], who: Principal) -> str:
    return (await stage.platform.submit({"spec": document}, who, None))[0].id


async def refused(stage: Stage, document: dict[str, Any], who: Principal) -> list[tuple[str, str]]:
    with pytest.raises(InvalidSpec) as found:
        await stage.platform.submit({"spec": document}, who, None)
    return [(one.path, one.code) for one in found.value.problems]


async def running(stage: Stage, jobs: list[str]) -> set[str]:
    return {one for one in jobs if (await stage.view(one)).state == "running"}


async def test_of_many_submitted_at_once_exactly_so_many_run(fake: Stage) -> None:
    await limited(fake, {"jobs": 3})
    jobs = await asyncio.gather(*(submitted(fake, job(f"j{n}"), ANN) for n in range(MANY)))
    others = await submitted(fake, job("last"), BOB)
    await fake.running(others)  # who came last is not held up by one who has all that is theirs
    ran = await running(fake, jobs)
    assert len(ran) == 3
    await asyncio.gather(*(fake.platform.stop(one, ANN) for one in ran))
    await asyncio.gather(*(fake.ended(one) for one in ran))
    after = await submitted(fake, job("after"), BOB)
    await fake.running(after)
    assert len(await running(fake, jobs)) == 3


async def test_it_is_told_who_holds_how_many_of_how_many(fake: Stage) -> None:
    await limited(fake, {"gpu": 2, "jobs": 2})
    first = await submitted(fake, job("a", 2), ANN)
    await fake.running(first)
    waits = await submitted(fake, job("b", 1), ANN)
    seen = await fake.until(waits, lambda view: view.reason is not None, "its reason")
    assert seen.reason.code == "quota"
    assert seen.reason.evidence["used"] == seen.reason.evidence["limit"] == 2000
    told = "User ann in workspace default holds 2 GPUs of at most 2 in pool default; this job needs 1"
    assert seen.reason.message.en == told
    small = [await submitted(fake, job(name), ANN) for name in "cd"]
    await fake.running(small[0])
    last = await fake.until(small[1], lambda view: view.reason is not None, "its reason")
    assert last.reason.message.en.startswith("User ann in workspace default runs 2 jobs in pool default")
    mine = fake.platform.resources.workspace(DEFAULT, ANN).mine
    assert [(one.resource, one.used, one.limit) for one in mine] == [("gpu", 2, 2), ("jobs", 2, 2)]
    await fake.running(await submitted(fake, job("e", 2), BOB))


async def test_one_person_may_hold_more_and_another_nothing(fake: Stage) -> None:
    people = {"ann": {DEFAULT: {"gpu": 4}}, "bob": {DEFAULT: {"jobs": 0}}, "admin": {DEFAULT: {"gpu": None}}}
    await limited(fake, {"gpu": 1, "jobs": 5}, people=people)
    await fake.running(await submitted(fake, job("a", 2), ANN))
    await fake.running(await submitted(fake, job("b", 2), ADMIN))
    assert await refused(fake, job("c"), BOB) == [("pool", "no_job_allowed")]
    assert await refused(fake, job("d", 5), ANN) == [("roles.0.resources.gpu", "over_limit")]
    cyd = person("cyd")
    assert await refused(fake, job("d", 1, replicas=2), cyd) == [("roles.0.replicas", "over_limit")]
    asked = {**job("d", 2), "replicas": 1}
    with pytest.raises(InvalidSpec) as found:
        await fake.platform.submit({"spec": asked}, cyd, None)
    told = "The job needs 2 of gpu, and user cyd in workspace default may hold 1 at most in pool default"
    assert (found.value.problems[0].rule, "1" in found.value.problems[0].remedy) == (told, True)


async def test_exceptions_are_told_to_who_is_in_the_workspace(fake: Stage) -> None:
    await limited(fake, {"gpu": 1}, people={"ann": {DEFAULT: {"gpu": 4}}})
    seen = {who.name: fake.platform.resources.workspace(DEFAULT, who) for who in (ADMIN, ANN, EVE)}
    assert [seen[name].people for name in ("admin", "ann")] == [{"ann": {DEFAULT: {"gpu": 4}}}] * 2
    assert (seen["eve"].people, seen["eve"].per_person) == ({}, {DEFAULT: {"gpu": 1}})
    assert [one.limit for one in seen["ann"].mine] == [4]
    await fake.restart()
    assert fake.platform.resources.workspace(DEFAULT, ANN).people == {"ann": {DEFAULT: {"gpu": 4}}}


async def test_a_workspace_may_run_so_many_jobs(fake: Stage) -> None:
    quota = {DEFAULT: {"jobs": Limit(1, 1)}}
    await fake.platform.administer.put_workspace(Workspace(DEFAULT, quotas=quota), ADMIN)
    first, second = [await submitted(fake, job(name), who) for name, who in (("a", ANN), ("b", BOB))]
    await fake.running(first)
    seen = await fake.until(second, lambda view: view.reason is not None, "its reason")
    assert seen.reason.message.en == ("Workspace default runs 1 job in pool default and may run 1 at a time at most")
    [shown] = fake.platform.resources.workspace(DEFAULT, ADMIN).quotas
    assert [(one.resource, one.used, one.nominal) for one in shown.share] == [("jobs", 1, 1)]
    await fake.platform.stop(first, ANN)
    await fake.running(second)


async def test_all_that_is_wrong_with_limits_is_told_at_once(fake: Stage) -> None:
    wrong = Workspace(
        DEFAULT, per_person={"nowhere": {"gpu": 1}, DEFAULT: {"disk": 1}}, people={"ann": {DEFAULT: {"gpu:": 1}}}
    )
    with pytest.raises(InvalidSpec) as found:
        await fake.platform.administer.put_workspace(wrong, ADMIN)
    assert [(one.path, one.code) for one in found.value.problems] == [
        ("per_person", "unknown_pool"),
        ("per_person.default.disk", "bad_limit"),
        ("people.ann.default.gpu:", "bad_limit"),
    ]


async def test_who_leads_a_workspace_divides_what_it_has(fake: Stage) -> None:
    """Owners and admins, nobody else; quota, weight and price stay with the administrators of the platform."""
    administer, own = fake.platform.administer, {DEFAULT: {"gpu": Limit(4, 4)}}
    await administer.put_workspace(Workspace("vision", 2.0, own, require_duration=True), ADMIN)
    for role in ("owner", "admin"):
        leader = person("lea", "vision", role=role)
        await administer.put_limits("vision", {DEFAULT: {"gpu": 1}}, {"ann": {DEFAULT: {"gpu": None}}}, leader)
        await administer.put_limits("vision", {DEFAULT: {"gpu": 2}}, {}, leader)
        with pytest.raises(Forbidden):
            await administer.put_workspace(Workspace("vision", 9.0), leader)
    seen = fake.platform.resources.workspace("vision", ADMIN)
    assert (seen.per_person, seen.people) == ({DEFAULT: {"gpu": 2}}, {})
    assert (seen.weight, seen.require_duration, seen.quotas[0].share[0].nominal) == (2.0, True, 4)
    for role in ("member", "viewer"):
        with pytest.raises(Forbidden, match="vision"):
            await administer.put_limits("vision", {}, {}, person("mia", "vision", role=role))
    for outsider in (person("eve", "elsewhere", role="owner"), person("eve")):
        with pytest.raises(NotFound):
            await administer.put_limits("vision", {}, {}, outsider)
    with pytest.raises(NotFound):
        await administer.put_limits("nowhere", {}, {}, ADMIN)
    with pytest.raises(InvalidSpec) as found:
        await administer.put_limits("vision", {"nowhere": {"gpu": 1}}, {"ann": {DEFAULT: {"disk": 1}}}, ADMIN)
    assert [(one.path, one.code) for one in found.value.problems] == [
        ("per_person", "unknown_pool"),
        ("people.ann.default.disk", "bad_limit"),
    ]
    assert seen == fake.platform.resources.workspace("vision", ADMIN)
    entries = (await fake.platform.auditing.page(ADMIN, AuditFilters(subject="workspace:vision", by="lea"), 10)).items
    assert [[(one.field, one.before, one.after) for one in entry.changes] for entry in entries][:1] == [
        [("per_person.default.gpu", 1, 2)]
    ]
