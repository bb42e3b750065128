"""Stories of the planner: who starts, who waits, and that nobody starves (R46, issue 2 item 7,
docs/design/queue.md).
"""

from dataclasses import replace
from typing import Any

import pytest

from tests.builders import job, node, snapshot, waiting
from trainmaster.core.records import Job, Node, PortRequest
from trainmaster.core.states import Priority
from trainmaster.messages.said import verbatim
from trainmaster.queue.explaining.explain import explain
from trainmaster.queue.ordering.running import Running
from trainmaster.queue.placing import fit as fit_module
from trainmaster.queue.placing.capacity import Capacity
from trainmaster.queue.plan import plan
from trainmaster.queue.policy import NAMED, QueuePolicy
from trainmaster.queue.snapshot import Plan, Reason, Reservation, Snapshot, Usage


def started(made: Plan, *jobs: Job) -> list[str]:
    names = {each.id: each.name for each in jobs}
    return [names[start.job] for start in made.starts]


def reasons(seen: Snapshot, made: Plan) -> list[Reason]:
    """Return why the first of each class that still waits does."""
    gone = {start.job for start in made.starts}
    firsts = (next((p for p in cls.jobs if p.job not in gone), None) for cls in seen.pending)
    return sorted((explain(seen, p, made) for p in firsts if p is not None), key=lambda reason: reason.code)


def codes(seen: Snapshot, made: Plan) -> list[str]:
    return [reason.code for reason in reasons(seen, made)]


def test_priority_then_sequence() -> None:
    """R46: the higher class first, within a class who came first."""
    jobs = (
        job("normal 1").done(),
        job("normal 2").done(),
        job("urgent").priority(Priority.URGENT).done(),
        job("very").priority(Priority.VERY_URGENT).done(),
    )
    seen = snapshot([node(cpu=3)], *jobs)
    made = plan(seen, 0.0)
    assert started(made, *jobs) == ["very", "urgent", "normal 1"]
    assert codes(seen, made) == ["waiting_cpu"]


def test_a_gang_gets_all_or_nothing() -> None:
    whole = job("whole").role("w", 3, gpu=2).done()
    assert plan(snapshot([node("n1", gpus=2), node("n2", gpus=3)], whole), 0.0).starts == ()
    made = plan(snapshot([node("n1", gpus=2), node("n2", gpus=4)], whole), 0.0)
    assert [(a.node, a.gpus) for a in made.starts[0].placement] == [("n2", (0, 1)), ("n2", (2, 3)), ("n1", (0, 1))]


def test_who_lacks_cards_is_passed_only_by_who_asks_for_none() -> None:
    room = Capacity([node(cpu=8, gpus=4)])
    busy = job("busy").role(gpu=2).done()
    room.hold("busy", busy.roles, plan(snapshot([node(cpu=8, gpus=4)], busy), 0.0).starts[0].placement)
    jobs = (
        job("big").role(gpu=4).done(),
        job("card").role(gpu=1).done(),
        job("cpu").role(cpu=3).done(),
        job("fat").role(cpu=8).done(),
        job("thin").role(cpu=1).done(),
    )
    seen = snapshot(room.nodes, *jobs, capacity=room)
    seen = replace(seen, running=[Usage("busy", busy.id, busy.roles, room.holders["busy"][1])])
    made = plan(seen, 0.0)
    assert started(made, *jobs) == ["cpu", "thin"]
    assert codes(seen, made) == ["reserved", "waiting_cpu", "waiting_gpus"]


def test_strict_order_is_passed_by_nobody() -> None:
    jobs = (job("a").role(cpu=6).done(), job("wide").role(cpu=4).done(), job("thin").role(cpu=1).done())
    seen = snapshot([node(cpu=8)], *jobs)
    made = plan(seen, 0.0, NAMED["fifo-strict"])
    assert started(made, *jobs) == ["a"]
    assert codes(seen, made) == ["behind", "waiting_cpu"]


def test_who_has_no_limit_passes_only_on_what_the_head_leaves() -> None:
    """The head needs 4 cores of 8 once "a" ends; 2 are free now and 4 then, so a core without a limit may go."""
    jobs = (
        job("a").role(cpu=6).policy(duration_s=100).done(),
        job("wide").role(cpu=8).done(),
        job("thin").role(cpu=1).done(),
        job("short").role(cpu=1).policy(duration_s=100).done(),
        job("long").role(cpu=1).policy(duration_s=101).done(),
    )
    seen = snapshot([node(cpu=8)], *jobs)
    made = plan(seen, 50.0, NAMED["fifo-easy"])
    assert started(made, *jobs) == ["a", "short"]
    assert made.reservations == (Reservation(jobs[1].id, "default", 150.0, ("n1",)),)
    assert codes(seen, made) == ["reserved", "reserved", "waiting_cpu"]


