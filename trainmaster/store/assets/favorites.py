"""Which assets somebody marked for themselves. Each person's rows are their own: every question names the person.

A mark opens nothing: whoever asks has found the asset among what they may see. It stays while the asset lies in the
bin, and goes with it for good (`store.assets.bin`), or with its person (`store.people.accounts`).
"""

from collections.abc import Collection
from typing import Any, Final

from sqlalchemy import Connection, bindparam, delete, insert, select

from trainmaster.store.database import Database
from trainmaster.store.tables import asset, asset_favorite

_AT_ONCE: Final = 400
"""Of so many assets is asked at once: a statement holds a limited number of values."""
_AMONG: Final = select(asset_favorite.c.asset).where(
    asset_favorite.c.user == bindparam("user"), asset_favorite.c.asset.in_(bindparam("assets", expanding=True))
)


class AssetFavorites:
    """Every method may block on the disk: call it from a worker thread."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def put(self, user: str, id_: str, wanted: bool) -> None:
        """Mark the asset with this id for `user`, or no more. Once is enough. Raises StorageFailed, Unavailable."""
        mine: Any = (asset_favorite.c.user == user) & (asset_favorite.c.asset == id_)

        def work(connection: Connection) -> None:
            connection.execute(delete(asset_favorite).where(mine))
            there = connection.scalar(select(asset.c.id).where(asset.c.id == id_)) is not None
            if wanted and there:
                connection.execute(insert(asset_favorite).values(user=user, asset=id_))

        self._database.write(work).result()

    def among(self, user: str, ids: Collection[str]) -> set[str]:
        """Return which of these assets `user` marked."""
        asked, found = list(ids), set[str]()
        with self._database.read() as connection:
            for at in range(0, len(asked), _AT_ONCE):
                found |= set(connection.scalars(_AMONG, {"user": user, "assets": asked[at : at + _AT_ONCE]}))
        return found
