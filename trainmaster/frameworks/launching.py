"""What launchers of processes have in common: which node a task is, where all meet, and where in a command a launcher
goes. Pure.

Every task of the job is a node; rank 0 is the first task of the first role, ranks go on through the roles in order. All
meet at rank 0, at the port allocated to it under the label of the framework's entry (D6).
"""

from __future__ import annotations

import re
from typing import Final

from trainmaster._compat import dataclass
from trainmaster.core.framework_kinds import KINDS
from trainmaster.core.launch import Gang
from trainmaster.core.records import Assignment
from trainmaster.frameworks.base import port_of

_PYTHON: Final = re.compile(r"(.*/)?python(3(\.\d+)?)?")
_WITH_VALUE: Final = ("-W", "-X", "--check-hash-based-pycs")
_ASKS_ONLY: Final = ("-", "-V", "--version", "-h", "--help")


@dataclass(frozen=True, slots=True)
class Meeting:
    """One node of a gang. `rank`: its place among `nodes`; `slots`: its processes, which come after `before` others of
    `processes`; `address` and `port`: where all meet.
    """

    rank: int
    nodes: tuple[Assignment, ...]
    slots: int
    before: int
    processes: int
    address: str
    port: int

    def variables(self, address: str = "") -> dict[str, str]:
        """Return what every node is told (R112); `address`: where all meet as this node calls it."""
        return {
            "MASTER_ADDR": address or self.address,
            "MASTER_PORT": str(self.port),
            "WORLD_SIZE": str(len(self.nodes)),
            "RANK": str(self.rank),
            "SLOTS": str(self.slots),
        }

    @property
    def on_loopback(self) -> bool:
        """Whether all nodes are virtual ones of one machine."""
        return all(task.host.startswith("127.") or task.host in ("localhost", "::1") for task in self.nodes)


def meeting(gang: Gang, role: int, index: int) -> Meeting:
    """Return the node that the task at (role, index) is. O(tasks log tasks). Raises KeyError when it is not placed."""
    nodes = sorted(gang.placement, key=lambda task: (task.role, task.index))
    rank = nodes.index(gang.find(role, index))
    slots = [slots_of(gang, task) for task in nodes]
    port = port_of(nodes[0], KINDS[gang.framework].port)
    return Meeting(rank, tuple(nodes), slots[rank], sum(slots[:rank]), sum(slots), nodes[0].host, port)


def slots_of(gang: Gang, task: Assignment) -> int:
    """Return the processes of a node: as the job says, else its cards, else 1 (R112)."""
    asked = gang.options.get("processes_per_node")
    return int(asked) if asked else len(task.gpus) or 1


def threads(gang: Gang, role: int, slots: int) -> dict[str, str]:
    """Return the default for OpenMP: the cores of a task, shared by its processes."""
    return {"OMP_NUM_THREADS": str(max(1, int(gang.roles[role].resources.cpu / slots)))}


@dataclass(frozen=True, slots=True)
class PythonCommand:
    """A command of one Python program: `options` of the interpreter, and in `rest` a script, ``-m`` or ``-c`` with what
    follows.
    """

    interpreter: str
    options: tuple[str, ...]
    rest: tuple[str, ...]

    @property
    def unbuffered(self) -> list[str]:
        """The interpreter, with -u where the command has it."""
        return [self.interpreter, "-u"] if "-u" in self.options else [self.interpreter]

    @property
    def plain(self) -> bool:
        """Whether a launcher can start it by its script or module alone."""
        return not set(self.options) - {"-u"} and self.rest[0] != "-c"


def python_command(argv: list[str], launchers: re.Pattern[str]) -> PythonCommand | None:
    """Return the parts of a command that begins with python; None for any other, for one that has a word of
    `launchers`, and for one that only asks something of the interpreter.
    """
    if not argv or not _PYTHON.fullmatch(argv[0]) or any(launchers.search(word) for word in argv):
        return None
    at = 1
    while at < len(argv) and argv[at].startswith("-") and argv[at] not in ("-m", "-c", *_ASKS_ONLY):
        at += 2 if argv[at] in _WITH_VALUE else 1
    options, rest = tuple(argv[1:at]), tuple(argv[at:])
    return None if not rest or rest[0] in _ASKS_ONLY else PythonCommand(argv[0], options, rest)
