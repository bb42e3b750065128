"""What is secret is masked in whatever a task prints, however the stream is cut into pieces (B12)."""

import base64
import json
from urllib.parse import quote

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from trainmaster.agent.masking.masker import MASK, Masker, patterns_of

KEY = "-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG9w0\nAQEFAASCBKcwggSjAgEAAoIB\nab\n-----END KEY-----"
FEW = st.text("ab", min_size=1, max_size=6)


def masked(values: list[str], *pieces: bytes) -> bytes:
    masker = Masker(values)
    return b"".join(masker.feed(piece) for piece in pieces) + masker.end()


@settings(max_examples=300)
@given(st.lists(FEW, min_size=1, max_size=4), st.lists(st.binary(max_size=6) | FEW.map(str.encode), max_size=12))
@example(["abcd", "cdxx"], [b"abcd", b"yy"])
@example(["abcd", "cdxx"], [b"ab", b"cd", b"x", b"x"])
@example(["aaaa"], [b"aaa", b"aaaa", b"a"])
def test_it_does_not_matter_how_a_stream_is_cut(values: list[str], pieces: list[bytes]) -> None:
    assert masked(values, *pieces) == masked(values, b"".join(pieces))


@given(
    st.text("xyz0", min_size=4, max_size=30),
    st.lists(st.text("xyz0 \n", max_size=8), max_size=6),
    st.integers(1, 5),
)
def test_no_value_gets_through(value: str, around: list[str], size: int) -> None:
    text = value.join(["", *around, ""]).encode()
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    assert value.encode() not in masked([value], *pieces).replace(MASK, b"|")


@given(st.binary(max_size=400))
def test_what_is_not_secret_is_left_as_it_is(text: bytes) -> None:
    assert masked(["hunter2-hunter2"], text) == text


@pytest.mark.parametrize("before", ["", "a", "ab", "abc", "user:"])
def test_what_base64_makes_of_a_value_is_masked_wherever_it_begins(before: str) -> None:
    value = "s3cret/Value?123"
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        shown = masked([value], encode(f"{before}{value}:x".encode()))
        assert MASK in shown
        assert len(shown) <= len(MASK) + 12


def test_lines_of_a_value_are_masked_each_but_not_those_that_are_anywhere() -> None:
    shown = masked([KEY], b"first\n  MIIEvQIBADANBgkqhkiG9w0\nab\nlast\n")
    assert shown == b"first\n  ***\nab\nlast\n"
    assert masked([KEY], b"it is:\n" + KEY.encode() + b"\n") == b"it is:\n***\n"


def test_a_value_in_json_and_in_an_address_is_masked() -> None:
    value = 'pass "word" & more'
    assert masked([value], json.dumps({"p": value}).encode()) == b'{"p": "***"}'
    assert masked([value], b"https://x/?p=" + quote(value, "").encode()) == b"https://x/?p=***"


def test_only_what_may_be_the_beginning_of_a_value_is_held_back() -> None:
    masker = Masker(["hunter2"])
    assert masker.feed(b"password: hun") == b"password: "
    assert masker.feed(b"gry\n") == b"hungry\n"
    assert masker.feed(b"step 1\n") == b"step 1\n"


@pytest.mark.parametrize(("text", "shown"), [(b"is hunter", b"is ***"), (b"is hun", b"is hun")])
def test_of_a_value_that_is_cut_off_at_the_end_the_greater_part_is_masked(text: bytes, shown: bytes) -> None:
    assert masked(["hunter2"], text) == shown


def test_a_value_that_repeats_itself_costs_no_more() -> None:
    masker = Masker(["a" * 65536])
    for _ in range(8):
        assert masker.feed(b"a" * 8000) == b""
    assert masker.end().endswith(MASK)


def test_the_longest_spelling_is_looked_for_first() -> None:
    found = patterns_of(["secret", "secretive"])
    assert [len(one) for one in found] == sorted((len(one) for one in found), reverse=True)
