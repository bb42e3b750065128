"""Everything that waits says why, everything refused says what to do: R8, D7, D9, B1, B6 of the queue's part."""

from dataclasses import replace
from string import Formatter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.builders import job, node, snapshot
from tests.fixtures.examples import examples
from tests.unit.queue.worlds import World, worlds
from trainmaster.core.records import Job, PortRequest
from trainmaster.messages import render as wording
from trainmaster.queue.explaining.explain import explain, over_quota, position, preview
from trainmaster.queue.explaining.reasons import REASONS, instead, problem, render
from trainmaster.queue.ordering.classes import PendingQueue, in_order, joined, pending_of, request_of, without
from trainmaster.queue.ordering.fairness import Offsets
from trainmaster.queue.ordering.lanes import Lanes, lanes_of
from trainmaster.queue.ordering.order import Ranking
from trainmaster.queue.ordering.quota import Account, Excess, Quota
from trainmaster.queue.placing.capacity import Capacity
from trainmaster.queue.plan import plan
from trainmaster.queue.policy import DEFAULT, NAMED, QueuePolicy
from trainmaster.queue.rules.never import can_ever_fit, refusal
from trainmaster.queue.snapshot import ClassKey, Reason, RequestClass, Snapshot, Start, Usage

NODES = (node("n1", gpus=4), node("n2", gpus=4, model="V100"), node("n3", cpu=4, memory_mib=8192))
USUAL = Ranking(DEFAULT, Offsets({}))
FIXED = [PortRequest("http", 1, 8080)]


@pytest.mark.parametrize(
    ("asked", "code", "changes", "words"),
    [
        (
            job().role(gpu=8),
            "never_gpus",
            {"roles.0.resources.gpu": 4},
            "asks for too many GPUs: 8 per replica (any model)",
        ),
        (job().role(gpu=4, gpu_type="H100"), "no_such_card", {}, "the pool has: A100, V100"),
        (job().role(cpu=20.5), "never_cpu", {"roles.0.resources.cpu": 8.0}, "the largest suitable node has 8"),
        (job().role(memory_mib=99999), "never_memory", {"roles.0.resources.memory": 16384}, "node has 16GiB"),
        (
            job().role("w", 9, gpu=1),
            "never_together",
            {"roles.0.replicas": 8},
            "9 GPUs needed, all nodes have 8 GPUs",
        ),
        (job().role("w", 4, ports=FIXED), "never_fixed_ports", {"roles.0.replicas": 3}, "3 nodes are too few"),
        (job().role(ports=[PortRequest("p", 9000)]), "never_ports", {}, "too many ports: 9,000 per replica"),
        (job().fields(pool="lab"), "no_such_pool", {}, "There is no pool lab; there are: default"),
        (
            job().role(gpu=8, cpu=9, memory_mib=99999),
            "never_gpus",
            {"roles.0.resources.gpu": 4, "roles.0.resources.cpu": 8.0, "roles.0.resources.memory": 16384},
            "the largest node has 4",
        ),
        (job().role("a", cpu=8).role("b", 3, cpu=8), "never_together", {"roles.1.replicas": 1}, "32 cores needed"),
    ],
)
def test_what_can_never_fit_is_refused_with_the_nearest_shape(asked, code: str, changes: dict, words: str) -> None:
    what: Job = asked.done()
    reason = can_ever_fit(what.roles, what.pool, NODES)
    assert reason is not None
    assert (reason.code, reason.evidence.get("changes", {})) == (code, changes)
    assert words in render(reason).en
    for path, value in changes.items():
        told = instead(reason.evidence)
        assert path in wording.text(told, "zh")
        assert str(value).removesuffix(".0") in wording.text(told) or "GiB" in wording.text(told)
    shown = problem(reason).to_json()
    assert shown["path"] == reason.evidence["path"]
    assert shown["remedy"]


def test_a_node_out_of_service_does_not_make_a_job_impossible() -> None:
    away = node("n9", gpus=8, schedulable=False)
    assert can_ever_fit(job().role(gpu=8).done().roles, "default", (*NODES, away)) is None


def test_refusals_are_remembered_until_the_nodes_change() -> None:
    room = Capacity(NODES)
    roles = job().role(gpu=8).done().roles
    first = refusal(room, roles, "default")
    assert first is not None
    assert refusal(room, roles, "default") is first
    room.set_nodes((*NODES, node("n9", gpus=8)))
    assert refusal(room, roles, "default") is None


def running(name: str, what: Job, room: Capacity) -> Usage:
    (start,) = plan(Snapshot(room.nodes, (), _queue(what).snapshot_classes(), capacity=room), 0.0).starts
    room.hold(name, what.roles, start.placement)
    return Usage(name, what.id, what.roles, start.placement, ends_at=99.0)


def _queue(*jobs: Job) -> PendingQueue:
    queue = PendingQueue()
    for what in jobs:
        queue.add(what)
    return queue


