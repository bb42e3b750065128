"""The agent inside a cluster's job, started by hand as srun would: this Python, and the oldest that a node may have."""

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import trainmaster
from tests.fixtures.gangs import GangBuilder, gang, key
from tests.fixtures.pythons import OLD
from trainmaster.agent import folder
from trainmaster.agent.folder import Folder, StepWork, step_text
from trainmaster.agent.place import start
from trainmaster.agent.settings import Settings
from trainmaster.agent.tasks import live
from trainmaster.core.folders.layout import Layout
from trainmaster.core.launch import Gang
from trainmaster.core.records import PortRequest
from trainmaster.engines.slurm.node.step import SAME_MOMENT_S, SIGNALLED_S
from trainmaster.engines.slurm.script import components
from trainmaster.messages import render
from trainmaster.messages.said import said_in

PACKAGE = str(Path(trainmaster.__file__).parents[1])
PATIENCE_S = 120.0


# The oldest that a node may have. No package of the system has it: where nobody has put one, the newest alone runs the
# code for it.
PYTHONS = [sys.executable, pytest.param(OLD, marks=pytest.mark.skipif(OLD is None, reason="no Python 3.9 here"))]


def words_of(told: dict[str, Any]) -> str:
    """Return in words what a fact or a verdict says."""
    said = said_in(told)
    assert said is not None
    return render.text(said)


class Node:
    """One attempt on pretended nodes of this machine."""

    def __init__(self, home: Path, python: str = sys.executable) -> None:
        self.python = python
        self.layout = Layout("", str(home / "data"))
        self.steps: list[subprocess.Popen[bytes]] = []

    def open(self, of: Gang, environment: str = sys.prefix, **more: Any) -> Folder:
        """Write the attempt's folder as the engine does."""
        shared = Folder(self.layout.attempt(of.job, of.attempt))
        settings = Settings(cgroups=False, package=PACKAGE, environment=environment, sample_s=0.2)
        work = StepWork(of, settings, self.layout.data, components(of.roles), **{"sandbox": "none", **more})
        shared.open(step_text(work))
        shared.keep()
        return shared

    def step(
        self, shared: Folder, run: str = "run-1", number: int = 0, node: str = "n1", **env: str
    ) -> "subprocess.Popen[bytes]":
        """Start the agent of one component on one node."""
        words = [
            self.python,
            "-I",
            "-S",
            "-B",
            "-c",
            start("engines.slurm.node.step"),
            PACKAGE,
            shared.path,
            run,
            str(number),
        ]
        given = {
            "PATH": "/usr/bin:/bin",
            "SLURMD_NODENAME": node,
            "TRAINMASTER_NODES_0": "n1",
            "TRAINMASTER_TASKS_0": "1",
            **env,
        }
        started = subprocess.Popen(words, env=given, stdin=subprocess.DEVNULL)
        self.steps.append(started)
        return started

    def log(self, of: Gang, role: int = 0, index: int = 0) -> str:
        """Return what a task has printed."""
        return Path(self.layout.task(of.job, of.attempt, role, index).log).read_text()


@pytest.fixture
def node(tmp_path: Path) -> Iterator[Node]:
    """Pretend to be a node."""
    made = Node(tmp_path)
    yield made
    for step in made.steps:
        step.kill()
        step.wait()


def told(shared: Folder, part: str = "0-n1") -> list[dict[str, Any]]:
    return folder.read(shared.facts(part))[0]


def until(what: Callable[[], Any]) -> Any:
    give_up = time.monotonic() + PATIENCE_S
    while not (found := what()):
        assert time.monotonic() < give_up, "nothing happened"
        time.sleep(0.02)  # files of another process
    return found


def kinds(facts: list[dict[str, Any]]) -> list[str]:
    return [fact.get("kind", fact["event"]) for fact in facts]


