"""A bar for bytes on their way, in a terminal."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def bar(text: str, show: bool, total: int | None = None) -> Iterator[Callable[[int], None] | None]:
    """Give a function that is told of bytes moved; None where nothing is shown, because nobody looks or `show` is
    false. `total`: how many there are, None where nobody knows.
    """
    if not show or not sys.stderr.isatty():
        yield None
        return
    from rich import progress as rich
    from rich.console import Console

    size = rich.DownloadColumn() if total else rich.FileSizeColumn()
    columns = [rich.TextColumn(text), rich.BarColumn(bar_width=24), size, rich.TransferSpeedColumn()]
    if total:
        columns.append(rich.TimeRemainingColumn(compact=True))
    shown = rich.Progress(*columns, console=Console(stderr=True), transient=True)
    line = shown.add_task("", total=total)

    def moved(size: int) -> None:
        shown.start()  # once: where nothing moves, nothing is drawn
        shown.update(line, advance=size)

    try:
        yield moved
    finally:
        shown.stop()


@contextmanager
def growing_bar(text: str, show: bool) -> Iterator[tuple[Callable[[int], None], Callable[[int], None]]]:
    """Give (a function that is told of bytes moved, one that is told how many there will be once that is known)."""
    if not show or not sys.stderr.isatty():
        yield (lambda _: None), (lambda _: None)
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

    parts = [TextColumn(text), BarColumn(bar_width=24), DownloadColumn(), TransferSpeedColumn()]
    with Progress(*parts, TimeRemainingColumn(compact=True), console=Console(stderr=True), transient=True) as shown:
        line = shown.add_task("", total=None)

        def moved(size: int) -> None:
            shown.update(line, advance=size)

        def total(size: int) -> None:
            shown.update(line, total=size)

        yield moved, total
