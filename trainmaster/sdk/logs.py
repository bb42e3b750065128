"""The log of one task in one attempt, at a `path` of the API: whole, its end, followed, searched; and those of several
replicas followed at once. Synchronous.

Invariant: what is followed comes once and in order, also when the connection breaks in between.
"""

import queue
import threading
import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from trainmaster import answers
from trainmaster.core.errors import TrainmasterError, Unavailable
from trainmaster.messages.server import client
from trainmaster.sdk.lost import RECONNECT_S, Lost

if TYPE_CHECKING:
    from trainmaster.sdk.jobs import Job
    from trainmaster.sdk.transport import Transport

WINDOW: Final = 1 << 20
"""Bytes asked for at once."""
HITS: Final = 1000
"""Lines asked for at once."""
MOST_FOLLOWED: Final = 64
"""Replicas that are followed at once: each takes a connection."""
HELD: Final = 10_000
"""Lines that wait for whoever reads; then the threads wait, too."""


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


def follow_lines(
    job: "Job", replicas: Sequence[str], *, attempt: int | str = "last", tail: int | None = None
) -> Iterator[tuple[str, str]]:
    """Yield (replica, line without its end) of all `replicas` as they come, until the last one has ended. A thread for
    each reads.

    `tail`: begin with that many last lines of each. Raises what the server refused of any of them, and Unavailable.
    """
    lines: queue.Queue[tuple[str, str | TrainmasterError | None]] = queue.Queue(HELD)
    for name in replicas:
        work = threading.Thread(
            target=_read, args=(type(job)(job._client, job.seen), name, attempt, tail, lines), daemon=True
        )
        work.start()
    left = len(replicas)
    while left:
        name, said = lines.get()
        if isinstance(said, TrainmasterError):
            raise said
        if said is None:
            left -= 1
        else:
            yield name, said


def _read(
    job: "Job",
    name: str,
    attempt: int | str,
    tail: int | None,
    lines: "queue.Queue[tuple[str, str | TrainmasterError | None]]",
) -> None:
    begun = ""
    try:
        for piece in job.logs(name, attempt=attempt, follow=True, tail=tail):
            *whole, begun = (begun + piece).split("\n")
            for line in whole:
                lines.put((name, line))
        if begun:
            lines.put((name, begun))
        lines.put((name, None))
    except TrainmasterError as error:
        lines.put((name, error))