@pytest.mark.parametrize("python", PYTHONS)
def test_a_step_runs_its_tasks_and_tells(tmp_path: Path, python: str) -> None:
    node = Node(tmp_path, python)
    story = (
        gang()
        .shell("w", 2, 'echo "$TRAINMASTER_INDEX of $PAI_TASK_ROLE_TASK_COUNT_w"; exit $TRAINMASTER_INDEX')
        .build()
    )
    shared = node.open(story)
    assert node.step(shared, TRAINMASTER_TASKS_0="2").wait(PATIENCE_S) == 0
    facts = told(shared)
    assert sorted(kinds(facts)) == ["began", "exited", "exited", "left", "running", "running"]
    assert (kinds(facts)[0], kinds(facts)[-1]) == ("began", "left")
    ends = {fact["index"]: fact["exit_code"] for fact in facts if fact.get("kind") == "exited"}
    assert ends == {0: 0, 1: 1}
    assert (node.log(story, 0, 1), all(fact["attempt"] == key(story) for fact in facts)) == ("1 of 2\n", True)
    assert facts[0]["python"].startswith("3.9" if python == OLD else "3.")
    assert os.path.exists(shared.beat("0-n1"))


def test_the_record_comes_to_the_logs_although_they_lie_on_another_file_system(node: Node) -> None:
    story = gang().shell("w", 1, "exit 3").build()
    shared = node.open(story)
    assert os.stat("/dev/shm").st_dev != os.stat(shared.path).st_dev
    with tempfile.TemporaryDirectory(prefix="tm-test-", dir="/dev/shm") as private:
        assert node.step(shared, TMPDIR=private).wait(PATIENCE_S) == 0
    path = live.closed_path(node.layout, replace(story, here=((0, 0),)))
    request, _, *lines = [json.loads(line) for line in Path(path).read_text().splitlines()]
    assert request["gang"]["job"] == story.job
    assert [line["exit_code"] for line in lines if "e" in line] == [3]
    assert [name for name in os.listdir(shared.path) if "record" in name] == [os.path.basename(path)]


@pytest.mark.sandbox
@pytest.mark.parametrize("python", PYTHONS)
def test_tasks_are_sandboxed_and_do_not_see_the_data_of_others(tmp_path: Path, python: str) -> None:
    node = Node(tmp_path, python)
    story = gang().shell("w", 1, f"ls {tmp_path}; echo seen > $TRAINMASTER_MODEL_DIR/x; cat /proc/1/comm").build()
    shared = node.open(story, sandbox="bubblewrap")
    assert node.step(shared).wait(PATIENCE_S) == 0
    assert (Path(node.layout.model_out(story.job)) / "x").read_text() == "seen\n"
    assert "data" not in node.log(story)


def test_a_second_run_of_the_attempt_runs_nothing_and_says_so(node: Node) -> None:
    story = gang().shell("w", 1, "echo ran >> $TRAINMASTER_OUTPUT_DIR/ran; sleep 0.5").build()
    shared = node.open(story)
    first, second = node.step(shared, "run-1"), node.step(shared, "run-2")
    assert (first.wait(PATIENCE_S), second.wait(PATIENCE_S)) == (0, 0)
    third = node.step(shared, "run-3")
    assert third.wait(PATIENCE_S) == 0
    assert (Path(node.layout.outputs(story.job)) / "ran").read_text() == "ran\n"
    assert [fact["event"] for fact in folder.read(shared.again("0-n1"))[0]] == ["again", "again"]
    assert kinds(told(shared)) == ["began", "running", "exited", "left"]


def _sleeper(
    node: Node, text: str = "trap 'echo asked; exit 7' TERM; echo up; while :; do sleep 0.05; done"
) -> tuple[Gang, Folder]:
    story = gang().shell("w", 1, text).build()
    shared = node.open(story)
    node.step(shared)
    until(lambda: "running" in kinds(told(shared)) and node.log(story))
    return story, shared


def test_sigterm_gives_tasks_their_grace(node: Node) -> None:
    story, shared = _sleeper(node)
    node.steps[0].send_signal(signal.SIGTERM)
    assert node.steps[0].wait(PATIENCE_S) == 0
    assert node.log(story).endswith("asked\n")
    facts = told(shared)
    assert kinds(facts) == ["began", "running", "ending", "exited", "left"]
    assert (facts[3]["exit_code"], facts[3]["verdict"]["code"]) == (7, "stopped")


