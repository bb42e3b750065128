"""Many small contents in one request: what was framed is read back, and nothing else is taken for it."""

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainmaster.core.formats.frames import HEAD, SMALL, frame, frames


def name(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


@given(st.lists(st.binary(max_size=300), max_size=20))
def test_what_was_framed_is_read_back_in_order(contents: list[bytes]) -> None:
    body = b"".join(frame(name(one), one) for one in contents)
    assert [(digest, bytes(content)) for digest, content in frames(body)] == [(name(one), one) for one in contents]


@given(st.lists(st.binary(max_size=30), min_size=1, max_size=5), st.data())
def test_what_is_cut_anywhere_else_than_between_two_is_refused(contents: list[bytes], data: st.DataObject) -> None:
    parts = [frame(name(one), one) for one in contents]
    body, between, at = b"".join(parts), {0}, 0
    for part in parts:
        at += len(part)
        between.add(at)
    cut = data.draw(st.integers(0, len(body)))
    if cut in between:
        assert len(list(frames(body[:cut]))) <= len(contents)
    else:
        with pytest.raises(ValueError, match="cut off"):
            list(frames(body[:cut]))


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(body: bytes) -> None:
    try:
        read = list(frames(body))
    except ValueError:
        return
    assert sum(len(content) + HEAD.size for _, content in read) == len(body)


def test_a_large_content_is_not_framed_nor_read() -> None:
    large = bytes(SMALL + 1)
    with pytest.raises(ValueError, match="small"):
        frame(name(large), large)
    with pytest.raises(ValueError, match="small"):
        frame("00", b"")
    with pytest.raises(ValueError, match="too large"):
        list(frames(HEAD.pack(bytes(32), SMALL + 1) + large))
    assert len(next(frames(frame(name(bytes(SMALL)), bytes(SMALL))))[1]) == SMALL
