"""Who may keep a connection when there are many: each is a file of the server, and files run out.

A connection is a stranger's until a credential has come over it, then that person's. Whoever comes is let in; when
there are too many of one address, of all strangers, or of one person, the one of them that was silent longest is
closed. So nobody is locked out by those who hold connections and say nothing, and files are left for everything else. A
trusted proxy is no one's address: who is behind it is unknown before a head is read, so that its connections count
among all strangers only. A connection of another server of this home is of whoever the last request over it is from.
One sweep looks at all of them now and then, which costs a request nothing. Invariant: never more than `most` at a time.
"""

import asyncio
import resource
from collections import OrderedDict
from collections.abc import Callable
from typing import Final, Protocol

from trainmaster.api.socket.proxies import neighbourhood

SWEEP_S: Final = 2.0
LEAST_SPARE: Final = 64


class Peer(Protocol):
    """What is at this end of a connection."""

    def hang_up(self) -> None:
        """Close it at once."""

    def look(self, now: float) -> None:
        """See whether the other end keeps the server waiting. `now`: the loop's time."""


class Seat:
    """A connection. `group`: whose it is, an address or a person."""

    __slots__ = ("group", "known", "line", "mates")

    def __init__(self, line: Peer, group: str) -> None:
        self.line, self.group, self.known = line, group, False
        self.mates: Seats | None = None  # all seats of its group, this one among them; None once it is gone


Seats = OrderedDict[Seat, None]
"""The one that was silent longest comes first."""


def files() -> int:
    """Return how many files this process may have open."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    return 1 << 20 if most == resource.RLIM_INFINITY else most


class Connections:
    """One object per server; used in the loop's thread. `most`: an eighth of all files and at least 64 are left for
    others.

    `many`: whether many come from an address, because it is a proxy's.
    """

    def __init__(self, most: int | None = None, many: Callable[[str], bool] = lambda address: False) -> None:
        self._many = many
        allowed = files()
        self.most = most or max(16, allowed - max(LEAST_SPARE, allowed // 8))
        self._strangers: Seats = OrderedDict()
        self._groups: dict[tuple[bool, str], Seats] = {}
        self._count = 0
        self._sweep: asyncio.TimerHandle | None = None

    def __len__(self) -> int:
        """Return how many there are."""
        return self._count

    def come(self, line: Peer, address: str) -> Seat:
        """Take in a connection from `address`; another one is closed for it when there are too many."""
        seat = Seat(line, neighbourhood(address))
        self._count += 1
        self._strangers[seat] = None
        self._join(seat, self.most if self._many(address) else self.most // 4)
        if len(self._strangers) > self.most // 2 or self._count > self.most:
            self._close_first(self._strangers)
        if self._sweep is None:
            self._sweep = asyncio.get_running_loop().call_later(SWEEP_S, self._look)
        return seat

    def heard(self, seat: Seat) -> None:
        """Note that something came over it."""
        if seat.mates is None:
            return
        seat.mates.move_to_end(seat)
        if not seat.known:
            self._strangers.move_to_end(seat)

    def belongs(self, seat: Seat, person: str) -> None:
        """Note that `person` has shown a credential over it."""
        if seat.known and seat.group == person:
            return
        if not self._leave(seat):
            return
        self._strangers.pop(seat, None)
        seat.known, seat.group = True, person
        self._join(seat, self.most // 4)

    def hands_on(self, seat: Seat, address: str) -> None:
        """Note that what comes over it now is from a stranger at `address`: another server of ours hands it on."""
        group = neighbourhood(address)
        if (not seat.known and seat.group == group) or not self._leave(seat):
            return
        seat.known, seat.group = False, group
        self._strangers[seat] = None
        self._join(seat, self.most if self._many(address) else self.most // 4)
        if len(self._strangers) > self.most // 2:
            self._close_first(self._strangers)

    def gone(self, seat: Seat) -> None:
        """Forget it. Any number of times."""
        if self._leave(seat):
            self._strangers.pop(seat, None)
            self._count -= 1

    def _join(self, seat: Seat, most: int) -> None:
        mine = self._groups.setdefault((seat.known, seat.group), OrderedDict())
        mine[seat], seat.mates = None, mine
        if len(mine) > most:
            self._close_first(mine)

    def _leave(self, seat: Seat) -> bool:
        mine = seat.mates
        if mine is None:
            return False
        del mine[seat]
        seat.mates = None
        if not mine:
            del self._groups[seat.known, seat.group]
        return True

    def _close_first(self, seats: Seats) -> None:
        seat = next(iter(seats), None)
        if seat is not None:
            self.gone(seat)
            seat.line.hang_up()

    def _look(self) -> None:
        loop = asyncio.get_running_loop()
        now = loop.time()
        for seat in [seat for seats in self._groups.values() for seat in seats]:
            seat.line.look(now)
        self._sweep = loop.call_later(SWEEP_S, self._look) if self._count else None
