"""Why a gang does not fit: the one resource that is short, with the numbers that show it. Pure.

Found by asking again with fewer kinds of resources: what fits without ports but not with them waits
for ports, and so on.
Invariant: a gang that `fit` refuses always gets exactly one reason.
"""

from collections.abc import Sequence
from typing import Any, Final

from trainmaster.core.records import Node, Resources, Role
from trainmaster.queue.placing.buckets import View
from trainmaster.queue.placing.capacity import Capacity, Free, Room
from trainmaster.queue.placing.failures import Amounts, Cards, Demand, at_least
from trainmaster.queue.placing.fit import fit
from trainmaster.queue.placing.need import ALL, WHOLE, Kinds
from trainmaster.queue.snapshot import Reason, Request

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


Known = dict[tuple[object, ...], tuple[float, float]]
"""What was found free in one room, by what it was asked for: (in all, most that one replica may have)."""


class Shortages:
    """Why gangs do not fit in one room, which must not change meanwhile."""

    def __init__(self, room: Room) -> None:
        self._room = room
        self._free: Known = {}
        self._cards: dict[tuple[View, tuple[Cards, ...]], Reason | None] = {}

    def of(self, demand: Demand) -> Reason:
        """Return why a gang does not fit. Costs at most three fits."""
        reason = self.of_cards(demand)
        if reason is None:
            what = next((name for name, kinds in STEPS[1:] if self._lacks(demand, kinds)), "ports")
            reason = self._reason(what, demand)
        return reason

    def of_cards(self, demand: Demand) -> Reason | None:
        """Return the reason of a gang that lacks cards, whatever else it lacks; else None. One for all that ask for the
        same cards.
        """
        key = demand.view, demand.cards
        if key not in self._cards:
            what, kinds = STEPS[0]
            self._cards[key] = self._reason(what, demand) if self._lacks(demand, kinds) else None
        return self._cards[key]

    def _lacks(self, demand: Demand, kinds: Kinds) -> bool:
        pool, nodes, driver = demand.view
        return fit(self._room, demand.roles, pool, kinds, nodes, driver) is None

    def _reason(self, what: str, demand: Demand) -> Reason:
        return Reason(f"waiting_{what}", evidence(what, self._room, demand.roles, *demand.view, self._free))


def evidence(
    what: str,
    room: Room,
    roles: Sequence[Role],
    pool: str,
    nodes: frozenset[str] = frozenset(),
    driver: str | None = None,
    known: Known | None = None,
) -> dict[str, Any]:
    """Return needed, free and largest-on-one-node numbers of the resource `what`, and the role that asks most of it.

    Shares of cards are counted in cards: two of 300 thousandths are 0.6.
    """
    if what == "ports":
        role = max(roles, key=lambda r: sum(p.count for p in r.ports))
        fixed = sorted(p.begin_at for r in roles for p in r.ports if p.begin_at)
        return {"role": role.name, "ports": sum(p.count for p in role.ports), "fixed": fixed}

    def asked(role: Role) -> float:
        amount: float = getattr(role.resources, FIELDS[what])
        return amount * role.resources.gpu_milli / WHOLE if what == "gpus" else amount

    role = max(roles, key=asked)
    ask, known = role.resources, {} if known is None else known
    key = (what, pool, nodes, driver, *((ask.gpu_type, ask.gpu_milli) if what == "gpus" else ()))
    if key not in known:
        parts = [amount for node in room.nodes_of(pool, nodes, driver) for amount in _free(what, node, ask)]
        known[key] = sum(max(amount, 0) for amount in parts), max(parts, default=0)
    out = {
        "role": role.name,
        "needs": plain(sum(asked(r) * r.replicas for r in roles)),
        "each": plain(asked(role)),
        "replicas": role.replicas,
        "free": plain(known[key][0]),
        "largest": plain(known[key][1]),
    }
    model = role.resources.gpu_type if what == "gpus" else None
    return {**out, "type": model} if model is not None else out


def plain(amount: float) -> float:
    """Return `amount` as people write it: a whole number without a point, else three places."""
    return int(amount) if amount == int(amount) else round(amount, 3)


def _free(what: str, node: Free, ask: Resources) -> list[float]:
    """Return what is free on one node, in parts that one replica cannot join: its cards by model, else one amount."""
    if what != "gpus":
        return [node.cpu / 1000 if what == "cpu" else node.memory_mib]
    model = ask.gpu_type
    whole = [len(cards) for name, cards in node.cards.items() if model in (None, name)]
    if ask.gpu_milli == WHOLE:
        return list(whole)
    shared = [left / WHOLE for card, left in node.parts if model in (None, node.node.gpus[card])]
    return [1.0] * sum(whole) + shared


def away(capacity: Capacity, request: Request) -> Reason | None:
    """Return why no shape of `request` fits on the present nodes even if nothing ran, else None. Remembered."""
    plain = request.plain
    if plain is not None and _possible(capacity, request.pool, *plain):
        return None
    if request not in capacity.impossible:
        if len(capacity.impossible) > REMEMBERED:
            capacity.impossible.clear()
        empty, (pool, nodes, driver) = capacity.empty(), (request.pool, request.nodes, request.driver)
        fine = any(fit(empty, demand.roles, pool, ALL, nodes, driver) is not None for demand in request.smallest)
        capacity.impossible[request] = None if fine else _away(capacity, pool)
    reason: Reason | None = capacity.impossible[request]
    return reason


def _possible(capacity: Capacity, pool: str, model: str | None, asked: Amounts) -> bool:
    """Return whether `asked` is known to fit if nothing ran: because the most of everything that was asked so far
    does.
    """
    most = capacity.possible.get((pool, model))
    if most is not None and at_least(most, asked):
        return True
    replicas, gpu, cpu, memory_mib, milli = map(max, most or asked, asked)
    role = Role("most", replicas, Resources(cpu / 1000, memory_mib, gpu, model, 0, milli or WHOLE))
    if fit(capacity.empty(), (role,), pool) is None:
        return False
    capacity.possible[pool, model] = replicas, gpu, cpu, memory_mib, milli
    return True


def _away(capacity: Capacity, pool: str) -> Reason:
    out = [node for node in capacity.nodes if node.pool == pool and not node.schedulable]
    there = sum(1 for node in capacity.nodes if node.pool == pool) - len(out)
    return Reason(
        "waiting_nodes",
        {"pool": pool, "schedulable": there, "away": [_left_out(node) for node in out[:5]]},
    )


def _left_out(node: Node) -> dict[str, Any]:
    return {"node": node.name, "reason": node.reason.to_json() if node.reason is not None else None}
