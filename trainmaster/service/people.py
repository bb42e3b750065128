"""People: who is who. Users, passwords, sessions, API tokens and the local command line's token.

Whoever was recognised is remembered for REMEMBER_S, so that a request costs one hash and no I/O; what is revoked here is
forgotten at once, what another process revokes after that time. Passwords are argon2 hashes, made in a worker thread, two
at a time. Invariant: a secret leaves this file once, at its creation, and is never logged.
"""

import asyncio
import hashlib
import hmac
import os
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from trainmaster.access.roles import Principal, Via
from trainmaster.core.errors import Conflict, NotFound, ProblemList, RateLimited, Unauthenticated
from trainmaster.core.layout import Layout
from trainmaster.service.throttle import Throttle
from trainmaster.store.people import People as Rows
from trainmaster.store.people import Session, Token, User, digest

ADMIN: Final = "admin"
TOKEN_PREFIX: Final = "tm_"
SESSION_S: Final = 7 * 86400.0
REMEMBER_S: Final = 30.0
MIN_PASSWORD: Final = 10
MAX_PASSWORD: Final = 1024
MAX_TOKENS: Final = 100
_MAX_KNOWN: Final = 10_000
_LETTERS: Final = "abcdefghjkmnpqrstuvwxyz23456789"  # nothing that is mistaken for another when copied by hand


def csrf_of(session_secret: str) -> str:
    """Return the CSRF token of a session. Derived, so that no other session's fits and none has to be looked up."""
    return hmac.new(session_secret.encode(), b"trainmaster csrf", hashlib.sha256).hexdigest()


@dataclass(frozen=True, slots=True)
class _Known:
    """Somebody recognised: until when that is believed without asking the store again."""

    principal: Principal
    until: float
    token: str = ""


