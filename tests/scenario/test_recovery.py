"""What the platform does when something below it fails: restarts, killed agents, full disks, absent
engines.
"""

import asyncio
import contextlib
import operator
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection

from tests.fixtures.fakes.engine import FakeEngine, FakeMachines
from tests.scenario.stage import ADMIN, COUNTS, PATIENCE_S, Stage, fake_spec, spec
from trainmaster.core.actions import Launch
from trainmaster.core.errors import StorageFailed
from trainmaster.core.launch import Gang
from trainmaster.core.records import Job
from trainmaster.store.jobs.ledger import Ledger


def _go(stage: Stage, job: str) -> None:
    stage.output(job, "go").touch()


def _written(stage: Stage, job: str) -> list[int]:
    """Return how many lines each of its two tasks has written."""
    return [len(stage.log(job, 1, 0, index).splitlines()) for index in (0, 1)]


def _whole(text: str) -> bool:
    """True when the log has every line from 1 to its last number, once each, and an end."""
    lines = text.splitlines()
    return lines[-1] == "end" and lines[:-1] == [f"line {n}" for n in range(1, len(lines))]


async def _kill(stage: Stage, who: str) -> None:
    path = stage.home / "run" / f"{who}.pid"
    old = int(path.read_text())
    os.kill(old, signal.SIGKILL)
    limit = time.monotonic() + PATIENCE_S
    while path.read_text().strip() in ("", str(old)):
        assert time.monotonic() < limit, f"nobody took the place of the {who}"
        await asyncio.sleep(0.02)


@pytest.mark.parametrize("who", ["agent", "keeper"])
async def test_a_killed_agent_or_keeper_harms_no_job(stage: Stage, who: str) -> None:
    """Design 6: same processes, whole logs, right ends; the platform starts jobs again at once."""
    job = await stage.submit(spec("goes-on", COUNTS, replicas=2, model={"save": False}))
    await stage.running(job, "line 3")
    first, written = stage.processes(job), _written(stage, job)
    await stage.until(job, lambda _: all(map(operator.gt, _written(stage, job), written)), "the next line of each")
    before = first.keys() & stage.processes(job).keys()  # the shells; the sleep before a line has ended with it
    assert len(before) >= 2
    await _kill(stage, who)
    later = await stage.submit(spec("later", "echo fine"))
    assert (await stage.ended(later)).state == "succeeded"
    assert before <= stage.processes(job).keys()
    _go(stage, job)
    view = await stage.ended(job)
    assert (view.state, view.attempts) == ("succeeded", 1), view.verdict
    assert all(_whole(stage.log(job, 1, 0, index)) for index in (0, 1))


async def test_a_restarted_server_goes_on_where_every_job_is(stage: Stage) -> None:
    """Design 1.8: running, waiting, held and just ending jobs; no recovery mode, nothing twice."""
    runs = await stage.submit(spec("runs", COUNTS, replicas=2, resources={"cpu": 3}, model={"save": False}))
    held = await stage.submit(spec("held", "exit 7", debug_hold=600))
    await stage.running(runs, "line 1")
    await stage.state(held, "retained")
    waits = await stage.submit(spec("waits", "echo once >> /workspace/outputs/ran", replicas=2, resources={"cpu": 4}))
    processes = stage.processes(runs)
    await stage.restart()
    assert (await stage.view(waits)).state == "queued"
    assert processes.keys() & stage.processes(runs).keys()
    assert (await stage.view(held)).state == "retained"
    await stage.platform.release(held, ADMIN)
    _go(stage, runs)
    assert (await stage.ended(runs)).state == "succeeded"
    assert (await stage.ended(held)).state == "failed"
    assert (await stage.ended(waits)).state == "succeeded"
    assert stage.output(waits, "ran").read_text() == "once\n" * 2
    assert _whole(stage.log(runs))


