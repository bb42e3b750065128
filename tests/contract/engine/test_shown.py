"""A task runs on the files of its container image, or not at all (R25, R26; abilities.ShowsContainers)."""

import io
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.contract.engine.conftest import ONE_LOOP
from tests.fixtures.gangs import gang, key
from tests.fixtures.registry import small_system
from tests.fixtures.watcher import Watcher
from trainmaster.agent.containers.unpacking import Unpacker, settle
from trainmaster.core.folders.layout import CONTAINER
from trainmaster.engines.abilities import Abilities
from trainmaster.engines.base import LaunchRefused, Refused
from trainmaster.messages import render

pytestmark = ONE_LOOP
IMAGE = f"{CONTAINER}{'d' * 32}"


def keep(folder: Path) -> None:
    """Put the files of an image where the server keeps them."""
    root = folder / "root"
    root.mkdir(parents=True)
    Unpacker(str(root), 1 << 30).run(io.BytesIO(small_system()))
    settle(str(root))
    (folder / "config.json").write_text('{"env": ["PATH=/bin"]}')


async def test_a_task_sees_the_files_of_its_image_or_is_refused(world: Any, engine: Any, watcher: Watcher) -> None:
    """The engine says it before a submit where it knows; a node that learns it at the start starts nothing."""
    can = Abilities.of(engine)
    if can.shows_containers is None:
        why = can.no_containers
        assert why is not None
        assert render.remedy(why)
        return
    keep(Path(world.layout.environment(IMAGE)))
    made = gang(node=world.node).shell("w", 1, "cat /etc/image-mark && ls /usr/bin/env").build()
    story = replace(made, environment=IMAGE)
    try:
        await engine.launch(story)
        await watcher.until(lambda: bool(refusals(watcher, key(story)) or watcher.ended(key(story))), "its end")
        refused = refusals(watcher, key(story))
    except LaunchRefused as error:
        refused = [error]
    if engine.isolation()["kind"] == "bubblewrap":
        assert refused == []
        (end,) = watcher.ended(key(story))
        assert end.exit_code not in (0, None), "the node's own programs are not there"
        assert Path(world.layout.task(story.job, 1, 0, 0).log).read_text().startswith("of the image\n")
    else:
        assert [one.code for one in refused] == ["launch_failed"]
        assert "the sandbox that would show its files does not work" in render.text(refused[0].said)
        assert not os.path.exists(world.layout.task(story.job, 1, 0, 0).log)
    await engine.reap(key(story), 0)


def refusals(watcher: Watcher, attempt: str) -> list[Any]:
    """Return what refuses an attempt after it was taken."""
    return [fact for fact in watcher.queue(attempt) if isinstance(fact, Refused)]
