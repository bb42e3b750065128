"""Submitting: exactly once, all or none, refused with every reason, never half-made."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from tests.fixtures.fakes.engine import FakeEngine, FakeMachines
from tests.fixtures.people import person
from tests.scenario.stage import ADMIN, Stage, fake_spec, role, spec
from trainmaster.core.errors import Conflict, InvalidSpec, NotFound, Unsatisfiable
from trainmaster.store.jobs.job_query import JobQuery

SLEEP = "sleep infinity"


async def test_what_all_nodes_take_together_is_told(stage: Stage) -> None:
    """R55, R59: so many nodes of a size; one where none is asked for, and the total of all sub-tasks."""
    alone = await stage.submit(spec("alone", resources={"cpu": 0.5, "memory": 64}))
    assert [(role.replicas, role.resources.cpu) for role in (await stage.view(alone)).roles] == [(1, 0.5)]
    workers = role("worker", "true", replicas=3, resources={"cpu": 1, "memory": 128, "gpu": 1})
    helper = role("helper", "true", resources={"cpu": 0.25, "memory": 64})
    job = await stage.submit({"name": "several", "roles": [workers, helper], "model": {"save": False}})
    view = await stage.view(job)
    assert (view.tasks.total, view.resources.cpu, view.resources.memory_mib) == (4, 3.25, 448)
    assert (view.resources.gpu, view.resources.gpu_type) == (3, None)


async def test_the_same_key_and_body_give_the_same_job(fake: Stage) -> None:
    """B4: one job however often it is asked for; another body is a conflict; also after a restart."""
    body = {"spec": fake_spec("once")}
    first, created = await fake.platform.submit(body, ADMIN, "key-1")
    again, created_again = await fake.platform.submit(body, ADMIN, "key-1")
    assert (created, created_again, again.id) == (True, False, first.id)
    with pytest.raises(Conflict, match="another request"):
        await fake.platform.submit({"spec": fake_spec("other")}, ADMIN, "key-1")
    await fake.ended(first.id)
    await fake.restart()
    later, created_later = await fake.platform.submit(body, ADMIN, "key-1")
    assert (created_later, later.id) == (False, first.id)
    assert len(fake.job_ids()) == 1


async def test_many_requests_with_one_key_at_the_same_time_make_one_job(fake: Stage) -> None:
    """B4: concurrent repeats meet; half of them with another body are refused."""
    bodies = [{"spec": fake_spec("same")}, {"spec": fake_spec("different")}] * 20
    answers = await asyncio.gather(*(fake.platform.submit(b, ADMIN, "key") for b in bodies), return_exceptions=True)
    good = [answer for answer in answers if isinstance(answer, tuple)]
    assert len({view.id for view, _ in good}) == 1
    assert sum(created for _, created in good) == 1
    assert len(good) == 20
    assert all(isinstance(a, Conflict) for a in answers if not isinstance(a, tuple))
    assert len(fake.job_ids()) == 1


async def test_a_key_belongs_to_the_person_who_used_it(fake: Stage) -> None:
    """B4: two people may use the same key by chance; neither sees the other's job."""
    body = {"spec": fake_spec("mine")}
    ann, bea = person("ann"), person("bea")
    first, _ = await fake.platform.submit(body, ann, "k")
    second, created = await fake.platform.submit(body, bea, "k")
    assert created
    assert first.id != second.id
    with pytest.raises(NotFound):
        await fake.platform.job(first.id, bea)


async def test_a_key_shows_no_job_to_a_token_that_may_not_see_it(fake: Stage) -> None:
    """B4, B11: the same person's token for another workspace hears only that the job is not there."""
    body = {"spec": fake_spec("mine")}
    await fake.platform.submit(body, person("ann"), "k")
    narrow = replace(person("ann", "vision"), within="vision")
    with pytest.raises(Conflict, match="not there any more"):
        await fake.platform.submit(body, narrow, "k")


async def test_a_batch_is_taken_in_as_a_whole_or_not_at_all(fake: Stage) -> None:
    """Every item's problems are told, with the item's number; nothing was accepted. A key covers the whole batch."""
    good = {"spec": fake_spec("good")}
    with pytest.raises(InvalidSpec) as refused:
        await fake.platform.submit_batch([good, {"spec": fake_spec("bad name!")}, good, {"nothing": 1}], ADMIN, None)
    assert {p.path for p in refused.value.problems} == {"items.1.name", "items.3.spec", "items.3.nothing"}
    assert fake.job_ids() == []
    items = await fake.platform.submit_batch([good] * 100, ADMIN, "batch")
    again = await fake.platform.submit_batch([good] * 100, ADMIN, "batch")
    assert [item.id for item in again.items] == [item.id for item in items.items]
    assert len(set(fake.job_ids())) == 100
    for item in items.items:
        assert (await fake.ended(item.id)).state == "succeeded"


