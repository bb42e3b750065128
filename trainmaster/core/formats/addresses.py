"""Which addresses of a network are public: those of a single computer that anybody may reach. Pure.

An address of IPv6 that stands for one of IPv4 is judged by both.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from typing import Union

Address = Union[ipaddress.IPv4Address, ipaddress.IPv6Address]
Network = Union[ipaddress.IPv4Network, ipaddress.IPv6Network]


def read_address(text: str) -> Address | None:
    """Return an address as it is written, without its zone; None where it is none."""
    try:
        return ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return None


def permitted(text: str, allow: Iterable[Network]) -> bool:
    """Return whether an address is public, or lies in one of the networks that are allowed."""
    ip = read_address(text)
    if ip is None:
        return False
    every = (ip, *inner(ip))
    if any(one in network for one in every for network in allow if one.version == network.version):
        return True
    return all(one.is_global and not one.is_multicast for one in every)


def link_local(text: str) -> bool:
    """Return whether an address is of the link alone, where clouds tell a machine's own credentials."""
    ip = read_address(text)
    return ip is None or any(one.is_link_local for one in (ip, *inner(ip)))


def inner(ip: Address) -> list[Address]:
    """Return the IPv4 addresses that an IPv6 address stands for: mapped, translated (RFC 6052), 6to4, Teredo."""
    if isinstance(ip, ipaddress.IPv4Address):
        return []
    found: list[Address] = [one for one in (ip.ipv4_mapped, ip.sixtofour) if one is not None]
    if ip.teredo is not None:
        found += ip.teredo
    if ip in ipaddress.ip_network("64:ff9b::/96") or ip in ipaddress.ip_network("::/96"):
        found.append(ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF))
    return found
