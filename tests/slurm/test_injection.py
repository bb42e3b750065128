"""What people write never becomes a line, an option or a word of Slurm's or of a shell: on a real cluster, end to end.

That the script holds nothing of theirs, whatever they write, is in tests/unit/engines/slurm/test_script.py.
"""

import os
import re
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest

from tests.fixtures.gangs import gang, key
from tests.fixtures.pythons import OLD
from tests.fixtures.watcher import Watcher
from tests.slurm.bed import Bed
from tests.slurm.served import Served, job
from tests.slurm.world import new_home
from trainmaster.core.config import Config
from trainmaster.core.errors import Unavailable
from trainmaster.core.folders.layout import Layout
from trainmaster.core.launch import Asked, Gang, Mount, RoleCommand
from trainmaster.engines.base import LaunchRefused
from trainmaster.engines.slurm.client.parse import JobId
from trainmaster.engines.slurm.engine import SlurmEngine
from trainmaster.engines.slurm.settings import SlurmEngineConfig
from trainmaster.spec.job import NAME, SLUG

LINE: Final = "\n#SBATCH --partition=urgent\n#SBATCH --comment=forged"
NASTY: Final = (
    "x" + LINE,
    LINE.lstrip("\n"),
    "\r" + LINE,
    "#SBATCH --uid=0",
    "--partition=urgent",
    "-p urgent",
    "--",
    "-",
    "--wrap=touch {canary}",
    "%j-%x-%A-%%",
    "{{}}",
    "'",
    '"',
    "'\"'\"'",
    "\\",
    "\\n",
    "$(touch {canary})",
    "`touch {canary}`",
    "; touch {canary} #",
    "& touch {canary}",
    "| touch {canary}",
    "> {canary}",
    "$HOME ${{IFS}} ${{PATH}}",
    "!!",
    "*",
    "~root",
    "a=b=c",
    "=",
    " ",
    "\t",
    "",
    "汉字 ✓ \u2028\u202e",
    "\x1b[2J",
    "\x7f",
    "é" * 300,
    "()",
    "|RUNNING|",
    "tm-forged",
)
"""`{canary}`: a file that must never be there."""
CONTROL: Final = frozenset("\x1b\x7f")
"""What the API takes in no text: it would move the cursor of whoever reads it in a terminal."""
SAY: Final = 'printf "%s\\0" "$@" > "$TRAINMASTER_OUTPUT_DIR/words"; env -0 > "$TRAINMASTER_OUTPUT_DIR/env"'
CHANGES: Final = (
    r"JobId|\w*Time|LastSchedEval|Priority|NodeList|BatchHost|Comment|JobName|Std\w+|AllocNode:Sid|Scheduler|JobState"
)
"""What differs between two jobs that ask for the same."""


class World:
    """A cluster, a data folder, one engine, and the file that must not appear."""

    def __init__(self, bed: Bed, data: Path) -> None:
        self.bed, self.data, self.canary = bed, data, data / "canary"
        self.layout, self.watcher = Layout(new_home(str(data)), str(data)), Watcher()
        self.engine = self.made()
        self.nasty = tuple(text.format(canary=self.canary) for text in NASTY)

    def made(self, **own: Any) -> SlurmEngine:
        settings = {"conf": self.bed.conf, "python": OLD or "/usr/bin/python3", "sandbox": "none", **own}
        return SlurmEngine("cluster", SlurmEngineConfig(**settings), self.layout, Config())

    def gang(self, words: tuple[str, ...] = ("harmless",), **more: Any) -> Gang:
        made = gang(node="", pool="batch").role("main", 1, "/bin/sh", "-c", SAY, "sh", *words)
        return replace(made.build(), **more)

    async def run(self, of: Gang) -> dict[str, str]:
        """Run it to its end; return what Slurm has of the job."""
        await self.engine.launch(of)
        await self.watcher.end_of(key(of))
        number = self.bed.ask("squeue", "-h", "-t", "all", f"--name=tm-{key(of)}", "-o", "%A").split()
        assert len(number) == 1
        text = self.bed.ask("scontrol", "show", "job", number[0])
        batch = self.bed.ask("scontrol", "write", "batch_script", number[0], "-")
        await self.engine.reap(key(of), 1.0)
        pairs = (pair.partition("=")[::2] for pair in text.split())
        return {name: value for name, value in pairs if not re.fullmatch(CHANGES, name)} | {"script": batch}

    def words(self, of: Gang) -> list[str]:
        return (Path(self.layout.outputs(of.job)) / "words").read_bytes().decode().split("\0")[:-1]

    def env(self, of: Gang) -> dict[str, str]:
        text = (Path(self.layout.outputs(of.job)) / "env").read_bytes().decode()
        return dict(entry.split("=", 1) for entry in text.split("\0")[:-1])


