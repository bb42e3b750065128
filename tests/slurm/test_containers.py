"""Container images on a real cluster (R25, R26, R54): fetched by the server's Podman, read from the shared folder,
shown on the nodes by their sandbox. The Slurm pool is the only one that can have them.
"""

import json
import os
import shutil
import tarfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.fixtures.contained import ANN, ImageSource, entered, image_source, made, wanted
from tests.fixtures.pythons import OLD
from tests.fixtures.registry import entry, small_system
from tests.scenario.stage import ADMIN, Stage, spec
from tests.slurm.bed import Bed, started
from trainmaster.answers import JobDetail
from trainmaster.core.config import Config, LocalConfig
from trainmaster.core.errors import InvalidSpec
from trainmaster.core.folders.layout import Layout
from trainmaster.engines.slurm.engine import SlurmEngine
from trainmaster.engines.slurm.settings import SlurmEngineConfig


class UnlikeBed(Bed):
    """A cluster of two nodes: n1 has a driver of GPUs, which this machine has not, n2 no bubblewrap."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, nodes=2)

    def start_node(self, name: str, *within: str) -> None:
        """Start it among files of its own."""
        own = self.folder / f"lib64-{name}"
        shutil.copytree("/usr/lib64", own, symlinks=True)
        (own / "libcuda.so.1").write_text(f"driver of {name}")
        mounts = {"n1": f"mount --bind {own} /usr/lib64", "n2": f"mount --bind /dev/null {shutil.which('bwrap')}"}
        super().start_node(name, "unshare", "--mount", "sh", "-c", f'{mounts[name]} && exec "$@"', "sh", *within)


@pytest.fixture(scope="module")
def source() -> Iterator[ImageSource]:
    with image_source() as found:
        yield found


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@asynccontextmanager
async def on(bed: Bed, home: Path, socket: str, **own: Any) -> AsyncIterator[Stage]:
    """A server that has nothing but the cluster; `own`: settings of its engine."""
    roots = own.pop("roots", [])
    settings = {"sandbox": "bubblewrap", "python": OLD or "/usr/bin/python3", "partitions": {"default": "batch"}, **own}

    def engine() -> SlurmEngine:
        config = Config(local=LocalConfig(containers=socket))
        return SlurmEngine("slurm", SlurmEngineConfig(conf=bed.conf, **settings), Layout(str(home)), config)

    async with Stage(home, {"local": {"containers": socket, "mount_roots": roots}}, engine) as stage:
        yield stage


async def begun(stage: Stage, text: str, **fields: Any) -> str:
    view, _ = await stage.platform.submit({"spec": spec("contained", text, **{"image": "tiny", **fields})}, ANN, None)
    return view.id


LOOK = (
    "cat /etc/image-mark; ls -d /usr /home/* 2>/dev/null; echo $OF_IMAGE; cat /tmp/mark; touch /tmp/mine; "
    "touch /opt/x 2>/dev/null || echo sealed; cat /job/hostfile; cat /etc/hosts >/dev/null && echo hosts; id -un; "
    "while [ ! -e $TRAINMASTER_OUTPUT_DIR/go ]; do sleep 0.1; done"
)


def looked(stage: Stage, index: int, view: JobDetail) -> bool:
    return "hosts" in stage.log(view.id, index=index)


async def test_replicas_on_two_nodes_run_on_the_files_of_their_image(bed: Bed, home: Path, source: ImageSource) -> None:
    """R25, R26, R54: with its hooks, its hostfile, and who enters one."""
    async with on(bed, home, source.podman.socket) as stage:
        await made(stage, wanted(source))
        assert source.podman.has() == ([], []), "the runtime keeps nothing"
        hooks = {"before": ["sh", "-c", "cat /etc/image-mark > /tmp/mark"], "after": "cat /tmp/mark"}
        two = {"replicas": 2, "resources": {"cpu": 3}, "framework": "deepspeed", "hooks": hooks}
        job = await begun(stage, LOOK, **two)
        view = await stage.running(job)
        nodes = [task.node for task in view.attempt_list[0].tasks]
        assert len(set(nodes)) == 2
        for index in range(2):
            await stage.until(job, partial(looked, stage, index), "the look around")
            assert await entered(stage, job, f"main-{index}") == b"of the image\nyes\n/tmp/mine\n"
        stage.output(job, "go").touch()
        assert (await stage.ended(job)).state == "succeeded", stage.log(job)
        for index in range(2):
            lines = stage.log(job, index=index).splitlines()
            assert lines[1:6] == ["[hooks.before] exit 0", "of the image", "yes", "of the image", "sealed"]
            assert lines[6:9] == [*(f"127.0.0.{node[1:]} slots=1" for node in nodes), "hosts"]
            assert lines[-2:] == ["of the image", "[hooks.after] exit 0"]
        assert (await stage.view(job)).spec["image"] == "tiny@1"


async def test_what_a_job_that_waits_in_slurm_needs_is_not_removed(bed: Bed, home: Path, source: ImageSource) -> None:
    """R54: for days, if need be, and whatever the budget says; once the job has ended it goes."""
    async with on(bed, home, source.podman.socket) as stage:
        await made(stage, wanted(source))
        keeper = stage.platform.context.images.keeper
        (key,) = keeper._kept
        bed.ask("scontrol", "update", "PartitionName=batch", "State=DOWN")
        try:
            job = await begun(stage, "cat /etc/image-mark")
            await stage.until(job, lambda view: view.state == "pending", "it is Slurm's")
            keeper._budget = 1
            stage.let_pass(5 * 24 * 3600.0)
            await keeper.make_room()
            assert keeper.is_there(key)
        finally:
            bed.ask("scontrol", "update", "PartitionName=batch", "State=UP")
        assert (await stage.ended(job)).state == "succeeded", stage.log(job)
        stage.let_pass(1.0)
        await keeper.make_room()
        assert not keeper.is_there(key)


async def test_what_cannot_be_shown_on_a_node_ends_the_job_with_the_reason(
    bed: Bed, home: Path, source: ImageSource
) -> None:
    """R25: a mount behind a link of the image's, and an image for other processors than the node's."""
    extra = [(entry("way", tarfile.SYMTYPE, link="/opt"), b"")]
    source.registry.put("team/linked", small_system(extra), {"Env": ["PATH=/bin"]})
    (home.parent / "in").mkdir()
    async with on(bed, home, source.podman.socket, roots=[str(home.parent)]) as stage:
        await made(stage, wanted(source, "linked"))
        inputs = [{"name": "in", "path": str(home.parent / "in"), "mount": "/way"}]
        view = await stage.ended(await begun(stage, "true", image="linked", inputs=inputs))
        assert view.verdict is not None
        assert (view.verdict.code, len(view.attempt_list)) == ("mount_hides", 1)
        for config in Path(stage.platform.layout.environments).glob("container-*/config.json"):
            config.write_text(json.dumps({**json.loads(config.read_text()), "machine": "riscv64"}))
        view = await stage.ended(await begun(stage, "true", image="linked"))
        assert view.verdict is not None
        assert (view.state, view.verdict.code) == ("failed", "bad_node")
        assert f"for riscv64 processors, and n1 has {os.uname().machine}" in view.verdict.message.en, view.verdict


async def test_each_node_shows_what_it_has(home: Path, source: ImageSource) -> None:
    """R25, R26: the driver of its GPUs; where it has no bubblewrap it says so, and nothing hangs: with sandboxes "auto"
    only the node knows. A job without an image runs there.
    """
    with started(UnlikeBed) as unlike:
        async with on(unlike, home, source.podman.socket, sandbox="auto") as stage:
            await made(stage, wanted(source))
            look = "cat /trainmaster/driver/libcuda.so.1; echo; echo $LD_LIBRARY_PATH [$CUDA_VISIBLE_DEVICES]"
            job = await begun(stage, look, nodes=["n1"], resources={"gpu": 1})
            assert (await stage.ended(job)).state == "succeeded", stage.log(job)
            assert stage.log(job).splitlines() == ["driver of n1", "/trainmaster/driver [0]"]
            view = await stage.ended(await begun(stage, "true", nodes=["n2"]))
            assert view.verdict is not None
            assert (view.state, view.verdict.code) == ("failed", "bad_node")
            for word in ("the sandbox that would show its files does not work on n2", "bubblewrap is not installed"):
                assert word in view.verdict.message.en, view.verdict
            view = await stage.ended(await begun(stage, "true", nodes=["n2"], image="default"))
            assert view.state == "succeeded", view.verdict


@pytest.mark.parametrize(
    ("socket", "own", "word"),
    [
        ("there", {"sandbox": "none"}, "the sandbox, which is turned off on this cluster"),
        ("there", {"scratch": "/tmp/tm-none"}, "do not share the platform's data folder"),
        ("", {}, "No container runtime is configured here"),
        ("gone", {}, "does not answer"),
    ],
)
async def test_what_a_site_lacks_is_said_before_the_submit(
    bed: Bed, home: Path, source: ImageSource, socket: str, own: dict[str, Any], word: str
) -> None:
    """R26, R54: in the form and on the page of nodes, in the preview, at the submit, and to who makes an image."""
    async with on(bed, home, source.podman.socket) as stage:
        await made(stage, wanted(source))
    at = {"there": source.podman.socket, "gone": str(home / "none.sock")}.get(socket, "")
    async with on(bed, home, at, **own) as stage:
        (engine,) = (await stage.platform.resources.engines(ADMIN)).items
        assert engine.can.no_containers is not None
        assert word in engine.can.no_containers.en
        facts = dict((await stage.platform.context.engines.first.nodes())[0].facts)
        assert facts["containers"].startswith("none: ")
        assert word in facts["containers"]
        shown = await stage.platform.preview({"spec": spec("contained", "true", image="tiny")}, ANN)
        assert [one.path for one in shown.problems] == ["image"]
        with pytest.raises(InvalidSpec) as why:
            await begun(stage, "true")
        (problem,) = why.value.problems
        assert problem.path == "image"
        assert ("environment of an image" if own.get("scratch") else word) in problem.rule
        assert problem.remedy
        with pytest.raises(InvalidSpec) as why:
            await stage.platform.images.create(ANN, wanted(source, "other"))
        assert word in why.value.problems[0].rule
