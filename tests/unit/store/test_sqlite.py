"""What only SQLite has to prove: a killed writer, a full disk, one server at a time, cheap pages."""

import os
import re
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from tests.fixtures.histories import History, life, new_job
from tests.fixtures.seeing import ALL, only, reading
from tests.unit.store.conftest import Home
from trainmaster.access.visible import Visible
from trainmaster.core.errors import Conflict, StorageFailed
from trainmaster.core.states import Shown
from trainmaster.store import tables
from trainmaster.store.database import Database
from trainmaster.store.jobs.ledger import Batch, Ledger
from trainmaster.store.jobs.orders import ORDERS, RUN_TIME, STATE, TAGS
from trainmaster.store.jobs.pages import page_keys
from trainmaster.store.jobs.read_jobs import JobQuery
from trainmaster.store.jobs.read_ledger import LedgerReader
from trainmaster.store.jobs.sources import IndexAt

ROOT = Path(__file__).parents[3]
AT = IndexAt("sqlite", -1)
IN_MANY = Visible(
    owner="ann",
    workspaces=frozenset({"vision", "speech"}),
    shared=frozenset({"others", "more"}),
    levels=frozenset({"read", "read-write"}),
)


# ----------------------------------------------------------------------------------------------------------- durability


def test_kill_9_loses_nothing_that_was_acknowledged(home: Home) -> None:
    """Done 3: a writer is killed five times under load; every job it acknowledged is whole, every other whole or
    absent.
    """
    acknowledged: set[int] = set()
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    program = [sys.executable, "-m", "tests.unit.store.writer_process", home.url, str(home.backups)]
    for turn in range(5):
        process = subprocess.Popen(program, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        for _ in range(40 + 37 * turn):
            acknowledged.add(int(process.stdout.readline()))
        process.send_signal(signal.SIGKILL)
        acknowledged.update(int(line) for line in process.stdout.read().split("\n")[:-1])
        process.wait()
        database = home.open()
        reader = reading(database)
        pages, cursor = [], None
        while True:
            page = reader.list_jobs(ALL, JobQuery(order="name"), 500, cursor)
            pages += page.items
            if (cursor := page.next_cursor) is None:
                break
        assert acknowledged <= {job.seq for job in pages}
        assert LedgerReader(database).quarantined() == []
        assert {job.shown for job in pages} == {Shown.SUCCEEDED}, "a batch is stored as a whole or not at all"
        assert all(len(reader.events(ALL, job.id)) == job.version for job in pages[-20:])
        database.close()


def test_a_full_disk_refuses_everything_and_loses_nothing(database: Database) -> None:
    """Disk full: StorageFailed with a remedy, nothing half stored, and the ledger works again once there is room."""
    ledger, reader = Ledger(database), reading(database)
    ledger.commit(Batch(list(life(1).changes))).result(60)

    def limit(pages: int) -> None:
        database.write(lambda c: c.exec_driver_sql(f"PRAGMA max_page_count = {pages}").close()).result(60)

    with database.read() as connection:
        limit(int(connection.exec_driver_sql("PRAGMA page_count").scalar() or 0) + 2)
    long = "x" * 20_000
    histories = [History(100 + n).submit(new_job(10 + n, description=long)) for n in range(10)]
    futures = [
        ledger.commit(Batch(list(history.changes), specs={f"s{n}": long})) for n, history in enumerate(histories)
    ]
    errors = [future.exception(60) for future in futures]
    assert all(isinstance(error, StorageFailed) and error.remedy for error in errors)
    assert [job.seq for job in reader.list_jobs(ALL, JobQuery()).items] == [1]
    assert LedgerReader(database).spec("s0") is None
    limit(2**30)
    for history in histories:
        ledger.commit(Batch(list(history.changes))).result(60)
    assert len(reader.list_jobs(ALL, JobQuery()).items) == 11


@pytest.mark.parametrize("count", [1, 2, 3, 7, 8, 9, 15, 31, 300])
def test_a_group_of_any_size_is_stored_whole(database: Database, count: int) -> None:
    """Rows go out in statements of a few sizes; whatever the number of jobs, each is inserted and changed once."""
    ledger, reader = Ledger(database), reading(database)
    histories = [life(seq) for seq in range(1, count + 1)]
    for stage in zip(*(history.changes for history in histories), strict=True):
        ledger.commit(Batch(list(stage))).result(60)
    assert reader.list_jobs(ALL, JobQuery(order="submitted_at"), count).items == [history.job for history in histories]
    assert len(LedgerReader(database).events_after(0, 20 * count)) == sum(len(history.events) for history in histories)


def test_every_commit_is_synced(database: Database) -> None:
    """Acknowledged means on the disk: write-ahead log with full synchronisation, also after opening again."""
    pragmas = ("journal_mode", "synchronous")
    asked = database.write(lambda c: [c.exec_driver_sql(f"PRAGMA {name}").scalar() for name in pragmas])
    assert asked.result(60) == ["wal", 2]


def test_a_reader_is_not_held_up_by_a_write(database: Database) -> None:
    """Lists answer while a long transaction runs, and see what was there before it."""
    Ledger(database).commit(Batch(list(life(1).changes))).result(60)
    hold, held = threading.Event(), threading.Event()

    def slow(connection: Any) -> None:
        connection.execute(text("DELETE FROM job"))
        held.set()
        assert hold.wait(60)
        raise ValueError("changed my mind")

    future = database.write(slow)
    assert held.wait(60)
    assert len(reading(database).list_jobs(ALL, JobQuery()).items) == 1
    hold.set()
    with pytest.raises(ValueError, match="changed my mind"):
        future.result(60)
    assert len(reading(database).list_jobs(ALL, JobQuery()).items) == 1


def test_readers_cannot_write(database: Database) -> None:
    """There is one writer; a mistake elsewhere cannot become a second."""
    with database.read() as connection, pytest.raises(Exception, match="readonly"):
        connection.execute(text("DELETE FROM job"))


# -------------------------------------------------------------------------------------------------------------- opening


def test_the_file_is_for_its_owner_only(home: Home, database: Database) -> None:
    """Nobody else on the machine reads hashes and specs, the write-ahead log included."""
    Ledger(database).commit(Batch(list(life(1).changes))).result(60)
    files = list(home.file.parent.glob("ledger.db*"))
    assert len(files) >= 3
    assert {file.stat().st_mode & 0o077 for file in files} == {0}


def test_a_second_server_is_refused_until_the_first_ends(home: Home) -> None:
    """One store, one writer: the second open says who is in the way; a closed or killed one is not."""
    first = home.open()
    with pytest.raises(Conflict, match="Another server"):
        home.open()
    first.close()
    home.open().close()


@pytest.mark.parametrize("url", ["mysql://h/d", "sqlite://", "sqlite:///:memory:"])
def test_an_address_that_cannot_be_used_is_refused(url: str, tmp_path: Path) -> None:
    """The remedy shows the two forms there are."""
    with pytest.raises(Conflict) as caught:
        Database.open(url, backup_dir=str(tmp_path))
    assert "postgresql://" in caught.value.remedy


def test_a_folder_that_cannot_be_written_and_a_file_that_is_no_store_are_named(tmp_path: Path) -> None:
    """StorageFailed with the reason, not a traceback."""
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageFailed, match="cannot be opened"):
        Database.open(f"sqlite:///{tmp_path}/file/ledger.db", backup_dir=str(tmp_path))
    (tmp_path / "other.db").write_text("not a database, but long enough to be looked at" * 50)
    with pytest.raises(StorageFailed, match="not a database"):
        Database.open(f"sqlite:///{tmp_path}/other.db", backup_dir=str(tmp_path))
    (tmp_path / "other.db").unlink()
    Database.open(f"sqlite:///{tmp_path}/other.db", backup_dir=str(tmp_path)).close()


