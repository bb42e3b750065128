"""Which running elastic gangs may take what nobody else can use: only the decision (R172). Pure.

Invariant: nothing is given away that a waiting job could start on now or that a head was promised, and no job is resized
more often than the policy allows or for less than a restart costs.
"""

from collections.abc import Callable, Mapping

from trainmaster.core.records import Assignment
from trainmaster.queue.backfill import Line
from trainmaster.queue.capacity import Room, holding
from trainmaster.queue.elastic import sized
from trainmaster.queue.fit import fit, largest
from trainmaster.queue.need import ALL
from trainmaster.queue.policy import QueuePolicy
from trainmaster.queue.quota import OWN, Books, asks
from trainmaster.queue.running import Running
from trainmaster.queue.snapshot import Resize, Usage

BooksOf = Callable[[str], Books]


def grown(
    running: Running, lines: Mapping[str, Line], room: Room, books_of: BooksOf, now: float, policy: QueuePolicy
) -> list[Resize]:
    """Return what to grow after a pass that started all it could; `room` is what that pass left. Oldest attempts first."""
    out: list[Resize] = []
    able = (usage for usage in running if usage.request is not None and _may(usage, now, policy))
    for usage in sorted(able, key=lambda each: (each.started_at, each.attempt)):
        line = lines.get(usage.pool)
        free = room if line is None or line.in_time(usage.ends_at) else line.behind(room)
        for at, role in enumerate(usage.roles):
            found = _more(free, usage, at, books_of(usage.pool))
            if found is None or not _worth(usage, role.replicas, len(found), now, policy):
                continue
            room = room.fork()
            taken = holding((role,), found)
            room.take_held(taken)
            if line is not None:
                line.took(taken, usage.ends_at)
            out.append(Resize(usage.job, at, role.replicas + len(found)))
            break
    return out


def _may(usage: Usage, now: float, policy: QueuePolicy) -> bool:
    return now - max(usage.started_at, usage.resized_at) >= policy.grow_every_s


def _worth(usage: Usage, replicas: int, more: int, now: float, policy: QueuePolicy) -> bool:
    """Whether the time saved, if the work is shared evenly, is more than what a restart costs."""
    return (usage.ends_at - now) * more / (replicas + more) > policy.restart_cost_s


def _more(room: Room, usage: Usage, at: int, books: Books) -> tuple[Assignment, ...] | None:
    """Return where as many as possible of the missing replicas of role number `at` fit."""
    request, role = usage.request, usage.roles[at]
    assert request is not None

    def placed(count: int) -> tuple[Assignment, ...] | None:
        extra = (sized(role, count),)
        if books.judge(usage.tenant, asks(extra), usage.ends_at, usage.job) != OWN:
            return None
        return fit(room, extra, usage.pool, ALL, request.nodes, request.driver)

    spare = request.shapes[usage.shape][at].replicas - role.replicas
    most = largest(lambda count: placed(count) is not None, spare + 1)
    return None if most is None else placed(most)
