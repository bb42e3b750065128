"""Ports of tests: whoever asks gets some while any are free, wherever its own place is."""

import os

import pytest

from tests.fixtures import ports


@pytest.mark.parametrize("pid", [0, 350, 699, 700])
def test_who_begins_near_the_end_goes_on_at_the_beginning(pid: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """All of a small range are given, each once; then there is none."""
    monkeypatch.setattr(os, "getpid", lambda: pid)
    monkeypatch.setattr(ports, "_given", set())
    monkeypatch.setattr(ports.socket.socket, "bind", lambda self, address: None)  # nobody uses any
    assert sorted(ports.free_ports(5, 18_000, 18_050) for _ in range(10)) == list(range(18_000, 18_050, 5))
    with pytest.raises(AssertionError, match="no free ports"):
        ports.free_ports(5, 18_000, 18_050)
