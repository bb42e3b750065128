"""Gang fit: places all replicas of all roles on nodes, cards and ports, or none.

Replicas of a role are packed: when one node can take all that remain, the node they fill most tightly; otherwise the
node that takes most of them. So a role that asks for whole nodes spreads over empty nodes, one that asks for less
leaves whole nodes whole, and a role without cards keeps away from nodes with cards while it can. Cards are the lowest
free indices, contiguous where possible; the cards of a role are of one model where possible, of one replica always.
Pure. Invariant: never places more than is free.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

from trainmaster.core.records import Assignment, PortRequest, Role, port_space
from trainmaster.queue.capacity import Free, Room, millicores

Kinds = frozenset[str]
ALL: Final[Kinds] = frozenset({"gpu", "cpu", "memory", "ports"})
"""What a fit respects. Asking with fewer kinds tells which one is short."""

Ports = tuple[tuple[str, tuple[int, ...]], ...]


class _Need(NamedTuple):
    """What one replica asks for, reduced to the kinds that count."""

    millicores: int
    memory_mib: int
    gpu: int
    ports: tuple[PortRequest, ...]
    fixed: bool  # at least one port is fixed: one such replica per host

    @classmethod
    def of(cls, role: Role, kinds: Kinds) -> "_Need":
        ask = role.resources
        ports = role.ports if "ports" in kinds else ()
        return cls(
            millicores=millicores(ask.cpu) if "cpu" in kinds else 0,
            memory_mib=ask.memory_mib if "memory" in kinds else 0,
            gpu=ask.gpu if "gpu" in kinds else 0,
            ports=ports,
            fixed=any(p.begin_at for p in ports),
        )


class _Offer(NamedTuple):
    """One node that can take `most` replicas, with cards of `model` (None: no cards asked)."""

    free: Free
    most: int
    model: str | None
    place: int  # position of the node: the last tie-breaker


def fit(room: Room, roles: Sequence[Role], pool: str, kinds: Kinds = ALL) -> tuple[Assignment, ...] | None:
    """Return a placement of the whole gang, ordered by role and index, or None when it does not fit now.

    `room` is left untouched. O(roles x nodes log nodes + tasks); several roles that fail are tried in other orders.
    """
    for order in _orders(roles):
        placed = _fit_in_order(_Trial(room, pool), roles, order, kinds)
        if placed is not None:
            return placed
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


class _Trial:
    """The nodes of one pool while one gang is being placed: what is free changes, the room does not."""

    def __init__(self, room: Room, pool: str) -> None:
        self.nodes = room.nodes_of(pool)
        self.room = room
        self.ports: dict[str, set[int]] = {}

    def choose_ports(self, host: str, requests: Sequence[PortRequest]) -> Ports | None:
        """Return ports for each request on `host` and take them, or None when one is not to be had."""
        taken = self.ports.setdefault(port_space(host), set())
        held, busy = self.room.ports_of(host), self.room.busy_ports
        mine: set[int] = set()
        out: list[tuple[str, tuple[int, ...]]] = [(request.label, ()) for request in requests]
        for at, request in sorted(enumerate(requests), key=lambda item: item[1].begin_at == 0):  # fixed ones first
            block = self._block(request, (taken, held, busy, mine))
            if block is None:
                return None
            mine.update(block)
            out[at] = (request.label, tuple(block))
        taken |= mine
        return tuple(out)

    def _block(self, request: PortRequest, taken: Sequence[set[int] | frozenset[int]]) -> range | None:
        if request.begin_at:
            block = range(request.begin_at, request.begin_at + request.count)
            return block if _is_free(block, taken) else None
        room = self.room
        return _search(room.port_begin, room.port_last, request.count, taken) or _search(
            room.port_first, min(room.port_begin + request.count - 2, room.port_last), request.count, taken
        )


def _search(first: int, last: int, count: int, taken: Sequence[set[int] | frozenset[int]]) -> range | None:
    """Return the lowest free block of `count` ports in [first, last]."""
    while first + count - 1 <= last:
        block = range(first, first + count)
        clash = next((port for port in reversed(block) if not _is_free((port,), taken)), None)
        if clash is None:
            return block
        first = clash + 1
    return None


def _is_free(ports: Iterable[int], taken: Sequence[set[int] | frozenset[int]]) -> bool:
    return not any(port in group for port in ports for group in taken)


def _fit_in_order(
    trial: _Trial, roles: Sequence[Role], order: Sequence[int], kinds: Kinds
) -> tuple[Assignment, ...] | None:
    out: list[Assignment] = []
    for index in order:
        placed = _place_role(trial, index, roles[index], _Need.of(roles[index], kinds))
        if placed is None:
            return None
        out.extend(placed)
    out.sort(key=lambda a: (a.role, a.index))
    return tuple(out)


def _place_role(trial: _Trial, index: int, role: Role, need: _Need) -> list[Assignment] | None:
    for models in _models(trial.nodes, role, need):
        offers = [offer for place, free in enumerate(trial.nodes) if (offer := _offer(free, need, models, place))]
        if sum(offer.most for offer in offers) >= role.replicas:
            placed = _spread(trial, index, role, need, offers)
            if placed is not None:
                return placed
    return None


def _models(nodes: Sequence[Free], role: Role, need: _Need) -> Iterator[tuple[str, ...]]:
    """The sets of card models to try: the one asked for; else each model by itself, most free cards first, then any."""
    if not need.gpu:
        yield ()
        return
    if role.resources.gpu_type is not None:
        yield (role.resources.gpu_type,)
        return
    free: dict[str, int] = {}
    for node in nodes:
        for model, cards in node.cards.items():
            free[model] = free.get(model, 0) + len(cards)
    models = sorted(free, key=lambda model: (-free[model], model))
    for model in models:
        yield (model,)
    if len(models) > 1 and role.replicas > 1:
        yield tuple(models)


def _offer(free: Free, need: _Need, models: tuple[str, ...], place: int) -> _Offer | None:
    most, model = 1 if need.fixed else 1 << 30, None
    if need.gpu:
        model = max(models, key=lambda m: len(free.cards.get(m, ())), default=None)
        most = min(most, len(free.cards.get(model, ())) // need.gpu) if model is not None else 0
    if need.millicores:
        most = min(most, free.cpu // need.millicores)
    if need.memory_mib:
        most = min(most, free.memory_mib // need.memory_mib)
    return _Offer(free, most, model, place) if most > 0 else None


def _spread(trial: _Trial, index: int, role: Role, need: _Need, offers: list[_Offer]) -> list[Assignment] | None:
    """Place the replicas on the offers; None when ports fall short."""
    out: list[Assignment] = []
    before = trial.nodes.copy(), {host: set(ports) for host, ports in trial.ports.items()}
    offers.sort(key=lambda offer: _rank(offer, need, offer.most))
    while offers and len(out) < role.replicas:
        remaining = role.replicas - len(out)
        at = 0
        if offers[0].most > remaining:
            at = min(range(len(offers)), key=lambda i: _rank(offers[i], need, remaining))
        _fill(trial, index, role, need, offers.pop(at), out)
    if len(out) == role.replicas:
        return out
    trial.nodes, trial.ports = before
    return None


def _rank(offer: _Offer, need: _Need, remaining: int) -> tuple[float, ...]:
    """Sort offers: nodes with cards last for who needs none, then who takes most of `remaining`, then the tightest."""
    free, used = offer.free, min(offer.most, remaining)
    cards = sum(map(len, free.cards.values()))
    return (not need.gpu and cards > 0, -used, cards - used * need.gpu, free.cpu - used * need.millicores, offer.place)


def _fill(trial: _Trial, index: int, role: Role, need: _Need, offer: _Offer, out: list[Assignment]) -> None:
    """Append assignments on one node, as many as it takes and as remain; fewer when its ports run out."""
    free = offer.free
    for _ in range(min(offer.most, role.replicas - len(out))):
        ports = trial.choose_ports(free.node.host, need.ports) if need.ports else ()
        if ports is None:
            break
        gpus = _cards(free.cards[offer.model], need.gpu) if need.gpu and offer.model is not None else ()
        free = free.minus(need.millicores, need.memory_mib, gpus)
        out.append(Assignment(index, len(out), free.node.name, free.node.host, gpus, ports))
    trial.nodes[offer.place] = free


def _cards(free: tuple[int, ...], count: int) -> tuple[int, ...]:
    """Return the lowest contiguous run of `count` free cards, or the lowest `count` when there is no run."""
    for start in range(len(free) - count + 1):
        if free[start + count - 1] - free[start] == count - 1:
            return free[start : start + count]
    return free[:count]


def with_resources(role: Role, **changes: Any) -> Role:
    """Return `role` asking for something else, for example ``gpu=2``."""
    return replace(role, resources=replace(role.resources, **changes))


def largest(fits: Callable[[int], bool], asked: int, least: int = 1) -> int | None:
    """Return the largest number from `least` to below `asked` that fits, or None. O(log asked) questions."""
    if asked <= least or not fits(least):
        return None
    low, high = least, asked - 1
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return low
