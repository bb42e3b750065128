"""Where in its tasks' sandboxes a job may mount: neither over nor within what the platform places there. Pure.

Invariant: a mount that is let through changes nothing of what lies at a place, and its way leads through nothing that
another job or an earlier attempt has written.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from trainmaster.core.folders.layout import IN_ALGORITHM, IN_CODE, IN_MODEL, IN_OUTPUTS

PLACES: Final = (
    IN_OUTPUTS,
    IN_ALGORITHM,
    IN_CODE,
    IN_MODEL,
    "/trainmaster",
    "/tmp",
    "/usr",
    "/etc",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/proc",
    "/dev",
    "/sys",
)
"""What the platform places in every sandbox. Beneath /workspace, which is fresh in each attempt, the rest is the
job's.
"""


def within(path: str, folder: str) -> bool:
    """Tell whether `path` is `folder` or lies in it, by their texts."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def place_at(target: str, places: Iterable[str] = PLACES) -> str | None:
    """Return the one of `places` that `target` is, or lies in."""
    return next((place for place in places if within(target, place)), None)


def hidden_by(target: str, places: Iterable[str] = PLACES) -> str | None:
    """Return the first of `places` that a mount at `target` would hide: it lies beneath."""
    return next((place for place in places if place != target and within(place, target)), None)
