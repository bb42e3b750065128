"""Jobs run as the system user of whoever submitted them: real users, a server that is none of them, and the sudo rule
of the guide.
"""

import asyncio
import grp
import io
import os
import shlex
import shutil
import sys
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import trainmaster
from tests.contract.engine.test_entering import said, until
from tests.fixtures.gangs import gang, key
from tests.fixtures.registry import entry, small_system
from tests.fixtures.watcher import Watcher
from tests.slurm.bed import Bed
from tests.slurm.persons import Persons
from tests.slurm.world import new_home
from trainmaster.agent.containers.unpacking import Unpacker, settle
from trainmaster.core.config import Config
from trainmaster.core.errors import Unavailable
from trainmaster.core.folders.layout import Layout
from trainmaster.core.launch import Asked, Gang, Mount
from trainmaster.engines.base import LaunchRefused, Window
from trainmaster.engines.slurm import engine as engines
from trainmaster.engines.slurm.attempts import people, submitting
from trainmaster.engines.slurm.attempts.delivery import deliver
from trainmaster.engines.slurm.client import commands
from trainmaster.engines.slurm.engine import SlurmEngine
from trainmaster.engines.slurm.settings import SlurmEngineConfig
from trainmaster.messages import render
from trainmaster.storage.safe import open_regular
from trainmaster.storage.trees import list_files, remove_tree

TRACES = """
id -un; echo "out of reach: $(cat {secret} 2>&1)"
cd $TRAINMASTER_OUTPUT_DIR; echo plain > plain; ln -s {secret} link
mkdir -m 700 shut; echo in > shut/in; chmod 600 shut/in
mkdir -m 700 $TMPDIR/scratch; touch $TMPDIR/scratch/left; mkdir -m 500 read-only
"""


@pytest.fixture(scope="module")
def persons() -> Iterator[Persons]:
    made = Persons()
    try:
        made.make()
        yield made
    finally:
        made.remove()


class World:
    """A cluster, a data folder that belongs to the server's user, and engines of that user."""

    def __init__(self, bed: Bed, persons: Persons, data: Path) -> None:
        self.bed, self.persons, self.data = bed, persons, data
        self.layout = Layout("", str(data))
        self.watcher = Watcher()
        self.engines: list[SlurmEngine] = []

    def made(self, **more: Any) -> SlurmEngine:
        users = {"Ada Lovelace": self.persons.ada, "root": "root", "boss": "root", "self": self.persons.server}
        own = {
            "conf": self.bed.conf,
            "sandbox": "none",
            "partitions": {"default": "batch"},
            "run_as": "owner",
            "users": users,
        }
        layout = replace(self.layout, home=self.layout.home or new_home(str(self.data)))
        return SlurmEngine("cluster", SlurmEngineConfig(**{**own, **more}), layout, Config())

    async def engine(self, **more: Any) -> SlurmEngine:
        engine = self.made(**more)
        self.engines.append(engine)
        await engine.start(self.watcher.sink)
        return engine

    def gang(self, text: str, user: str = "Ada Lovelace", limit_s: float | None = 600, **more: Any) -> Gang:
        made = gang(node="").shell("main", 1, text)
        return replace(made.build(), user=user, asked=Asked("default", limit_s, 1.0), **more)

    def show(self, of: Gang) -> dict[str, str]:
        """Return what Slurm's administrator sees of the job."""
        text = self.bed.ask("squeue", "-h", "-t", "all", f"--name=tm-{key(of)}", "-o", "%A|%u|%T|%l")
        return dict(zip(("id", "user", "state", "limit"), text.strip().split("|"), strict=True))

    def running(self, command: str) -> bool:
        """Whether a process has this command line."""
        return self.persons.ask("root", f"pgrep -fx {shlex.quote(command)}")[0] == 0

    def set_partition(self, state: str) -> None:
        command = f"SLURM_CONF={self.bed.conf} scontrol update PartitionName=batch State={state}"
        assert self.persons.ask("root", command)[0] == 0

    def log(self, of: Gang) -> str:
        with os.fdopen(open_regular(self.layout.task(of.job, of.attempt, 0, 0).log), "r") as file:
            return file.read()


