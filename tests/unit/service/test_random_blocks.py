"""Random bytes of blocks: nothing is handed out twice, whoever asks and however many at once."""

import os
from concurrent.futures import ThreadPoolExecutor
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from trainmaster.service.helpers.random_blocks import RandomBlocks


class Stream:
    """Draws pseudo-random bytes, and keeps them."""

    def __init__(self) -> None:
        self.drawn, self._random = b"", Random(1)

    def __call__(self, count: int) -> bytes:
        self.drawn += (drawn := self._random.randbytes(count))
        return drawn


@given(st.lists(st.integers(8, 300), max_size=60))
def test_what_is_handed_out_is_a_piece_of_its_own_of_what_was_drawn(counts: list[int]) -> None:
    stream, at = Stream(), 0
    blocks = RandomBlocks(stream, 64)
    for count in counts:
        taken = blocks(count)
        found = stream.drawn.find(taken, at)
        assert len(taken) == count
        assert found >= at, "behind everything that was handed out before"
        at = found + count


def test_threads_get_different_bytes() -> None:
    blocks = RandomBlocks(os.urandom, 4096)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: blocks(16), range(20_000)))
    assert len(set(found)) == len(found)
