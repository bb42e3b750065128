"""A home backed up and restored, between SQLite and a real PostgreSQL in every direction (B7): rows and files are the
same, numbers go on, and what cannot be restored leaves no trace.
"""

import json
import os
import sqlite3
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.contract.backup.conftest import KINDS, Place
from tests.fixtures.audited import audit_event, audit_of
from tests.fixtures.backups import files_of, furnish, nothing, open_store, rows_of
from tests.fixtures.histories import life
from tests.fixtures.older_stores import make_older
from trainmaster.core.errors import Conflict, TrainmasterError
from trainmaster.core.folders.layout import BULK
from trainmaster.service.backup import restoring
from trainmaster.service.backup.making import BackupMade, make
from trainmaster.service.backup.restoring import BackupRestored, restore
from trainmaster.service.backup.unpacking import Content, Unpacking
from trainmaster.service.folders.held import hold
from trainmaster.service.folders.homes import prepare_home
from trainmaster.storage.archive import Archive, ArchiveMember, making
from trainmaster.store import tables
from trainmaster.store.jobs.ledger import Batch, Ledger
from trainmaster.store.people.accounts import PeopleRows, Session, User
from trainmaster.store.portable import schema


def back_up(home: Path, file: Path, *without: str) -> BackupMade:
    return make(str(home), str(file), without, nothing, nothing)


def bring_back(home: Path, file: Path) -> BackupRestored:
    return restore(str(home), str(file), nothing, nothing)


@pytest.mark.parametrize("to", KINDS)
@pytest.mark.parametrize("kind", KINDS)
def test_rows_and_files_are_the_same_wherever_they_are_restored(
    place: Place, tmp_path: Path, kind: str, to: str
) -> None:
    home, url = place("old", kind)
    furnish(home, url)
    made = back_up(home, tmp_path / "b.tar")
    assert (made.jobs, made.versions, made.database, made.rows["users"]) == (8, 1, kind, 1)
    assert made.passed_over == [one for one in made.passed_over if one.endswith("/pipe")] != []

    new, other = place("new", to)
    if (kind, to) == ("postgresql", "sqlite"):  # else the settings of the backup would name its own database
        new.mkdir(0o700)
        (new / "config.toml").write_text("")
    done = bring_back(new, tmp_path / "b.tar")
    assert (done.jobs, done.versions, done.migrates, done.last_event) == (8, 1, False, made.last_event)
    assert rows_of(other) == rows_of(url)
    wanted, found = files_of(home), files_of(new)
    there = {name for name in wanted if name.endswith("/pipe") or "half-made" in name or name == "models/m1/2"}
    for name in (*there, "secrets/cli-token"):
        del wanted[name]
    if kind != to:  # a home on PostgreSQL says so; one without settings is on SQLite
        for one in (wanted, found):
            one.pop("config.toml", None), one.pop("config.backup.toml", None)
    if (kind, to) == ("postgresql", "postgresql"):
        assert found.pop("config.backup.toml")[2] == wanted["config.toml"][2]
        assert found.pop("config.toml") != wanted.pop("config.toml")
    assert found == wanted
    hole = next(path for path in new.rglob("hole"))
    assert hole.stat().st_blocks * 512 < hole.stat().st_size

    store = open_store(new, other)  # it leads, and numbers go on
    PeopleRows(store).add_user(User("new", "hash", "user"), audit_event(name="new"))
    life_after = life(9, first_event=done.last_event + 1)
    Ledger(store).commit(Batch(list(life_after.changes))).result(60)
    assert {one.subject.name for one in audit_of(store)} >= {"new", "ann"}
    store.close()


@pytest.mark.parametrize("kind", KINDS)
def test_a_backup_beside_the_server_that_leads(place: Place, tmp_path: Path, kind: str) -> None:
    """It asks for no lock, sees what was acknowledged, and sessions do not come back."""
    home, url = place("old", kind)
    furnish(home, url, jobs=2)
    store = open_store(home, url)
    PeopleRows(store).add_session("m", Session("zoe", 1.0, 9e9), audit_event())
    back_up(home, tmp_path / "b.tar")
    store.close()
    new, other = place("new", "sqlite")
    if kind == "postgresql":
        new.mkdir()
        (new / "config.toml").write_text("")
    bring_back(new, tmp_path / "b.tar")
    with sqlite3.connect(new / "trainmaster.db") as found:
        assert found.execute("SELECT count(*) FROM sessions").fetchone() == (0,)
    found.close()
    assert rows_of(other)["job"] == rows_of(url)["job"]


