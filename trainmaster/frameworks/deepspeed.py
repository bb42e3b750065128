"""DeepSpeed: the variables of PyTorch (R112), the hostfile (R131), and its launcher told which node it is on. Pure.

The launcher wants to start the other nodes through ssh, which no task has; every task runs it, so it is told to start
its own node's processes only (`--no_ssh`). A plain `python` command gets the launcher, one that begins with `deepspeed`
what is missing; a command that says itself how nodes are started, or any other, runs untouched.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from trainmaster.core.launch import Gang, TaskLaunch
from trainmaster.frameworks import pytorch
from trainmaster.frameworks.base import command, environment, file_at
from trainmaster.frameworks.launching import Meeting, meeting, python_command, slots_of

HOSTFILE: Final = "/job/hostfile"
LAUNCHER: Final = "deepspeed.launcher.runner"
LAUNCHERS: Final = re.compile(r"deepspeed[./]launcher\b|(^|/)bin/deepspeed$")
_PROGRAM: Final = re.compile(r"(.*/)?deepspeed(\.pt)?")
_OTHERWISE: Final = frozenset({"--no_ssh", "--node_rank", "--launcher", "--autotuning"})
"""Options of a command that says itself how nodes are started."""


class DeepSpeed:
    """One launcher a node, each for its own processes."""

    kind = "deepspeed"

    def launch(self, gang: Gang, role: int, index: int, base_env: Mapping[str, str]) -> TaskLaunch:
        """Return the task's command, environment and hostfile. Raises KeyError when the task is not placed."""
        node = meeting(gang, role, index)
        own = node.variables("localhost" if node.rank == 0 else "")
        defaults = pytorch.defaults(gang, role, node)
        if not node.nodes[node.rank].gpus:
            defaults["DS_ACCELERATOR"] = "cpu"
        env, platform = environment(gang, role, index, base_env, defaults=defaults, own=own)
        argv = rewrite(command(gang, role, env, platform), own, file_at(base_env, HOSTFILE))
        return TaskLaunch(tuple(argv), env, {HOSTFILE: hostfile(gang, node)})


def hostfile(gang: Gang, node: Meeting) -> str:
    """Return a line ``name slots=n`` for each node. Names are addresses, unless replicas share one: a name may stand
    there once, and then the replicas' own do.
    """
    names = [task.host for task in node.nodes]
    if len(set(names)) < len(names):
        names = [f"{gang.roles[task.role].name}-{task.index}" for task in node.nodes]
    slots = [slots_of(gang, task) for task in node.nodes]
    return "".join(f"{name} slots={count}\n" for name, count in zip(names, slots))


def rewrite(argv: list[str], own: Mapping[str, str], file: str) -> list[str]:
    """Return `argv` with what its launcher has to be told, or with the launcher; else as it is. `file`: the hostfile.

    The launcher adds ``--local_rank`` to the arguments of a script, as scripts for it expect; what it starts as a
    command (``--no_python``) would take that for an option of the interpreter, so there it does not.
    """
    options = [
        f"--hostfile={file}",
        "--no_ssh",
        f"--node_rank={own['RANK']}",
        f"--master_addr={own['MASTER_ADDR']}",
        f"--master_port={own['MASTER_PORT']}",
    ]
    if argv and _PROGRAM.fullmatch(argv[0]):
        told = any(word.partition("=")[0] in _OTHERWISE for word in argv)
        return argv if told else [argv[0], *options, *argv[1:]]
    given = python_command(argv, LAUNCHERS)
    if given is None:
        return argv
    launcher = [*given.unbuffered, "-m", LAUNCHER, *options]
    if not given.plain:
        return [*launcher, "--no_python", "--no_local_rank", *argv]
    return [*launcher, "--module", *given.rest[1:]] if given.rest[0] == "-m" else [*launcher, *given.rest]
