"""What others wrote, before it comes to a terminal: text and colours stay, everything else that a terminal obeys goes.

Of what a terminal takes for orders (ECMA-48, and what xterm adds) only colours and their like (SGR) are let through,
and the characters newline, carriage return and tab: no titles, links, clipboard, cursor, screen or answers from the
terminal. Pure. Invariant: however the text is cut into pieces, the same comes out, and no order comes out that was let
through by none.
"""

from __future__ import annotations

import re
from typing import Final

RESET: Final = "\x1b[0m"
_C0: Final = bytes(code for code in (*range(0x20), 0x7F) if code not in b"\t\n\r")
_UTF8_C1: Final = re.compile(b"\xc2[\x80-\x9f]")
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_COLOUR: Final = re.compile(r"\x1b\[([0-9;:]{0,64})m")
_PARAMETERS: Final = r"[0-?]{0,64}[ -/]{0,8}"
_CSI: Final = r"(?:\x1b\[|\x9b)"
_ORDERS: Final = re.compile(
    rf"{_CSI}(?P<colour>[0-9;:]{{0,64}})m"
    rf"|{_CSI}{_PARAMETERS}[@-~]"
    r"|(?P<string>\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])"  # until its end: clipboard, title, link, pictures, ...
    r"|\x1b[ -/]{0,8}[0-~]"
    r"|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]"
)
_BEGUN: Final = re.compile(rf"{_CSI}{_PARAMETERS}|\x1b[ -/]{{0,8}}")
_END_OF_STRING: Final = re.compile(r"\x1b\\|[\x07\x9c\x18\x1a]|(?=[\n\x1b])(?!\x1b\Z)")
"""A line's end ends a string, too, though not for a terminal: what is swallowed is never more than one line."""


def harmless(text: str) -> str:
    """Return `text` without anything that a terminal would obey, but for colours."""
    return Harmless().feed(text)


def visible(text: object) -> str:
    """Return a name or a sentence with a replacement character for everything that cannot be printed."""
    return "".join(c if c.isprintable() or c in "\n\t" else "\N{REPLACEMENT CHARACTER}" for c in str(text))


def as_seen(text: str) -> str:
    """Return `text` as a terminal shows it in the end: after a carriage return, a line begins anew."""
    lines = (line.rstrip("\r").rpartition("\r")[2] for line in text.split("\n"))
    return "\n".join(lines)


class Harmless:
    """Takes a text in pieces. `coloured`: it has changed colours and not changed them back."""

    def __init__(self) -> None:
        self.coloured = False
        self._held = ""
        self._inside = False  # a string (title, link, ...) has begun and not ended

    def feed(self, text: str) -> str:
        """Return the harmless part of `text`, after what was held back before. Plain text costs about 1 ns a byte."""
        text, self._held = self._held + text, ""
        at = self._leave(text, 0) if self._inside else 0
        last = max(text.rfind("\x1b", at), text.rfind("\x9b", at))
        if last >= 0 and _BEGUN.fullmatch(text, last):  # an order that the next piece completes
            text, self._held = text[:last], text[last:]
        if at:
            text = text[at:]
        if _plain(text):
            return text
        if _plain(_COLOUR.sub("", text)):
            self.coloured = _changes(text[text.rindex("\x1b[") + 2 :].partition("m")[0])
            return text
        return self._without_orders(text)

    def _without_orders(self, text: str) -> str:
        kept: list[str] = []
        at = 0
        while control := _CONTROL.search(text, at):
            kept.append(text[at : control.start()])
            found = _ORDERS.match(text, control.start())
            assert found is not None  # any control character by itself is one of them
            at = found.end()
            if found["colour"] is not None:
                self.coloured = _changes(found["colour"])
                kept.append(f"\x1b[{found['colour']}m")
            elif found["string"] is not None:
                self._inside = True
                at = self._leave(text, at)
        return "".join((*kept, text[at:]))

    def _leave(self, text: str, at: int) -> int:
        """Return where `text` goes on after the string that has begun."""
        found = _END_OF_STRING.search(text, at)
        if found is None:
            self._held = "\x1b" if text.endswith("\x1b") else self._held  # perhaps the first half of its end, ESC \
            return len(text)
        self._inside = False
        return found.end()


def _changes(colour: str) -> bool:
    return colour.strip("0;:") != ""


def _plain(text: str) -> bool:
    raw = text.encode("utf-8", "surrogatepass")
    return len(raw.translate(None, _C0)) == len(raw) and (b"\xc2" not in raw or _UTF8_C1.search(raw) is None)
