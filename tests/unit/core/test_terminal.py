"""What a job prints does nothing to the terminal of who reads it (R138): text and colours stay, orders go."""

import itertools
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from trainmaster.core.formats.terminal import Harmless, harmless, visible

ALLOWED = re.compile("(?:[^\x00-\x1f\x7f-\x9f]|[\n\t\r]|\x1b\\[[0-9;:]{0,64}m)*")
PIECES = st.lists(
    st.sampled_from(
        [
            "\x1b",
            "\x1b[",
            "\x1b]",
            "\x1bP",
            "\x1b\\",
            "\x9b",
            "\x9d",
            "\x9c",
            "\x07",
            "[",
            "]",
            "52;c;",
            "8;;http://x",
            "0;",
            "31",
            "m",
            "H",
            "J",
            "?1049h",
            ";",
            "\n",
            "\r",
            "\x18",
            "\x08",
            "text",
            "训练",
            "\x1b(B",
            " ",
            "0" * 70,
            "\x7f",
            "\x85",
        ]
    )
    | st.text(max_size=5),
    max_size=12,
).map("".join)


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("\x1b]52;c;cm0gLXJmIH4=\x07done", "done"),  # into the clipboard
        ("\x1b]0;root@server\x1b\\$ ", "$ "),  # the title
        ("\x1b]8;;http://evil\x1b\\click\x1b]8;;\x1b\\", "click"),  # a link: what can be seen of it
        ("\x9d52;c;cm0gLXJmIH4=\x9cdone", "done"),  # the same in one character
        ("\x1b[2J\x1b[Hgone", "gone"),
        ("\x1b[6n\x1b[c\x1bZ\x05", ""),  # the terminal would answer, as if somebody typed
        ("\x1b[?1049h\x1b[8;1;1t", ""),
        ("\x1bPq#0;2;0;0;0~\x1b\\sixel", "sixel"),
        ("\x1bc\x1b(0lqk\x0e", "lqk"),
        ("a\x08\x08b\x00\x7f", "ab"),
        ("\x1b]0;never ended\nnext line", "\nnext line"),
        ("\x1b[31mred\x1b[0m, \x1b[38;2;1;2;3mtrue\x1b[m", "\x1b[31mred\x1b[0m, \x1b[38;2;1;2;3mtrue\x1b[m"),
        ("\x9b31mred", "\x1b[31mred"),
        ("\x1b\x1b[2J[31m", "[31m"),
        ("10%\r20%\tok\r\n", "10%\r20%\tok\r\n"),
    ],
)
def test_orders_go_and_text_stays(said: str, shown: str) -> None:
    assert harmless(said) == shown
    one = Harmless()
    assert "".join(one.feed(letter) for letter in said) == shown


@given(PIECES)
@example("\x1b]0;x\x1b" + "[31m")
def test_nothing_comes_out_that_a_terminal_obeys(text: str) -> None:
    out = harmless(text)
    assert ALLOWED.fullmatch(out), out
    assert harmless(out) == out


@given(PIECES, st.lists(st.integers(0, 200), max_size=6))
@example("\x1b]0;x\x1b" + "\\y", [6])
def test_it_is_the_same_wherever_it_is_cut(text: str, cuts: list[int]) -> None:
    places = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    one = Harmless()
    pieces = "".join(one.feed(text[start:end]) for start, end in itertools.pairwise(places))
    whole = Harmless()
    assert pieces == whole.feed(text)
    assert one.coloured == whole.coloured


@given(st.text(st.characters(exclude_categories=["Cc", "Cs"])))
def test_text_is_left_as_it_is(text: str) -> None:
    assert harmless(text) == text


def test_a_colour_that_stays_is_known() -> None:
    one = Harmless()
    one.feed("\x1b[31mred")
    assert one.coloured
    one.feed("\x1b[0m")
    assert not one.coloured


def test_what_cannot_be_seen_in_a_name_is_shown() -> None:
    assert (
        visible("a\x1b[2Jb\x9b\r训练")
        == "a\N{REPLACEMENT CHARACTER}[2Jb\N{REPLACEMENT CHARACTER}\N{REPLACEMENT CHARACTER}训练"
    )
