"""An upgrade that is rehearsed on a copy (B7), of SQLite and a real PostgreSQL: it finds what the start would meet, and
leaves nothing behind.
"""

from pathlib import Path

import psycopg
import pytest
from sqlalchemy import text

from tests.contract.backup.conftest import KINDS, Place
from tests.fixtures.backups import furnish, open_store, rows_of
from tests.fixtures.older_stores import make_older
from trainmaster.core.errors import Conflict, StorageFailed
from trainmaster.service.backup.rehearsing import rehearse
from trainmaster.store import migrate, tables


def told(home: Path) -> dict[str, tuple[str, str]]:
    return {one.name: (one.state, one.said.code) for one in rehearse(str(home))}


def older(home: Path, url: str, schema: int) -> None:
    store = open_store(home, url)
    store.write(lambda connection: make_older(connection, schema)).result(60)
    store.close()


def everything(url: str, home: Path) -> object:
    """Return all that is in the database, whatever its schema is."""
    if url.startswith("sqlite"):
        return (home / "trainmaster.db").read_bytes()
    with psycopg.connect(url) as connection:
        found = connection.execute(
            "SELECT table_schema, table_name, column_name FROM information_schema.columns"
            " WHERE table_schema NOT IN ('pg_catalog', 'information_schema') ORDER BY 1, 2, 3"
        ).fetchall()
        return found, connection.execute("SELECT * FROM job ORDER BY seq").fetchall()


@pytest.mark.parametrize("schema", [1, 6, tables.SCHEMA - 1, tables.SCHEMA])
@pytest.mark.parametrize("kind", KINDS)
def test_an_older_store_is_upgraded_on_a_copy_and_nothing_stays(
    place: Place,
    kind: str,
    schema: int,
) -> None:
    home, url = place("home", kind)
    furnish(home, url, jobs=4)
    if schema < tables.SCHEMA:
        older(home, url, schema)
    before = everything(url, home)
    found = told(home)
    assert {name: state for name, (state, _) in found.items() if state != "ok"} in ({}, {"copy": "warning"})
    assert found["upgrade"][1] == ("rehearsed_upgrade" if schema < tables.SCHEMA else "rehearsed_same_schema")
    assert found["jobs"] == ("ok", "rehearsed_jobs")
    assert everything(url, home) == before
    assert [*(home / "backups").iterdir()] == []
    open_store(home, url).close()  # and the upgrade itself does what was rehearsed
    assert len(rows_of(url)["job"]) == 4


@pytest.mark.parametrize("kind", KINDS)
def test_a_migration_that_would_fail_is_found_before(
    place: Place,
    monkeypatch: pytest.MonkeyPatch,
    kind: str,
) -> None:
    home, url = place("home", kind)
    furnish(home, url, jobs=1)
    older(home, url, tables.SCHEMA - 1)
    before = everything(url, home)
    bring = migrate.bring

    def fails(connection: migrate.Connection, stamp: int) -> None:
        bring(connection, stamp)
        connection.execute(text("SELECT nothing FROM nowhere"))

    monkeypatch.setattr(migrate, "bring", fails)
    with pytest.raises(StorageFailed, match=f"from schema {tables.SCHEMA - 1} to {tables.SCHEMA}"):
        told(home)
    assert everything(url, home) == before


@pytest.mark.parametrize("kind", KINDS)
def test_rows_columns_and_jobs_that_would_be_lost_are_named(
    place: Place,
    monkeypatch: pytest.MonkeyPatch,
    kind: str,
) -> None:
    home, url = place("home", kind)
    furnish(home, url, jobs=2)
    older(home, url, tables.SCHEMA - 1)
    bring = migrate.bring

    def loses(connection: migrate.Connection, stamp: int) -> None:
        bring(connection, stamp)
        connection.execute(text("DELETE FROM spec"))
        connection.execute(text("DELETE FROM event"))
        connection.execute(text("UPDATE job SET record = '{' WHERE seq = 1"))

    monkeypatch.setattr(migrate, "bring", loses)
    found = told(home)
    assert found["rows"] == ("bad", "rehearsed_rows_lost")
    assert found["jobs"] == ("warning", "rehearsed_jobs_bad")

    def drops(connection: migrate.Connection, stamp: int) -> None:
        bring(connection, stamp)
        connection.execute(text("ALTER TABLE users DROP COLUMN locale"))

    monkeypatch.setattr(migrate, "bring", drops)
    assert told(home)["tables"] == ("bad", "rehearsed_shape_differs")


def test_a_newer_store_is_refused(place: Place) -> None:
    home, url = place("home", "sqlite")
    furnish(home, url, jobs=1)
    store = open_store(home, url)
    store.write(
        lambda connection: connection.execute(text("UPDATE meta SET value = '99' WHERE key = 'schema'"))
    ).result(9)
    store.close()
    with pytest.raises(Conflict, match="schema 99"):
        told(home)
