"""Which of the nodes that can take a replica it goes to: the administrator's choice. Pure.

best-fit: fewest cards left free, then fewest cores and memory, then the lowest position. The default: it needs to know
nothing but the request, and leaves whole nodes whole for gangs.
worst-fit: most free cards first.
fgd: fragmentation gradient descent (Weng et al., "Beware of Fragmentation", USENIX ATC 2023): the node on which the
expected fragmentation grows least. The fragmentation of a node is the amount of free card time that a request drawn
from the recent mix could not use there: all that is free when the request does not fit, else the cards too small for
it. Ties go to best fit. Amounts are integers (thousandths of a card x weight), so that equal states compare equal.
"""

import math
from collections import Counter, deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal

from trainmaster.core.records import Role
from trainmaster.queue.placing.capacity import Free
from trainmaster.queue.placing.need import WHOLE, Need

Rule = Literal["best-fit", "worst-fit", "fgd"]

Kind = tuple[int, int, int, int, int, str | None]
"""A kind of request: weight, then per replica thousandths of a core, MiB, cards, thousandths of each, their model."""

Mix = tuple[Kind, ...]
"""What is asked for of late."""

_KINDS: Final = 64
"""Kinds that a mix tells apart at most: the most frequent ones."""

RECENT: Final = 1000
"""Gangs whose roles make the mix: those that were asked for last."""

_RENEWED_S, _RENEWED_SHARE = 300.0, 0.1
"""A mix serves at least so long, and until so large a share of those gangs is new."""

_STATES: Final = 200_000
"""States of nodes whose fragmentation is remembered at most."""


@dataclass(frozen=True, slots=True)
class Packing:
    """How replicas are packed. `rest`: the rule for the roles of a gang behind its hardest one.

    With `rest` worst-fit the remainder of a gang of whole nodes takes the roomiest of the other nodes, as some other
    schedulers do. `mix`: what is asked for of late (`mix_of`), used by fgd; without it fgd is best fit.
    """

    rule: Rule = "best-fit"
    rest: Rule | None = None
    mix: Mix = ()


BEST_FIT: Final = Packing()


def mix_of(asked: Iterable[tuple[Role, int]]) -> Mix:
    """Return the mix of these roles, each with how many replicas of it were asked for. Roles without cards are left
    out.

    What is remembered of one mix does not serve another: see `Recent`. O(roles log roles).
    """
    counts: Counter[Need] = Counter()
    for role, times in asked:
        if role.resources.gpu:
            counts[Need.of(role)._replace(ports=())] += times
    most = sorted(counts.items(), key=lambda item: (-item[1], item[0][:4], item[0].model or ""))[:_KINDS]
    return tuple((n, need.cpu, need.memory_mib, need.gpu, need.milli, need.model) for need, n in most)


class Recent:
    """The gangs asked for last, whatever became of them since, and the mix of them, renewed seldom.

    Invariant: a mix follows from what was noted and from when it was asked for.
    """

    def __init__(self, asked: Iterable[Sequence[Role]] = ()) -> None:
        self._gangs = deque(asked, RECENT)
        self._new, self._renewed_at = len(self._gangs), -math.inf
        self._mix: Mix = ()

    def note(self, roles: Sequence[Role]) -> None:
        """Note one more gang."""
        self._gangs.append(roles)
        self._new += 1

    def mix(self, now: float) -> Mix:
        """Return the mix of late. O(RECENT roles) when it is renewed, else O(1)."""
        if now - self._renewed_at >= _RENEWED_S and self._new > _RENEWED_SHARE * len(self._gangs):
            self._mix = mix_of((role, role.replicas) for roles in self._gangs for role in roles)
            self._new, self._renewed_at = 0, now
        return self._mix


class Fragmentation:
    """The expected fragmentation of nodes under one mix, remembered per distinct state of a node and its cards."""

    def __init__(self, mix: Mix) -> None:
        self._mix = mix
        self._amounts: dict[tuple[str, int, int, int, tuple[int, ...]], int] = {}
        self._growths: dict[tuple[object, ...], int] = {}

    def growth(self, free: Free, model: str, asked: tuple[int, int, int, int], card: int = -1) -> int:
        """Return how much the fragmentation of the cards of `model` grows when this is taken from `free`.

        `asked`: thousandths of a core, MiB, cards, thousandths of each. `card`: the shared card that is taken from, -1:
        none.
        """
        cards = len(free.cards.get(model, ())) if model else tuple((m, len(whole)) for m, whole in free.cards.items())
        key = (model, free.cpu, free.memory_mib, cards, free.parts, asked, card)
        known = self._growths.get(key)
        if known is None:
            known = self._growths[key] = self._growth(free, model, asked, card)
            if len(self._growths) > _STATES:
                self._growths.clear()
        return known

    def _growth(self, free: Free, model: str, asked: tuple[int, int, int, int], card: int) -> int:
        if not model:  # no cards taken: cards of every model lose cores and memory
            return sum(self.growth(free, other, asked) for other in free.cards)
        cpu, memory, gpu, milli = asked
        whole = len(free.cards.get(model, ()))
        parts = [part for part in free.parts if free.node.gpus[part[0]] == model]
        before = self._amount(model, free.cpu, free.memory_mib, whole, [left for _, left in parts])
        after = [left - milli if i == card else left for i, left in parts]
        if card < 0:
            whole -= gpu
            after += [WHOLE - milli] if milli < WHOLE and gpu else []
        return self._amount(model, free.cpu - cpu, free.memory_mib - memory, whole, after) - before

    def _amount(self, model: str, cpu: int, memory: int, whole: int, parts: list[int]) -> int:
        parts.sort()
        key = (model, cpu, memory, whole, tuple(parts))
        known = self._amounts.get(key)
        if known is None:
            if len(self._amounts) > _STATES:
                self._amounts.clear()
            known = self._amounts[key] = self._expected(model, cpu, memory, whole, parts)
        return known

    def _expected(self, model: str, cpu: int, memory: int, whole: int, parts: list[int]) -> int:
        total = whole * WHOLE + sum(parts)
        largest = WHOLE if whole else parts[-1] if parts else 0
        out = 0
        for weight, asks_cpu, asks_memory, gpu, milli, wanted in self._mix:
            fits = wanted in (None, model) and asks_cpu <= cpu and asks_memory <= memory
            if fits and (whole >= gpu if milli == WHOLE else largest >= milli):
                out += weight * sum(left for left in parts if left < milli)
            else:
                out += weight * total
        return out


@lru_cache(maxsize=4)
def fragmentation(mix: Mix) -> Fragmentation:
    """Return what is known of the fragmentation under `mix`: kept between passes, since it depends on nothing else."""
    return Fragmentation(mix)
