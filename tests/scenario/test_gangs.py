"""Gangs over two virtual nodes: all or none, cards and ports assigned once, and when a gang is done."""

import pytest

from tests.fixtures.fakes.engine import FakeMachines
from tests.scenario.stage import ADMIN, Stage, role, spec

SLEEP = "echo started; exec sleep 300"


async def test_a_gang_over_two_nodes_holds_each_card_once(stage: Stage) -> None:
    """R4, R5, D4: tasks lie on different nodes, see only their own cards, and know one another's addresses."""
    text = 'echo "$CUDA_VISIBLE_DEVICES $VC_TASK0_HOSTS $TRAINMASTER_NODE"'
    job = await stage.submit(spec("gang", text, replicas=4, resources={"gpu": 1, "cpu": 1}))
    view = await stage.ended(job)
    assert view.state == "succeeded"
    held = [(task.node, gpu) for task in view.task_list for gpu in task.gpus]
    assert sorted(held) == [(node, gpu) for node in ("node-1", "node-2") for gpu in (0, 1)]
    hosts = ",".join(task.host for task in view.task_list)
    for task in view.task_list:
        assert stage.log(job, 1, 0, task.index) == f"{task.gpus[0]} {hosts} {task.node}\n"


async def test_a_gang_that_does_not_fit_whole_starts_nothing(stage: Stage) -> None:
    """All or none: three of four cards are free, a gang of four waits whole, and a smaller job with a limit passes."""
    first = await stage.submit(spec("one-card", SLEEP, resources={"gpu": 1}, grace=1))
    await stage.running(first)
    gang = await stage.submit(spec("four", "true", replicas=4, resources={"gpu": 1}))
    smaller = await stage.submit(spec("smaller", "true", resources={"gpu": 1}, duration=600))
    assert (await stage.ended(smaller)).state == "succeeded"
    view = await stage.view(gang)
    assert (view.state, view.attempts, view.reason.position) == ("queued", 0, 1)
    await stage.platform.stop(first, ADMIN)
    assert (await stage.ended(gang)).state == "succeeded"


async def test_a_gang_of_which_one_task_cannot_start_leaves_nothing(stage: Stage) -> None:
    """All or none at the start, too: the first role's tasks are ended again, the verdict names the second's command."""
    document = {"name": "half", "roles": [role("good", SLEEP), {**role("bad", ""), "command": ["/nowhere/program"]}]}
    job = await stage.submit(document)
    view = await stage.ended(job)
    assert (view.state, view.verdict.code) == ("failed", "command_not_found")
    assert "/nowhere/program" in view.verdict.message.en
    assert stage.processes(job) == {}


async def test_the_main_role_ends_the_job_and_stops_the_others(stage: Stage) -> None:
    """R136, D11: the job succeeds when the main role is complete; its servers are ended."""
    document = {
        "name": "main",
        "grace": 1,
        "roles": [
            role("server", "echo up; exec sleep 300", replicas=2),
            role("chief", "sleep 0.2; echo done > /model/w", main=True),
        ],
    }
    job = await stage.submit(document)
    view = await stage.ended(job)
    assert (view.state, view.verdict.code) == ("succeeded", "ok")
    assert view.model is not None
    assert stage.processes(job) == {}


async def test_enough_successes_end_the_job(stage: Stage) -> None:
    """R36, R86: min_succeeded of a main role."""
    text = 'test "$VC_TASK_INDEX" = 2 && exec sleep 300; exit 0'
    job = await stage.submit(spec("enough", text, replicas=3, min_succeeded=2, main=True, grace=1))
    assert (await stage.ended(job)).state == "succeeded"


async def test_failures_that_never_fail_the_job(stage: Stage) -> None:
    """R85, D2: min_failed null: all but one fail, the job succeeds when all have ended."""
    job = await stage.submit(spec("allowed", "exit $VC_TASK_INDEX", replicas=3, min_failed=None))
    view = await stage.ended(job)
    assert view.state == "succeeded"
    assert [task.exit_code for task in view.task_list] == [0, 1, 2]


async def test_the_second_failure_fails_the_job_and_ends_the_rest(stage: Stage) -> None:
    """R37: min_failed 2: one failure is borne, the second is not."""
    text = 'case "$VC_TASK_INDEX" in 0) exit 3;; 1) sleep 0.5; exit 4;; *) exec sleep 300;; esac'
    job = await stage.submit(spec("second", text, replicas=3, min_failed=2, grace=1))
    view = await stage.ended(job)
    assert (view.state, view.verdict.code, view.verdict.exit_code) == ("failed", "exit_code", 3)
    assert view.task_list[1].exit_code == 4
    assert stage.processes(job) == {}