def test_parts_can_be_left_out(place: Place, tmp_path: Path) -> None:
    home, url = place("old", "sqlite")
    furnish(home, url, jobs=3)
    made = back_up(home, tmp_path / "b.tar", "models", "jobs")
    assert made.left_out == ["jobs", "models"]
    names = [entry.name.split("/") for entry, _ in Archive(str(tmp_path / "b.tar")).entries()]
    assert {parts[1] for parts in names if parts[0] == "data"} == {"uploads"}
    done = bring_back(tmp_path / "new", tmp_path / "b.tar")
    assert done.left_out == ["jobs", "models"]
    assert rows_of(f"sqlite:///{tmp_path}/new/trainmaster.db") == rows_of(url)


def test_the_data_folder_of_a_home_is_backed_up_and_restored_elsewhere(place: Place, tmp_path: Path) -> None:
    home, url = place("old", "sqlite")
    furnish(home, url, jobs=3)
    (tmp_path / "data").mkdir()
    for name in BULK:
        (home / name).rename(tmp_path / "data" / name)
    (home / "config.toml").write_text(f'[server]\ndata = "{tmp_path}/data"\n')
    made = back_up(home, tmp_path / "b.tar")
    assert made.files > 3
    with pytest.raises(Conflict, match="is not empty: it has uploads, jobs, models"):
        bring_back(tmp_path / "new", tmp_path / "b.tar")
    assert not (tmp_path / "new").exists()
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / "config.toml").write_text(f'[server]\ndata = "{tmp_path}/other"\n')
    bring_back(tmp_path / "new", tmp_path / "b.tar")
    assert files_of(tmp_path / "other").keys() < files_of(tmp_path / "data").keys()


# ------------------------------------------------------------------------------------------------- what is not restored


@pytest.fixture
def one(place: Place, tmp_path: Path) -> Path:
    """A backup of a home on SQLite."""
    home, url = place("first", "sqlite")
    furnish(home, url, jobs=2)
    back_up(home, tmp_path / "one.tar")
    return tmp_path / "one.tar"


def changed(file: Path, **change: Callable[[bytes], bytes]) -> Path:
    """Return a whole backup whose members were changed on the way: one that somebody made up."""
    other = file.with_name("changed.tar")
    with making(str(other), {"made_at": 1.0, "trainmaster": "x", "left_out": []}, nothing) as archive:
        with tarfile.open(file) as tar:
            for member in tar:
                if member.name in ("about.json", "manifest.jsonl.gz", "end.json"):
                    continue
                name = os.fsdecode(change["name"](os.fsencode(member.name))) if "name" in change else member.name
                if member.isdir():
                    archive.folder(name, member.mode, 1.0)
                elif member.issym():
                    archive.link(name, member.linkname, 1.0)
                else:
                    content = tar.extractfile(member)
                    assert content is not None
                    told = change.get(member.name.replace("/", "_").replace(".", "_"), bytes)
                    archive.text(name, told(content.read()))
            last = tar.extractfile("end.json")
            assert last is not None
            end = json.loads(last.read())
        end.pop("manifest")
        archive.finish(end)
    return other


def refused(home: Path, file: Path, said: str, *, gone: bool = True) -> None:
    with pytest.raises(TrainmasterError, match=said) as found:
        bring_back(home, file)
    assert found.value.remedy
    assert not gone or not home.exists()


def test_a_damaged_backup_leaves_no_trace(one: Path, tmp_path: Path) -> None:
    content = one.read_bytes()
    at = content.index(b"print(")
    one.write_bytes(content[:at] + b"X" + content[at + 1 :])
    refused(tmp_path / "new", one, "is damaged|is not what was written")


ABOUT = {"made_at": 1.0, "trainmaster": "x", "left_out": []}
WHOLE = {"rows": {}, "server_id": "s", "last_event": 0, "database_bytes": 0, "files": 0, "file_bytes": 0}


@pytest.mark.parametrize(
    ("about", "end", "part"),
    [
        ({**ABOUT, "left_out": "jobs"}, WHOLE, "about.json"),
        ({"made_at": 1.0}, WHOLE, "about.json"),
        (ABOUT, {**WHOLE, "rows": {"job": "many"}}, "end.json"),
        (ABOUT, {key: value for key, value in WHOLE.items() if key != "last_event"}, "end.json"),
    ],
)
def test_a_backup_that_does_not_say_all_of_itself_is_refused_before_anything_is_made(
    tmp_path: Path, about: dict[str, Any], end: dict[str, Any], part: str
) -> None:
    with making(str(tmp_path / "b.tar"), about, nothing) as archive:
        archive.finish(end)
    refused(tmp_path / "new", tmp_path / "b.tar", f"is damaged: {part}")


