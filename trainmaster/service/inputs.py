"""Which folders of this machine a job may see: asked when it is submitted, and again when it is about to start.

Twice, because days may lie between, in which a job that may write beneath a root can put a link where a folder was.
"""

import os
from collections.abc import Sequence

from trainmaster.core.errors import Problem


def path_problem(path: str, where: str, own: Sequence[str], roots: Sequence[str]) -> Problem | None:
    """Return why the host path `path` may not be mounted: it must be there and, links followed, lie under one of `roots` and
    apart from the platform's `own` folders. None when it may. May block on the disk.
    """
    real = os.path.realpath(path)
    if any(inside(real, folder) or inside(folder, real) for folder in map(os.path.realpath, own)):
        return Problem(where, "the platform's own folder cannot be mounted", "Name another folder.", "mount_home", path)
    if not any(inside(real, os.path.realpath(os.path.expanduser(root))) for root in roots):
        allowed = ", ".join(roots) or "none"
        remedy = f"Folders that may be mounted here: {allowed}. An administrator sets local.mount_roots in config.toml."
        return Problem(where, "this folder may not be mounted", remedy, "mount_root", path)
    if not os.path.exists(real):
        return Problem(where, "there is nothing at this path on the server", "Mend the path.", "mount_missing", path)
    return None


def inside(path: str, root: str) -> bool:
    """Return whether `path` is `root` or beneath it, by their texts."""
    return path == root or path.startswith(root.rstrip("/") + "/")
