"""Charts as inline SVG, coloured by the page's variables --c0, --c1 ...: lines and grouped bars. Pure text, no scripts.

Coordinates are in a box of WIDTH x HEIGHT that the page scales. Every mark carries its number as a <title>, which
browsers show beside the pointer.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Final

from trainmaster.messages.amounts import duration

WIDTH: Final = 640
HEIGHT: Final = 260
LEFT, RIGHT, TOP, BOTTOM = 58, 22, 18, 34
COLOURS: Final = 8
"""Series beyond this many begin with the first colour again."""

DURATIONS: Final = (1, 10, 60, 600, 3600, 6 * 3600, 86400, 7 * 86400, 30 * 86400, 365 * 86400)
Ticks = Sequence[tuple[float, str]]


@dataclass(frozen=True, slots=True)
class Scale:
    """Maps values to 0..1. `ticks` are values with their words."""

    place: Callable[[float], float]
    ticks: Ticks
    words: Callable[[float], str]


def linear(low: float, high: float, words: Callable[[float], str]) -> Scale:
    """Return an even scale with about five round ticks."""
    span = (high - low) or 1.0
    step = 10 ** math.floor(math.log10(span / 4))
    step *= next(f for f in (1, 2, 2.5, 5, 10) if span / (step * f) <= 5)
    first = math.ceil(low / step - 1e-9)
    values = [step * at for at in range(first, math.floor(high / step + 1e-9) + 1)]
    return Scale(lambda v: (v - low) / span, [(v, words(v)) for v in values], words)


def durations(high: float) -> Scale:
    """Return a logarithmic scale from one second to `high`; less than a second lies at its begin."""
    top = math.log10(max(high, 10.0))
    ticks = [(0.0, "0"), *((float(v), _short(v)) for v in DURATIONS[1:] if v <= high)]
    return Scale(lambda v: min(1.0, math.log10(max(v, 1.0)) / top), ticks, duration)


def calendar(low: float, high: float) -> Scale:
    """Return an even scale of seconds, with ticks in the unit that suits them."""
    unit, name = next((u for u in ((86400, "d"), (3600, "h"), (60, "m")) if high - low >= 3 * u[0]), (1, "s"))
    even = linear(low / unit, high / unit, lambda v: f"{v:g}{name}")
    ticks = [(value * unit, words) for value, words in even.ticks]
    return Scale(lambda v: even.place(v / unit), ticks, duration)


def _short(seconds: float) -> str:
    return duration(seconds).replace(" ", "")


def _x(share: float) -> float:
    return LEFT + share * (WIDTH - LEFT - RIGHT)


def _y(share: float) -> float:
    return HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM)


def _frame(x: Scale | None, y: Scale) -> list[str]:
    out = []
    for value, words in y.ticks:
        at = _y(y.place(value))
        out.append(f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{at:.1f}" y2="{at:.1f}"/>')
        out.append(f'<text class="tick" x="{LEFT - 8}" y="{at + 4:.1f}" text-anchor="end">{escape(words)}</text>')
    for value, words in x.ticks if x else ():
        at = _x(x.place(value)) if x else 0
        out.append(
            f'<text class="tick" x="{at:.1f}" y="{HEIGHT - BOTTOM + 20}" text-anchor="middle">{escape(words)}</text>'
        )
    return out


def _svg(parts: Sequence[str], label: str) -> str:
    return f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(label)}">{"".join(parts)}</svg>'


Series = tuple[str, Sequence[tuple[float, float]]]
"""A name and points (x, y)."""


def lines(series: Sequence[Series], x: Scale, y: Scale, label: str, steps: bool = False) -> str:
    """Return a chart of one line per series. `steps`: the value holds until the next point."""
    parts = _frame(x, y)
    for at, (name, points) in enumerate(series):
        words, before = [], None
        for px, py in points:
            cx, cy = _x(x.place(px)), _y(y.place(py))
            if steps and before is not None:
                words.append(f"{cx:.1f},{before:.1f}")
            words.append(f"{cx:.1f},{cy:.1f}")
            before = cy
        title = f"<title>{escape(name)}</title>"
        parts.append(
            f'<polyline class="line" style="stroke:{_colour(at)}" points="{" ".join(words)}">{title}</polyline>'
        )
    return _svg(parts, label)


def bars(groups: Sequence[str], series: Sequence[tuple[str, Sequence[float]]], y: Scale, label: str) -> str:
    """Return a chart of groups side by side, in each one bar per series."""
    parts = _frame(None, y)
    for at, group in enumerate(groups):
        shares = [y.place(values[at]) for _, values in series]
        parts += _group(
            at, len(groups), group, [name for name, _ in series], shares, [y.words(v[at]) for _, v in series]
        )
    return _svg(parts, label)


def contrast(
    groups: Sequence[tuple[str, str]],
    series: Sequence[tuple[str, Sequence[float]]],
    words: Callable[[float], str],
    label: str,
) -> str:
    """Return `bars` in which every group has its own scale, up to its largest bar; each bar tells its number. `groups`:
    what each is called (zh, en).
    """
    parts = []
    for at, group in enumerate(groups):
        values = [values[at] for _, values in series]
        top = max(values) or 1.0
        told = [words(value) for value in values]
        parts += _group(
            at, len(groups), group, [name for name, _ in series], [v / top for v in values], told, shown=True
        )
    return _svg(parts, label)


def _group(
    at: int,
    groups: int,
    group: str | tuple[str, str],
    names: Sequence[str],
    shares: Sequence[float],
    words: Sequence[str],
    shown: bool = False,
) -> list[str]:
    parts = []
    zh, en = (group, group) if isinstance(group, str) else group
    slot = (WIDTH - LEFT - RIGHT) / max(1, groups)
    middle = LEFT + (at + 0.5) * slot
    width = min(44.0, slot * 0.86 / max(1, len(names)))
    for s, (name, share, told) in enumerate(zip(names, shares, words, strict=True)):
        left, high = middle + (s - len(names) / 2) * width, max(1.0, _y(0) - _y(share))
        top = _y(0) - high
        title = f"<title>{escape(f'{name}, {en}: {told}')}</title>"
        box = f'x="{left:.1f}" y="{top:.1f}" width="{width * 0.9:.1f}" height="{high:.1f}"'
        parts.append(f'<rect {box} rx="2" style="fill:{_colour(s)}">{title}</rect>')
        if shown and width >= 30:
            parts.append(_text(left + width * 0.45, top - 5, told, "value"))
    below = ((en, "tick"),) if zh == en else ((zh, "tick zh"), (en, "tick en"))
    return [*parts, *(_text(middle, HEIGHT - BOTTOM + 20, _short_name(name), kind) for name, kind in below)]


def _short_name(name: str) -> str:
    return name if len(name) <= 12 else name[:11] + "…"


def _text(x: float, y: float, words: str, kind: str = "tick") -> str:
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="middle">{escape(words)}</text>'


def _colour(at: int) -> str:
    return f"var(--c{at % COLOURS})"


def legend(names: Sequence[str]) -> str:
    """Return the names beside their colours."""
    items = (f'<li><i style="background:{_colour(at)}"></i>{escape(name)}</li>' for at, name in enumerate(names))
    return f'<ul class="legend">{"".join(items)}</ul>'
