"""What is true of every plan over any small cluster and queue (R46, issue 2 item 7)."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.builders import job as build
from tests.builders import snapshot
from tests.fixtures.examples import examples
from tests.unit.queue.clusters import PORTS, capacity, gangs, misplaced, nodes, overbooked, queues
from trainmaster.core.records import Job, Node, Role
from trainmaster.queue.explaining.explain import explain, position
from trainmaster.queue.explaining.reasons import REASONS, problem, render
from trainmaster.queue.ordering.classes import PendingQueue, pending_of
from trainmaster.queue.placing.capacity import Capacity, Room
from trainmaster.queue.placing.fit import fit
from trainmaster.queue.plan import plan
from trainmaster.queue.policy import NAMED, QueuePolicy
from trainmaster.queue.rules.never import can_ever_fit
from trainmaster.queue.snapshot import ClassKey, Snapshot, Usage

few = settings(max_examples=examples(200))


def look(members: tuple[Node, ...], jobs: tuple[Job, ...], room: Capacity | None = None) -> Snapshot:
    return snapshot(members, *jobs, capacity=room or capacity(members))


@few
@given(nodes(), queues())
def test_nothing_is_held_twice_and_every_gang_is_whole(members: tuple[Node, ...], jobs: tuple[Job, ...]) -> None:
    by_id = {job.id: job for job in jobs}
    starts = plan(look(members, jobs), 0.0).starts
    assert overbooked(members, [(by_id[s.job].roles, s.placement) for s in starts]) == []
    for start in starts:
        asked = by_id[start.job]
        assert misplaced(asked.roles, start.placement, asked.pool, members) == []
    assert len({s.job for s in starts}) == len(starts)


@few
@given(nodes(), queues())
def test_a_pass_is_pure(members: tuple[Node, ...], jobs: tuple[Job, ...]) -> None:
    """The same snapshot gives the same plan, with a kept capacity, a fresh one, and one that learned failures
    before.
    """
    kept = capacity(members)
    first = plan(look(members, jobs, kept), 0.0)
    assert plan(look(members, jobs, kept), 0.0) == first
    assert plan(look(members, jobs), 0.0) == first
    alone = replace(look(members, jobs), capacity=None, port_first=PORTS[0], port_last=PORTS[1])
    assert plan(replace(alone, busy_ports=frozenset({103})), 0.0) == first


@few
@given(nodes(), queues(), st.integers(1, 3))
def test_strict_starts_respect_the_order(members: tuple[Node, ...], jobs: tuple[Job, ...], most: int) -> None:
    """Under strict order who is passed over by a start behind it cannot run on the present nodes."""
    room = capacity(members)
    made = plan(look(members, jobs, room), 0.0, replace(NAMED["fifo-strict"], max_starts=most))
    assert len(made.starts) <= most
    started = {start.job: start for start in made.starts}
    line = sorted((pending_of(job) for job in jobs), key=lambda p: (-p.priority, p.order))
    now = room.fork()
    for at, late in enumerate(line):
        if late.job not in started:
            continue
        for early in line[:at]:
            if early.job in started or early.pool != late.pool:
                continue
            assert fit(now, early.roles, early.pool) is None
            assert fit(room.empty(), early.roles, early.pool) is None
        now.take(late.roles, started[late.job].placement)


@few
@given(nodes(), queues())
def test_everyone_who_waits_has_one_reason_that_can_be_told(members: tuple[Node, ...], jobs: tuple[Job, ...]) -> None:
    seen = look(members, jobs)
    made = plan(seen, 0.0)
    started = {start.job for start in made.starts}
    for job in jobs:
        if job.id in started:
            continue
        reason = explain(seen, pending_of(job), made)
        assert reason.code in REASONS
        assert reason.code != "next_pass"
        assert all("{" not in text for text in render(reason))


@few
@given(nodes(), gangs, st.sampled_from(("default", "other")))
def test_never_agrees_with_the_plan_on_an_empty_cluster(
    members: tuple[Node, ...], asked: tuple[Role, ...], pool: str
) -> None:
    """Refused exactly when it could not start on empty nodes; and the nearest shape that is named does start there."""
    members = tuple(replace(node, schedulable=True) for node in members)
    queue = PendingQueue()

    queue.add(build().fields(roles=asked, pool=pool).done())
    seen = Snapshot(members, (), queue.snapshot_classes(), *PORTS)
    reason = can_ever_fit(asked, pool, members, *PORTS)
    assert (reason is None) == bool(plan(seen, 0.0).starts)
    if reason is None:
        return
    assert all("{" not in text for text in (*render(reason), problem(reason).remedy))
    changes = reason.evidence.get("changes")
    if changes:
        smaller = asked
        for path, value in changes.items():
            smaller = _changed(smaller, path, value)
        assert fit(Room(members, *PORTS, frozenset()), smaller, pool) is not None


def _changed(asked: tuple[Role, ...], path: str, value: float) -> tuple[Role, ...]:
    _, at, *field = path.split(".")
    role = asked[int(at)]
    if field == ["replicas"]:
        role = replace(role, replicas=int(value))
    else:
        role = replace(role, resources=replace(role.resources, **{field[1]: value}))
    return tuple(role if i == int(at) else other for i, other in enumerate(asked))


@few
@given(nodes(), queues(), st.lists(st.integers(0, 30), max_size=12))
def test_a_kept_capacity_equals_one_made_afresh(
    members: tuple[Node, ...], jobs: tuple[Job, ...], moves: list[int]
) -> None:
    """Starting and releasing in any order leaves exactly what is counted from scratch, and plans like it."""
    kept, waits, runs = capacity(members), {job.id: job for job in jobs}, dict[str, Usage]()
    for move in moves:
        if move % 3 == 0 and runs:
            name = sorted(runs)[move % len(runs)]
            del runs[name]
            kept.release(name)
        elif move % 7 == 0:
            name = f"n{move % len(members)}"
            members = tuple(replace(n, schedulable=not n.schedulable) if n.name == name else n for n in members)
            kept.set_nodes(members)
        else:
            for start in plan(
                look(members, tuple(waits.values()), kept), 0.0, QueuePolicy(max_starts=1 + move % 2)
            ).starts:
                started = waits.pop(start.job)
                runs[start.job] = Usage(start.job, start.job, start.roles, start.placement)
                kept.hold(start.job, started.roles, start.placement)
    fresh = capacity(members)
    for usage in runs.values():
        fresh.hold(usage.job, usage.roles, usage.placement)
    assert [kept.nodes_of(pool) for pool in ("default", "other")] == [fresh.nodes_of(p) for p in ("default", "other")]
    rest = tuple(waits.values())
    assert plan(look(members, rest, kept), 0.0) == plan(look(members, rest, fresh), 0.0)


@few
@given(queues())
def test_the_queue_keeps_every_class_in_order(jobs: tuple[Job, ...]) -> None:
    seen = look((), jobs)
    made = plan(seen, 0.0)
    line = sorted((pending_of(job) for job in jobs), key=lambda p: (-p.priority, p.order))
    for cls in seen.pending:
        assert list(cls.jobs) == [p for p in line if ClassKey.of(p) == cls.key]
    for pending in line:
        ahead = [p for p in line[: line.index(pending)] if p.pool == pending.pool]
        assert position(seen, pending, made) == len(ahead)