def test_who_waits_for_a_node_that_is_away_holds_nobody_up() -> None:
    away = node("n2", gpus=4, schedulable=False, reason=verbatim("cordoned by ann"))
    jobs = (job("needs n2").role(gpu=4).done(), job("small").role(gpu=1).done())
    seen = snapshot([node("n1", gpus=2), away], *jobs)
    made = plan(seen, 0.0)
    assert started(made, *jobs) == ["small"]
    (reason,) = reasons(seen, made)
    assert reason.code == "waiting_nodes"
    assert reason.evidence["away"] == [{"node": "n2", "reason": verbatim("cordoned by ann").to_json()}]


def test_pools_do_not_wait_for_one_another() -> None:
    """R6: each pool has its own line."""
    nodes = [node("n1", cpu=2), node("n2", cpu=2, pool="lab")]
    jobs = (job("a").role(cpu=2).done(), job("b").role(cpu=2).done(), job("c").fields(pool="lab").role(cpu=1).done())
    made = plan(snapshot(nodes, *jobs), 0.0)
    assert sorted(started(made, *jobs)) == ["a", "c"]
    assert {a.node for start in made.starts for a in start.placement if start.job == jobs[2].id} == {"n2"}


@pytest.mark.parametrize("big", [{"gpu": 8}, {"cpu": 16.0}, {"gpu": 4, "replicas": 2, "cpu": 8.0}])
def test_nobody_starves(big: dict[str, int]) -> None:
    """A gang that needs everything starts once what ran before it has ended, however many small jobs keep coming."""
    nodes = (node("n1", cpu=16, gpus=8),)
    room, queue = Capacity(nodes), waiting()
    ends, running = dict[str, int](), Running()
    gang = job("gang").role("w", int(big.pop("replicas", 1)), **big).seq(40).done()
    for now in range(60):
        for name in [name for name, end in ends.items() if end == now]:
            room.release(name)
            running.remove(name)
            del ends[name]
        for n in range(2):  # more work than the machine can do: two jobs of up to 15 steps each step
            seq = 2 * now + n
            queue.add(job(f"s{seq}").role(gpu=seq % 2, cpu=1.0).seq(seq + (seq >= 40)).done())
        if now == 20:
            queue.add(gang)
        for start in plan(Snapshot(nodes, running, queue.snapshot_classes(), capacity=room), float(now)).starts:
            if start.job == gang.id:
                assert now <= 20 + 2 * 15
                return
            found = queue.get(start.job)
            assert found is not None
            room.hold(start.job, found.roles, start.placement)
            running.add(Usage(start.job, start.job, start.roles, start.placement, started_at=float(now)))
            ends[start.job] = now + 5 + int(found.order[-1]) % 11
            queue.remove(start.job)
    raise AssertionError("the gang never started")


def test_a_class_that_does_not_fit_is_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """10,000 waiting jobs in 20 classes cost as many fits as there are heads in line; a second pass costs none."""
    fits = 0

    def counting(*args: Any) -> object:
        nonlocal fits
        fits += 1
        return fit(*args)

    fit = fit_module.fit
    monkeypatch.setattr(fit_module, "fit", counting)
    nodes = [node(f"n{i}", gpus=8) for i in range(64)]
    room = Capacity(nodes)
    full = job("full").role("w", 64, gpu=8, cpu=8).done()
    room.hold("full", full.roles, plan(snapshot(nodes, full), 0.0).starts[0].placement)
    jobs = [job(f"j{n}").role("w", 1 + n % 20, gpu=1).done() for n in range(10_000)]
    seen, fits = snapshot(nodes, *jobs, capacity=room), 0
    made = plan(seen, 0.0)
    assert made.starts == ()
    assert fits == 1
    assert plan(seen, 0.0) == made
    assert fits == 1
    room.release("full")
    assert plan(seen, 0.0).starts


def test_a_pass_ends_at_its_limit_and_says_so() -> None:
    jobs = [job(f"j{n}").done() for n in range(5)]
    made = plan(snapshot([node()], *jobs), 7.0, QueuePolicy(max_starts=3))
    assert (len(made.starts), made.more, made.at) == (3, True, 7.0)
    assert not plan(snapshot([node()], *jobs), 7.0).more


