"""README's own job runs on the server that README just started: `trainmaster serve --demo-cards 2` (R138, B10)."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fixtures.shell import Shell

ROOT = Path(__file__).parents[3]
README = (ROOT / "README.md").read_text()
EXAMPLE = ROOT / "examples/digits-ddp"


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    (tmp_path / "home").mkdir()
    return Shell(tmp_path / "home")


def test_the_readmes_own_job_runs_on_the_server_that_it_starts(shell: Shell, tmp_path: Path) -> None:
    """Of the example only the code is taken: the job is the one that people see in README."""
    started = re.search(r"^trainmaster (serve --demo-cards \d+) ", README, re.MULTILINE)
    job = re.search(r"^```yaml\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    assert started
    assert job
    (tmp_path / "code").mkdir()
    (tmp_path / "code/train.py").write_bytes((EXAMPLE / "train.py").read_bytes())
    (tmp_path / "code/job.yaml").write_text(job[1])
    shell.serve(*started[1].split()[1:])
    try:
        ran = shell.json("submit", str(tmp_path / "code/job.yaml"), "--set", "roles.0.parameters.epochs=1", "--wait")
        nodes = shell.json("node", "list")
    finally:
        shell.stop()
    assert (ran["state"], ran["tasks"]["total"]) == ("succeeded", 2)
    assert [(node["name"], node["simulated"], sum(card["total"] for card in node["cards"])) for node in nodes] == [
        ("node-1", True, 2),
        ("node-2", True, 2),
    ]
    assert "2 nodes with 2 simulated GPUs each" in shell.said
    assert "runs on the CPU" in shell.said


def test_it_says_how_tasks_get_pytorch(shell: Shell, tmp_path: Path) -> None:
    """An environment of the administrator's, as empty as `python -m venv` leaves it."""
    bare = tmp_path / "bare"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", bare], check=True)
    (shell.home / "config.toml").write_text(f'[local]\nenvironment = "{bare}"\n')
    shell.serve("--demo-cards", "1")
    shell.stop()
    assert f"The Python of jobs, {bare}/bin/python, lacks what the example digits-ddp needs" in shell.said
    assert f"{bare}/bin/python -m pip install scikit-learn torch" in shell.said


@pytest.mark.parametrize(
    ("config", "why"),
    [
        ("[local]\nvirtual_nodes = 3\n", "so does [local] virtual_nodes in config.toml"),
        ("[[local.nodes]]\ngpus = 8\n", "so does [local] nodes in config.toml"),
        ('[[engines]]\nname = "hall"\nkind = "slurm"\n', "no engine in config.toml runs jobs on it"),
    ],
)
def test_nothing_is_guessed_where_the_settings_say_otherwise(shell: Shell, config: str, why: str) -> None:
    (shell.home / "config.toml").write_text(config)
    said = shell("serve", "--port", "0", "--demo-cards", "2", code=2)
    assert why in said
    assert "Start without --demo-cards" in said
