"""Start the agent of one home: ``python -m trainmaster.agent --home HOME``. Started by the keeper, with ``--kept``."""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import os
import resource
import signal
import sys
from pathlib import Path
from typing import Final

from trainmaster.agent.host import procs
from trainmaster.agent.place import ANOTHER_SERVES, agent_environment, keeper_command, overwrite, own_digest
from trainmaster.agent.server import AgentServer, prepare_home
from trainmaster.agent.tasks import handles
from trainmaster.core.folders.layout import Layout

FILES: Final = 65_536
"""Files the agent, and every task after it, may have open. A task in its control group takes about ten of the agent's:
with the 1,024 that shells give, a hundred tasks would be the end. More than this harms programs that close all they
could have.
"""


def note_pid(path: str, pid: int) -> None:
    """Write a pid for people to read, in the place of the last one. Nothing depends on it: a full disk is no error."""
    with contextlib.suppress(OSError):
        overwrite(Path(path), b"%-10d\n" % pid)


def main() -> int:
    """Run until asked to stop. Exit code 0 tells the keeper that there is nothing left to keep, 3 that another
    serves.
    """
    parser = argparse.ArgumentParser(prog="python -m trainmaster.agent")
    parser.add_argument("--home", required=True)
    parser.add_argument("--data", default="")
    parser.add_argument("--kept", type=int, nargs="?", const=os.getppid(), help="pid of the keeper that is the parent")
    options = parser.parse_args()
    layout = Layout(os.path.abspath(options.home), options.data)
    own_digest()
    handles.inherited_handles()
    prepare_home(layout)
    os.chdir("/")
    if not options.kept:  # started by hand: go under a keeper first
        command = keeper_command(layout)
        os.execve(command[0], command, agent_environment())
    lock = os.open(layout.path("run", "agent.lock"), os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return ANOTHER_SERVES
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (FILES if most == resource.RLIM_INFINITY else min(FILES, most), most))
    # No core dumps, unless a task raises its soft limit.
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    procs.take_orphans()
    procs.leave_keys()
    for name, pid in (("agent.pid", os.getpid()), ("keeper.pid", options.kept)):
        note_pid(layout.path("run", name), pid)

    def become_keeper(handed: dict[str, str]) -> None:
        """The keeper was killed: take its place, so that the tasks keep a parent that writes their exit codes down."""
        os.close(lock)
        command = keeper_command(layout)
        os.execve(command[0], command, {**agent_environment(), **handed})

    AgentServer(layout, options.kept, become_keeper).run()
    return 0


if __name__ == "__main__":
    sys.exit(main())
