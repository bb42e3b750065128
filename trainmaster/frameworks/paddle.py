"""PaddlePaddle: `paddle.distributed.launch` in front of a plain `python` command (R43). Pure.

Its launchers find each other at rank 0 and then choose ports of their own. Each is told its own address: by itself it
asks for that of the host's name, which in a sandbox is the replica's. A launcher prints the first of its processes and
writes all of them to files, together with the whole environment, secrets included: these lie in the replica's own
temporary folder and go with it. A command that has the launcher or does not begin with python runs untouched.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from trainmaster.core.launch import Gang, TaskLaunch
from trainmaster.frameworks.base import command, environment
from trainmaster.frameworks.launching import Meeting, meeting, python_command, threads

LAUNCHER: Final = "paddle.distributed.launch"
LAUNCHERS: Final = re.compile(r"paddle[./]distributed[./](launch|fleet[./]launch)\b|(^|/)fleetrun$")
WITHOUT_CARDS: Final = {"XPULINK_VISIBLE_DEVICES": "all"}
"""Makes the launcher look which devices there are. By CUDA_VISIBLE_DEVICES alone, which is empty for a replica without
cards, it takes the empty name for one card, and NCCL for the way to it."""


class Paddle:
    """Collective training through paddle.distributed.launch, one launcher a node."""

    kind = "paddle"

    def launch(self, gang: Gang, role: int, index: int, base_env: Mapping[str, str]) -> TaskLaunch:
        """Return the task's command and environment. Raises KeyError when the task is not placed."""
        node = meeting(gang, role, index)
        defaults = threads(gang, role, node.slots)
        if not node.nodes[node.rank].gpus:
            defaults |= WITHOUT_CARDS
        env, platform = environment(gang, role, index, base_env, defaults=defaults, own=node.variables())
        logs = f"{base_env.get('TMPDIR', '/tmp')}/paddle-logs"
        return TaskLaunch(tuple(rewrite(command(gang, role, env, platform), node, logs)), env)


def rewrite(argv: list[str], node: Meeting, logs: str) -> list[str]:
    """Return `argv` with the launcher in front of a plain python command, else as it is. `logs`: a folder.

    The launcher runs what ends in ``.py`` itself, and starts anything else as it is written.
    """
    given = python_command(argv, LAUNCHERS)
    if given is None:
        return argv
    launcher = [
        *given.unbuffered,
        "-m",
        LAUNCHER,
        f"--master={node.address}:{node.port}",
        f"--nnodes={len(node.nodes)}",
        f"--rank={node.rank}",
        f"--nproc_per_node={node.slots}",
        f"--host={node.nodes[node.rank].host}",
        f"--log_dir={logs}",
    ]
    return [*launcher, *given.rest] if given.plain and given.rest[0].endswith(".py") else [*launcher, *argv]
