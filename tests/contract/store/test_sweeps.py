"""Sweeps as rows: written with their entries, seen as jobs are, gone with the last of them; and how entries do."""

from dataclasses import replace
from typing import Any, Final

import pytest

from tests.contract.store.conftest import Store
from tests.fixtures.audited import audit_event
from tests.fixtures.histories import History, new_job
from tests.fixtures.seeing import ALL, only
from trainmaster.access.visible import Visible
from trainmaster.core.errors import InvalidSpec, NotFound, StorageFailed
from trainmaster.core.events import Kind
from trainmaster.core.records import Job
from trainmaster.core.states import Shown
from trainmaster.store.jobs.job_query import JobQuery
from trainmaster.store.jobs.ledger import Batch
from trainmaster.store.sweeps.marks import BEST, MarkRows, StoredMark
from trainmaster.store.sweeps.sweeps import Sweep, SweepQuery, SweepReader, SweepRows

DIGITS: Final = Sweep("s1", "digits", "vision", "ann", "none", 5.0, 2, "loss", "min", '{"name": "digits"}')


def entry(seq: int, index: int, sweep: str = "s1", **fields: Any) -> Job:
    given = {"name": f"digits-{index}", "owner": "ann", "workspace": "vision", **fields}
    return new_job(seq, sweep=sweep, sweep_index=index, sweep_most=2, **given)


def keep(store: Store, sweep: Sweep, *histories: History) -> None:
    changes = [change for history in histories for change in history.changes]
    store.ledger.commit(Batch(changes=changes, sweeps=[sweep])).result(60)


def failed(first_event: int, job: Job) -> History:
    history = History(first_event).submit(job).start().tasks(Kind.TASK_EXITED, exit_code=3)
    return history.event(Kind.REAPED, 1)


@pytest.fixture
def reader(store: Store) -> SweepReader:
    return SweepReader(store.database)


def test_a_sweep_is_stored_with_its_entries_or_not_at_all(store: Store, reader: SweepReader) -> None:
    keep(store, DIGITS, History(10).submit(entry(1, 1)), History(20).submit(entry(2, 2)).start().succeed())
    assert reader.called(ALL, "s1") == reader.called(ALL, "digits") == [DIGITS]
    assert reader.called(ALL, "s") == []
    [first, second] = reader.entries(ALL, "s1")
    assert (first.index, first.shown, first.tries) == (1, Shown.QUEUED, 1)
    assert (second.index, second.shown, second.name) == (2, Shown.SUCCEEDED, "digits-2")
    assert store.reader.find(ALL, second.job).sweep_index == 2
    assert reader.counts(ALL, ["s1", "none"]) == {"s1": {Shown.QUEUED: 1, Shown.SUCCEEDED: 1}, "none": {}}
    stale = History(30).submit(entry(3, 1, "s2")).changes[0]
    broken = Batch(
        changes=[stale, replace(stale, job=replace(stale.job, version=7))], sweeps=[replace(DIGITS, id="s2")]
    )
    with pytest.raises(StorageFailed):
        store.ledger.commit(broken).result(60)
    assert reader.called(ALL, "s2") == []


def test_of_each_entry_the_last_job_counts(store: Store, reader: SweepReader) -> None:
    keep(store, DIGITS, failed(10, entry(1, 1)), History(30).submit(entry(2, 2)))
    store.keep(*History(40).submit(entry(3, 1)).changes)
    [first, _] = reader.entries(ALL, "s1")
    assert (first.seq, first.tries, first.shown) == (3, 2, Shown.QUEUED)
    assert reader.counts(ALL, ["s1"])["s1"] == {Shown.QUEUED: 2}
    assert [shown for _, shown in reader.jobs(ALL, "s1")] == [Shown.FAILED, Shown.QUEUED, Shown.QUEUED]


def test_a_failed_entry_says_why(store: Store, reader: SweepReader) -> None:
    keep(store, DIGITS, failed(10, entry(1, 1)))
    [only_one] = reader.entries(ALL, "s1")
    assert only_one.verdict is not None
    assert only_one.verdict["code"] == "exit_code"
    store.database.write(lambda c: c.exec_driver_sql("UPDATE job SET record = '{'").close()).result(60)
    assert reader.entries(ALL, "s1")[0].verdict is None


@pytest.mark.parametrize(
    ("visible", "there"),
    [
        (ALL, True),
        (only("ann"), True),
        (only("bob"), False),
        (Visible(workspaces=frozenset({"vision"})), True),
        (Visible(workspaces=frozenset({"speech"})), False),
        (Visible(owner="ann", within="speech"), False),
    ],
)
def test_it_is_seen_as_its_jobs_are(store: Store, reader: SweepReader, visible: Visible, there: bool) -> None:
    keep(store, DIGITS, History(10).submit(entry(1, 1)).start().succeed())
    MarkRows(store.database).put("s1", [StoredMark(1, BEST, 3.0, 0.5)])
    assert [one.id for one in reader.page(visible, SweepQuery(), 10).items] == ["s1"] * there
    assert reader.count(visible, SweepQuery()) == len(reader.called(visible, "digits")) == there
    assert len(reader.entries(visible, "s1")) == len(reader.jobs(visible, "s1")) == there
    assert sum(reader.counts(visible, ["s1"])["s1"].values()) == there
    assert MarkRows(store.database).best(visible, ["s1"]) == ({1: (0.5, 3.0)} if there else {})
    query = JobQuery(sweep="s1")
    assert len(store.reader.list_jobs(visible, query).items) == there
    assert sum(store.reader.counts(visible, query).values()) == there
    if not there:
        with pytest.raises(NotFound):
            SweepRows(store.database).remove(visible, "s1", audit_event())


