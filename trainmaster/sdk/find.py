"""Where the server is and how to prove who we are: arguments, then environment, then the home folder of this machine.

Invariant: the local token of a home folder is sent only to the server that this home names; a token is never sent to an
address it was not given for.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from trainmaster.core.errors import Unavailable
from trainmaster.core.folders.layout import Layout
from trainmaster.messages.server import client

DEFAULT_HOME: Final = "~/.trainmaster"


@dataclass(frozen=True, slots=True)
class Target:
    """A server and the token for it, None when there is none to offer."""

    url: str
    token: str | None


def home_folder(home: str | None = None, environ: Mapping[str, str] = os.environ) -> str:
    """Return the absolute home folder: the argument, TRAINMASTER_HOME, or ~/.trainmaster."""
    return os.path.abspath(os.path.expanduser(home or environ.get("TRAINMASTER_HOME") or DEFAULT_HOME))


def server_file(home: str) -> str:
    """Return the path of the file in which a running server says where it is."""
    return Layout(home).path("run", "server.json")


def locate(
    url: str | None = None, token: str | None = None, home: str | None = None, environ: Mapping[str, str] = os.environ
) -> Target:
    """Return the server to talk to. Raises Unavailable when nothing says where one is."""
    folder = home_folder(home, environ)
    local = _local_url(folder)
    # A home named by the caller means the server of that home, whatever the environment says.
    wanted = url or (None if home else environ.get("TRAINMASTER_URL")) or local
    if wanted is None:
        closed = os.path.isdir(folder) and not os.access(folder, os.X_OK)
        raise Unavailable(client.home_is_closed(folder) if closed else client.no_server_on_home(folder))
    wanted = wanted.rstrip("/")
    if urlsplit(wanted).scheme not in ("http", "https"):
        raise Unavailable(client.not_a_server_address(wanted))
    secret = token or (None if home else environ.get("TRAINMASTER_TOKEN"))
    if secret is None and local is not None and wanted == local:
        secret = _local_token(folder)
    return Target(wanted, secret)


def _local_url(home: str) -> str | None:
    try:
        with open(server_file(home), encoding="utf-8") as file:
            url = json.load(file)["url"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return str(url).rstrip("/")


def _local_token(home: str) -> str | None:
    try:
        with open(Layout(home).cli_token, encoding="ascii") as file:
            return file.read().strip() or None
    except (OSError, ValueError):
        return None