def test_a_reason_names_numbers_and_holders() -> None:
    room = Capacity(NODES)
    holder = job("holder").role(gpu=3, gpu_type="A100").seq(1).done()
    used = running("holder-1", holder, room)
    other = running(
        "other-1", job("other").role(gpu=2, gpu_type="V100").done(), room
    )  # of no use to who waits for A100
    waits = job("waits").role(gpu=4, gpu_type="A100").seq(2).done()
    queue = _queue(waits, job("next").role(gpu=1).seq(3).done(), job("same").role(gpu=4, gpu_type="A100").seq(4).done())
    seen = Snapshot(NODES, (used, other), queue.snapshot_classes(), capacity=room)
    made = plan(seen, 0.0)
    reason = explain(seen, pending_of(waits), made, holders=True)
    assert reason.code == "waiting_gpus"
    assert reason.evidence == {
        "role": "worker",
        "needs": 4,
        "each": 4,
        "replicas": 1,
        "free": 1,
        "largest": 1,
        "type": "A100",
        "at": 99.0,
        "in_s": 99.0,
        "holders": [{"job": holder.id, "holds": 3, "expires_at": 99.0}],
    }
    text = render(reason)
    assert text.en == "Waiting for GPUs: 4 needed (A100, 4 per replica), 1 free, at most 1 on one node"
    assert "A100" in text.zh
    assert [start.job for start in made.starts] == [job("next").done().id]
    same = next(p for cls in seen.pending for p in cls.jobs if p.job == job("same").done().id)
    assert explain(seen, same, made).code == "waiting_gpus"
    assert [position(seen, p, made) for p in (pending_of(waits), same)] == [0, 2]


@pytest.mark.parametrize(
    ("account", "resource", "lent", "zh", "en"),
    [
        (
            Account("cluster", "vc1"),
            "gpu:A100",
            None,
            "虚拟集群 vc1 已用 3 张 A100 加速卡，最多可用 4；此任务需要 2",
            "Virtual cluster vc1 uses 3 A100 GPUs and may use 4 at most; this job needs 2",
        ),
        (
            Account("cluster", ""),
            "gpu",
            500,
            "资源池 lab 的未分配份额已用 3 张加速卡（配额 4），现在还可借用 0.5；此任务需要 2",
            ("The unassigned share of pool lab uses 3 GPUs (quota: 4) and can borrow 0.5 more now; this job needs 2"),
        ),
        (
            Account("workspace", "vision"),
            "cpu",
            0,
            "工作空间 vision 已用 3 核（配额 4），现在还可借用 0；此任务需要 2",
            ("Workspace vision uses 3 cores (quota: 4) and can borrow 0 more now; this job needs 2"),
        ),
        (
            Account("user", "ann"),
            "memory_mib",
            None,
            "用户 ann 已用 3000MiB 内存，最多可用 4000MiB；此任务需要 2000MiB",
            "User ann uses 3000MiB of memory and may use 4000MiB at most; this job needs 2000MiB",
        ),
    ],
)
def test_a_quota_is_told_in_whole_sentences(
    account: Account, resource: str, lent: int | None, zh: str, en: str
) -> None:
    over = Excess(account, resource, used=3000, asks=2000, limit=4000, lent=lent)
    assert render(over_quota("lab", over)) == (zh, en)


def test_a_preview_says_now_or_why_not_and_changes_nothing() -> None:
    room = Capacity(NODES)
    seen = snapshot(NODES, job("first").role(gpu=4, gpu_type="A100").seq(1).done(), capacity=room)
    later = pending_of(job("me").role(gpu=4).seq(9).done())
    start = preview(seen, later, 0.0).found
    assert isinstance(start, Start)
    assert {a.node for a in start.placement} == {"n2"}
    same = preview(seen, pending_of(job("me").role(gpu=4, gpu_type="A100").seq(9).done()), 0.0).found
    assert isinstance(same, Reason)
    assert same.code == "waiting_gpus"
    assert len(seen.pending[0].jobs) == 1


