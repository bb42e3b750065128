"""Stores of older and newer releases: stamps, the copy before a migration, and each real migration."""

import sqlite3
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import Connection, text

from tests.fixtures.audited import audit_event, audit_of
from tests.fixtures.histories import life
from tests.fixtures.older_stores import make_older, model, model_version
from tests.fixtures.seeing import ALL, reading
from tests.unit.store.conftest import Home
from trainmaster.core.errors import Conflict, StorageFailed
from trainmaster.store import migrate, tables
from trainmaster.store.assets.versions import AssetReader
from trainmaster.store.cluster_settings import ClusterSettings, Setting
from trainmaster.store.jobs.ledger import Batch, Ledger
from trainmaster.store.jobs.read_jobs import JobQuery
from trainmaster.store.people.accounts import PeopleRows, User
from trainmaster.store.people.members import Member, MemberRows

ROOT = Path(__file__).parents[3]


def test_a_newer_stamp_is_refused_and_untouched(home: Home) -> None:
    """A wrong order of upgrade: the message names both schemas; nothing is written."""
    home.open().close()
    with sqlite3.connect(home.file) as connection:
        connection.execute("UPDATE meta SET value = '99' WHERE key = 'schema'")
    connection.close()
    before = home.file.read_bytes()
    with pytest.raises(Conflict, match="schema 99"):
        home.open()
    assert home.file.read_bytes() == before
    assert not home.backups.exists()


MIGRATION = """
from alembic import op
import sqlalchemy as sa
revision = "0002"
down_revision = "0001"
def upgrade():
    op.add_column("job", sa.Column("colour", sa.Text(), server_default="blue"))
    {more}
"""


