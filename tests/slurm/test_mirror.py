"""A cluster whose nodes share no folder with the server, nor with each other: the same jobs, through the whole
server.
"""

import hashlib
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from msgspec.structs import replace

from tests.fixtures.shell import Shell
from tests.slurm.apart import Apart
from tests.slurm.bed import started, until
from tests.slurm.served import POOL, Served, job
from tests.slurm.test_faults import ONCE, plain
from trainmaster.sdk.jobs import Job

pytestmark = pytest.mark.timeout(200)

TRAIN: Final = """
import os, pathlib, trainmaster
out, model = pathlib.Path(os.environ["TRAINMASTER_OUTPUT_DIR"]), os.environ["TRAINMASTER_MODEL_DIR"]
rank = os.environ["TRAINMASTER_TASK"][-1]
print("hello from", rank, flush=True)
for step in range(3):
    trainmaster.log({"loss": 1 / (step + 1 + int(rank))}, step=step)
(out / "ranks" / "deep").mkdir(parents=True, exist_ok=True)
(out / "ranks" / "deep" / rank).write_text("rank " + rank)
(out / f"rank-{rank}.sh").write_text(rank)
(out / f"rank-{rank}.sh").chmod(0o755)
if rank == "0":
    pathlib.Path(model, "weights").write_bytes(bytes(range(256)) * 5000)
    os.symlink("weights", model + "/latest")
"""
GO: Final = (
    'cd "$TRAINMASTER_OUTPUT_DIR"; echo ran | tee -a ran; until [ -e go ]; do sleep 0.1; done; rm go; '
    "echo end | tee -a ran"
)


@pytest.fixture(scope="module")
def bed() -> Iterator[Apart]:
    """Start a cluster of nodes that see nothing of the server's."""
    with started(Apart) as made:
        yield made


@pytest.fixture(scope="module")
def served(bed: Apart) -> Iterator[Served]:
    """Start a server that brings and fetches everything."""
    made = Served(bed, bed.server, {"scratch": bed.own}, {"virtual_nodes": 2})
    yield made.whole()
    made.end()


@pytest.fixture(autouse=True)
def nothing_stays(bed: Apart, served: Served) -> Iterator[None]:
    """Whatever a job was, its nodes are as before."""
    yield
    until(lambda: not any(bed.kept(name) for name in bed.names), "clean nodes")


def said(served: Served, one: str, attempt: int = 1) -> str:
    """Return the log of a job's first task as it is here."""
    log = served.attempt(one, attempt) / "task0-0" / "log"
    return log.read_text() if log.exists() else ""


def running(served: Served, document: dict[str, Any]) -> str:
    """Submit a job that runs GO; return its id once that is seen."""
    one = served.submit(document)
    served.until(one, lambda view: view["state"] == "running" and said(served, one) == "ran\n", "it runs")
    return one


def go(bed: Apart, served: Served, one: str) -> None:
    """Let a job that runs GO end: in the outputs on each of its nodes."""
    for name in bed.names:
        for root in bed.kept(name):
            if root.startswith(one):
                bed.inside(name, root, os.path.relpath(served.layout.outputs(one), served.data), "go").touch()


def mirrors(bed: Apart, one: str) -> list[int]:
    """Return the srun processes of a job's mirrors."""
    return [pid for pid in bed.sruns() if one in bed.words(pid)]


def tree(folder: Path) -> dict[str, str]:
    """Return everything below a folder: what files are and hold, where links lead."""
    return {
        str(path.relative_to(folder)): f"-> {path.readlink()}"
        if path.is_symlink()
        else f"{path.stat().st_mode & 0o111:o} {hashlib.sha256(path.read_bytes()).hexdigest()}"
        for path in folder.rglob("*")
        if path.is_symlink() or path.is_file()
    }


def shown(served: Served, found: Job) -> dict[str, Any]:
    """Return what people see of a job, times and places aside."""
    model, _, version = (found.refresh().model or "").partition("@")
    curves = [replace(one, t=[]) for one in found.metrics().series]
    saved = tree(Path(served.data, "models", model, version))
    return {
        "state": found.state,
        "logs": [found.logs(f"main-{number}", tail=30) for number in (0, 1)],
        "curves": curves,
        "outputs": tree(Path(served.layout.outputs(found.id))),
        "model": tree(Path(served.layout.model_out(found.id))),
        "saved": {name: what for name, what in saved.items() if name != "manifest.json"},
    }


def test_the_same_job_gives_the_same_as_on_this_machine(served: Served, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TRAIN)
    document = job("same", "python3 train.py", replicas=2, cpu=3)
    document |= {"code": {"path": str(tmp_path)}, "model": {"save": True}}
    with served.sdk() as client:
        until(lambda: {"default", POOL} <= {pool.name for pool in client.admin.pools()}, "both pools")
        here, there = (client.submit({**document, "pool": pool}) for pool in ("default", POOL))
        ends = [served.ended(one.id) for one in (here, there)]
        assert [one["state"] for one in ends] == ["succeeded"] * 2, "".join(one["verdict"]["evidence"] for one in ends)
        assert len(set(ends[1]["nodes"])) == 2
        assert shown(served, there) == shown(served, here)
        assert set(shown(served, there)["model"]) == {"weights", "latest"}
        assert shown(served, there)["curves"]