@pytest.mark.parametrize("content", [b"{", b'{"schema": "19"}', b'{"schema": 1, "columns": {}}', b"[]"])
def test_tables_that_cannot_be_read_are_refused(one: Path, tmp_path: Path, content: bytes) -> None:
    other = changed(one, database_schema_json=lambda _: content)
    refused(tmp_path / "new", other, r"has a member that no backup has: database/schema\.json")


def test_a_backup_of_a_newer_release_is_refused_and_names_both(one: Path, tmp_path: Path) -> None:
    def newer(content: bytes) -> bytes:
        return json.dumps({**json.loads(content), "schema": 99}).encode()

    refused(tmp_path / "new", changed(one, database_schema_json=newer), f"schema version 99|schema 99.*{tables.SCHEMA}")


@pytest.mark.parametrize(
    "name",
    [
        "/etc/x",
        "data/jobs/../../x",
        "home/run/server.json",
        "home/secrets/a/b",
        "data/jobs/l/x",
        "data/a b/c",
        "x/y",
    ],
)
def test_nothing_leaves_the_home(one: Path, tmp_path: Path, name: str) -> None:
    """A made-up backup: names that lead elsewhere, and what would be written through a link."""
    outside = tmp_path / "outside"
    outside.mkdir()

    def other(given: bytes) -> bytes:
        ours = {b"train.py": name.encode(), b"link": b"data/jobs/l" if name == "data/jobs/l/x" else given}
        return ours.get(given.split(b"/")[-1], given)

    refused(tmp_path / "new", changed(one, name=other), "has a member that no backup has")
    assert [*outside.iterdir()] == []
    assert not (tmp_path / "x").exists()


def test_statements_that_make_no_table_are_refused(one: Path, tmp_path: Path) -> None:
    def older(content: bytes) -> bytes:
        found = json.loads(content)
        found["statements"]["sqlite"].append("ATTACH '/tmp/x' AS y")
        return json.dumps({**found, "schema": 1}).encode()

    refused(tmp_path / "new", changed(one, database_schema_json=older), r"schema\.json")


@pytest.mark.postgres
def test_a_row_that_postgresql_cannot_hold_is_named_and_nothing_is_kept(place: Place, tmp_path: Path) -> None:
    home, url = place("old", "sqlite")
    furnish(home, url, jobs=1)
    with sqlite3.connect(home / "trainmaster.db") as connection:
        connection.execute("UPDATE job SET description = 'a' || char(0) || 'b'")
    connection.close()
    back_up(home, tmp_path / "b.tar")
    new, other = place("new", "postgresql")
    refused(new, tmp_path / "b.tar", "job has a row", gone=False)
    assert [path.name for path in new.rglob("*") if path.is_file()] == ["config.toml", "server.lock"]
    with psycopg.connect(other) as connection:
        assert connection.execute("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'").fetchone() == (0,)


def test_a_home_that_is_used_is_not_touched(one: Path, tmp_path: Path) -> None:
    home = tmp_path / "first"
    before, rows = files_of(home), rows_of(f"sqlite:///{home}/trainmaster.db")
    found = "uploads, jobs, models, secrets, trainmaster.mark, trainmaster.db"
    refused(home, one, f"is not empty: it has {found}", gone=False)
    lock = hold(str(home))
    refused(home, one, "A server is running on", gone=False)
    assert lock is not None
    os.close(lock)
    assert (files_of(home), rows_of(f"sqlite:///{home}/trainmaster.db")) == (before, rows)


@pytest.mark.postgres
def test_a_database_that_is_used_is_not_touched(one: Path, place: Place) -> None:
    home, url = place("new", "postgresql")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE TABLE meta (key text, value text)")
    refused(home, one, "is not empty", gone=False)
    with psycopg.connect(url, autocommit=True) as connection:
        assert connection.execute("SELECT count(*) FROM meta").fetchone() == (0,)


