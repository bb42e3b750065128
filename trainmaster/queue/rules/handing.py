"""Who is handed over to an engine that decides order and places itself: what a pass does in the pools of such an
engine. Pure.

In our order and as quotas allow, as long as less than so many wait there: with more, our order would mean nothing any
more. No node is looked at, and nobody knows when what is handed over will end.
"""

import math
from collections.abc import Iterable, Sequence

from trainmaster.core.records import Assignment, Role, unplaced
from trainmaster.queue.ordering.lanes import Lane, LineUp
from trainmaster.queue.ordering.order import Ranking
from trainmaster.queue.ordering.quota import BORROWS, OWN, Books, asks
from trainmaster.queue.ordering.ways import Way, claim, ways
from trainmaster.queue.placing.elastic import largest_size
from trainmaster.queue.snapshot import ClassKey, Pending, Start


def hand_over(lanes: Iterable[Lane], ranking: Ranking, books: Books, most: int, now: float) -> list[Start]:
    """Return who of the lanes of one pool is handed over, `most` at the most, placed nowhere; `books` are charged."""
    starts: list[Start] = []
    waiting = LineUp(ranking, lanes)
    while waiting and len(starts) < most:
        turn, cls, job = waiting.first
        found = ways(cls.key, books, (), math.inf, job.job)
        start = _start(cls.key, job, found, books, (OWN, BORROWS) if turn[1] else (OWN,))
        if start is not None:
            books.start(job.job, cls.key.tenant, asks(start.roles), math.inf)
            starts.append(start)
            waiting.started()
            continue
        claim(books, job, found, now)
        if not turn[1] and any(way.verdict == BORROWS for way in found):
            waiting.borrows()
        else:
            waiting.settled()
    return starts


def _start(key: ClassKey, job: Pending, found: Sequence[Way], books: Books, right: Sequence[str]) -> Start | None:
    """Return the start of `job` in the first shape that quotas allow, as large as they allow; None when they allow
    none.
    """

    def allowed(roles: tuple[Role, ...]) -> tuple[Assignment, ...] | None:
        return unplaced(roles) if books.judge(key.tenant, asks(roles), job=job.job) in right else None

    for way in found:
        sized = largest_size(key.request.shapes[way.shape], allowed) if way.verdict in right else None
        if sized is not None:
            return Start(job.job, sized[1], sized[0], way.shape)
    return None
