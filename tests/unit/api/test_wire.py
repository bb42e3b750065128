"""How answers reach the socket."""

import asyncio
from typing import Any

import pytest

from trainmaster.api.socket.wire import Joining

HEAD = b"HTTP/1.1 200 OK\r\n\r\n"


class Socket:
    """Notes what a transport is asked to do."""

    def __init__(self) -> None:
        self.seen: list[bytes] = []

    def write(self, data: bytes) -> None:
        self.seen.append(data)

    def close(self) -> None:
        self.seen.append(b"closed")

    def is_closing(self) -> bool:
        return b"closed" in self.seen


@pytest.fixture
async def wire() -> tuple[Any, list[bytes]]:
    socket: Any = Socket()
    return Joining(socket, asyncio.get_running_loop()), socket.seen


async def test_an_answer_is_one_write(wire: tuple[Any, list[bytes]]) -> None:
    joining, seen = wire
    for body in (b"one", b"two"):  # on one kept-alive connection
        joining.write(HEAD)
        joining.write(body)
        await asyncio.sleep(0)
    joining.write(HEAD)
    joining.write(b"")  # an answer without a body
    assert seen == [HEAD + b"one", HEAD + b"two", HEAD]


async def test_a_live_view_begins_before_its_first_line(wire: tuple[Any, list[bytes]]) -> None:
    joining, seen = wire
    joining.write(HEAD)
    assert seen == []
    await asyncio.sleep(0)
    assert seen == [HEAD]
    joining.write(b"event: ping\n\n")
    joining.write(b"HTTP/1.1 is what a log may begin with")
    joining.write(b"; and end so")
    assert seen[1:] == [b"event: ping\n\n", b"HTTP/1.1 is what a log may begin with; and end so"]


async def test_closing_loses_nothing(wire: tuple[Any, list[bytes]]) -> None:
    joining, seen = wire
    joining.write(HEAD)
    joining.close()
    assert joining.is_closing()
    await asyncio.sleep(0)
    assert seen == [HEAD, b"closed"]
