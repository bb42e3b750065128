"""What a gang carries beside its roles is carried out by every engine, or spoken of before the submit
(abilities.ChecksGangs).

The world of an engine that runs containers names an image in `image` and in `in_image` a shell text that ends well in
it alone; for one that needs credentials for that, their name in `pull_secret`.
"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from tests.contract.engine.conftest import ONE_LOOP
from tests.fixtures.gangs import GangBuilder, gang, key
from tests.fixtures.watcher import Watcher
from trainmaster.core.launch import Asked, Gang, Mount, SecretUse
from trainmaster.engines.abilities import Abilities
from trainmaster.engines.base import Started
from trainmaster.engines.findings import GangFindings, without_cache, without_secrets
from trainmaster.messages import render

pytestmark = ONE_LOOP
USES = (SecretUse("T", "TOKEN"), SecretUse("T", "", "key"))
IMAGE = "registry.example/team/train:1"


def findings(engine: Any, story: Gang) -> GangFindings:
    """Return what the engine says of the gang before anything of it has a place."""
    checks = Abilities.of(engine).checks_gangs
    own = without_secrets(story) if Abilities.of(engine).takes_secrets is None else GangFindings()
    own += without_cache(story, Abilities.of(engine).no_cache)
    return own + (checks.check_gang(replace(story, placement=(), asked=Asked("default"))) if checks else GangFindings())


async def launch(engine: Any, story: Gang) -> None:
    taker = Abilities.of(engine).takes_secrets
    await (engine.launch(story) if taker is None or not story.secrets else taker.launch_with(story, {"T": "hello"}))


def fields_of(found: GangFindings) -> set[str]:
    """Return the fields of the document that are spoken of, and those within them."""
    return {name for one in (*found.problems, *found.warnings) for name in one.path.split(".")}


@dataclass
class Carried:
    """Something that a gang carries: how it is asked for, and a shell text that ends well where it was carried out."""

    asked: dict[str, Any]
    shown_by: str


def carried(world: Any, what: str, folder: Path) -> Carried:
    """Return the gang that carries `what`, and its proof."""
    (folder / "mark").write_text("here")
    folder.chmod(0o755)
    image, in_image = getattr(world, "image", IMAGE), getattr(world, "in_image", "false")
    return {
        "env": Carried({"env": (("GREETING", "hello"),)}, "test $GREETING = hello"),
        "inputs": Carried({"mounts": (Mount(str(folder), "/data/set"),)}, "test -e /data/set/mark"),
        "cache": Carried({"mounts": (Mount(str(folder), "/data/set", cache="dataset-1"),)}, "test -e /data/set/mark"),
        "image": Carried({"image": image}, in_image),
        "secrets": Carried({"secrets": USES}, "test $TOKEN = hello && test -s $TRAINMASTER_SECRETS_DIR/key"),
        "pull_secret": Carried({"image": image, "pull_secret": getattr(world, "pull_secret", "team")}, in_image),
    }[what]


@pytest.mark.parametrize("what", ["env", "inputs", "cache", "image", "pull_secret", "secrets"])
async def test_what_is_not_spoken_of_is_carried_out(
    world: Any, engine: Any, watcher: Watcher, tmp_path: Path, what: str
) -> None:
    asks = carried(world, what, tmp_path)
    story = gang(node=world.node, **asks.asked).told("worker", 1, world.command(asks.shown_by)).build()
    if what in fields_of(findings(engine, story)):
        return
    await launch(engine, story)
    (end,) = await watcher.end_of(key(story))
    assert end.exit_code == 0, f"{what} was not carried out, and nothing was said"


@pytest.mark.parametrize("what", ["env", "inputs", "cache", "image", "pull_secret", "secrets"])
async def test_what_is_only_warned_of_runs_all_the_same(
    world: Any, engine: Any, watcher: Watcher, tmp_path: Path, what: str
) -> None:
    story = gang(node=world.node, **carried(world, what, tmp_path).asked).told("w", 1, world.command("exit 0")).build()
    if findings(engine, story).problems:
        return
    await launch(engine, story)
    (end,) = await watcher.end_of(key(story))
    assert end.exit_code == 0


def everything(world: Any, folder: Path) -> GangBuilder:
    """Return a gang that carries all that there is."""
    mounts = (Mount("/code-of-somebody", "/code"), Mount(str(folder), "/dataset"), Mount(str(folder), "/data/set"))
    return gang(node=world.node, env=(("A", "1"),), mounts=mounts, image=IMAGE, pull_secret="team")


async def test_each_finding_says_what_is_so_and_what_to_do_in_both_languages(
    world: Any, engine: Any, tmp_path: Path
) -> None:
    story = everything(world, tmp_path).told("worker", 1, world.command("exit 0")).build()
    found = findings(engine, story)
    assert findings(engine, story) == found, "the same is said of the same"
    for one in (*found.problems, *found.warnings):
        for language in ("en", "zh"):
            assert render.text(one.said, language)
            assert render.remedy(one.said, language)
    mounts = [one.path for one in (*found.problems, *found.warnings) if one.path.startswith("inputs.")]
    assert set(mounts) <= {"inputs.0.mount", "inputs.1.mount"}, "code is nobody's input"


async def test_of_a_gang_that_asks_for_nothing_there_is_nothing_to_say(world: Any, engine: Any, tmp_path: Path) -> None:
    """An input that is to be seen where it lies is one that everybody sees there."""
    mounts = (Mount("/code-of-somebody", "/code"), Mount(str(tmp_path), str(tmp_path)))
    story = gang(node=world.node, mounts=mounts).told("worker", 1, world.command("exit 0")).build()
    assert findings(engine, story) == GangFindings()


@pytest.mark.asyncio(loop_scope="function")  # as the cluster, which is its own
async def test_of_chosen_nodes_one_is_taken_or_they_are_spoken_of(cluster: Any, watcher: Watcher) -> None:
    """Where we choose ourselves, the placement says it all; an engine that owns its queue is told the nodes."""
    engine = await cluster.engine(watcher)
    last = sorted(node.name for node in await engine.nodes() if node.schedulable)[-1]
    story = gang(node="", nodes=(last,)).told("w", 2, cluster.command("exit 0")).build()
    checks = Abilities.of(engine).checks_gangs
    if checks is not None and "nodes" in fields_of(checks.check_gang(replace(story, placement=()))):
        return
    await engine.launch(story)
    await watcher.end_of(key(story), 2)
    (started,) = [fact for fact in watcher.queue(key(story)) if isinstance(fact, Started)]
    assert {place.node for place in started.placement} == {last}
