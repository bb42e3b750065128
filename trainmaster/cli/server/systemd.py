"""systemd, as far as a server that it starts has to know: whether stopping its unit would end jobs, and telling it that
we are ready.

Agent, keeper and all tasks are processes of the unit, too. Unless it says KillMode=process, systemd ends them with the
server.
"""

import os
import re
import socket
import subprocess
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from trainmaster.agent.host.cgroups import LEAF
from trainmaster.cli.language import words

SPARES: Final = ("process", "none")
"""Values of KillMode= under which only the server is signalled."""
SUBGROUPS_SINCE: Final = 254
"""The first release of systemd that knows DelegateSubgroup=."""
REMEDY: Final = words(
    "Use the unit that `trainmaster unit` prints, or add KillMode=process to [Service], then: systemctl daemon-reload",
    "请使用 `trainmaster unit` 输出的单元，或在 [Service] 中加入 KillMode=process，然后执行：systemctl daemon-reload",
)
_SERVICE: Final = re.compile(r".*/([^/]+\.service)(?:/(?!.*\.(?:scope|service)(?:/|$)).*)?$")
_ASK_S: Final = 5.0


@dataclass(frozen=True, slots=True)
class Unit:
    """The service that a process belongs to. `kill_mode` "": systemd did not say."""

    name: str
    user: bool
    kill_mode: str

    @property
    def kills_jobs(self) -> bool:
        """Whether stopping or restarting it ends every job."""
        return self.kill_mode not in (*SPARES, "")

    @property
    def warning(self) -> str:
        """What to tell whoever runs it."""
        return words(
            f"{self.name} has KillMode={self.kill_mode}: every stop or restart of it ends all running jobs",
            f"{self.name} 设置了 KillMode={self.kill_mode}：每次停止或重启它都会结束所有运行中的任务",
        )


def service_of(text: str) -> tuple[str, bool] | None:
    """Return (name, of a user's own manager) of the service in a /proc/PID/cgroup text; None for a shell, a container
    or none.
    """
    for line in text.splitlines():
        _, controllers, path = line.split(":", 2)
        found = _SERVICE.fullmatch(path) if controllers in ("", "name=systemd") else None
        if found and not found[1].startswith("user@"):
            return found[1], "/user@" in path
    return None


def unit_of(pid: int) -> Unit | None:
    """Return the service that `pid` belongs to, None when it belongs to none. Asks systemctl, some 10 ms."""
    try:
        with open(f"/proc/{pid}/cgroup", encoding="utf-8", errors="replace") as file:
            found = service_of(file.read())
    except OSError:
        return None
    if found is None:
        return None
    name, user = found
    said = ""
    with suppress(OSError, subprocess.SubprocessError):
        asked = ["systemctl", *(["--user"] if user else []), "show", "--property=KillMode", "--value", "--", name]
        said = subprocess.run(asked, capture_output=True, text=True, timeout=_ASK_S, check=True).stdout.strip()
    return Unit(name, user, said)


def subgroup() -> str:
    """Return the option of systemd-run, with a space behind it, that puts a server beside its jobs; "" where systemd
    knows none.
    """
    said = ""
    with suppress(OSError, subprocess.SubprocessError):
        said = subprocess.run(
            ["systemctl", "--version"], capture_output=True, text=True, timeout=_ASK_S, check=True
        ).stdout
    found = re.match(r"systemd (\d+)", said)
    return f"-p DelegateSubgroup={LEAF} " if found and int(found[1]) >= SUBGROUPS_SINCE else ""


def notify(text: str) -> None:
    """Tell the service manager that started this process, if one wants to know (sd_notify)."""
    address = os.environ.get("NOTIFY_SOCKET", "")
    if not address:
        return
    with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
        sender.sendto(text.encode(), "\0" + address[1:] if address.startswith("@") else address)
