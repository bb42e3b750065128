"""Processes, memory, logs and disks that misbehave are contained, ended and named (B2, "What bad input gets")."""

import asyncio
import json
import os
import time
from pathlib import Path

import pytest

from tests.fixtures.gangs import gang, key
from tests.fixtures.local_worlds import LocalWorld
from tests.fixtures.watcher import Watcher
from tests.sandbox.conftest import LIMITS, Run
from trainmaster.agent.host import procs
from trainmaster.engines.base import Note, TaskReport
from trainmaster.messages import render

RUNAWAY = """
import os, signal, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        open(os.environ["TRAINMASTER_MODEL_DIR"] + "/born", "w").write("x")
        time.sleep(600)
    os._exit(0)
while not os.path.exists(os.environ["TRAINMASTER_MODEL_DIR"] + "/born"):
    time.sleep(0.01)
print("out of sight", flush=True)
"""


def marked(job: str) -> list[int]:
    """Return the live processes that carry the marker of any task of `job`."""
    wanted = f"TRAINMASTER_JOB={job}".encode()
    return [
        pid for pid in procs.all_pids() if procs.carries(pid, wanted) and (found := procs.stat(pid)) and found.alive
    ]


@pytest.mark.parametrize("kind", [("bubblewrap", "auto"), ("bubblewrap", "off"), ("none", "auto"), ("none", "off")])
@pytest.mark.parametrize("stays", [True, False])
async def test_a_double_forked_session_leader_that_ignores_sigterm_is_ended(kind: tuple[str, str], stays: bool) -> None:
    """B2: whether its parent ends by itself or is stopped."""
    world = LocalWorld(*kind, limits=LIMITS)
    try:
        watcher = Watcher()
        engine = await world.engine(watcher)
        text = RUNAWAY + ("time.sleep(600)\n" if stays else "")
        story = gang().role("w", 1, "python3", "-c", text).build()
        await engine.launch(story)
        await watcher.until(lambda: "out of sight" in world.log(story.job), "the daemon")
        if not stays:
            await watcher.end_of(key(story))
        await asyncio.wait_for(engine.reap(key(story), 0.2), 60)
        assert marked(story.job) == []
    finally:
        await world.close()


async def test_a_crash_fills_no_disk_unless_the_program_asks_for_it(run: Run) -> None:
    """RLIMIT_CORE: what a program may leave when it is ended by a signal; it may raise its own limit."""
    _, log = await run(gang().shell("w", 1, "ulimit -Sc; ulimit -Sc 1; ulimit -Sc"))
    assert log == "0\n1\n"


async def test_a_fork_bomb_is_contained_and_named(sandboxed: LocalWorld, run: Run) -> None:
    text = "import os\ntry:\n  while True: os.fork()\nexcept OSError: pass\nos._exit(3)"
    end, _ = await run(gang().role("w", 1, "python3", "-S", "-c", text))
    assert end.verdict is not None
    assert end.verdict.code == "too_many_processes"


async def test_using_more_memory_than_asked_for_is_named(run: Run) -> None:
    end, _ = await run(gang().role("w", 1, "python3", "-c", "x = bytearray(300 << 20)", memory_mib=64))
    assert end.verdict is not None
    assert (end.verdict.code, end.signal) == ("out_of_memory", 9)
    assert "64 MiB" in render.text(end.verdict.said)


async def test_the_group_of_a_killed_task_is_clean_for_the_next(sandboxed: LocalWorld, run: Run) -> None:
    await run(gang().role("w", 1, "python3", "-c", "x = bytearray(300 << 20)", memory_mib=64))
    end, _ = await run(gang().shell("w", 1, "kill -9 $$"))
    assert end.verdict is not None
    assert end.verdict.code == "signal"


@pytest.mark.parametrize("line", [99, 1 << 20])
async def test_a_flood_keeps_head_and_tail(sandboxed: LocalWorld, run: Run, line: int) -> None:
    """A log of 24 MiB with a limit of 1 MiB, in short lines or in enormous ones."""
    text = (
        f"import os, time\nos.write(1, b'FIRST\\n')\nfor i in range({24 << 20} // {line}):\n"
        f"  os.write(1, b'x' * {line - 1} + b'\\n')\n"
        "time.sleep(2)\nos.write(1, b'LAST\\n')\n"
    )
    story = gang().role("w", 1, "python3", "-S", "-c", text)
    _, log = await run(story)
    path = sandboxed.layout.task(story.job, 1, 0, 0).log
    assert log.startswith("FIRST\n")
    assert log.endswith("LAST\n")
    assert os.stat(path).st_size > 23 << 20  # offsets stay true
    assert os.stat(path).st_blocks * 512 < 2 << 20
    cuts = [json.loads(text) for text in sandboxed.read(path + ".cuts").splitlines()]
    assert cuts
    assert all(log[cut["offset"]] == "\0" for cut in cuts)


async def test_a_full_disk_is_named(run: Run) -> None:
    end, _ = await run(gang().shell("w", 1, "head -c 90000000 /dev/zero > /dev/shm/x", shm_mib=16))
    assert end.verdict is not None
    assert end.verdict.code == "disk_full"


async def test_a_command_that_only_the_sandbox_can_miss_is_named(run: Run) -> None:
    end, _ = await run(gang().shell("w", 1, "no-such-program"))
    assert end.verdict is not None
    assert (end.verdict.code, end.exit_code) == ("command_not_found", 127)
    assert "no-such-program" in end.verdict.evidence


