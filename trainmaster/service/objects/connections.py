"""Storage connections of workspaces: seals their keys, opens the way to a bucket, and looks whether it can be used.

Keys are sealed as secrets are (service/secrets/vault.py), together with where they go: a row whose endpoint or bucket
was changed does not open. Blocking.
"""

import json
import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final

from trainmaster.core.config import StorageConfig
from trainmaster.messages.assets import objects as said
from trainmaster.messages.said import Said
from trainmaster.service.secrets.vault import NotOpened, Vault
from trainmaster.storage.objects.bucket import GoOn, StoreTarget, nothing_else, open_bucket, region_of
from trainmaster.storage.objects.reaching import StoreFailed, StoreReach
from trainmaster.store.people.connections import ConnectionRow, ConnectionRows

if TYPE_CHECKING:
    from trainmaster.storage.objects.wire import Bucket

PROBE: Final = ".trainmaster-check-"
STEPS: Final = ("list", "write", "read", "delete")


class StoreConnections:
    """One object per server."""

    def __init__(self, rows: ConnectionRows, vault: Vault, config: StorageConfig, clock: Callable[[], float]) -> None:
        self.rows, self._vault, self._clock = rows, vault, clock
        self.reach, self.config = StoreReach(config), config

    def regions(self, workspace: str) -> dict[str, str]:
        """Return which connections a workspace has, and where their buckets are, "" where nobody says."""
        return {one.name: region_of(one.endpoint, one.region) for one in self.rows.of_workspace(workspace)}

    def sealed(self, workspace: str, name: str, target: StoreTarget) -> tuple[str, str]:
        """Return (which key, sealed keys) of a connection. Raises Unavailable."""
        keys = json.dumps([target.key_id, target.secret])
        return self._vault.seal(workspace, _place(name, target.endpoint, target.bucket), keys)

    def target(self, workspace: str, name: str) -> StoreTarget:
        """Return where a connection goes, with its keys. Raises StoreFailed where there is none, or its keys do not
        open; Unavailable.
        """
        row = self.rows.find(workspace, name)
        if row is None:
            raise StoreFailed(said.no_such_connection(name, workspace))
        return self._target(row)

    def open(self, workspace: str, name: str, go_on: GoOn = nothing_else) -> "Bucket":
        """Return the way to a connection's bucket, which counts as used now. Raises StoreFailed, Unavailable."""
        target = self.target(workspace, name)
        self.rows.used(workspace, name, self._clock())
        return open_bucket(target, self.reach, go_on)

    def check(self, workspace: str, name: str) -> Iterator[tuple[str, Said | None]]:
        """Yield each of STEPS as it is done, and what is wrong with it; nothing is tried behind one that fails. Raises
        Unavailable. At most some minutes.
        """
        done = iter(STEPS)
        step = next(done)
        try:
            bucket = self.open(workspace, name)
            key = bucket.target.place(PROBE + os.urandom(8).hex())
            content = os.urandom(16)
            place = bucket.target.place("")
            next(bucket.listed(f"{place}/" if place else ""), None)
            yield step, None
            step = next(done)
            bucket.put(key, content)
            yield step, None
            step = next(done)
            if bucket.get(key) != content:
                raise StoreFailed(said.store_probe_differs())
            yield step, None
            step = next(done)
            bucket.remove(key)
            yield step, None
        except StoreFailed as error:
            yield step, error.said

    def _target(self, row: ConnectionRow) -> StoreTarget:
        place = _place(row.name, row.endpoint, row.bucket)
        try:
            key_id, secret = json.loads(self._vault.opened(row.workspace, place, row.key, row.sealed))
        except NotOpened:
            raise StoreFailed(said.connection_keys_not_readable(row.name)) from None
        return StoreTarget(row.endpoint, row.region, row.bucket, row.prefix, key_id, secret)


def _place(name: str, endpoint: str, bucket: str) -> str:
    """Return what is sealed with the keys. No secret has such a name."""
    return f"storage/{name}\0{endpoint}\0{bucket}"
