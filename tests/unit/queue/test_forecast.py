"""Forecasts: the queue rehearsed with run times drawn from history."""

import math
import random
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.builders import job, node
from tests.fixtures.examples import examples
from tests.unit.queue.clusters import nodes, queues
from trainmaster.core.records import Job, Node, Policy
from trainmaster.queue.forecasting.calibration import GREATEST, Calibration
from trainmaster.queue.forecasting.forecast import MOST, Foreseen, Prospect, at_once, foresee, scene_after
from trainmaster.queue.forecasting.history import ALL, DOUBT, OWN, USUAL_S, History, RecentNumbers
from trainmaster.queue.ordering.classes import PendingQueue
from trainmaster.queue.ordering.quota import Account, Quota
from trainmaster.queue.plan import plan
from trainmaster.queue.policy import NAMED, QueuePolicy
from trainmaster.queue.snapshot import Plan, Snapshot

NOW = 1000.0
EASY = NAMED["fifo-easy"]


def waits(name: str, seq: int, cards: int, limit_s: float | None = 100.0, **fields: Any) -> Job:
    built = job(name).role(gpu=cards, cpu=0, memory_mib=0).seq(seq).fields(submitted_at=NOW, queued_at=NOW, **fields)
    return built.fields(policy=Policy(duration_s=limit_s)).done()


def history(*shares: float, owner: str = "", limit_s: float = 100.0) -> History:
    past = History()
    for share in shares:
        past.add(owner, share * limit_s, limit_s)
    return past


LIMITS = history(*[1.0] * ALL)
"""Everybody always ran until the limit, so that starts are those by limits."""

SHARES = [(n + 0.5) / 200 for n in range(200)]


def foreseen(
    machines: tuple[Node, ...],
    jobs: list[Job],
    past: History,
    policy: QueuePolicy = EASY,
    seed: int = 0,
    **more: Any,
) -> tuple[Plan, Prospect]:
    """The pass at NOW over these waiting jobs, and what is foreseen of those it did not start."""
    queue = PendingQueue()
    for one in jobs:
        queue.add(one)
    snapshot = replace(Snapshot(machines, (), queue.snapshot_classes()), **more)
    made = plan(snapshot, NOW, policy)
    return made, at_once(foresee(scene_after(snapshot, made, "default", past, policy, seed)))


def test_the_second_starts_when_the_first_ends_by_its_share_of_the_limit() -> None:
    made, found = foreseen((node(gpus=2),), [waits("a", 1, 2), waits("b", 2, 2)], history(*[0.5] * ALL))
    assert [start.job for start in made.starts] == [job("a").done().id]
    assert found.starts == {job("b").done().id: Foreseen(NOW + 50, NOW + 50, NOW + 50, latest=NOW + 100)}
    assert found.nodes == {job("b").done().id: ("n1",)}


def test_without_any_history_all_below_a_limit_may_be_and_without_limits_nothing_is_known() -> None:
    _, limited = foreseen((node(gpus=2),), [waits("a", 1, 2), waits("b", 2, 2)], History())
    told = limited.starts[job("b").done().id]
    assert told.low < NOW + 15 < NOW + 40 < told.at < NOW + 60 < NOW + 85 < told.high <= NOW + 100
    _, found = foreseen((node(gpus=2),), [waits("a", 1, 2, None), waits("b", 2, 2)], History())
    assert (found.starts[job("b").done().id].at, found.endless) == (math.inf, True)


def test_a_few_short_jobs_do_not_make_everybody_start_at_any_moment() -> None:
    """A fresh server on which somebody tried three jobs of some seconds; now there is one with a limit of a day, or
    none.
    """
    day_s = 86_400.0
    past = history(2 / day_s, 3 / day_s, 4 / day_s, limit_s=day_s)
    for limit_s, middle_s, high_s in ((day_s, day_s / 4, day_s / 2), (None, USUAL_S / 4, USUAL_S)):
        _, found = foreseen((node(gpus=2),), [waits("a", 1, 2, limit_s), waits("b", 2, 2, limit_s)], past)
        told = found.starts[job("b").done().id]
        assert told.low <= NOW + 4 < NOW + middle_s < told.at < NOW + high_s < told.high


