"""Where a webhook may go: what its URL may be, and to which addresses of a network we connect.

A name is looked up at each try, every address that it has is judged, and the connection goes to one of those very
addresses: a name that is another's a moment later changes nothing (DNS rebinding). Pure but for `lookup`.
"""

import asyncio
import ipaddress
import socket
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from trainmaster.core.config import WebhooksConfig
from trainmaster.core.errors import Problem, problem_of
from trainmaster.core.formats.addresses import permitted
from trainmaster.messages.said import Said
from trainmaster.messages.server import notices as said

Resolve = Callable[[str, int], Awaitable[list[str]]]
"""(name, port) -> its addresses. Raises OSError where it has none."""
LONGEST: Final = 2048
LOOKUP_S: Final = 5.0


class NotSent(Exception):
    """A message did not arrive. `said`: why; `status`: of the answer, None where there was none."""

    def __init__(self, said: Said, status: int | None = None) -> None:
        super().__init__(said.code)
        self.said, self.status = said, status


@dataclass(frozen=True, slots=True)
class WebhookTarget:
    """A URL taken apart. `path` with the query."""

    secure: bool
    host: str
    port: int
    path: str

    @property
    def authority(self) -> str:
        """The value of `Host`."""
        name = f"[{self.host}]" if ":" in self.host else self.host
        return name if self.port == (443 if self.secure else 80) else f"{name}:{self.port}"


def target_of(url: str) -> WebhookTarget | None:
    """Return a URL taken apart, None where it is none that we could send to."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
        ascii_host = (host or "").encode("idna").decode("ascii") if host and ":" not in host else host or ""
    except (ValueError, UnicodeError):
        return None
    if parts.scheme not in ("http", "https") or not ascii_host or not url.isprintable() or " " in url:
        return None
    if port == 0 or not parts.path.isascii() or not parts.query.isascii() or len(url) > LONGEST:
        return None
    secure = parts.scheme == "https"
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return WebhookTarget(secure, ascii_host.rstrip("."), port or (443 if secure else 80), path)


def problems_of(url: str, config: WebhooksConfig) -> list[Problem]:
    """Return all that is wrong with the URL of a webhook by itself."""
    target, found = target_of(url), []
    try:
        parts = urlsplit(url)
        scheme, credentials, fragment = parts.scheme, "@" in parts.netloc, "#" in url
    except ValueError:
        scheme, credentials, fragment = "https", False, False
    if scheme != "https" and not (scheme == "http" and config.http):
        found.append(said.webhook_not_https())
    elif target is None:
        found.append(said.webhook_not_url())
    if credentials:
        found.append(said.webhook_with_credentials())
    if fragment:
        found.append(said.webhook_with_fragment())
    shown = url if not credentials else None  # a password is not repeated
    return [problem_of("url", one, shown) for one in found]


class AddressGuard:
    """Judges addresses. `allow`: networks that are permitted although they are not public."""

    def __init__(self, allow: Sequence[str], resolve: Resolve | None = None) -> None:
        self._allow = [ipaddress.ip_network(one, strict=False) for one in allow]
        self._resolve = resolve or lookup

    def permits(self, address: str) -> bool:
        """Return whether we connect to an address: a public one of a single computer, or one that is allowed."""
        return permitted(address, self._allow)

    async def addresses(self, target: WebhookTarget) -> list[str]:
        """Return the addresses to connect to. Raises NotSent where there is none, or one of them is not permitted."""
        try:
            async with asyncio.timeout(LOOKUP_S):
                found = await self._resolve(target.host, target.port)
        except (OSError, TimeoutError, UnicodeError):
            found = []
        if not found:
            raise NotSent(said.webhook_host_unknown(target.host))
        for address in found:
            if not self.permits(address):
                number = address == target.host
                raise NotSent(
                    said.webhook_number_refused(address)
                    if number
                    else said.webhook_address_refused(target.host, address)
                )
        return found


async def lookup(host: str, port: int) -> list[str]:
    """Return the addresses of a name, or of an address itself. Raises OSError."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(one[4][0]) for one in found))
