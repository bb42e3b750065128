"""Why a gang does not fit: the one resource that is short, with the numbers that show it. Pure.

Found by asking again with fewer kinds of resources: what fits without ports but not with them waits
for ports, and so on.
Invariant: a gang that `fit` refuses always gets exactly one reason.
"""

from collections.abc import Sequence
from operator import attrgetter
from typing import Any, Final, NamedTuple

from trainmaster.core.records import Role
from trainmaster.queue.capacity import Capacity, Free, Room
from trainmaster.queue.fit import fit
from trainmaster.queue.need import Kinds
from trainmaster.queue.snapshot import Reason

STEPS: Final[tuple[tuple[str, Kinds], ...]] = (
    ("gpus", frozenset({"gpu"})),
    ("cpu", frozenset({"gpu", "cpu"})),
    ("memory", frozenset({"gpu", "cpu", "memory"})),
)
"""What is asked for in turn; what passes all of them is short of ports."""

FIELDS: Final[dict[str, str]] = {"gpus": "gpu", "cpu": "cpu", "memory": "memory_mib"}
"""The field of Resources that holds the amount of each kind."""

WRITTEN: Final[dict[str, str]] = {"memory_mib": "memory"}
"""Fields that the job's document calls differently: paths and changes are told in its words."""


REMEMBERED: Final = 10_000
"""Request classes remembered at most."""


class Shortage(NamedTuple):
    """Why a gang does not fit now. `cards`: it would not even if it asked for cards alone."""

    reason: Reason
    cards: bool


def shortage(room: Room, roles: Sequence[Role], pool: str) -> Shortage:
    """Return why `roles` do not fit in `room` now. Costs at most three more fits."""
    what = next((name for name, kinds in STEPS if fit(room, roles, pool, kinds) is None), "ports")
    return Shortage(Reason(f"waiting_{what}", evidence(what, room, roles, pool)), what == "gpus")


def evidence(what: str, room: Room, roles: Sequence[Role], pool: str) -> dict[str, Any]:
    """Return needed, free and largest-on-one-node numbers of the resource `what`, and the role that asks most of it."""
    nodes = room.nodes_of(pool)
    if what == "ports":
        role = max(roles, key=lambda r: sum(p.count for p in r.ports))
        fixed = sorted(p.begin_at for r in roles for p in r.ports if p.begin_at)
        return {"role": role.name, "ports": sum(p.count for p in role.ports), "fixed": fixed}
    asked = attrgetter(f"resources.{FIELDS[what]}")
    role = max(roles, key=asked)
    model = role.resources.gpu_type if what == "gpus" else None
    free = [_free(what, node, model) for node in nodes]
    out = {
        "role": role.name,
        "needs": sum(asked(r) * r.replicas for r in roles),
        "each": asked(role),
        "replicas": role.replicas,
        "free": round(sum(max(amount, 0) for node in free for amount in node), 3),
        "largest": round(max((amount for node in free for amount in node), default=0), 3),
    }
    return {**out, "type": model} if model is not None else out


def _free(what: str, node: Free, model: str | None) -> list[float]:
    """Return what is free on one node, in parts that one replica cannot join: its cards by model, else one amount."""
    if what == "gpus":
        return [len(cards) for name, cards in node.cards.items() if model in (None, name)]
    return [node.cpu / 1000 if what == "cpu" else node.memory_mib]


def away(capacity: Capacity, key: str, roles: Sequence[Role], pool: str) -> Reason | None:
    """Return why `roles` do not fit on the present nodes even if nothing ran, else None. Remembered by `key`."""
    if key not in capacity.impossible:
        if len(capacity.impossible) > REMEMBERED:
            capacity.impossible.clear()
        capacity.impossible[key] = None if fit(capacity.empty(), roles, pool) is not None else _away(capacity, pool)
    reason: Reason | None = capacity.impossible[key]
    return reason


def _away(capacity: Capacity, pool: str) -> Reason:
    out = [node for node in capacity.nodes if node.pool == pool and not node.schedulable]
    there = sum(1 for node in capacity.nodes if node.pool == pool) - len(out)
    return Reason(
        "waiting_nodes",
        {"pool": pool, "schedulable": there, "away": [{"node": n.name, "reason": n.reason} for n in out[:5]]},
    )
