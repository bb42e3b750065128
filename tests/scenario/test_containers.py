"""Container images (R25, R26, R68, R69): pulled by a real Podman from a registry with a password, shown by the sandbox
in place of the system's files.
"""

import asyncio
import contextlib
import os
import signal
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from tests.fixtures.contained import ANN, PATIENCE_S, SECRET, ImageSource, ended, entered, image_source, made, wanted
from tests.fixtures.images import stored_image
from tests.fixtures.registry import PASSWORD, USER, entry, small_system
from tests.scenario.stage import ADMIN, Stage, spec
from trainmaster.core.errors import Conflict, InvalidSpec
from trainmaster.service.environments.definition import REFERENCE, REQUIREMENTS, Definition
from trainmaster.service.use_cases.assets.images import WantedImage
from trainmaster.store.assets.versions import AssetKind


@pytest.fixture(scope="module")
def world() -> Iterator[ImageSource]:
    with image_source() as found:
        yield found


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


def on(world: ImageSource, home: Path, **local: Any) -> Stage:
    """Return a platform whose machine has the runtime."""
    return Stage(home, {"local": {"containers": world.podman.socket, **local}})


async def begun(stage: Stage, text: str, image: str = "tiny", **fields: Any) -> str:
    view, _ = await stage.platform.submit({"spec": spec("contained", text, image=image, **fields)}, ANN, None)
    return view.id


async def ran(stage: Stage, text: str, image: str = "tiny", **fields: Any) -> tuple[str, list[str]]:
    job = await begun(stage, text, image, **fields)
    view = await stage.ended(job)
    return view.state, stage.log(job).splitlines()


LOOK: Final = (
    "cat /etc/image-mark; ls -d /usr /home/* 2>/dev/null; "
    "echo $OF_IMAGE [$CUDA_VISIBLE_DEVICES] $TRAINMASTER_JOB; id -u; "
    "touch /opt/x /etc/x /bin/x 2>/dev/null || echo sealed; touch /tmp/x /workspace/x && echo writes; "
    "echo kept > /workspace/outputs/out; cat /etc/hosts >/dev/null && echo hosts; pwd"
)


async def test_a_job_runs_on_the_files_of_its_image(world: ImageSource, home: Path) -> None:
    """R25, R68, R69: pulled once with the secret's password, pinned, recorded by version; the host is not seen."""
    async with on(world, home) as stage:
        build = await made(stage, wanted(world))
        image = await stage.platform.images.detail("tiny", ANN)
        pinned = world.reference(which=f"@{world.digest}")
        assert (image.kind, image.container, image.lock, image.built) == ("container", pinned, pinned, True)
        assert (image.versions[0].digest, image.files[0].text) == (world.digest, world.reference())
        assert PASSWORD not in repr((build, image))
        assert world.podman.has() == ([], []), "the runtime keeps nothing"
        job = await begun(stage, LOOK, resources={"gpu": 1})
        assert (await stage.ended(job)).state == "succeeded", stage.log(job)
        cards = stage.log(job).splitlines()[1]
        assert stage.log(job).splitlines() == [
            "of the image", cards, str(os.getuid()), "sealed", "writes", "hosts", "/workspace",
        ]  # fmt: skip
        assert cards in (f"yes [0] {job}", f"yes [1] {job}")
        assert stage.output(job, "out").read_text() == "kept\n"
        assert (await stage.view(job)).spec["image"] == "tiny@1"
        facts = dict((await stage.platform.context.engines.first.nodes())[0].facts)
        assert facts["containers"].startswith("Podman ")


async def test_hooks_are_run_by_the_shell_of_the_image(world: ImageSource, home: Path) -> None:
    """R53: among its files, as its command is."""
    async with on(world, home) as stage:
        await made(stage, wanted(world))
        hooks = {"before": ["sh", "-c", "cat /etc/image-mark > /tmp/mark"], "after": "cat /tmp/mark"}
        state, lines = await ran(stage, "echo $(cat /tmp/mark) is read", hooks=hooks)
        assert (state, lines[1:3]) == ("succeeded", ["[hooks.before] exit 0", "of the image is read"])
        assert lines[3:] == ["[hooks.after] cat /tmp/mark", "of the image", "[hooks.after] exit 0"]