async def test_a_batch_too_large_or_empty_is_refused(fake: Stage) -> None:
    """1 to 10,000 jobs."""
    with pytest.raises(InvalidSpec, match="wrong number"):
        await fake.platform.submit_batch([], ADMIN, None)
    with pytest.raises(InvalidSpec, match="wrong number"):
        await fake.platform.submit_batch([{"spec": fake_spec("a")}] * 10_001, ADMIN, None)


async def test_a_slug_is_unique_also_among_requests_at_the_same_time(fake: Stage) -> None:
    """D1, R67: one gets it; a batch with it twice is refused; it is free again once its job is deleted."""
    body = {"spec": fake_spec("named", slug="the.one")}
    answers = await asyncio.gather(
        *(fake.platform.submit(body, ADMIN, None) for _ in range(10)), return_exceptions=True
    )
    winners = [answer for answer in answers if isinstance(answer, tuple)]
    losers = [answer for answer in answers if isinstance(answer, Conflict)]
    assert (len(winners), len(losers)) == (1, 9)
    assert losers[0].problems[0].path == "slug"
    job = winners[0][0].id
    assert (await fake.view("the.one")).id == job
    with pytest.raises(Conflict):
        await fake.platform.submit_batch([{"spec": fake_spec("x", slug="two")}] * 2, ADMIN, None)
    assert fake.job_ids() == [job]
    await fake.ended(job)
    await fake.platform.delete(job, ADMIN)
    await fake.submit(fake_spec("named", slug="the.one"))


async def test_all_problems_are_listed_at_once(fake: Stage) -> None:
    """Issue: every problem with its path, rule and remedy; never only the first; nothing is stored."""
    document = {
        "name": "no spaces!",
        "retries": -1,
        "priority": "soon",
        "roles": [
            {"name": "a", "command": "A=1 python x.py", "replicas": 0, "resources": {"gpu": -1, "memory": "many"}}
        ],
        "colour": "red",
    }
    with pytest.raises(InvalidSpec) as refused:
        await fake.submit(document)
    problems = {problem.path: problem for problem in refused.value.problems}
    expected = {
        "name",
        "retries",
        "priority",
        "roles.0.replicas",
        "roles.0.resources.gpu",
        "roles.0.resources.memory",
        "colour",
    }
    assert expected <= problems.keys()
    assert all(problem.rule and problem.remedy for problem in problems.values())
    assert fake.job_ids() == []


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"spec": None},
        {"spec": [1]},
        {"spec": {}},
        {"spec": {"name": "a"}, "dialect": "yaml"},
        {"spec": {}, "hello": 1},
    ],
)
async def test_a_malformed_request_is_a_problem_document(fake: Stage, body: dict[str, object]) -> None:
    """Never a traceback."""
    with pytest.raises(InvalidSpec) as refused:
        await fake.platform.submit(body, ADMIN, None)
    assert refused.value.problems
    assert refused.value.status == 422


@pytest.mark.parametrize(
    ("fields", "nearest"),
    [
        ({"resources": {"gpu": 3}}, "2"),
        ({"resources": {"gpu": 2}, "replicas": 3}, "2"),
        ({"resources": {"cpu": 5}}, "4"),
        ({"resources": {"memory": "5GiB"}}, "4GiB"),
        ({"resources": {"gpu": 1, "gpu_type": "H900"}}, "A100"),
    ],
)
async def test_what_can_never_fit_is_refused_with_the_nearest_shape(
    fake: Stage, fields: dict[str, object], nearest: str
) -> None:
    """Issue: refused at submit, and told what would fit."""
    with pytest.raises(Unsatisfiable) as refused:
        await fake.submit(fake_spec("huge", **fields))
    told = refused.value.remedy + " ".join(p.rule + p.remedy for p in refused.value.problems)
    assert nearest in told, told
    assert fake.job_ids() == []


async def test_a_preview_changes_nothing_and_says_where_it_would_run(fake: Stage) -> None:
    """R41, B8: now, queue or never; with problems it still answers."""
    now = await fake.platform.preview({"spec": fake_spec("now", SLEEP, resources={"gpu": 2})}, ADMIN)
    assert (now.ok, now.fits.when) == (True, "now")
    for number in range(2):
        await fake.running(await fake.submit(fake_spec(f"blocker-{number}", SLEEP, resources={"gpu": 2})))
    queue = await fake.platform.preview({"spec": fake_spec("later", resources={"gpu": 1})}, ADMIN)
    never = await fake.platform.preview({"spec": fake_spec("never", resources={"gpu": 9})}, ADMIN)
    bad = await fake.platform.preview({"spec": {"name": "bad name!"}}, ADMIN)
    assert (queue.fits.when, never.fits.when, bad.ok) == ("queue", "never", False)
    assert len(fake.job_ids()) == 2
    assert never.roles[0].command == "true", "what would run is shown even where it does not fit"
    chinese = await fake.platform.preview({"spec": fake_spec("never", resources={"gpu": 9})}, ADMIN, "zh")
    assert "每个副本" in chinese.problems[0].rule


