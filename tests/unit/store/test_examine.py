"""What `trainmaster doctor` says of a ledger: real files, sound, damaged, lost and large; a real PostgreSQL, there and
away.
"""

import os
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from tests.fixtures.histories import life
from tests.fixtures.postgres import cluster
from trainmaster.store.database import Database
from trainmaster.store.examine import examine
from trainmaster.store.jobs.ledger import Batch, Ledger
from trainmaster.store.past import Past


def filled(url: str, past: Past, jobs: int = 30) -> Database:
    """Return an open ledger with jobs in it."""
    database = Database.open(url, backup_dir=f"{past.path}.backups", past=past)
    changes = [change for number in range(1, jobs + 1) for change in life(number).changes]
    Ledger(database).commit(Batch(changes)).result(60)
    return database


@pytest.fixture
def past(tmp_path: Path) -> Past:
    return Past(str(tmp_path / "mark"))


def test_a_ledger_is_looked_at_beside_its_server_and_without(tmp_path: Path, past: Past) -> None:
    """Nothing is changed, not even the -wal that a killed server left."""
    url, file = f"sqlite:///{tmp_path}/ledger.db", tmp_path / "ledger.db"
    assert examine(url, past).state == "sound"
    assert not file.exists()
    database = filled(url, past)
    wal = Path(f"{file}-wal").stat().st_size
    assert wal > 0
    assert examine(url, past).state == "sound"
    assert Path(f"{file}-wal").stat().st_size == wal
    database.close()
    looked = examine(url, past)
    assert (looked.state, looked.remedy) == ("sound", "")


def test_an_overwritten_page_is_found(tmp_path: Path, past: Past) -> None:
    """Wherever it lies: every page is looked at."""
    url, file = f"sqlite:///{tmp_path}/ledger.db", tmp_path / "ledger.db"
    filled(url, past, jobs=60).close()
    pages = file.stat().st_size // 4096
    with closing(sqlite3.connect(file)) as connection:
        free = {page for (page,) in connection.execute("SELECT rootpage FROM sqlite_master WHERE name LIKE 'users%'")}
    with file.open("r+b") as disk:
        disk.seek(next(page for page in range(pages // 2, pages) if page not in free) * 4096)
        disk.write(os.urandom(4096))
    looked = examine(url, past)
    assert looked.state == "broken"
    assert "backup" in looked.remedy


def test_a_lost_ledger_is_said_with_the_words_of_the_start(tmp_path: Path, past: Past) -> None:
    """The doctor and the server agree."""
    url, file = f"sqlite:///{tmp_path}/ledger.db", tmp_path / "ledger.db"
    filled(url, past).close()
    held = file.read_bytes()
    file.unlink()
    looked = examine(url, past)
    assert (looked.state, "missing" in looked.detail) == ("broken", True)
    file.write_bytes(held)
    mark = past.mark()
    assert mark is not None
    past.write(replace(mark, seq=mark.seq + 7))
    assert "behind" in examine(url, past).detail


def test_what_is_too_large_to_be_looked_at_in_time_is_not_called_whole(tmp_path: Path, past: Past) -> None:
    """Bounded: a ledger of years has gigabytes."""
    url = f"sqlite:///{tmp_path}/ledger.db"
    filled(url, past, jobs=200).close()
    looked = examine(url, past, limit_s=-1.0)
    assert looked.state == "unsure"
    assert "quick_check" in looked.remedy


@pytest.mark.postgres
def test_a_postgres_that_is_away_is_said_without_its_password(past: Past) -> None:
    """Answers, then does not."""
    with cluster() as server:
        url = server.database()
        filled(url, past, jobs=1).close()
        assert examine(url, past).state == "sound"
        server.stop()
        looked = examine(url.replace("postgres@", "postgres:hidden@"), past)
        assert looked.state == "broken"
        assert "hidden" not in looked.detail + looked.remedy
        server.start()
