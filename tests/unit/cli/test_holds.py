"""A debug hold as a person uses it: a failed job whose tasks can be looked at and entered until it is released (R90,
R217, R218).
"""

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fixtures import quick
from tests.fixtures.shell import ONE_NODE, TM, Shell, serving
from trainmaster.sdk.client import Client

PATIENCE_S = 120.0
SCRIPT = """
echo 'step 1 loss 0.5'; echo result > /workspace/outputs/half; echo why > /tmp/evidence; echo notes > /workspace/notes
mkdir -p "$TRAINMASTER_METRICS_DIR"
echo '{"t": 1.0, "step": 1, "values": {"loss": 0.25}}' >> "$TRAINMASTER_METRICS_DIR/metrics.jsonl"
exit 7
"""


@pytest.fixture(scope="module")
def tm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    with serving(tmp_path_factory.mktemp("home"), settings=ONE_NODE) as shell:
        yield shell


def job_file(folder: Path) -> str:
    """Return a file of a job that fails and is held."""
    file = folder / "j.json"
    role = {"name": "worker", "replicas": 2, "command": ["bash", "-c", SCRIPT], "resources": {"cpu": 0.1, "memory": 64}}
    file.write_text(json.dumps({"name": "held", "roles": [role], "debug_hold": 600, "env": {"COLOUR": "blue"}}))
    return str(file)


@pytest.fixture
def held(tm: Shell, tmp_path: Path) -> Iterator[str]:
    """A job that has failed and is held."""
    made: str = tm.json("submit", job_file(tmp_path))["id"]
    tm.until(
        lambda seen: (
            seen["state"] == "retained"
            and all(one["exit_code"] is not None for one in seen["attempt_list"][-1]["tasks"])
        ),
        made,
    )
    yield made
    if tm.json("show", made)["state"] == "retained":
        tm("release", made)


def run(tm: Shell, *words: str) -> "subprocess.CompletedProcess[str]":
    return quick.tm("exec", *words, env=tm.env, timeout=PATIENCE_S)


def test_a_held_task_is_entered_and_finds_what_it_left(tm: Shell, held: str) -> None:
    text = "cat /tmp/evidence /workspace/notes /workspace/outputs/half; echo $COLOUR $TRAINMASTER_TASK; exit 3"
    done = run(tm, held, "--task", "worker-1", "--", "sh", "-c", text)
    assert (done.returncode, done.stderr) == (3, "")
    assert done.stdout == f"why\nnotes\nresult\nblue {held}-1/task0-1\n"
    events = [event for event in Client(home=str(tm.home)).get(held).events() if event.kind == "entered"]
    assert [event.text.en for event in events] == ["task0-1: sh"]


def test_show_names_what_can_be_done(tm: Shell, held: str) -> None:
    said = tm("show", held)
    assert re.search(rf"held\tuntil .* UTC; look inside: tm exec {held[:12]}; end it: tm release {held[:12]}", said)


def test_who_waits_for_it_is_told_that_it_is_held(tm: Shell, tmp_path: Path) -> None:
    done = quick.tm("submit", job_file(tmp_path), "--wait", env=tm.env, timeout=PATIENCE_S)
    made = done.stdout.split()[0]
    assert done.returncode == 1
    assert f"look inside: tm exec {made[:12]}" in done.stdout
    assert "step 1 loss 0.5" in done.stderr
    tm("release", made)


def test_logs_files_and_curves_are_there(tm: Shell, held: str, tmp_path: Path) -> None:
    both = [f"worker-{index} | step 1 loss 0.5" for index in range(2)]
    assert tm("logs", held).splitlines() == both
    assert sorted(tm("logs", held, "--follow").splitlines()) == both, "it follows to the end of the replicas"
    tm("download", held, "--to", str(tmp_path / "out"))
    assert (tmp_path / "out" / "half").read_text() == "result\n"
    tm("download", held, "--logs", "--to", str(tmp_path / "logs"))
    assert len(list((tmp_path / "logs").rglob("*"))) >= 2
    job = Client(home=str(tm.home)).get(held)
    assert "half" in [one.name for one in job.files("outputs")]
    assert "loss" in tm("metrics", held, "--json")


def test_release_ends_who_is_inside_and_the_job(tm: Shell, held: str) -> None:
    shell = subprocess.Popen(
        [*TM, "exec", held, "--no-tty", "--", "sh", "-c", "echo here; exec sleep 300"],
        env=tm.env,
        stdout=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        text=True,
    )
    assert shell.stdout is not None
    assert shell.stdout.readline() == "here\n"
    tm("release", held)
    assert shell.wait(PATIENCE_S) != 0
    shell.stdout.close()
    tm.until(lambda seen: seen["state"] == "failed", held)
    done = run(tm, held, "--", "true")
    assert done.returncode == 125
    assert "The job has ended" in done.stdout + done.stderr
