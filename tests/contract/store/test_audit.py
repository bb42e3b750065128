"""What people did is stored with what they did it to or not at all, stays when a job goes, and is found page by
page.
"""

import random
from collections.abc import Callable
from dataclasses import replace
from itertools import product

import pytest
from sqlalchemy import Connection, insert

from tests.contract.store.conftest import Store
from tests.fixtures.audited import audit_event, audit_of
from tests.fixtures.histories import History, new_job
from tests.fixtures.older_stores import make_older
from tests.fixtures.plans import plans
from tests.fixtures.seeing import ALL
from trainmaster.access.decide import decide
from trainmaster.access.roles import Principal
from trainmaster.core.errors import Conflict, InvalidSpec, TrainmasterError
from trainmaster.core.events import Actor, ActorKind, AuditEvent, Event, Kind, Subject, subject_of
from trainmaster.core.reduce import reduce
from trainmaster.messages.said import verbatim
from trainmaster.store import audit
from trainmaster.store.audit import AuditEntry, AuditQuery, AuditReader
from trainmaster.store.cluster_settings import ClusterSettings, Setting
from trainmaster.store.jobs.ledger import Change
from trainmaster.store.leftovers import Leftovers
from trainmaster.store.people.accounts import PeopleRows, User
from trainmaster.store.tables import audit as table

