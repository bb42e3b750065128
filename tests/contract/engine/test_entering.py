"""What every engine whose tasks can be entered promises (engines/base.py): who enters is one of the task's own, and
ends with it.
"""

import asyncio
import os
import re
from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest
import pytest_asyncio

from tests.contract.engine.conftest import NOT_ENTERED, ONE_LOOP, WORLDS
from tests.fixtures.gangs import gang, key
from tests.fixtures.watcher import Watcher
from trainmaster.core.errors import Conflict
from trainmaster.core.launch import Gang
from trainmaster.engines.base import Terminal, Window

pytestmark = ONE_LOOP
PATIENCE_S = 120.0


@pytest_asyncio.fixture(
    params=[name for name in WORLDS if name not in NOT_ENTERED], scope="module", loop_scope="module"
)
async def world(request: pytest.FixtureRequest) -> AsyncIterator[Any]:
    """The surroundings of an engine whose tasks have processes."""
    found = WORLDS[request.param]()
    yield found
    await found.close()


@pytest.fixture(scope="module")
def watcher() -> Watcher:
    """Sees what the engine of all tests pushes."""
    return Watcher()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def engine(world: Any, watcher: Watcher) -> Any:
    """The engine of all tests: entering changes nothing in it."""
    return await world.engine(watcher)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def task(world: Any, engine: Any, watcher: Watcher) -> AsyncIterator[Gang]:
    """A running task, which one test after the other enters."""
    story = gang(node=world.node, gpus=1, env=(("COLOUR", "blue"),)).told("w", 2, world.command("sleep 300")).build()
    await engine.launch(story)
    await watcher.running(key(story), 2)
    yield story
    await engine.reap(key(story), 0)


async def said(terminal: Terminal, given: bytes = b"") -> tuple[bytes, bytes, int]:
    """Give `given` and the end of input; return all that comes back, and the exit code."""

    async def all_of(stream: Any) -> bytes:
        found = b""
        while data := await terminal.read(stream):
            found += data
        return found

    async def give() -> None:
        if given:
            await terminal.write(given)
        await terminal.end_input()

    async with asyncio.timeout(PATIENCE_S):
        out, err, code, _ = await asyncio.gather(all_of(1), all_of(2), terminal.wait(), give())
    await terminal.close()
    return out, err, code


async def run(engine: Any, of: Gang, *argv: str, index: int = 1, given: bytes = b"") -> tuple[bytes, bytes, int]:
    return await said(await engine.attach(key(of), 0, index, argv, None), given)


async def until(terminal: Terminal, pattern: str) -> str:
    """Read until `pattern` was seen."""
    found = ""
    async with asyncio.timeout(PATIENCE_S):
        while not re.search(pattern, found):
            data = await terminal.read(1)
            assert data, found
            found += data.decode()
    return found


CLASSES = """
import os
mine = "TRAINMASTER_TASK=" + os.environ["TRAINMASTER_TASK"]
for pid in filter(str.isdigit, os.listdir("/proc")):
    try:
        words = open(f"/proc/{pid}/cmdline").read().split(chr(0))
        if words[:2] == ["sleep", "300"] and mine in open(f"/proc/{pid}/environ").read():
            print("batch" if os.sched_getscheduler(int(pid)) == os.SCHED_BATCH else "other")
    except OSError:
        pass
print("batch" if os.sched_getscheduler(0) == os.SCHED_BATCH else "other")
"""


async def test_a_task_is_batch_work_and_who_enters_it_is_not(engine: Any, task: Gang) -> None:
    """Its threads do not interrupt one another, nor the platform, whenever one wakes up; a person is answered at
    once.
    """
    assert await run(engine, task, "/usr/bin/env", "python3", "-c", CLASSES) == (b"batch\nother\n", b"", 0)


async def test_who_enters_has_the_variables_of_that_task_and_is_told_apart_from_its_neighbour(
    engine: Any, task: Gang
) -> None:
    out, err, code = await run(engine, task, "/bin/sh", "-c", "env; pwd; ulimit -n")
    assert (code, err) == (0, b"")
    lines = out.decode().splitlines()
    env = dict(line.split("=", 1) for line in lines if "=" in line)
    assert env["COLOUR"] == "blue"
    assert env["TRAINMASTER_TASK"] == f"{key(task)}/task0-1"
    assert env["CUDA_VISIBLE_DEVICES"] != ""
    assert "TRAINMASTER_TOKEN" not in env
    first, _, _ = await run(engine, task, "/bin/sh", "-c", "env", index=0)
    assert f"TRAINMASTER_TASK={key(task)}/task0-0" in first.decode().splitlines()


