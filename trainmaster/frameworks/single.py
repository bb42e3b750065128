"""The command runs exactly as typed (R118), alone or as any roles that find each other by variables (R108)."""

from __future__ import annotations

from collections.abc import Mapping

from trainmaster.core.launch import Gang, TaskLaunch
from trainmaster.frameworks.base import command, environment


class Single:
    """No rewriting. A default for OpenMP keeps tasks that share a machine from taking all of its cores."""

    kind = "single"

    def launch(self, gang: Gang, role: int, index: int, base_env: Mapping[str, str]) -> TaskLaunch:
        """Return the task's command and environment. Raises KeyError when the task is not placed."""
        threads = max(1, int(gang.roles[role].resources.cpu))
        defaults = {"OMP_NUM_THREADS": str(threads)}
        env, platform = environment(gang, role, index, base_env, defaults=defaults, own={})
        return TaskLaunch(tuple(command(gang, role, env, platform)), env)
