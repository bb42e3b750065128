"""What the catalogue costs: transfers of data sets beside the system's own tools, lists of many assets, a sweep,
and curves over each other.
"""

from collections.abc import Iterator

from bench import assets, overlay, sweeps, transfers
from bench.record import Record
from bench.stage import Stage


def run(stage: Stage, quick: bool) -> Iterator[Record]:
    """Yield the records."""
    yield from assets.run(stage, quick)
    yield from transfers.run(stage, quick)
    yield from sweeps.run(stage, quick)
    yield from overlay.run(stage, quick)
