"""A cluster is looked at before it is added: what it lacks is said in words, with the remedy, and nothing is left
behind.

Each thing that may be missing is missing here once, on a real cluster.
"""

import asyncio
import base64
import contextlib
import json
import shutil
import signal
import stat
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.fixtures.podman import podman
from tests.slurm.bed import Bed, until
from trainmaster.agent.sandbox.sandbox import SYSTEM_PATH
from trainmaster.core.config import EngineConfig
from trainmaster.engines.adding import Check, EngineToAdd
from trainmaster.engines.slurm.checks.examine import ClusterExamination
from trainmaster.engines.slurm.settings import SlurmEngineConfig
from trainmaster.messages.said import Said

PYTHON = "/usr/bin/python3"


@pytest.fixture
def data(bed: Bed, tmp_path: Path) -> Iterator[Path]:
    """Give the cluster a data folder; afterwards nothing is left in it but our package, nor in Slurm's queue."""
    folder = bed.folder / f"data-{tmp_path.name}"
    folder.mkdir()
    yield folder
    assert {path.name for path in folder.iterdir()} <= {"agent"}
    if "slurmctld" in bed.daemons and "munged" in bed.daemons:
        assert bed.ask("squeue", "-h") == ""


def wanted(bed: Bed, data: Path, pools: tuple[str, ...] = ("batch",), **own: Any) -> EngineToAdd:
    settings = SlurmEngineConfig(**{"conf": bed.conf, "python": PYTHON, **own})
    return EngineToAdd(EngineConfig("bed", "slurm", pools, settings=settings), str(bed.folder), str(data))


async def look(what: EngineToAdd) -> dict[str, Check]:
    """Return what was found, by name and partition."""
    return {f"{check.name} {check.where}".strip(): check async for check in ClusterExamination(what).run()}


def bad(found: dict[str, Check]) -> dict[str, str]:
    assert all(check.remedy for check in found.values() if not check.ok and check.name != "probe")
    return {name: check.text for name, check in found.items() if check.bad}


async def test_a_cluster_that_has_everything(bed: Bed, data: Path) -> None:
    found = await look(wanted(bed, data, ("batch", "fast"), partitions={"fast": "urgent"}))
    assert bad(found) == {}
    assert found["partition urgent"].text == "2 of 2 nodes ready, 4 GPUs"
    assert found["shared batch"].text.startswith("n")
    assert found["cards urgent"].text == "1 asked for, 1 received"
    assert found["python batch"].text.startswith("Python 3.")
    assert found["clock batch"].ok


async def test_without_names_all_partitions_are_looked_at(bed: Bed, data: Path) -> None:
    examination = ClusterExamination(wanted(bed, data, ()))
    assert [check.where async for check in examination.run() if check.name == "submit"] == ["batch", "urgent"]
    assert examination.pools == ("batch", "urgent")


async def test_without_slurms_programs(bed: Bed, data: Path, tmp_path: Path) -> None:
    found = await look(wanted(bed, data, programs=str(tmp_path)))
    assert bad(found)["programs"].endswith("sbatch, scancel, scontrol, sinfo, squeue, srun")
    assert list(bad(found)) == ["programs"]
    assert not found["probe"].ok


async def test_another_slurm_conf(bed: Bed, data: Path, tmp_path: Path) -> None:
    found = await look(wanted(bed, data, conf=str(tmp_path / "none.conf")))
    assert bad(found)["conf"] == f"{tmp_path}/none.conf cannot be read: No such file or directory"
    (tmp_path / "empty.conf").write_text("ClusterName=other\n")
    found = await look(wanted(bed, data, conf=str(tmp_path / "empty.conf")))
    assert list(bad(found)) == ["controller"]


async def test_munge_and_controller_that_are_down(bed: Bed, data: Path) -> None:
    bed.kill("munged")
    try:
        assert bad(await look(wanted(bed, data))) == {
            "munge": f"munged does not answer at {bed.folder}/munge/sock: Connection refused"
        }
    finally:
        bed.start_munge()
        bed.until_idle()
    bed.kill("slurmctld", signal.SIGTERM)  # it saves what it knows
    try:
        assert "no controller answers" in bad(await look(wanted(bed, data)))["controller"]
    finally:
        bed.start_controller()
        bed.until_idle()
    assert bad(await look(wanted(bed, data))) == {}