def test_it_is_followed_entered_and_stopped(served: Served, bed: Apart) -> None:
    one = running(served, job("followed", GO))
    words = [
        sys.executable,
        "-m",
        "trainmaster.cli",
        "exec",
        one,
        "--",
        "sh",
        "-c",
        "pwd; cat $TRAINMASTER_OUTPUT_DIR/ran; exit 3",
    ]
    env = {**os.environ, "TRAINMASTER_HOME": str(served.folder)}
    done = subprocess.run(words, env=env, capture_output=True, text=True, check=False, timeout=60)
    assert (done.stdout.splitlines()[1:], done.returncode) == (["ran"], 3), done.stderr
    assert done.stdout.startswith(bed.own)
    served.stop(one)
    assert served.ended(one)["state"] == "stopped"
    assert served.output(one, "ran") == "ran\n"


def test_a_server_that_is_killed_while_it_runs_and_while_it_ends(served: Served, bed: Apart) -> None:
    one = running(served, job("away", GO))
    served.restart()
    until(lambda: mirrors(bed, one), "a mirror of the next server")
    served.kill_server()
    go(bed, served, one)
    until(lambda: bed.inside("n1", bed.kept("n1")[0], "left").exists(), "its end")
    served.spawn()
    assert plain(served.ended(one)) == ("succeeded", "ok", "")
    assert (served.output(one, "ran"), said(served, one)) == (ONCE, ONCE)


def test_a_mirror_that_is_killed(served: Served, bed: Apart) -> None:
    one = running(served, job("broken", GO))
    first = mirrors(bed, one)
    for pid in first:
        os.kill(pid, signal.SIGKILL)
    until(lambda: set(mirrors(bed, one)) - set(first), "another mirror")
    go(bed, served, one)
    assert plain(served.ended(one)) == ("succeeded", "ok", "")
    assert (served.output(one, "ran"), said(served, one)) == (ONCE, ONCE)


def test_what_slurm_repeats_runs_once_and_the_next_attempt_goes_on(served: Served, bed: Apart) -> None:
    one = running(served, job("again", GO, fault_restarts=1))
    number = served.number(one)
    bed.ask("scontrol", "update", f"JobId={number}", "Requeue=1")
    bed.ask("scontrol", "requeue", number)
    first = served.until(one, lambda view: view["attempts"] == 2, "another attempt")["attempt_list"][0]["verdict"]
    assert (first["code"], first["message"]["en"]) == ("lost", "Slurm reports for the job: was requeued")
    served.until(one, lambda view: said(served, one, 2) == "ran\n", "it runs")
    go(bed, served, one)
    assert plain(served.ended(one)) == ("succeeded", "ok", "")
    assert served.output(one, "ran") == "ran\n" + ONCE
    assert [said(served, one, attempt).count("ran") for attempt in (1, 2)] == [1, 1]


def test_much_of_everything(served: Served) -> None:
    """50 MB in one file, 15 in a log, and a thousand small ones."""
    text = """cd "$TRAINMASTER_OUTPUT_DIR"; mkdir small; for i in $(seq 1000); do echo $i > small/$i; done
        head -c 50000000 /dev/urandom > big; sha256sum < big; seq 2000000"""
    one = served.submit(job("much", text))
    assert served.ended(one)["state"] == "succeeded"
    digest, _, rest = said(served, one).partition("\n")
    assert digest.split()[0] == hashlib.sha256(Path(served.layout.outputs(one), "big").read_bytes()).hexdigest()
    assert rest == "".join(f"{number}\n" for number in range(1, 2_000_001))
    small = Path(served.layout.outputs(one), "small")
    assert {path.name: path.read_text() for path in small.iterdir()} == {str(i): f"{i}\n" for i in range(1, 1001)}


def test_a_job_that_lays_traps(served: Served) -> None:
    text = r"""cd "$TRAINMASTER_OUTPUT_DIR"; echo good > good; ln -s good link
        ln -s /etc/passwd out; ln -s ../../../.. up; mkfifo pipe; mkdir folder; ln -s / folder/root
        echo x > "$(printf 'a\nb')"
        cd "$TRAINMASTER_METRICS_DIR/.."; echo '{"offset": 0, "length": 1152921504606846976}' > log.cuts
        ln -s /etc/passwd status
        cd ..; echo '{}' > closed; echo '{}' > facts-0-n9.jsonl; ln -s /etc/passwd facts-1-n1.jsonl
        rm slurm.log; echo said"""
    one = served.submit(job("traps", text))
    assert plain(served.ended(one)) == ("succeeded", "ok", "")
    outputs = Path(served.layout.outputs(one))
    assert {str(path.relative_to(outputs)) for path in outputs.rglob("*")} == {"good", "link", "folder", "a\nb"}
    names = os.listdir(served.attempt(one))
    assert not [name for name in names if name in ("facts-0-n9.jsonl", "facts-1-n1.jsonl")]
    assert not (served.attempt(one) / "task0-0" / "status").is_symlink()


def test_such_a_cluster_is_added_with_one_command(bed: Apart, tmp_path: Path) -> None:
    shell = Shell(tmp_path / "home")
    shell.home.mkdir()
    data = bed.server / "added"
    data.mkdir()
    words = [
        "engine",
        "add",
        "slurm",
        "alps",
        "--conf",
        bed.conf,
        "--data",
        str(data),
        "--sandbox",
        "none",
        "--pool",
        "big=batch",
    ]
    lacking = shell(*words, code=1)
    assert f"wrote nothing into {data}" in lacking
    told = shell(*words, "--scratch", bed.own)
    assert f'scratch = "{bed.own}"' in told
    assert f"what the server sends arrives in {bed.own} on n1, and what is written there comes back" in re.sub(
        r"\s+", " ", told
    )
    found = shell.json("engine", "check", "alps")
    assert found["ok"]
    bad = shell(*words[:3], "other", *words[4:-1], "more=batch", "--scratch", "/proc/none", code=1)
    assert "/proc/none" in bad