async def test_a_preview_of_a_job_over_a_limit_says_so_like_any_other_problem(
    tmp_path: Path, machines: FakeMachines
) -> None:
    """It is an answer, as for every document that cannot be submitted, and no refusal."""
    config = {"limits": {"max_duration_s": 60}}
    async with Stage(tmp_path / "short", config, engine=lambda: FakeEngine(machines)) as stage:
        shown = await stage.platform.preview({"spec": spec("long", duration="2m")}, ADMIN)
        assert (shown.ok, [problem.code for problem in shown.problems]) == (False, ["duration_over_limit"])
        with pytest.raises(InvalidSpec) as refused:
            await stage.submit(spec("long", duration="2m"))
        assert [problem.code for problem in refused.value.problems] == ["duration_over_limit"]


async def test_others_see_how_much_a_job_holds_but_not_which_it_is(fake: Stage) -> None:
    """R170: an administrator sees every job; others their own, and of the rest only whose it is and the size."""
    amy, bob = person("amy"), person("bob")
    first, _ = await fake.platform.submit({"spec": fake_spec("hers", SLEEP, resources={"gpu": 2})}, amy, None)
    await fake.running(first.id)
    waits, _ = await fake.platform.submit({"spec": fake_spec("his", replicas=2, resources={"gpu": 2})}, bob, None)
    behind, _ = await fake.platform.submit({"spec": fake_spec("second", resources={"gpu": 1})}, amy, None)

    [holder] = (await fake.platform.explain(waits.id, bob)).evidence["holders"]
    assert holder == {"job": None, "name": None, "owner": "amy", "holds": 2, "expires_at": None}
    [holder] = (await fake.platform.explain(waits.id, ADMIN)).evidence["holders"]
    assert (holder["job"], holder["name"]) == (first.id, "hers")

    told = {who.name: (await fake.platform.explain(behind.id, who)).reason.message for who in (amy, ADMIN)}
    assert told["amy"].en.startswith("Free resources are reserved for a job of bob, which starts when")
    assert told["amy"].en.endswith("without a time limit this job would delay it")
    assert told["amy"].zh.startswith("空闲资源已预留给用户 bob 的任务")
    assert told["admin"].en.startswith("Free resources are reserved for job his")
    assert waits.id not in str(await fake.platform.jobs(JobQuery(), 50, None, amy))

    seen = {who.name: str(await fake.platform.cluster(who)) for who in (amy, bob, ADMIN)}
    assert first.id in seen["amy"]
    assert first.id in seen["admin"]
    assert not {first.id, "hers"} & set(seen["bob"].replace("'", " ").split())
    node = (await fake.platform.cluster(bob)).nodes[0]
    assert [[use.job for use in card.uses] for card in node.gpus] == [[None], [None]]
    assert node.tasks[0].gpus == [0, 1]


async def test_a_queue_that_is_full_says_so(tmp_path: Path, machines: FakeMachines) -> None:
    """Limits are told, with what to do."""
    limits = {"limits": {"max_queued": 2}}
    async with Stage(tmp_path / "small", limits, lambda: FakeEngine(machines)) as stage:
        for number in range(2):
            await stage.running(await stage.submit(fake_spec(f"r{number}", SLEEP, resources={"cpu": 4})))
        several = [{"spec": fake_spec(f"b{number}", resources={"cpu": 4})} for number in range(3)]
        with pytest.raises(InvalidSpec) as together:
            await stage.platform.submit_batch(several, ADMIN, None)
        assert [one.code for one in together.value.problems] == ["queue_full"]
        for number in range(2):
            await stage.submit(fake_spec(f"q{number}", resources={"cpu": 4}))
        with pytest.raises(InvalidSpec, match="cannot be accepted") as refused:
            await stage.submit(fake_spec("more", resources={"cpu": 4}))
        assert refused.value.problems[0].code == "queue_full"


async def test_two_roles_of_one_name_are_refused(fake: Stage) -> None:
    """R74."""
    with pytest.raises(InvalidSpec):
        await fake.submit({"name": "twice", "roles": [role("a", "true"), role("a", "true")]})
