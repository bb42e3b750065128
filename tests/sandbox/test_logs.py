"""A log keeps to its limit, however its task writes it: it is the task's own file."""

import os

import pytest

from tests.fixtures.gangs import gang, key
from tests.fixtures.local_worlds import LocalWorld
from tests.fixtures.watcher import Watcher
from trainmaster.agent.measuring import logcap

MIB = 1 << 20
AGAIN = "import os, time\nout = os.open('/proc/self/fd/1', os.O_WRONLY)\n"
WAYS = {
    "faster than anybody looks": "os.write(1, b'x' * (9 << 20))",
    "in a million small pieces": "for _ in range(300_000): os.write(1, b'x' * 29 + b'\\n')",
    "stretched to a terabyte": "os.ftruncate(1, 1 << 40); os.write(1, b'x' * (3 << 20))",
    "cut short again and again": (
        "for _ in range(3):\n  os.write(1, b'x' * (5 << 20)); time.sleep(0.7)\n  os.ftruncate(1, 1 << 20)\n"
        "os.write(1, b'x' * (2 << 20)); time.sleep(0.7)"
    ),
    "written where it was cut": "os.write(1, b'x' * (9 << 20)); time.sleep(0.7); os.pwrite(out, b'y' * (8 << 20), 0)",
}


@pytest.mark.parametrize("how", WAYS)
async def test_a_log_keeps_to_its_limit(sandboxed: LocalWorld, how: str) -> None:
    story = gang().role("w", 1, "python3", "-S", "-c", AGAIN + WAYS[how])
    watcher = Watcher()
    engine, built = await sandboxed.engine(watcher), story.build()
    await engine.launch(built)
    (end,) = await watcher.end_of(key(built))
    await engine.reap(key(built), 0)
    assert end.exit_code == 0, end.verdict
    assert os.stat(sandboxed.layout.task(built.job, 1, 0, 0).log).st_blocks * 512 <= MIB


@pytest.mark.parametrize("size", [0, MIB, MIB + 1, MIB + 5000, 3 * MIB, 1 << 40])
@pytest.mark.parametrize("done", [0, MIB // 2, MIB])
def test_what_is_left_is_never_more_than_the_limit(size: int, done: int) -> None:
    head = MIB // 4
    cut = logcap.cut_of(size, MIB, done)
    start, length = cut or (max(head, done), 0)
    assert head + size - start - length <= MIB
    assert cut is None or length > 0
