"""Seals the values of secrets, and opens them for a launch. The one place where a stored value becomes text again.

A value is sealed with AES-256-GCM, under a key that lies in HOME/secrets/workspace-keys and in no database; workspace
and name are part of what is sealed, so that a row that is put in another's place does not open. Each line of that file
is a key: the first seals, all open. Blocking.
"""

import base64
import hashlib
import os
from collections.abc import Collection, Mapping
from typing import Final

from trainmaster.core.errors import NotFound, Unavailable
from trainmaster.core.folders.layout import Layout
from trainmaster.messages.jobs import rules, starting
from trainmaster.messages.server import secrets as said
from trainmaster.service.folders.secret_files import secret_in
from trainmaster.store.people.secrets import SecretRow, SecretRows

KEYS: Final = "workspace-keys"
_NONCE: Final = 12
_SIZE: Final = 32


class NotOpened(Exception):
    """No key of this server opens it, or it was sealed for another place."""


class Vault:
    """Of one home."""

    def __init__(self, layout: Layout, rows: SecretRows) -> None:
        self._path, self.rows = layout.path("secrets", KEYS), rows

    def seal(self, workspace: str, name: str, value: str) -> tuple[str, str]:
        """Return (which key, sealed value). Raises Unavailable."""
        if not os.path.lexists(self._path):
            try:
                secret_in(self._path)
            except OSError as error:
                raise Unavailable(said.key_not_readable(error.strerror or str(error))) from error
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # noqa: PLC0415 - it takes 8 MB

        key, own = next(iter(self._keys().items()))
        nonce = os.urandom(_NONCE)
        made = AESGCM(own).encrypt(nonce, value.encode(), _place(workspace, name))
        return key, base64.b64encode(nonce + made).decode("ascii")

    def opened(self, workspace: str, name: str, key: str, sealed: str) -> str:
        """Return what `seal` sealed under this name. Raises NotOpened, Unavailable."""
        return _unsealed(_place(workspace, name), key, sealed, self._keys())

    def names(self, workspace: str) -> frozenset[str]:
        """Return which secrets a workspace has."""
        return frozenset(one.name for one in self.rows.of_workspace(workspace))

    def values(self, workspace: str, names: Collection[str], now: float) -> dict[str, str]:
        """Return the values of secrets, by name, and note that they are used. Raises NotFound naming all that are not
        there (any more) or cannot be opened, Unavailable.
        """
        there = {one.name: one for one in self.rows.of_workspace(workspace) if one.name in names}
        keys = self._keys() if there else {}
        found: dict[str, str] = {}
        wrong = []
        for name in dict.fromkeys(names):
            if name not in there:
                wrong.append(rules.unknown_secret(name, workspace))
                continue
            try:
                found[name] = _open(there[name], keys)
            except NotOpened:
                wrong.append(rules.secret_not_readable(name, workspace))
        if wrong:
            raise NotFound(starting.secrets_missing(wrong))
        self.rows.used(workspace, list(found), now)
        return found

    def _keys(self) -> dict[str, bytes]:
        """Return the keys by their names, the one that seals first. Raises Unavailable."""
        try:
            with open(self._path, encoding="ascii") as file:
                lines = [line.strip() for line in file]
            found = [key for line in lines if line and len(key := base64.urlsafe_b64decode(line + "=")) == _SIZE]
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or type(error).__name__
            raise Unavailable(said.key_not_readable(why)) from None
        if not found:
            raise Unavailable(said.key_not_readable(said.no_key()))
        return {hashlib.sha256(b"trainmaster key\0" + key).hexdigest()[:16]: key for key in found}


def _open(row: SecretRow, keys: Mapping[str, bytes]) -> str:
    """Return the value of a row. Raises NotOpened."""
    return _unsealed(_place(row.workspace, row.name), row.key, row.sealed, keys)


def _unsealed(place: bytes, key: str, sealed: str, keys: Mapping[str, bytes]) -> str:
    from cryptography.exceptions import InvalidTag  # noqa: PLC0415 - see `Vault.seal`
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # noqa: PLC0415

    try:
        raw = base64.b64decode(sealed, validate=True)
        return AESGCM(keys[key]).decrypt(raw[:_NONCE], raw[_NONCE:], place).decode()
    except (KeyError, ValueError, InvalidTag):
        raise NotOpened from None


def _place(workspace: str, name: str) -> bytes:
    return f"trainmaster secret\0{workspace}\0{name}".encode()
