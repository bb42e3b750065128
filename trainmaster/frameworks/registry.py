"""From a framework's name to its object, imported on first use, so that a server or agent loads only what jobs need.

The table is `core.framework_kinds.KINDS` (the checks need its data without importing a framework). To add deepspeed,
horovod, tensorflow, mindspore or paddle: a module beside this one, an entry there, golden files for its shapes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from importlib import import_module
from typing import Final

from trainmaster.core.framework_kinds import KINDS, FrameworkKind
from trainmaster.core.launch import Gang, TaskLaunch
from trainmaster.frameworks.base import Framework, hook

NOTHING: Final[Mapping[str, str]] = {}


def kinds() -> dict[str, FrameworkKind]:
    """Return all frameworks with titles and options, by name, in the order they are offered."""
    return dict(KINDS)


@cache
def get(kind: str) -> Framework:
    """Return the framework called `kind`. Raises KeyError when there is none."""
    module, _, name = KINDS[kind].target.partition(":")
    framework: Framework = getattr(import_module(module), name)()
    return framework


def launch(gang: Gang, role: int, index: int, base_env: Mapping[str, str]) -> TaskLaunch:
    """Return what is started for one task of `gang`, its hooks included, whatever the framework. Raises KeyError for an
    unknown framework or task.
    """
    found, given = get(gang.framework).launch(gang, role, index, base_env), gang.commands[role]
    if given.before is None and given.after is None:
        return found
    return replace(found, before=hook(given.before, found.env), after=hook(given.after, found.env))


def preview(gang: Gang, base_env: Mapping[str, str] = NOTHING, most: int = 64) -> list[TaskLaunch]:
    """Return what each task would start, in the order of the placement, at most `most` tasks (R41). O(most x tasks)."""
    return [launch(gang, task.role, task.index, base_env) for task in gang.placement[:most]]
