"""Ports for the replicas of a gang that is being placed: blocks of free numbers per host address. Pure.

Invariant: no port is given twice, none that is held or busy, and the room that is looked at is left untouched.
"""

from collections.abc import Iterable, Sequence

from trainmaster.core.records import PortRequest, port_space
from trainmaster.queue.placing.capacity import Room

Given = tuple[tuple[str, tuple[int, ...]], ...]
"""Ports by label, as an assignment holds them."""


class PortChoice:
    """What has been given so far to one gang."""

    def __init__(self, room: Room) -> None:
        self._room = room
        self._taken: dict[str, set[int]] = {}
        self._from: dict[tuple[str, int, int], int] = {}
        """Below it lies no free block of a count in a range on a host: what is taken stays so, and nobody looks there
        again.
        """

    def copy(self) -> "PortChoice":
        """Return a copy to try things on."""
        other = PortChoice(self._room)
        other._taken = {host: set(ports) for host, ports in self._taken.items()}
        other._from = dict(self._from)
        return other

    def choose(self, host: str, requests: Sequence[PortRequest]) -> Given | None:
        """Return ports for each request on `host` and take them, or None when one is not to be had.

        All that one gang takes of a host costs as much as its ports are many: each search goes on where the last one
        ended.
        """
        if not requests:
            return ()
        space = port_space(host)
        taken, known = self._taken.setdefault(space, set()), dict(self._from)
        held, busy = self._room.ports_of(host), self._room.busy_ports
        mine: set[int] = set()
        out: list[tuple[str, tuple[int, ...]]] = [(request.label, ()) for request in requests]
        for at, request in sorted(enumerate(requests), key=lambda item: item[1].begin_at == 0):  # fixed ones first
            block = self._block(request, space, (taken, held, busy, mine))
            if block is None:
                self._from = known  # not all fit: nothing is taken
                return None
            mine.update(block)
            out[at] = (request.label, tuple(block))
        taken |= mine
        return tuple(out)

    def _block(self, request: PortRequest, space: str, taken: Sequence[set[int] | frozenset[int]]) -> range | None:
        if request.begin_at:
            block = range(request.begin_at, request.begin_at + request.count)
            return block if _is_free(block, taken) else None
        room, count = self._room, request.count
        for first, last in (
            (room.port_begin, room.port_last),
            (room.port_first, min(room.port_begin + count - 2, room.port_last)),
        ):
            begin = self._from.get((space, count, first), first)
            found = _search(begin, last, count, taken)
            self._from[space, count, first] = found.start if found is not None else max(begin, last - count + 2)
            if found is not None:
                return found
        return None


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
