"""`tm exec`: a command, or a shell, inside a running replica, with this terminal as its own.

Invariant: the terminal is as it was before, however this ends.
"""

import os
import select
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from trainmaster.cli import completing
from trainmaster.cli.context import OneJob, client
from trainmaster.cli.helping import JOBS, add
from trainmaster.cli.language import words

if TYPE_CHECKING:
    from trainmaster.sdk.inside import Inside

SHELL: Final = ("/bin/sh", "-c", "command -v bash >/dev/null && exec bash; exec sh")
NOT_ENTERED: Final = 125
CHUNK: Final = 1 << 16


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    add(
        app,
        exec_inside,
        "在运行中的副本内执行命令：使用它的文件、环境变量和加速卡。\n\n以该命令的退出码结束；125 表示未能进入。"
        "所执行的命令随副本和本命令一起结束。所有能看到该任务的人都会看到您进入过。",
        "tm exec t826",
        "tm exec t826 --replica worker-1 -- nvidia-smi",
        "tm exec t826 -- tar cz /model > model.tgz",
        name="exec",
        panel=JOBS,
    )


def exec_inside(
    job: OneJob,
    command: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[-- COMMAND...]",
            help=words("What to run.", "要执行的命令。"),
            show_default=words("a shell", "shell"),
        ),
    ] = None,
    replica: Annotated[
        str | None,
        typer.Option(
            "--replica",
            "-r",
            metavar="NAME",
            help=words("Which replica, such as worker-0.", "哪个副本，例如 worker-0。"),
            show_default=words("the first", "第一个"),
            autocompletion=completing.replicas,
        ),
    ] = None,
    tty: Annotated[
        bool | None,
        typer.Option(
            "--tty/--no-tty",
            help=words("Give it a terminal.", "为它分配终端。"),
            show_default=words("where this is one", "当前是终端时"),
        ),
    ] = None,
    task: Annotated[str | None, typer.Option("--task", hidden=True)] = None,
) -> None:
    """Run a command inside a running replica: with its files, variables and GPUs.

    Ends with the exit code of the command; 125: it could not be entered. What runs inside ends with the replica and
    with this command. Everybody who sees the job sees that you were there.
    """
    from trainmaster.cli.showing.console import show_error
    from trainmaster.core.errors import TrainmasterError

    on_terminal = os.isatty(0) and os.isatty(1)
    window = None
    if on_terminal if tty is None else tty:
        window = os.get_terminal_size(0) if on_terminal else os.terminal_size((80, 24))
    try:
        with client().get(job).exec(command or SHELL, replica or task, window=window) as inside:
            code = carry(inside, raw=window is not None and on_terminal)
    except TrainmasterError as error:
        show_error(error)
        code = NOT_ENTERED
    sys.exit(code)


def carry(inside: "Inside", *, raw: bool) -> int:
    """Carry input and outputs until the command has ended; return its exit code. `raw`: every key is the command's."""
    with changes() as wake, terminal(raw):
        threading.Thread(target=give, args=(inside, wake), daemon=True).start()
        for stream, data in inside:
            rest = memoryview(data)
            while rest:
                rest = rest[os.write(stream, rest) :]
    assert inside.exit_code is not None
    return inside.exit_code


def give(inside: "Inside", wake: int) -> None:
    """Carry what is typed, and every change of the window's size, until the end of the input. Runs in a thread of its
    own.
    """
    waiting = [0, wake]
    while True:
        ready, _, _ = select.select(waiting, [], [])
        if wake in ready:
            os.read(wake, CHUNK)
            with suppress(OSError):  # the input is not a terminal: it has no size
                inside.resize(*os.get_terminal_size(0))
        if 0 in ready:
            try:
                data = os.read(0, CHUNK)
            except OSError:  # the terminal was hung up
                data = b""
            if data:
                inside.write(data)
            else:
                inside.end_input()
                waiting = [wake]


@contextmanager
def changes() -> Iterator[int]:
    """Yield what can be read whenever the window's size has changed; let every other end of this program be an orderly
    one.
    """

    def leave(signum: int, frame: Any) -> None:
        sys.exit(128 + signum)

    def changed(signum: int, frame: Any) -> None:
        with suppress(BlockingIOError):  # the pipe is full: the reader will see an older note
            os.write(writer, b".")

    reader, writer = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    before = {kind: signal.signal(kind, leave) for kind in (signal.SIGTERM, signal.SIGHUP)}
    before[signal.SIGWINCH] = signal.signal(signal.SIGWINCH, changed)
    try:
        yield reader
    finally:
        for kind, handler in before.items():
            signal.signal(kind, handler)


@contextmanager
def terminal(raw: bool) -> Iterator[None]:
    """Let every key through while the context is held, if `raw`; then the terminal is as it was."""
    if not raw:
        yield
        return
    import termios
    import tty

    before = termios.tcgetattr(0)
    try:
        tty.setraw(0)
        yield
    finally:
        termios.tcsetattr(0, termios.TCSADRAIN, before)
