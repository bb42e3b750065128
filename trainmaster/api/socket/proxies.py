"""Who is behind the proxies that are ours: the address and the scheme that people came with, in place of the proxy's
own.

Only what a trusted proxy says is believed, and of the list of addresses only what trusted proxies added: it is read
from the right, up to the first address that is none of them. Whoever comes another way says what they like and is heard
in nothing.
"""

import ipaddress
from collections.abc import Iterable
from typing import Final

from starlette.types import Scope

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
_HOUSE: Final = 64
"""Bits of an IPv6 address that one customer of a provider has to themselves, and more."""


def address_in(text: str) -> Address | None:
    """Return the address in `text`, which may have a port and brackets; None where there is none."""
    text = text.strip()
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        found = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return None
    return getattr(found, "ipv4_mapped", None) or found


def neighbourhood(client: str) -> str:
    """Return what counts as one address: an IPv4 address, or the network of an IPv6 address in which its owner has them
    all.
    """
    address = address_in(client)
    if isinstance(address, ipaddress.IPv6Address):
        return str(ipaddress.ip_network((address, _HOUSE), strict=False))
    return str(address or client)


class Proxies:
    """The proxies whose word counts. `trusted`: addresses and networks. Raises ValueError for what is neither."""

    def __init__(self, trusted: Iterable[str]) -> None:
        self._trusted = tuple(ipaddress.ip_network(one, strict=False) for one in trusted)

    def apply(self, scope: Scope) -> None:
        """Put into `scope` who is behind a trusted proxy; nothing changes for whoever comes another way."""
        peer = scope.get("client")
        if not peer or not self.trusts(peer[0]):
            return
        address = address_in(peer[0])
        told = b",".join(value for key, value in scope["headers"] if key == b"x-forwarded-for").decode("latin-1")
        for hop in reversed(told.split(",") if told else []):
            before = address_in(hop)
            if before is None:
                break  # anybody may have written what stands further left
            address = before
            if not self._ours(address):
                break
        scope["client"] = (str(address), 0)
        schemes = [value for key, value in scope["headers"] if key == b"x-forwarded-proto"]
        if schemes and schemes[-1].strip().lower() in (b"https", b"wss"):
            scope["scheme"] = "wss" if scope["type"] == "websocket" else "https"

    def trusts(self, client: str) -> bool:
        """Return whether `client` is the address of one of them."""
        address = address_in(client) if self._trusted else None
        return address is not None and self._ours(address)

    def _ours(self, address: Address) -> bool:
        return any(address.version == network.version and address in network for network in self._trusted)
