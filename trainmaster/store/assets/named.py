"""What a name means to the platform itself, before it starts a job: no answer goes to a person. Blocks."""

from collections.abc import Collection

from sqlalchemy import ColumnElement, Table, and_, false, or_, select

from trainmaster.core.states import JobShare
from trainmaster.store.assets.versions import AssetKind, AssetVersion, meant
from trainmaster.store.database import Database
from trainmaster.store.seen import taken_in
from trainmaster.store.tables import asset, asset_subscription, asset_version


class NamedVersions:
    """The question that the platform itself asks before it starts a job: no answer of it goes to a person."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def find(self, kind: AssetKind, workspace: str, name: str, number: int) -> AssetVersion | None:
        """Return a version of what this name means in `workspace`, as `AssetReader.named` does."""
        with self._database.read() as connection:
            found = meant(connection, kind, workspace, name, asset_version.c.number == number)
        return found[0] if found else None

    def shares(self, workspace: str, things: Collection[tuple[AssetKind, str]]) -> dict[tuple[AssetKind, str], str]:
        """Return how each of these (kind, name) is shared in `workspace`; what is not there is missing, what was taken
        in is there to be read.
        """
        one, here = asset_subscription, asset.c.workspace == workspace
        asked = select(asset.c.kind, asset.c.name, asset.c.share).where(here, _one_of(asset, things))
        taken = taken_in(one.c.kind, one.c.name).where(one.c.workspace == workspace, _one_of(one, things))
        with self._database.read() as connection:
            there = {(AssetKind(kind), name): JobShare.READ.value for kind, name in connection.execute(taken)}
            return there | {(AssetKind(kind), name): share for kind, name, share in connection.execute(asked)}


def _one_of(table: Table, things: Collection[tuple[AssetKind, str]]) -> ColumnElement[bool]:
    """Return the condition that a row is one of these (kind, name). Not by pairs: SQLite would look at every row."""
    by_kind = {kind: [name for same, name in things if same is kind] for kind, _ in things}
    return or_(false(), *(and_(table.c.kind == kind.value, table.c.name.in_(names)) for kind, names in by_kind.items()))
