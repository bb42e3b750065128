"""What is offered to a waiting job as a change: never what makes another job of it (D17)."""

from trainmaster.core.records import Resources, Role
from trainmaster.queue.explaining.changes import Changes
from trainmaster.queue.snapshot import Pending, Request

FLAVORS = {
    "a100-1": Resources(cpu=8, memory_mib=65536, gpu=1, gpu_type="A100"),
    "cpu-4": Resources(cpu=4, memory_mib=8192),
    "cpu-8": Resources(cpu=8, memory_mib=16384),
    "t4-1": Resources(cpu=4, memory_mib=16384, gpu=1, gpu_type="T4"),
}


def offered(*had: str) -> set[str]:
    """Return the flavors that are offered to a job with the alternatives `had`."""
    shapes = tuple((Role("worker", 1, FLAVORS[name], flavor=name),) for name in had)
    found = Changes(Pending("t1", Request("default", shapes)), 0.0).flavors(0, FLAVORS)
    return {name for one in found for name in one.change["roles.0.flavors"]}


def test_a_job_with_cards_is_offered_only_flavors_with_cards() -> None:
    """D17: also where only one of several flavors has cards."""
    assert offered("a100-1") == {"t4-1"}
    assert offered("cpu-4", "a100-1") == {"t4-1"}
    assert offered("cpu-4") == {"a100-1", "cpu-8", "t4-1"}