def test_a_cluster_that_signals_the_task_before_its_agent_has_ended_it_all_the_same(tmp_path: Path) -> None:
    for number in range(10):  # until it was done at once: what a busy machine delays is not one moment
        node = Node(tmp_path / str(number))
        story, shared = _sleeper(node, "echo $$; while :; do sleep 0.05; done")
        began = time.monotonic()
        os.kill(int(node.log(story)), signal.SIGTERM)
        while Path(f"/proc/{int(node.log(story))}").exists():
            time.sleep(0.001)  # its agent has seen it end
        time.sleep(2 * SAME_MOMENT_S)  # the node is busy
        node.steps[0].send_signal(signal.SIGTERM)
        at_once = time.monotonic() - began < SIGNALLED_S / 2
        assert node.steps[0].wait(PATIENCE_S) == 0
        if at_once:
            break
    assert kinds(told(shared)) == ["began", "running", "ending", "exited", "left"]
    assert told(shared)[3]["signal"] == signal.SIGTERM


@pytest.mark.parametrize(("text", "end"), [("exit 3", (3, None)), ("kill -KILL $$", (None, signal.SIGKILL))])
def test_a_task_that_fails_by_itself_is_told_as_it_ended(
    node: Node, text: str, end: tuple[int | None, int | None]
) -> None:
    shared = node.open(gang().shell("w", 1, text).build())
    assert node.step(shared).wait(PATIENCE_S) == 0
    facts = told(shared)
    assert kinds(facts) == ["began", "running", "exited", "left"]
    assert (facts[2]["exit_code"], facts[2]["signal"]) == end


def test_who_ends_first_is_told_first(node: Node) -> None:
    """A failure is held back for a moment, and so is what ends well behind it: who judges the gang goes by the
    order.
    """
    text = (
        'echo up; [ "$TRAINMASTER_INDEX" = 0 ] && exit 3; '
        "while [ ! -e $TRAINMASTER_OUTPUT_DIR/go ]; do sleep 0.02; done"
    )
    story = gang().shell("w", 2, text).build()
    shared = node.open(story)
    step = node.step(shared, TRAINMASTER_NODES_0="n1", TRAINMASTER_TASKS_0="2")
    until(lambda: len([fact for fact in told(shared) if fact["event"] == "task"]) >= 2)
    Path(node.layout.outputs(story.job), "go").touch()
    assert step.wait(PATIENCE_S) == 0
    ends = [fact["exit_code"] for fact in told(shared) if fact.get("kind") == "exited"]
    assert ends == [3, 0]


def test_an_order_to_end_is_heard_and_a_stubborn_task_is_killed(node: Node) -> None:
    story, shared = _sleeper(node, "trap '' TERM; echo up; while :; do sleep 0.05; done")
    shared.order("end", grace_s=0.2)
    assert node.steps[0].wait(PATIENCE_S) == 0
    assert told(shared)[3]["signal"] == signal.SIGKILL
    assert kinds(told(shared))[-1] == "left"
    assert node.log(story) == "up\n"


def test_an_order_to_signal_reaches_the_tasks(node: Node) -> None:
    story, shared = _sleeper(node, "trap 'echo heard; exit 0' USR1; echo up; while :; do sleep 0.05; done")
    shared.order("signal", signum=int(signal.SIGUSR1))
    assert node.steps[0].wait(PATIENCE_S) == 0
    assert node.log(story).endswith("heard\n")


def test_what_starts_after_the_attempt_was_ended_starts_nothing(node: Node) -> None:
    story = gang().shell("w", 1, "echo ran").build()
    shared = node.open(story)
    shared.order("end", grace_s=0)
    assert node.step(shared).wait(PATIENCE_S) == 0
    assert kinds(told(shared)) == ["began", "ending", "left"]
    assert not os.path.exists(node.layout.task(story.job, 1, 0, 0).log)


def test_a_gang_that_cannot_start_is_refused_for_all_nodes(node: Node) -> None:
    story = gang().role("w", 1, "/no/such/program").build()
    shared = node.open(story)
    assert node.step(shared).wait(PATIENCE_S) == 1
    assert (told(shared)[-1]["event"], told(shared)[-1]["code"]) == ("refused", "command_not_found")


