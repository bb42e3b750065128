"""To which addresses of a network we connect for object storage.

A name is looked up at each connection, every address that it has is judged, and the connection goes to one of those
very addresses: a name that is another's a moment later changes nothing (DNS rebinding). Blocking.
"""

import ipaddress
import socket
from collections.abc import Callable, Sequence
from typing import Final

from trainmaster.core.config import StorageConfig
from trainmaster.core.formats.addresses import link_local, permitted
from trainmaster.messages.assets import objects as said
from trainmaster.messages.said import Said

CONNECT_S: Final = 10.0
Resolve = Callable[[str, int], Sequence[str]]
"""(name, port) -> its addresses. Raises OSError where it has none."""


class StoreFailed(Exception):
    """A store did not do what it was asked. `lasting`: trying again would change nothing."""

    def __init__(self, told: Said, lasting: bool = True) -> None:
        super().__init__(told.code)
        self.said, self.lasting = told, lasting


class Reach:
    """What is allowed of a network, by the administrator's settings. A host that is allowed by its name may have any
    address but one of the link alone, at which clouds give out a machine's own credentials.
    """

    def __init__(self, config: StorageConfig, resolve: Resolve | None = None) -> None:
        self.ca, self._resolve = config.ca, resolve or look_up
        self._networks: list[ipaddress.IPv4Network | ipaddress.IPv6Network] = []
        self._hosts: set[str] = set()
        for one in config.allow:
            try:
                self._networks.append(ipaddress.ip_network(one, strict=False))
            except ValueError:
                self._hosts.add(one.lower())

    def permits(self, host: str, address: str) -> bool:
        """Return whether we connect to `address` for `host`."""
        if permitted(address, self._networks):
            return True
        return host.lower().rstrip(".") in self._hosts and not link_local(address)

    def private(self, host: str, port: int) -> bool:
        """Return whether a host is one of those that the administrator allows: there nothing need be encrypted."""
        if host.lower().rstrip(".") in self._hosts:
            return True
        try:
            found = self._resolve(host, port)
        except (OSError, UnicodeError):
            return False
        return bool(found) and all(permitted(one, self._networks) and not permitted(one, ()) for one in found)

    def addresses(self, host: str, port: int) -> list[str]:
        """Return where to connect to. Raises StoreFailed where there is no address, or one that is not permitted."""
        try:
            found = list(dict.fromkeys(self._resolve(host, port)))
        except (OSError, UnicodeError):
            found = []
        if not found:
            raise StoreFailed(said.store_host_unknown(host), lasting=False)
        for address in found:
            if not self.permits(host, address):
                raise StoreFailed(said.store_address_refused(host, address))
        return found

    def connect(self, host: str, port: int) -> socket.socket:
        """Return a connection to a host. Raises StoreFailed."""
        why = ""
        for address in self.addresses(host, port):
            try:
                return socket.create_connection((address, port), CONNECT_S)
            except OSError as error:
                why = error.strerror or str(error) or type(error).__name__
        raise StoreFailed(said.store_not_reachable(host, why), lasting=False)


def look_up(host: str, port: int) -> list[str]:
    """Return the addresses of a name, or of an address itself. Raises OSError."""
    return [str(one[4][0]) for one in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]
