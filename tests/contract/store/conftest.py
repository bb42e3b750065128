"""Every test of this folder runs on SQLite and on a real PostgreSQL."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.fixtures.postgres import Server, cluster
from trainmaster.store.database import Database
from trainmaster.store.jobs.ledger import Batch, Change, Ledger
from trainmaster.store.jobs.read_jobs import JobReader
from trainmaster.store.jobs.read_ledger import LedgerReader


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    """A private PostgreSQL server."""
    with cluster() as server:
        yield server


@dataclass
class Store:
    """An open store and how to open it again."""

    url: str
    backups: str
    database: Database
    ledger: Ledger
    records: LedgerReader
    reader: JobReader

    @classmethod
    def open(cls, url: str, backups: str) -> "Store":
        """Open what is at `url`."""
        database = Database.open(url, backup_dir=backups)
        records = LedgerReader(database)
        return cls(url, backups, database, Ledger(database), records, JobReader(records))

    def reopen(self) -> "Store":
        """Close and open again, as a restart does."""
        self.database.close()
        return Store.open(self.url, self.backups)

    def keep(self, *changes: Change, **more: object) -> None:
        """Commit one batch and wait until it is durable."""
        self.ledger.commit(Batch(list(changes), **more)).result(60)  # type: ignore[arg-type]


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of a store that does not exist yet."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/home/ledger.db"
    return str(request.getfixturevalue("postgres").database())


@pytest.fixture
def store(url: str, tmp_path: Path) -> Iterator[Store]:
    """An empty open store."""
    opened = Store.open(url, str(tmp_path / "backups"))
    yield opened
    opened.database.close()
