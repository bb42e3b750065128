"""How far a mirror has come: by that its node, and a stop, judge whether it is still worth waiting for it."""

import time


class MirrorProgress:
    """How far one part has come with what is brought, and with what is fetched at the end, over all its connections.

    What a further connection does again is no progress. `at`: when there was some, a monotonic clock.
    """

    def __init__(self) -> None:
        self.at = 0.0
        self._reached: dict[tuple[str, str], int] = {}

    def reached(self, op: str, name: str, to: int) -> bool:
        """Take in that `op` of a file came to byte `to`; return whether that is further than ever."""
        further = to > self._reached.get((op, name), -1)
        if further:
            self.at, self._reached[op, name] = time.monotonic(), to
        return further
