"""PyTorch: the meeting place in variables (R112) and a launcher in front of a plain `python` command (R128-R130). Pure.

`WORLD_SIZE` and `RANK` count nodes until a launcher overwrites them for each process (D5). A command that has a
launcher, in either spelling, or that does not begin with python runs untouched (D8, R129).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from trainmaster.core.launch import Gang, TaskLaunch
from trainmaster.frameworks.base import command, environment
from trainmaster.frameworks.launching import Meeting, meeting, python_command, threads

LAUNCHER: Final = "torch.distributed.run"
LAUNCHERS: Final = re.compile(r"torch[./]distributed[./](launch|run)\b|(^|/)torchrun$")


class PyTorch:
    """Static rendezvous through torch.distributed.run, one launcher a node."""

    kind = "pytorch"

    def launch(self, gang: Gang, role: int, index: int, base_env: Mapping[str, str]) -> TaskLaunch:
        """Return the task's command and environment. Raises KeyError when the task is not placed."""
        node = meeting(gang, role, index)
        own = node.variables("localhost" if node.rank == 0 else "")
        env, platform = environment(gang, role, index, base_env, defaults=defaults(gang, role, node), own=own)
        return TaskLaunch(tuple(rewrite(command(gang, role, env, platform), own)), env)


def defaults(gang: Gang, role: int, node: Meeting) -> dict[str, str]:
    """Return what helps unless the job says otherwise.

    The shared store of the rendezvous breaks a restart of some nodes in PyTorch 2.13, so it is off. Gloo looks up the
    host's name to find its interface; between loopback addresses (virtual nodes of one machine) that may lead
    elsewhere, so the interface is named.
    """
    found = {**threads(gang, role, node.slots), "TORCH_DISABLE_SHARE_RDZV_TCP_STORE": "1"}
    if node.on_loopback:
        found["GLOO_SOCKET_IFNAME"] = "lo"
    return found


def rewrite(argv: list[str], own: Mapping[str, str]) -> list[str]:
    """Return `argv` with the launcher added where R128 asks for it, else as it is.

    ``python -u train.py`` and ``python -m pkg`` keep their form; with other options of the interpreter, or ``-c``, the
    launcher starts the very same command for each process (``--no_python``).
    """
    given = python_command(argv, LAUNCHERS)
    if given is None:
        return argv
    launcher = [
        *given.unbuffered,
        "-m",
        LAUNCHER,
        f"--nproc_per_node={own['SLOTS']}",
        f"--nnodes={own['WORLD_SIZE']}",
        f"--node_rank={own['RANK']}",
        f"--master_addr={own['MASTER_ADDR']}",
        f"--master_port={own['MASTER_PORT']}",
    ]
    return [*launcher, *given.rest] if given.plain else [*launcher, "--no_python", *argv]
