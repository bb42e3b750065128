"""Passwords: what one has to be like, and argon2 hashes of them, made and compared in two threads of their own.

Each thread keeps the memory of its last hash: over all workers of the server that would be ten times as much.
"""

import asyncio
import secrets
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from trainmaster.core.errors import InvalidSpec, problem_of
from trainmaster.messages.said import Said
from trainmaster.messages.server import people
from trainmaster.store.people.accounts import User

MIN_PASSWORD: Final = 10
MAX_PASSWORD: Final = 1024
TELLING_NAME: Final = 4
"""From so many characters on a user name in a password helps who guesses; a shorter one is in many good passwords."""
AT_ONCE: Final = 2
_LETTERS: Final = "abcdefghjkmnpqrstuvwxyz23456789"  # without letters and digits that look alike


class Passwords:
    """Hashes and compares. One per server."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(AT_ONCE, "password")
        # RFC 9106's second choice takes 64 MiB; OWASP's equal at 19 MiB keeps the whole server under 100 MiB.
        self._hasher = PasswordHasher(time_cost=2, memory_cost=19_456, parallelism=1)
        self._nobodys = ""  # a hash that fits no password: an unknown name then takes as long as a known one

    async def hash(self, password: str) -> str:
        """Return what is stored of a password."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._hasher.hash, password)

    async def good(self, user: User | None, password: str) -> bool:
        """Return whether this is the password of the user. For nobody it is none, and takes as long to say."""
        self._nobodys = self._nobodys or await self.hash(secrets.token_urlsafe())
        if len(password) > MAX_PASSWORD:
            return False
        stored = (user.password_hash if user else "") or self._nobodys  # some have no password
        try:
            return await asyncio.get_running_loop().run_in_executor(
                self._threads, self._hasher.verify, stored, password
            )
        except (VerificationError, InvalidHashError):
            return False


def one_time() -> str:
    """Return a new one-time password, which can be read out: 79 bits."""
    return "-".join("".join(secrets.choice(_LETTERS) for _ in range(4)) for _ in range(4))


def demand_acceptable(user: User, old: str | None, new: str) -> None:
    """Let a new password pass. Raises InvalidSpec listing all that is wrong with it."""
    wrong = wrong_with(user.name, old, new)
    if wrong:
        problems = tuple(problem_of("new", said) for said in wrong)
        raise InvalidSpec(people.password_not_acceptable(len(wrong)), problems=problems)


def wrong_with(name: str, old: str | None, new: str) -> list[Said]:
    """Return all that is wrong with a new password of `name`."""
    wrong = []
    if not MIN_PASSWORD <= len(new) <= MAX_PASSWORD:
        wrong.append(people.length(MIN_PASSWORD, MAX_PASSWORD))
    if len(name) >= TELLING_NAME and name.lower() in new.lower():
        wrong.append(people.guessable())
    if old is not None and old == new:
        wrong.append(people.same())
    return wrong
