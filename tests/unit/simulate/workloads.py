"""Small workloads and machines for the tests, drawn from a seed."""

import random
from typing import Any

from trainmaster.core.records import Node, Resources
from trainmaster.simulate.clusters import parse_cluster
from trainmaster.simulate.workload import Recorded, Workload, gang, workload


def machines(text: str = "4x8") -> tuple[Node, ...]:
    """Nodes of a description."""
    return parse_cluster([text])


def job(row: int, submit_s: int, work_s: int, cards: int = 1, limit_s: int | None = None, **rest: Any) -> Recorded:
    """One recorded job; more cards than 8 are divided into whole nodes."""
    roles = gang(cards, Resources(0, 0, shm_mib=0), 8)
    return Recorded(str(row), row, submit_s, work_s, roles, limit_s, **rest)


def of(*jobs: Recorded) -> Workload:
    """A workload of these jobs."""
    return workload("test", jobs, any(one.limit_s is not None for one in jobs))


def drawn(seed: int, count: int = 120) -> Workload:
    """A workload of random jobs, some of which arrive and end at the same second."""
    chance = random.Random(seed)
    at, jobs = 0, []
    for row in range(count):
        at += chance.choice((0, 0, 5, 20, 60))
        work = chance.choice((1, 10, 60, 300, 900))
        jobs.append(
            job(
                row,
                at,
                work,
                chance.choice((1, 1, 2, 4, 8, 16)),
                work * chance.choice((1, 2, 5)),
                workspace=chance.choice("ab"),
            )
        )
    return of(*jobs)
