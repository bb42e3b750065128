"""Models and their immutable versions as rows: what was saved, from which attempt, with which digest and metrics
(R138, R149).

A version is written once and never changed. Methods block: call them from a worker thread.
"""

import logging
from dataclasses import dataclass, field
from itertools import chain, count
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, Row, func, insert, or_, select

from trainmaster.access.visible import Visible
from trainmaster.store.database import Database
from trainmaster.store.jobs import rows
from trainmaster.store.seen import seen
from trainmaster.store.tables import model, model_version

_log: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class NewVersion:
    """What a finished attempt saved. `digest` covers all files; `path` is where they lie below the home folder."""

    digest: str
    size_bytes: int
    files: int
    created_at: float
    job: str
    attempt: int
    path: str
    metrics: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ModelVersion:
    """One immutable version of a model; `name` is the model's, `path` starts at the home folder."""

    model: str
    name: str
    version: int
    digest: str
    size_bytes: int
    files: int
    created_at: float
    job: str
    attempt: int
    path: str
    metrics: dict[str, float]

    @property
    def reference(self) -> str:
        """How a job names it: ``<model id>@<version>``."""
        return f"{self.model}@{self.version}"


@dataclass(frozen=True, slots=True)
class ModelRow:
    """A named line of versions. `versions` is how many there are, `latest` the number of the last."""

    id: str
    name: str
    workspace: str
    owner: str
    created_at: float
    versions: int
    latest: int


class ModelRows:
    """What the platform itself does with models: registers what attempts saved, and asks what is registered."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def register(
        self, *, model_id: str, name: str, owner: str, saved: NewVersion, workspace: str = "default"
    ) -> ModelVersion:
        """Return the version of (job, attempt), stored now or before: registering twice gives the same.

        The model `name` of `owner` in `workspace` is created under `model_id` if there is none yet; where that name is somebody
        else's, it is ``name-owner``. Versions count from 1.
        """
        return self._database.write(lambda c: _register(c, model_id, name, owner, workspace, saved)).result()

    def named(self, name: str, owner: str, workspace: str) -> ModelRow | None:
        """Return the model that the next version of `owner` with this name belongs to, None when it will be a new one."""
        with self._database.read() as connection:
            _, id_ = _line_of(connection, name, owner, workspace)
        found = _select_models(self._database, model.c.id == id_) if id_ is not None else []
        return found[0] if found else None

    def made_by(self, job: str, attempt: int) -> ModelVersion | None:
        """Return the version that an attempt of a job made."""
        with self._database.read() as connection:
            same = (model_version.c.job == job) & (model_version.c.attempt == attempt)
            found = _select_versions(connection, same)
        return found[0] if found else None


class ModelReader:
    """The questions people ask about models. Every one takes what the person may see (`access.visible`) first."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def list_models(self, visible: Visible, q: str = "", workspace: str | None = None) -> list[ModelRow]:
        """Return the models whose name or id contains `q`, newest first."""
        conditions = seen(visible, model)
        if q:
            conditions.append(or_(*(c.icontains(q, autoescape=True) for c in (model.c.name, model.c.id))))
        if workspace is not None:
            conditions.append(model.c.workspace == workspace)
        return _select_models(self._database, *conditions)

    def find(self, visible: Visible, id_or_name: str, workspace: str = "default") -> ModelRow | None:
        """Return the model with this id, or with this name in `workspace`."""
        by_name = (model.c.workspace == workspace) & (model.c.name == id_or_name)
        for same in (model.c.id == id_or_name, by_name):
            if found := _select_models(self._database, same, *seen(visible, model)):
                return found[0]
        return None

    def versions(self, visible: Visible, model_id: str) -> list[ModelVersion]:
        """Return all versions of a model, newest first."""
        with self._database.read() as connection:
            return _select_versions(connection, model_version.c.model == model_id, *seen(visible, model))


def _select_models(database: Database, *conditions: ColumnElement[bool]) -> list[ModelRow]:
    number, latest = func.count(model_version.c.version), func.coalesce(func.max(model_version.c.version), 0)
    statement = (
        select(model, number.label("versions"), latest.label("latest"))
        .outerjoin(model_version, model_version.c.model == model.c.id)
        .where(*conditions)
        .group_by(*model.c)
        .order_by(model.c.created_at.desc(), model.c.id)
    )
    with database.read() as connection:
        return [ModelRow(**row._mapping) for row in connection.execute(statement)]


def _register(
    connection: Connection, model_id: str, name: str, owner: str, workspace: str, saved: NewVersion
) -> ModelVersion:
    same = (model_version.c.job == saved.job) & (model_version.c.attempt == saved.attempt)
    if found := _select_versions(connection, same):
        return found[0]
    name, id_ = _line_of(connection, name, owner, workspace)
    if id_ is None:
        id_ = model_id
        values = {"id": id_, "name": name, "owner": owner, "workspace": workspace, "created_at": saved.created_at}
        connection.execute(insert(model).values(values))
    last = connection.scalar(select(func.max(model_version.c.version)).where(model_version.c.model == id_)) or 0
    version = {column: getattr(saved, column) for column in NewVersion.__slots__ if column != "metrics"}
    metrics = rows.encode(saved.metrics)
    connection.execute(insert(model_version).values(model=id_, version=last + 1, metrics=metrics, **version))
    return _select_versions(connection, same)[0]


def _line_of(connection: Connection, name: str, owner: str, workspace: str) -> tuple[str, str | None]:
    """Return the name under which `owner` saves models called `name`, and the id of that model, None when there is none yet.

    Names are unique in a workspace. A version never joins a model of somebody else: they would see it, and who made it would not.
    """
    others = (f"{name}-{owner}-{number}" for number in count(2))
    for tried in chain((name, f"{name}-{owner}"), others):
        same = (model.c.workspace == workspace, model.c.name == tried)
        found = connection.execute(select(model.c.id, model.c.owner).where(*same)).first()
        if found is None or found.owner == owner:
            return tried, None if found is None else str(found.id)
    raise AssertionError("there is always another number")


def _select_versions(connection: Connection, *conditions: ColumnElement[bool]) -> list[ModelVersion]:
    statement = select(model_version, model.c.name).join(model, model.c.id == model_version.c.model).where(*conditions)
    return [_version(row) for row in connection.execute(statement.order_by(model_version.c.version.desc()))]


def _version(row: Row[Any]) -> ModelVersion:
    try:
        metrics = {str(name): float(value) for name, value in rows.decoded(row.metrics, dict).items()}
    except (rows.MalformedRow, TypeError, ValueError) as error:  # the model itself is whole
        _log.error("the metrics of model %s@%s cannot be read and are left out: %s", row.model, row.version, error)
        metrics = {}
    return ModelVersion(**{**row._mapping, "metrics": metrics})
