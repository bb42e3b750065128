"""The log of one task in one attempt, at a `path` of the API: whole, its end, followed, searched. Synchronous.

Invariant: what is followed comes once and in order, also when the connection breaks in between.
"""

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from trainmaster import answers
from trainmaster.core.errors import Unavailable
from trainmaster.messages.server import client
from trainmaster.sdk.lost import RECONNECT_S, Lost

if TYPE_CHECKING:
    from trainmaster.sdk.transport import Transport

WINDOW: Final = 1 << 20
"""Bytes asked for at once."""
HITS: Final = 1000
"""Lines asked for at once."""


def read_whole(http: "Transport", path: str) -> Iterator[str]:
    """Yield the log from its beginning to where it ends now, in pieces. Raises NotFound, Unavailable."""
    offset = 0
    while True:
        window = http.read(answers.LogWindowView, "GET", path, params={"offset": offset, "limit": WINDOW})
        yield window.text
        if window.next_offset <= offset or window.next_offset >= window.size:
            return
        offset = window.next_offset


def read_last(http: "Transport", path: str, tail: int) -> answers.LogWindowView:
    """Return the last `tail` lines. Raises NotFound, Unavailable."""
    return http.read(answers.LogWindowView, "GET", path, params={"tail": tail})


def follow(http: "Transport", path: str, offset: int) -> Iterator[str]:
    """Yield the log from `offset` on, as it comes, until the task has ended. Raises NotFound, Unavailable."""
    lost_at: float | None = None
    while True:
        try:
            for item in http.events(f"{path}/follow", {"offset": offset}):
                lost_at = None
                if item.event == "end":
                    return
                if item.event == "log":
                    piece = http.read_as(answers.LogPiece, item.data)
                    offset = piece.next_offset
                    yield piece.text
        except Lost as error:
            lost_at = lost_at or time.monotonic()
            if time.monotonic() - lost_at > RECONNECT_S:
                raise Unavailable(client.server_went_away(http.url)) from error
        time.sleep(0.2)


def search(http: "Transport", path: str, text: str, regex: bool) -> Iterator[answers.LogHit]:
    """Yield the lines that contain `text`, or match it. Raises NotFound, InvalidSpec, Unavailable."""
    offset = 0
    while True:
        params = {"q": text, "regex": regex, "offset": offset, "limit": HITS}
        found = http.read(answers.LogHits, "GET", f"{path}/search", params=params)
        yield from found.items
        if found.done or (found.next_offset <= offset and not found.items):
            return
        offset = found.next_offset
