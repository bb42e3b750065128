"""What the cluster page says of a node: who holds what of each card."""

from tests.fixtures.seeing import only
from trainmaster.core.records import Assignment, Job, Node, Resources, Role
from trainmaster.service.use_cases.cluster import node_view

NODE = Node("n1", "10.0.0.1", 8.0, 8192, ("A100", "A100", "A100"))


def held(name: str, milli: int, card: int) -> tuple[Job, Assignment]:
    role = Role("main", 1, Resources(cpu=1, memory_mib=256, gpu=1, gpu_milli=milli))
    return Job(f"t-{name}", name, name, (role,), "d", 0.0), Assignment(0, 0, "n1", "10.0.0.1", (card,))


def test_a_card_that_jobs_share_is_all_of_theirs() -> None:
    """R168: who holds how much of which card; of a stranger's job only how much, and whose it is."""
    jobs = [held("ann", 500, 0), held("bob", 250, 0), held("ann", 1000, 2)]
    cards = node_view(only("ann"), NODE, jobs, []).gpus
    assert [[(use.name, use.owner, use.task, use.share) for use in card.uses] for card in cards] == [
        [("ann", "ann", "task0-0", 0.5), (None, "bob", None, 0.25)],
        [],
        [("ann", "ann", "task0-0", 1.0)],
    ]
