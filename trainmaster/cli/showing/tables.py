"""Tables: fitted to the terminal, or in a pipe one line a row, tabs between the cells, nothing cut and no colours.

On a terminal what does not fit is cut first where a column allows it, the widest first; then columns go, the least
needed first. A column without anything in it is not shown. The fitting is pure; `show` prints.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from trainmaster.cli.showing.console import TONES, console
from trainmaster.core.formats.terminal import visible

if TYPE_CHECKING:
    from rich.text import Text

GAP: Final = 2
CUT: Final = "…"


@dataclass(frozen=True, slots=True)
class TableColumn:
    """A column. `least`: cells to which it may be cut, 0: never; `leaves`: 0 stays, else the higher the sooner it goes;
    `wraps`: its text goes on in further lines where there is no room, instead of being cut.
    """

    name: str
    right: bool = False
    least: int = 0
    leaves: int = 0
    wraps: bool = False


class Cell(NamedTuple):
    """A text in one of the console's tones."""

    text: str
    tone: str = ""


Value = Cell | str | int
"""What stands in a row."""


def column(name: str, *, right: bool = False, least: int = 0, leaves: int = 0, wraps: bool = False) -> TableColumn:
    """Return a column; see TableColumn."""
    return TableColumn(name, right, least, leaves, wraps)


def show(columns: Sequence[TableColumn], rows: Iterable[Sequence[Value]], title: str = "", indent: int = 0) -> None:
    """Print a table as it suits where it goes. `indent`: cells before each line, on a terminal."""
    out, cells = console(), [_cells(row) for row in rows]
    if not out.is_terminal:
        for texts in ([one.name for one in columns], *([cell.text for cell in row] for row in cells)):
            print("\t".join(text.replace("\t", " ").replace("\n", " ") for text in texts))
        return
    if title:
        out.print(f"[bold]{title}[/]")
    for line in drawn(columns, cells, out.width - indent):
        out.print(" " * indent, line, sep="", soft_wrap=True)


def _cells(row: Sequence[Value]) -> list[Cell]:
    return [Cell(visible(value.text), value.tone) if isinstance(value, Cell) else Cell(visible(value)) for value in row]


def drawn(columns: Sequence[TableColumn], rows: Sequence[Sequence[Value]], room: int) -> "list[Text]":
    """Return the table's lines, fitted into `room` cells."""
    from rich.text import Text

    cells = [_cells(row) for row in rows]
    widths = fitted(columns, [[cell.text for cell in row] for row in cells], room)
    made = [_line([Text(one.name, "bold") for one in columns], columns, widths)]
    for row in cells:
        texts = [Text(cell.text.replace("\n", " "), TONES.get(cell.tone, "")) for cell in row]
        parts = [
            [*_wrapped(text, width)] if one.wraps and width is not None else [text]
            for text, one, width in zip(texts, columns, widths, strict=True)
        ]
        for at in range(max(map(len, parts), default=0)):
            made.append(_line([part[at] if at < len(part) else Text() for part in parts], columns, widths))
    return made


def _wrapped(text: "Text", width: int) -> "Iterable[Text]":
    from rich.console import Console

    lines = text.wrap(Console(width=max(width, 1)), max(width, 1))
    for line in lines:
        line.rstrip()
    return lines or [text]


def _line(texts: "Sequence[Text]", columns: Sequence[TableColumn], widths: Sequence[int | None]) -> "Text":
    from rich.text import Text

    made, at = Text(), 0
    for text, one, width in zip(texts, columns, widths, strict=True):
        if width is None:
            continue
        text.truncate(width, overflow="ellipsis")
        if at:
            made.append(" " * GAP)
        fill = " " * (width - text.cell_len)
        made.append_text(Text(fill) + text if one.right else text + Text(fill))
        at += 1
    made.rstrip()
    return made


def fitted(columns: Sequence[TableColumn], rows: Sequence[Sequence[str]], room: int) -> list[int | None]:
    """Return the width of each column in `room` cells, None for one that is not shown. O(cells + columns * room)."""
    from rich.cells import cell_len

    widest = [max((cell_len(row[at]) for row in rows), default=0) for at in range(len(columns))]
    heads = [cell_len(one.name) for one in columns]
    there = [at for at in range(len(columns)) if widest[at] or not rows]
    whole = {at: max(widest[at], heads[at]) for at in there}
    least = {at: min(whole[at], columns[at].least or whole[at]) for at in there}
    while _total(least[at] for at in there) > room and any(columns[at].leaves for at in there):
        there.remove(max(there, key=lambda at: columns[at].leaves))
    widths = {at: whole[at] for at in there}
    while _total(widths.values()) > room and (loose := [at for at in there if widths[at] > least[at]]):
        widths[max(loose, key=lambda at: widths[at])] -= 1
    return [widths.get(at) for at in range(len(columns))]


def _total(widths: Iterable[int]) -> int:
    shown = [*widths]
    return sum(shown) + GAP * max(len(shown) - 1, 0)


def facts(pairs: Iterable[tuple[str, Any]]) -> None:
    """Print what is known of one thing, a line each; in a pipe with a tab between name and value. Nothing of the empty.

    Values are markup.
    """
    from rich.cells import cell_len
    from rich.text import Text

    out = console()
    known = [(name, str(value)) for name, value in pairs if value not in ("", None)]
    width = max((cell_len(name) for name, _ in known), default=0)
    for name, value in known:
        if out.is_terminal:
            out.print(f"  [bright_black]{name}{' ' * (width - cell_len(name))}[/]  {value}", soft_wrap=True)
        else:
            print(f"{name}\t{Text.from_markup(value).plain}")
