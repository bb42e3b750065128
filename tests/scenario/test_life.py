"""A job's life on the real local engine: start, finish, retry, stop, expire, change, delete, clone."""

import asyncio
import time
from pathlib import Path

import pytest

from tests.scenario.stage import ADMIN, Stage, spec
from trainmaster.answers import Retries
from trainmaster.core.errors import Conflict, InvalidSpec, NotFound
from trainmaster.service.use_cases.jobs import UNSET
from trainmaster.service.use_cases.listing import Chosen
from trainmaster.storage.logs import logs
from trainmaster.storage.logs.logtimes import line_times

SLEEP = "echo started; exec sleep 300"


async def test_a_job_runs_from_submit_to_success_and_says_each_step(stage: Stage) -> None:
    """Design 5: every step is an event, in order; the log is the program's own file."""
    job = await stage.submit(spec("hello", "echo hello from $TRAINMASTER_INDEX"))
    view = await stage.ended(job)
    assert (view.state, view.attempts, view.verdict.code) == ("succeeded", 1, "ok")
    assert stage.log(job) == "hello from 0\n"
    kinds = [kind for kind in stage.kinds(job) if kind != "noted"]
    started = kinds.index("started")
    assert kinds[:4] == ["submitted", "placed", "checked", "staged"]
    assert kinds[started + 1 :] == ["task_running", "task_exited", "saved", "reaped"]


async def test_what_does_not_fit_waits_with_a_reason_and_starts_when_there_is_room(stage: Stage) -> None:
    """B1 and R46: a waiting job says why; it starts without anybody asking."""
    first = await stage.submit(spec("first", SLEEP, replicas=2, resources={"cpu": 4}))
    await stage.running(first)
    second = await stage.submit(spec("second", "true", resources={"cpu": 3}))
    view = await stage.view(second)
    assert view.state == "queued"
    assert view.reason.message.zh != ""
    assert view.reason.message.en != ""
    await stage.platform.stop(first, ADMIN)
    assert (await stage.ended(second)).state == "succeeded"


async def test_retry_counts_and_every_attempt_keeps_its_log(stage: Stage) -> None:
    """R88: two retries; the third attempt succeeds; three logs are kept."""
    text = 'echo "attempt $TRAINMASTER_ATTEMPT"; test "$TRAINMASTER_ATTEMPT" = 3'
    job = await stage.submit(spec("retry", text, retries=2))
    view = await stage.ended(job)
    assert (view.state, view.attempts, view.retries) == ("succeeded", 3, Retries(used=2, limit=2))
    assert [stage.log(job, n) for n in (1, 2, 3)] == [f"attempt {n}\n" for n in (1, 2, 3)]
    assert [a.cause for a in view.attempt_list] == ["first", "retry", "retry"]
    assert [a.verdict.code for a in view.attempt_list] == ["exit_code", "exit_code", "ok"]


async def test_retries_end_and_the_job_has_failed_with_the_last_lines(stage: Stage) -> None:
    """R88, B10: no more attempts than asked for; the verdict shows exit code and last lines."""
    job = await stage.submit(spec("fails", "echo the reason; exit 9", retries=1))
    view = await stage.ended(job)
    assert (view.state, view.attempts) == ("failed", 2)
    verdict = view.verdict
    assert (verdict.code, verdict.exit_code, verdict.fault) == ("exit_code", 9, "user")
    assert "the reason" in verdict.evidence


async def test_stop_while_queued_never_starts_anything(stage: Stage) -> None:
    """R201: at once, also before the start."""
    blocker = await stage.submit(spec("blocker", SLEEP, replicas=2, resources={"cpu": 4}))
    await stage.running(blocker)
    job = await stage.submit(spec("waits", "true", resources={"cpu": 2}))
    view = await stage.platform.stop(job, ADMIN, "not needed")
    assert view.state == "stopped"
    assert stage.kinds(job) == ["submitted", "stop_requested"]
    assert view.verdict.message.en == "not needed"