async def test_files_of_the_task_are_seen_and_left_in_it(engine: Any, task: Gang) -> None:
    await run(
        engine,
        task,
        "/bin/sh",
        "-c",
        'echo "left here" > "$TRAINMASTER_OUTPUT_DIR/note"; echo mine > "$TMPDIR/private"',
    )
    out, _, _ = await run(engine, task, "/bin/sh", "-c", 'cat "$TRAINMASTER_OUTPUT_DIR/note" "$TMPDIR/private"')
    assert out == b"left here\nmine\n"
    _, _, code = await run(engine, task, "/bin/sh", "-c", 'cat "$TMPDIR/private"', index=0)
    assert code != 0, "another task's private folder"


@pytest.mark.parametrize(("text", "code"), [("exit 0", 0), ("exit 3", 3), ("kill -9 $$", 137), ("kill -TERM $$", 143)])
async def test_the_exit_code_comes_back(engine: Any, task: Gang, text: str, code: int) -> None:
    assert await run(engine, task, "/bin/sh", "-c", text) == (b"", b"", code)


async def test_a_command_that_is_not_there_is_127_and_one_that_cannot_be_executed_126(engine: Any, task: Gang) -> None:
    _, err, code = await run(engine, task, "no-such-command-here")
    assert code == 127
    assert b"no-such-command-here" in err
    _, err, code = await run(engine, task, "/etc/hosts")
    assert code == 126


async def test_what_goes_in_comes_out_byte_by_byte(engine: Any, task: Gang) -> None:
    data = os.urandom(300_000) + bytes(range(256))
    assert await run(engine, task, "cat", given=data) == (data, b"", 0)


async def test_the_two_outputs_are_apart(engine: Any, task: Gang) -> None:
    assert await run(engine, task, "/bin/sh", "-c", "echo out; echo err >&2") == (b"out\n", b"err\n", 0)


@pytest.mark.parametrize("window", [None, Window(24, 80)])
async def test_no_open_file_of_the_server_is_inherited(engine: Any, task: Gang, window: Window | None) -> None:
    """Nor one that the server itself was started with, by a shell or a service manager."""
    ends = os.pipe()
    os.set_inheritable(ends[1], True)
    try:
        terminal = await engine.attach(key(task), 0, 1, ("/bin/sh", "-c", "echo /proc/self/fd/*"), window)
        out, _, _ = await said(terminal)
    finally:
        for end in ends:
            os.close(end)
    assert [name.rpartition("/")[2] for name in out.decode().split()] == ["0", "1", "2", "3"]  # the last is the listing


NASTY: Sequence[str] = (
    ":",
    "--uid=0",
    "a b",
    "$HOME",
    "`id`",
    "%j",
    "'",
    '"',
    "\n",
    "",
    "-c",
    "ä",
    "#SBATCH --wrap",
    "\\",
)


async def test_words_arrive_as_they_were_given(engine: Any, task: Gang) -> None:
    """Nothing is read by a shell of ours, nor by srun, for which a lone colon begins another command."""
    out, err, code = await run(engine, task, "printf", "%s\\0", *NASTY)
    assert (out.decode().split("\0")[:-1], err, code) == (list(NASTY), b"", 0)


async def test_a_terminal_is_one(engine: Any, task: Gang) -> None:
    """Its size, its keys, its end: what a shell and an editor need."""
    text = "stty size; trap 'echo changed; stty size' WINCH; echo $TERM; while :; do sleep 0.1; done"
    terminal = await engine.attach(key(task), 0, 1, ("/bin/sh", "-c", text), Window(97, 31))
    await until(terminal, r"31 97\r\n\w")
    terminal.resize(Window(120, 40))
    await until(terminal, r"changed\r\n40 120")
    await terminal.write(b"\x03")  # Ctrl-C
    assert await asyncio.wait_for(terminal.wait(), PATIENCE_S) == 130
    await terminal.close()