@pytest.fixture(scope="module")
def checkout(bed: Bed) -> str:
    """Copy this checkout, which may lie where the server's user cannot read it; return the folder of the package."""
    package = Path(trainmaster.__file__).parent
    shutil.copytree(package, bed.folder / "checkout" / package.name, ignore=shutil.ignore_patterns("__pycache__"))
    return str(bed.folder / "checkout")


@pytest.fixture
async def world(bed: Bed, persons: Persons, checkout: str, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[World]:
    data = bed.folder / f"who-{os.urandom(4).hex()}"
    data.mkdir(mode=0o700)
    for name in ("uploads", "jobs"):
        (data / name).mkdir(mode=0o700)
    package = deliver(str(data))  # by root: the server's user may not be able to read this checkout
    monkeypatch.setattr(engines, "deliver", lambda data: package)
    monkeypatch.setattr(submitting, "CODE", checkout)
    monkeypatch.setattr(sys, "executable", "/usr/bin/python3")  # as the package: the one that runs this may be root's
    for path in (data, *data.iterdir()):
        os.chown(path, persons.number(persons.server), grp.getgrnam(persons.group).gr_gid)
    made = World(bed, persons, data)
    with persons.acting(persons.server):
        yield made
        for engine in made.engines:
            await engine.close()


async def test_a_task_runs_as_its_owner_and_the_server_has_what_it_made(world: World) -> None:
    secret = world.data / "secret"
    secret.touch(0o600)
    secret.write_text("of the server")
    engine = await world.engine()
    story = world.gang(TRACES.format(secret=secret))
    await engine.launch(story)
    (end,) = await world.watcher.end_of(key(story))
    assert end.exit_code == 0, world.log(story)
    first, second = world.log(story).splitlines()[:2]
    assert first == world.persons.ada
    assert second.startswith("out of reach: cat:")
    assert world.show(story)["user"] == world.persons.ada
    await engine.reap(key(story), 1.0)

    outputs = Path(world.layout.outputs(story.job))
    assert [item.name for item in list_files(str(outputs)).items] == ["read-only", "shut", "link", "plain"]
    assert ((outputs / "plain").read_text(), (outputs / "shut" / "in").read_text()) == ("plain\n", "in\n")
    assert (outputs / "plain").stat().st_uid == world.persons.number(world.persons.ada)
    remove_tree(world.layout.job(story.job))
    assert not os.path.exists(world.layout.job(story.job))


async def test_nobody_else_sees_anything_of_it(world: World) -> None:
    engine = await world.engine()
    story = world.gang("echo mine > $TRAINMASTER_OUTPUT_DIR/result; echo up; exec sleep 600")
    await engine.launch(story)
    await world.watcher.running(key(story))
    await world.watcher.until(lambda: world.log(story) == "up\n", "it is up")
    shared, job = world.layout.attempt(story.job, 1), world.layout.job(story.job)
    files = [f"{shared}/step.json", f"{shared}/slurm.log", f"{shared}/facts-0-n1.jsonl", f"{shared}/orders.jsonl"]
    files += [world.layout.task(story.job, 1, 0, 0).log, f"{world.layout.outputs(story.job)}/result"]
    assert all(os.path.exists(path) for path in files if "n1" not in path), os.listdir(shared)
    for path in files:
        code, said = world.persons.ask(world.persons.eve, f"cat {path}")
        assert (code, "Permission denied" in said) == (1, True), said
    for path in (world.data, f"{world.data}/jobs", os.path.dirname(job), job, shared):
        code, said = world.persons.ask(world.persons.eve, f"ls {path}")
        assert (code, "Permission denied" in said) == (2, True), said
    await engine.reap(key(story), 1.0)


async def test_its_owner_cannot_put_anything_in_the_place_of_what_the_server_wrote(world: World) -> None:
    engine = await world.engine()
    story = world.gang("echo up; exec sleep 600")
    await engine.launch(story)
    await world.watcher.running(key(story))
    shared, ask = world.layout.attempt(story.job, 1), world.persons.ask
    task = os.path.dirname(world.layout.task(story.job, 1, 0, 0).log)
    tries = [
        f"mv {shared}/orders.jsonl {shared}/x",
        f"rm -f {shared}/slurm.jsonl",
        f"echo >> {shared}/orders.jsonl",
        f"mv {task} {task}.old",
        f"mv {task}/metrics {task}/m",
        f"cat {shared}/slurm.jsonl",
        f"rmdir {world.layout.outputs(story.job)}",
        f"touch {world.layout.job(story.job)}/x",
        f"echo > {shared}/step.json",
    ]
    for command in tries:
        code, said = ask(world.persons.ada, command)
        assert code != 0, (command, said)
    assert ask(world.persons.ada, f"cat {shared}/step.json {shared}/orders.jsonl")[0] == 0
    assert (
        ask(world.persons.ada, f"ln -s /etc/shadow {shared}/facts-0-n9.jsonl; mkfifo {shared}/facts-0-n8.jsonl")[0] == 0
    )
    forged = f"echo '{{}}' > {shared}/facts-0-n7.jsonl; printf '%100000s\\n' | tr ' ' '[' > {shared}/facts-0-n6.jsonl"
    assert ask(world.persons.ada, forged)[0] == 0
    other = world.gang("echo other", user=world.persons.eve)
    await engine.launch(other)  # traps in one folder stop nobody else
    await world.watcher.end_of(key(other))
    await engine.reap(key(story), 1.0)
    assert world.log(other) == "other\n"


async def test_code_that_was_uploaded_is_read_by_whose_job_it_is(world: World) -> None:
    upload = world.data / "uploads" / ("c" * 64)
    (upload / "sub").mkdir(parents=True, mode=0o700)
    (upload / "run.sh").write_text("#!/bin/sh\ncat $TRAINMASTER_CODE_DIR/sub/data\n")
    (upload / "run.sh").chmod(0o700)
    (upload / "sub" / "data").write_text("data\n")
    (upload / "sub" / "data").chmod(0o600)
    upload.chmod(0o755)  # as an earlier version made them
    engine = await world.engine()
    story = world.gang("./run.sh", mounts=(Mount(str(upload), "/code"),))
    await engine.launch(story)
    await world.watcher.end_of(key(story))
    assert world.log(story) == "data\n"
    assert world.persons.ask(world.persons.eve, f"cat {upload}/sub/data")[0] == 1
    await engine.reap(key(story), 1.0)


async def test_a_limit_is_changed_and_a_job_is_cancelled_as_its_owner(world: World) -> None:
    engine = await world.engine()
    story = world.gang("trap 'echo asked; exit 5' TERM; echo up; while :; do sleep 0.1; done", user=world.persons.ada)
    await engine.launch(story)
    await world.watcher.running(key(story))
    await world.watcher.until(lambda: world.log(story) == "up\n", "it is up")
    assert world.show(story)["limit"] == "13:00"
    assert story.asked is not None
    await engine.adjust(key(story), replace(story.asked, limit_s=240.0))
    assert world.show(story)["limit"] == "7:00"
    other = await world.engine()  # a server that comes later knows whose it is
    (report,) = await other.observe([key(story)])
    assert report.known
    await other.reap(key(story), 10.0)
    assert world.log(story).splitlines()[-1] == "asked"
    assert world.show(story)["state"] in ("CANCELLED", "COMPLETED")


async def test_who_enters_a_task_is_its_owner_there(world: World) -> None:
    secret = world.data / "secret"
    secret.touch(0o600)
    engine = await world.engine()
    story = world.gang("pwd; echo $TRAINMASTER_TASK $COLOUR; exec sleep 600", env=(("COLOUR", "blue"),))
    await engine.launch(story)
    await world.watcher.running(key(story))
    await world.watcher.until(lambda: world.log(story).count("\n") == 2, "it is up")
    text = (
        f"id -un; pwd; echo $TRAINMASTER_TASK $COLOUR; cat {secret}; echo note > $TRAINMASTER_OUTPUT_DIR/note; exit 7"
    )
    out, err, code = await said(await engine.attach(key(story), 0, 0, ("sh", "-c", text), None))
    assert (out.decode(), code) == (f"{world.persons.ada}\n{world.log(story)}", 7), err
    assert err.startswith(b"cat: ")
    assert Path(world.layout.outputs(story.job), "note").stat().st_uid == world.persons.number(world.persons.ada)
    out, err, code = await said(await engine.attach(key(story), 0, 0, ("cat",), None), b"given")
    assert (out, err, code) == (b"given", b"", 0)

    there = await engine.attach(key(story), 0, 0, ("sh",), Window(100, 40))
    await there.write(b"stty size; id -un; echo mar''ked\n")
    assert f"40 100\r\n{world.persons.ada}\r\nmarked" in await until(there, "marked")
    await there.write(b"exit 9\n")
    assert await there.wait() == 9
    await there.close()
    await engine.reap(key(story), 0)


@pytest.mark.parametrize("window", [None, Window(24, 80)], ids=["pipes", "terminal"])
async def test_what_an_owner_has_entered_ends_with_the_connection(world: World, window: Window | None) -> None:
    """sudo is told, and passes it on: what it has started the server may not signal."""
    engine = await world.engine()
    story = world.gang("exec sleep 600")
    await engine.launch(story)
    await world.watcher.running(key(story))
    there = await engine.attach(key(story), 0, 0, ("sh", "-c", "echo in; exec sleep 4321"), window)
    await until(there, "in")
    await world.watcher.until(lambda: world.running("sleep 4321"), "it runs")
    await there.close()
    await world.watcher.until(lambda: not world.running("sleep 4321"), "it ends")
    assert await there.wait() != 0
    assert world.watcher.ended(key(story)) == []
    await engine.reap(key(story), 0)


async def test_nobody_enters_the_task_of_another_owner(world: World) -> None:
    """Slurm refuses; who asks through us is refused before that (tests/unit/api/test_entering)."""
    engine = await world.engine()
    story = world.gang("echo up; exec sleep 600")
    await engine.launch(story)
    await world.watcher.running(key(story))
    step = f"SLURM_CONF={world.bed.conf} srun --jobid={world.show(story)['id']} --overlap --nodes=1 --ntasks=1 id"
    code, words = world.persons.ask(world.persons.eve, step)
    assert (code != 0, "uid=" in words) == (True, False), words
    code, words = world.persons.ask(world.persons.ada, step)
    assert (code, f"({world.persons.ada})" in words) == (0, True), words
    await engine.reap(key(story), 0)


async def test_what_waits_is_cancelled_as_its_owner(world: World) -> None:
    world.set_partition("DOWN")
    try:
        engine = await world.engine()
        mine, hers = world.gang("true"), world.gang("true", user=world.persons.eve)
        for story in (mine, hers):
            await engine.launch(story)
        await world.watcher.until(lambda: all(map(world.watcher.queue, (key(mine), key(hers)))), "both wait")
        await engine.reap(key(mine), 1.0)
        assert (world.show(mine)["state"], world.show(hers)["state"]) == ("CANCELLED", "PENDING")
        assert engine.queue.users == {"", world.persons.ada, world.persons.eve}
        await engine.reap(key(hers), 1.0)
    finally:
        world.set_partition("UP")


async def test_who_has_no_system_user_or_may_not_be_acted_for_is_refused(world: World) -> None:
    engine = await world.engine()
    assert await engine.owner_problem("Ada Lovelace") is None
    assert await engine.owner_problem(world.persons.eve) is None
    refused = {
        "nobody-of-this-name": "no_system_user",
        "#0": "no_system_user",
        "-u": "no_system_user",
        "": "no_system_user",
        f"{world.persons.eve}\n": "no_system_user",
        "root": "forbidden_system_user",
        "boss": "forbidden_system_user",
        "self": "forbidden_system_user",
        world.persons.server: "forbidden_system_user",
        world.persons.zoe: "not_on_behalf",
    }
    for name, code in refused.items():
        found = await engine.owner_problem(name)
        assert found is not None, name
        assert (found.code, found.path) == (code, "pool"), name
        with pytest.raises(LaunchRefused) as error:
            await engine.launch(world.gang("true", user=name))
        assert (error.value.said.code, render.text(error.value.said)) == (code, found.rule)
    told = world.bed.ask("squeue", "-h", "-t", "all", "-o", "%u").split()
    assert not {"root", world.persons.server, world.persons.zoe}.intersection(told)


async def test_nothing_but_slurms_programs_may_be_run_for_others(world: World) -> None:
    """The rule itself: the server's user can do no more than it says."""
    for words in (["-u", world.persons.ada, "--", "id"], ["-u", "root", "--", "sbatch", "--version"], ["id"]):
        process = await asyncio.create_subprocess_exec("sudo", "-n", *words, stderr=asyncio.subprocess.PIPE)
        _, said = await process.communicate()
        assert process.returncode == 1, words
        assert b"password is required" in said or b"not allowed" in said


async def test_what_is_missing_is_named(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(people, "SEARCHED", "/nowhere")
    with pytest.raises(Unavailable, match="without sudo"):
        await world.made().people.check()
    monkeypatch.undo()
    world.layout = Layout(str(world.data))
    with pytest.raises(Unavailable, match=r"without server\.data"):
        await world.made().people.check()
    engine = world.made()
    monkeypatch.setattr(commands, "SEARCHED", "/nowhere")
    with pytest.raises(Unavailable, match="sudo cannot be run"):
        await engine.owner_problem(world.persons.ada)


async def test_as_the_service_user_all_is_as_ever(world: World) -> None:
    engine = await world.engine(run_as="service")
    story = world.gang("id -un", user="nobody-of-this-name")
    assert await engine.owner_problem(story.user) is None
    native = engine.prepare(story)
    assert native.document["user"] == world.persons.server
    assert [warning.code for warning in native.warnings] == ["runs_as_service"]
    await engine.launch(story)
    await world.watcher.end_of(key(story))
    assert world.log(story) == f"{world.persons.server}\n"
    await engine.reap(key(story), 1.0)


async def test_the_files_of_an_image_are_its_owners_to_read_and_nobody_elses(world: World) -> None:
    """R25, R54: also those that only their owner may read in the image; whoever has no job with it finds nothing."""
    image, other = ("container-" + sign * 32 for sign in "ab")
    for name in (image, other):
        root = Path(world.layout.environment(name)) / "root"
        root.mkdir(parents=True, mode=0o700)
        Unpacker(str(root), 1 << 30).run(io.BytesIO(small_system([(entry("opt/own", mode=0o600), b"of root alone\n")])))
        settle(str(root))
        (root.parent / "config.json").write_text('{"env": ["PATH=/bin", "OF_IMAGE=yes"]}')
        os.chmod(root.parent, 0o700)
    engine = await world.engine(sandbox="bubblewrap")
    text = "cat /etc/image-mark /opt/own; echo $OF_IMAGE; id -un; ls -d /usr/sbin; exec sleep 600"
    story = world.gang(text, environment=image)
    await engine.launch(story)
    await world.watcher.running(key(story))
    await world.watcher.until(lambda: "user" in world.log(story), "it looked around")
    assert world.log(story).splitlines()[:4] == ["of the image", "of root alone", "yes", "user"]
    inside = await said(await engine.attach(key(story), 0, 0, ("cat", "/etc/image-mark"), None))
    assert inside == (b"of the image\n", b"", 0)
    mark = f"{world.layout.environment(image)}/root/etc/image-mark"
    assert world.persons.ask(world.persons.ada, f"cat {mark}") == (0, "of the image\n")
    for who, path in (
        (world.persons.eve, mark),
        (world.persons.ada, mark.replace(image, other)),
        (world.persons.ada, world.layout.environments),
    ):
        code, words = world.persons.ask(who, f"ls {path}")
        assert (code, "Permission denied" in words) == (2, True), words
    await engine.reap(key(story), 1.0)


async def test_an_environment_of_packages_is_its_owners_to_read(world: World) -> None:
    """R54: as the files of a container are."""
    folder = Path(world.layout.environment("c" * 32))
    (folder / "bin").mkdir(parents=True, mode=0o700)
    (folder / "bin" / "python").symlink_to("/usr/bin/python3")
    (folder / "pyvenv.cfg").write_text("home = /usr/bin\n")
    (folder / "pyvenv.cfg").chmod(0o600)
    os.chmod(folder, 0o700)
    for sandbox, where in (("bubblewrap", "/trainmaster/environment"), ("none", str(folder))):
        engine = await world.engine(sandbox=sandbox)
        story = world.gang("python -c 'import sys; print(sys.prefix)'", environment="c" * 32)
        await engine.launch(story)
        (end,) = await world.watcher.end_of(key(story))
        assert (end.exit_code, world.log(story)) == (0, f"{where}\n")
        await engine.reap(key(story), 1.0)
    code, words = world.persons.ask(world.persons.eve, f"ls {folder}/bin")
    assert (code, "Permission denied" in words) == (2, True), words
