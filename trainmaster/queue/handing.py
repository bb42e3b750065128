"""Who is handed over to an engine that decides order and places itself: what a pass does in the pools of such an engine. Pure.

In our order and as quotas allow, as long as less than so many wait there: with more, our order would mean nothing any more.
No node is looked at.
"""

from collections.abc import Iterable

from trainmaster.core.records import Assignment, Role, unplaced
from trainmaster.queue.elastic import largest
from trainmaster.queue.lanes import Lane, LineUp
from trainmaster.queue.order import Ranking
from trainmaster.queue.quota import BORROWS, OWN, Books, asks
from trainmaster.queue.snapshot import ClassKey, Pending, Start


def hand_over(lanes: Iterable[Lane], ranking: Ranking, books: Books, most: int) -> list[Start]:
    """Return who of the lanes of one pool is handed over, `most` at the most, placed nowhere; `books` are charged."""
    starts: list[Start] = []
    waiting = LineUp(ranking, lanes)
    while waiting and len(starts) < most:
        turn, cls, job = waiting.first
        start, may_borrow = _start(cls.key, job, books, borrows=turn[1])
        if start is not None:
            books.charge(cls.key.tenant, asks(start.roles))
            starts.append(start)
            waiting.started()
        elif may_borrow:
            waiting.borrows()
        else:
            waiting.settled()
    return starts


def _start(key: ClassKey, job: Pending, books: Books, *, borrows: bool) -> tuple[Start | None, bool]:
    """Return the first shape that quotas allow, as large as they allow; or that one could borrow when all others had their turn."""
    may_borrow = False

    def allowed(roles: tuple[Role, ...]) -> tuple[Assignment, ...] | None:
        nonlocal may_borrow
        verdict = books.judge(key.tenant, asks(roles))
        may_borrow = may_borrow or (verdict == BORROWS and not borrows)
        return unplaced(roles) if verdict == OWN or (verdict == BORROWS and borrows) else None

    for at, shape in enumerate(key.request.shapes):
        found = largest(shape, allowed)
        if found is not None:
            return Start(job.job, found[1], found[0], at), False
    return None, may_borrow