async def test_what_ended_while_no_server_was_there_is_found_out(stage: Stage) -> None:
    """Exit codes and durations are not lost with the server."""
    good = await stage.submit(spec("good", COUNTS, model={"save": False}))
    bad = await stage.submit(spec("bad", COUNTS + "; exit 5"))
    short = await stage.submit(spec("short", COUNTS, duration=300, grace=1))
    for job in (good, bad, short):
        await stage.running(job)
    ran_s = time.time() - (await stage.view(short)).started_at
    expires_at = (await stage.platform.change(short, ADMIN, duration_s=ran_s + 2)).expires_at
    await stage.platform.close()
    for job in (good, bad):
        _go(stage, job)
    async with asyncio.timeout(PATIENCE_S):
        while stage.processes(good) or stage.processes(bad):
            await asyncio.sleep(0.02)
    await asyncio.sleep(max(0.0, expires_at - time.time()))  # only time makes a duration run out
    stage.platform = stage._build()
    await stage.platform.start()
    assert (await stage.ended(good)).state == "succeeded"
    assert (await stage.ended(bad)).verdict.exit_code == 5
    assert (await stage.ended(short)).state == "expired"


async def test_a_stop_in_the_moment_of_a_restart_starts_nothing_afterwards(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A launch that waits for its spec while the job is stopped may not start after the engine has said "nothing
    left".
    """
    launching = stage.platform._life._shell._launching
    read, asked = asyncio.Event(), asyncio.Event()
    inner = launching.gang_from_disk

    async def slow(job: Job) -> Gang:
        asked.set()
        await read.wait()
        return await inner(job)

    monkeypatch.setattr(launching, "gang", lambda job: None)
    monkeypatch.setattr(launching, "gang_from_disk", slow)
    job = await stage.submit(spec("late", "sleep 300"))
    await asked.wait()
    late = stage.platform._life._shell._tasks[Launch, job, 1]
    await stage.platform.stop(job, ADMIN)
    assert (await stage.ended(job)).state == "stopped"
    read.set()
    await asyncio.wait_for(late, PATIENCE_S)
    assert stage.processes(job) == {}
    assert stage.log(job) == ""
    assert os.listdir(stage.home / "run" / "live") == []


async def test_what_is_placed_during_a_recovery_is_durable_before_it_is_launched(
    fake: Stage, machines: FakeMachines, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a failed commit orders are taken from the ledger: what is placed while the engine is asked waits for its
    commit.
    """
    machines.break_node("n2")
    await fake.restart()
    runs = await fake.submit(fake_spec("runs", "sleep infinity"))
    await fake.running(runs)
    waits = await fake.submit(fake_spec("waits", "sleep infinity", resources={"cpu": 4}))
    assert (await fake.view(waits)).state == "queued"
    machines.mend_node("n2")
    inner, failures = Ledger._write, ["the placement is not stored"]
    loop = asyncio.get_running_loop()

    async def many_turns() -> None:
        """Whatever is launched too early is launched by the end of them."""
        for _ in range(50):
            await asyncio.to_thread(int)

    def poor(ledger: Ledger, connection: Connection, items: list[Any]) -> None:
        asyncio.run_coroutine_threadsafe(many_turns(), loop).result(PATIENCE_S)
        if not failures:
            inner(ledger, connection, items)
            return
        failure = failures.pop()
        for item in items:
            item.future.set_exception(StorageFailed(failure))

    monkeypatch.setattr(Ledger, "_write", poor)
    fake.platform.context.scheduling.set_nodes(machines.nodes())
    fake.platform.context.master.wake()
    await fake.running(waits)
    assert failures == []
    assert fake.kinds(waits).count("placed") == 1


async def test_an_engine_that_is_away_for_a_while_loses_nothing(
    fake: Stage, machines: FakeMachines, caplog: pytest.LogCaptureFixture
) -> None:
    """Orders are repeated until they are answered: starts, stops and ends."""

    def tries(job: str) -> int:
        return sum(job in line and line.endswith("trying again") for line in caplog.messages)

    ends, stops = [await fake.submit(fake_spec(name, "sleep infinity")) for name in ("ends", "stops")]
    for job in (ends, stops):
        await fake.running(job)
    machines.reachable = False
    begins = await fake.submit(fake_spec("begins"))
    machines.end_task(f"{ends}-1")
    await fake.platform.stop(stops, ADMIN)
    for job in (ends, stops, begins):
        await fake.until(job, lambda view: tries(view.id) >= 2, "the second try of an order")
    assert {(await fake.view(job)).state for job in (ends, stops, begins)} <= {"saving", "stopping", "initialising"}
    machines.reachable = True
    assert (await fake.ended(ends)).state == "succeeded"
    assert (await fake.ended(stops)).state == "stopped"
    assert (await fake.ended(begins)).state == "succeeded"


@contextlib.contextmanager
def small_disk(folder: Path) -> Iterator[Path]:
    """Mount a file system of 6 MiB where we may; else give a plain folder (the database is then kept small by
    itself).
    """
    folder.mkdir()
    mounted = (
        os.geteuid() == 0
        and not subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=6m", "none", str(folder)], check=False, capture_output=True
        ).returncode
    )
    try:
        yield folder
    finally:
        if mounted:
            subprocess.run(["umount", "-l", str(folder)], check=True)


