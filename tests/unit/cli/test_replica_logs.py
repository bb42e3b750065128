"""`tm logs` of several replicas: each line begins with its replica, also while they run (R207, R208)."""

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fixtures import quick
from tests.fixtures.shell import ONE_NODE, TM, Shell, serving
from trainmaster.core.folders.layout import Layout

SCRIPT = """
echo "first of $TRAINMASTER_TASK_INDEX"; printf '10%%\\r20%%\\rdone\\n'
until [ -e $TRAINMASTER_OUTPUT_DIR/go ]; do sleep 0.05; done
echo "last of $TRAINMASTER_TASK_INDEX"
"""


@pytest.fixture(scope="module")
def tm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    with serving(tmp_path_factory.mktemp("home"), settings=ONE_NODE) as shell:
        yield shell


@pytest.fixture(scope="module")
def job(tm: Shell, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A job of two sub-tasks that goes on once it is told to."""
    file = tmp_path_factory.mktemp("job") / "j.json"
    need = {"cpu": 0.1, "memory": 64}
    roles = [
        {"name": name, "replicas": count, "command": ["bash", "-c", SCRIPT], "resources": need}
        for name, count in (("worker", 2), ("server", 1))
    ]
    file.write_text(json.dumps({"name": "many", "roles": roles}))
    return tm("submit", str(file)).strip()


def test_all_are_followed_with_the_name_of_each_and_then_printed(tm: Shell, job: str) -> None:
    with subprocess.Popen([*TM, "logs", "-f", job], env=tm.env, stdout=subprocess.PIPE, text=True) as follows:
        assert follows.stdout is not None
        begun = sorted(follows.stdout.readline().rstrip("\n") for _ in range(6))
        assert [re.sub(r"\d+$", "", line) for line in begun if "first" in line] == [
            "server-0 | first of ",
            "worker-0 | first of ",
            "worker-1 | first of ",
        ]
        assert [line for line in begun if "first" not in line] == [
            f"{name} | done" for name in ("server-0", "worker-0", "worker-1")
        ]
        Path(Layout(str(tm.home)).outputs(job), "go").touch()
        rest = follows.stdout.read()
    assert follows.returncode == 0
    assert sorted(line.partition(" of ")[0] for line in rest.splitlines()) == [
        "server-0 | last",
        "worker-0 | last",
        "worker-1 | last",
    ]
    names = [line.split(" | ")[0] for line in tm("logs", job).splitlines()]
    assert names == ["worker-0"] * 3 + ["worker-1"] * 3 + ["server-0"] * 3
    assert [line.split(" | ")[0] for line in tm("logs", job, "--tail", "1").splitlines()] == [
        "worker-0", "worker-1", "server-0",
    ]  # fmt: skip


def test_some_are_chosen(tm: Shell, job: str) -> None:
    one = tm.here("logs", job, "--replica", "worker-1")
    assert one.startswith("first of ")
    assert tm.here("logs", job, "--task", "worker-1") == one
    assert tm.here("logs", job, "--replica", "task0-1") == one
    two = tm.here("logs", job, "-r", "server-0", "-r", "worker-0", "--search", "first")
    assert [line.split(" | ")[0] for line in two.splitlines()] == ["server-0", "worker-0"]
    with pytest.raises(AssertionError, match="worker-7"):  # the command ends with the server's refusal
        tm.here("logs", job, "-r", "worker-7")
    assert "--raw is of one replica" in tm.here("logs", job, "--raw", code=2)


def test_programs_get_a_text_for_each(tm: Shell, job: str) -> None:
    found = json.loads(tm.here("logs", job, "--json"))
    assert [one["replica"] for one in found["replicas"]] == ["worker-0", "worker-1", "server-0"]
    assert all("last of" in one["text"] for one in found["replicas"])
    hits = json.loads(tm.here("logs", job, "--search", "last", "--json"))["items"]
    assert [hit["replica"] for hit in hits] == ["worker-0", "worker-1", "server-0"]


def test_on_a_terminal_each_has_its_colour(tm: Shell, job: str) -> None:
    def shown(**more: str) -> str:
        env = {**{name: text for name, text in tm.env.items() if name != "NO_COLOR"}, "TERM": "xterm", **more}
        return quick.tm("logs", job, env=env).stdout

    colours = dict(re.findall(r"\x1b\[(\d+)m(\w+-\d) +\|", shown(FORCE_COLOR="1")))
    assert len(colours) == 3
    assert "\x1b" not in shown(FORCE_COLOR="1", NO_COLOR="1")
    assert "\x1b" not in shown()
