"""Trainmaster: the self-hosted platform on which people train models.

The public surface is small: :class:`Client` (the SDK) and :func:`log` and
:func:`progress` (metrics from inside a task). Both are
imported on first use, so that ``import trainmaster`` stays cheap inside agents and user programs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trainmaster._version import __version__

if TYPE_CHECKING:
    from trainmaster.sdk.client import Client
    from trainmaster.sdk.task import log, progress

__all__ = ["Client", "__version__", "log", "progress"]


def __getattr__(name: str) -> Any:
    """Import the public names lazily (PEP 562). Raises AttributeError for every other name."""
    if name == "Client":
        from trainmaster.sdk.client import Client

        return Client
    if name in ("log", "progress"):
        from trainmaster.sdk import task

        return getattr(task, name)
    raise AttributeError(f"module 'trainmaster' has no attribute {name!r}")
