"""Which ports of this machine something else listens on. The queue knows only what the platform itself gave out.

A port found busy is left alone for AGAIN_S and then tried again. Between this look and the task's own bind somebody may
be faster; servers that share a machine therefore begin at different places of the range (`first_for`).
"""

import hashlib
import socket
from collections.abc import Iterable
from typing import Final

from trainmaster.core.records import Assignment

AGAIN_S: Final = 30.0


def first_for(home: str, first: int, last: int) -> int:
    """Return where in [first, last] the server of `home` begins to give out ports: always the same for one home."""
    return first + int.from_bytes(hashlib.sha256(home.encode()).digest()[:4], "big") % (last - first + 1)


def is_free(port: int) -> bool:
    """Return whether a program could listen on `port` of all addresses now. Two system calls, no waiting."""
    for family, address in ((socket.AF_INET, "0.0.0.0"), (socket.AF_INET6, "::")):
        try:
            with socket.socket(family, socket.SOCK_STREAM) as probe:
                if family == socket.AF_INET6:
                    probe.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                probe.bind((address, port))
        except OSError as error:
            if family == socket.AF_INET6 and error.errno in (97, 99):  # this machine has no IPv6
                continue
            return False
    return True


class BusyPorts:
    """What was found busy, and until when that is believed."""

    def __init__(self) -> None:
        self._until: dict[int, float] = {}

    def busy_at(self, now: float) -> frozenset[int]:
        """Return the ports believed busy."""
        self._until = {port: until for port, until in self._until.items() if until > now}
        return frozenset(self._until)

    def look(self, placements: Iterable[tuple[Assignment, ...]], now: float) -> bool:
        """Try every port of `placements`; remember the busy ones. Return whether there were any."""
        wanted = [port for placed in placements for a in placed for _, numbers in a.ports for port in numbers]
        busy = [port for port in wanted if not is_free(port)]
        self._until.update(dict.fromkeys(busy, now + AGAIN_S))
        return bool(busy)
