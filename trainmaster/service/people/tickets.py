"""Tickets: leave to ask for one address once, for what cannot send a header: downloads and the sockets of a browser.

A ticket stands for the key of the session that took it, and needs that session's cookie beside it. In memory, bounded:
it lives for seconds. Invariant: none is good twice, nor for another address; only their digests are kept.
"""

import hmac
import secrets
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final
from urllib.parse import parse_qsl, unquote

from trainmaster.core.errors import RateLimited, Unauthenticated
from trainmaster.messages.server import people
from trainmaster.store.people.accounts import digest

TICKET_S: Final = 30.0
MOST_EACH: Final = 100
"""Tickets of one session that are not used yet."""
PARAMETER: Final = "ticket"


@dataclass(frozen=True, slots=True)
class _Ticket:
    session: str
    cookie: str  # its digest
    address: str
    until: float


class Tickets:
    """One per server. `clock` returns seconds since the epoch."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._held: OrderedDict[str, _Ticket] = OrderedDict()  # by digest, oldest first

    def give(self, session: str, cookie: str, address: str) -> str:
        """Return a ticket to `address` for the session with this mark and cookie. Raises RateLimited."""
        now = self._clock()
        while self._held and not 0 < next(iter(self._held.values())).until - now <= TICKET_S:
            self._held.popitem(last=False)
        if sum(held.session == session for held in self._held.values()) >= MOST_EACH:
            raise RateLimited(people.too_many_tickets(MOST_EACH))
        ticket = secrets.token_urlsafe(32)
        self._held[digest(ticket)] = _Ticket(session, digest(cookie), canonical(address), now + TICKET_S)
        return ticket

    def take(self, ticket: str, cookie: str, address: str) -> str:
        """Return the mark of the session that `ticket` stands for; it is used up. Raises Unauthenticated."""
        held = self._held.pop(digest(ticket), None)
        good = (
            held is not None
            and 0 < held.until - self._clock() <= TICKET_S
            and hmac.compare_digest(held.cookie, digest(cookie))
            and held.address == canonical(address)
        )
        if held is None or not good:
            raise Unauthenticated(people.ticket_not_good())
        return held.session


def canonical(address: str) -> str:
    """Return an address with its parameters in order: two of the same meaning are the same text."""
    path, _, query = address.partition("?")
    return repr((unquote(path), sorted(parse_qsl(query, keep_blank_values=True))))
