"""Which folders of this machine a job may see: asked when it is submitted, and again when it is about to start.

Twice, because days may lie between, in which a job that may write beneath a root can put a link where a folder was.
"""

import os
from collections.abc import Sequence
from typing import Final

from trainmaster.core.errors import Problem, problem_of
from trainmaster.messages.jobs import submitting

SYSTEM: Final = ("/proc", "/sys", "/dev", "/run")
"""The kernel's and the system's own: processes, devices and sockets, not data. Beneath them only what a root names."""


def path_problem(path: str, where: str, own: Sequence[str], roots: Sequence[str]) -> Problem | None:
    """Return why the host path `path` may not be mounted: it must be there and, links followed, lie under one of
    `roots` and apart from the platform's `own` folders. None when it may. May block on the disk.
    """
    named = [os.path.realpath(os.path.expanduser(root)) for root in roots]
    try:  # first by its text: following links there may fail or hang
        plain = os.path.normpath(path)
        return _of_system(plain, path, where, named) or _problem(path, os.path.realpath(path), where, own, roots, named)
    except OSError as error:
        return problem_of(where, submitting.mount_unreadable(error.strerror or str(error)), path)


def _of_system(real: str, path: str, where: str, named: Sequence[str]) -> Problem | None:
    for system in SYSTEM:
        if inside(real, system) and not any(inside(real, root) and inside(root, system) for root in named):
            return problem_of(where, submitting.mount_system(system), path)
    return None


def _problem(
    path: str, real: str, where: str, own: Sequence[str], roots: Sequence[str], named: Sequence[str]
) -> Problem | None:
    if (found := _of_system(real, path, where, named)) is not None:
        return found
    if any(inside(real, folder) or inside(folder, real) for folder in map(os.path.realpath, own)):
        return problem_of(where, submitting.mount_home(), path)
    if not any(inside(real, root) for root in named):
        return problem_of(where, submitting.mount_root(list(roots)), path)
    if not os.path.exists(real):
        return problem_of(where, submitting.mount_missing(), path)
    if not os.path.samestat(os.stat(path), os.stat(real)):  # a link of /proc leads elsewhere than it reads
        return problem_of(where, submitting.mount_unclear(), path)
    return None


def inside(path: str, root: str) -> bool:
    """Return whether `path` is `root` or beneath it, by their texts."""
    return path == root or path.startswith(root.rstrip("/") + "/")
