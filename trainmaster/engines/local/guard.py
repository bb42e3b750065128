"""The keeper and the agent of one home, as the server sees them: starts a keeper where none guards the home, and judges
whether the agent that answers can be used.

An agent of other code makes room for this server's, and jobs go on; one that speaks another protocol is replaced.
Invariant: no more than MOST_TURNS agents are sent away in a row: then this is said, and nothing more is done by itself.
"""

import contextlib
import os
import signal
from typing import Any, Final, Literal

from trainmaster.agent import place
from trainmaster.agent.host import procs
from trainmaster.core.folders.layout import Layout
from trainmaster.engines.local.messages import local as say
from trainmaster.messages.said import Said

MOST_TURNS: Final = 3

Step = Literal["use", "leave", "replace", "shutdown", "refuse"]


class Guard:
    """One object per connection to an agent. `why`: what is wrong with the agent that answers; None: nothing."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.why: Said | None = None
        self._turns = 0  # agents sent away since one could be used
        place.own_digest()
        self._untold = ""  # why the keeper does not know our place
        self._keeper = 0  # pid of the keeper that this server started
        self._halted = 0  # pid of a keeper that is stopped until our agent serves

    def tell_place(self) -> None:
        """Let the keeper start agents from where this server lies."""
        try:
            place.tell_place(self.layout)
            self._untold = ""
        except OSError as error:
            self._untold = f"{error.strerror}: {error.filename}"

    def ensure_keeper(self) -> None:
        """Start a keeper unless one lives: it starts the agent, and again when it is killed. Raises OSError."""
        if self._keeper:
            with contextlib.suppress(ChildProcessError):
                if os.waitpid(self._keeper, os.WNOHANG) == (0, 0):
                    return
            self._keeper = 0
        run = self.layout.path("run")
        os.makedirs(run, 0o700, exist_ok=True)
        if place.guarded(self.layout):
            return
        log_path, command = os.path.join(run, "agent.log"), place.keeper_command(self.layout)
        self._keeper = os.posix_spawn(
            command[0],
            command,
            place.agent_environment(),
            setsid=True,
            file_actions=[
                (os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0),
                (os.POSIX_SPAWN_OPEN, 1, log_path, os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600),
                (os.POSIX_SPAWN_DUP2, 1, 2),
            ],
        )

    def judge(self, told: dict[str, Any] | None) -> Step:
        """Return what to do about an agent by what it says of itself (None: it does not know the question)."""
        if told is None:
            return self._send_away("replace")
        if not _same_folder(told["home"], self.layout.home):
            if not told["attempts"]:
                return self._send_away("shutdown")
            self.why = say.agent_of_another_home(told["home"])
            return "refuse"
        # An upgrade may have replaced our files since this server began: an agent then has the new code.
        if told["protocol"] == place.PROTOCOL and (
            told["code"] == place.own_digest() or told["code"] == place.digest()
        ):
            return "use"
        if self._untold:
            self.why = say.agent_not_replaceable(self._untold)
            return "refuse"
        return self._send_away("leave")

    def _send_away(self, how: Step) -> Step:
        self._turns += 1
        self.why = say.agent_being_replaced()
        if self._turns <= MOST_TURNS:
            return how
        self._turns, self.why = 0, say.agent_does_not_give_way()
        return "refuse"

    def replace(self, agent: int) -> None:
        """End an agent that cannot be asked to leave. Its keeper is halted, or it would have another one at once: let
        go again, it finds ours serving, and from then on only waits for the tasks that are its children.
        """
        found = procs.stat(agent)
        if found is not None and _keeps(found.ppid, self.layout.path("run")):
            self._halted = found.ppid
            procs.send([self._halted], signal.SIGSTOP)
        procs.send([agent], signal.SIGKILL)

    def settled(self) -> None:
        """An agent serves that can be used, or we give up: let a halted keeper go on."""
        self._turns = 0
        if self._halted:
            procs.send([self._halted], signal.SIGCONT)
            self._halted = 0


def _same_folder(one: str, other: str) -> bool:
    try:
        return os.path.samefile(one, other)
    except OSError:
        return False


def _keeps(pid: int, run: str) -> bool:
    """Return whether `pid` is a keeper of the home that `run` belongs to."""
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return os.fsencode(run) in file.read().split(b"\0")
    except OSError:
        return False