async def test_stop_while_running_ends_every_process_and_is_idempotent(stage: Stage) -> None:
    """R201, R248, B2: double forks and new sessions go too; a second stop changes nothing."""
    text = "setsid sh -c 'sleep 300 & sleep 300' & (sleep 300 &) ; echo started; sleep 300"
    job = await stage.submit(spec("running", text, grace=1))
    await stage.running(job, "started")
    assert stage.processes(job)
    await asyncio.gather(*(stage.platform.stop(job, ADMIN) for _ in range(3)))
    view = await stage.ended(job)
    assert view.state == "stopped"
    assert stage.processes(job) == {}
    assert (await stage.platform.stop(job, ADMIN)).state == "stopped"
    assert stage.kinds(job).count("reaped") == 1


async def test_stop_in_the_moment_of_the_start_leaves_nothing(stage: Stage) -> None:
    """B2: whatever the stop meets - placed, its sandbox half made, running - it leads to stopped without waiting for
    the grace.
    """
    jobs = []
    for delay in (0.0, 0.002, 0.005, 0.01, 0.02, 0.04):
        jobs.append(await stage.submit(spec(f"stop-{int(delay * 1000)}", SLEEP, grace=3600)))
        await asyncio.sleep(delay)
        await stage.platform.stop(jobs[-1], ADMIN)
    states = [(await stage.ended(job)).state for job in jobs]
    assert states == ["stopped"] * len(jobs)
    assert stage.processes() == {}


async def test_a_job_expires_when_its_duration_has_run_out(stage: Stage) -> None:
    """R191: at the limit the job becomes expired, its processes are gone."""
    job = await stage.submit(spec("short", SLEEP, duration=1, grace=1))
    view = await stage.ended(job)
    assert (view.state, view.verdict.code) == ("expired", "expired")
    assert view.ended_at >= view.expires_at


async def test_changing_the_duration_does_not_touch_the_process(stage: Stage) -> None:
    """R192, R193: same process before and after, for longer, for shorter and for ever; then it expires as told last."""
    job = await stage.submit(spec("change", SLEEP, duration=3600, grace=1))
    await stage.running(job, "started")
    before = stage.processes(job)
    for duration in (7200.0, 1800.0, None, 900.0):
        view = await stage.platform.change(job, ADMIN, duration_s=duration)
        assert view.duration_s == duration
        assert stage.processes(job) == before
    assert view.expires_at == pytest.approx(view.started_at + 900)
    elapsed = time.time() - view.started_at
    await stage.platform.change(job, ADMIN, duration_s=elapsed + 0.5)
    assert (await stage.ended(job)).state == "expired"


async def test_a_bad_change_is_refused_and_an_ended_job_cannot_be_changed(stage: Stage) -> None:
    """R192: every problem at once; after the end a conflict."""
    job = await stage.submit(spec("bad-change", SLEEP, grace=1))
    with pytest.raises(InvalidSpec) as refused:
        await stage.platform.change(job, ADMIN, duration_s=-1, priority="soon")
    assert [p.path for p in refused.value.problems] == ["duration_s", "priority"]
    await stage.platform.stop(job, ADMIN)
    await stage.ended(job)
    with pytest.raises(Conflict):
        await stage.platform.change(job, ADMIN, duration_s=UNSET, priority="urgent")


async def test_raising_the_priority_of_a_queued_job_lets_it_start_first(stage: Stage) -> None:
    """R46, R170: an urgent job overtakes one that came before it."""
    blocker = await stage.submit(spec("blocker", SLEEP, replicas=2, resources={"cpu": 4}, grace=1))
    await stage.running(blocker)
    slow, fast = [await stage.submit(spec(n, "true", replicas=2, resources={"cpu": 4})) for n in ("slow", "fast")]
    await stage.platform.change(fast, ADMIN, priority="urgent")
    await stage.platform.stop(blocker, ADMIN)
    ends = [await stage.ended(job) for job in (slow, fast)]
    assert ends[1].started_at < ends[0].started_at


