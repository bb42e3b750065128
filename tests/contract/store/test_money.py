"""What attempts used, credits and corrections, on both databases (R3, R18, R19)."""

from dataclasses import replace

import pytest

from tests.contract.store.conftest import Store
from tests.fixtures.audited import audit_event
from tests.fixtures.histories import History, new_job, placement
from tests.fixtures.seeing import ALL, only
from trainmaster.access.visible import Visible
from trainmaster.core.errors import Conflict
from trainmaster.core.events import Kind
from trainmaster.core.money.amounts import MILLION, MOST_AMOUNT
from trainmaster.core.records import Job, Role, to_json
from trainmaster.store.cluster_settings import ClusterSettings, Setting
from trainmaster.store.money.entries import CLOSING, CORRECTION, CREDIT, USE, BudgetAlarm, MoneyEntry, MoneyRows

HOUR = 3_600_000_000
"""A price at which a second costs one unit."""
RATES = [{"flavor": "big", "price": HOUR, "gpu_milli": 2000}, {"flavor": "", "price": 0, "gpu_milli": 0}]


def job(seq: int = 1, **fields: object) -> Job:
    roles = (Role("worker", 2), Role("ps", 1))
    return new_job(seq, **{"roles": roles, "workspace": "vision", **fields})


def ran(one: Job, seq: int, start: float, end: float, attempt: int = 1, story: History | None = None) -> History:
    """Return the story of a job whose replicas ran from `start` until `end`, and then failed as a fault of ours."""
    story = story or History(seq).submit(one)
    story.event(Kind.PLACED, attempt, placement=to_json(placement(one)), rates=RATES)
    for kind in (Kind.CHECKED, Kind.STAGED, Kind.STARTED):
        story.event(kind, attempt)
    for kind, at, more in ((Kind.TASK_RUNNING, start, {}), (Kind.TASK_LOST, end, {})):
        for role, index in ((0, 0), (0, 1), (1, 0)):
            story.at = at
            story.event(kind, attempt, role=role, index=index, **more)
    story.at = end + 100  # the platform's own time
    return story.event(Kind.REAPED, attempt)


def entry(amount: int, kind: str = CREDIT, at: float = 500.0, **fields: object) -> MoneyEntry:
    made = MoneyEntry(at, kind, "vision", amount, round(at * 1000), round(at * 1000), by="admin")
    return replace(made, **fields)  # type: ignore[arg-type]


def test_an_attempt_is_charged_in_the_transaction_that_ends_it(store: Store) -> None:
    story = ran(job(), 1, 3000.0, 3010.5)
    store.keep(*story.changes[:-1])
    rows = MoneyRows(store.database)
    assert rows.page(ALL, "vision", 10) == []
    store.keep(story.changes[-1])
    ps, worker = rows.page(ALL, "vision", 10)
    assert (worker.kind, worker.owner, worker.job, worker.attempt, worker.role) == (USE, "ann", job_id(story), 1, 0)
    assert (worker.flavor, worker.machines, worker.price, worker.amount) == ("big", 2, HOUR, -21 * MILLION)
    assert (worker.start_ms, worker.end_ms) == (3_000_000, 3_010_500)
    assert (ps.role, ps.machines, ps.amount) == (1, 1, 0)
    assert rows.balances() == {"vision": -21 * MILLION}


def job_id(story: History) -> str:
    assert story.job is not None
    return story.job.id


def test_a_whole_life_in_one_batch_is_charged_too_and_every_attempt_once(store: Store) -> None:
    one = job(policy=replace(job().policy, fault_restarts=3))
    story = ran(one, 1, 3000.0, 3010.0)
    story.at = 4000.0
    ran(one, 0, 4001.0, 4002.0, attempt=2, story=story)
    store.keep(*story.changes)
    rows = MoneyRows(store.database)
    found = [(one.attempt, one.role, one.amount) for one in rows.page(ALL, "vision", 10)]
    assert sorted(found) == [(1, 0, -20 * MILLION), (1, 1, 0), (2, 0, -2 * MILLION), (2, 1, 0)]


def test_what_was_used_stays_when_its_job_is_deleted(store: Store) -> None:
    story = ran(job(policy=replace(job().policy, fault_restarts=0)), 1, 3000.0, 3010.0)
    store.keep(*story.changes)
    assert story.job is not None
    assert story.job.terminal
    store.keep(deleted=[story.job.id], seq=story.seq)
    assert MoneyRows(store.database).balances() == {"vision": -20 * MILLION}


def test_a_report_cuts_at_its_bounds_and_adds_up(store: Store) -> None:
    """A use over a month's end belongs to both months; the parts are the whole."""
    for number, (start, end) in enumerate(((90.0, 120.0), (100.0, 110.0), (10.0, 350.0), (200.0, 300.0)), 1):
        store.keep(*ran(job(number, owner=f"u{number}"), 1000 * number, start, end).changes)
    rows = MoneyRows(store.database)
    bounds = [0, 100_000, 200_000, 300_000, 400_000]
    found = [one for one in rows.spent(ALL, bounds).parts if one.flavor == "big"]
    assert sum(one.amount for one in found) == sum(rows.balances().values()) == -2 * (30 + 10 + 340 + 100) * MILLION
    by_span = [sum(one.machine_ms for one in found if one.span == at) for at in range(4)]
    assert by_span == [2 * (10 + 90) * 1000, 2 * (20 + 10 + 100) * 1000, 2 * (100 + 100) * 1000, 2 * 50 * 1000]
    assert sum(one.gpu_ms for one in found) == 2000 * sum(by_span)
    middle = [one for one in rows.spent(ALL, [100_000, 200_000]).parts if one.flavor == "big"]
    assert sum(one.machine_ms for one in middle) == by_span[1]
    assert {one.owner for one in rows.spent(ALL, bounds, owner="u3").parts} == {"u3"}
    assert rows.spent(ALL, bounds, workspace="speech").parts == []
    last = rows.last()
    assert rows.spent(ALL, bounds, after=last).settled == frozenset()
    assert {attempt for _, attempt in rows.spent(ALL, bounds, after=last - 1).settled} == {1}


