"""Training curves as lines of blocks."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from trainmaster.cli.language import words
from trainmaster.cli.showing import tables
from trainmaster.cli.showing.console import console, e
from trainmaster.cli.showing.tables import column
from trainmaster.core.formats.terminal import visible

if TYPE_CHECKING:
    from trainmaster import answers

BARS: Final = "▁▂▃▄▅▆▇█"


def spark(values: Sequence[float | None], width: int = 60) -> str:
    """Return a curve as one line of blocks; where nothing is known there is a gap."""
    known = [value for value in values if value is not None]
    if not known:
        return ""
    step = max(1, -(-len(values) // width))
    thinned = [values[at] for at in range(0, len(values), step)]
    low, high = min(known), max(known)
    span = (high - low) or 1.0
    return "".join(" " if v is None else BARS[min(7, int((v - low) / span * 7.999))] for v in thinned)


def show_metrics(name: str, found: "answers.MetricsView", replicas: Mapping[str, str]) -> None:
    """Print the curves of one job. `replicas`: what people call each, by its name in the curves."""
    out = console()
    width = 60 if not out.is_terminal else max(8, min(60, out.width - 76))
    rows = []
    for series in found.series:
        values = [value for value in series.values if value is not None]
        if values:
            cells = (f"{values[0]:.4g}", f"{min(values):.4g}", f"{max(values):.4g}", f"{values[-1]:.4g}")
            rows.append(
                (
                    series.name,
                    replicas.get(series.task or "", ""),
                    spark(series.values, width),
                    *cells,
                    str(series.count),
                )
            )
    if not rows:
        print(f"{visible(name)}{words(': no metrics yet', '：还没有指标')}")
        return
    columns = (
        column(words("metric", "指标"), least=8),
        column(words("replica", "副本"), leaves=5),
        column(words("curve", "曲线"), leaves=3),
        column(words("first", "首个"), right=True, leaves=2),
        column(words("min", "最小"), right=True),
        column(words("max", "最大"), right=True),
        column(words("last", "最新"), right=True),
        column(words("points", "点数"), right=True, leaves=4),
    )
    tables.show(columns, rows, title=e(name))