@pytest.fixture
async def world(bed: Bed) -> AsyncIterator[World]:
    data = bed.folder / f"data-{os.urandom(4).hex()}"
    data.mkdir(mode=0o700)
    made = World(bed, data)
    await made.engine.start(made.watcher.sink)
    yield made
    await made.engine.close()
    assert not made.canary.exists(), "a word of a user's was executed"
    told = bed.ask("scontrol", "show", "job")
    assert "forged" not in told
    assert "Partition=urgent" not in told


async def test_words_and_variables_come_through_unchanged_and_slurm_sees_none_of_them(world: World) -> None:
    harmless, nasty = world.gang(), world.nasty
    env = tuple((f"NASTY_{number}", text) for number, text in enumerate(nasty))
    hostile = world.gang(nasty, env=env, name=nasty[0], user=nasty[8], facts={"job_name": nasty[0], "fs_uri": nasty[2]})
    plain, seen = await world.run(harmless), await world.run(hostile)
    assert seen.pop("script") == plain.pop("script").replace(harmless.job, hostile.job).replace(
        f"/jobs/{harmless.job[1:3]}/", f"/jobs/{hostile.job[1:3]}/"
    )
    assert seen == plain
    assert world.words(hostile) == list(nasty)
    given = world.env(hostile)
    assert [given[name] for name, _ in env] == list(nasty)
    assert given["PAI_JOB_NAME"] == nasty[0]


async def test_every_name_a_job_may_have_is_no_option(world: World) -> None:
    """Each hostile text as name of the job, of its owner and of its framework's options: nothing of it reaches the
    script.
    """
    first, *others = (world.gang(name=text, user=text, options={text: text}) for text in world.nasty)
    expected = world.engine.prepare(first).document["script"].replace(first.job, "JOB")
    for other in others:
        script = world.engine.prepare(other).document["script"].replace(other.job, "JOB")
        assert script.replace(f"/jobs/{other.job[1:3]}/", "/") == expected.replace(f"/jobs/{first.job[1:3]}/", "/")


@pytest.mark.parametrize("name", ["-p", "--uid", "..", "a.b~c-d"])
async def test_names_of_roles_as_far_as_a_job_may_have_them(world: World, name: str) -> None:
    story = world.gang()
    story = replace(story, roles=tuple(replace(role, name=name) for role in story.roles))
    await world.run(story)
    assert world.env(story)["PAI_TASK_ROLE_LIST"] == name


async def test_paths_with_everything_in_them(world: World) -> None:
    folder = world.data / "in" / "$(touch canary) `x` '\"; %j\n#SBATCH -p urgent"
    folder.mkdir(parents=True)
    (folder / "here").write_text("found\n")
    story = world.gang(mounts=(Mount(str(folder), "/dataset"),))
    text = (
        'cat "$TRAINMASTER_DATASET_DIR/here" > "$TRAINMASTER_OUTPUT_DIR/words"; env -0 > "$TRAINMASTER_OUTPUT_DIR/env"'
    )
    story = replace(story, commands=(RoleCommand(argv=("/bin/sh", "-c", text)),))
    await world.run(story)
    assert world.env(story)["TRAINMASTER_DATASET_DIR"] == str(folder)
    assert (Path(world.layout.outputs(story.job)) / "words").read_text() == "found\n"


async def test_places_that_look_like_options_are_refused_or_not_passed_on(world: World) -> None:
    before = world.bed.ask("squeue", "-h", "-t", "all", "-o", "%A")
    for text in world.nasty:
        if not text:
            continue  # no pool named: the cluster's own
        with pytest.raises(LaunchRefused):
            await world.engine.launch(world.gang(asked=Asked(text)))
        for setting in ("account", "qos", "reservation"):
            with pytest.raises(ValueError, match="not a name"):
                world.made(**{setting: text}).prepare(world.gang())
        with pytest.raises(ValueError, match="not a name"):
            world.made(features=(text,)).prepare(world.gang())
    assert world.bed.ask("squeue", "-h", "-t", "all", "-o", "%A") == before
    plain = world.gang(asked=Asked("batch"))
    chosen = replace(plain, asked=Asked("batch", nodes=("n1", *world.nasty)))
    lines = set(world.engine.prepare(chosen).document["script"].splitlines())
    assert lines - set(world.engine.prepare(plain).document["script"].splitlines()) == {"#SBATCH --exclude=n[2-4]"}