def test_a_gang_that_finds_no_python_is_told_who_can_name_one(node: Node) -> None:
    direct = node.open(gang().role("w", 1, "torchrun", "train.py").build(), environment="")
    assert node.step(direct).wait(PATIENCE_S) == 1
    shell = node.open(gang().shell("w", 1, "torchrun train.py").build(), environment="")
    node.step(shell).wait(PATIENCE_S)
    verdict = next(fact["verdict"] for fact in told(shell) if fact.get("verdict"))
    for words in (words_of(told(direct)[-1]), words_of(verdict)):
        assert "the node has no torchrun, and no Python environment is set for jobs here" in words
        assert "(environment)" in words


def test_where_an_environment_is_named_a_missing_command_is_the_users(node: Node, tmp_path: Path) -> None:
    shared = node.open(gang().role("w", 1, "torchrun").build(), environment=str(tmp_path / "empty"))
    assert node.step(shared).wait(PATIENCE_S) == 1
    assert words_of(told(shared)[-1]).endswith("torchrun was not found in PATH")


def test_other_nodes_than_asked_for_are_refused(node: Node) -> None:
    shared = node.open(gang().shell("w", 2, "true").build())
    assert node.step(shared, TRAINMASTER_TASKS_0="1").wait(PATIENCE_S) == 1
    assert "2 tasks were asked for" in words_of(told(shared)[0])


def _with_port(number: int) -> GangBuilder:
    made = gang().shell("w", 1, "echo $PAI_PORT_LIST_w_0_web")
    made.roles = [replace(made.roles[0], ports=(PortRequest("web", 1, number),))]
    return made


def test_a_port_in_use_refuses_the_start(node: Node) -> None:
    with socket.socket() as taken:
        taken.bind(("", 0))
        taken.listen()
        shared = node.open(_with_port(taken.getsockname()[1]).build())
        assert node.step(shared).wait(PATIENCE_S) == 1
        assert "is in use on node n1" in words_of(told(shared)[0])


def test_cards_are_those_that_the_cluster_gave_and_each_task_has_its_own(node: Node) -> None:
    story = gang(gpus=2).shell("w", 2, "echo $CUDA_VISIBLE_DEVICES").build()
    shared = node.open(story)
    given = {"CUDA_VISIBLE_DEVICES": "0,1,2,3", "SLURM_STEP_GPUS": "4,5,6,7", "TRAINMASTER_TASKS_0": "2"}
    assert node.step(shared, **given).wait(PATIENCE_S) == 0
    assert (node.log(story, 0, 0), node.log(story, 0, 1)) == ("0,1\n", "2,3\n")
    assert [task["gpus"] for task in told(shared)[0]["tasks"]] == [[4, 5], [6, 7]]


def test_too_few_cards_refuse_the_start(node: Node) -> None:
    shared = node.open(gang(gpus=2).shell("w", 1, "true").build())
    assert node.step(shared, CUDA_VISIBLE_DEVICES="0").wait(PATIENCE_S) == 1
    assert "1 of the 2 GPUs" in words_of(told(shared)[0])


def test_a_task_without_cards_sees_none(node: Node) -> None:
    story = gang().shell("w", 1, 'echo "<$CUDA_VISIBLE_DEVICES>"').build()
    shared = node.open(story)
    assert node.step(shared, CUDA_VISIBLE_DEVICES="0,1").wait(PATIENCE_S) == 0
    assert node.log(story) == "<>\n"


def test_nothing_is_left_behind_on_the_node(node: Node, tmp_path: Path) -> None:
    mine = f"300.{os.getpid()}"  # others sleep, too
    shared = node.open(gang().shell("w", 1, f"(setsid sleep {mine} &) ; true").build())
    private = tmp_path / "tmp"
    private.mkdir()
    assert node.step(shared, TMPDIR=str(private)).wait(PATIENCE_S) == 0
    assert list(private.iterdir()) == []
    assert not any(b"sleep\0" + mine.encode() in line for line in map(_command, os.listdir("/proc")) if line)


def _command(pid: str) -> bytes:
    try:
        return Path("/proc", pid, "cmdline").read_bytes()
    except OSError:
        return b""
