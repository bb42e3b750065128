"""Storage connections of workspaces as rows, their keys sealed, on both databases (R240)."""

from pathlib import Path

import pytest
from sqlalchemy import update

from tests.contract.store.conftest import Store
from tests.fixtures.audited import audit_event, audit_of
from tests.fixtures.stores import SECRET
from trainmaster.core.config import StorageConfig
from trainmaster.core.errors import Conflict, NotFound
from trainmaster.core.folders.layout import Layout
from trainmaster.service.objects.connections import StoreConnections
from trainmaster.service.secrets.vault import Vault
from trainmaster.storage.objects.bucket import StoreTarget
from trainmaster.storage.objects.reaching import StoreFailed
from trainmaster.store.cluster_settings import ClusterSettings
from trainmaster.store.people.connections import ConnectionRow, ConnectionRows
from trainmaster.store.people.secrets import SecretRows
from trainmaster.store.tables import storage_connection

TARGET = StoreTarget("https://s3.example.org", "us-east-1", "training", "vision", "AKID0001", SECRET)


@pytest.fixture
def connections(store: Store, tmp_path: Path) -> StoreConnections:
    vault = Vault(Layout(str(tmp_path / "home")), SecretRows(store.database))
    return StoreConnections(ConnectionRows(store.database), vault, StorageConfig(), lambda: 7.0)


def put(
    connections: StoreConnections, name: str, workspace: str = "vision", at: float = 1.0, most: int = 9
) -> ConnectionRow:
    key, sealed = connections.sealed(workspace, name, TARGET)
    place = TARGET.endpoint, TARGET.region, TARGET.bucket, TARGET.prefix
    row = ConnectionRow(workspace, name, *place, key, sealed, at, at, "ann")
    return connections.rows.put(row, audit_event(at=at), most)


def test_what_was_sealed_is_opened_for_its_own_place_alone(connections: StoreConnections, store: Store) -> None:
    row = put(connections, "data")
    assert connections.target("vision", "data") == TARGET
    assert SECRET not in row.sealed
    assert SECRET not in repr(row)
    assert row.sealed not in repr(row)
    for changed in (
        {"endpoint": "https://evil.example.org"},
        {"bucket": "other"},
        {"workspace": "speech"},
        {"name": "x"},
    ):
        row = put(connections, "data")
        moved = update(storage_connection).values(changed)
        store.database.write(lambda connection, moved=moved: connection.execute(moved).close()).result()
        with pytest.raises(StoreFailed) as failed:
            connections.target(changed.get("workspace", "vision"), changed.get("name", "data"))
        assert failed.value.said.code == "connection_keys_not_readable"
        store.database.write(lambda connection: connection.execute(storage_connection.delete()).close()).result()


def test_another_one_replaces_the_first_and_keeps_when_it_was_made(connections: StoreConnections, store: Store) -> None:
    put(connections, "data")
    changed = put(connections, "data", at=5.0, most=1)
    assert (changed.created_at, changed.changed_at) == (1.0, 5.0)
    with pytest.raises(Conflict):
        put(connections, "more", most=1)
    assert connections.regions("vision").keys() == {"data"}
    assert len(audit_of(store.database)) == 2


def test_one_that_is_removed_is_gone_and_so_are_those_of_a_removed_workspace(
    connections: StoreConnections, store: Store
) -> None:
    put(connections, "data")
    put(connections, "more")
    put(connections, "theirs", "speech")
    connections.rows.drop("vision", "data", audit_event())
    with pytest.raises(NotFound):
        connections.rows.drop("vision", "data", audit_event())
    ClusterSettings(store.database).drop("workspace", "vision", audit_event()).result()
    assert (connections.regions("vision").keys(), connections.regions("speech").keys()) == (set(), {"theirs"})
