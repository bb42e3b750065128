"""Models, the first kind of asset: what attempts saved, and under which name (R138, R149).

What holds for every kind lies in `store.assets.versions`. Methods block: call them from a worker thread.
"""

import logging
from collections.abc import Mapping
from itertools import chain, count
from typing import Final

from sqlalchemy import Connection

from trainmaster.store.assets.versions import (
    Asset,
    AssetKind,
    AssetSource,
    AssetVersion,
    NewVersion,
    add_version,
    asset_called,
    version_of,
)
from trainmaster.store.database import Database

_log: Final = logging.getLogger(__name__)


def saved_model(
    digest: str,
    size_bytes: int,
    files: int,
    created_at: float,
    job: str,
    attempt: int,
    path: str,
    metrics: Mapping[str, float] | None = None,
) -> NewVersion:
    """Return what a finished attempt saved, as a version to be registered."""
    about = {"metrics": dict(metrics or {})}
    return NewVersion(digest, size_bytes, files, created_at, AssetSource.JOB, path, job, attempt, about)


def metrics_of(version: AssetVersion) -> dict[str, float]:
    """Return the last values of what was measured while a model was trained; none where they cannot be read."""
    try:
        return {str(name): float(value) for name, value in version.about.get("metrics", {}).items()}
    except (AttributeError, TypeError, ValueError) as error:  # the model's files are whole: answer without metrics
        _log.error("the metrics of model %s cannot be read and are left out: %s", version.reference, error)
        return {}


class ModelRows:
    """What the platform itself does with models: registers what attempts saved, and asks what is registered."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def register(
        self, *, model_id: str, name: str, owner: str, saved: NewVersion, workspace: str = "default"
    ) -> AssetVersion:
        """Return the version of (job, attempt), stored now or before: registering twice gives the same.

        The model `name` of `owner` in `workspace` is created under `model_id` if there is none yet; where that name is
        somebody else's, it is ``name-owner``. Versions count from 1.
        """

        def work(connection: Connection) -> AssetVersion:
            line, _ = _line_of(connection, name, owner, workspace)
            model = Asset(model_id, AssetKind.MODEL, line, workspace, owner, saved.created_at)
            return add_version(connection, model, saved)

        return self._database.write(work).result()

    def find_named(self, name: str, owner: str, workspace: str) -> Asset | None:
        """Return the model that the next version of `owner` with this name belongs to, None when it will be a new
        one.
        """
        with self._database.read() as connection:
            return _line_of(connection, name, owner, workspace)[1]

    def made_by(self, job: str, attempt: int) -> AssetVersion | None:
        """Return the version that an attempt of a job made."""
        with self._database.read() as connection:
            return version_of(connection, job, attempt)


def _line_of(connection: Connection, name: str, owner: str, workspace: str) -> tuple[str, Asset | None]:
    """Return the name under which `owner` saves models called `name`, and that model, None when there is none yet.

    Names are unique in a workspace. A version never joins a model of somebody else: they would see it, and who made it
    would not.
    """
    others = (f"{name}-{owner}-{number}" for number in count(2))
    for tried in chain((name, f"{name}-{owner}"), others):
        found = asset_called(connection, AssetKind.MODEL, workspace, tried)
        if found is None or found.owner == owner:
            return tried, found
    raise AssertionError("there is always another number")
