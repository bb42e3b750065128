"""Who gives way to the head of a line: off by default, bounded, and only where it lets the head start (B15). Pure.

Victims are attempts that may be preempted and either are of a strictly lower class, or (policy "reclaim") hold some of
what an account of theirs has borrowed while the head stays within its own right. Invariant: an eviction moves room
strictly up in class, or from a borrower to an owner, so the same two jobs never evict each other; and a job is evicted
at most once in `preempt_again_s`.
"""

from collections.abc import Sequence
from dataclasses import replace

from trainmaster.queue.ordering.quota import Books
from trainmaster.queue.placing.capacity import Held, Room
from trainmaster.queue.placing.failures import Demand
from trainmaster.queue.placing.packing import Packing
from trainmaster.queue.policy import QueuePolicy
from trainmaster.queue.rules.backfill import HeldBy, Promise, after
from trainmaster.queue.snapshot import Evict, Pending, Usage

_Victim = tuple[str, Usage]
_Held = tuple[Held, ...]


def give_way(
    head: Pending,
    ways: Sequence[Demand],
    room: Room,
    running: Sequence[Usage],
    books: Books,
    held_by: HeldBy,
    now: float,
    policy: QueuePolicy,
    packing: Packing,
    most: int,
) -> tuple[list[Evict], Promise | None]:
    """Return whom to evict, at most `most`, for `head`, and in which of `ways`, all within its right, it then starts;
    or nobody.

    Attempts that are ending anyway are counted as gone first, so that a pass while victims drain evicts nobody else.
    The cheapest come first: lower class, then the shorter run. Who frees nothing that is needed is spared. O(log
    candidates) fits and one per victim.
    """
    ending = [held_by(usage) for usage in running if usage.ends_at <= now]
    able = _able(head, running, books, now, policy)
    for demand in ways:
        chosen = able
        found = after(room, demand, [*ending, *(held_by(usage) for _, usage in chosen)], packing)
        if found is None:
            continue
        if found.releases <= len(ending):
            return [], None
        chosen = chosen[: found.releases - len(ending)]
        chosen = _needed(room, demand, ending, chosen, held_by, packing)
        found = after(room, demand, [*ending, *(held_by(usage) for _, usage in chosen)], packing)
        if found is not None and len(chosen) <= most:
            out = [Evict(usage.job, usage.attempt, head.job, why) for why, usage in chosen]
            return out, replace(found, at=now)
    return [], None


def _able(head: Pending, running: Sequence[Usage], books: Books, now: float, policy: QueuePolicy) -> list[_Victim]:
    """Return who may be evicted and on what ground, the cheapest first; borrowers only as far as they borrow."""
    out: list[_Victim] = []
    lent: list[Usage] = []
    reclaims = policy.preemption == "reclaim"
    for usage in sorted(running, key=lambda each: (each.priority, now - each.started_at, each.attempt)):
        run_s, spared_s = now - usage.started_at, now - usage.preempted_at
        if not usage.preemptible or usage.ends_at <= now:
            continue
        if run_s < policy.preempt_min_run_s or spared_s < policy.preempt_again_s:
            continue
        if usage.priority < head.priority:
            out.append(("class", usage))
        elif reclaims and usage.priority == head.priority and books.borrows(usage.tenant, usage.held):
            out.append(("reclaim", usage))
            lent.append(usage)
            books.charge(usage.tenant, usage.held, -1)
    for usage in lent:
        books.charge(usage.tenant, usage.held)
    return out


def _needed(
    room: Room, demand: Demand, ending: list[_Held], chosen: list[_Victim], held_by: HeldBy, packing: Packing
) -> list[_Victim]:
    """Return `chosen` without those whose eviction frees nothing that is needed, dearest first."""
    kept = list(chosen)
    for item in reversed(chosen):
        rest = [other for other in kept if other is not item]
        if after(room, demand, [*ending, *(held_by(usage) for _, usage in rest)], packing) is not None:
            kept = rest
    return kept
