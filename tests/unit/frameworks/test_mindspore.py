"""MindSpore (R43): the variables of its cluster, and the program that starts the processes of a node."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from trainmaster.core.launch import Gang, TaskLaunch
from trainmaster.frameworks import registry
from trainmaster.spec.check import check
from trainmaster.spec.lower import draft

PROGRAM = "/job/start_mindspore.py"
PATIENT = "PATIENCE_S = 10\n"


def job(command: str = "python train.py", gpu: int = 2, **fields: Any) -> Gang:
    role = {"name": "worker", "replicas": 2, "command": command, "resources": {"cpu": 4, "gpu": gpu}}
    return draft(check({"name": "a", "framework": "mindspore", "roles": [role], **fields}))


def launches(gang: Gang, **base: str) -> list[TaskLaunch]:
    return registry.preview(gang, base)


def test_a_plain_python_command_is_started_once_for_each_process_and_once_as_scheduler() -> None:
    first, second = launches(job("python3 -u train.py --lr=1"))
    command = ("--", "python3", "-u", "train.py", "--lr=1")
    assert first.argv == ("python3", "-u", PROGRAM, "--first=0", "--processes=2", "--scheduler", *command)
    assert second.argv == ("python3", "-u", PROGRAM, "--first=2", "--processes=2", *command)
    assert list(first.files) == list(second.files) == [PROGRAM]


def test_all_are_told_who_there_is_and_where_they_meet() -> None:
    """The scheduler listens at the address that it is told, so the first replica is told its own, not localhost."""
    names = ("MS_WORKER_NUM", "MS_SCHED_HOST", "MS_SCHED_PORT", "MASTER_ADDR", "RANK")
    found = [[one.env[name] for name in names] for one in launches(job())]
    assert found == [["4", "127.0.0.2", "21000", "127.0.0.2", rank] for rank in ("0", "1")]


def test_ranks_follow_on_through_roles_of_unequal_size() -> None:
    roles = [
        {"name": "big", "command": "python a.py", "resources": {"gpu": 4}},
        {"name": "small", "replicas": 2, "command": "python b.py", "resources": {"gpu": 1}},
    ]
    made = launches(draft(check({"name": "a", "framework": "mindspore", "roles": roles})))
    assert [one.argv[2:4] for one in made] == [
        ("--first=0", "--processes=4"),
        ("--first=4", "--processes=1"),
        ("--first=5", "--processes=1"),
    ]
    assert {one.env["MS_WORKER_NUM"] for one in made} == {"6"}


@pytest.mark.parametrize(
    "command", ["msrun --worker_num=4 train.py", "python /env/bin/msrun train.py", "mpirun -n 4 python train.py"]
)
def test_a_command_with_a_launcher_runs_untouched(command: str) -> None:
    made = launches(job(command))[0]
    assert (made.argv, made.files) == (tuple(command.split()), {})


def test_without_a_sandbox_the_program_lies_in_the_replicas_folder() -> None:
    made = launches(job(), TRAINMASTER_FILES_DIR="/run/task/files")[0]
    assert made.argv[1] == "/run/task/files" + PROGRAM
    assert "TRAINMASTER_FILES_DIR" not in made.env


def begin(tmp_path: Path, text: str, *options: str, hurries: bool = False) -> subprocess.Popen[str]:
    """Start the program as a task would, each of whose processes runs the Python `text`. `hurries`: it has little
    patience.
    """
    made = launches(job())[0]
    program = tmp_path / "start.py"
    source = made.files[PROGRAM]
    assert PATIENT in source
    program.write_text(source.replace(PATIENT, "PATIENCE_S = 1\n") if hurries else source)
    env = {**os.environ, **made.env, "TMPDIR": str(tmp_path), "PATH": os.environ["PATH"]}
    argv = [sys.executable, str(program), *options, "--", sys.executable, "-c", text]
    pipe = subprocess.PIPE
    return subprocess.Popen(argv, env=env, stdout=pipe, stderr=pipe, text=True, start_new_session=True)


def start(tmp_path: Path, text: str, *options: str) -> tuple[int, str, str]:
    """Run the program to its end; return its exit code and what it wrote."""
    process = begin(tmp_path, text, *options)
    out, err = process.communicate(timeout=120)
    return process.returncode, out, err


NAMES = ("MS_ROLE", "MS_NODE_ID", "RANK_ID", "RANK_SIZE", "DEVICE_ID")
SAYS = f"import os; os.write(1, (' '.join(os.environ.get(one, '-') for one in {NAMES}) + chr(10)).encode())"
"""In one piece: several write at once."""


def test_each_process_has_its_rank_and_the_scheduler_writes_beside(tmp_path: Path) -> None:
    code, out, err = start(tmp_path, SAYS, "--first=2", "--processes=2", "--scheduler")
    assert (code, err) == (0, "")
    assert sorted(out.splitlines()) == ["MS_WORKER 2 2 4 0", "MS_WORKER 3 3 4 1"]
    assert (tmp_path / "scheduler.log").read_text() == "MS_SCHED - 0 - -\n"


def test_the_first_process_that_fails_ends_the_others_and_gives_its_code(tmp_path: Path) -> None:
    text = "import os, signal, sys; sys.exit(5) if os.environ.get('MS_NODE_ID') == '1' else signal.pause()"
    assert start(tmp_path, text, "--first=0", "--processes=3", "--scheduler")[0] == 5


def test_a_process_that_was_killed_gives_the_code_of_its_signal(tmp_path: Path) -> None:
    assert start(tmp_path, "import os; os.kill(os.getpid(), 9)", "--first=0", "--processes=1")[0] == 137


def test_a_scheduler_that_fails_is_shown(tmp_path: Path) -> None:
    text = "import os, signal, sys; sys.exit('no port') if os.environ['MS_ROLE'] == 'MS_SCHED' else signal.pause()"
    code, _, err = start(tmp_path, text, "--first=0", "--processes=1", "--scheduler")
    assert code == 1
    assert "scheduler of MindSpore ended with exit code 1" in err
    assert "no port" in err


def test_a_process_that_ignores_the_end_of_another_is_killed(tmp_path: Path) -> None:
    text = (
        "import os, signal, sys, time; signal.signal(signal.SIGTERM, signal.SIG_IGN);"
        "sys.exit(5) if os.environ['MS_NODE_ID'] == '1' else time.sleep(1000)"
    )
    assert start(tmp_path, text, "--first=0", "--processes=2")[0] == 5


def test_sigterm_is_left_to_those_that_train(tmp_path: Path) -> None:
    """The platform sends it to every process of a task; the program waits for what they still save."""
    text = (
        "import signal, sys; signal.signal(signal.SIGTERM, lambda *_: (print('saved', flush=True), sys.exit(0)));"
        "print('ready', flush=True); signal.pause()"
    )
    process = begin(tmp_path, text, "--first=0", "--processes=1")
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    os.killpg(process.pid, signal.SIGTERM)
    assert process.communicate(timeout=120)[0] == "saved\n"
    assert process.returncode == 0


def test_who_still_saves_at_a_stop_is_not_hurried_by_those_that_are_gone(tmp_path: Path) -> None:
    """How long a stop may take is the grace period's matter; the scheduler and other processes end at once."""
    text = (
        "import os, signal, sys, time;"
        "saves = os.environ.get('MS_NODE_ID') == '0';"
        "saves and signal.signal(signal.SIGTERM, lambda *_: (time.sleep(3), print('saved', flush=True), sys.exit(0)));"
        "os.write(1, b'ready\\n'); signal.pause()"
    )
    options = ("--first=0", "--processes=2", "--scheduler")
    process = begin(tmp_path, text, *options, hurries=True)
    assert process.stdout is not None
    assert [process.stdout.readline() for _ in range(2)] == ["ready\n"] * 2
    while (tmp_path / "scheduler.log").read_text() != "ready\n":
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGTERM)
    out, err = process.communicate(timeout=120)
    assert (out, err, process.returncode) == ("saved\n", "", 143)