async def test_a_full_disk_is_told_and_the_platform_comes_back_by_itself(
    tmp_path: Path, machines: FakeMachines
) -> None:
    """Issue: disk full. 507, nothing half-made; what ends meanwhile is recorded once there is room; no restart."""
    with small_disk(tmp_path / "disk") as disk:
        home = disk / "home"
        async with Stage(home, engine=lambda: FakeEngine(machines)) as stage:
            runs = await stage.submit(fake_spec("runs", "sleep infinity"))
            await stage.running(runs)
            free = _fill(disk, stage)
            accepted, refused = [], None
            for number in range(400):
                try:
                    accepted.append(
                        await stage.submit(fake_spec(f"n{number}", env={"BIG": str(number) + os.urandom(15_000).hex()}))
                    )
                except StorageFailed as error:
                    refused = error
                    break
            assert refused is not None, "the disk was never full"
            assert refused.status == 507
            assert refused.remedy
            with pytest.raises(StorageFailed):
                await stage.submit(fake_spec("again", env={"BIG": os.urandom(15_000).hex()}))
            machines.end_task(f"{runs}-1")
            free()
            assert (await stage.ended(runs)).state == "succeeded"
            assert (await stage.platform.ready()).ok
            for job in accepted:
                assert (await stage.ended(job)).state == "succeeded"
            assert set(stage.job_ids()) == {runs, *accepted}, "something was half-made"
            later = await stage.submit(fake_spec("later"))
            assert (await stage.ended(later)).state == "succeeded"


def _fill(disk: Path, stage: Stage) -> Callable[[], object]:
    """Leave some 200 KiB; return what gives the room back."""
    if not os.path.ismount(disk):
        database = stage.platform._life._database
        pages = database.write(lambda c: c.exec_driver_sql("PRAGMA page_count").scalar()).result()
        database.write(lambda c: c.exec_driver_sql(f"PRAGMA max_page_count = {pages + 50}")).result()
        return lambda: database.write(lambda c: c.exec_driver_sql("PRAGMA max_page_count = 1000000")).result()
    ballast = disk / "ballast"
    room = os.statvfs(disk)
    ballast.write_bytes(b"\1" * max(0, room.f_bavail * room.f_frsize - 200_000))
    return ballast.unlink


async def test_readiness_asked_by_a_crowd_is_looked_up_once(fake: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody needs to sign in for /readyz; a flood of it must not become a flood of writes to the ledger."""
    looks = 0
    probe = fake.platform._readiness.probe

    async def counted() -> None:
        nonlocal looks
        looks += 1
        await probe()

    monkeypatch.setattr(fake.platform._readiness, "probe", counted)
    answers = await asyncio.gather(*(fake.platform.ready() for _ in range(500)))
    assert all(answer.ok for answer in answers)
    assert looks == 1
