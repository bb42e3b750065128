"""Every bad end is contained and named in plain words with its evidence (B10, issue: what bad input gets)."""

import os
import time
from pathlib import Path

import pytest

from tests.scenario.stage import ADMIN, Stage, role, spec
from trainmaster import answers
from trainmaster.agent.host.cgroups import Cgroups

EATS_MEMORY = ["python3", "-c", "import time\nx=[]\nwhile True: x.append(bytearray(1<<20)); x[-1][::4096]=b'x'*256"]
BOMB = [
    "python3",
    "-c",
    "import os,time\nwhile True:\n    try:\n        os.fork()\n    except OSError:\n        time.sleep(0.05)",
]


async def _verdict(stage: Stage, document: dict[str, object]) -> answers.VerdictView:
    job = await stage.submit(document)
    view = await stage.ended(job)
    assert view.state == "failed"
    assert stage.processes(job) == {}
    assert view.verdict is not None
    return view.verdict


async def test_exit_code_with_the_last_lines(stage: Stage) -> None:
    """B10: code, role and index, and the last lines, not the first."""
    text = "i=0; while [ $i -lt 2000 ]; do i=$((i+1)); echo line $i; done; echo ValueError: bad batch >&2; exit 42"
    verdict = await _verdict(stage, spec("code", text))
    assert (verdict.code, verdict.exit_code, verdict.role, verdict.index) == ("exit_code", 42, "main", 0)
    evidence = str(verdict.evidence)
    assert evidence.endswith("line 2000\nValueError: bad batch")
    assert "line 1\n" not in evidence


@pytest.mark.parametrize(("name", "number"), [("KILL", 9), ("SEGV", 11), ("TERM", 15)])
async def test_a_signal_is_named(stage: Stage, name: str, number: int) -> None:
    """B10: killed by a signal, with its name."""
    verdict = await _verdict(stage, spec("signal", f"echo before; sh -c 'kill -{name} $$'; exit $?"))
    direct = {
        "name": "direct",
        "roles": [{**role("main", ""), "command": ["python3", "-c", f"import os; os.kill(os.getpid(), {number})"]}],
    }
    again = await _verdict(stage, direct)
    for one in (verdict, again):
        assert (one.code, one.signal) == ("signal", number), one
        assert f"SIG{name}" in str(one.message)


async def test_a_command_that_is_not_there(stage: Stage) -> None:
    """B10: in the sandbox, in a shell, and as a file without the right to run."""
    for number, command in enumerate((["no-such-program"], ["/bin/sh", "-c", "no-such-program"], ["/etc/hosts"])):
        verdict = await _verdict(stage, {"name": f"lost-{number}", "roles": [{**role("main", ""), "command": command}]})
        assert verdict.code == "command_not_found", verdict
        assert command[-1] in str(verdict.message) + str(verdict.evidence)


async def test_out_of_memory_is_told_apart_from_a_signal(stage: Stage) -> None:
    """B10: where control groups work the limit is the job's; elsewhere the test is of the note that says so."""
    if not Cgroups(str(stage.home)).version:
        job = await stage.submit(spec("eats", "true"))
        await stage.ended(job)
        assert [w.code for w in (await stage.view(job)).warnings] == ["cgroups_degraded"]
        return
    document = {"name": "eats", "roles": [{**role("main", "", resources={"memory": 64}), "command": EATS_MEMORY}]}
    verdict = await _verdict(stage, document)
    assert verdict.code == "out_of_memory", verdict
    assert "64 MiB" in str(verdict.message)


async def test_a_fork_bomb_is_contained_and_ends_with_its_job(tmp_path: Path) -> None:
    """Issue: fork bombs. The limit holds, others go on, a stop ends all of it."""
    async with Stage(tmp_path / "home", {"limits": {"processes": 40}}) as stage:
        bomb = await stage.submit({"name": "bomb", "grace": 1, "roles": [{**role("main", ""), "command": BOMB}]})
        await stage.until(bomb, lambda _: len(stage.processes(bomb)) > 20, "many processes")
        assert len(stage.processes(bomb)) <= 42
        other = await stage.submit(spec("other", "echo fine"))
        assert (await stage.ended(other)).state == "succeeded"
        await stage.platform.stop(bomb, ADMIN)
        assert (await stage.ended(bomb)).state == "stopped"
        assert stage.processes(bomb) == {}


async def test_a_child_that_ignores_sigterm_is_killed_after_the_grace(stage: Stage) -> None:
    """Issue, R177: graceful stop time, then force; the log shows that it was asked first."""
    text = "trap 'echo asked' TERM; echo ready; while :; do sleep 0.1; done"
    job = await stage.submit(spec("stubborn", text, grace=1))
    await stage.running(job, "ready")
    began = time.monotonic()
    await stage.platform.stop(job, ADMIN)
    view = await stage.ended(job)
    assert view.state == "stopped"
    assert time.monotonic() - began >= 1.0
    assert "asked" in stage.log(job)
    assert stage.processes(job) == {}


async def test_a_job_that_listens_to_sigterm_has_time_to_save(stage: Stage) -> None:
    """R175, R177: what it writes in its grace is kept, and it ends before the grace is over."""
    text = (
        "trap 'sleep 0.3; echo checkpoint > /workspace/outputs/ckpt; exit 0' TERM; echo ready; "
        "while :; do sleep 0.1; done"
    )
    job = await stage.submit(spec("saves", text, grace=60))
    await stage.running(job, "ready")
    began = time.monotonic()
    await stage.platform.stop(job, ADMIN)
    assert (await stage.ended(job)).state == "stopped"
    assert stage.output(job, "ckpt").read_text() == "checkpoint\n"
    assert time.monotonic() - began < 50


async def test_a_log_flood_is_capped_and_keeps_head_and_tail(tmp_path: Path) -> None:
    """Issue: floods and endless lines take no more disk than the limit; the job itself goes on and succeeds."""
    async with Stage(tmp_path / "home", {"limits": {"log_mib": 2, "sample_s": 0.2}}) as stage:
        text = "echo first; head -c 60000000 /dev/zero | tr '\\0' x; sleep 1.5; echo; echo last"
        job = await stage.submit(spec("flood", text))
        view = await stage.ended(job)
        assert view.state == "succeeded", view.verdict
        path = stage.platform.layout.task(job, 1, 0, 0).log
        assert os.stat(path).st_blocks * 512 <= 4 << 20
        with open(path, "rb") as log:
            assert log.readline()[:5] == b"first"[:5]
            log.seek(-5, os.SEEK_END)
            assert log.read() == b"last\n"


async def test_a_full_shared_memory_is_named(stage: Stage) -> None:
    """B10: disk full, with what is full."""
    text = "head -c 50000000 /dev/zero > /dev/shm/big"
    verdict = await _verdict(stage, spec("shm", text, resources={"shm": 8}))
    assert verdict.code == "disk_full", verdict
    assert "8 MiB" in str(verdict.message)