async def test_partitions_that_are_not_there_or_start_nothing(bed: Bed, data: Path) -> None:
    bed.ask("scontrol", "update", "PartitionName=urgent", "State=DOWN")
    try:
        found = await look(wanted(bed, data, ("gpu", "urgent", "batch")))
    finally:
        bed.ask("scontrol", "update", "PartitionName=urgent", "State=UP")
    assert bad(found) == {
        "partition gpu": "there is no partition gpu; there are: batch, urgent",
        "partition urgent": "urgent is down: jobs would stay queued forever",
    }
    for node in ("n1", "n2"):
        bed.ask("scontrol", "update", f"NodeName={node}", "State=DRAIN", "Reason=fan")
    try:
        found = await look(wanted(bed, data, ("urgent",)))
    finally:
        for node in ("n1", "n2"):
            bed.ask("scontrol", "update", f"NodeName={node}", "State=RESUME")
        bed.until_idle()
    assert bad(found) == {"partition urgent": "urgent has 2 nodes, none of which can start a job now"}


async def test_a_partition_that_would_not_take_our_jobs(bed: Bed, data: Path) -> None:
    bed.ask("scontrol", "update", "PartitionName=urgent", "ReqResv=YES")
    try:
        found = await look(wanted(bed, data, ("urgent", "batch")))
    finally:
        bed.ask("scontrol", "update", "PartitionName=urgent", "ReqResv=NO")
    assert list(bad(found)) == ["submit urgent"], found
    assert "permission denied" in bad(found)["submit urgent"]
    assert "python batch" in found


@pytest.mark.parametrize(
    "own", [{"account": "two words"}, {"features": ("nvlink",)}, {"reservation": "none"}, {"python": "/a b"}]
)
async def test_what_slurm_would_refuse(bed: Bed, data: Path, own: dict[str, Any]) -> None:
    assert list(bad(await look(wanted(bed, data, **own)))) == ["submit batch"]


async def test_data_folders_that_cannot_be_used(bed: Bed, data: Path) -> None:
    blank, none = data / "two words", data / "none"
    blank.mkdir()
    assert "special to Slurm" in bad(await look(wanted(bed, blank)))["folder"]
    blank.rmdir()
    assert bad(await look(wanted(bed, none)))["folder"] == f"there is no folder {none}"
    memory = replace(wanted(bed, data), data="/dev/shm")
    assert "is in the memory of the server" in bad(await look(memory))["folder"]


async def test_a_folder_that_the_node_has_not_or_may_not_write(bed: Bed, data: Path) -> None:
    """n4 sees other mounts than the server: nothing in the place of the folder, then the folder read-only."""
    assert bad(await look(wanted(bed, data))) == {}
    bed.ask(
        "scontrol",
        "create",
        "reservation",
        "ReservationName=only",
        "StartTime=now",
        "Duration=10",
        "Users=root",
        "Nodes=n4",
    )
    bed.kill("n4", 15)
    try:
        for mount, says in (
            (f"mount -t tmpfs none {data}", f"n4 wrote nothing into {data}"),
            (f"mount --bind -o ro {data} {data} && mount -o remount,bind,ro {data}", "n4"),
        ):
            bed.ask("scontrol", "update", "NodeName=n4", "State=DOWN", "Reason=anew")  # until it has registered
            bed.start_node("n4", "unshare", "-m", "sh", "-c", f'{mount} && exec "$@"', "sh")
            until(lambda: "IDLE" in bed.ask("scontrol", "show", "node", "n4").replace("+", " "), "n4")
            found = await look(wanted(bed, data, reservation="only"))
            assert list(bad(found)) == ["shared batch"], found
            assert says in bad(found)["shared batch"]
            bed.kill("n4", 15)
    finally:
        bed.ask("scontrol", "update", "NodeName=n4", "State=DOWN", "Reason=anew")
        bed.start_node("n4")
        bed.ask("scontrol", "delete", "ReservationName=only")  # a node of one may be called reserved instead of idle
        bed.until_idle()


