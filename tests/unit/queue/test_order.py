"""The index of waiting jobs keeps its order under any sequence of changes, at any length."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.builders import job
from tests.fixtures.examples import examples
from trainmaster.core.states import Priority
from trainmaster.queue.ordering.classes import PendingQueue
from trainmaster.queue.ordering.order import Ordered
from trainmaster.queue.snapshot import Pending, Request

REQUEST = Request("default", ((),))


def entry(seq: int) -> Pending:
    return Pending(f"t{seq}", REQUEST, (0.0, seq))


@settings(max_examples=examples(60))
@given(st.lists(st.integers(0, 4000), max_size=3000, unique=True), st.data())
def test_ordered_is_a_sorted_list(numbers: list[int], data: st.DataObject) -> None:
    ordered, model = Ordered(), []
    for n in numbers:
        ordered.add(entry(n))
        model.append(n)
    for n in data.draw(st.lists(st.sampled_from(numbers), max_size=50, unique=True)) if numbers else ():
        assert ordered.remove((0, n)).job == f"t{n}"
        model.remove(n)
    model.sort()
    assert [p.order[1] for p in ordered] == model
    assert len(ordered) == len(model)
    for at in {0, len(model) // 2, len(model) - 1} if model else ():
        assert ordered[at].order[1] == model[at]
        assert ordered.before((0, model[at])) == at
    with pytest.raises(IndexError):
        ordered[len(model)]


def test_long_queues_are_kept_in_blocks() -> None:
    """Ten thousand added backwards, taken from the front: still sorted at every step."""
    ordered = Ordered()
    for n in reversed(range(10_000)):
        ordered.add(entry(n))
    assert [p.order[1] for p in ordered] == list(range(10_000))
    for n in range(10_000):
        assert ordered[0].order[1] == n
        ordered.remove((0, n))
    assert not ordered


def test_two_jobs_never_share_a_place() -> None:
    ordered = Ordered()
    ordered.add(entry(1))
    with pytest.raises(ValueError, match="same place"):
        ordered.add(entry(1))
    with pytest.raises(KeyError):
        ordered.remove((0, 2))


def test_the_queue_adds_moves_and_forgets() -> None:
    queue = PendingQueue()
    jobs = [job(name).seq(seq).done() for seq, name in enumerate("abc", start=1)]
    for each in jobs:
        queue.add(each)
        queue.add(each)
    assert len(queue) == 3
    queue.change_priority(jobs[2].id, Priority.URGENT)
    assert [[p.job for p in cls.jobs] for cls in queue.snapshot_classes()] == [[jobs[0].id, jobs[1].id], [jobs[2].id]]
    queue.remove(jobs[0].id)
    queue.remove(jobs[0].id)
    queue.change_priority(jobs[0].id, Priority.URGENT)
    assert jobs[0].id not in queue
    assert queue.get(jobs[0].id) is None
    for each in jobs[1:]:
        queue.remove(each.id)
    assert queue.snapshot_classes() == ()
