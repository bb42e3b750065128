"""An administrator adds a cluster with one command, as a person does it: a server in its own process, real commands."""

import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fixtures.shell import Shell, write
from tests.slurm.bed import Bed, until
from trainmaster.service.settings import load

MINE = "# the machine below the desk\n[local]\nvirtual_nodes = 1\ncpu = 4.0\nmemory_mib = 4096\n"


@pytest.fixture
def tm(bed: Bed, tmp_path: Path) -> Iterator[Shell]:
    shell = Shell(tmp_path / "home")
    shell.home.mkdir()
    (shell.home / "config.toml").write_text(MINE)
    yield shell
    if shell.server is not None and shell.server.poll() is None:
        shell.stop()


def words(bed: Bed, data: Path, *more: str) -> list[str]:
    data.mkdir(exist_ok=True)
    return ["engine", "add", "slurm", "alps", "--conf", bed.conf, "--data", str(data), "--sandbox", "none", *more]


def test_a_cluster_is_added_and_the_same_file_runs_here_and_there(bed: Bed, tm: Shell, tmp_path: Path) -> None:
    data = bed.folder / "added"
    config = tm.home / "config.toml"
    would = tm(*words(bed, data, "--pool", "big=batch"), "--dry-run")
    assert "This would be written" in would
    assert 'partitions = { "big" = "batch" }' in would
    assert config.read_text() == MINE
    said = tm(*words(bed, data, "--pool", "big=batch"))
    assert "start it a minute later" in said
    assert config.read_text().startswith(MINE)
    assert [engine.name for engine in load(str(config)).engines] == ["local", "alps"]
    assert "alps is named in two engines" in tm(*words(bed, data, "--pool", "big=batch"), code=2)
    tm.serve()
    until(lambda: not any(one["trouble"] for one in tm.json("engine", "list")), "both answer")  # one is enough to serve
    here, there = tm("engine", "list").splitlines()[1:]
    assert here.split() == ["local", "local", "default", "1/1", "OK"]
    assert there.split() == ["alps", "slurm", "big", "4/4", "OK"]
    for pool in ("default", "big"):
        job = write(tmp_path / f"{pool}.json", "echo trained", pool=pool, model={"save": False})
        assert tm.json("submit", job, "--wait")["state"] == "succeeded"
    found = tm.json("engine", "check", "alps")
    assert found["ok"]
    assert {"python", "shared", "cards"} <= {check["name"] for check in found["checks"]}
    assert all(check["text"]["zh"] for check in found["checks"])


def test_a_cluster_is_added_that_is_read_through_slurmrestd(bed: Bed, tm: Shell) -> None:
    data = bed.folder / "read"
    place = bed.start_rest()
    tm(*words(bed, data, "--pool", "big=batch", "--rest", place))
    bed.kill("slurmrestd")
    assert f'rest = "{place}"' in (tm.home / "config.toml").read_text()
    found = tm.json("engine", "check", "alps", code=1)
    (bad,) = [check for check in found["checks"] if not check["ok"] and check["needed"]]
    assert bad["name"] == "rest"
    assert bad["text"]["zh"].startswith("slurmrestd 没有响应：")
    assert bad["remedy"]["zh"].startswith(f"请检查 slurmrestd 是否在 {place} 监听")


def test_a_pool_in_which_jobs_are_on_their_way_is_not_taken_from_under_them(
    bed: Bed, tm: Shell, tmp_path: Path
) -> None:
    tm.serve()
    job = write(tmp_path / "job.json", "sleep infinity", model={"save": False}, grace=0)
    ref = tm("submit", job).strip()
    said = tm(*words(bed, bed.folder / "other", "--pool", "default=batch"), code=1)
    assert "1 job is queued or running in pool default of local and would be lost" in said
    assert "Nothing was written" in said
    assert (tm.home / "config.toml").read_text() == MINE
    assert "none in these pools" in tm(*words(bed, tm.home, "--pool", "big=batch", "--dry-run"))
    tm("stop", ref)


def test_all_that_is_wrong_with_the_words_is_said_before_anything_is_asked(bed: Bed, tm: Shell) -> None:
    said = tm("engine", "add", "slurm", "al ps", "--pool", "a b", "--data", "here", "--sandbox", "strong", code=2)
    for path in ("server.data", "engines.name", "engines.pools", "engines.1.sandbox"):
        assert path in said
    assert "There is no engine kind cloud" in tm("engine", "add", "cloud", "a", code=2)
    assert "--wait: 'soon' is not a time" in tm(*words(bed, bed.folder / "w", "--wait", "soon"), code=2)
    assert "There is no engine alps" in tm("engine", "check", "alps", code=1)
    assert "tm doctor" in tm("engine", "check", "local")


def test_every_command_of_the_guide(bed: Bed, tm: Shell) -> None:
    """Its paths are those of another place; all else is typed as it stands there."""
    data = bed.folder / "guide"
    data.mkdir()
    page = (Path(__file__).parents[2] / "docs/guide/slurm.md").read_text()
    here = {"/etc/slurm/slurm.conf": bed.conf, "/shared/trainmaster": str(data)}
    lines = (
        "".join(re.findall(r"^```bash\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)).replace("\\\n", " ").splitlines()
    )
    said = []
    for line in lines:
        program, *typed = [here.get(word, word) for word in shlex.split(line, comments=True)]
        assert program == "tm"
        if typed[:2] == ["engine", "list"]:
            tm.serve()
        said.append(tm(*typed))
    done, listed, checked = said
    assert "Written into" in done
    assert [row.split()[:3] for row in listed.splitlines()[1:3]] == [  # below them stands what is not ready yet
        ["local", "local", "default"],
        ["alps", "slurm", "fast,"],
    ]
    assert "node's Python (urgent)" in checked


@pytest.mark.parametrize(("how", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_who_has_enough_of_waiting_leaves_nothing_behind(bed: Bed, tm: Shell, how: int, code: int) -> None:
    full = bed.ask(
        "sbatch", "--parsable", "-N4", "--exclusive", "-o", "/dev/null", given="#!/bin/sh\nsleep 600\n"
    ).strip()
    until(lambda: "RUNNING" in bed.ask("scontrol", "show", "job", full), "a full cluster")
    try:
        hears = [
            "env",
            "--default-signal=INT",
        ]  # what a script starts in the background is born with Ctrl-C switched off
        command = [*hears, sys.executable, "-m", "trainmaster.cli", *words(bed, bed.folder / "wait", "--pool", "batch")]
        process = subprocess.Popen(command, env=tm.env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        assert process.stderr is not None
        assert "... batch: waiting for free nodes" in process.stderr.readline()
        process.send_signal(how)
        assert process.wait(60) == code
        assert bed.ask("squeue", "-h", "-o", "%A").split() == [full]
        assert [path.name for path in (bed.folder / "wait").iterdir()] == ["agent"]
    finally:
        bed.ask("scancel", full)
        until(lambda: bed.ask("squeue", "-h") == "", "an empty queue")