@contextlib.contextmanager
def rest(bed: Bed, **how: str) -> Iterator[str]:
    """Where a slurmrestd of the cluster listens, for as long as it runs."""
    yield bed.start_rest(**how)
    bed.kill("slurmrestd")


def jwt(**claims: object) -> str:
    """Return a token that nobody has signed."""
    parts = [
        base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in ({"alg": "HS256"}, claims)
    ]
    return ".".join([*parts, "nobody"])


async def test_a_cluster_that_is_read_through_slurmrestd(bed: Bed, data: Path, tmp_path: Path) -> None:
    with rest(bed) as place:
        found = await look(wanted(bed, data, rest=place))
        assert bad(found) == {}
        assert (found["rest"].text, found["queue batch"].text) == (f"answers at {place}", "shows the platform's jobs")
        assert "token" not in found
    with rest(bed, auth="jwt") as place:
        token = tmp_path / "token"
        token.write_text(bed.ask("scontrol", "token", "username=root", "lifespan=7300").partition("=")[2])
        found = await look(wanted(bed, data, rest=place, rest_token=str(token)))
        assert bad(found) == {}
        assert found["token"].text == f"{token}, expires in 2 hours"


async def test_a_slurmrestd_that_cannot_be_used(bed: Bed, data: Path, tmp_path: Path) -> None:
    with rest(bed, api="v0.0.37") as place:
        assert bad(await look(wanted(bed, data, rest=place))) == {"rest": "slurmrestd does not serve openapi/v0.0.38"}
    for nowhere, says in ((place, "Connection refused"), (f"unix:{tmp_path}/none", "No such file or directory")):
        found = await look(wanted(bed, data, rest=nowhere))
        assert list(bad(found)) == ["rest"]
        assert bad(found)["rest"].endswith(says)
        assert nowhere in found["rest"].remedy
    with rest(bed, auth="jwt") as place:
        assert bad(await look(wanted(bed, data, rest=place))) == {"rest": "slurmrestd rejects this server"}
        token = tmp_path / "token"
        with_token = wanted(bed, data, rest=place, rest_token=str(token))
        assert bad(await look(with_token)) == {"token": f"{token} cannot be read: No such file or directory"}
        for text, says in (
            (bed.ask("scontrol", "token", "username=root"), f"{token} has no token"),
            (jwt(sun="root", exp=1), f"the token in {token} has expired"),
        ):
            token.write_text(text)
            assert bad(await look(with_token)) == {"token": says}
        token.write_text(jwt(sun="root", exp=2**33))
        assert list(bad(await look(with_token))) == ["rest"]


async def test_a_slurmrestd_of_another_cluster(bed: Bed, data: Path) -> None:
    """Its nodes and partitions may be called the same; of our jobs it knows nothing, and all of them would count as
    lost.
    """
    folder = Path(tempfile.mkdtemp(prefix="tm-bed-"))
    other = Bed(folder)
    try:
        other.start()
        found = await look(wanted(bed, data, rest=other.start_rest()))
    finally:
        other.stop()
        shutil.rmtree(folder)
    assert list(bad(found)) == ["queue batch"]
    assert "jobs would count as lost" in bad(found)["queue batch"]


def script(path: Path, text: str) -> str:
    path.write_text(text)
    path.chmod(0o755)
    return str(path)


