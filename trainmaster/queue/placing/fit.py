"""Gang fit: places all replicas of all roles on nodes, cards and ports, or none.

Replicas of a role are packed: when one node can take all that remain, the node they fill most tightly; otherwise the
node that takes most of them. So a role that asks for whole nodes spreads over empty nodes, one that asks for less
leaves whole nodes whole, and a role without cards keeps away from nodes with cards while it can. Cards are the lowest
free indices, contiguous where possible; the cards of a role are of one model where possible, of one replica always. A
share of a card is cut from a card in use before it is cut from a whole one. Pure. Invariant: never places more than is
free.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from trainmaster.core.records import Assignment, Role
from trainmaster.queue.placing.buckets import Buckets, View
from trainmaster.queue.placing.capacity import Free, Held, Room
from trainmaster.queue.placing.choice import Choice
from trainmaster.queue.placing.failures import Demand, Failures
from trainmaster.queue.placing.need import ALL, WHOLE, Kinds, Need
from trainmaster.queue.placing.packing import BEST_FIT, Packing, Rule
from trainmaster.queue.placing.ports import PortChoice

Span = tuple[int, int]
"""Fewest and most cards that may be free on a node."""

_ALL_NODES: Final = ((0, 1 << 30),)
_CARDS_LAST: Final = ((0, 0), (1, 1 << 30))
"""Where to look in turn: who asks for no cards is sent to nodes without free cards first."""


def fit(
    room: Room,
    roles: Sequence[Role],
    pool: str,
    kinds: Kinds = ALL,
    nodes: frozenset[str] = frozenset(),
    driver: str | None = None,
    packing: Packing = BEST_FIT,
) -> tuple[Assignment, ...] | None:
    """Return a placement of the whole gang, ordered by role and index, or None when it does not fit now.

    `nodes`: only on these (empty: any); `driver`: only where the driver has this version. `room` is left untouched.
    O(log nodes) per node that is used; several roles that fail are tried in other orders. Complete for one role: None
    only when there is no placement (a role of any model counts one model per node, and ports are taken as they come).
    """
    needs = [Need.of(role, kinds) for role in roles]
    for order in _orders(roles):
        trial = _Placing(room, (pool, nodes, driver), packing, PortChoice(room))
        placed = trial.place_all(roles, needs, order)
        if placed is not None:
            return placed
    return None


def place(room: Room, demand: Demand, failures: Failures, packing: Packing = BEST_FIT) -> tuple[Assignment, ...] | None:
    """Return `fit` of a demand, or None; what `failures` know of this room is not asked again, and what fails is
    noted.
    """
    if failures.rules_out(demand):
        return None
    pool, nodes, driver = demand.view
    placed = fit(room, demand.roles, pool, ALL, nodes, driver, packing)
    if placed is not None:
        return placed
    failures.note(demand)
    if len(demand.roles) > 1:
        for role in demand.roles:
            alone = Demand.of((role,), pool, nodes, driver)
            if not failures.rules_out(alone) and fit(room, alone.roles, pool, ALL, nodes, driver, packing) is None:
                failures.note(alone)
    return None


def _orders(roles: Sequence[Role]) -> Iterator[list[int]]:
    """The orders in which roles are placed: the hardest first, by cards, by cores, by memory."""
    if len(roles) == 1:
        yield [0]
        return
    seen: list[list[int]] = []
    keys: tuple[Callable[[int], tuple[float, ...]], ...] = (
        lambda i: (-roles[i].resources.gpu, -roles[i].resources.cpu, -roles[i].resources.memory_mib, i),
        lambda i: (-roles[i].resources.cpu, -roles[i].resources.memory_mib, i),
        lambda i: (-roles[i].resources.memory_mib, -roles[i].resources.cpu, i),
    )
    for key in keys:
        order = sorted(range(len(roles)), key=key)
        if order not in seen:
            seen.append(order)
            yield order


@dataclass(slots=True)
class _Placing:
    """One gang being placed. `room` is replaced by a copy before anything is taken from it."""

    room: Room
    where: View
    packing: Packing
    ports: PortChoice

    def place_all(
        self, roles: Sequence[Role], needs: Sequence[Need], order: Sequence[int]
    ) -> tuple[Assignment, ...] | None:
        """Return a placement of all roles, or None."""
        out: list[Assignment] = []
        for nth, index in enumerate(order):
            rule = self.packing.rest if nth and self.packing.rest is not None else self.packing.rule
            placed = self._place_role(index, roles[index], needs[index], rule)
            if placed is None:
                return None
            out += placed
            if index != order[-1]:
                self.room = self.room.fork() if nth == 0 else self.room
                self.room.take_held(_held(needs[index], placed))
        out.sort(key=lambda a: (a.role, a.index))
        return tuple(out)

    def _place_role(self, index: int, role: Role, need: Need, rule: Rule) -> list[Assignment] | None:
        view = self.room.view(*self.where)
        before = self.ports
        whole = need.gpu and need.milli == WHOLE
        for models in _models(view, role, need):
            if whole and sum(view.replicas(model, need.gpu) for model in models) < role.replicas:
                continue
            self.ports = before.copy() if need.ports else before
            choice = Choice(need, models, rule, self.packing.mix)
            placed = (self._spread if whole or not need.gpu else self._share)(index, role, choice)
            if placed is not None:
                return placed
        self.ports = before
        return None

    def _spread(self, index: int, role: Role, choice: Choice) -> list[Assignment] | None:
        """Place the replicas on as few nodes as can be; None when cores, memory or ports fall short."""
        view, need, used = self.room.view(*self.where), choice.need, set[int]()
        out: list[Assignment] = []
        for span in _ALL_NODES if need.gpu else _CARDS_LAST:

            def takes(many: int, span: Span = span) -> bool:
                return any(place not in used for place, _ in choice.tightest(view, many, span))

            most = choice.most_on_one_node(view)
            while most and len(out) < role.replicas:
                many = largest_that(takes, min(most, role.replicas - len(out)))
                for place, model in choice.nodes(self.room, view, many, span):
                    if place not in used:
                        used.add(place)
                        self._fill(index, need, self.room.node(place), model, many, out)
                        if role.replicas - len(out) < many:
                            break
                most = max(many - 1, 0)
        return out if len(out) == role.replicas else None

    def _fill(self, index: int, need: Need, free: Free, model: str, many: int, out: list[Assignment]) -> None:
        """Append `many` assignments on one node; fewer when its ports run out."""
        cards = free.cards.get(model, ())
        for _ in range(many):
            ports = self.ports.choose(free.node.host, need.ports)
            if ports is None:
                return
            gpus = _cards(cards, need.gpu) if need.gpu else ()
            cards = tuple(card for card in cards if card not in gpus) if gpus else cards
            out.append(Assignment(index, len(out), free.node.name, free.node.host, gpus, ports))

    def _share(self, index: int, role: Role, choice: Choice) -> list[Assignment] | None:
        """Place replicas that ask for a share of one card, one after the other; None when not all find one."""
        out: list[Assignment] = []
        room = self.room if role.replicas == 1 else self.room.fork()
        while len(out) < role.replicas:
            for place, card in choice.cards(room, room.view(*self.where)):
                node = room.node(place).node
                ports = self.ports.choose(node.host, choice.need.ports)
                if ports is not None:
                    out.append(Assignment(index, len(out), node.name, node.host, (card,), ports))
                    break
            else:
                return None
            if len(out) < role.replicas:
                room.take_held(_held(choice.need, out[-1:]))
        return out


def _held(need: Need, placed: Sequence[Assignment]) -> list[Held]:
    return [Held(a.node, need.cpu, need.memory_mib, a.gpus if need.gpu else (), need.milli) for a in placed]


def _models(view: Buckets, role: Role, need: Need) -> Iterator[tuple[str, ...]]:
    """The sets of card models to try: the one asked for; else each model by itself, most free cards first, then any.

    A single replica is of one model anyway: it goes where it fits most tightly, on the more plentiful model on ties.
    """
    if not need.gpu:
        yield ("",)
        return
    if need.model is not None:
        yield (need.model,)
        return
    models = tuple(sorted(view.free, key=lambda model: (-view.free[model], model)))
    if role.replicas > 1:
        for model in models:
            yield (model,)
    if len(models) > 1 or role.replicas == 1:
        yield models


def _cards(free: tuple[int, ...], count: int) -> tuple[int, ...]:
    """Return the lowest contiguous run of `count` free cards, or the lowest `count` when there is no run."""
    for start in range(len(free) - count + 1):
        if free[start + count - 1] - free[start] == count - 1:
            return free[start : start + count]
    return free[:count]


def with_resources(role: Role, **changes: Any) -> Role:
    """Return `role` asking for something else, for example ``gpu=2``."""
    return replace(role, resources=replace(role.resources, **changes))


def largest_that(fits: Callable[[int], bool], most: int) -> int:
    """Return the largest number up to `most` (>= 1) that fits, at least 1, of which nothing is asked. O(log most)
    questions.
    """
    if most == 1 or fits(most):
        return most
    return largest(fits, most, least=2) or 1


def largest(fits: Callable[[int], bool], asked: int, least: int = 1) -> int | None:
    """Return the largest number from `least` to below `asked` that fits, or None. O(log asked) questions."""
    if asked <= least or not fits(least):
        return None
    low, high = least, asked - 1
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return low
