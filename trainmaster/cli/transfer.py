"""A bar for bytes on their way, in a terminal."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def bar(text: str, show: bool) -> Iterator[Callable[[int], None] | None]:
    """Give a function that is told of bytes moved; None where nothing is shown, because nobody looks or `show` is
    false.
    """
    if not show or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import DownloadColumn, Progress, SpinnerColumn, TextColumn, TransferSpeedColumn

    columns = (SpinnerColumn(), TextColumn(text), DownloadColumn(), TransferSpeedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as shown:
        line = shown.add_task("", total=None)
        yield lambda size: shown.update(line, advance=size)
