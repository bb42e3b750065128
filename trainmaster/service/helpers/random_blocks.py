"""Random bytes for ids, drawn a block at a time."""

from collections.abc import Callable
from threading import Lock


class RandomBlocks:
    """Hands out random bytes of blocks that it draws from `draw`, which is ``os.urandom`` outside tests: whoever asks
    the system lets another thread have the interpreter meanwhile, and gets it back late. Nothing is handed out twice.
    """

    def __init__(self, draw: Callable[[int], bytes], block: int = 4096) -> None:
        self._draw, self._size, self._lock = draw, block, Lock()
        self._block, self._used = b"", 0

    def __call__(self, count: int) -> bytes:
        """Return `count` bytes."""
        with self._lock:
            if self._used + count > len(self._block):
                self._block, self._used = self._draw(max(count, self._size)), 0
            self._used += count
            return self._block[self._used - count : self._used]
