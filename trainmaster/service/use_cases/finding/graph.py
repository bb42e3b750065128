"""What something was made of and what was made of it, as a graph: grown step by step from the middle, bounded, and laid
out in layers from left to right. Pure: what stands beside what is asked of whoever knows it.

Only ancestors and descendants are drawn, not what else an ancestor was used for. Invariants: there is nothing in it
that was not told; at most `most` nodes on each side; every edge leads to a higher layer, whatever was told; what was
not drawn is said of the node behind which it would stand.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

Look = Callable[[str, int], Sequence[tuple[str, str]]]
"""Returns the neighbors of a node on one side, at most so many: (node, as what)."""


@dataclass(frozen=True, slots=True)
class GraphEdge:
    """From what was used to what came of it. `how`: as what."""

    source: str
    target: str
    how: str


@dataclass(frozen=True, slots=True)
class Bounds:
    """How far it grows: `depth` steps, `most` nodes on each side, `each` neighbors of a node on one side."""

    depth: int
    most: int
    each: int


@dataclass(slots=True)
class Drawn:
    """The graph. `layers`: of each node, 0 is the middle, below it what that was made of. `more`: nodes behind which
    something is not drawn.
    """

    layers: dict[str, int]
    edges: list[GraphEdge] = field(default_factory=list)
    more: set[str] = field(default_factory=set)


def grow(center: str, before: Look, after: Look, bounds: Bounds) -> Drawn:
    """Return the graph around `center`. O(nodes) looks."""
    drawn = Drawn({center: 0})
    for look, sign in ((before, -1), (after, 1)):
        steps, more = _side(center, look, bounds, frozenset(drawn.layers))
        drawn.more |= more
        far = _distances(center, steps)
        drawn.layers.update({key: sign * distance for key, distance in far.items()})
        for near, told in steps.items():
            for other, how in told:
                drawn.edges.append(GraphEdge(*((near, other) if sign > 0 else (other, near)), how))
    return drawn


Steps = dict[str, list[tuple[str, str]]]


def _side(center: str, look: Look, bounds: Bounds, taken: frozenset[str]) -> tuple[Steps, set[str]]:
    """Return what was found on one side: of each node those behind it, and the nodes behind which there is more."""
    steps: Steps = {center: []}
    more: set[str] = set()
    level = [center]
    for step in range(bounds.depth + 1):
        following: list[str] = []
        for key in level:
            most = bounds.each if step < bounds.depth else 0
            told = look(key, most + 1)
            if len(told) > most:
                more.add(key)
            for other, how in told[:most]:
                if other in taken:
                    continue
                if other not in steps:
                    if len(steps) > bounds.most:
                        more.add(key)
                        continue
                    steps[other] = []
                    following.append(other)
                if all(other != known for known, _ in steps[key]):
                    steps[key].append((other, how))
        level = following
    _without_circles(center, steps)
    return steps, more


def _without_circles(center: str, steps: Steps) -> None:
    """Leave out what leads back to where it came from: what is told of clocks that were wrong could."""
    open_, done = {center}, set[str]()
    path = [(center, iter(list(steps[center])))]
    while path:
        key, rest = path[-1]
        told = next(rest, None)
        if told is None:
            open_.discard(key)
            done.add(key)
            path.pop()
        elif told[0] in open_:
            steps[key].remove(told)
        elif told[0] not in done:
            open_.add(told[0])
            path.append((told[0], iter(list(steps[told[0]]))))


def _distances(center: str, steps: Steps) -> dict[str, int]:
    """Return of each node how far it is from the middle on the longest way. Needs no circle to be there."""
    waits = dict.fromkeys(steps, 0)
    for told in steps.values():
        for other, _ in told:
            waits[other] += 1
    far, ready = dict.fromkeys(steps, 0), [center]
    while ready:
        key = ready.pop()
        for other, _ in steps[key]:
            far[other] = max(far[other], far[key] + 1)
            waits[other] -= 1
            if not waits[other]:
                ready.append(other)
    return far