async def test_codes_logs_and_ends_are_as_of_any_task(world: ImageSource, home: Path) -> None:
    """An exit code, lines in their order, a stop with grace, and more memory than was asked for."""
    async with on(world, home) as stage:
        await made(stage, wanted(world))
        lines = "for i in $(seq 200); do echo out $i; echo err $i >&2; done; exit 3"
        job = await begun(stage, lines)
        view = await stage.ended(job)
        assert (view.state, view.attempt_list[0].tasks[0].exit_code) == ("failed", 3)
        assert stage.log(job).splitlines() == [f"{way} {i}" for i in range(1, 201) for way in ("out", "err")]
        job = await begun(stage, "trap 'echo asked; exit 0' TERM; echo up; while true; do sleep 0.1; done")
        await stage.running(job, "up")
        await stage.platform.stop(job, ADMIN)
        await stage.ended(job)
        assert "asked" in stage.log(job).splitlines()
        job = await begun(stage, "trap '' TERM; echo up; while true; do sleep 0.1; done", grace=1)
        await stage.running(job, "up")
        await stage.platform.stop(job, ADMIN)
        assert (await stage.ended(job)).state == "stopped"
        job = await begun(stage, "head -c 600000000 /dev/zero | tail >/dev/null", resources={"memory": 64})
        verdict = (await stage.ended(job)).verdict
        assert verdict is not None
        assert verdict.code == "out_of_memory"
        job = await begun(stage, "exec no-such-program")
        assert (await stage.ended(job)).state == "failed"


async def test_who_has_no_password_gets_nothing(world: ImageSource, home: Path) -> None:
    """Not even of what is here already: the registry is asked by whoever makes an image of it."""
    async with on(world, home) as stage:
        await made(stage, wanted(world))
        for which in (":latest", f"@{world.digest}"):
            build = await stage.platform.images.create(ANN, wanted(world, which=which, secret=""))
            build = await ended(stage, build)
            assert (build.state, build.version) == ("failed", None)
            assert build.error is not None
            assert "refuses" in build.error.en
        await stage.platform.secrets.put("default", "WRONG", f"{USER}:not-this-one", ADMIN)
        build = await ended(stage, await stage.platform.images.create(ANN, wanted(world, secret="WRONG")))
        assert build.state == "failed"
        assert "not-this-one" not in repr(build)
        for missing in (":none", f"@sha256:{'0' * 64}"):
            build = await ended(stage, await stage.platform.images.create(ANN, wanted(world, which=missing)))
            assert build.error is not None
            assert "has no" in build.error.en
        assert world.podman.has() == ([], [])


@pytest.mark.parametrize(
    "text", ["-rm", "a b", "https://x/y", "user:word@x.org/y", "x.org/Y", "x.org/y@sha256:12", "../y", "x.org/y:", ""]
)
async def test_what_is_no_reference_is_refused_before_anything_is_asked(
    world: ImageSource, home: Path, text: str
) -> None:
    async with on(world, home) as stage:
        before = len(world.registry.asked)
        with pytest.raises(InvalidSpec) as why:
            await stage.platform.images.create(ANN, WantedImage("x", Definition({REFERENCE: text})))
        assert [one.path for one in why.value.problems] == ["container"]
        both = Definition({REFERENCE: "x.org/y", REQUIREMENTS: "six\n"})
        with pytest.raises(InvalidSpec):
            await stage.platform.images.create(ANN, WantedImage("x", both))
        assert len(world.registry.asked) == before


