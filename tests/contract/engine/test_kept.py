"""What is left of an ended task whose attempt is held can be entered (R90, R217, R218): its files, variables and
limits, in a sandbox made anew; who is inside is gone before the attempt is, whatever happens in between. The engine of
one machine.
"""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from tests.contract.engine.conftest import ONE_LOOP
from tests.contract.engine.test_entering import PATIENCE_S, STUBBORN, marked, said, until
from tests.fixtures.gangs import gang, key
from tests.fixtures.local_worlds import LocalWorld
from tests.fixtures.watcher import Watcher
from trainmaster.core.errors import Conflict
from trainmaster.core.launch import Gang
from trainmaster.engines.base import Terminal, Window

pytestmark = ONE_LOOP


@pytest_asyncio.fixture(
    params=[(sandbox, groups) for sandbox in ("bubblewrap", "none") for groups in ("auto", "off")],
    ids="-".join,
    scope="module",
    loop_scope="module",
)
async def world(request: pytest.FixtureRequest) -> AsyncIterator[LocalWorld]:
    """One machine: sandboxed or not, with control groups or without."""
    found = LocalWorld(*request.param)
    yield found
    await found.close()


@pytest_asyncio.fixture(loop_scope="module")
async def kept(world: Any, engine: Any, watcher: Watcher) -> Gang:
    """A task that has failed and was not reaped."""
    text = 'echo "what went wrong" > $TMPDIR/evidence; echo half > "$TRAINMASTER_OUTPUT_DIR/part"; exit 7'
    story = gang(node=world.node, gpus=1, env=(("COLOUR", "blue"),)).told("w", 2, world.command(text)).build()
    await engine.launch(story)
    await watcher.end_of(key(story), 2)
    return story


async def enter(engine: Any, of: Gang, *argv: str, window: Window | None = None, index: int = 0) -> Terminal:
    found: Terminal = await engine.attach(key(of), 0, index, argv, window, kept=True)
    return found


def inside(attempt: str) -> list[str]:
    """Return what runs of `attempt`, but for who brought it in: that one waits outside, and ends by itself when it has
    nobody inside.
    """
    return [line for line in marked(attempt) if "\0-I\0-S\0-c\0" not in line]


async def sh(engine: Any, of: Gang, text: str, index: int = 0) -> tuple[bytes, bytes, int]:
    return await said(await enter(engine, of, "/bin/sh", "-c", text, index=index))


async def test_files_variables_and_folder_are_those_of_the_task(engine: Any, kept: Gang) -> None:
    out, err, code = await sh(
        engine, kept, 'cat $TMPDIR/evidence "$TRAINMASTER_OUTPUT_DIR/part"; echo new > $TMPDIR/new'
    )
    assert (out, err, code) == (b"what went wrong\nhalf\n", b"", 0)
    out, err, code = await sh(engine, kept, "cat $TMPDIR/new; rm $TMPDIR/new; env", index=0)
    assert (err, code) == (b"", 0)
    first, *lines = out.decode().splitlines()
    env = dict(line.split("=", 1) for line in lines if "=" in line)
    assert (first, env["COLOUR"], env["TRAINMASTER_TASK"]) == ("new", "blue", f"{key(kept)}/task0-0")
    assert env["CUDA_VISIBLE_DEVICES"] != ""
    out, _, _ = await sh(engine, kept, "ls $TMPDIR; env", index=1)
    assert out.decode().splitlines()[0] == "evidence"
    assert f"TRAINMASTER_TASK={key(kept)}/task0-1" in out.decode()
    await engine.reap(key(kept), 0)


async def test_what_it_told_of_itself_stays_and_its_log_too(world: Any, engine: Any, kept: Gang) -> None:
    (before,) = await engine.observe([key(kept)])
    await sh(engine, kept, "echo from inside; exit 3")
    (after,) = await engine.observe([key(kept)])
    assert after == before
    assert [task.exit_code for task in after.tasks] == [7, 7]
    await engine.reap(key(kept), 0)


async def test_a_terminal_is_one_and_shells_come_one_after_the_other(engine: Any, kept: Gang) -> None:
    for _ in range(2):
        shell = await enter(engine, kept, "bash", "--norc", window=Window(97, 31))
        await shell.write(b"stty size; cat $TMPDIR/evidence\n")
        await until(shell, r"31 97\r\n(.|\n)*what went wrong")
        await shell.write(b"exit 5\n")
        assert await asyncio.wait_for(shell.wait(), PATIENCE_S) == 5
        await shell.close()
    await engine.reap(key(kept), 0)