# ---------------------------------------------------------------------------------------------------------- cheap pages


@pytest.mark.parametrize(
    "order", [sign + name for name in ORDERS if name not in (RUN_TIME, STATE, TAGS) for sign in ("", "-")]
)
@pytest.mark.parametrize("cursor", [False, True], ids=["first page", "later page"])
def test_a_page_walks_an_index_and_sorts_nothing(database: Database, order: str, cursor: bool) -> None:
    """R200: the first page does not get dearer with the number of finished jobs; see the plan of the database
    itself.
    """
    Ledger(database).commit(Batch([*life(1).changes, *life(2).changes])).result(60)
    mark = reading(database).list_jobs(ALL, JobQuery(order=order), 1).next_cursor if cursor else None
    plan = _plan(database, page_keys(ALL, JobQuery(order=order), 50, mark, AT, False))
    assert "TEMP B-TREE" not in plan, plan
    assert "job_by_" in plan, plan


@pytest.mark.parametrize("order", ["run_s", "-run_s"])
def test_a_page_by_run_time_walks_three_indexes(database: Database, order: str) -> None:
    """R200: of jobs that ended, of those that never started, and the few that run; only the merge of the three is
    sorted.
    """
    plan = _plan(database, page_keys(ALL, JobQuery(order=order, now=1e9), 50, None, AT, False))
    assert "SCAN job" not in plan.replace("SCAN job USING", ""), plan
    assert all(index in plan for index in ("job_by_run", "job_by_started", "job_live")), plan


