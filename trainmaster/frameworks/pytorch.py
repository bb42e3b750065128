"""PyTorch: the meeting place in variables (R112) and a launcher in front of a plain `python` command (R128-R130). Pure.

Every task of the job is a node; rank 0 is the first task of the first role, ranks go on through the roles in order. The
master port is the one allocated to rank 0 under the label `master` (D6). `WORLD_SIZE` and `RANK` count nodes until a
launcher overwrites them for each process (D5). A command that has a launcher, in either spelling, or that does not
begin with python runs untouched (D8, R129).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from trainmaster.core.framework_kinds import KINDS
from trainmaster.core.launch import Gang, TaskLaunch
from trainmaster.core.records import Assignment
from trainmaster.frameworks.base import command, environment, port_of

LAUNCHER: Final = "torch.distributed.run"
LAUNCHERS: Final = re.compile(r"torch[./]distributed[./](launch|run)\b|(^|/)torchrun$")
_PYTHON: Final = re.compile(r"(.*/)?python(3(\.\d+)?)?")
_WITH_VALUE: Final = ("-W", "-X", "--check-hash-based-pycs")


class PyTorch:
    """Static rendezvous through torch.distributed.run, one launcher a node."""

    kind = "pytorch"

    def launch(self, gang: Gang, role: int, index: int, base_env: Mapping[str, str]) -> TaskLaunch:
        """Return the task's command and environment. Raises KeyError when the task is not placed."""
        nodes = sorted(gang.placement, key=lambda task: (task.role, task.index))
        here = gang.find(role, index)
        rank, slots = nodes.index(here), slots_of(gang, here)
        own = {
            "MASTER_ADDR": "localhost" if rank == 0 else nodes[0].host,
            "MASTER_PORT": str(port_of(nodes[0], KINDS["pytorch"].port)),
            "WORLD_SIZE": str(len(nodes)),
            "RANK": str(rank),
            "SLOTS": str(slots),
        }
        defaults = _defaults(gang, role, nodes, slots)
        env, platform = environment(gang, role, index, base_env, defaults=defaults, own=own)
        return TaskLaunch(tuple(rewrite(command(gang, role, env, platform), own)), env)


def slots_of(gang: Gang, task: Assignment) -> int:
    """Return the processes of a node: as the job says, else its cards, else 1 (R112)."""
    asked = gang.options.get("processes_per_node")
    return int(asked) if asked else len(task.gpus) or 1


def _defaults(gang: Gang, role: int, nodes: list[Assignment], slots: int) -> dict[str, str]:
    """What helps unless the job says otherwise.

    Threads: the cores shared by the node's processes. The shared store of the rendezvous breaks a restart of some nodes
    in PyTorch 2.13, so it is off. Gloo looks up the host's name to find its interface; between loopback addresses
    (virtual nodes of one machine) that may lead elsewhere, so the interface is named.
    """
    threads = max(1, int(gang.roles[role].resources.cpu / slots))
    defaults = {"OMP_NUM_THREADS": str(threads), "TORCH_DISABLE_SHARE_RDZV_TCP_STORE": "1"}
    if all(task.host.startswith("127.") or task.host in ("localhost", "::1") for task in nodes):
        defaults["GLOO_SOCKET_IFNAME"] = "lo"
    return defaults


def rewrite(argv: list[str], own: Mapping[str, str]) -> list[str]:
    """Return `argv` with the launcher added where R128 asks for it, else as it is.

    ``python -u train.py`` and ``python -m pkg`` keep their form; with other options of the interpreter, or ``-c``, the
    launcher starts the very same command for each process (``--no_python``).
    """
    if not argv or not _PYTHON.fullmatch(argv[0]) or any(LAUNCHERS.search(word) for word in argv):
        return argv
    options, rest = _interpreter_options(argv[1:])
    if not rest or rest[0] in ("-", "-V", "--version", "-h", "--help"):
        return argv
    launcher = [
        *([argv[0], "-u"] if "-u" in options else [argv[0]]),
        "-m",
        LAUNCHER,
        f"--nproc_per_node={own['SLOTS']}",
        f"--nnodes={own['WORLD_SIZE']}",
        f"--node_rank={own['RANK']}",
        f"--master_addr={own['MASTER_ADDR']}",
        f"--master_port={own['MASTER_PORT']}",
    ]
    if set(options) - {"-u"} or rest[0] == "-c":
        return [*launcher, "--no_python", *argv]
    return [*launcher, *rest]


def _interpreter_options(words: list[str]) -> tuple[list[str], list[str]]:
    """Split what follows `python` into the interpreter's options and the rest: a script, ``-m``, ``-c`` or nothing."""
    at = 0
    while at < len(words) and words[at].startswith("-") and words[at] not in ("-m", "-c", "-", "-V", "-h"):
        if words[at] in ("--version", "--help"):
            break
        at += 2 if words[at] in _WITH_VALUE else 1
    return words[:at], words[at:]