async def test_two_at_once_see_the_same_and_reap_ends_both_before_it_answers(engine: Any, kept: Gang) -> None:
    """B2: deaf to signals, each in a session of its own."""
    shells = [await enter(engine, kept, "/bin/sh", "-c", STUBBORN, window=size) for size in (Window(), None)]
    for shell in shells:
        await until(shell, "here")
    out, _, _ = await sh(engine, kept, "cat /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n' | grep -c ^COLOUR=")
    assert int(out) >= 3, "each other"
    await asyncio.wait_for(engine.reap(key(kept), 60), PATIENCE_S)
    assert inside(key(kept)) == []
    for shell in shells:
        assert await asyncio.wait_for(shell.wait(), PATIENCE_S) != 0
        await shell.close()
    assert marked(key(kept)) == []


async def test_after_the_hold_and_while_it_ends_nobody_gets_in(engine: Any, kept: Gang) -> None:
    shell = await enter(engine, kept, "/bin/sh", "-c", STUBBORN)
    await until(shell, "here")
    many = [asyncio.create_task(late(engine, kept)) for _ in range(4)]
    reap = asyncio.create_task(engine.reap(key(kept), 0))
    many += [asyncio.create_task(late(engine, kept)) for _ in range(4)]
    await asyncio.wait_for(reap, PATIENCE_S)
    assert inside(key(kept)) == []
    assert set(await asyncio.gather(*many)) <= {"refused", "ended"}
    assert marked(key(kept)) == []
    with pytest.raises(Conflict, match="no longer kept"):
        await enter(engine, kept, "true")
    await shell.close()


async def late(engine: Any, of: Gang) -> str:
    """Try to enter and to stay; say how it ended."""
    try:
        shell = await enter(engine, of, "/bin/sh", "-c", "echo in; exec sleep 300")
    except Conflict:
        return "refused"
    async with asyncio.timeout(PATIENCE_S):
        code = await shell.wait()
    await shell.close()
    return "ended" if code != 0 else "stayed"


async def test_a_killed_agent_lets_people_stay_and_leaves_nothing_behind(world: Any, engine: Any, kept: Gang) -> None:
    """The next agent takes over who is inside, lets others in, and ends all with the hold."""
    shell = await enter(engine, kept, "/bin/sh", "-c", STUBBORN, window=Window())
    await until(shell, "here")
    first = world.agent_pid()
    os.kill(first, signal.SIGKILL)
    assert (await sh(engine, kept, "cat $TMPDIR/evidence"))[0] == b"what went wrong\n"
    assert any("echo here" in line for line in marked(key(kept))), "still inside"
    assert world.agent_pid() != first
    os.kill(world.agent_pid(), signal.SIGKILL)
    await asyncio.wait_for(engine.reap(key(kept), 0), PATIENCE_S)
    assert inside(key(kept)) == []
    assert await asyncio.wait_for(shell.wait(), PATIENCE_S) != 0
    await shell.close()
    assert marked(key(kept)) == []


async def test_who_ends_all_that_is_inside_may_enter_again(engine: Any, kept: Gang) -> None:
    shell = await enter(engine, kept, "/bin/sh", "-c", "echo here; exec sleep 300")
    await until(shell, "here")
    await sh(
        engine,
        kept,
        'for p in /proc/[0-9]*; do grep -qz "^TRAINMASTER_TASK=$TRAINMASTER_TASK$" $p/environ 2>/dev/null && '
        "[ ${p#/proc/} != $$ ] && kill -9 ${p#/proc/}; done; kill -9 $$",
    )
    assert await asyncio.wait_for(shell.wait(), PATIENCE_S) != 0
    await shell.close()
    assert await sh(engine, kept, "cat $TMPDIR/evidence") == (b"what went wrong\n", b"", 0)
    await engine.reap(key(kept), 0)
    assert marked(key(kept)) == []


async def test_what_is_hung_up_ends(engine: Any, kept: Gang) -> None:
    for window in (Window(), None):
        shell = await enter(engine, kept, "/bin/sh", "-c", "echo here; exec sleep 300", window=window)
        await until(shell, "here")
        await shell.close()
        assert await asyncio.wait_for(shell.wait(), PATIENCE_S) != 0
    await engine.reap(key(kept), 0)


async def test_without_being_kept_an_ended_task_is_refused(engine: Any, kept: Gang) -> None:
    with pytest.raises(Conflict, match="only a running replica"):
        await engine.attach(key(kept), 0, 0, ("true",), None)
    await engine.reap(key(kept), 0)