CHANGED = (("cpu", 1.0, 2.0), ("gpu_type", "a", None))
STEPS = (
    (Kind.DURATION_CHANGED, {"duration_s": 60.0, "before": None}),
    (Kind.PRIORITY_CHANGED, {"priority": 1, "before": 0}),
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


SOME = decide(Principal("ann", memberships=(("v", "owner"), ("w", "admin"))), "audit:read").demand()
"""What is seen by somebody with things of their own who leads two workspaces."""


def told(found: list[AuditEntry]) -> list[tuple[float, str, str, str, str]]:
    return [(one.at, one.by.name, one.subject.kind, one.subject.name, one.kind) for one in found]


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
    """As the event said it, which is gone then."""
    one, other = stopped(1), stopped(2, "system", 6000.0)
    store.keep(*one.changes, *other.changes)
    assert one.job is not None
    assert other.job is not None
    before = [one for one in told(audit_of(store.database)) if one[4] != "submitted"]
    assert before == [(5000.0 + at, "bob", "job", one.job.id, STEPS[at][0].value) for at in (2, 1, 0)]
    gone = audit_event("job", one.job.id, by="cleo", at=7000.0)
    store.keep(deleted=[one.job.id, other.job.id], seq=store.records.last_seq() + 1, audit_events=[gone])
    after = audit_of(store.database)
    assert told(after)[0] == (7000.0, "cleo", "job", one.job.id, "words")
    assert [one for one in told(after)[1:] if one[4] != "submitted"] == before
    assert after[1].data == {"reason": "no"}
    assert after[0].said == gone.said


def test_what_the_platform_does_writes_no_row_of_it_but_what_looks_like_somebodys_doing(store: Store) -> None:
    """A submit does, with who made it; so do the end of a time limit and making room for another job."""
    story = History(20).submit(new_job(1)).start().succeed()
    store.keep(*story.changes)
    [told] = audit_of(store.database)
    job = story.job
    assert job is not None
    assert (told.kind, told.by, told.data) == ("submitted", Actor(job.owner), {})
    assert told.subject == Subject("job", job.id, job.workspace, job.owner, job.name)
    other = History(40).submit(new_job(2)).start()
    assert other.job is not None
    for kind, by, data in (
        (Kind.PREEMPTED, "scheduler", {"by": job.id, "reason": "class"}),
        (Kind.EXPIRED, "system", {}),
    ):
        done = Event(other.job.id, kind, 6000.0, by, other.job.attempts_used, data, other.seq)
        other.job, _ = reduce(other.job, done)
        other.changes.append(Change((done,), other.job))
        other.seq += 1
    store.keep(*other.changes)
    assert [(one.kind, one.by.kind, one.by.through) for one in audit_of(store.database)[:2]] == [
        ("expired", ActorKind.SYSTEM, ""),
        ("preempted", ActorKind.JOB, job.id),
    ]


def test_how_somebody_reached_the_server_is_kept(store: Store) -> None:
    story, by = stopped(1), Actor("bob", ActorKind.TOKEN, "192.0.2.7", "k1")
    last = story.changes[-1]
    story.changes[-1] = Change((replace(last.events[0], by=by),), last.job)
    store.keep(*story.changes, audit_events=[AuditEvent(subject_of("flavor", "w/f"), verbatim("x"), 1.0, by, CHANGED)])
    found = audit_of(store.database)
    assert (found[0].by, found[0].kind) == (by, "stop_requested")
    assert found[1].changes == (("priority", 0, 1),)
    assert found[2].changes == (("duration_s", None, 60.0),)
    assert (found[-1].by, found[-1].changes, found[-1].subject.workspace) == (by, CHANGED, "w")


@pytest.mark.parametrize(
    "sql", ["UPDATE audit SET data = '{}'", "DELETE FROM audit", "DELETE FROM audit WHERE at < 50", "TRUNCATE audit"]
)
def test_nobody_alters_it(store: Store, sql: str) -> None:
    """Whatever statement comes in; what is older than the store notes may go, by the rules of retention alone."""
    if store.database.sqlite and sql.startswith("TRUNCATE"):
        sql = "REPLACE INTO audit SELECT * FROM audit"  # past the triggers, were it not for a pragma
    store.keep(audit_events=[audit_event(at=at) for at in (10.0, 100.0)])
    before = audit_of(store.database)

    def change(connection: Connection) -> None:
        connection.exec_driver_sql(sql).close()

    with pytest.raises(TrainmasterError, match="the audit is"):
        store.database.write(change).result(60)
    assert audit_of(store.database) == before
    Leftovers(store.database).forget_audit_events([one.seq for one in before], 50.0)
    assert [one.at for one in audit_of(store.database)] == [100.0]


def test_a_store_of_the_release_before_tells_whose_it_was(store: Store) -> None:
    """And becomes one that nobody alters."""
    story = stopped(1)
    store.keep(*story.changes)
    store.database.write(lambda connection: make_older(connection, 12)).result(60)
    old = [
        ("flavor", "w/f", "flavor_made", "{}", "ann"),
        ("workspace", "w", "workspace_made", "{}", "ann"),
        ("person", "ann", "signed_in", '{"address": "192.0.2.7"}', "ann"),
        ("job", "t" + "9" * 32, "job_outlived", "{}", "system"),
    ]
    for row in old:
        values = ", ".join(f"'{one}'" for one in row)
        sql = f'INSERT INTO audit (at, subject_kind, subject, kind, data, "by") VALUES (1.0, {values})'
        store.database.write(lambda c, sql=sql: c.exec_driver_sql(sql).close()).result(60)  # type: ignore[misc]
    again = store.reopen()
    found = audit_of(again.database)
    places = {(one.subject.kind, one.subject.workspace, one.subject.owner) for one in found}
    assert story.job is not None
    assert places == {
        ("flavor", "w", ""),
        ("workspace", "w", ""),
        ("person", "", "ann"),
        ("job", "", ""),
        ("job", story.job.workspace, story.job.owner),
    }
    assert {(one.by.name, one.by.kind, one.by.address) for one in found if one.at == 1.0} == {
        ("ann", "person", ""),
        ("ann", "person", "192.0.2.7"),
        ("system", "system", ""),
    }
    with pytest.raises(TrainmasterError, match="the audit is"):
        again.database.write(lambda c: c.exec_driver_sql("DELETE FROM audit").close()).result(60)
    again.database.close()


QUERIES: list[tuple[AuditQuery, Callable[[tuple[float, str, str, str, str]], bool]]] = [
    (AuditQuery(), lambda one: True),
    (AuditQuery(subject_kind="job"), lambda one: one[2] == "job"),
    (AuditQuery(subject_kind="pool", subject="p1"), lambda one: one[2:4] == ("pool", "p1")),
    (AuditQuery(subject_kind="job", subject="t" + "1" * 32), lambda one: one[3] == "t" + "1" * 32),
    (AuditQuery(subject_kind="job", subject="nothing"), lambda one: False),
    (AuditQuery(by="bob"), lambda one: one[1] == "bob"),
    (AuditQuery(by="bob", kind="stop_requested"), lambda one: one[1] == "bob" and one[4] == "stop_requested"),
    (AuditQuery(kind="words"), lambda one: one[4] == "words"),
    (AuditQuery(actor="token"), lambda one: False),
    (AuditQuery(workspace="default"), lambda one: one[2] == "job"),
    (AuditQuery(workspace="default", by="bob"), lambda one: one[2] == "job" and one[1] == "bob"),
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
    assert len(every) == 8 * 7
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
    whole = {"at": 3.0, "by": "ann", "subject_kind": "person", "subject": "ann", "kind": "words", "data": damage}
    store.database.write(lambda c: c.execute(insert(table).values(whole))).result(60)
    first, second, _ = audit_of(store.database)
    assert first.said is not None
    assert first.said.code in ("audit_event_unreadable", "words")
    assert second.said == audit_event().said


def test_no_question_looks_at_every_event(store: Store) -> None:
    """SQLite's own plan: indexes and no sorting, however many events there are that nobody did."""
    if not store.database.sqlite:
        pytest.skip("SQLite's plan")
    store.keep(*stopped(1).changes, audit_events=[audit_event()])
    marks = [AuditReader(store.database).page(ALL, AuditQuery(), 1).next_cursor, None]

    def ask() -> None:
        for (query, _), mark, visible in product(QUERIES, marks, (ALL, SOME)):
            AuditReader(store.database).page(visible, query, 5, mark)

    found = plans(store.database, ask)
    assert len(found) > len(QUERIES)
    for statement, plan in found:
        assert not [step for step in plan if step.startswith("SCAN") and "USING" not in step], (statement, plan)
        assert not [step for step in plan if "TEMP B-TREE" in step], (statement, plan)