async def test_only_ended_jobs_can_be_deleted_one_or_many(stage: Stage) -> None:
    """R194, R202: each is done or refused for its own reason; files go, everything is forgotten."""
    runs = await stage.submit(spec("runs", SLEEP, grace=1))
    await stage.running(runs)
    done = [
        await stage.submit(spec(f"done-{n}", "echo x > /workspace/outputs/x", model={"save": False})) for n in range(3)
    ]
    for job in done:
        await stage.ended(job)
    with pytest.raises(Conflict):
        await stage.platform.delete(runs, ADMIN)
    await stage.platform.delete(done[0], ADMIN)
    result = await stage.platform.many("delete", Chosen((done[1], runs, done[2], "t" + "0" * 32)), ADMIN)
    assert result.done == [done[1], done[2]]
    assert [(r.id, r.code) for r in result.refused] == [
        (runs, "no_deletion_before_end"),
        ("t" + "0" * 32, "no_such_job"),
    ]
    for job in done:
        with pytest.raises(NotFound):
            await stage.view(job)
        assert not Path(stage.platform.layout.job(job)).exists()
    assert (await stage.view(runs)).state == "running"


async def test_a_clone_has_all_settings_but_the_slug_and_may_be_edited(stage: Stage) -> None:
    """R203: same document, a new id, edits on the way."""
    document = spec(
        "origin", 'echo "$WHO"', env={"WHO": "ann"}, retries=1, slug="the-one", duration=600, labels={"k": "v"}
    )
    job = await stage.submit(document)
    await stage.ended(job)
    shown = await stage.platform.copy_of(job, ADMIN)
    assert "slug" not in shown
    view = await stage.platform.clone(job, ADMIN, {"env.WHO": "bea", "name": "copy"})
    copy = await stage.ended(view.id)
    assert view.id != job
    assert (copy.name, copy.slug, copy.duration_s, copy.labels) == ("copy", None, 600.0, {"k": "v"})
    assert copy.retries.limit == 1
    assert (stage.log(job), stage.log(view.id)) == ("ann\n", "bea\n")


async def test_a_failed_container_is_kept_for_debugging_until_it_is_released(stage: Stage) -> None:
    """R90, R218, D10: resources stay held; release ends it as failed; a stop would, too; it is not saved."""
    held = await stage.submit(spec("held", "echo x > /tmp/evidence; exit 7", debug_hold=600))
    other = await stage.submit(spec("other", "exit 7", debug_hold=600))
    view = await stage.state(held, "retained")
    await stage.state(other, "retained")
    assert view.attempt_list[0].retained_until == pytest.approx(time.time() + 600, abs=60)
    assert set(stage.platform.context.scheduling.capacity.holders) == {f"{held}-1", f"{other}-1"}
    assert Path(stage.platform.layout.task(held, 1, 0, 0).tmp, "evidence").exists()
    with pytest.raises(Conflict):
        await stage.platform.delete(held, ADMIN)
    await stage.platform.release(held, ADMIN)
    await stage.platform.stop(other, ADMIN)
    assert (await stage.ended(held)).state == "failed"
    assert (await stage.ended(other)).state == "stopped"
    with pytest.raises(Conflict):
        await stage.platform.release(held, ADMIN)


async def test_a_debug_hold_ends_by_itself(stage: Stage) -> None:
    """R90, R218: not longer than asked for."""
    job = await stage.submit(spec("brief", "exit 7", debug_hold=1))
    view = await stage.ended(job)
    assert view.state == "failed"
    assert view.verdict.exit_code == 7
    assert "released" in stage.kinds(job)


async def test_lines_of_a_log_have_the_times_at_which_they_were_seen(stage: Stage) -> None:
    """R207: a line was written by when the log was seen to hold it, and after the last look at which it did not."""
    job = await stage.submit(spec("told", "echo first; sleep 5; echo second"))
    view = await stage.ended(job)
    path = stage.platform.layout.task(job, 1, 0, 0).log
    first, second = line_times(path, logs.read(path), None)
    assert view.started_at is not None
    assert view.ended_at is not None
    assert first.by is not None
    assert second.after is not None
    assert second.by is not None
    assert view.started_at - 1 <= first.by < second.by <= view.ended_at + 1
    assert second.by - second.after < 4, "it is looked at every half second, also when nothing comes"
