"""Lists by tags and by the last value of a metric: in every order and page, whoever asks; and what is kept for it."""

import math
from collections.abc import Callable
from typing import Any

import pytest

from tests.contract.store.conftest import Store
from tests.contract.store.test_finding import MEMBER, fill, numbers
from tests.fixtures.histories import History, new_job
from tests.fixtures.seeing import ALL, only
from trainmaster.core.events import Kind
from trainmaster.core.records import Job
from trainmaster.core.states import Shown
from trainmaster.store.jobs import read_jobs, results
from trainmaster.store.jobs.read_jobs import JobQuery
from trainmaster.store.jobs.results import ResultRows

TAGS = [["good"], ["bad", "again"], []]


@pytest.fixture
def rows(store: Store) -> ResultRows:
    return ResultRows(store.database)


def job_of(history: History) -> Job:
    assert history.job is not None
    return history.job


def in_order(jobs: list[Job], key: Callable[[Job], Any], falling: bool) -> list[int]:
    """Those that have no key come last, whichever way; the number decides between equals."""
    with_key = sorted((job for job in jobs if key(job) is not None), key=lambda job: (key(job), job.seq))
    rest = sorted((job for job in jobs if key(job) is None), key=lambda job: job.seq)
    return [job.seq for part in (with_key, rest) for job in (reversed(part) if falling else part)]


@pytest.mark.parametrize("few", [1000, -1], ids=["gathered", "walked"])
def test_every_page_by_tags_and_by_a_metric(
    store: Store, rows: ResultRows, few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R200: those that have neither come last; pages of any size neither repeat nor skip one."""
    monkeypatch.setattr(read_jobs, "FEW", few)
    histories = fill(store, 30)
    for number, history in enumerate(histories):
        if tags := TAGS[number % 3]:
            history.event(Kind.ANNOTATED, tags=tags, note="")
            store.keep(history.changes[-1])
    jobs = [job_of(history) for history in histories]
    values = {job.seq: {"acc": float(job.seq % 4), "loss": -1.5} for job in jobs if job.seq % 5}
    rows.put(values)
    keys: dict[str, Callable[[Job], Any]] = {
        "tags": lambda job: "\x1e".join(job.tags) or None,
        "metric:acc": lambda job: values.get(job.seq, {}).get("acc"),
        "metric:nothing": lambda _: None,
    }
    for visible in (ALL, only("ann"), MEMBER):
        for states in ((), (Shown.QUEUED, Shown.STOPPED)):
            wanted = [job for job in jobs if visible.covers(job) and (not states or job.shown in states)]
            for order, key in keys.items():
                for falling in (False, True):
                    query = JobQuery(states=states, order="-" * falling + order)
                    for limit in (4, 50):
                        assert numbers(store, visible, query, limit) == in_order(wanted, key, falling), query


def test_only_numbers_are_kept_and_the_last_ones(
    store: Store, rows: ResultRows, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(results, "MOST", 2)
    job = job_of(fill(store, 2)[1])  # it has ended
    rows.put({job.seq: {"acc": 0.5, "gone": 1.0}})
    rows.put({job.seq: {"acc": 0.75, "none": None, "x" * 201: 1.0, "b": 2.0, "c": 3.0}, 99: {"acc": 1.0}})
    with store.database.read() as connection:
        found = connection.exec_driver_sql("SELECT job, name, value FROM job_metric ORDER BY name").all()
    assert [tuple(row) for row in found] == [(job.seq, "acc", 0.75), (job.seq, "b", 2.0)]
    store.keep(deleted=[job.id], seq=10_000)
    with store.database.read() as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM job_metric").scalar() == 0


def test_a_server_that_was_killed_has_kept_all_up_to_some_moment(store: Store, rows: ResultRows) -> None:
    """Its follower looks at what ended since, and at an hour before, newest first."""
    made = []
    for seq in (1, 2, 3):
        history = History(seq * 50).submit(new_job(seq))
        made.append(history.start().succeed())
        store.keep(*history.changes)
    jobs = [job_of(history) for history in made]
    ends = [job.ended_at or math.nan for job in jobs]
    assert [one[0] for one in rows.ended(9)] == [job.id for job in reversed(jobs)]
    first = rows.ended(1)
    assert [one[0] for one in rows.ended(9, first[0][1:])] == [jobs[1].id, jobs[0].id]
    rows.put({}, max(ends) + results._OVERLAP_S)
    assert [one[0] for one in rows.ended(9)] == [jobs[index].id for index in (2, 1, 0) if ends[index] == max(ends)]
    rows.put({}, max(ends) + results._OVERLAP_S + 1.0)
    assert rows.ended(9) == []
