"""Secrets in files that only the server's own user can read. Whoever can owns the server's files anyway."""

import os
import secrets
from typing import Final

from trainmaster.core.folders.layout import Layout

TOKEN_PREFIX: Final = "tm_"


def local_token(layout: Layout) -> str:
    """Return the token of the local command line. Blocking. Raises OSError."""
    return secret_in(layout.cli_token, TOKEN_PREFIX + "local_")


def browsers_secret(layout: Layout) -> str:
    """Return the secret by which marks of known browsers are signed. Blocking. Raises OSError."""
    return secret_in(layout.path("secrets", "browsers"))


def servers_secret(layout: Layout) -> str:
    """Return the secret by which the servers of one home know each other. Blocking. Raises OSError."""
    return secret_in(layout.path("secrets", "servers"))


def seals_secret(layout: Layout) -> str:
    """Return the secret by which numbers in answers are sealed. Blocking. Raises OSError."""
    return secret_in(layout.path("secrets", "seals"))


def webhooks_secret(layout: Layout) -> str:
    """Return the secret of which those of webhooks are made. Blocking. Raises OSError."""
    return secret_in(layout.path("secrets", "webhooks"))


def secret_in(path: str, prefix: str = "") -> str:
    """Return the text in the file, making it (0600, its folder 0700) when it is missing or not private.

    Blocking. Raises OSError.
    """
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    if found := _private_text(path):
        return found
    secret = prefix + secrets.token_urlsafe(32)
    fresh = f"{path}.{secrets.token_hex(4)}.new"
    with open(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as file:
        os.fchmod(file.fileno(), 0o600)
        file.write(secret + "\n")
        file.flush()
        os.fsync(file.fileno())
    try:
        os.link(fresh, path)
    except FileExistsError:  # of two servers that start together the first one's holds
        if found := _private_text(path):
            os.unlink(fresh)
            return found
        os.replace(fresh, path)
    else:
        os.unlink(fresh)
    return secret


def _private_text(path: str) -> str:
    """Return what is in the file, "" where it is missing, not private, or no secret. Raises OSError."""
    try:
        status = os.stat(path, follow_symlinks=False)
        if status.st_mode & 0o777 == 0o600 and status.st_uid == os.geteuid():
            with open(path, encoding="ascii") as file:
                secret = file.read().strip()
            if len(secret) >= 32:
                return secret
    except FileNotFoundError:
        pass
    return ""
