"""`trainmaster unit`: the systemd unit of this installation and home. Prints; writes nothing."""

import os
import pwd
import shlex
import sys
from typing import Annotated, Final

import typer

from trainmaster.agent.host.cgroups import LEAF
from trainmaster.cli.context import home
from trainmaster.cli.helping import SERVER, add
from trainmaster.cli.installed import demand_server
from trainmaster.cli.language import words

_SYSTEM: Final = """\
# The server as a service of this computer. {note}As root:
#   {command} > /etc/systemd/system/{name}
#   systemctl daemon-reload && systemctl enable --now {name}"""
_USER: Final = """\
# The server as your own service. It needs no root, except for the last line, \
which lets it run while you are not signed in:
#   mkdir -p ~/.config/systemd/user && {command} > ~/.config/systemd/user/{name}
#   systemctl --user daemon-reload && systemctl --user enable --now {name}
#   loginctl enable-linger"""
_TEXT: Final = """\
{how}
# The first start prints a one-time password: {journal} --unit {name}

[Unit]
Description=Trainmaster, a platform for training models
{after}
[Service]
Type=notify
{who}ExecStart={start}
# Only the server is told to end. \
The agent and all jobs are processes of this unit, too, and go on: systemd may say that it
# "found left-over processes" at the next start, and that is meant.
KillMode=process
TimeoutStartSec=10min
TimeoutStopSec=30s
Restart=on-failure
RestartSec=2s
# Limits for each job; and a job that runs out of memory does not end the others.
Delegate=yes
# Where the server itself is, beside its jobs: \
needed for limits on systems with version 2 of control groups only. Known to systemd
# 254 and newer; older ones say that they ignore it, and limits are then kept by samples.
DelegateSubgroup={leaf}
OOMPolicy=continue
LimitNOFILE=65536
TasksMax=infinity

[Install]
WantedBy={wanted}
"""
NAME: Final = "trainmaster.service"


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    add(
        app,
        unit,
        "输出运行此平台目录上服务器的 systemd 单元：任务在服务器重启期间继续运行。\n\n只输出，不写入任何文件。",
        "tm --home /srv/trainmaster unit > /etc/systemd/system/trainmaster.service",
        "tm unit --user > ~/.config/systemd/user/trainmaster.service",
        panel=SERVER,
    )


def unit(
    user: Annotated[
        bool,
        typer.Option(
            "--user",
            help=words(
                "A unit of your own service manager, which needs no root.", "您自己的服务管理器的单元，不需要 root。"
            ),
        ),
    ] = False,
) -> None:
    """Print the systemd unit that runs the server of this home: jobs outlive its restarts.

    Prints the unit, and writes nothing.
    """
    demand_server()
    sys.stdout.write(text_of(home(), user=user))


def text_of(folder: str, *, user: bool) -> str:
    """Return the unit of the server on the home `folder`, run by this Python as this user."""
    start = [sys.executable, "-m", "trainmaster", "serve", "--home", os.path.abspath(folder)]
    again = [
        sys.executable,
        "-m",
        "trainmaster",
        "--home",
        os.path.abspath(folder),
        "unit",
        *(["--user"] if user else []),
    ]
    name = pwd.getpwuid(os.getuid()).pw_name
    command, note = " ".join(map(_quoted, again)).replace("%%", "%"), ""
    if name == "root":
        note = "This one runs it as root: print it as another user, who is then the server's. "
    elif not user:
        command = f"su - {name} -c {shlex.quote(command)}"
    return _TEXT.format(
        how=(_USER if user else _SYSTEM).format(command=command, name=NAME, note=note),
        name=NAME,
        journal="journalctl --user" if user else "journalctl",
        start=" ".join(map(_quoted, start)),
        after="" if user else "After=network-online.target remote-fs.target\nWants=network-online.target\n",
        leaf=LEAF,
        who="" if user else f"User={name}\n",
        wanted="default.target" if user else "multi-user.target",
    )


def _quoted(word: str) -> str:
    """Return `word` as systemd reads it back: quoted where it must be, % and $ doubled."""
    text = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("$", "$$")
    return f'"{text}"' if set(text) & set(" \t\"'\\;") else text
