"""Stories of quotas in the queue: who waits for one gets it, in any of the ways it may run, and others meanwhile go on."""

import math
from dataclasses import replace

import pytest

from trainmaster.core.records import Node, Resources, Role
from trainmaster.queue.capacity import Capacity
from trainmaster.queue.explain import explain
from trainmaster.queue.fit import fit
from trainmaster.queue.plan import plan
from trainmaster.queue.policy import DEFAULT, NAMED
from trainmaster.queue.quota import Account, Quota, charges
from trainmaster.queue.reasons import named, render
from trainmaster.queue.running import Running
from trainmaster.queue.snapshot import ClassKey, Pending, Plan, Request, RequestClass, Snapshot, Tenant, Usage

NOW = 1000.0
NODES = (Node("n1", "10.0.0.1", 64.0, 65536, tuple("AAAA")), Node("n2", "10.0.0.2", 64.0, 65536, tuple("BBBB")))
PLAIN = replace(DEFAULT, age_weight=0.0, fair_weight_s=0.0)
ANN, BOB = Tenant("", "red", "ann"), Tenant("", "red", "bob")


def gang(cards: int, model: str | None = None) -> tuple[Role, ...]:
    return (Role("w", 1, Resources(1.0, 512, cards, model, 0)),)


class Lab:
    """Two nodes, of four cards each; what runs and waits there."""

    def __init__(self, **caps: dict[str, int]) -> None:
        self.quotas = {
            (Account("user", name), "default"): Quota(cap={what: 1000 * most for what, most in cap.items()})
            for name, cap in caps.items()
        }
        self.running: list[Usage] = []
        self.waiting: list[Pending] = []

    def runs(self, cards: int, ends_in: float, tenant: Tenant = ANN, model: str | None = None) -> None:
        room, roles = Capacity(NODES), gang(cards, model)
        for usage in self.running:
            room.take(usage.roles, usage.placement)
        placed = fit(room, roles, "default")
        assert placed is not None
        held = charges(roles, placed, {node.name: node for node in NODES})
        name = f"r{len(self.running)}"
        self.running.append(
            Usage(name, name, roles, placed, "default", NOW - 10, NOW + ends_in, tenant=tenant, held=held)
        )

    def waits(self, *shapes: tuple[Role, ...], limit_s: float = math.inf, tenant: Tenant = ANN) -> Pending:
        number = len(self.waiting)
        job = Pending(f"j{number}", Request("default", shapes), (NOW - 5 + number / 10, number), 0, tenant, limit_s)
        self.waiting.append(job)
        return job

    def seen(self) -> Snapshot:
        classes: dict[ClassKey, list[Pending]] = {}
        for job in self.waiting:
            classes.setdefault(ClassKey.of(job), []).append(job)
        pending = tuple(RequestClass(key, jobs) for key, jobs in classes.items())
        return Snapshot(NODES, Running(self.running), pending, quotas=self.quotas)

    def plan(self, **changes: str) -> Plan:
        return plan(self.seen(), NOW, replace(PLAIN, **changes))  # type: ignore[arg-type]

    def why(self, job: Pending, made: Plan) -> str:
        return explain(self.seen(), job, made).code


def started(made: Plan) -> list[str]:
    return [start.job for start in made.starts]


def test_the_small_jobs_of_a_person_do_not_keep_its_large_one_waiting_for_ever() -> None:
    lab = Lab(ann={"gpu": 4})
    lab.runs(2, ends_in=100)
    large = lab.waits(gang(4))
    late, in_time, other = lab.waits(gang(1)), lab.waits(gang(1), limit_s=100), lab.waits(gang(1), tenant=BOB)
    made = lab.plan()
    assert started(made) == [in_time.job, other.job]
    assert [lab.why(job, made) for job in (large, late)] == ["quota", "quota_kept"]
    reason = explain(lab.seen(), late, made)
    assert reason.evidence["job"] == large.job
    assert "user ann" in render(named(reason, lambda job: None)).en
    assert "another user's job" in render(named(reason, lambda job: None)).en


def test_what_is_left_beside_the_large_one_is_not_kept() -> None:
    lab = Lab(ann={"gpu": 4})
    lab.runs(3, ends_in=100)
    lab.waits(gang(2))
    one, two = lab.waits(gang(1)), lab.waits(gang(1))
    made = lab.plan()
    assert started(made) == [one.job]
    assert lab.why(two, made) == "quota"  # four are in use now


def test_who_asks_for_more_than_it_will_ever_have_a_right_to_claims_nothing() -> None:
    lab = Lab(ann={"gpu": 2})
    lab.waits(gang(3))
    colleague = lab.waits(gang(2))
    assert started(lab.plan()) == [colleague.job]


@pytest.mark.parametrize("order", [("A", "B"), ("B", "A")])
def test_a_flavor_that_a_quota_bars_does_not_cost_the_promise_of_the_other(order: tuple[str, str]) -> None:
    """R161: the first in line for the nodes of B, although A, which is idle, is not for it."""
    lab = Lab(ann={"gpu:A": 0})
    lab.runs(3, ends_in=50, tenant=BOB, model="B")
    first = lab.waits(*(gang(4, model) for model in order))
    small = [lab.waits(gang(1, "B"), tenant=BOB) for _ in range(3)]
    made = lab.plan()
    assert [(each.job, each.at, each.nodes) for each in made.reservations] == [(first.job, NOW + 50, ("n2",))]
    assert started(made) == []
    assert {lab.why(job, made) for job in small} == {"reserved"}
    assert started(lab.plan(backfill="none")) == []
    assert NAMED["fifo-strict"].backfill == "none"


def test_cards_of_any_model_are_those_that_a_quota_allows() -> None:
    lab = Lab(ann={"gpu:A": 0})
    lab.runs(1, ends_in=50, tenant=BOB, model="B")  # A is the more plentiful
    job = lab.waits(gang(2))
    made = lab.plan()
    assert started(made) == [job.job]
    assert made.starts[0].placement[0].node == "n2"
    assert made.starts[0].roles == job.roles


def test_the_first_in_line_is_left_the_quota_that_it_has() -> None:
    """Nodes are free at 50; a colleague's job that ends in time on other nodes would take its quota, and it would be nobody then."""
    lab = Lab()
    lab.quotas = {(Account("workspace", "red"), "default"): Quota(cap={"gpu": 6000})}
    lab.runs(1, ends_in=50, tenant=Tenant("", "blue", "cyd"), model="B")
    first = lab.waits(gang(4, "B"))
    fits, too_many = lab.waits(gang(2, "A"), limit_s=20, tenant=BOB), lab.waits(gang(1, "A"), limit_s=20, tenant=BOB)
    made = lab.plan()
    assert [(each.job, each.at) for each in made.reservations] == [(first.job, NOW + 50)]
    assert started(made) == [fits.job]
    assert lab.why(too_many, made) == "quota_kept"


def test_who_is_first_in_line_for_what_is_its_right_may_still_borrow() -> None:
    """B is its right and busy, A is idle and may be borrowed once all others had their turn: then nothing is kept of B."""
    lab = Lab()
    lab.quotas = {
        (Account("user", "ann"), "default"): Quota({"gpu:A": 0}),
        (Account("user", "cyd"), "default"): Quota({"gpu:A": 4000}),
    }
    lab.runs(3, ends_in=50, tenant=BOB, model="B")
    first = lab.waits(gang(4, "B"), gang(4, "A"))
    made = lab.plan()
    assert [(start.job, start.shape) for start in made.starts] == [(first.job, 1)]
    assert made.reservations == ()