async def test_pythons_that_will_not_do(bed: Bed, data: Path) -> None:
    found = await look(wanted(bed, data, python="/usr/bin/python3.none"))
    assert bad(found)["python batch"].startswith("there is no /usr/bin/python3.none on n")
    # It is called as `python -I -S -c CODE ...`: CODE runs, and believes that Python is older.
    pretend = (
        "import sys; sys.version_info = (3, 6, 8); sys.version = '3.6.8 (old)'; code = sys.argv.pop(4); "
        "del sys.argv[1:4]; exec(code)"
    )
    old = script(bed.folder / "python36", f'#!/bin/sh\nexec {PYTHON} -I -S -c "{pretend}" "$@"\n')
    assert "is Python 3.6.8: it must be 3.9 or newer" in bad(await look(wanted(bed, data, python=old)))["python batch"]
    broken = script(
        bed.folder / "python-broken", "#!/bin/sh\necho 'libpython3.so: cannot open shared object file' >&2\nexit 127\n"
    )
    found = await look(wanted(bed, data, python=broken))
    assert "libpython3.so: cannot open" in bad(found)["probe batch"]


async def test_an_environment_that_the_nodes_lack(bed: Bed, data: Path) -> None:
    found = await look(wanted(bed, data, environment="/opt/none"))
    assert list(bad(found)) == ["environment batch"]


async def test_a_node_whose_tasks_find_no_python(bed: Bed, data: Path) -> None:
    """Where there is one, it is told that tasks use that."""
    found = (await look(wanted(bed, data)))["environment batch"]
    has = shutil.which("python", path=SYSTEM_PATH) is not None
    assert (found.ok, found.bad) == (has, False)
    assert has or ("find no python" in found.text and "--environment PREFIX" in found.remedy)


async def test_a_probe_that_has_to_wait_says_why_and_is_given_up(bed: Bed, data: Path) -> None:
    """Also when whoever waits has enough of it (Ctrl-C). The fixture looks that nothing is left."""
    told: list[tuple[str, Said]] = []
    patient = asyncio.Event()

    def tell(where: str, why: Said) -> None:
        told.append((where, why))
        patient.set()

    waiting = replace(wanted(bed, data), tell=tell)
    full = bed.ask(
        "sbatch", "--parsable", "-N4", "--exclusive", "-o", "/dev/null", given="#!/bin/sh\nsleep 600\n"
    ).strip()
    until(lambda: "RUNNING" in bed.ask("scontrol", "show", "job", full), "a full cluster")
    try:
        found = await look(replace(waiting, wait_s=4.0))
        assert bad(found)["probe batch"].startswith("it did not start within 4 s: ")
        assert told
        assert told[0][0] == "batch"
        patient.clear()
        task = asyncio.get_running_loop().create_task(look(waiting))
        await patient.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert bed.ask("squeue", "-h", "-o", "%A").split() == [full]
    finally:
        bed.ask("scancel", full)
        until(lambda: bed.ask("squeue", "-h") == "", "an empty queue")


async def test_nothing_that_a_probe_writes_is_for_others(bed: Bed, data: Path) -> None:
    assert bad(await look(wanted(bed, data))) == {}
    assert stat.S_IMODE((data / "agent").stat().st_mode) == 0o755


async def test_whether_jobs_can_have_container_images(bed: Bed, data: Path) -> None:
    """R26: who adds a cluster is told, and adds it all the same."""
    found = await look(wanted(bed, data))
    assert (found["containers"].ok, "no runtime is configured" in found["containers"].text) == (True, True)
    assert "containers batch" not in found
    with podman("127.0.0.1:1") as runtime:
        found = await look(replace(wanted(bed, data), containers=runtime.socket))
        assert "by Podman " in found["containers"].text
        assert found["containers batch"].ok is found["sandbox batch"].ok is True
        found = await look(replace(wanted(bed, data, sandbox="none"), containers=runtime.socket))
        assert (found["containers"].ok, found["containers batch"].ok) == (True, False)
        assert "no sandbox works" in found["containers batch"].text
        found = await look(replace(wanted(bed, data, scratch=f"{bed.folder}/own"), containers=runtime.socket))
        assert "do not share the platform's data folder" in found["containers"].text
        assert "containers batch" not in found
        assert bad(found) == {}
    found = await look(replace(wanted(bed, data), containers=f"{bed.folder}/none.sock"))
    assert (found["containers"].ok, "does not answer" in found["containers"].text) == (False, True)
    assert bad(found) == {}