async def test_a_success_rule_that_can_no_longer_be_met_fails_the_job(stage: Stage) -> None:
    """R36, R85: two successes were asked for, one came, nothing is left running."""
    job = await stage.submit(spec("short", "exit $VC_TASK_INDEX", replicas=2, min_succeeded=2, min_failed=None))
    view = await stage.ended(job)
    assert (view.state, view.verdict.code) == ("failed", "too_many_failures")


@pytest.mark.parametrize("count", [1, 3])
async def test_ports_are_free_different_and_told(stage: Stage, count: int) -> None:
    """R80-R83: each task may bind what it was given; two jobs never get the same."""
    code = (
        "import os,socket,time; s=[]\n"
        "for p in os.environ['PAI_PORT_LIST_main_'+os.environ['VC_TASK_INDEX']+'_web'].split(','):\n"
        "    x=socket.socket(); x.bind(('0.0.0.0',int(p))); x.listen(); s.append(x)\n"
        "print(len(s), flush=True); time.sleep(0.5)"
    )
    document = spec("ports", "", replicas=2, ports=[{"label": "web", "count": count}])
    document["roles"][0]["command"] = ["python3", "-c", code]
    jobs = [await stage.submit(document) for _ in range(2)]
    views = [await stage.ended(job) for job in jobs]
    assert [view.state for view in views] == ["succeeded", "succeeded"], [view.verdict for view in views]
    given = [port for view in views for task in view.task_list for port in task.ports["web"]]
    assert len(given) == len(set(given)) == 4 * count


async def test_a_bad_node_costs_no_retry_and_the_job_goes_elsewhere(fake: Stage, machines: FakeMachines) -> None:
    """A node that refuses before anything ran is free of charge; the next attempt is told why."""
    machines.refuse_next("bad_node", "the card does not answer", "n1")
    document = spec("moves")
    document["roles"][0]["command"] = "true"
    job = await fake.submit(document)
    view = await fake.ended(job)
    assert (view.state, view.attempts, view.retries.used) == ("succeeded", 2, 0)
    assert [a.cause for a in view.attempt_list] == ["first", "bad_node"]


async def test_a_lost_task_takes_a_fault_restart_and_then_fails(fake: Stage, machines: FakeMachines) -> None:
    """R181: platform faults are counted apart from the user's retries."""
    document = spec("lost", fault_restarts=1, retries=5)
    document["roles"][0]["command"] = "sleep infinity"
    job = await fake.submit(document)
    await fake.running(job)
    machines.lose_task(f"{job}-1")
    view = await fake.until(job, lambda v: v.attempts == 2 and v.state == "running")
    assert (view.retries.used, view.attempt_list[0].why) == (0, "fault")
    await fake.platform.stop(job, ADMIN)
    assert (await fake.ended(job)).state == "stopped"


async def test_a_lost_task_is_the_platforms_fault_and_says_so(fake: Stage, machines: FakeMachines) -> None:
    """B10: lost is told apart from what the user's program did; without restarts left the job fails."""
    document = spec("lost", retries=5)
    document["roles"][0]["command"] = "sleep infinity"
    job = await fake.submit(document)
    await fake.running(job)
    machines.lose_task(f"{job}-1")
    view = await fake.until(job, lambda v: v.attempts == 2 or v.state == "failed")
    first = view.attempt_list[0]
    assert (first.verdict.code, first.verdict.fault, first.tasks[0].state) == (
        "lost",
        "platform",
        "lost",
    )


async def test_what_the_explanation_suggests_works(fake: Stage) -> None:
    """B1: the change that would start it sooner, applied as it is told to a copy in its place, starts it."""
    blocker = spec("blocker", resources={"cpu": 3, "memory": 3000, "gpu": 1}, replicas=2)
    blocker["roles"][0]["command"] = "sleep infinity"
    await fake.running(await fake.submit(blocker))
    for field, asked in (("cpu", 2), ("memory", 2000), ("gpu", 2)):
        document = spec(f"wants-{field}", resources={"cpu": 0.1, "memory": 64, field: asked})
        document["roles"][0]["command"] = "true"
        job = await fake.submit(document)
        told = await fake.platform.explain(job, ADMIN)
        assert told.reason.position >= 1
        assert told.suggestions, (field, told)
        await fake.platform.stop(job, ADMIN)
        change = {path: str(value) for path, value in told.suggestions[0].change.items()}
        copy = await fake.platform.clone(job, ADMIN, change)
        assert (await fake.ended(copy.id)).state == "succeeded", (field, change)