async def sampled(world: LocalWorld, text: str) -> list[list[float]]:
    """Run a program of Python until two samples tell of its 40 MiB and of its work; return all there are."""
    watcher = Watcher()
    engine, story = await world.engine(watcher), gang().role("w", 1, "python3", "-c", text).build()
    path = Path(world.layout.task(story.job, 1, 0, 0).usage)

    def samples() -> list[list[float]]:
        whole = path.read_text().rpartition("\n")[0] if path.exists() else ""
        return [json.loads(line) for line in whole.splitlines()]

    await engine.launch(story)
    await watcher.until(lambda: sum(one[2] > 35 and one[1] > 0.1 for one in samples()) > 1, "two samples")
    await engine.reap(key(story), 0)
    return samples()


async def test_usage_is_sampled_while_a_task_runs(sandboxed: LocalWorld) -> None:
    samples = await sampled(sandboxed, "x = bytearray(40 << 20)\nwhile True: pass")
    assert all(len(sample) == 10 for sample in samples)
    assert [sample[1] for sample in samples] == sorted(sample[1] for sample in samples)
    assert max(sample[9] for sample in samples) >= 1


async def test_usage_is_sampled_without_groups_too(bare: LocalWorld) -> None:
    assert await sampled(bare, "x = bytearray(40 << 20)\nwhile True: pass")


async def test_missing_protection_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """Degrades visibly: a note per attempt, a fact of the node."""
    monkeypatch.setenv("PATH", "/nowhere")
    world = LocalWorld("auto")
    try:
        watcher = Watcher()
        engine = await world.engine(watcher)
        story = gang().role("w", 1, "/bin/true").build()
        await engine.launch(story)
        await watcher.end_of(key(story))
        assert [fact.code for fact in watcher.facts if not hasattr(fact, "kind")] == ["sandbox_degraded"]
        (node,) = await engine.nodes()
        assert "bubblewrap is not installed" in dict(node.facts)["sandbox"]
    finally:
        await world.close()


async def test_an_idle_agent_does_not_wake(sandboxed: LocalWorld) -> None:
    """No timer, no poll while nothing runs."""
    await sandboxed.engine()
    pid = sandboxed.agent_pid()

    def switches() -> int:
        text = sandboxed.read(f"/proc/{pid}/status")
        return sum(int(line.split()[1]) for line in text.splitlines() if "voluntary_ctxt_switches" in line)

    before, quiet = -1, 0
    async with asyncio.timeout(60):
        while quiet < 10:  # it comes to rest after its start; on a busy machine it may only wait for its turn
            sleeps = "State:\tS" in sandboxed.read(f"/proc/{pid}/status")
            quiet = quiet + 1 if before == (before := switches()) and sleeps else 0
            await asyncio.sleep(0.1)
    time.sleep(2)  # time itself is what is tested: what nothing wakes has no later event
    assert switches() == before


async def _ended(world: LocalWorld, text: str, memory_mib: int) -> tuple[TaskReport, list[str]]:
    watcher = Watcher()
    engine = await world.engine(watcher)
    story = gang().role("w", 1, "python3", "-c", text, memory_mib=memory_mib).build()
    await engine.launch(story)
    async with asyncio.timeout(60):
        (end,) = await watcher.end_of(key(story))
    await engine.reap(key(story), 0)
    return end, [fact.code for fact in watcher.facts if isinstance(fact, Note)]


async def test_without_control_groups_memory_far_above_is_ended_by_samples(bare: LocalWorld) -> None:
    end, _ = await _ended(bare, "import time\nx = bytearray(600 << 20)\ntime.sleep(600)", 128)
    assert end.verdict is not None
    assert end.verdict.code == "out_of_memory"
    assert "but asked for 128 MiB" in render.text(end.verdict.said)
    assert "was stopped: it used" in render.text(end.verdict.said)


async def test_without_control_groups_somewhat_too_much_is_warned_of_and_ended_when_it_stays() -> None:
    """In a sandbox, whose processes are found otherwise."""
    world = LocalWorld("bubblewrap", "off", limits=LIMITS)
    try:
        text = "import time\nx = bytearray(105 << 20)\ntime.sleep(3)\nx = bytearray(150 << 20)\ntime.sleep(600)"
        end, notes = await _ended(world, text, 100)
        assert end.verdict is not None
        assert (end.verdict.code, notes) == ("out_of_memory", ["over_memory"])
    finally:
        await world.close()


async def test_pages_that_workers_share_count_once(bare: LocalWorld) -> None:
    text = (
        "import os, time\nx = bytearray(90 << 20)\n"
        "for _ in range(6):\n  if os.fork() == 0:\n    time.sleep(3)\n    os._exit(0)\nfor _ in range(6): os.wait()"
    )
    end, _ = await _ended(bare, text, 200)
    assert end.exit_code == 0


async def test_without_control_groups_a_crowd_of_processes_is_ended(bare: LocalWorld) -> None:
    text = "import os, time\nfor _ in range(90):\n  if os.fork() == 0:\n    time.sleep(600)\ntime.sleep(600)"
    end, _ = await _ended(bare, text, 512)
    assert end.verdict is not None
    assert end.verdict.code == "too_many_processes"
    assert "the limit is 64" in render.text(end.verdict.said)


@pytest.mark.parametrize("sandbox", ["bubblewrap", "none"])
async def test_without_control_groups_who_enters_counts_against_the_tasks_memory(sandbox: str) -> None:
    world = LocalWorld(sandbox, "off", limits=LIMITS)
    try:
        watcher = Watcher()
        engine = await world.engine(watcher)
        story = gang().role("w", 1, "sleep", "300", memory_mib=64).build()
        await engine.launch(story)
        await watcher.running(key(story))
        hog = "import time; x = bytearray(300 << 20); time.sleep(600)"
        terminal = await engine.attach(key(story), 0, 0, ("python3", "-c", hog), None)
        (end,) = await watcher.end_of(key(story))
        assert end.verdict is not None
        assert end.verdict.code == "out_of_memory"
        await terminal.close()
    finally:
        await world.close()