class People:
    """Knows everybody. `clock` returns seconds since the epoch."""

    def __init__(self, rows: Rows, layout: Layout, clock: Callable[[], float] = time.time) -> None:
        self._rows = rows
        self._layout = layout
        self._clock = clock
        self._known: OrderedDict[str, _Known] = OrderedDict()  # by digest of token or session
        self._touched: dict[str, float] = {}
        self._local_digest = ""
        self._throttle = Throttle()
        self._hashing = asyncio.Semaphore(2)
        # RFC 9106's second choice takes 64 MiB; OWASP's equal at 19 MiB keeps the whole server under 100 MiB.
        self._hasher = PasswordHasher(time_cost=2, memory_cost=19_456, parallelism=1)
        self._nobody = ""  # a hash that no password fits, so that an unknown name takes as long as a known one
        self.one_time_password: str | None = None

    async def start(self) -> None:
        """Create the administrator on the first start, and the local token's file.

        After a first start `one_time_password` holds the password to show once. Raises OSError, StorageFailed.
        """
        if await asyncio.to_thread(self._rows.user, ADMIN) is None:
            password = "-".join("".join(secrets.choice(_LETTERS) for _ in range(4)) for _ in range(4))
            admin = User(ADMIN, await self._hash(password), "admin", True, created_at=self._clock())
            try:
                await asyncio.to_thread(self._rows.add_user, admin)
                self.one_time_password = password
            except Conflict:
                self.one_time_password = None  # another server process on the same database was faster
        self._local_digest = digest(await asyncio.to_thread(local_token, self._layout))

    # ------------------------------------------------------------------------------------------------- recognising

    async def by_token(self, secret: str) -> Principal:
        """Return who holds this API token or local token. Raises Unauthenticated."""
        mark = digest(secret)
        if self._local_digest and hmac.compare_digest(mark, self._local_digest):
            return Principal(ADMIN, "admin", Via.LOCAL)
        now = self._clock()
        known = self._remembered(mark, now)
        if known is None:
            token = await asyncio.to_thread(self._rows.token, secret, now)
            user = await asyncio.to_thread(self._rows.user, token.owner) if token is not None else None
            if token is None or user is None:
                remedy = "Create a token with: tm token create NAME"
                raise Unauthenticated("The token is not known here, or has expired", remedy=remedy)
            known = self._remember(mark, Principal(user.name, user.role, Via.TOKEN), token.expires_at, token.id)
        if now - self._touched.get(known.token, 0.0) > 60.0:
            self._touched[known.token] = now
            self._rows.touch_token(known.token, now)
        return known.principal

    async def by_session(self, secret: str) -> Principal:
        """Return who is signed in with this cookie. Raises Unauthenticated."""
        mark, now = digest(secret), self._clock()
        known = self._remembered(mark, now)
        if known is None:
            session = await asyncio.to_thread(self._rows.session, secret, now)
            user = await asyncio.to_thread(self._rows.user, session.user) if session is not None else None
            if session is None or user is None:
                raise Unauthenticated("You are not signed in, or the session has ended", remedy="Sign in again.")
            principal = Principal(user.name, user.role, Via.SESSION, confined=user.must_change_password)
            known = self._remember(mark, principal, session.expires_at)
        return known.principal

    async def user(self, name: str) -> User:
        """Return the user. Raises NotFound."""
        user = await asyncio.to_thread(self._rows.user, name)
        if user is None:
            raise NotFound(f"There is no user {name}")
        return user

    # ---------------------------------------------------------------------------------------------------- sessions

    async def sign_in(self, name: str, password: str, client: str) -> tuple[str, Principal]:
        """Check a password; return (session secret for the cookie, who). `client` is the address it comes from.

        Raises Unauthenticated, or RateLimited after repeated failures of this name or address.
        """
        keys = (f"name {name[:200]} {client}", f"client {client}")
        self._throttled(keys)
        user = await asyncio.to_thread(self._rows.user, name)
        good = await self._verify(user.password_hash if user else await self._somebody(), password)
        if user is None or not good:
            raise Unauthenticated(
                "User name or password is wrong",
                remedy="Check both. On the server's own machine a new password can be set with: tm password",
            )
        for key in keys:
            self._throttle.succeeded(key)
        secret, now = secrets.token_urlsafe(32), self._clock()
        session = Session(user.name, csrf_of(secret), now, now + SESSION_S)
        await asyncio.to_thread(self._rows.add_session, secret, session)
        return secret, Principal(user.name, user.role, Via.SESSION, confined=user.must_change_password)

    async def sign_out(self, secret: str) -> None:
        """End the session; nothing happens when it has ended already."""
        self._known.pop(digest(secret), None)
        await asyncio.to_thread(self._rows.drop_session, secret)

    async def change_password(self, who: Principal, old: str | None, new: str, keep: str | None = None) -> None:
        """Set a new password and end all other sessions (`keep` is the secret of the one that goes on).

        The old password is needed except over the local token, whose holder owns the server's files anyway. Raises
        InvalidSpec listing all that is wrong with `new`, Unauthenticated for a wrong `old`, RateLimited.
        """
        user = await self.user(who.name)
        _check_password(user, old, new)
        if who.via is not Via.LOCAL:
            key = f"change {user.name}"
            self._throttled((key,))
            if not await self._verify(user.password_hash, old or ""):
                remedy = "On the server's own machine no old password is needed: tm password"
                raise Unauthenticated("The old password is wrong", remedy=remedy)
            self._throttle.succeeded(key)
        hashed = await self._hash(new)
        await asyncio.to_thread(self._rows.set_password, user.name, hashed, keep_session=keep or "")
        self._forget(lambda known: known.principal.name == user.name and known.principal.via is Via.SESSION)
        if user.name == ADMIN:
            self.one_time_password = None

    # ------------------------------------------------------------------------------------------------------ tokens

    async def tokens(self, who: Principal) -> list[dict[str, Any]]:
        """Return the tokens of `who`, newest first, without their secrets."""
        mine = await asyncio.to_thread(self._rows.tokens, who.name)
        return [_token_view(token) for token in reversed(mine)]

    async def create_token(self, who: Principal, name: str, expires_in_s: float | None = None) -> dict[str, Any]:
        """Create a token of `who`; the answer is the only place where its text is ever shown. Raises Conflict."""
        if len(await asyncio.to_thread(self._rows.tokens, who.name)) >= MAX_TOKENS:
            raise Conflict(f"You already have {MAX_TOKENS} tokens", remedy="Delete the ones you no longer use.")
        secret, now = TOKEN_PREFIX + secrets.token_urlsafe(32), self._clock()
        expires = None if expires_in_s is None else now + expires_in_s
        token = Token("k" + secrets.token_hex(8), name, who.name, now, expires)
        await asyncio.to_thread(self._rows.add_token, secret, token)
        return {**_token_view(token), "token": secret}

    async def delete_token(self, who: Principal, token_id: str) -> None:
        """Delete a token; it is refused from now on. Raises NotFound for one that is not there or somebody else's."""
        await asyncio.to_thread(self._rows.drop_token, token_id, who.name)
        self._forget(lambda known: known.token == token_id)

    # ------------------------------------------------------------------------------------------------------- inside

    def _throttled(self, keys: tuple[str, ...]) -> None:
        """Raise RateLimited, or note a failure ahead: tries sent side by side must not slip through together."""
        now = self._clock()
        wait = max(self._throttle.wait_s(key, now) for key in keys)
        if wait > 0:
            raise RateLimited(f"Too many failed tries; wait {wait:.0f} seconds", remedy="Wait, then try again.")
        for key in keys:
            self._throttle.failed(key, now)

    def _remembered(self, mark: str, now: float) -> _Known | None:
        known = self._known.get(mark)
        return known if known is not None and now < known.until else None

    def _remember(self, mark: str, principal: Principal, expires_at: float | None, token: str = "") -> _Known:
        until = self._clock() + REMEMBER_S
        known = _Known(principal, until if expires_at is None else min(until, expires_at), token)
        self._known[mark] = known
        while len(self._known) > _MAX_KNOWN:
            self._known.popitem(last=False)
        return known

    def _forget(self, which: Callable[[_Known], bool]) -> None:
        for mark in [mark for mark, known in self._known.items() if which(known)]:
            del self._known[mark]

    async def _somebody(self) -> str:
        self._nobody = self._nobody or await self._hash(secrets.token_urlsafe())
        return self._nobody

    async def _hash(self, password: str) -> str:
        async with self._hashing:
            return await asyncio.to_thread(self._hasher.hash, password)

    async def _verify(self, hashed: str, password: str) -> bool:
        if len(password) > MAX_PASSWORD:
            return False
        async with self._hashing:
            try:
                return await asyncio.to_thread(self._hasher.verify, hashed, password)
            except (VerificationError, InvalidHashError):
                return False


def _check_password(user: User, old: str | None, new: str) -> None:
    problems = ProblemList()
    if not MIN_PASSWORD <= len(new) <= MAX_PASSWORD:
        rule = f"must have {MIN_PASSWORD} to {MAX_PASSWORD} characters"
        problems.add("new", rule, "Use several words.", code="length")
    if user.name.lower() in new.lower():
        problems.add("new", "must not contain the user name", "Use several unrelated words.", code="guessable")
    if old is not None and old == new:
        problems.add("new", "must differ from the old password", "Choose another one.", code="same")
    problems.raise_if_any("The new password is not acceptable")


def _token_view(token: Token) -> dict[str, Any]:
    return {
        "id": token.id, "name": token.name, "user": token.owner, "created_at": token.created_at,
        "expires_at": token.expires_at, "last_used_at": token.last_used_at,
    }  # fmt: skip


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
