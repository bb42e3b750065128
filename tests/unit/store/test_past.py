"""A ledger that has lost something is never taken for a new or an older one: real files, a real kill, no mocks."""

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from tests.fixtures.histories import life
from trainmaster.core.errors import Conflict
from trainmaster.store import past
from trainmaster.store.database import Database
from trainmaster.store.jobs.ledger import Batch, Ledger
from trainmaster.store.jobs.read_ledger import LedgerReader
from trainmaster.store.past import Past

PATIENCE_S = 120.0
WRITER = """
import sys, time
from tests.fixtures.histories import life
from trainmaster.store import past
from trainmaster.store.database import Database
from trainmaster.store.jobs.ledger import Batch, Ledger
from trainmaster.store.past import Past
past.CHECKPOINT_S = 3600.0  # all of it stays in the -wal
database = Database.open(f"sqlite:///{sys.argv[1]}/ledger.db", backup_dir=sys.argv[1], past=Past(sys.argv[1] + "/mark"))
for number in range(1, 41):
    Ledger(database).commit(Batch(list(life(number).changes))).result()
print(database.last_seq(), flush=True)
time.sleep(3600)
"""


@dataclass
class Home:
    """A folder with a ledger whose server was killed. `last`: the number of its last event."""

    folder: Path
    last: int

    @property
    def file(self) -> Path:
        return self.folder / "ledger.db"

    @property
    def wal(self) -> Path:
        return self.folder / "ledger.db-wal"

    def open(self, traces: bool = False, accept: bool = False) -> Database:
        past = Past(str(self.folder / "mark"), lambda: traces, accept)
        return Database.open(f"sqlite:///{self.file}", backup_dir=str(self.folder), past=past)


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """A server that stored forty jobs, marked them, and was killed before any of it was copied from the -wal."""
    folder = tmp_path_factory.mktemp("killed")
    with subprocess.Popen([sys.executable, "-c", WRITER, str(folder)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        last = int(process.stdout.readline())
        limit = time.monotonic() + PATIENCE_S
        while (mark := Past(str(folder / "mark")).mark()) is None or mark.seq < last:
            assert time.monotonic() < limit, "it was never marked"
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
    return Home(folder, last)


@pytest.fixture
def home(killed: Home, tmp_path: Path) -> Home:
    """A copy of it."""
    shutil.copytree(killed.folder, tmp_path / "home")
    return replace(killed, folder=tmp_path / "home")


def test_what_was_killed_starts_again_with_all_there_was(home: Home) -> None:
    """The mark is never ahead: a kill by itself loses nothing and is no reason to refuse."""
    database = home.open(traces=True)
    assert database.last_seq() == home.last
    assert len(LedgerReader(database).live_jobs()[0]) == 0
    database.close()
    home.open().close()


@pytest.mark.parametrize("harm", ["deleted", "emptied", "cut"])
def test_a_ledger_whose_wal_was_lost_or_cut_is_not_opened(home: Home, harm: str) -> None:
    """B7: it may hold the newest 32 MiB alone. Said with both numbers and what can be done, and nothing is changed."""
    size = home.wal.stat().st_size
    if harm == "deleted":
        home.wal.unlink()
    else:
        os.truncate(home.wal, 0 if harm == "emptied" else size // 2)
    with pytest.raises(Conflict, match=f"was at {home.last}|{home.last} events until") as refused:
        home.open()
    assert "--accept-loss" in refused.value.remedy
    with pytest.raises(Conflict):
        home.open()


def test_a_ledger_whose_file_is_gone_is_not_made_anew(home: Home) -> None:
    """Neither is the -wal beside it touched, with which the file can still be mended."""
    home.file.unlink()
    size = home.wal.stat().st_size
    with pytest.raises(Conflict, match=f"{home.last} events until"):
        home.open()
    assert not home.file.exists()
    assert home.wal.stat().st_size == size


def test_folders_of_jobs_without_a_ledger_are_enough_to_refuse(tmp_path: Path) -> None:
    """A home from before there were marks, or one whose mark is gone, too."""
    home = Home(tmp_path, 0)
    with pytest.raises(Conflict, match="folders of jobs"):
        home.open(traces=True)
    home.open().close()
    assert Past(str(tmp_path / "mark")).mark() is not None


def test_another_ledger_is_not_taken_for_ours(home: Home, tmp_path: Path) -> None:
    """Somebody put a new database where the old one was."""
    other = Home(tmp_path / "other", 0)
    other.open().close()
    home.wal.unlink()
    shutil.copy(other.file, home.file)
    with pytest.raises(Conflict, match="does not belong to this home"):
        home.open()


def test_an_older_copy_is_not_taken_for_the_newest(home: Home, tmp_path: Path) -> None:
    """A backup that was put back."""
    database = home.open()
    with closing(sqlite3.connect(tmp_path / "copy.db")) as copy, closing(sqlite3.connect(home.file)) as source:
        source.backup(copy)
    history = life(99)
    Ledger(database).commit(Batch(list(history.changes))).result(60)
    database.close()
    shutil.copy(tmp_path / "copy.db", home.file)
    with pytest.raises(Conflict, match=f"ends at event {home.last}, but was at {history.seq - 1}"):
        home.open()


def test_a_loss_that_is_accepted_is_asked_about_once_and_no_number_is_given_twice(home: Home) -> None:
    """What clients saw up to the old mark stays the past for them."""
    home.wal.unlink()
    database = home.open(traces=True, accept=True)
    assert database.last_seq() == home.last
    history = life(99)
    Ledger(database).commit(Batch(list(history.changes))).result(60)
    database.close()
    again = home.open(traces=True)
    assert again.last_seq() == history.seq - 1
    again.close()


def test_a_mark_that_cannot_be_read_or_written_stops_nothing(home: Home) -> None:
    """It is a net, not a second truth."""
    mark = home.folder / "mark"
    mark.write_text("{")
    database = home.open()
    assert database.last_seq() == home.last
    database.close()
    mark.unlink()
    mark.mkdir()
    home.open().close()


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Checkpoints as soon as something was written."""
    monkeypatch.setattr(past, "MARK_S", 0.0)
    monkeypatch.setattr(past, "CHECKPOINT_S", 0.0)


@pytest.mark.usefixtures("quick")
def test_what_was_stored_is_soon_in_the_file_itself(tmp_path: Path) -> None:
    """A copy of the file alone, without its -wal, has the job: only seconds can lie in the -wal alone."""
    home = Home(tmp_path / "home", 0)
    database = home.open()
    history = life(1)
    Ledger(database).commit(Batch(list(history.changes))).result(60)
    limit = time.monotonic() + PATIENCE_S
    while True:
        shutil.copy(home.file, tmp_path / "alone.db")
        with closing(sqlite3.connect(tmp_path / "alone.db")) as alone:
            try:
                if alone.execute("SELECT count(*) FROM event").fetchone()[0] == len(history.events):
                    break
            except sqlite3.DatabaseError:
                pass  # copied in the middle of it
        assert time.monotonic() < limit, "nothing was ever copied from the -wal"
        time.sleep(0.01)
    database.close()