def test_taking_and_giving_back_fractions_is_exact() -> None:
    """Ten thousand times 0.1 core leaves exactly what there was."""
    room = Capacity([node(cpu=1)])
    tenth = job().role(cpu=0.1, memory_mib=1).done()
    (start,) = plan(snapshot([node(cpu=1)], tenth), 0.0).starts
    for n in range(10_000):
        room.hold(str(n), tenth.roles, start.placement)
        if n >= 9:
            room.release(str(n - 9))
    for n in range(10_000):
        room.release(str(n))
    assert room.nodes_of("default")[0].cpu == 1000
    assert len(plan(snapshot(room.nodes, *[replace(tenth, id=str(n)) for n in range(20)]), 0.0).starts) == 10


def where(nodes: list[Node], *roles: dict[str, Any]) -> list[tuple[str, tuple[int, ...]]]:
    build = job()
    for n, role in enumerate(roles):
        build.role(f"r{n}", **role)
    (start,) = plan(snapshot(nodes, build.done()), 0.0).starts
    return [(a.node, a.gpus) for a in start.placement]


def test_packing_keeps_whole_nodes_whole() -> None:
    nodes = [node("n1", gpus=8), node("n2", gpus=2), node("n3", gpus=4), node("n4")]
    assert where(nodes, {"gpu": 2}) == [("n2", (0, 1))]
    assert where(nodes, {"gpu": 3}) == [("n3", (0, 1, 2))]
    assert where(nodes, {"replicas": 2, "gpu": 4}) == [("n1", (0, 1, 2, 3)), ("n1", (4, 5, 6, 7))]
    assert where(nodes, {"replicas": 3, "gpu": 4})[2] == ("n3", (0, 1, 2, 3))
    assert where(nodes, {"cpu": 1}) == [("n4", ())]
    assert where(nodes, {"cpu": 4}, {"gpu": 8, "cpu": 8}) == [("n4", ()), ("n1", tuple(range(8)))]


def test_cards_of_a_role_are_of_one_model_where_possible() -> None:
    """R8: any type is any one type first; a mixture only when no model has enough."""
    nodes = [node("n1", gpus=2, model="A"), node("n2", gpus=2, model="B"), node("n3", gpus=2, model="B")]
    assert [name for name, _ in where(nodes, {"replicas": 2, "gpu": 2})] == ["n2", "n3"]
    assert sorted(name for name, _ in where(nodes, {"replicas": 3, "gpu": 2})) == ["n1", "n2", "n3"]
    assert where(nodes, {"gpu": 1, "gpu_type": "A"}) == [("n1", (0,))]


def test_a_model_whose_ports_ran_out_leaves_no_trace_in_the_next_try() -> None:
    """Ports are given while placing: a try with one model that fails gives them back before the models are mixed."""
    nodes = [node("n1", gpus=4, model="A"), node("n2", gpus=2, model="B")]
    four = job().role("w", 4, gpu=1, ports=[PortRequest("http", 4)]).done()
    (start,) = plan(snapshot(nodes, four, capacity=Capacity(nodes, 100, 107)), 0.0).starts
    assert sorted((a.node, a.ports[0][1][0]) for a in start.placement) == [
        ("n1", 100),
        ("n1", 104),
        ("n2", 100),
        ("n2", 104),
    ]


def test_ports_skip_what_is_busy_and_held() -> None:
    """R80-R83: blocks of ports per host; busy ones and those of running attempts are passed over."""
    room = Capacity([node()], 100, 199, busy_ports=frozenset({101}))
    asks = job("a").role("w", 2, ports=[PortRequest("http", 2), PortRequest("ssh")]).done()
    (start,) = plan(snapshot(room.nodes, asks, capacity=room), 0.0).starts
    assert [a.ports for a in start.placement] == [
        (("http", (102, 103)), ("ssh", (100,))),
        (("http", (104, 105)), ("ssh", (106,))),
    ]


def test_a_fixed_port_exists_once_per_host() -> None:
    """D7: the second replica goes to another host; when there is none, the job waits for the port."""
    room = Capacity([node("n1"), node("n2")])
    fixed = [job(name).role(ports=[PortRequest("http", 2, 8080)]).done() for name in "abc"]
    seen = snapshot(room.nodes, *fixed, capacity=room)
    made = plan(seen, 0.0)
    assert {start.placement[0].node for start in made.starts} == {"n1", "n2"}
    assert made.starts[0].placement[0].ports == (("http", (8080, 8081)),)
    (reason,) = reasons(seen, made)
    assert (reason.code, reason.evidence["fixed"]) == ("waiting_ports", [8080])
