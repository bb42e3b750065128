"""Which running elastic gangs may take what nobody else can use: only the decision (R172). Pure.

Invariant: nothing is given away that a waiting job could start on now or that a head waits for or was promised, nobody
gets more than its own right, and no job is resized more often than the policy allows or for less than a restart costs.
"""

from collections.abc import Callable, Mapping

from trainmaster.core.records import Node
from trainmaster.queue.backfill import Line
from trainmaster.queue.capacity import Room
from trainmaster.queue.elastic import sized
from trainmaster.queue.fit import fit, largest
from trainmaster.queue.need import ALL
from trainmaster.queue.policy import QueuePolicy
from trainmaster.queue.quota import OWN, Books, charges
from trainmaster.queue.running import Running
from trainmaster.queue.snapshot import Resize, Usage

BooksOf = Callable[[str], Books]


def grown(
    running: Running,
    lines: Mapping[str, Line],
    room: Room,
    books_of: BooksOf,
    by_name: Mapping[str, Node],
    now: float,
    policy: QueuePolicy,
) -> list[Resize]:
    """Return what to grow after a pass that started all it could: in each pool the oldest attempt that can.

    `room`: what that pass left; `by_name`: the nodes, where anybody has a quota. The next pass knows what was taken, so
    that a second one in the same pool waits for it.
    """
    out: dict[str, Resize] = {}
    able = (usage for usage in running if usage.request is not None and _may(usage, now, policy))
    for usage in sorted(able, key=lambda each: (each.started_at, each.attempt)):
        line = lines.get(usage.pool)
        if usage.pool in out or (line is not None and line.closed):
            continue
        free = room if line is None or line.in_time(usage.ends_at) else line.behind(room)
        for at, role in enumerate(usage.roles):
            more = _more(free, usage, at, books_of(usage.pool), by_name)
            if more is not None and _worth(usage, role.replicas, more, now, policy):
                out[usage.pool] = Resize(usage.job, at, role.replicas + more)
                break
    return list(out.values())


def _may(usage: Usage, now: float, policy: QueuePolicy) -> bool:
    return now - max(usage.started_at, usage.resized_at) >= policy.grow_every_s


def _worth(usage: Usage, replicas: int, more: int, now: float, policy: QueuePolicy) -> bool:
    """Whether the time saved, if the work is shared evenly, is more than what a restart costs."""
    return (usage.ends_at - now) * more / (replicas + more) > policy.restart_cost_s


def _more(room: Room, usage: Usage, at: int, books: Books, by_name: Mapping[str, Node]) -> int | None:
    """Return as many of the missing replicas of role number `at` as fit, None when not one does."""
    request, role = usage.request, usage.roles[at]
    assert request is not None

    def fits(count: int) -> bool:
        extra = (sized(role, count),)
        placed = fit(room, extra, usage.pool, ALL, request.nodes, request.driver)
        if placed is None:
            return False
        return (
            books.empty or books.judge(usage.tenant, charges(extra, placed, by_name), usage.ends_at, usage.job) == OWN
        )

    return largest(fits, request.shapes[usage.shape][at].replicas - role.replicas + 1)