def test_a_disk_that_is_too_small_is_said_before_anything_is_written(
    one: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(restoring, "_GROWS", 10**12)
    refused(tmp_path / "new", one, "The restore needs .* but only .* is free at")


# ------------------------------------------------------------------------------------- in the middle of it


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("last", [0, 3, 12, 15])
def test_a_restore_that_was_killed_is_no_home_and_is_done_again(
    one: Path, place: Place, monkeypatch: pytest.MonkeyPatch, kind: str, last: int
) -> None:
    """After any member: no server starts, and the next restore begins with nothing."""
    home, url = place("new", kind)
    killed_at(monkeypatch, last)
    with pytest.raises(Killed):
        bring_back(home, one)
    monkeypatch.undo()
    with pytest.raises(Conflict, match="did not finish"):
        prepare_home(str(home))
    with pytest.raises(Conflict, match="did not finish"):
        back_up(home, home.parent / "no.tar")
    bring_back(home, one)
    assert rows_of(url) == rows_of(f"sqlite:///{one.parent}/first/trainmaster.db")
    prepare_home(str(home))


@pytest.mark.parametrize("kind", KINDS)
def test_killed_after_the_database_was_kept_it_is_done_again(
    one: Path, place: Place, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    home, url = place("new", kind)
    monkeypatch.setattr(restoring, "_forget_note", lambda layout: kill())
    monkeypatch.setattr(restoring, "_clear", lambda target: None)
    monkeypatch.setattr(restoring.shutil, "rmtree", lambda *_, **__: None)
    with pytest.raises(Killed):
        bring_back(home, one)
    monkeypatch.undo()
    with pytest.raises(Conflict, match="did not finish"):
        prepare_home(str(home))
    bring_back(home, one)
    assert rows_of(url) == rows_of(f"sqlite:///{one.parent}/first/trainmaster.db")


class Killed(BaseException):
    """As `kill -9`: nobody clears up."""


def kill() -> None:
    raise Killed


def killed_at(monkeypatch: pytest.MonkeyPatch, last: int) -> None:
    """Let a restore end before its member `last`, in such a way that it does not clear up."""

    def take(self: Unpacking, entry: ArchiveMember, content: Content) -> None:
        members.append(entry.name)
        if len(members) > last:
            kill()
        real(self, entry, content)

    members, real = list[str](), Unpacking.take
    monkeypatch.setattr(Unpacking, "take", take)
    monkeypatch.setattr(restoring, "_clear", lambda target: None)
    monkeypatch.setattr(restoring, "_forget_note", lambda layout: None)
    monkeypatch.setattr(restoring.shutil, "rmtree", lambda *_, **__: None)


# --------------------------------------------------------------------------------------------------- what is backed up


def test_no_backup_of_what_is_damaged_behind_or_not_there(place: Place, tmp_path: Path) -> None:
    """So that none replaces a whole one (B7)."""
    home, url = place("old", "sqlite")
    with pytest.raises(Conflict, match="no database"):
        back_up(home, tmp_path / "b.tar")
    furnish(home, url, jobs=20)
    mark = json.loads((home / "trainmaster.mark").read_text())
    (home / "trainmaster.mark").write_text(json.dumps({**mark, "seq": mark["seq"] + 5}))
    with pytest.raises(Conflict, match="is behind"):
        back_up(home, tmp_path / "b.tar")
    (home / "trainmaster.mark").write_text(json.dumps({**mark, "ledger": "other"}))
    with pytest.raises(Conflict, match="does not belong"):
        back_up(home, tmp_path / "b.tar")
    (home / "trainmaster.mark").write_text(json.dumps(mark))
    content = bytearray((home / "trainmaster.db").read_bytes())
    content[20 * 4096 : 21 * 4096] = os.urandom(4096)
    (home / "trainmaster.db").write_bytes(content)
    with pytest.raises(Conflict, match="The database is damaged"):
        back_up(home, tmp_path / "b.tar")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["old"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_backup_of_an_older_release_is_restored_and_brought_up_to_date(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """The tables are made as that release made them; the first start migrates, as it does any older store."""
    home, url = place("old", "sqlite")
    furnish(home, url, jobs=3)
    wanted = rows_of(url)
    back_up(home, tmp_path / "b.tar")
    newer = tables.SCHEMA + 1
    monkeypatch.setattr(tables, "SCHEMA", newer)
    new, other = place("new", kind)
    done = bring_back(new, tmp_path / "b.tar")
    assert done.migrates
    monkeypatch.undo()
    assert rows_of(other) == wanted


def test_a_database_of_an_older_release_is_not_backed_up_by_a_newer_one(place: Place, tmp_path: Path) -> None:
    home, url = place("old", "sqlite")
    furnish(home, url, jobs=1)
    store = open_store(home, url)
    store.write(lambda connection: make_older(connection, tables.SCHEMA - 1)).result(60)
    store.close()
    with pytest.raises(Conflict, match=f"schema {tables.SCHEMA - 1}.*schema {tables.SCHEMA}"):
        back_up(home, tmp_path / "b.tar")


def test_what_makes_the_tables_is_what_may() -> None:
    said = {"columns": schema.columns(), "statements": schema.statements()}
    assert schema.is_usable(said)
    for bad in (
        "DROP TABLE job",
        "CREATE TABLE a (b int); DROP TABLE a",
        "CREATE FUNCTION x",
        "COPY a TO PROGRAM 'x'",
    ):
        assert not schema.is_usable({**said, "statements": {"postgresql": [bad]}})
    assert not schema.is_usable({**said, "columns": {'a"; DROP': []}})
    assert not schema.is_usable({})
