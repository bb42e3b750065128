"""A pass costs nothing when nothing changed since the last one, and is made again as soon as anything did, or shares
may have.
"""

import pickle
from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.builders import EPOCH, job, node
from trainmaster.core.config import LocalConfig
from trainmaster.core.records import Job, Resources, Role
from trainmaster.core.reduce import reduce
from trainmaster.core.states import Priority
from trainmaster.queue.explaining.reasons import Known
from trainmaster.queue.ordering.quota import Account, Quota
from trainmaster.queue.plan import plan
from trainmaster.queue.policy import DEFAULT, QueuePolicy
from trainmaster.queue.snapshot import Plan, Reason, Snapshot, Tenant
from trainmaster.service.scheduling.scheduling import SHARES_S, Scheduling


class Passes:
    """Counts the passes that are really made."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.made = 0
        patch.setattr("trainmaster.service.scheduling.scheduling.plan", self)

    def __call__(self, snapshot: Snapshot, now: float, policy: QueuePolicy) -> Plan:
        self.made += 1
        return plan(snapshot, now, policy)


def asks(name: str, seq: int, cards: int) -> Job:
    role = Role("w", 1, Resources(cpu=1.0, memory_mib=1, gpu=cards))
    return job(name).seq(seq).fields(roles=(role,)).done()


def full(passes: Passes) -> Scheduling:
    """One job runs, another waits for its cards, and all that follows from it has been seen."""
    found = Scheduling(LocalConfig(), "/home-of-a-test", lambda _: 1)
    found.set_nodes([node("n1", cpu=16, gpus=2)])
    running = asks("runs", 1, 2)
    found.moved(None, running)
    found.moved(None, asks("waits", 2, 2))
    (placed,) = found.schedule(EPOCH)
    found.moved(running, reduce(running, placed)[0])
    assert found.schedule(EPOCH) == []
    passes.made = 0
    return found


def test_a_pass_after_which_nothing_changed_is_not_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    passes = Passes(monkeypatch)
    found = full(passes)
    before = found.reason(asks("waits", 2, 2), Known)
    for second in range(int(SHARES_S)):
        assert found.schedule(EPOCH + second) == []
    found.set_nodes([node("n1", cpu=16, gpus=2)])
    found.set_rules(DEFAULT, {}, {})
    assert found.schedule(EPOCH + SHARES_S - 1) == []
    assert passes.made == 0
    assert found.reason(asks("waits", 2, 2), Known) == before


CHANGES: dict[str, Callable[[Scheduling], object]] = {
    "somebody comes": lambda found: found.moved(None, asks("new", 3, 1)),
    "somebody leaves": lambda found: found.queue.remove(asks("waits", 2, 2).id),
    "another priority": lambda found: found.queue.change_priority(asks("waits", 2, 2).id, Priority.URGENT),
    "an attempt is gone": lambda found: [found.running.remove(usage.attempt) for usage in list(found.running)],
    "another machine": lambda found: found.set_nodes([node("n1", cpu=16, gpus=2), node("n2", cpu=16)]),
    "another policy": lambda found: found.set_rules(replace(DEFAULT, age_weight=0.1), {}, {}),
    "another quota": lambda found: found.set_rules(
        DEFAULT, {(Account("workspace", "default"), "default"): Quota({"gpu": 1})}, {}
    ),
    "another weight": lambda found: found.set_rules(DEFAULT, {}, {"default": 2.0}),
}


@pytest.mark.parametrize("what", CHANGES)
def test_whatever_changes_brings_a_pass(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    passes = Passes(monkeypatch)
    found = full(passes)
    found.moved(None, asks("last", 9, 2))  # so that somebody still waits
    found.schedule(EPOCH)
    passes.made = 0
    CHANGES[what](found)
    found.schedule(EPOCH)
    assert passes.made == 1


def test_time_brings_a_pass_where_it_may_let_somebody_start(monkeypatch: pytest.MonkeyPatch) -> None:
    passes = Passes(monkeypatch)
    found = full(passes)
    found.set_rules(replace(DEFAULT, preemption="class"), {}, {})
    found.schedule(EPOCH)
    found.schedule(EPOCH + 3600)
    assert passes.made == 2


def test_who_comes_first_by_what_was_used_meanwhile_starts_though_nothing_else_changed() -> None:
    """Ann used an hour of a card and ended. Bob runs one now: three hours later he used more, and her job comes before
    his.
    """
    found = Scheduling(LocalConfig(), "/home-of-a-test", lambda _: 1)
    found.set_nodes([node("n1", cpu=16, gpus=2)])
    found.set_rules(replace(DEFAULT, backfill="none"), {}, {})
    for at, sign in ((EPOCH - 3600, 1), (EPOCH, -1)):
        found.fair.change(Tenant("", "default", "ann"), (("gpu", 1000),), sign, at)
    runs = replace(asks("runs", 1, 1), owner="bob")
    found.moved(None, runs)
    (placed,) = found.schedule(EPOCH)
    found.moved(runs, reduce(runs, placed)[0])
    anns = replace(asks("ann's", 2, 1), owner="ann")
    for waiting in (anns, replace(asks("bob's", 3, 2), owner="bob")):
        found.moved(None, waiting)
    assert found.schedule(EPOCH + 1) == []
    assert found.again_s == SHARES_S
    assert found.schedule(EPOCH + 2) == []
    assert found.again_s == SHARES_S - 1
    (placed,) = found.schedule(EPOCH + 3 * 3600)
    assert placed.job == anns.id


def test_where_shares_count_nothing_time_brings_no_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    passes = Passes(monkeypatch)
    found = full(passes)
    found.set_rules(replace(DEFAULT, fair_weight_s=0.0), {}, {})
    found.schedule(EPOCH)
    passes.made = 0
    found.schedule(EPOCH + 3600)
    assert passes.made == 0


async def test_whether_a_wide_job_can_ever_run_is_found_out_elsewhere_and_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not in a thread of the server either: that would take the interpreter from all who read."""
    found = full(Passes(monkeypatch))
    asked: list[object] = []

    async def aside(ask: Callable[[], Reason | None]) -> Reason | None:
        asked.append(ask)
        found: Reason | None = pickle.loads(pickle.dumps(ask))()
        return found

    roles = tuple(Role(f"r{at}", 64, Resources(cpu=0.5, memory_mib=1, gpu=0)) for at in range(8))
    wide = job("wide").seq(3).fields(roles=roles).done()
    await found.consider(wide, aside)
    monkeypatch.setattr("trainmaster.queue.rules.never.can_ever_fit", None)  # whoever asks again would fail
    refused = found.refusal(wide)
    assert refused is not None
    assert refused.code == "never_together"
    await found.consider(wide, aside)
    assert len(asked) == 1
    await found.consider(asks("small", 4, 1), aside)
    assert len(asked) == 1


def test_the_queue_is_put_together_once_for_all_who_ask_until_it_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    found = full(Passes(monkeypatch))
    seen = found.queue.snapshot_classes()
    assert found.queue.snapshot_classes() is seen
    found.moved(None, asks("more", 3, 1))
    assert len(found.queue.snapshot_classes()) == len(seen) + 1
