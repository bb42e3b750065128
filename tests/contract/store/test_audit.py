"""What people did is stored with what they did it to or not at all, stays when a job goes, and is found page by
page.
"""

import random
from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import Connection, event, text, update

from tests.contract.store.conftest import Store
from tests.fixtures.audited import audit_event, audit_of
from tests.fixtures.histories import History, new_job
from tests.fixtures.seeing import ALL
from trainmaster.core.errors import Conflict, InvalidSpec
from trainmaster.core.events import Event, Kind
from trainmaster.core.reduce import reduce
from trainmaster.store import audit
from trainmaster.store.audit import AuditEntry, AuditQuery, AuditReader
from trainmaster.store.cluster_settings import ClusterSettings, Setting
from trainmaster.store.jobs.ledger import Change
from trainmaster.store.people.accounts import PeopleRows, User
from trainmaster.store.tables import audit as table

STEPS = (
    (Kind.DURATION_CHANGED, {"duration_s": 60.0}),
    (Kind.PRIORITY_CHANGED, {"priority": 1}),
    (Kind.STOP_REQUESTED, {"reason": "no"}),
)


def stopped(seq: int, by: str = "bob", at: float = 5000.0) -> History:
    """Return the life of a job that waited, was changed and stopped, by `by` and within three seconds."""
    story = History(seq * 20).submit(new_job(seq))
    for number, (kind, data) in enumerate(STEPS):
        assert story.job is not None
        done = Event(story.job.id, kind, at + number, by, data=data, seq=story.seq)
        story.job, _ = reduce(story.job, done)
        story.changes.append(Change((done,), story.job))
        story.seq += 1
    return story


def told(found: list[AuditEntry]) -> list[tuple[float, str, str, str, str]]:
    return [(one.at, one.by, one.subject.kind, one.subject.name, one.kind) for one in found]


def test_a_change_and_its_audit_event_are_stored_together_or_not_at_all(store: Store) -> None:
    people, settings = PeopleRows(store.database), ClusterSettings(store.database)
    people.add_user(User("ann", "", "admin"), audit_event(at=1.0))
    with pytest.raises(Conflict):
        people.add_user(User("ann", "", "user"), audit_event(at=2.0))
    settings.put(Setting("pool", "p", {}, 3.0, "ann"), audit_event("pool", "p", at=3.0)).result(60)
    settings.drop("pool", "p", audit_event("pool", "p", at=4.0)).result(60)
    settings.drop("pool", "p", audit_event("pool", "p", at=5.0)).result(60)  # there was nothing to remove
    people.drop_session("none", audit_event(at=6.0))
    assert [one.at for one in audit_of(store.database)] == [4.0, 3.0, 1.0]

    def fails(connection: Connection) -> None:
        audit.write(connection, [audit_event(at=9.0)])
        raise Conflict("a mistake")

    with pytest.raises(Conflict):
        store.database.write(fails).result(60)
    assert len(audit_of(store.database)) == 3


def test_what_people_did_to_a_job_stays_when_it_is_deleted(store: Store) -> None:
    """As the event said it, which is gone then; a submit is told by the list of jobs."""
    one, other = stopped(1), stopped(2, "system", 6000.0)
    store.keep(*one.changes, *other.changes)
    assert one.job is not None
    assert other.job is not None
    before = told(audit_of(store.database))
    assert before == [(5000.0 + at, "bob", "job", one.job.id, STEPS[at][0].value) for at in (2, 1, 0)]
    gone = audit_event("job", one.job.id, by="cleo", at=7000.0)
    store.keep(deleted=[one.job.id, other.job.id], seq=store.records.last_seq() + 1, audit_events=[gone])
    after = audit_of(store.database)
    assert told(after) == [(7000.0, "cleo", "job", one.job.id, "words"), *before]
    assert after[1].data == {"reason": "no"}
    assert after[0].said == gone.said


def test_a_submit_and_what_the_platform_does_write_no_row_of_it(store: Store) -> None:
    story = History(20).submit(new_job(1)).start().succeed()
    store.keep(*story.changes)
    assert audit_of(store.database) == []
    with store.database.read() as connection:
        assert connection.scalar(text("SELECT count(*) FROM audit")) == 0


