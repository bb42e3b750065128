"""The local command line's token: a file that only the server's own user can read. Whoever can owns the server's files anyway."""

import os
import secrets
from typing import Final

from trainmaster.core.layout import Layout

TOKEN_PREFIX: Final = "tm_"


def local_token(layout: Layout) -> str:
    """Return the text in HOME/secrets/cli-token, making the file (0600, folder 0700) when it is missing or not private.

    Blocking. Raises OSError.
    """
    path = layout.cli_token
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    try:
        status = os.stat(path, follow_symlinks=False)
        if status.st_mode & 0o777 == 0o600 and status.st_uid == os.geteuid():
            with open(path, encoding="ascii") as file:
                secret = file.read().strip()
            if len(secret) >= 32:
                return secret
    except FileNotFoundError:
        pass
    secret = TOKEN_PREFIX + "local_" + secrets.token_urlsafe(32)
    fresh = f"{path}.new"
    with open(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="ascii") as file:
        os.fchmod(file.fileno(), 0o600)
        file.write(secret + "\n")
        file.flush()
        os.fsync(file.fileno())
    os.replace(fresh, path)
    return secret
