"""What real shells complete: commands, options, and names that the server knows; never an error, never a long wait."""

import fcntl
import json
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.fixtures.shell import ONE_NODE, Shell, serving, write
from trainmaster.cli.main import commands

BIN = Path(sys.executable).parent
ORDERS = re.compile(r"\x1b\[[0-9;?>=]*[A-Za-z]|\x1b[()][A-Z0-9]|\x1b[=>]|\x1b\][^\x07]*\x07")
"""What a shell sends to a terminal to move and to colour."""
BASH = """
source {script}
COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
_tm_completion tm
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
ZSH = """
compdef() {{ }}
_arguments() {{ print -r -- "$@" }}
_files() {{ print FILES }}
source {script}
words=({words}); CURRENT=$#words
_tm_completion
"""
FISH = "source {script}; complete -C '{line}'"


@pytest.fixture(scope="module")
def tm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    with serving(tmp_path_factory.mktemp("home"), settings=ONE_NODE) as shell:
        yield shell


@pytest.fixture(scope="module")
def job(tm: Shell, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A job that left a model."""
    file = tmp_path_factory.mktemp("job") / "j.json"
    write(file, "sh -c 'echo > /model/w'", name="completes", replicas=2, model={"name": "digits"})
    made = tm.json("submit", str(file), "--wait")
    assert made["state"] == "succeeded"
    tm("pool", "set", "research")
    return str(made["id"])


def script(shell: str, folder: Path, env: dict[str, str]) -> Path:
    """The script that `--install-completion` would install for this shell."""
    path = folder / f"tm.{shell}"
    asked = [shell, "-c", f"tm --show-completion > {path}; true"]
    subprocess.run(asked, env={**env, "PATH": f"{BIN}:{os.environ['PATH']}"}, check=True, timeout=60)
    return path


def completed(shell: str, made: Path, env: dict[str, str], *words: str) -> list[str]:
    """What the shell offers for the last of `words` by the script `made`."""
    quoted = " ".join(word or '""' for word in ("tm", *words))
    if shell == "bash":
        text = BASH.format(script=made, words=quoted)
    elif shell == "zsh":
        text = ZSH.format(script=made, words=quoted)
    else:
        text = FISH.format(script=made, line=" ".join(("tm", *words)))
    run_env = {**env, "PATH": f"{BIN}:{os.environ['PATH']}"}
    done = subprocess.run([shell, "-c", text], env=run_env, capture_output=True, text=True, timeout=60, check=False)
    assert "Traceback" not in done.stdout + done.stderr, done.stderr
    return done.stdout.split("\n")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_commands_and_names_are_completed(shell: str, tm: Shell, job: str, tmp_path: Path) -> None:
    made = script(shell, tmp_path, tm.env)

    def offers(*words: str) -> str:
        return "\n".join(completed(shell, made, tm.env, *words))

    assert "preview" in offers("pre")
    assert job[:12] in offers("show", job[:3])
    assert "main-1" in offers("logs", job, "--replica", "main")


INTERACTIVE = {
    "bash": (["bash", "--norc", "--noprofile", "-i"], "source {script}; echo is $((40 + 2))"),
    "zsh": (["zsh", "-f", "-i"], "autoload -Uz compinit && compinit -u -D; source {script}; echo is $((40 + 2))"),
    "fish": (["fish", "--no-config", "-i"], "source {script}; echo is (math 40 + 2)"),
}
"""How a shell without settings is started, and what is typed first: it knows `tm` as after --install-completion, and
prints what was not typed."""


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_tab_key_completes_in_the_shell_itself(shell: str, tmp_path: Path) -> None:
    """R246: in a terminal, with the shell's own completion; no part of it is played."""
    start, setting = INTERACTIVE[shell]
    env = {**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}", "HOME": str(tmp_path), "TERM": "xterm", "PS1": "> "}
    made = script(shell, tmp_path, env)
    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 200, 0, 0))
    start = ["setsid", "--ctty", *start]  # the terminal is its own, as that of a person
    running = subprocess.Popen(start, env=env, stdin=its, stdout=its, stderr=its)
    os.close(its)
    try:
        typed(ours, f"{setting.format(script=made)}\r", until="is 42")
        typed(ours, "tm previ\t", until="tm preview")
    finally:
        running.kill()
        running.wait()
        os.close(ours)


def typed(terminal: int, text: str, until: str, patience_s: float = 60.0) -> None:
    """Type into a terminal, and read until `until` stands there, whatever stands between its letters to move about."""
    os.write(terminal, text.encode())
    seen, give_up = "", time.monotonic() + patience_s
    while until not in ORDERS.sub("", seen):
        left = give_up - time.monotonic()
        assert left > 0, seen
        assert select.select([terminal], [], [], left)[0], seen
        seen += os.read(terminal, 1 << 16).decode(errors="replace")


def offered(tm: Shell, *words: str) -> list[str]:
    """What bash would get for the last of `words`, without bash."""
    env = {
        **{name: text for name, text in tm.env.items() if name.startswith("TRAINMASTER_")},
        "COMP_WORDS": " ".join(("tm", *words)),
        "COMP_CWORD": str(len(words)),
        "_TM_COMPLETE": "complete_bash",
    }
    done = CliRunner().invoke(commands(), [], env=env, prog_name="tm", complete_var="_TM_COMPLETE")
    return done.stdout.split()


def test_every_kind_of_name_is_completed(tm: Shell, job: str) -> None:
    for words, name in (
        (("logs", "--rep"), "--replica"),
        (("models", "show", "di"), "digits"),
        (("models", "download", "digits@"), "digits@1"),
        (("list", "--pool", "re"), "research"),
        (("list", "--workspace", "def"), "default"),
        (("list", "--state", "suc"), "succeeded"),
        (("list", "--framework", "py"), "pytorch"),
        (("list", "--sort", "gp"), "gpus"),
        (("node", "show", "no"), "node-1"),
        (("exec", job, "-r", "main-0"), "main-0"),
        (("audit", "poo"), "pool"),
    ):
        assert offered(tm, *words) == [name], words


def test_without_a_server_nothing_is_offered_and_nothing_is_said(tm: Shell, tmp_path: Path) -> None:
    nobody = Shell(tmp_path)
    nobody.env["TRAINMASTER_URL"] = "http://127.0.0.1:9"
    assert offered(nobody, "show", "t") == []


def test_it_is_installed_for_the_shell_in_use(tmp_path: Path) -> None:
    env = {**os.environ, "HOME": str(tmp_path), "PATH": f"{BIN}:{os.environ['PATH']}"}
    said = subprocess.run(
        ["bash", "-c", "tm --install-completion; true"], env=env, capture_output=True, text=True, timeout=60, check=True
    )
    assert "bash completion installed" in said.stdout, json.dumps(said.stderr)
    assert "tm.sh" in (tmp_path / ".bashrc").read_text()