@pytest.mark.parametrize("visible", [ALL, only("ann"), IN_MANY], ids=["everything", "their own", "in workspaces"])
@pytest.mark.parametrize(
    ("order", "index"), [("tags", "job_by_tags"), ("-tags", "job_by_tags"), ("-metric:acc", "job_metric_by_value")]
)
def test_a_page_by_tags_or_a_metric_walks_an_index_and_sorts_nothing(
    database: Database, visible: Visible, order: str, index: str
) -> None:
    """R200: and those that have none, which come last, are walked by number, where a page has room for them."""
    plan = _plan(database, page_keys(visible, JobQuery(order=order), 50, None, AT, False))
    assert "TEMP B-TREE" not in plan, plan
    assert index in plan, plan
    rest = _plan(database, page_keys(visible, JobQuery(order=order), 50, None, AT, False, late=True))
    assert "TEMP B-TREE" not in rest, rest


@pytest.mark.parametrize("order", ["state", "-state"])
def test_a_page_by_state_walks_one_index_for_each(database: Database, order: str) -> None:
    """R200: one after the other; only the merge is sorted, and that has a page of each."""
    plan = _plan(database, page_keys(ALL, JobQuery(order=order), 50, None, AT, False))
    assert "SCAN job" not in plan, plan
    assert plan.count("SEARCH job USING COVERING INDEX job_by_shown") == len(Shown), plan


@pytest.mark.parametrize(
    "query", [JobQuery(states=(Shown.FAILED,)), JobQuery(owner="ann"), JobQuery(states=(Shown.FAILED, Shown.QUEUED))]
)
def test_a_page_of_some_states_or_an_owner_walks_an_index(database: Database, query: JobQuery) -> None:
    """Only the merge of several states is sorted, and that has a page of each."""
    plan = _plan(database, page_keys(ALL, query, 50, None, AT, False))
    assert "SCAN job" not in plan, plan
    walks = [line for line in plan.split("\n") if "SEARCH job USING" in line]
    assert len(walks) == max(1, len(query.states)), plan


QUERIES = [
    JobQuery(),
    JobQuery(workspace="vision"),
    JobQuery(workspace="others"),
    JobQuery(owner="bob"),
    JobQuery(owner="ann", workspace="vision"),
    JobQuery(states=(Shown.FAILED, Shown.RUNNING)),
    JobQuery(states=(Shown.FAILED,), owner="bob"),
    JobQuery(since=1.0, until=9.0),
    JobQuery(q="resnet"),
    JobQuery(q="resnet", owner="bob", states=(Shown.FAILED,)),
    JobQuery(q="训练"),
    JobQuery(q="r"),
    JobQuery(labels=("project=vision",)),
    JobQuery(tags=("good",)),
    JobQuery(favorite_of="ann"),
    JobQuery(node="node-1"),
    JobQuery(framework="pytorch"),
    JobQuery(pool="a100", workspace="vision"),
]


@pytest.mark.parametrize("visible", [ALL, only("ann"), IN_MANY], ids=["everything", "their own", "in workspaces"])
def test_a_page_of_what_somebody_may_see_is_a_walk_of_indexes(database: Database, visible: Visible) -> None:
    """R198: whoever sees a part, or looks for something, pays for no scan and no sort: each part that is seen is walked
    by an index of its own in the order asked for, and only the pages that these give are merged.
    """
    for query in QUERIES:
        for order in ("-submitted_at", "submitted_at"):
            plan = _plan(database, page_keys(visible, replace(query, order=order), 50, None, AT, False))
            assert not re.search(r"SCAN (job|task|favorite)$", plan, re.MULTILINE), (query, plan)
            assert "MULTI-INDEX OR" not in plan, (query, plan)
            inside = [line for line in plan.split("\n") if line == "USE TEMP B-TREE FOR ORDER BY"]
            assert len(inside) <= ("COMPOUND QUERY" in plan), (query, plan)  # of the merge, which has a page of each


@pytest.mark.parametrize("visible", [only("ann"), IN_MANY], ids=["their own", "in workspaces"])
@pytest.mark.parametrize("order", [name for name in ORDERS if name not in ("submitted_at", RUN_TIME, STATE, TAGS)])
def test_whoever_sees_many_jobs_passes_over_those_of_others_in_the_index(
    database: Database, visible: Visible, order: str
) -> None:
    """The index of an order says whose a job is: no row of another is looked at, and nothing is sorted."""
    for signed in (order, f"-{order}"):
        plan = _plan(database, page_keys(visible, JobQuery(order=signed), 50, None, AT, False))
        assert "TEMP B-TREE" not in plan, plan
        assert re.search(rf"SCAN job USING (COVERING )?INDEX job_by_{order.removesuffix('_at')[:5]}", plan), plan
    names = [row[0] for row in _rows(database, "SELECT name FROM pragma_index_info(?)", _index_of(order))]
    assert names[-2:] == ["owner", "workspace"], names