@pytest.fixture
def upgraded(home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Store one job; then, with what else its migration does, be a Trainmaster of the future with schema 2."""

    def upgrade(more: str) -> None:
        monkeypatch.setattr(tables, "SCHEMA", 1)
        database = home.open()
        Ledger(database).commit(Batch(list(life(1).changes))).result(60)
        database.close()
        folder = tmp_path / "migrations"
        (folder / "versions").mkdir(parents=True)
        for name in ("env.py", "versions/0001_first.py"):
            (folder / name).write_text((Path(migrate.MIGRATIONS) / name).read_text())
        (folder / "versions" / "0002_colour.py").write_text(MIGRATION.format(more=more))
        monkeypatch.setattr(migrate, "MIGRATIONS", str(folder))
        monkeypatch.setattr(tables, "SCHEMA", 2)

    return upgrade


def test_an_older_store_is_copied_and_then_migrated(home: Home, upgraded: Callable[[str], None]) -> None:
    """Item 4: schema stamp, backup before migrating; the copy is a whole store of the old schema."""
    upgraded("")
    database = home.open()
    with database.read() as connection:
        assert connection.scalar(text("SELECT colour FROM job")) == "blue"
        assert connection.scalar(text("SELECT value FROM meta WHERE key = 'schema'")) == "2"
    database.close()
    home.open().close()
    (backup,) = home.backups.iterdir()
    assert backup.stat().st_mode & 0o077 == 0
    with sqlite3.connect(backup) as old:
        assert old.execute("SELECT count(*) FROM event").fetchone() == (life(1).seq - 20,)
        assert old.execute("SELECT value FROM meta WHERE key = 'schema'").fetchone() == ("1",)
        assert old.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    old.close()


def test_a_migration_that_fails_leaves_the_old_store(
    home: Home, upgraded: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The change and its stamp are one transaction."""
    upgraded("raise RuntimeError('power cut')")
    with pytest.raises(StorageFailed, match="power cut"):
        home.open()
    monkeypatch.setattr(tables, "SCHEMA", 1)
    database = home.open()
    with database.read() as connection:
        assert "colour" not in [row.name for row in connection.exec_driver_sql("PRAGMA table_info(job)")]
    assert len(reading(database).list_jobs(ALL, JobQuery()).items) == 1
    database.close()


def test_the_package_brings_every_migration_up_to_its_schema() -> None:
    """Raising SCHEMA without a migration, or the other way round, is caught here."""
    files = sorted(path.name for path in (Path(migrate.MIGRATIONS) / "versions").glob("[0-9]*.py"))
    assert [name[:4] for name in files] == [f"{number:04}" for number in range(1, tables.SCHEMA + 1)]


def test_opening_a_new_store_needs_no_alembic(home: Home) -> None:
    """Ready in under two seconds: Alembic is only loaded for a store that is older."""
    code = (
        "import sys; from trainmaster.store.database import Database;"
        f"Database.open({home.url!r}, backup_dir='b').close(); Database.open({home.url!r}, backup_dir='b').close();"
        "assert 'alembic' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)


def test_a_store_of_schema_2_tells_where_models_lie_from_the_home_on(home: Home) -> None:
    """The real migration: the home of old may be gone; folders may have other numbers than their versions."""

    def before(connection: Connection) -> None:
        make_older(connection, 2)
        connection.execute(
            model.insert().values(id="m1", name="digits", owner="ann", workspace="default", created_at=10.0)
        )
        for number, folder in ((1, "/srv/old home/models/m1/1"), (2, "/srv/old home/models/m1/3")):
            connection.execute(
                model_version.insert().values(
                    model="m1",
                    version=number,
                    digest="sha256:d",
                    size_bytes=1,
                    files=1,
                    created_at=10.0,
                    job=f"t{number}",
                    attempt=1,
                    path=folder,
                    metrics="{}",
                )
            )

    database = home.open()
    database.write(before).result(60)
    database.close()
    database = home.open()
    assert [version.path for version in AssetReader(database).versions(ALL, "m1")] == ["models/m1/3", "models/m1/1"]
    database.close()


def test_a_store_of_schema_1_gets_the_settings_of_the_cluster(home: Home) -> None:
    """The real migration: an empty table, and jobs as they were."""
    database = home.open()
    Ledger(database).commit(Batch(list(life(1).changes))).result(60)
    database.write(lambda connection: make_older(connection, 1)).result(60)
    database.close()
    database = home.open()
    settings = ClusterSettings(database)
    assert settings.all() == []
    pool = Setting("pool", "north", {"kind": "public"}, 1.0, "admin")
    settings.put(pool, audit_event()).result(60)
    settings.put(replace(pool, at=2.0), audit_event()).result(60)
    database.close()
    database = home.open()
    settings = ClusterSettings(database)
    assert settings.all() == [replace(pool, at=2.0)]
    settings.drop("pool", "north", audit_event()).result(60)
    assert settings.all() == []
    assert len(reading(database).list_jobs(ALL, JobQuery()).items) == 1
    database.close()


def test_a_store_of_schema_7_gets_an_audit(home: Home) -> None:
    """The real migration: what people did to jobs before is found, in the same schema as that of a new store."""
    database = home.open()
    Ledger(database).commit(Batch(list(life(1).changes))).result(60)
    database.write(lambda c: c.exec_driver_sql("UPDATE event SET actor = 'ann' WHERE seq IN (20, 21)").close()).result(
        60
    )
    assert [one.kind for one in audit_of(database)] == ["submitted"]
    schema = _schema(home)
    database.write(lambda connection: make_older(connection, 7)).result(60)
    database.close()
    database = home.open()
    assert [(one.by.name, one.kind) for one in audit_of(database)] == [("ann", "placed")]
    assert _schema(home) == schema
    database.close()


def test_whoever_a_store_of_schema_9_knows_belongs_to_the_workspace_that_always_exists(home: Home) -> None:
    """There they submitted until now, and there they go on."""
    database = home.open()
    people = PeopleRows(database)
    people.add_user(User("admin", "$1", "admin", created_at=1.0), audit_event())
    people.add_user(User("ann", "$2", "user", created_at=2.0), audit_event())
    database.write(lambda connection: make_older(connection, 9)).result(60)
    database.close()
    database = home.open()
    assert MemberRows(database).all() == [
        Member("default", "admin", "owner", 1.0),
        Member("default", "ann", "member", 2.0),
    ]
    found = PeopleRows(database).user("ann")
    assert found is not None
    assert found.state == "active"
    database.close()


def _schema(home: Home) -> set[str]:
    with sqlite3.connect(home.file) as connection:
        found = connection.execute(
            "SELECT sql FROM sqlite_master WHERE tbl_name IN ('audit', 'event') AND sql IS NOT NULL"
        )
        texts = {" ".join(sql.replace('"', "").split()) for (sql,) in found}
    connection.close()
    return texts
