"""The port of a framework, and what all share: the layers of a task's environment and its command line. Pure.

Layers, the later wins: the agent's base (PATH, HOME), the framework's defaults, the job's variables, the role's, and
what the platform says (PAI_*, VC_*, TRAINMASTER_*, the framework's own), which nothing may replace (R89).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Protocol

from trainmaster.core.launch import Gang, Hook, TaskLaunch
from trainmaster.core.records import Assignment
from trainmaster.frameworks import words
from trainmaster.frameworks.common_env import platform_env

DEFAULT_PORT: Final = 2222
"""Where tasks with a network of their own meet, as the manual has it (D6)."""

FILES: Final = "TRAINMASTER_FILES_DIR"
"""The variable of a base environment that says below which folder the files of a launch lie; without: they lie where
they say, as in a sandbox. No task has it."""


class Framework(Protocol):
    """One way to start the tasks of a gang. Its titles and options are in core.framework_kinds."""

    kind: str

    def launch(self, gang: Gang, role: int, index: int, base_env: Mapping[str, str]) -> TaskLaunch:
        """Return what is started for one task. Pure; O(tasks). Raises KeyError when the task is not placed."""
        ...


def environment(
    gang: Gang,
    role: int,
    index: int,
    base_env: Mapping[str, str],
    *,
    defaults: Mapping[str, str],
    own: Mapping[str, str],
) -> tuple[dict[str, str], dict[str, str]]:
    """Return (the whole environment, the platform's part of it). `own`: what the framework itself sets.

    Values of the job's and the role's variables may use the platform's variables as ``$NAME`` (R107).
    """
    platform = platform_env(gang, role, index, base_env)
    platform.update(own)
    env = {name: value for name, value in base_env.items() if name != FILES}
    env.update(defaults)
    room = words.TextBudget()
    for name, value in (*gang.env, *gang.commands[role].env):
        env[name] = words.fill(value, platform, room)
    env.update(platform)
    return env, platform


def command(gang: Gang, role: int, env: Mapping[str, str], platform: Mapping[str, str]) -> list[str]:
    """Return the words of the role's command with its parameters as ``--key=value`` (R40).

    A command as typed has its variables filled in from `env`, parameters from `platform`; a list of words is final.
    """
    given = gang.commands[role]
    if given.text:
        room = words.TextBudget()
        argv = words.expand(given.text, env, room)
        argv.extend(f"--{key}={words.fill(value, platform, room)}" for key, value in given.parameters)
    else:
        argv = list(given.argv)
        argv.extend(f"--{key}={value}" for key, value in given.parameters)
    return argv


def port_of(task: Assignment, label: str) -> int:
    """Return the first port that `task` was given under `label`; DEFAULT_PORT when the placement has none."""
    return next((numbers[0] for name, numbers in task.ports if name == label and numbers), DEFAULT_PORT)


def endpoint(task: Assignment, label: str) -> str:
    """Return ``host:port`` of a task by the port that it was given under `label`."""
    host = f"[{task.host}]" if ":" in task.host else task.host
    return f"{host}:{port_of(task, label)}"


def file_at(base_env: Mapping[str, str], path: str) -> str:
    """Return where the file of a launch that is called `path` will lie for the task."""
    return base_env.get(FILES, "") + path


def hook(given: Hook | None, env: Mapping[str, str]) -> tuple[str, ...]:
    """Return the words of a hook in a task's environment `env`, none where there is none. As typed it is filled in as a
    command is; no launcher goes before it: it runs once for each task.
    """
    if given is None:
        return ()
    return tuple(words.expand(given.text, env)) if given.text else given.argv