def test_a_preview_sorts_nobody_anew_and_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its cost does not grow with the classes that wait: of all that is kept it only adds its own. Neither does a place
    in line.
    """
    queue = _queue(*(job(f"j{n}").role(gpu=3, gpu_type="A100", cpu=1 + n / 10).seq(n).done() for n in range(9)))
    seen = Snapshot(NODES, (), queue.snapshot_classes(), capacity=Capacity(NODES))
    added: list[RequestClass] = []
    add = Lanes.add
    monkeypatch.setattr(Lanes, "add", lambda lanes, cls: (added.append(cls), add(lanes, cls))[1])
    me = pending_of(job("me").role(gpu=2, gpu_type="A100").seq(99).done())
    made = plan(seen, 0.0)
    found = preview(seen, me, 0.0).found
    assert isinstance(found, Reason)
    assert (found.code, position(seen, me, made)) == ("waiting_gpus", 9)
    assert [one.job for one in in_order(joined(seen.pending, me), made.ranking or USUAL)][-1] == me.job
    assert {cls.key for cls in added} == {ClassKey.of(me)}

    monkeypatch.setattr("trainmaster.queue.explaining.explain.plan", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        preview(seen, me, 0.0)
    assert [one.job for one in in_order(seen.pending, made.ranking or USUAL)] == [
        job(f"j{n}").done().id for n in range(9)
    ]


@settings(max_examples=examples(100))
@given(worlds(), st.sampled_from((DEFAULT, *NAMED.values())), st.data())
def test_a_preview_is_what_the_next_pass_does(world: World, policy: QueuePolicy, data: st.DataObject) -> None:
    snapshot = world.snapshot()
    if not world.waiting:
        return
    me = world.waiting[data.draw(st.sampled_from(sorted(world.waiting)))]
    queue = PendingQueue()
    for one in world.waiting.values():
        if one is not me:
            queue.put(one)
    kept = replace(snapshot, pending=queue.snapshot_classes())
    made = plan(snapshot, world.now, policy)
    found = preview(kept, me, world.now, policy).found
    start = next((start for start in made.starts if start.job == me.job), None)
    assert found == (start or explain(snapshot, me, made))
    ranking = made.ranking or USUAL
    assert list(in_order(joined(kept.pending, me), ranking, me.pool)) == list(
        in_order(snapshot.pending, ranking, me.pool)
    )


@settings(max_examples=examples(100))
@given(worlds(), st.sampled_from((DEFAULT, *NAMED.values())), st.data())
def test_who_is_left_out_waits_nowhere(world: World, policy: QueuePolicy, data: st.DataObject) -> None:
    """Line and pass are those of a queue that never knew it, whether or not lanes are kept and somebody else is put
    in.
    """
    if not world.waiting:
        return
    gone = world.waiting[data.draw(st.sampled_from(sorted(world.waiting)))]
    me = replace(data.draw(st.sampled_from(list(world.waiting.values()))), job="me", order=(world.now, 2**53))
    queue, never = PendingQueue(), PendingQueue()
    for one in world.waiting.values():
        queue.put(one)
        if one is not gone:
            never.put(one)
    before = list(in_order(queue.snapshot_classes(), USUAL))
    snapshot, expected = world.snapshot(), never.snapshot_classes()
    for classes in queue.snapshot_classes(), tuple(queue.snapshot_classes()):
        for pending, wanted in (
            (without(classes, gone), expected),
            (joined(without(classes, gone), me), joined(expected, me)),
            (without(joined(classes, me), gone), joined(expected, me)),
            (without(joined(without(classes, gone), me), me), expected),
        ):
            seen, right = replace(snapshot, pending=pending), replace(snapshot, pending=wanted)
            assert lanes_of(pending).tenants == lanes_of(wanted).tenants
            made = plan(seen, world.now, policy)
            assert made == plan(right, world.now, policy)
            ranking = made.ranking or USUAL
            assert list(in_order(pending, ranking)) == list(in_order(wanted, ranking))
    assert list(in_order(queue.snapshot_classes(), USUAL)) == before


def test_to_leave_one_out_sorts_nobody_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    queue = _queue(*(job(f"j{n}").role(gpu=3, gpu_type="A100", cpu=1 + n / 10).seq(n).done() for n in range(9)))
    classes, fourth = queue.snapshot_classes(), queue.get(job("j4").done().id)
    assert fourth is not None
    added: list[RequestClass] = []
    add = Lanes.add
    monkeypatch.setattr(Lanes, "add", lambda lanes, cls: (added.append(cls), add(lanes, cls))[1])
    left = without(classes, fourth)
    assert [one.job for one in in_order(left, USUAL)] == [job(f"j{n}").done().id for n in range(9) if n != 4]
    assert {cls.key for cls in added} == {ClassKey.of(fourth)}


def test_both_languages_use_the_same_evidence() -> None:
    for code in REASONS:
        zh, en = (wording.everything()[code].texts[language] for language in ("zh", "en"))
        fields_zh, fields_en = ({name for _, name, _, _ in Formatter().parse(text) if name} for text in (zh, en))
        assert fields_zh == fields_en, code
        assert zh != en


def test_what_does_not_matter_for_fitting_does_not_split_a_class() -> None:
    one, two = (job().role(name, 2, gpu=1, min_failed=failed).done() for name, failed in (("a", 1), ("a", None)))
    assert request_of(one) == request_of(two)
    assert request_of(one) != request_of(job().fields(roles=one.roles, pool="lab").done())
    three = job().role("a", 2, gpu=1, ports=[PortRequest("x")]).done()
    assert request_of(one) != request_of(three)


def test_a_quota_of_a_model_is_the_reason_once_the_others_are_taken() -> None:
    """Worst fit would take the emptier node, whose cards are over quota: the first job takes the other one's, the
    second waits.
    """
    jobs = [job(name).role(gpu=2).done() for name in ("first", "second")]
    world = replace(
        snapshot((node("n1", gpus=2, model="A"), node("n2", gpus=4, model="B")), *jobs),
        quotas={(Account("user", "ann"), "default"): Quota(cap={"gpu:B": 0})},
    )
    made = plan(world, 0.0, replace(DEFAULT, packing="worst-fit"))
    assert [(start.job, start.placement[0].node) for start in made.starts] == [(jobs[0].id, "n1")]
    reason = explain(world, pending_of(jobs[1]), made)
    assert (reason.code, reason.evidence["resource"]) == ("quota", "gpu:B")
