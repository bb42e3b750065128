"""What the tasks of a gang would run, as a preview shows it: exact, and no more of it than a person looks at. Pure.

Every task is told of every other one, so all that could be shown grows with the square of the tasks. Shown are the
first replicas of each role, as many as there is room for and one in any case, with as many of its variables; what is
left out is counted.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import Final

from trainmaster.core.ids import role_system_name, task_name
from trainmaster.core.launch import Gang, RolePreview, TaskLaunch, TaskPreview
from trainmaster.frameworks.registry import launch

MOST_TASKS: Final = 16
"""Replicas of each role."""
LONGEST: Final = 128 << 10
"""Characters of a command: Linux takes no more in one word."""
ROOM: Final = 1 << 20
"""Characters of all variables and words together, shared by the roles alike."""


def preview_roles(gang: Gang) -> list[RolePreview]:
    """Return what the tasks of each role would run. O(roles * tasks)."""
    return [_role(gang, index, ROOM // len(gang.roles)) for index in range(len(gang.roles))]


def _role(gang: Gang, index: int, room: int) -> RolePreview:
    members = gang.members(index)
    tasks: list[TaskPreview] = []
    before = after = ""
    for member in members[:MOST_TASKS]:
        found = launch(gang, index, member.index, {})
        size = _length(found)
        if tasks and size > room:
            break
        env = found.env if size <= room else _some(found.env, room)
        room -= min(size, room)
        name = task_name(index, member.index)
        if not tasks:
            before, after = (shlex.join(_cut_words(words)) for words in (found.before, found.after))
        tasks.append(TaskPreview(name, tuple(_cut_words(found.argv)), dict(env), len(found.env) - len(env)))
    command = shlex.join(tasks[0].argv) if tasks else ""
    name, more = gang.roles[index].name, len(members) - len(tasks)
    return RolePreview(name, role_system_name(index), command, before, after, tuple(tasks), more)


def _cut_words(argv: tuple[str, ...]) -> Iterator[str]:
    """Yield the words of a command; of one that is longer than any that starts only its beginning."""
    room = LONGEST
    for word in argv:
        yield word if len(word) <= room else word[:room] + "…"
        room -= len(word)
        if room < 0:
            return


def _length(found: TaskLaunch) -> int:
    words = (*found.before, *found.argv, *found.after)
    return sum(map(len, words)) + sum(len(name) + len(value) for name, value in found.env.items())


def _some(env: dict[str, str], room: int) -> dict[str, str]:
    """Return as many of `env` as there is room for, the shortest first, in the order that they have."""
    kept = set()
    for name in sorted(env, key=lambda name: len(name) + len(env[name])):
        room -= len(name) + len(env[name])
        if room < 0:
            break
        kept.add(name)
    return {name: value for name, value in env.items() if name in kept}
