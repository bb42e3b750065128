"""TensorFlow: `TF_CONFIG` says to every task who is in the cluster and which of them it is (R113). Pure.

The names of roles are types of tasks (`RoleTypes` of core.framework_kinds): without a role `ps` the workers add up what
they found among themselves (R125), with one it holds the parameters (R126). Every task is a server of the cluster, so
each has a port of its own, under the label `tf`. An evaluator is told of the cluster and is not part of it. Commands
run as typed: TensorFlow needs no launcher.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

from trainmaster.core.framework_kinds import KINDS, RoleTypes
from trainmaster.core.launch import Gang, TaskLaunch
from trainmaster.frameworks.base import command, endpoint, environment

APART: Final = "evaluator"
"""The type that follows a training from outside."""


class TensorFlow:
    """One server of the cluster a task; `task.index` is VK_TASK_INDEX (R115)."""

    kind = "tensorflow"

    def launch(self, gang: Gang, role: int, index: int, base_env: Mapping[str, str]) -> TaskLaunch:
        """Return the task's command and environment. Raises KeyError when the task is not placed."""
        gang.find(role, index)
        threads = str(max(1, int(gang.roles[role].resources.cpu)))
        defaults = {"OMP_NUM_THREADS": threads, "TF_NUM_INTRAOP_THREADS": threads}
        own = {"TF_CONFIG": _config(gang, role, index)}
        env, platform = environment(gang, role, index, base_env, defaults=defaults, own=own)
        return TaskLaunch(tuple(command(gang, role, env, platform)), env)


def _config(gang: Gang, role: int, index: int) -> str:
    """Return TF_CONFIG of one task, as short as JSON can be: Linux takes 128 KiB in one variable. O(tasks)."""
    kind = KINDS["tensorflow"]
    assert kind.types is not None
    cluster = _cluster(gang, kind.types, kind.port)
    task = {"type": kind.types.of(gang.roles[role].name), "index": index}
    return json.dumps({"cluster": cluster, "task": task, "environment": "cloud"}, separators=(",", ":"))


def _cluster(gang: Gang, types: RoleTypes, label: str) -> dict[str, list[str]]:
    """Return the addresses of each type by index, the types in the order in which TensorFlow lists them."""
    found: dict[str, list[str]] = {}
    for number, role in enumerate(gang.roles):
        if (kind := types.of(role.name)) != APART:
            found[kind] = [endpoint(task, label) for task in gang.members(number)]
    return {kind: found[kind] for kind in types.names if kind in found}