def test_only_the_head_of_the_line_starts_by_a_time_that_limits_promise() -> None:
    """It is the end of the range that its page shows beside "until ... at the latest" of those that run."""
    jobs = [waits("a", 1, 1, 40.0), waits("b", 2, 1, 90.0), waits("head", 3, 2), waits("next", 4, 2)]
    _, found = foreseen((node(gpus=2),), jobs, history(*SHARES))
    latest = {name: found.starts[job(name).done().id].latest for name in ("head", "next")}
    assert latest == {"head": NOW + 90, "next": math.inf}
    told = Calibration()
    told.scale = GREATEST
    head, behind = (found.starts[job(name).done().id] for name in ("head", "next"))
    assert told.high(NOW, head) == NOW + 90
    assert told.high(NOW, behind) == NOW + GREATEST * (behind.high - NOW)


def test_nobody_knows_until_when_the_head_waits_for_one_without_a_limit() -> None:
    jobs = [waits("a", 1, 2, None), waits("head", 2, 2)]
    _, found = foreseen((node(gpus=2),), jobs, History())
    assert found.starts[job("head").done().id].latest == math.inf


def test_a_short_job_passes_the_head_without_delaying_it() -> None:
    jobs = [waits("a", 1, 1), waits("long", 2, 1, 10.0), waits("head", 3, 2), waits("late", 4, 1, 500.0)]
    _, found = foreseen((node(gpus=2),), [*jobs, waits("short", 5, 1, 20.0)], LIMITS)
    at = {name: found.starts[job(name).done().id].at - NOW for name in ("head", "late", "short")}
    assert at == {"short": 10, "head": 100, "late": 200}
    _, strict = foreseen((node(gpus=2),), [*jobs, waits("short", 5, 1, 20.0)], LIMITS, NAMED["fifo-strict"])
    assert strict.starts[job("short").done().id].at - NOW == 200


def test_a_gang_of_whole_nodes_waits_until_whole_nodes_are_free() -> None:
    """After 30 s two cards are free, one on each node: by sums alone it would start then."""
    machines = (node("n1", gpus=2), node("n2", gpus=2))
    on = [("a", "n1", 30.0), ("b", "n1", 90.0), ("c", "n2", 80.0)]
    placed = [waits(name, seq, 1, limit_s, node_names=(where,)) for seq, (name, where, limit_s) in enumerate(on)]
    _, found = foreseen(machines, [*placed, waits("gang", 9, 2)], LIMITS)
    assert found.starts[job("gang").done().id].at == NOW + 80


def test_a_quota_holds_in_the_rehearsal() -> None:
    mine = {"workspace": "lab"}
    jobs = [waits("a", 1, 1, 60.0, **mine), waits("b", 2, 1, 60.0, **mine), waits("c", 3, 1, 60.0)]
    quotas = {(Account("workspace", "lab"), "default"): Quota(cap={"gpu": 1000})}
    made, found = foreseen((node(gpus=4),), jobs, LIMITS, quotas=quotas)
    assert len(made.starts) == 2
    assert found.starts[job("b").done().id].at == NOW + 60


MINE = {"workspace": "lab"}
TWO_MODELS = (node("n1", gpus=1, model="A"), node("n2", gpus=3, model="B"))


def at_most_one(model: str) -> dict[tuple[Account, str], Quota]:
    return {(Account("workspace", "lab"), "default"): Quota(cap={f"gpu:{model}": 1000})}


@pytest.mark.parametrize("machines", [TWO_MODELS, (node("n1", gpus=1, model="B"), node("n2", gpus=3, model="B"))])
def test_the_quota_of_a_card_model_holds_for_who_asks_for_any(machines: tuple[Node, ...]) -> None:
    """Cards are free all the time, but those that it would get are over quota until `mine` ends."""
    on = [("long", "n1", 500.0, {}), ("mine", "n2", 60.0, MINE), ("short", "n2", 20.0, {})]
    jobs = [
        waits(name, seq, 1, limit_s, node_names=(where,), **of) for seq, (name, where, limit_s, of) in enumerate(on)
    ]
    made, found = foreseen(machines, [*jobs, waits("me", 9, 1, **MINE)], LIMITS, quotas=at_most_one("B"))
    assert len(made.starts) == 3
    assert found.starts[job("me").done().id].at == NOW + 60