@pytest.mark.parametrize("visible", [only("ann"), IN_MANY], ids=["their own", "in workspaces"])
def test_a_few_jobs_are_gathered_and_sorted_in_another_order(database: Database, visible: Visible) -> None:
    """No index has both what a person sees and every order: up to FEW jobs are found by who sees them, and sorted."""
    for order in ("name", "-ended_at", "-run_s", "state", "gpus"):
        plan = _plan(database, page_keys(visible, JobQuery(order=order), 50, None, AT, True))
        assert "SEARCH job USING INTEGER PRIMARY KEY" in plan, plan
        others = [line for line in plan.split("\n") if re.search(r"job_by_(?!owner)", line)]
        assert all(re.search(r"(rowid|seq)=\?", line) for line in others), plan
        assert "SCAN job" not in plan, plan


def test_start_up_reads_only_what_lives(database: Database) -> None:
    """Live jobs are found through the partial index, not among the finished ones."""
    with database.read() as connection:
        plan = connection.execute(text(f"EXPLAIN QUERY PLAN SELECT * FROM job WHERE {tables.LIVE.text}")).all()
    assert "job_live" in str(plan)


@pytest.mark.serial
def test_the_first_page_costs_the_same_with_100_000_jobs(database: Database) -> None:
    """The same by the clock: at most 5 times the page among 200 jobs (a sort of 100,000 is 50 times)."""
    reader = reading(database)
    Ledger(database).commit(Batch(list(life(1).changes))).result(60)

    def cost(query: JobQuery) -> float:
        times = []
        for _ in range(9):
            start = time.perf_counter()
            assert len(reader.list_jobs(ALL, query).items) == 50
            times.append(time.perf_counter() - start)
        return min(times)

    def copy(low: int, high: int) -> None:
        columns = [of.name for of in tables.job.c if of.name not in ("seq", "id", "submitted_at", "name")]
        rest = ", ".join(columns)
        numbers = f"WITH RECURSIVE n(i) AS (SELECT {low} UNION ALL SELECT i + 1 FROM n WHERE i < {high})"
        values = f"SELECT i, 't' || i, i * 1.0, 'name-' || (i % 97), {rest} FROM job, n WHERE job.seq = 1"
        insert = f"INSERT INTO job (seq, id, submitted_at, name, {rest}) {numbers} {values}"
        database.write(lambda c: c.exec_driver_sql(insert).close()).result(60)
        kept = ("attempt", "number"), ("task", "attempt")
        for table, _ in kept:
            names = [of.name for of in tables.META.tables[table].c if of.name != "job"]
            row = f"SELECT j.seq, {', '.join('x.' + name for name in names)} FROM job j, {table} x WHERE x.job = 1"
            copied = f"INSERT INTO {table} (job, {', '.join(names)}) {row} AND j.seq BETWEEN {low} AND {high}"
            database.write(lambda c, copied=copied: c.exec_driver_sql(copied).close()).result(60)

    copy(2, 200)
    queries = [JobQuery(), JobQuery(states=(Shown.SUCCEEDED,)), JobQuery(order="-ended_at"), JobQuery(owner="ann")]
    few = [cost(query) for query in queries]
    copy(201, 100_000)
    assert [cost(query) < 5 * before for query, before in zip(queries, few, strict=True)] == [True] * 4


def _index_of(order: str) -> str:
    return {"owner": "job_by_owners"}.get(order, f"job_by_{order.removesuffix('_at')}")


def _rows(database: Database, statement: str, *values: str) -> list[Any]:
    with database.read() as connection:
        return list(connection.exec_driver_sql(statement, values).all())


def _plan(database: Database, statement: Any) -> str:
    with database.read() as connection:
        compiled = statement.compile(database.readers, compile_kwargs={"render_postcompile": True})
        values = tuple(compiled.params[name] for name in compiled.positiontup)
        rows = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {compiled}", values).all()
    return "\n".join(row.detail for row in rows)


def test_readers_use_the_connection_used_last(database: Database) -> None:
    """SQLite keeps what it read for each connection: those made for a moment with many readers stay aside."""
    with database.read() as given_back_last, database.read():
        last = given_back_last.connection.driver_connection
    for _ in range(4):
        with database.read() as connection:
            assert connection.connection.driver_connection is last