async def test_a_shell_has_its_jobs_under_control(engine: Any, task: Gang) -> None:
    """Ctrl-C ends what the shell runs and not the shell."""
    terminal = await engine.attach(key(task), 0, 1, ("bash", "--norc"), Window())
    await terminal.write(b"PS1='ne''xt> '\n")
    seen = await until(terminal, "next> ")
    assert "job control" not in seen
    await terminal.write(b"sh -c 'echo $((40 + 2)); exec sleep 300'\n")
    await until(terminal, "42\r\n")
    await terminal.write(b"\x03")
    await until(terminal, "next> ")
    await terminal.write(b"exit 5\n")
    assert await asyncio.wait_for(terminal.wait(), PATIENCE_S) == 5
    await terminal.close()


async def test_what_does_not_run_cannot_be_entered(world: Any, engine: Any, watcher: Watcher) -> None:
    never = "t" + "1" * 32 + "-1"
    story = gang(node=world.node).told("w", 1, world.command("exit 0")).build()
    await engine.launch(story)
    await watcher.end_of(key(story))
    for attempt, role, index in ((never, 0, 0), (key(story), 0, 0), (key(story), 0, 7), (key(story), 3, 0)):
        with pytest.raises(Conflict, match=r"does not run|is not running"):
            await engine.attach(attempt, role, index, ("true",), None)


STUBBORN = "trap '' TERM HUP INT; echo here; while :; do sleep 1; done"
DAEMON = """up=$TMPDIR/up; setsid --fork sh -c "$0" > $up 2>&1; while [ ! -s $up ]; do sleep 0.05; done"""


async def test_reap_ends_who_is_inside(world: Any, engine: Any, watcher: Watcher) -> None:
    """B2, however it defends itself: in a session of its own, without the terminal, deaf to signals."""
    story = gang(node=world.node).told("w", 1, world.command("sleep 300")).build()
    await engine.launch(story)
    await watcher.running(key(story))
    shell = await engine.attach(key(story), 0, 0, ("/bin/sh", "-c", STUBBORN), Window())
    await until(shell, "here")
    assert await run(engine, story, "/bin/sh", "-c", DAEMON, STUBBORN, index=0) == (b"", b"", 0)
    await asyncio.wait_for(engine.reap(key(story), 0.2), PATIENCE_S)
    assert await asyncio.wait_for(shell.wait(), PATIENCE_S) != 0
    assert marked(key(story)) == []
    await shell.close()


async def test_who_is_inside_does_not_hold_the_task_and_ends_with_it(world: Any, engine: Any, watcher: Watcher) -> None:
    story = gang(node=world.node).told("w", 1, world.command("while [ ! -e $TMPDIR/go ]; do sleep 0.05; done")).build()
    await engine.launch(story)
    await watcher.running(key(story))
    shell = await engine.attach(key(story), 0, 0, ("/bin/sh", "-c", STUBBORN), Window())
    await until(shell, "here")
    await run(engine, story, "/bin/sh", "-c", "touch $TMPDIR/go", index=0)
    (end,) = await watcher.end_of(key(story))
    assert end.exit_code == 0
    assert await asyncio.wait_for(shell.wait(), PATIENCE_S) != 0
    await shell.close()
    await asyncio.wait_for(engine.reap(key(story), 0), PATIENCE_S)
    assert marked(key(story)) == []


async def test_what_is_hung_up_ends_and_the_task_runs_on(engine: Any, task: Gang) -> None:
    for window in (Window(), None):
        shell = await engine.attach(key(task), 0, 0, ("/bin/sh", "-c", "echo here; sleep 300"), window)
        await until(shell, "here")
        await shell.close()
        assert await asyncio.wait_for(shell.wait(), PATIENCE_S) != 0
    (report,) = await engine.observe([key(task)])
    assert [one.kind for one in report.tasks] == ["running", "running"]


def marked(attempt: str) -> list[str]:
    """Return the command lines of the processes of this machine that carry the mark of `attempt`."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/environ", "rb") as env, open(f"/proc/{pid}/cmdline", "rb") as line:
                if f"TRAINMASTER_TASK={attempt}/".encode() in env.read():
                    found.append(line.read().decode(errors="replace"))
        except OSError:
            continue
    return found