QUERIES: list[tuple[AuditQuery, Callable[[tuple[float, str, str, str, str]], bool]]] = [
    (AuditQuery(), lambda one: True),
    (AuditQuery(subject_kind="job"), lambda one: one[2] == "job"),
    (AuditQuery(subject_kind="pool", subject="p1"), lambda one: one[2:4] == ("pool", "p1")),
    (AuditQuery(subject_kind="job", subject="t" + "1" * 32), lambda one: one[3] == "t" + "1" * 32),
    (AuditQuery(subject_kind="job", subject="nothing"), lambda one: False),
    (AuditQuery(by="bob"), lambda one: one[1] == "bob"),
    (AuditQuery(by="bob", kind="stop_requested"), lambda one: one[1] == "bob" and one[4] == "stop_requested"),
    (AuditQuery(kind="words"), lambda one: one[4] == "words"),
    (AuditQuery(after=5001.0, before=5003.0), lambda one: 5001.0 < one[0] <= 5003.0),
]


def test_pages_of_every_question_are_what_was_done_in_order(store: Store) -> None:
    """Jobs that are there, jobs that are deleted, and other things, many at the same moment: nothing twice, nothing
    left out.
    """
    draw = random.Random(7)
    for seq in range(1, 9):
        story = History(seq * 20).submit(new_job(seq, id=f"t{seq:x}" * 16 + "0" if seq > 1 else "t" + "1" * 32))
        for kind, data in [*draw.sample(STEPS[:2], 2), STEPS[2]]:
            assert story.job is not None
            done = Event(
                story.job.id, kind, 5000.0 + draw.randrange(5), draw.choice(("ann", "bob")), data=data, seq=story.seq
            )
            story.job, _ = reduce(story.job, done)
            story.changes.append(Change((done,), story.job))
            story.seq += 1
        store.keep(*story.changes)
        audit_events = [
            audit_event("pool", f"p{draw.randrange(3)}", by=draw.choice(("ann", "bob")), at=5000.0 + draw.randrange(5))
            for _ in range(3)
        ]
        assert story.job is not None
        gone = {"deleted": [story.job.id], "seq": store.records.last_seq() + 1} if seq % 2 == 0 else {}
        store.keep(audit_events=audit_events, **gone)
    every = told(audit_of(store.database, limit=500))
    assert len(every) == 8 * 6
    assert every == sorted(every, key=lambda one: one[0], reverse=True)
    for query, holds in QUERIES:
        for limit in (1, 2, 7, 100):
            assert told(audit_of(store.database, query, limit)) == [one for one in every if holds(one)], (query, limit)


def test_a_foreign_cursor_is_refused(store: Store) -> None:
    for cursor in ("x", "e30", "WzFd", ""):
        with pytest.raises(InvalidSpec):
            AuditReader(store.database).page(ALL, AuditQuery(), 1, cursor)


@pytest.mark.parametrize("damage", ["", "[]", "{", '{"x": {"code": 1, "args": 2}}'])
def test_what_cannot_be_read_is_told_so_in_its_place(store: Store, damage: str) -> None:
    store.keep(audit_events=[audit_event(at=1.0), audit_event(at=2.0)])
    store.database.write(lambda c: c.execute(update(table).where(table.c.at == 2.0).values(data=damage))).result(60)
    first, second = audit_of(store.database)
    assert first.said is not None
    assert first.said.code in ("audit_event_unreadable", "words")
    assert second.said == audit_event().said


def test_no_question_looks_at_every_event(store: Store) -> None:
    """SQLite's own plan: indexes and no sorting, however many events there are that nobody did."""
    if not store.database.sqlite:
        pytest.skip("SQLite's plan")
    store.keep(*stopped(1).changes, audit_events=[audit_event()])
    asked: list[tuple[str, Any]] = []

    def note(_: Any, __: Any, statement: str, values: Any, *___: Any) -> None:
        if statement.startswith("SELECT"):
            asked.append((statement, values))

    event.listen(store.database.readers, "before_cursor_execute", note)
    marks = [AuditReader(store.database).page(ALL, AuditQuery(), 1).next_cursor, None]
    for query, _ in QUERIES:
        for mark in marks:
            AuditReader(store.database).page(ALL, query, 5, mark)
    event.remove(store.database.readers, "before_cursor_execute", note)
    assert len(asked) > len(QUERIES)
    with store.database.read() as connection:
        for statement, values in asked:
            plan = [row[3] for row in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", values)]
            assert not [step for step in plan if step.startswith("SCAN") and "USING" not in step], (statement, plan)
            sorts = [step for step in plan if "TEMP B-TREE" in step]
            assert not sorts, (statement, plan)
