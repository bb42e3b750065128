"""MindSpore: the variables of its cluster, and a launcher of ours in front of a plain `python` command (R43). Pure.

MindSpore's own launcher, msrun, decides by addresses whether it is on the first node and has to start the scheduler. On
one machine, with virtual nodes or with several replicas on a node, that is wrong for all nodes or for none. So the
processes are started as its manual has it without msrun (`programs/start_mindspore.py`), with the scheduler beside the
first replica. A command that has msrun or does not begin with python runs untouched.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib.resources import files
from typing import Final

from trainmaster.core.launch import Gang, TaskLaunch
from trainmaster.frameworks.base import command, environment, file_at
from trainmaster.frameworks.launching import Meeting, meeting, python_command, threads

LAUNCHERS: Final = re.compile(r"(^|/)(msrun|mpirun|mpiexec)$|mindspore[./]parallel[./]cluster\b")
PROGRAM: Final = "/job/start_mindspore.py"
TOGETHER_WITHIN_S: Final = 600
"""How long processes wait for the others, as with msrun."""


class MindSpore:
    """A dynamic cluster: one scheduler, and as many workers as there are processes."""

    kind = "mindspore"

    def launch(self, gang: Gang, role: int, index: int, base_env: Mapping[str, str]) -> TaskLaunch:
        """Return the task's command, environment and program. Raises KeyError when the task is not placed."""
        node = meeting(gang, role, index)
        own = {
            **node.variables(),
            "MS_WORKER_NUM": str(node.processes),
            "MS_SCHED_HOST": node.address,
            "MS_SCHED_PORT": str(node.port),
        }
        defaults = {**threads(gang, role, node.slots), "MS_TOPO_TIMEOUT": str(TOGETHER_WITHIN_S)}
        env, platform = environment(gang, role, index, base_env, defaults=defaults, own=own)
        argv = command(gang, role, env, platform)
        given = python_command(argv, LAUNCHERS)
        if given is None:
            return TaskLaunch(tuple(argv), env)
        launcher = [*given.unbuffered, file_at(base_env, PROGRAM), *_options(node), "--"]
        return TaskLaunch((*launcher, *argv), env, {PROGRAM: _program()})


def _options(node: Meeting) -> list[str]:
    options = [f"--first={node.before}", f"--processes={node.slots}"]
    return [*options, "--scheduler"] if node.rank == 0 else options


def _program() -> str:
    return files("trainmaster.frameworks.programs").joinpath("start_mindspore.py").read_text("utf-8")