async def test_a_data_folder_with_a_word_of_a_shell_is_refused(world: World) -> None:
    world.layout = Layout("/nowhere", str(world.data / "$(touch canary)"))
    with pytest.raises(Unavailable, match="a character that is special to Slurm"):
        await world.made().start(world.watcher.sink)


async def test_what_no_program_can_be_given_is_refused_and_not_cut(world: World) -> None:
    """A NUL ends a word of a program. Both are under way at once: that nothing began is known after a while only."""
    stories = (world.gang(("a\0b",)), world.gang(env=(("A", "b\0c"),)))
    for story in stories:
        await world.engine.launch(story)
    for story in stories:
        at = key(story)
        await world.watcher.until(
            lambda at=at: bool(world.watcher.of(at)) or len(world.watcher.queue(at)) > 1,  # type: ignore[misc]
            "it is told",
        )
        assert not (Path(world.layout.outputs(story.job)) / "words").exists()
        await world.engine.reap(at, 0.0)


async def test_others_cannot_forge_a_line_of_the_queue(world: World) -> None:
    """Whoever may use the cluster may call a job what they like, also as one of ours is called."""
    ours, theirs = key(world.gang()), key(world.gang())
    line = f"tm-{theirs}|999999|RUNNING|0|0|0|1|batch|n1||None"
    for name in (f"x\n{line}", line, f"x|{line}", f"tm-{ours}"):
        options = (f"--job-name={name}", f"--comment={name}", "--output=/dev/null", "--begin=now+1hour")
        number = int(world.bed.ask("sbatch", "--parsable", *options, given="#!/bin/sh\nsleep 60\n"))
    try:
        found = await world.engine.queue.look({ours: (ours, (JobId(number),)), theirs: (theirs, (JobId(999_999),))})
        assert [line.state.standing for line in found[ours]] == ["pending"]
        assert found[theirs] == ()
        assert [line.id.number for line in await world.engine.queue.find_named(ours)] == [number]
        assert await world.engine.queue.find_named(ours, "nobody") == ()
        assert await world.engine.queue.find_named(theirs) == ()
    finally:
        world.bed.ask("scancel", "--user=root")


def test_what_the_api_lets_in(served: Served, tmp_path: Path) -> None:
    served.view()  # it is up
    canary = tmp_path / "canary"
    nasty = [text.format(canary=canary) for text in NASTY]
    for text in [*nasty, "a\0b"]:
        for field in ("name", "pool", "virtual_cluster", "workspace", "slug"):
            if not re.fullmatch({"name": NAME, "slug": SLUG}.get(field, "(?!)"), text):  # else a name like any other
                assert refused(served, field, text), (field, text)
    for field, value in (("env", {"A": "b\0c"}), ("env", {"A=B": "c"}), ("env", {"A\n": "c"}), ("nodes", ["-w n1"])):
        assert refused(served, field, value), (field, value)

    for text in nasty:
        if CONTROL & set(text):
            assert refused(served, "env", {"A": text}), text
    nasty = [text for text in nasty if not CONTROL & set(text)]
    document = job("--wrap", "")
    document["env"] = {f"NASTY_{number}": text for number, text in enumerate(nasty)}
    document["roles"][0] |= {"name": "--uid", "command": ["/bin/sh", "-c", SAY, "sh", *nasty]}
    document["roles"][0]["parameters"] = {"p": LINE}
    made = served.submit(document, "hostile")
    view = served.ended(made)
    assert view["state"] == "succeeded", view
    outputs = Path(served.layout.outputs(made))
    assert (outputs / "words").read_bytes().decode().split("\0")[:-1] == [*nasty, f"--p={LINE}"]
    given = dict(entry.split("=", 1) for entry in (outputs / "env").read_bytes().decode().split("\0")[:-1])
    assert [given[f"NASTY_{number}"] for number in range(len(nasty))] == nasty
    assert (given["PAI_JOB_NAME"], given["PAI_TASK_ROLE_LIST"]) == ("--wrap", "--uid")
    told = served.bed.ask("scontrol", "show", "job", served.number(made))
    assert f"JobName=tm-{made}-1" in told
    assert "Partition=batch" in told
    assert "forged" not in told
    assert not canary.exists()


def refused(served: Served, field: str, value: Any) -> bool:
    """Return whether the API refuses a job with this."""
    document = {**job("plain", "true"), field: value}
    return bool(served.asking.once("POST", "/jobs", {"spec": document}).status_code == 422)