def test_an_entry_that_is_shared_otherwise_is_seen_otherwise(store: Store, reader: SweepReader) -> None:
    shared = Visible(owner="bob", shared=frozenset({"vision"}), levels=frozenset({"read"}))
    keep(store, DIGITS, History(10).submit(entry(1, 1, share="read")), History(20).submit(entry(2, 2)))
    assert reader.page(shared, SweepQuery(), 10).items == []
    assert [one.index for one in reader.entries(shared, "s1")] == [1]


def test_pages_go_on_where_they_ended(store: Store, reader: SweepReader) -> None:
    for number in range(1, 6):
        sweep = replace(DIGITS, id=f"s{number}", name=f"round-{number}", created_at=float(number // 2))
        keep(store, sweep, History(number * 10).submit(entry(number, 1, f"s{number}")))
    first = reader.page(ALL, SweepQuery(), 2)
    second = reader.page(ALL, SweepQuery(), 2, first.next_cursor)
    third = reader.page(ALL, SweepQuery(), 2, second.next_cursor)
    assert [one.id for page in (first, second, third) for one in page.items] == ["s5", "s4", "s3", "s2", "s1"]
    assert third.next_cursor is None
    assert [one.id for one in reader.page(ALL, SweepQuery(q="ROUND-3 ann"), 9).items] == ["s3"]
    assert reader.count(ALL, SweepQuery(owner="bob")) == 0
    assert reader.count(ALL, SweepQuery(workspace="vision")) == 5
    for cursor in ("x", "e30", first.next_cursor or ""):
        if cursor != first.next_cursor:
            with pytest.raises(InvalidSpec):
                reader.page(ALL, SweepQuery(), 2, cursor)


def test_jobs_of_a_sweep_are_a_list_like_any_other(store: Store) -> None:
    histories = [History(10 * number).submit(entry(number, number)) for number in range(1, 6)]
    keep(store, replace(DIGITS, entries=5), *histories)
    store.keep(*History(90).submit(new_job(9)).changes)
    first = store.reader.list_jobs(ALL, JobQuery(sweep="s1"), 2)
    rest = store.reader.list_jobs(ALL, JobQuery(sweep="s1"), 9, first.next_cursor)
    assert [job.seq for job in [*first.items, *rest.items]] == [5, 4, 3, 2, 1]
    by_name = store.reader.list_jobs(ALL, JobQuery(sweep="s1", order="name"), 9)
    assert [job.sweep_index for job in by_name.items] == [1, 2, 3, 4, 5]
    assert [job.seq for job in store.reader.list_jobs(ALL, JobQuery(sweep="s1", q="digits-3")).items] == [3]
    assert store.reader.list_jobs(ALL, JobQuery(sweep="s1", states=(Shown.FAILED,))).items == []


def test_it_goes_with_its_last_job(store: Store, reader: SweepReader) -> None:
    ended = [History(20 * number).submit(entry(number, number)).start().succeed() for number in (1, 2)]
    keep(store, DIGITS, *ended)
    marks = MarkRows(store.database)
    marks.put("s1", [StoredMark(1, 0, 3.0, 0.5, 0.6), StoredMark(2, 0, 3.0, 0.4, 0.5)])
    ids = [row.job for row in reader.entries(ALL, "s1")]
    store.ledger.commit(Batch(deleted=[ids[0]], seq=900)).result(60)
    assert [one.id for one in reader.called(ALL, "s1")] == ["s1"]
    assert [mark.job for mark in marks.of_sweep("s1")] == [2]
    store.ledger.commit(Batch(deleted=[ids[1]], seq=901)).result(60)
    assert reader.called(ALL, "s1") == []
    assert marks.of_sweep("s1") == []


def test_it_is_removed_and_its_jobs_stay(store: Store, reader: SweepReader) -> None:
    keep(store, DIGITS, History(10).submit(entry(1, 1)).start().succeed())
    SweepRows(store.database).remove(ALL, "s1", audit_event())
    assert reader.called(ALL, "s1") == []
    assert len(store.reader.list_jobs(ALL, JobQuery()).items) == 1


def test_marks_are_kept_and_replaced(store: Store) -> None:
    marks = MarkRows(store.database)
    keep(store, DIGITS, History(10).submit(entry(1, 1)).start().succeed(), History(30).submit(entry(2, 2)).start())
    marks.put("s1", [StoredMark(1, 0, 3.0, 0.5, 0.6), StoredMark(1, BEST, 4.0, 0.4), StoredMark(2, 0, 3.0, None)])
    marks.put("s1", [StoredMark(1, BEST, 5.0, 0.3, final=True), StoredMark(7, 0, 3.0, 1.0)])  # there is no job 7
    assert marks.of_sweep("s1") == [
        StoredMark(1, BEST, 5.0, 0.3, None, True),
        StoredMark(1, 0, 3.0, 0.5, 0.6),
        StoredMark(2, 0, 3.0, None),
    ]
    assert marks.best(ALL, ["s1"]) == {1: (0.3, 5.0)}
    assert marks.unmarked("s1") == []
    store.keep(*History(60).submit(entry(3, 3)).start().succeed().changes)
    assert len(marks.unmarked("s1")) == 1
