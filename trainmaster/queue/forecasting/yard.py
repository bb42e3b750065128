"""A small picture of the machines for rehearsing many futures: cards by node, cores and memory by node, sums over all.

It places as `fit` does in outline (tightest node that takes all, otherwise the nodes that take most) and leaves out
what hardly moves a start: which cards, ports, and a gang of mixed card models. Pure. Invariant: `take` and `give` of
the same moves are each other's inverse.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final, NamedTuple

from trainmaster.core.records import Assignment, Role
from trainmaster.queue.ordering.quota import ONE_JOB, Charges
from trainmaster.queue.placing.capacity import Room, within
from trainmaster.queue.placing.need import WHOLE, millicores
from trainmaster.queue.snapshot import Request

NO_CARDS: Final = ""

Move = tuple[int, int, int, int]
"""Place, thousandths of cards, thousandths of cores, MiB."""


class Part(NamedTuple):
    """One role: replicas, and per replica thousandths of cards, of cores, and MiB. `models`: those it may use, () for
    none.
    """

    replicas: int
    cards: int
    cpu: int
    memory: int
    models: tuple[str, ...]
    places: frozenset[int] | None  # None: anywhere


Gang = tuple[Part, ...]


class Yard:
    """The machines in service of one pool. A node with cards of two models is two places that share cores and
    memory.
    """

    __slots__ = ("_cards", "_cpu", "_hosts", "_levels", "_memory", "_names", "_plan", "cards", "cpu", "memory")

    def __init__(self, room: Room, pool: str) -> None:
        self._plan: list[tuple[str, int]] = []  # (model, node) of each place
        self._names: dict[tuple[str, str], int] = {}  # (node, model) -> place
        self._hosts: list[str] = []
        self._cards: list[int] = []
        self._cpu: list[int] = []
        self._memory: list[int] = []
        self._levels: dict[str, list[dict[int, None]]] = {}  # model -> wholly free cards -> places
        self.cards: dict[str, int] = {}
        for free in room.nodes_of(pool):
            node = len(self._cpu)
            self._hosts.append(free.node.name)
            self._cpu.append(max(free.cpu, 0))
            self._memory.append(max(free.memory_mib, 0))
            for model in dict.fromkeys(free.node.gpus) or (NO_CARDS,):
                shared = sum(left for card, left in free.parts if free.node.gpus[card] == model)
                self._add(free.node.name, model, node, WHOLE * len(free.cards.get(model, ())) + shared)
        self.cpu, self.memory = sum(self._cpu), sum(self._memory)

    def _add(self, name: str, model: str, node: int, cards: int) -> None:
        place = len(self._plan)
        self._plan.append((model, node))
        self._names.setdefault((name, model), place)
        self._names.setdefault((name, NO_CARDS), place)
        self._cards.append(cards)
        self.cards[model] = self.cards.get(model, 0) + cards
        self._level(model, cards)[place] = None

    def _level(self, model: str, cards: int) -> dict[int, None]:
        levels = self._levels.setdefault(model, [])
        while len(levels) <= cards // WHOLE:
            levels.append({})
        return levels[cards // WHOLE]

    def fork(self) -> "Yard":
        """Return a copy; neither sees what the other changes. O(nodes)."""
        other = Yard.__new__(Yard)
        other._plan, other._names, other._hosts = self._plan, self._names, self._hosts
        other._cards, other._cpu, other._memory = self._cards.copy(), self._cpu.copy(), self._memory.copy()
        other._levels = {model: [level.copy() for level in levels] for model, levels in self._levels.items()}
        other.cards, other.cpu, other.memory = self.cards.copy(), self.cpu, self.memory
        return other

    def levels_of(self, model: str) -> Sequence[Mapping[int, None]]:
        """Return the places with cards of `model` by the number of wholly free ones."""
        return self._levels.get(model, ())

    def model_of(self, place: int) -> str:
        """Return the model of the cards at `place`."""
        return self._plan[place][0]

    def cards_of(self, place: int) -> int:
        """Return how many thousandths of cards are free at `place`."""
        return self._cards[place]

    def names(self, moves: Sequence[Move]) -> tuple[str, ...]:
        """Return the nodes of `moves`."""
        return tuple(dict.fromkeys(self._hosts[self._plan[place][1]] for place, *_ in moves))

    def gang(self, request: Request, roles: Sequence[Role], room: Room) -> Gang:
        """Return what `roles` of `request` ask for, in these machines' words. O(nodes) where it is choosy about
        nodes.
        """
        where = None
        if request.nodes or request.driver is not None:
            view = (request.pool, request.nodes, request.driver)
            where = frozenset(
                place
                for (name, _), place in self._names.items()
                if (free := room.on(name)) is not None and within(free.node, view)
            )
        return tuple(self._part(role, where) for role in roles)

    def _part(self, role: Role, where: frozenset[int] | None) -> Part:
        ask = role.resources
        models: tuple[str, ...] = ()
        if ask.gpu:
            models = (ask.gpu_type,) if ask.gpu_type is not None else tuple(m for m in sorted(self.cards) if m)
        return Part(role.replicas, ask.gpu * ask.gpu_milli, millicores(ask.cpu), ask.memory_mib, models, where)

    def moves(
        self, roles: Sequence[Role], placement: Sequence[Assignment], models: Mapping[str, Sequence[str]]
    ) -> list[Move]:
        """Return what a placed gang gives back. `models`: of the cards of each node by name."""
        held: dict[int, Move] = {}
        for a in placement:
            ask = roles[a.role].resources
            cards = models.get(a.node, ())
            model = cards[a.gpus[0]] if a.gpus and a.gpus[0] < len(cards) else NO_CARDS
            place = self._names.get((a.node, model))
            if place is not None:
                _, gpus, cpu, memory = held.get(place, (0, 0, 0, 0))
                more = len(a.gpus) * ask.gpu_milli
                held[place] = place, gpus + more, cpu + millicores(ask.cpu), memory + ask.memory_mib
        return list(held.values())

    def charges(self, moves: Sequence[Move]) -> Charges:
        """Return what a gang on these is charged for, every card under its model: `quota.charges` in these words."""
        cards: dict[str, int] = {}
        for place, gpus, _, _ in moves:
            model = self._plan[place][0]
            cards[model] = cards.get(model, 0) + gpus
        return _charges(cards, sum(cpu for _, _, cpu, _ in moves), sum(memory for *_, memory in moves))

    def take(self, moves: Sequence[Move], sign: int = -1) -> None:
        """Take what a gang holds; with `sign` 1 give it back. O(replicas)."""
        plan, free, totals = self._plan, self._cards, self.cards
        for place, cards, cpu, memory in moves:
            model, node = plan[place]
            self._cpu[node] += sign * cpu
            self._memory[node] += sign * memory
            self.cpu += sign * cpu
            self.memory += sign * memory
            if cards:
                before = free[place]
                after = free[place] = before + sign * cards
                totals[model] += sign * cards
                if before // WHOLE != after // WHOLE:
                    del self._levels[model][before // WHOLE][place]
                    self._level(model, after)[place] = None

    def lacks(self, gang: Gang) -> bool:
        """Return whether not even the sums over all nodes are enough. O(roles)."""
        totals, cpu, memory = self.cards, self.cpu, self.memory
        for part in gang:
            cpu -= part.replicas * part.cpu
            memory -= part.replicas * part.memory
            if cpu < 0 or memory < 0:
                return True
            if part.cards and all(totals.get(model, 0) < part.replicas * part.cards for model in part.models):
                return True
        return False

    def place(self, gang: Gang) -> list[Move] | None:
        """Take what the gang asks for and return it, or None when it does not fit."""
        taken: list[Move] = []
        for part in gang:
            found = next((moves for model in self._order(part) if (moves := self._spread(part, model))), None)
            if found is None:
                self.take(taken, 1)
                return None
            taken += found
        return taken

    def _order(self, part: Part) -> list[str]:
        if not part.cards:
            return sorted(self.cards)  # nodes without cards first
        return sorted(part.models, key=lambda model: (-self.cards.get(model, 0), model))

    def _spread(self, part: Part, model: str) -> list[Move] | None:
        """Place all replicas on cards of one model: on the tightest node that takes all, else on those that take
        most.
        """
        levels, left = self._levels.get(model, ()), part.replicas
        if self.cards.get(model, 0) < part.replicas * part.cards:
            return None
        out: list[Move] = []
        whole = part.cards * left // WHOLE
        for level in levels[whole:]:
            for place in level:
                if self._most(part, place) >= left:
                    return self._taken([_times(part, place, left)])
        for level in levels[: part.cards // WHOLE - 1 if part.cards >= WHOLE else None : -1] if left > 1 else ():
            for place in level:
                many = min(left, self._most(part, place))
                if many:
                    out.append(_times(part, place, many))
                    left -= many
                if not left:
                    return self._taken(out)
        return None

    def _taken(self, moves: list[Move]) -> list[Move]:
        self.take(moves)
        return moves

    def releases_needed(self, gang: Gang, releases: Iterable[Sequence[Move]]) -> tuple[int, "FreeSums", Charges] | None:
        """Return after how many releases the gang fits, what is then left beside it, and its charges; None: not even
        after all.

        By sums over all nodes, and for cards by how many replicas each node takes. O(replicas released).
        """
        counts = [_Count(self, part) for part in gang if part.cards]
        sums = FreeSums(self.cards.copy(), self.cpu, self.memory)
        for count, moves in enumerate(chain(((),), releases)):
            for place, cards, cpu, memory in moves:
                sums.add(self._plan[place][0], cards, cpu, memory)
                for one in counts:
                    one.release(place, cards)
            cards_free, cpu_free, memory_free = sums.cards, sums.cpu, sums.memory
            if all(one.enough for one in counts) and sums.takes(gang):
                taken = {model: many - sums.cards[model] for model, many in cards_free.items()}
                return count, sums, _charges(taken, cpu_free - sums.cpu, memory_free - sums.memory)
        return None

    def _most(self, part: Part, place: int) -> int:
        if part.places is not None and place not in part.places:
            return 0
        node = self._plan[place][1]
        most = part.replicas
        if part.cards:
            most = min(most, self._cards[place] // part.cards)
        if part.cpu:
            most = min(most, self._cpu[node] // part.cpu)
        if part.memory:
            most = min(most, self._memory[node] // part.memory)
        return max(most, 0)


def charges_of(gang: Gang) -> Charges:
    """Return what a gang is charged for wherever it runs: cards of a model where it can get no other. O(roles)."""
    cards: dict[str, int] = {}
    for part in gang:
        model = part.models[0] if len(part.models) == 1 else NO_CARDS
        cards[model] = cards.get(model, 0) + part.replicas * part.cards
    return _charges(
        cards, sum(part.replicas * part.cpu for part in gang), sum(part.replicas * part.memory for part in gang)
    )


def _charges(cards: Mapping[str, int], cpu: int, memory: int) -> Charges:
    """Return what is charged for cards by model, NO_CARDS where that is not known, thousandths of cores and MiB."""
    named = [(f"gpu:{model}", many) for model, many in cards.items() if model]
    charges = ("gpu", sum(cards.values())), ("cpu", cpu), ("memory_mib", memory), *named
    return (*(charge for charge in charges if charge[1]), ONE_JOB)


def _times(part: Part, place: int, many: int) -> Move:
    return place, many * part.cards, many * part.cpu, many * part.memory


@dataclass(slots=True)
class FreeSums:
    """What all machines have free together: thousandths of cards by model, thousandths of cores, MiB."""

    cards: dict[str, int]
    cpu: int
    memory: int

    def add(self, model: str, cards: int, cpu: int, memory: int) -> None:
        """Add what one gives back."""
        if cards:
            self.cards[model] += cards
        self.cpu += cpu
        self.memory += memory

    def has(self, gang: Gang) -> bool:
        """Return whether a gang could be taken off. O(roles)."""
        return FreeSums(self.cards, self.cpu, self.memory).takes(gang)

    def takes(self, gang: Gang) -> bool:
        """Take what a gang asks for off the sums, or leave them as they are and return False. O(roles)."""
        cards, cpu, memory = self.cards, self.cpu, self.memory
        for part in gang:
            cpu -= part.replicas * part.cpu
            memory -= part.replicas * part.memory
            if part.cards:
                model = max(part.models, key=lambda name: cards.get(name, 0), default=NO_CARDS)
                if cards.get(model, 0) < part.replicas * part.cards:
                    return False
                cards = {**cards, model: cards[model] - part.replicas * part.cards}
        if (cpu < 0 and any(part.cpu for part in gang)) or (memory < 0 and any(part.memory for part in gang)):
            return False
        self.cards, self.cpu, self.memory = cards, cpu, memory
        return True


class _Count:
    """How many replicas of a role the nodes take, by their cards, as gangs end."""

    def __init__(self, yard: Yard, part: Part) -> None:
        self._part, self._yard = part, yard
        self._later: dict[int, int] = {}
        self._count = sum(
            len(level) * (at * WHOLE // part.cards)
            for model in part.models
            for at, level in enumerate(yard.levels_of(model))
        )

    @property
    def enough(self) -> bool:
        return self._count >= self._part.replicas

    def release(self, place: int, cards: int) -> None:
        part = self._part
        if not cards or self._yard.model_of(place) not in part.models:
            return
        before = self._later.get(place)
        if before is None:
            before = self._yard.cards_of(place)
        self._later[place] = before + cards
        self._count += (before + cards) // part.cards - before // part.cards