def test_who_waits_for_the_quota_of_a_card_model_holds_nobody_up() -> None:
    on = [("a", "n1", 900.0), ("b", "n2", 60.0), ("c", "n2", 90.0), ("d", "n2", 90.0)]
    jobs = [waits(name, seq, 1, limit_s, node_names=(where,)) for seq, (name, where, limit_s) in enumerate(on)]
    gang, long = waits("gang", 8, 2, **MINE), waits("long", 9, 1, 500.0)
    made, found = foreseen(TWO_MODELS, [*jobs, gang, long], LIMITS, quotas=at_most_one("B"))
    assert len(made.starts) == 4
    assert (found.starts[gang.id].at, found.starts[long.id].at) == (math.inf, NOW + 60)


def test_only_the_first_in_line_are_foreseen() -> None:
    jobs = [waits(f"j{n}", n, 2) for n in range(MOST + 30)]
    _, found = foreseen((node(gpus=2),), jobs, LIMITS)
    assert len(found.starts) == MOST
    assert job(f"j{MOST + 20}").done().id not in found.starts


@settings(max_examples=examples(60))
@given(nodes(), queues(), st.integers(0, 5))
def test_nothing_is_foreseen_before_now_and_equal_seeds_foresee_alike(
    machines: tuple[Node, ...], jobs: tuple[Job, ...], seed: int
) -> None:
    limited = [replace(one, policy=Policy(duration_s=60.0 * (1 + at % 5))) for at, one in enumerate(jobs)]
    past = history(*(chance.random() for chance in [random.Random(seed)] for _ in range(30)))
    _, found = foreseen(machines, limited, past, seed=seed)
    for one in found.starts.values():
        assert NOW <= one.low <= one.at <= one.high
    assert foreseen(machines, limited, past, seed=seed)[1] == found


def test_an_empty_cluster_starts_at_once() -> None:
    made, found = foreseen((node(gpus=2),), [waits("a", 1, 2)], History())
    assert (len(made.starts), found.starts) == (1, {})


def test_a_running_job_lasts_longer_than_it_has() -> None:
    past = history(*(n / 100 for n in range(1, 101)))
    for limit_s, elapsed_s in ((100.0, 60.0), (math.inf, 60.0), (math.inf, 500.0)):
        drawn = past.run_s("", limit_s, elapsed_s, SHARES)
        assert elapsed_s < min(drawn)
        assert max(drawn) <= limit_s
    assert past.run_s("", 50.0, 50.0, [0.5])[0] == 50.0, "never longer than its limit"
    assert past.run_s("", math.inf, 500.0, [0.5])[0] == 500 + 500 + USUAL_S, (
        "longer than any known: as long again, and more"
    )


@given(st.integers(0, OWN), st.integers(0, 300))
def test_who_ended_few_jobs_is_like_everybody_and_where_few_ended_anything_may_be(mine: int, others: int) -> None:
    past = history(*[0.9] * others)
    for _ in range(mine):
        past.add("ann", 10.0, 100.0)
    drawn = past.run_s("ann", 100.0, 0.0, SHARES)
    all_ = mine + others
    seen = (mine + DOUBT * mine / (all_ + DOUBT), DOUBT * others / (all_ + DOUBT))
    counted = [drawn.count(10.0) / len(drawn), drawn.count(90.0) / len(drawn)]
    for share, weight in zip(counted, seen, strict=True):
        assert abs(share - weight / (mine + DOUBT)) < 0.02


@given(st.lists(st.floats(0, 1), max_size=40), st.floats(0, 1), st.floats(0, 0.999))
def test_a_window_is_the_last_numbers_sorted(values: list[float], above: float, share: float) -> None:
    window = RecentNumbers(8)
    for value in values:
        window.add(value)
    left = sorted(value for value in values[-8:] if value > above or above == 0)
    assert len(window) == min(len(values), 8)
    count, at = window.beyond(above)
    assert count == len(left)
    assert not left or at(share) == left[int(share * len(left))]


def test_windows_are_bounded() -> None:
    past = history(*[0.5] * (3 * OWN), owner="ann")
    assert len(past._of["ann"].shares) == OWN
