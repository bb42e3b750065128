"""The logs of several replicas of a job, followed at once: whole lines, each with the replica that wrote it.

A thread for each replica reads; whoever iterates gets lines in the order in which they came here. Invariant: of each
replica every line comes once and in order.
"""

import queue
import threading
from collections.abc import Iterator, Sequence
from typing import Final

from trainmaster.core.errors import TrainmasterError
from trainmaster.sdk.jobs import Job

MOST: Final = 64
"""Replicas that are followed at once: each takes a connection."""
_HELD: Final = 10_000
"""Lines that wait for whoever reads; then the threads wait, too."""


def follow_lines(
    job: Job, replicas: Sequence[str], *, attempt: int | str = "last", tail: int | None = None
) -> Iterator[tuple[str, str]]:
    """Yield (replica, line without its end) of all `replicas` as they come, until the last one has ended.

    `tail`: begin with that many last lines of each. Raises what the server refused of any of them, and Unavailable.
    """
    lines: queue.Queue[tuple[str, str | TrainmasterError | None]] = queue.Queue(_HELD)
    for name in replicas:
        work = threading.Thread(
            target=_read, args=(Job(job._client, job.seen), name, attempt, tail, lines), daemon=True
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
    job: Job,
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
