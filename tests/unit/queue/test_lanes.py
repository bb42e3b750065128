"""The lanes of waiting classes stay what they would be if they were made anew, and a pass over them is the same
pass.
"""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fixtures.examples import examples
from tests.unit.queue.worlds import LIMITS, World, requests, tenants, worlds
from trainmaster.core.states import Priority
from trainmaster.queue.ordering.classes import PendingQueue
from trainmaster.queue.ordering.fairness import Offsets
from trainmaster.queue.ordering.lanes import Lanes, lanes_of, least_of
from trainmaster.queue.ordering.order import Ranking
from trainmaster.queue.plan import plan
from trainmaster.queue.policy import DEFAULT, NAMED, QueuePolicy
from trainmaster.queue.snapshot import Pending

policies = st.sampled_from((DEFAULT, *NAMED.values(), replace(DEFAULT, backfill="easy-shortest")))
jobs = st.builds(
    lambda number, request, came, priority, tenant, limit_s: Pending(
        f"j{number}", request, (came, number), priority, tenant, limit_s
    ),
    st.integers(0, 12),
    requests,
    st.sampled_from((0.0, 10.0, 500.0)),
    st.sampled_from((0, 1)),
    tenants,
    st.sampled_from(LIMITS),
)


def told(lanes: Lanes, policy: QueuePolicy) -> dict[object, list[object]]:
    return {lane.key: list(lane.rows) for lane in lanes.sorted_by(Ranking(policy, Offsets({})).rule)}


@settings(max_examples=examples(150))
@given(st.lists(jobs, max_size=30), st.data())
def test_lanes_that_are_kept_are_those_made_anew(steps: list[Pending], data: st.DataObject) -> None:
    queue = PendingQueue()
    for job in steps:
        match data.draw(st.sampled_from(("put", "put", "put", "remove", "priority", "pass"))):
            case "put":
                queue.put(job)
            case "remove":
                queue.remove(job.job)
            case "priority":
                queue.change_priority(job.job, Priority.URGENT)
            case "pass":
                told(queue.lanes, data.draw(policies))
        policy = data.draw(policies)
        assert told(queue.lanes, policy) == told(Lanes(queue.snapshot_classes()), policy)
        for lane in queue.lanes.sorted_by(Ranking(policy, Offsets({})).rule):
            plain = [cls.key.request.plain for _, _, cls in lane.rows]
            if lane.key.kind is not None:
                assert lane.least == least_of([each[1] for each in plain if each is not None])


@settings(max_examples=examples(150))
@given(worlds(), policies)
def test_a_pass_over_lanes_that_were_kept_is_the_same_pass(world: World, policy: QueuePolicy) -> None:
    queue = PendingQueue()
    for job in world.waiting.values():
        queue.put(job)
    snapshot = world.snapshot()
    kept = replace(snapshot, pending=queue.snapshot_classes())
    assert lanes_of(kept.pending) is queue.lanes
    assert plan(kept, world.now, policy) == plan(snapshot, world.now, policy)
