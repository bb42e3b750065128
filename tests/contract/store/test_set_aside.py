"""What becomes of a record that cannot be read, and of what earlier versions kept: it stops nobody (R200)."""

import json

import pytest
from sqlalchemy import text

from tests.contract.store.conftest import Store
from tests.fixtures.histories import History, life, new_job
from tests.fixtures.seeing import ALL
from trainmaster.core.events import Kind
from trainmaster.core.records import Job
from trainmaster.core.reduce import reduce
from trainmaster.store.jobs.read_jobs import JobQuery

BREAKS = {
    "broken JSON": "UPDATE job SET record = '{' WHERE seq = 2",
    "not an object": "UPDATE job SET record = '[]' WHERE seq = 2",
    "a field is missing": "UPDATE job SET record = '{}' WHERE seq = 2",
    "an unknown state": "UPDATE attempt SET phase = 'dancing' WHERE job = 2",
    "a wrong type": 'UPDATE job SET record = replace(record, \',"replicas"\', \',"replicas"\\:"2","x"\') WHERE seq = 2',
    "a lost attempt": "DELETE FROM attempt WHERE job = 2",
    "a broken task": "UPDATE task SET place = 'x' WHERE job = 2 AND position = 1",
}


@pytest.mark.parametrize("sql", BREAKS.values(), ids=BREAKS.keys())
def test_a_malformed_record_is_set_aside_and_reported(store: Store, sql: str) -> None:
    """Issue: a malformed stored record is quarantined and reported; the loop goes on."""
    histories = [History(seq * 20).submit(new_job(seq)).start() for seq in (1, 2, 3)]
    for history in histories:
        store.keep(*history.changes)
    jobs = [history.job for history in histories if history.job]
    store.database.write(lambda connection: connection.execute(text(sql))).result(60)
    live, malformed = store.records.live_jobs()
    assert live == [jobs[0], jobs[2]]
    assert [one.job for one in malformed] == [jobs[1].id]
    assert malformed[0].error
    assert store.records.live_jobs() == (live, []), "only reported once"
    assert store.records.quarantined() == malformed
    with store.database.read() as connection:
        raw = json.loads(connection.scalar(text("SELECT raw FROM quarantine")) or "")
    assert raw["job"][0]["id"] == jobs[1].id
    assert store.records.get_job(jobs[1].id) is None
    assert store.records.next_job_seq() == 4
    assert store.records.last_seq() == histories[2].seq - 1
    store.keep(*life(7).changes)


def test_a_malformed_record_in_a_list_or_look_up_is_left_out(store: Store) -> None:
    """One broken row does not make the list of jobs unreadable."""
    for seq in (1, 2, 3):
        store.keep(*life(seq).changes)
    store.database.write(lambda c: c.execute(text("UPDATE job SET record = '' WHERE seq IN (1, 3)"))).result(60)
    assert [job.seq for job in store.reader.list_jobs(ALL, JobQuery()).items] == [2]
    assert len(store.records.quarantined()) == 2


def test_an_unreadable_event_stands_as_a_note_in_the_feed(store: Store) -> None:
    """The feed goes on past an event that nobody can read, and says that there was one."""
    history = life(1)
    store.keep(*history.changes)
    lost = history.events[3].seq
    store.database.write(lambda c: c.execute(text(f"UPDATE event SET kind = 'dance' WHERE seq = {lost}"))).result(60)
    found = store.records.events_after(0, 100)
    assert [event.seq for event in found] == [event.seq for event in history.events]
    assert [(event.seq, event.data["code"]) for event in found if event.kind is Kind.NOTED] == [(lost, "malformed")]


def test_what_engines_once_said_of_a_launch_is_passed_over(store: Store) -> None:
    """Earlier versions kept an engine's handle in the record of the attempt and in the event that started it."""
    history = life(1)
    store.keep(*history.changes)
    job = history.job
    assert job is not None
    for sql in (
        'UPDATE attempt SET record = \'{"handle"\\:"h",\' || substr(record, 2)',
        "UPDATE event SET data = '{\"handle\"\\:\"h\"}' WHERE kind = 'started'",
    ):
        change = text(sql)
        changed = store.database.write(lambda c, change=change: c.execute(change).rowcount)  # type: ignore[misc]
        assert changed.result(60) == 1
    events = store.reader.events(ALL, job.id)
    assert [event.data for event in events if event.kind is Kind.STARTED] == [{"handle": "h"}]
    folded: Job | None = None
    for event in events:
        folded, _ = reduce(folded, event)
    assert folded == store.records.get_job(job.id) == job
    assert store.reader.history(ALL, job.id)[0] == [job.attempt]
