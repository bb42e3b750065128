"""A job that went wrong is told what would help, and a clone made so runs (D6, D7)."""

from dataclasses import replace

from tests.scenario.stage import ADMIN, Stage, role, spec
from trainmaster.service.use_cases.remedies import helping_again


async def test_a_mistyped_program_is_put_right_in_a_clone(stage: Stage) -> None:
    job = await stage.submit({"name": "typo", "roles": [{**role("main", ""), "command": ["slep", "0"]}]})
    assert (await stage.ended(job)).state == "failed"
    first = (await stage.platform.explain(job, ADMIN)).suggestions[0]
    assert (first.code, first.change) == ("other_program", {"roles.0.command": ["sleep", "0"]})
    again = await stage.platform.clone(job, ADMIN, first.change)
    assert (await stage.ended(again.id)).state == "succeeded"
    assert (await stage.platform.explain(again.id, ADMIN)).suggestions == []


async def test_an_expired_job_is_cloned_with_a_longer_limit_or_none(stage: Stage) -> None:
    job = await stage.submit(spec("short", "sleep 100", duration=1, grace=1))
    assert (await stage.ended(job)).state == "expired"
    helps = (await stage.platform.explain(job, ADMIN)).suggestions
    assert [one.change for one in helps] == [{"duration": 2}, {"duration": None}]
    again = await stage.platform.clone(job, ADMIN, helps[1].change)
    assert again.duration_s is None
    await stage.platform.stop(again.id, ADMIN)
    await stage.ended(again.id)
    assert (await stage.platform.explain(again.id, ADMIN)).suggestions == [], "who stopped it knows why"


async def test_what_no_node_has_is_not_named(stage: Stage) -> None:
    """A node has 4096 MiB: of a task with 3000 nobody is told to ask for twice as much."""
    for memory, code in ((1024, "more_memory"), (3000, "no_node_has_more")):
        text = "echo no; kill -9 $$"
        job = await stage.submit(spec(f"eats-{memory}", text, resources={"memory": memory}))
        await stage.ended(job)
        context, record = stage.platform.context, await stage.platform.resolve(job, ADMIN)
        assert record.verdict is not None
        out = replace(record, verdict=replace(record.verdict, code="out_of_memory"))
        document = await stage.platform.copy_of(job, ADMIN)
        assert [one.code for one in await helping_again(context, ADMIN, out, document)] == [code]
