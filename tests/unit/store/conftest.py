"""A folder with a store of SQLite in it, for tests of what only SQLite has to prove."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from trainmaster.store.database import Database


class Home:
    """A folder with a store in it."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "ledger.db"
        self.url = f"sqlite:///{self.file}"
        self.backups = folder / "backups"

    def open(self) -> Database:
        """Open the store."""
        return Database.open(self.url, backup_dir=str(self.backups))


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A folder without a store."""
    return Home(tmp_path / "home")


@pytest.fixture
def database(home: Home) -> Iterator[Database]:
    """A new store."""
    opened = home.open()
    yield opened
    opened.close()