def test_each_sees_what_is_theirs(store: Store) -> None:
    store.keep(*ran(job(1, owner="ann"), 1000, 0.0, 10.0).changes, *ran(job(2, owner="bob"), 2000, 0.0, 20.0).changes)
    rows = MoneyRows(store.database)
    rows.add(entry(MILLION, at=5.0), audit_event())
    inside = Visible(owner="eve", workspaces=frozenset({"vision"}))
    for visible, owners in ((only("ann"), {"ann"}), (only("eve"), set()), (inside, {"ann", "bob", ""})):
        assert {one.owner for one in rows.spent(visible, [0, 10**6]).parts} == owners
        assert {one.owner for one in rows.page(visible, "vision", 10)} == owners


def test_credits_and_corrections_are_entries_of_their_own(store: Store) -> None:
    rows = MoneyRows(store.database)
    first, stored = rows.add(entry(1000 * MILLION, note="Q4", key="k1"), audit_event())
    assert stored
    again, stored = rows.add(entry(1000 * MILLION, note="Q4", key="k1", at=900.0), audit_event())
    assert (again, stored) == (first, False)
    with pytest.raises(Conflict):
        rows.add(entry(2000 * MILLION, note="Q4", key="k1"), audit_event())
    rows.add(entry(-1, CORRECTION, note="a millionth too much"), audit_event())
    assert rows.balances() == {"vision": 1000 * MILLION - 1}
    assert [one.amount for one in rows.page(ALL, "vision", 1)] == [-1]
    assert [one.amount for one in rows.page(ALL, "vision", 1, first.seq + 1)] == [1000 * MILLION]


def test_sums_are_larger_than_any_column(store: Store) -> None:
    """The most that can be entered, 20 times: more than 2^63 millionths."""
    rows = MoneyRows(store.database)
    for number in range(20):
        rows.add(entry(MOST_AMOUNT, key=f"k{number}"), audit_event())
    assert rows.balances() == {"vision": 20 * MOST_AMOUNT}
    [sums] = rows.spent(ALL, [0, 10**9]).parts
    assert sums.amount == 20 * MOST_AMOUNT > 2**63


def test_a_removed_workspace_leaves_no_balance_to_the_next_of_its_name(store: Store) -> None:
    rows, settings = MoneyRows(store.database), ClusterSettings(store.database)
    rows.add(entry(7 * MILLION), audit_event())
    settings.put(Setting("workspace", "vision", {}, 1.0, "admin"), audit_event()).result(60)
    settings.put(Setting("budget", "vision", {}, 1.0, "admin"), audit_event()).result(60)
    settings.drop("workspace", "vision", audit_event()).result(60)
    assert settings.all() == []
    assert rows.balances() == {"vision": 0}
    assert [one.kind for one in rows.page(ALL, "vision", 5)] == [CLOSING, CREDIT]


def test_a_new_workspace_has_spent_nothing_and_was_told_of_nothing(store: Store) -> None:
    """Of a month in which another one of its name was removed."""
    rows, settings = MoneyRows(store.database), ClusterSettings(store.database)
    spans = [0, 10**13]
    rows.add(entry(-5 * MILLION, CORRECTION, key="a", note="used"), audit_event())
    rows.add(entry(5 * MILLION, key="b"), audit_event())
    rows.add(entry(-3 * MILLION, CORRECTION, key="c", workspace="speech", note="used"), audit_event())
    rows.alarm(BudgetAlarm("vision", "2026-11", 80, 5.0, 80, 100), audit_event())
    settings.put(Setting("workspace", "vision", {}, 1.0, "admin"), audit_event()).result(60)
    settings.drop("workspace", "vision", audit_event()).result(60)
    rows.add(entry(-2 * MILLION, CORRECTION, key="d", note="used"), audit_event())
    spent = {(one.workspace, one.kind): one.amount for one in rows.spent_by_all(spans, 0).parts}
    assert spent == {("vision", CORRECTION): -2 * MILLION, ("speech", CORRECTION): -3 * MILLION}
    assert rows.alarms(["2026-11"]) == []
    everything = {(one.workspace, one.kind): one.amount for one in rows.spent(ALL, spans).parts}
    assert everything["vision", CORRECTION] == -7 * MILLION  # a report leaves nothing out


def test_an_alarm_is_told_once(store: Store) -> None:
    rows = MoneyRows(store.database)
    alarm = BudgetAlarm("vision", "2026-11", 80, 5.0, 80, 100)
    rows.alarm(alarm, audit_event())
    rows.alarm(replace(alarm, at=9.0, spent=90), audit_event())
    rows.alarm(replace(alarm, percent=100, at=10.0), audit_event())
    assert rows.alarms(["2026-11"]) == [alarm, replace(alarm, percent=100, at=10.0)]
    assert rows.alarms(["2026-12"]) == []