async def test_a_hostile_image_reaches_nothing(world: ImageSource, home: Path, tmp_path: Path) -> None:
    """Links out of it, devices, set-uid programs, an /etc that lies, and folders of the platform's are all harmless."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_text("s3cret")
    extra = [
        (entry("data", tarfile.SYMTYPE, link=f"/oldroot{outside}"), b""),
        (entry("way", tarfile.SYMTYPE, link=str(outside)), b""),
        (entry("opt/way", tarfile.SYMTYPE, link="../../../../../../tmp"), b""),
        (entry("opt/disk", tarfile.CHRTYPE, mode=0o666), b""),
        (entry("opt/root", mode=0o6755), b"#!/bin/sh\nid -u\n"),
        (entry("etc/resolv.conf", tarfile.SYMTYPE, link=str(outside / "secret")), b""),
        (entry("trainmaster/metrics", tarfile.SYMTYPE, link=str(outside)), b""),
        (entry("workspace", tarfile.SYMTYPE, link=str(outside)), b""),
        (entry("code", tarfile.SYMTYPE, link=str(outside)), b""),
    ]
    world.registry.put("team/hostile", small_system(extra), {"Env": ["LD_PRELOAD=/x", "A\nB=1", "PATH=/bin"]})
    async with on(world, home, mount_roots=[str(outside)]) as stage:
        await made(stage, wanted(world, "hostile"))
        root = next(Path(stage.platform.layout.environments).glob("container-*/root"))
        found = [one for one in root.rglob("*") if not one.is_symlink()]
        assert [one for one in found if one.lstat().st_mode & 0o7000 or not (one.is_file() or one.is_dir())] == []
        look = (
            "cat /way/secret /data/secret /opt/way/secret /opt/disk; cat /etc/resolv.conf >/dev/null && echo; ls /code"
        )
        state, lines = await ran(stage, f"{look}; true", "hostile")
        assert state == "succeeded", lines
        assert "s3cret" not in "".join(lines)
        for target in ("/data/x", "/way", "/opt/new", "/home/../data/y", "/opt/root"):
            with contextlib.suppress(InvalidSpec):
                job = await begun(
                    stage, "true", "hostile", inputs=[{"name": "in", "path": str(outside), "mount": target}]
                )
                view = await stage.ended(job)
                assert view.state == "failed", target
                assert view.verdict is not None
                assert view.verdict.code == "mount_hides", target
        for target in ("/workspace/in", "/new", "/home"):
            state, lines = await ran(
                stage, f"cat {target}/secret", "hostile", inputs=[{"name": "in", "path": str(outside), "mount": target}]
            )
            assert (state, lines[-1]) == ("succeeded", "s3cret"), target
    assert sorted(os.listdir(outside)) == ["secret"]


@pytest.mark.parametrize("name", ["../../outside", "opt/../../outside", "opt/link/inside"])
async def test_an_archive_that_leaves_its_folder_is_refused(tmp_path: Path, name: str) -> None:
    """A runtime would not send one; ours is not the place to rely on that."""
    import io

    from trainmaster.agent.containers.unpacking import NotUnpacked, Unpacker

    (tmp_path / "root").mkdir()
    (tmp_path / "elsewhere").mkdir()
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as tar:
        tar.addfile(entry("opt/link", tarfile.SYMTYPE, link=str(tmp_path / "elsewhere")))
        tar.addfile(entry(name, size=1), io.BytesIO(b"x"))
    made.seek(0)
    with pytest.raises(NotUnpacked):
        Unpacker(str(tmp_path / "root"), 1 << 20).run(made)
    assert sorted(os.listdir(tmp_path)) == ["elsewhere", "root"]
    assert os.listdir(tmp_path / "elsewhere") == []


async def test_who_enters_a_contained_task_is_in_its_files(world: ImageSource, home: Path) -> None:
    """While it runs, and while it is kept after its end."""
    async with on(world, home) as stage:
        await made(stage, wanted(world))
        job = await begun(stage, "echo up; touch /tmp/mine; sleep 0.2; exit 3", debug_hold=600)
        await stage.state(job, "retained")
        assert await entered(stage, job) == b"of the image\nyes\n/tmp/mine\n"
        await stage.platform.release(job, ADMIN)
        await stage.ended(job)
        job = await begun(stage, "touch /tmp/mine; echo up; sleep 600")
        await stage.running(job, "up")
        assert await entered(stage, job) == b"of the image\nyes\n/tmp/mine\n"


async def test_a_killed_agent_harms_no_contained_task(world: ImageSource, home: Path) -> None:
    """It goes on, is found again, and ran once."""
    async with on(world, home) as stage:
        await made(stage, wanted(world))
        text = "echo once; while [ ! -e /workspace/outputs/go ]; do sleep 0.05; done; echo end; exit 3"
        job = await begun(stage, text)
        await stage.running(job, "once")
        pid = int((home / "run" / "agent.pid").read_text())
        os.kill(pid, signal.SIGKILL)
        stage.output(job, "go").touch()
        view = await stage.ended(job)
        assert (view.state, len(view.attempt_list)) == ("failed", 1)
        assert stage.log(job).splitlines() == ["once", "end"]
        assert world.podman.has() == ([], [])


async def test_what_was_removed_to_make_room_is_fetched_again(world: ImageSource, home: Path) -> None:
    """As it was, by its digest, even when the tag means another by now; a backup holds none of it."""
    async with on(world, home) as stage:
        await made(stage, wanted(world))
        images = stage.platform.context.images
        await images.keeper._remove(next(iter(images.keeper._kept)))
        assert not (await stage.platform.images.detail("tiny", ANN)).built
        assert await ran(stage, "cat /etc/image-mark") == ("succeeded", ["of the image"])
        assert (await stage.platform.images.detail("tiny", ANN)).built
        assert world.podman.has() == ([], [])


async def test_a_stopped_build_leaves_nothing_at_the_runtime(world: ImageSource, home: Path) -> None:
    big = [(entry("opt/big"), b"\0" * (24 << 20))]
    world.registry.put("team/big", small_system(big))
    async with on(world, home) as stage:
        await stage.platform.secrets.put("default", SECRET, f"{USER}:{PASSWORD}", ADMIN)
        build = await stage.platform.images.create(ANN, wanted(world, "big"))
        async with asyncio.timeout(PATIENCE_S):
            while build.state != "unpacking" and build.ended_at is None:
                await asyncio.sleep(0.01)
                build = await stage.platform.images.build(build.id, ANN)
        with contextlib.suppress(Exception):
            await stage.platform.images.stop_build(build.id, ANN)
        assert world.podman.has() == ([], [])
        assert os.listdir(os.path.join(stage.platform.layout.environments, ".building")) == []


async def test_what_an_offered_image_cannot_have_is_said_before_it_is_pulled(world: ImageSource, home: Path) -> None:
    """R141: the secret of its registry is its workspace's own."""
    async with on(world, home) as stage:
        platform = stage.platform
        await platform.secrets.put("default", SECRET, f"{USER}:{PASSWORD}", ADMIN)
        await platform.subscribing.offer(AssetKind.IMAGE, stored_image(platform, "ann", "tiny"), "*", ANN)
        with pytest.raises(Conflict) as why:
            await platform.images.create(ANN, wanted(world))
        assert why.value.said.code == "offered_image_needs_secret"
        assert (await platform.images.builds(ANN)).items == []


async def test_where_there_is_no_runtime_that_is_said_at_once(world: ImageSource, home: Path) -> None:
    """On the node's page, to who makes an image, and to who submits with one that was made before."""
    async with on(world, home) as stage:
        await made(stage, wanted(world))
    for socket, word in (("", "configured"), (str(home / "none.sock"), "does not answer")):
        async with Stage(home, {"local": {"containers": socket}}) as stage:
            with pytest.raises(InvalidSpec) as why:
                await stage.platform.images.create(ANN, wanted(world, "other"))
            assert word in why.value.problems[0].rule
            builds = await stage.platform.images.builds(ANN)
            assert builds.no_containers is not None
            assert word in builds.no_containers.en
            facts = dict((await stage.platform.context.engines.first.nodes())[0].facts)
            assert facts["containers"].startswith("none: ")
            with pytest.raises(InvalidSpec) as why:
                await begun(stage, "true")
            assert [one.path for one in why.value.problems] == ["image"]
            assert word in why.value.problems[0].rule
