"""`tm exec` as a person and as a script use it: a real server, a real job, a real terminal."""

import fcntl
import json
import os
import re
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.fixtures import quick
from tests.fixtures.shell import ONE_NODE, TM, Shell, serving, write

PATIENCE_S = 120.0


@pytest.fixture(scope="module")
def tm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    with serving(tmp_path_factory.mktemp("home"), settings=ONE_NODE) as shell:
        yield shell


@pytest.fixture(scope="module")
def job(tm: Shell, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A job of two workers that run."""
    roles = [{"name": "worker", "replicas": 2, "command": "sleep infinity", "resources": {"cpu": 0.1, "memory": 64}}]
    file = tmp_path_factory.mktemp("job") / "j.json"
    file.write_text(json.dumps({"name": "long", "roles": roles}))
    made = tm.json("submit", str(file))["id"]
    tm.until(lambda seen: seen["tasks"]["running"] == 2, made)
    yield made
    tm("stop", made)


def run(tm: Shell, *words: str, given: bytes = b"") -> "subprocess.CompletedProcess[bytes]":
    return quick.tm_bytes("exec", *words, env=tm.env, given=given, timeout=PATIENCE_S)


def test_outputs_are_apart_and_the_exit_code_is_the_commands(tm: Shell, job: str) -> None:
    done = run(tm, job, "--task", "worker-1", "--", "sh", "-c", "echo $TRAINMASTER_TASK; echo oh >&2; exit 7")
    assert (done.returncode, done.stdout, done.stderr) == (7, f"{job}-1/task0-1\n".encode(), b"oh\n")


def test_bytes_go_through_in_both_directions(tm: Shell, job: str) -> None:
    data = os.urandom(2_000_000)
    done = run(tm, job, "--", "cat", given=data)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout == data


def test_an_option_behind_the_dashes_is_the_commands(tm: Shell, job: str) -> None:
    assert run(tm, job, "--", "echo", "--task", "x", "--help").stdout == b"--task x --help\n"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("none",), "There is no job"),
        (("JOB", "--task", "worker-2"), "tm show"),
        (("JOB", "--task", "x"), "no replica x"),
    ],
)
def test_what_cannot_be_entered_is_said_with_a_remedy_and_125(
    tm: Shell, job: str, words: tuple[str, ...], says: str
) -> None:
    done = run(tm, *(job if word == "JOB" else word for word in words), "--", "true")
    said = done.stdout + done.stderr
    assert done.returncode == 125, said
    assert says in said.decode()
    assert b"error" in said


def test_a_job_that_has_ended_cannot_be_entered(tm: Shell, tmp_path: Path) -> None:
    ended = tm.json("submit", write(tmp_path / "j.json", "true"), "--wait")["id"]
    done = run(tm, ended, "--", "true")
    assert done.returncode == 125
    assert "has ended; only a running replica can be entered" in (done.stdout + done.stderr).decode()
    assert f"tm logs {ended}" in re.sub(r"\s+", " ", (done.stdout + done.stderr).decode())


def test_everybody_who_sees_the_job_sees_who_was_inside_and_no_arguments(tm: Shell, job: str) -> None:
    run(tm, job, "--", "/bin/echo", "--password=hunter2")
    from trainmaster.sdk.client import Client

    client = Client(home=str(tm.home))
    events = [event for event in client.get(job).events() if event.kind == "entered"]
    assert events[-1].actor == "admin"
    assert events[-1].text.en == "task0-0: echo"
    assert "hunter2" not in str(events)


class Screen:
    """A terminal with `tm exec` on it."""

    def __init__(self, pid: int, master: int) -> None:
        self.pid, self.master, self.seen = pid, master, ""

    def until(self, pattern: str) -> None:
        give_up = time.monotonic() + PATIENCE_S
        while not re.search(pattern, self.seen):
            assert select.select([self.master], [], [], give_up - time.monotonic())[0], self.seen
            self.seen += os.read(self.master, 65536).decode()
        self.seen = ""

    def type(self, text: str) -> None:
        os.write(self.master, text.encode())

    def modes(self) -> int:
        return int(termios.tcgetattr(self.master)[3])

    def end(self) -> int:
        """Wait for the end; return the exit code."""
        give_up = time.monotonic() + PATIENCE_S
        while (ended := os.waitpid(self.pid, os.WNOHANG))[0] == 0:
            assert time.monotonic() < give_up, self.seen
            if select.select([self.master], [], [], 0.05)[0]:
                self.seen += os.read(self.master, 65536).decode()
        return os.waitstatus_to_exitcode(ended[1])


@contextmanager
def screen(tm: Shell, *words: str) -> Iterator[Screen]:
    master, slave = os.openpty()  # held open: its modes can be asked for after the end
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 33, 101, 0, 0))
    process = subprocess.Popen(
        [*TM, "exec", *words],
        env={**tm.env, "TERM": "xterm"},
        stdin=slave,
        stdout=slave,
        stderr=slave,
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # noqa: PLW1509 (nothing else runs in this process)
    )
    try:
        yield Screen(process.pid, master)
    finally:
        process.kill()
        os.close(master)
        os.close(slave)


def test_a_shell_on_a_terminal(tm: Shell, job: str) -> None:
    """Size, keys, Ctrl-C, change of size, exit code; and the terminal is as it was."""
    with screen(tm, job) as on:
        before = on.modes()
        on.until("[#$] $")
        assert on.modes() != before
        on.type("PS1='ne''xt> '; stty size\r")
        on.until(r"33 101\r\n(\x1b\S*)?next> ")
        on.type("sh -c 'echo $((40 + 2)); exec sleep 300'\r")
        on.until("42\r\n")
        on.type("\x03")
        on.until("next> ")
        fcntl.ioctl(on.master, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 120, 0, 0))
        on.type("until stty size | grep '^50 120'; do sleep 0.1; done\r")
        on.until("50 120\r\n")
        on.type("exit 9\r")
        assert on.end() == 9
        assert on.modes() == before


def test_the_terminal_is_as_it_was_also_when_tm_is_ended(tm: Shell, job: str) -> None:
    with screen(tm, job, "--", "sh", "-c", "echo ready; sleep 300") as on:
        before = on.modes()
        on.until("ready")
        os.kill(on.pid, signal.SIGTERM)
        assert on.end() == 143
        assert on.modes() == before


def test_what_runs_inside_ends_with_the_command_that_started_it(tm: Shell, job: str) -> None:
    words = [*TM, "exec", job, "--", "sh", "-c", "echo $$; exec sleep 271"]
    process = subprocess.Popen(words, env=tm.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline().strip().isdigit()
    process.kill()
    process.communicate()
    give_up = time.monotonic() + PATIENCE_S
    while (
        run(tm, job, "--", "sh", "-c", "cat /proc/[0-9]*/cmdline | tr '\\0' ' ' | grep -c 'sleep 27[1]'").stdout
        != b"0\n"
    ):
        assert time.monotonic() < give_up
