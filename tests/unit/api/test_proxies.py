"""Who people are behind proxies: by what trusted ones say, and by nothing that anybody else can write."""

import asyncio
import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.fixtures.api_server import running
from trainmaster.api.socket.proxies import Proxies, neighbourhood

OURS = ("10.0.0.0/8", "192.0.2.1", "2001:db8::/32")


def seen(peer: str, *told: str, trusted: tuple[str, ...] = OURS, proto: str = "") -> tuple[str, str]:
    headers = [(b"x-forwarded-for", one.encode()) for one in told]
    scope: Any = {"type": "http", "client": (peer, 4711), "scheme": "http", "headers": headers}
    if proto:
        scope["headers"].append((b"x-forwarded-proto", proto.encode()))
    Proxies(trusted).apply(scope)
    return scope["client"][0], scope["scheme"]


@pytest.mark.parametrize(
    ("peer", "told", "client"),
    [
        ("198.51.100.7", ("203.0.113.9",), "198.51.100.7"),  # comes by itself, and says what it likes
        ("10.0.0.1", ("203.0.113.9",), "203.0.113.9"),
        ("10.0.0.1", ("6.6.6.6, 203.0.113.9",), "203.0.113.9"),  # what it had said itself stands further left
        ("10.0.0.1", ("203.0.113.9, 192.0.2.1, 10.3.3.3",), "203.0.113.9"),  # through three of ours
        ("10.0.0.1", ("203.0.113.9", "10.3.3.3"), "203.0.113.9"),  # in two headers
        ("10.0.0.1", ("10.3.3.3",), "10.3.3.3"),  # somebody of the house
        ("10.0.0.1", (), "10.0.0.1"),
        ("10.0.0.1", ("unknown",), "10.0.0.1"),
        ("10.0.0.1", ("203.0.113.9, _hidden",), "10.0.0.1"),
        ("10.0.0.1", ("203.0.113.9:5555",), "203.0.113.9"),
        ("2001:db8::1", ("[2001:4860::8]:443",), "2001:4860::8"),
        ("::ffff:10.0.0.1", ("::ffff:203.0.113.9",), "203.0.113.9"),
    ],
)
def test_the_first_address_from_the_right_that_is_none_of_ours(peer: str, told: tuple[str, ...], client: str) -> None:
    assert seen(peer, *told)[0] == client


def test_nobody_is_believed_unless_they_are_named() -> None:
    assert seen("127.0.0.1", "203.0.113.9", trusted=(), proto="https") == ("127.0.0.1", "http")
    assert seen("198.51.100.7", proto="https")[1] == "http"
    assert seen("10.0.0.1", proto="https")[1] == "https"


def test_one_house_is_one_address() -> None:
    assert neighbourhood("2001:db8:1:2:aaaa::1") == neighbourhood("2001:db8:1:2:bbbb::9") == "2001:db8:1:2::/64"
    assert neighbourhood("192.0.2.7") == neighbourhood("::ffff:192.0.2.7") == "192.0.2.7"
    assert neighbourhood("testclient") == "testclient"


async def test_behind_a_real_proxy_strangers_do_not_slow_each_other(tmp_path: Path) -> None:
    """R138: everybody comes from the proxy's address; each is known by their own, and a cookie over TLS is marked
    so.
    """
    (tmp_path / "home").mkdir()
    with running(tmp_path / "home", trusted_proxies=("127.0.0.1",)) as server:
        port = int(server.url.rpartition(":")[2])

        async def forward(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            """What nginx does with $proxy_add_x_forwarded_for, for one request."""
            head = await reader.readuntil(b"\r\n\r\n")
            client = next(line for line in head.split(b"\r\n") if line.lower().startswith(b"x-test-client:")).split(
                b":"
            )[1]
            length = next(
                int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")
            )
            body = await reader.readexactly(length)
            there, back = await asyncio.open_connection("127.0.0.1", port)
            added = b"X-Forwarded-For: 6.6.6.6," + client + b"\r\nX-Forwarded-Proto: https\r\nConnection: close\r\n\r\n"
            back.write(head[:-2] + added + body)
            while piece := await there.read(1 << 16):
                writer.write(piece)
            await writer.drain()
            for end in (back, writer):
                end.close()

        proxy = await asyncio.start_server(forward, "127.0.0.1", 0)
        address = f"http://127.0.0.1:{proxy.sockets[0].getsockname()[1]}/api/v1/session"

        async def sign_in(client: str, name: str, password: str) -> httpx.Response:
            async with httpx.AsyncClient(trust_env=False, timeout=60) as http:
                body = json.dumps({"username": name, "password": password})
                return await http.post(
                    address, content=body, headers={"x-test-client": client, "content-type": "application/json"}
                )

        for number in range(7):
            assert (await sign_in("203.0.113.9", f"somebody {number}", "x" * 12)).status_code == 401
        lines = server.call(
            lambda platform: {key: line.failures for key, line in platform.people._turns._lines.items()}
        )
        assert lines["address 203.0.113.9"] == 7
        assert not [key for key in lines if "127.0.0.1" in key or "6.6.6.6" in key]
        signed = await sign_in("198.51.100.7", "admin", server.call(lambda platform: platform.people.one_time_password))
        assert signed.status_code == 200
        assert "secure" in signed.headers["set-cookie"].lower()
        proxy.close()
