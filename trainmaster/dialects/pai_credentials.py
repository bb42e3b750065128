"""Credentials of registries in documents of OpenPAI's version 2 (R69): said what becomes of them here. Pure.

Invariant: no word of a password is in what is said.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from trainmaster.core.errors import Problem
from trainmaster.messages.jobs import form
from trainmaster.spec.problems import problem

MOST: Final = 50
"""Prerequisites that are looked at."""
_OF_SECRETS: Final = re.compile(r"<%\s*\$secrets\.([A-Za-z0-9_.-]{1,100})\s*%>")
_REFERENCE: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/-]{0,299}(?:@sha256:[0-9a-f]{64})?")


def credential_problems(document: Mapping[str, Any]) -> list[Problem]:
    """Return a problem for each `auth` of a Docker image, at its password or the secret that holds it. O(document)."""
    given = document.get("prerequisites")
    many = given[:MOST] if isinstance(given, list) else []
    return [found for at, one in enumerate(many) if isinstance(one, Mapping) for found in _of(document, at, one)]


def _of(document: Mapping[str, Any], at: int, one: Mapping[str, Any]) -> Iterator[Problem]:
    auth, uri = one.get("auth"), one.get("uri")
    if one.get("type") != "dockerimage" or not isinstance(auth, Mapping):
        return
    image = uri if isinstance(uri, str) and _REFERENCE.fullmatch(uri) else "REF"
    password = auth.get("password")
    named = _OF_SECRETS.fullmatch(password.strip()) if isinstance(password, str) else None
    secrets = document.get("secrets")
    if named is None and password:
        yield problem(f"prerequisites.{at}.auth.password", form.pai_password_in_file(image))
    elif named is not None and isinstance(secrets, Mapping) and secrets.get(named[1]) not in (None, "", "******"):
        yield problem(f"secrets.{named[1]}", form.pai_password_in_file(image))
    else:
        yield problem(f"prerequisites.{at}.auth", form.pai_auth_is_a_secret(image))
