"""The order in which the nodes that have room for some replicas are tried: tightest, roomiest, or least fragmenting.
Pure.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from heapq import merge
from itertools import chain

from trainmaster.queue.placing.buckets import ANY, Buckets
from trainmaster.queue.placing.capacity import Room
from trainmaster.queue.placing.need import NOTHING, WHOLE, Need
from trainmaster.queue.placing.packing import Kind, Rule, fragmentation


@dataclass(slots=True)
class Choice:
    """Where replicas of one role go. `models`: the card models to look at, preferred ones first on ties."""

    need: Need
    models: tuple[str, ...]
    rule: Rule
    mix: tuple[Kind, ...]

    def most_on_one_node(self, view: Buckets) -> int:
        """Return an upper bound of the replicas that one node takes."""
        if self.need.fixed:
            return 1
        if not self.need.gpu:
            return 1 << 30
        return max((view.most_cards(model) for model in self.models), default=0) // self.need.gpu

    def tightest(self, view: Buckets, many: int, span: tuple[int, int]) -> Iterator[tuple[int, str]]:
        """Yield (position, model) of the nodes that take `many` replicas: fewest free cards, cores, memory first."""
        need = self.need
        cpu, memory = need.cpu * many or NOTHING, need.memory_mib * many or NOTHING
        if not need.gpu:
            return ((place, ANY) for _, place in view.find(ANY, span[0], cpu, memory, span[1]))
        if len(self.models) == 1:
            model = self.models[0]
            return ((place, model) for _, place in view.find(model, need.gpu * many, cpu, memory))
        most = max((view.most_cards(model) for model in self.models), default=0)
        return (
            (place, model)
            for count in range(need.gpu * many, most + 1)
            for model in self.models
            for _, place in view.find(model, count, cpu, memory, count)
        )

    def nodes(self, room: Room, view: Buckets, many: int, span: tuple[int, int]) -> Iterator[tuple[int, str]]:
        """Yield (position, model) of the nodes that take `many` replicas, in the order of the rule."""
        found = self.tightest(view, many, span)
        if self.rule == "worst-fit" and self.need.gpu:
            return iter(sorted(found, key=lambda at: -len(room.node(at[0]).cards[at[1]])))
        if self.rule == "fgd" and self.mix:
            known, need = fragmentation(self.mix), self.need
            asked = (need.cpu * many, need.memory_mib * many, need.gpu * many, WHOLE)
            return iter(sorted(found, key=lambda at: known.growth(room.node(at[0]), at[1], asked)))
        return found

    def cards(self, room: Room, view: Buckets) -> Iterator[tuple[int, int]]:
        """Yield (position, card) for one replica that asks for a share of a card: cards in use first under best fit."""
        need = self.need
        cpu, memory = need.cpu or NOTHING, need.memory_mib or NOTHING
        shared = merge(*(view.find_shared(model, need.milli, cpu, memory) for model in self.models))
        whole = self.tightest(view, 1, (0, 0))
        if self.rule == "fgd" and self.mix:
            return self._least_fragmenting(room, [(s[3], s[4]) for s in shared], list(whole))
        used = ((place, card) for _, _, _, place, card in shared)
        return chain(used, ((place, room.node(place).cards[model][0]) for place, model in whole))

    def _least_fragmenting(
        self, room: Room, shared: list[tuple[int, int]], whole: list[tuple[int, str]]
    ) -> Iterator[tuple[int, int]]:
        known, asked = fragmentation(self.mix), (self.need.cpu, self.need.memory_mib, 1, self.need.milli)
        options: list[tuple[int, int, int, int]] = []
        for place, card in shared:
            free = room.node(place)
            options.append((known.growth(free, free.node.gpus[card], asked, card), len(options), place, card))
        for place, model in whole:
            free = room.node(place)
            options.append((known.growth(free, model, asked), len(options), place, free.cards[model][0]))
        return ((place, card) for _, _, place, card in sorted(options))
