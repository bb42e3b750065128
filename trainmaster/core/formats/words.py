"""Splitting a command as typed into words, the way a POSIX shell would, with no shell. Pure.

`scan` keeps which parts of a word were quoted, so that one reading serves two readers: the checks see operators that
only a shell understands (R120), the launch sees where `$NAME` may be replaced (never inside single quotes).
"""

from __future__ import annotations

import re
from dataclasses import field
from typing import Final, NamedTuple

from trainmaster._compat import dataclass

SPACE: Final = " \t\r\n"
_OPERATORS: Final = ("&&", "||", ">>", "<<", ">&", "&>", ";", "|", "&", ">", "<")
_DOUBLE_QUOTE_ESCAPES: Final = '$`"\\\n'
_PLAIN_RUN: Final = re.compile(r"[^ \t\r\n'\"\\;|&<>`$]+")
_QUOTED_RUN: Final = re.compile(r'[^"\\]+')


class Piece(NamedTuple):
    """A run of characters of a word. `literal`: single-quoted or escaped, so `$` means nothing in it."""

    text: str
    literal: bool


@dataclass(slots=True)
class Scan:
    """What was read: words as pieces, shell operators found outside quotes, and an error ('', 'quote', 'escape')."""

    words: list[list[Piece]] = field(default_factory=list)
    operators: list[str] = field(default_factory=list)
    error: str = ""


class _Reader:
    """The state while reading one text; `word` is None between words."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.scan = Scan()
        self.word: list[Piece] | None = None
        self.run: list[str] = []

    def put(self, text: str, literal: bool) -> None:
        """Append to the current word, starting one when there is none."""
        if self.word is None:
            self.word = []
        if literal:
            self.close_run()
            self.word.append(Piece(text, True))
        else:
            self.run.append(text)

    def close_run(self) -> None:
        """End the current run of expandable characters."""
        if self.run:
            assert self.word is not None
            self.word.append(Piece("".join(self.run), False))
            self.run = []

    def close_word(self) -> None:
        """End the current word, if any."""
        if self.word is not None:
            self.close_run()
            self.scan.words.append(self.word)
            self.word = None

    def single(self) -> bool:
        """Read '...' from the character after the quote; False when it never closes."""
        end = self.text.find("'", self.at)
        if end < 0:
            self.scan.error = "quote"
            return False
        self.put(self.text[self.at : end], True)
        self.at = end + 1
        return True

    def double(self) -> bool:
        """Read "..." from the character after the quote; False when it never closes."""
        self.put("", True)
        while self.at < len(self.text):
            if run := _QUOTED_RUN.match(self.text, self.at):
                self.put(run[0], False)
                self.at = run.end()
                continue
            char = self.text[self.at]
            self.at += 1
            if char == '"':
                return True
            following = self.text[self.at : self.at + 1]
            if char == "\\" and following and following in _DOUBLE_QUOTE_ESCAPES:
                self.at += 1
                if following != "\n":
                    self.put(following, True)
            else:
                self.put(char, False)
        self.scan.error = "quote"
        return False

    def escape(self) -> bool:
        """Read what follows a backslash outside quotes; a line end joins two lines. False at the end of the text."""
        if self.at >= len(self.text):
            self.scan.error = "escape"
            return False
        if self.text[self.at] != "\n":
            self.put(self.text[self.at], True)
        self.at += 1
        return True

    def space(self, char: str) -> None:
        """Read white space; a line end between words separates statements for a shell."""
        self.close_word()
        if char == "\n" and self.scan.words and self.text[self.at :].strip(SPACE):
            self.scan.operators.append("\n")

    def plain(self, char: str) -> None:
        """Read an unquoted character, noting what only a shell would understand."""
        rest = self.text[self.at - 1 : self.at + 1]
        if char in ";|&<>":
            operator = rest if rest in _OPERATORS else char
            self.scan.operators.append(operator)
            self.at += len(operator) - 1
            self.put(operator, False)
            return
        if char == "`" or rest == "$(":
            self.scan.operators.append(char if char == "`" else "$(")
        self.put(char, False)

    def read(self) -> Scan:
        """Read everything. O(length)."""
        while self.at < len(self.text):
            if run := _PLAIN_RUN.match(self.text, self.at):
                self.put(run[0], False)
                self.at = run.end()
                continue
            char = self.text[self.at]
            self.at += 1
            going = True
            if char in SPACE:
                self.space(char)
            elif char == "'":
                going = self.single()
            elif char == '"':
                going = self.double()
            elif char == "\\":
                going = self.escape()
            else:
                self.plain(char)
            if not going:
                break
        self.close_word()
        return self.scan


def scan(text: str) -> Scan:
    """Return the words of `text`, the shell operators outside quotes, and what is unfinished in it. O(length)."""
    return _Reader(text).read()
