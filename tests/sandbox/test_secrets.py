"""A task is given its secrets in memory alone, and what it prints of them is masked (B12)."""

import os
import signal
from pathlib import Path
from typing import Final

import pytest

from tests.fixtures.gangs import GangBuilder, gang, key
from tests.fixtures.local_worlds import LocalWorld
from tests.fixtures.watcher import Watcher
from trainmaster.core.launch import SecretUse
from trainmaster.engines.base import TaskReport

VALUE: Final = "canary-7f31c2d9e8"
OTHER: Final = "first line of it\nsecond-line-9a8b7c\n"
VALUES: Final = {"TOKEN": VALUE, "KEY": OTHER}
USES: Final = (SecretUse("TOKEN", "TOKEN"), SecretUse("KEY", "", "key.txt"))
LOOKS: Final = (
    'echo "it is $TOKEN"; cat $TRAINMASTER_SECRETS_DIR/key.txt; printf %s "$TOKEN" | head -c 9; sleep 0.2; '
    'printf %s "$TOKEN" | tail -c +10; echo; stat -c %a $TRAINMASTER_SECRETS_DIR/key.txt; echo end'
)


@pytest.fixture(params=["sandboxed", "bare"])
def world(request: pytest.FixtureRequest) -> LocalWorld:
    """A home whose tasks run in sandboxes, and one whose tasks run in none."""
    found = request.getfixturevalue(request.param)
    assert isinstance(found, LocalWorld)
    return found


async def run(world: LocalWorld, story: GangBuilder) -> tuple[TaskReport, str]:
    watcher = Watcher()
    engine, built = await world.engine(watcher), story.build()
    await engine.launch_with(built, VALUES)
    (end,) = await watcher.end_of(key(built))
    await engine.reap(key(built), 0)
    return end, world.log(built.job)


def holders(home: str, *values: str) -> list[str]:
    """Return which files of a home hold one of the values."""
    found = []
    for path in filter(Path.is_file, Path(home).rglob("*")):
        data = path.read_bytes()
        found += [str(path) for value in values if value.encode() in data]
    return found


async def test_a_task_has_them_and_its_log_has_not(world: LocalWorld) -> None:
    end, log = await run(world, gang(secrets=USES).shell("w", 1, LOOKS))
    assert end.exit_code == 0, log
    assert log in ("it is ***\n***\n***\n400\nend\n", "it is ***\n***\n***\n600\nend\n")


async def test_no_file_of_the_home_and_no_command_line_ever_holds_one(world: LocalWorld) -> None:
    watcher = Watcher()
    engine = await world.engine(watcher)
    story = gang(secrets=USES).shell("w", 1, "echo $TOKEN; exec sleep 60").build()
    await engine.launch_with(story, VALUES)
    await watcher.running(key(story))
    assert holders(world.home, VALUE, "second-line-9a8b7c") == []
    for line in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            assert VALUE.encode() not in line.read_bytes()
        except OSError:
            continue
    await engine.reap(key(story), 0)
    assert holders(world.home, VALUE, "second-line-9a8b7c") == []
    assert not [name for name in os.listdir("/dev/shm") if key(story) in name]


async def test_the_last_words_that_say_why_a_task_failed_are_whole_and_masked(world: LocalWorld) -> None:
    end, log = await run(world, gang(secrets=USES).shell("w", 1, 'echo "cannot sign in with $TOKEN" >&2; exit 3'))
    assert (end.exit_code, end.verdict and end.verdict.evidence) == (3, "cannot sign in with ***")
    assert log == "cannot sign in with ***\n"


async def test_much_output_is_masked_and_none_is_lost(world: LocalWorld) -> None:
    text = "import os\nfor i in range(2000): print(i, os.environ['TOKEN'])"
    end, log = await run(world, gang(secrets=USES).role("w", 1, "python3", "-S", "-c", text))
    assert end.exit_code == 0
    assert log.splitlines() == [f"{number} ***" for number in range(2000)]


async def test_the_tasks_of_a_gang_have_them_each(world: LocalWorld) -> None:
    watcher = Watcher()
    engine, story = await world.engine(watcher), gang(secrets=USES).shell("w", 3, 'echo "$TOKEN"').build()
    await engine.launch_with(story, VALUES)
    await watcher.end_of(key(story), 3)
    await engine.reap(key(story), 0)
    assert [world.log(story.job, 0, index) for index in range(3)] == ["***\n"] * 3


async def test_a_task_outlives_its_agent_and_is_masked_to_its_end(world: LocalWorld) -> None:
    watcher = Watcher()
    engine = await world.engine(watcher)
    waits = 'while [ ! -e "$TRAINMASTER_MODEL_DIR/go" ]; do sleep 0.05; done'
    text = f"echo before $TOKEN; {waits}; echo after $TOKEN; exit 4"
    story = gang(secrets=USES).shell("w", 1, text).build()
    await engine.launch_with(story, VALUES)
    await watcher.running(key(story))
    os.kill(world.agent_pid(), signal.SIGKILL)
    go = Path(world.layout.model_out(story.job)) / "go"
    go.write_text("")
    (end,) = await watcher.end_of(key(story))
    assert end.exit_code == 4
    await engine.reap(key(story), 0)
    assert world.log(story.job) == "before ***\nafter ***\n"
    assert holders(world.home, VALUE) == []


async def test_a_gang_without_secrets_writes_its_log_itself(world: LocalWorld) -> None:
    watcher = Watcher()
    engine, story = await world.engine(watcher), gang().shell("w", 1, "readlink /proc/self/fd/1; echo $TOKEN").build()
    await engine.launch(story)
    await watcher.end_of(key(story))
    await engine.reap(key(story), 0)
    assert "pipe" not in world.log(story.job)


async def test_what_a_task_leaves_behind_keeps_no_end_waiting(world: LocalWorld) -> None:
    end, log = await run(world, gang(secrets=USES).shell("w", 1, "(sleep 300; echo late) & echo $TOKEN; exit 2"))
    assert (end.exit_code, log) == (2, "***\n")
