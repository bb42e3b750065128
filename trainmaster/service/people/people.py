"""People: who is who. Users, passwords, sessions, and by which token of whom a request comes.

Whoever was recognised is remembered for REMEMBER_S, so that a request costs one hash and no I/O; what is revoked here
is forgotten at once, what another process revokes after that time. Passwords are argon2 hashes, made in a worker
thread, two at a time. Invariant: a secret leaves this file once, at its creation, and is never logged.
"""

import asyncio
import hmac
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Final

from trainmaster.access.roles import Principal, Via
from trainmaster.core.cluster import DEFAULT
from trainmaster.core.errors import Conflict, Forbidden, NotFound, TrainmasterError, Unauthenticated
from trainmaster.core.events import SYSTEM, Actor, AuditEvent, Changes, subject_of
from trainmaster.core.folders.layout import Layout
from trainmaster.messages.said import Said
from trainmaster.messages.server import access, audit
from trainmaster.messages.server import people as messages
from trainmaster.messages.server.sign_in import signed_in_through
from trainmaster.service.folders.secret_files import browsers_secret, local_token
from trainmaster.service.people.browsers import Browsers
from trainmaster.service.people.failures import MOST, SignInFailures, Telling
from trainmaster.service.people.flows import Flows
from trainmaster.service.people.passwords import Passwords, demand_acceptable, one_time
from trainmaster.service.people.tickets import Tickets
from trainmaster.service.people.told import joins, made
from trainmaster.service.people.turns import Pace, Turns
from trainmaster.store.people.accounts import FoundPerson, Session, User, digest
from trainmaster.store.people.accounts import PeopleRows as Rows
from trainmaster.store.people.members import Member

ADMIN: Final = "admin"
SESSION_S: Final = 7 * 86400.0
REMEMBER_S: Final = 30.0
ASK_AGAIN_S: Final = 1.0
OF_ADDRESS: Final = Pace(longest_s=2.0, seats=10)
OF_NAME: Final = Pace(longest_s=10.0, seats=3)
OF_BROWSER: Final = Pace(longest_s=10.0, seats=3)
"""How guesses are slowed: from one address, at one name from browsers that are not known, and in one browser that
is.
"""
_LOCAL: Final = Principal(ADMIN, "admin", Via.LOCAL)
_MAX_KNOWN: Final = 10_000


def mark_of(cookie: str, key: str) -> str:
    """Return the mark of a session: it is known by both of its secrets together, and by neither alone."""
    return digest(f"{cookie}.{key}")


@dataclass(frozen=True, slots=True)
class SignedIn:
    """What a browser gets. `key` is kept by the console's own pages and told to no other page, nor sent by the browser
    itself.

    `browser` is the mark by which it is known when the same person signs in there again.
    """

    cookie: str
    key: str
    browser: str
    principal: Principal


@dataclass(frozen=True, slots=True)
class Seen:
    """Somebody recognised, and the mark of the session or token by which they were."""

    principal: Principal
    mark: str


@dataclass(frozen=True, slots=True)
class _Known:
    """Somebody recognised: until when that is believed without asking the store again, and whether it is believed no
    more.
    """

    principal: Principal
    until: float
    token: str = ""
    over: asyncio.Event = field(default_factory=asyncio.Event)


class People:
    """Knows everybody. `clock` returns seconds since the epoch."""

    def __init__(self, rows: Rows, layout: Layout, clock: Callable[[], float] = time.time) -> None:
        self._rows = rows
        self._layout = layout
        self._clock = clock
        self._known: OrderedDict[str, _Known] = OrderedDict()  # by digest of token or session
        self._ended = 0  # how often something was ended: what was looked up meanwhile is not remembered
        self._touched: dict[str, float] = {}
        self._local_digest = ""
        self._turns = Turns(time.monotonic)
        self._browsers, self.flows = Browsers(secrets.token_urlsafe(32)), Flows(secrets.token_urlsafe(32))
        self._passwords = Passwords()
        self._failures = SignInFailures(clock)
        self.tickets = Tickets(clock)
        self.one_time_password: str | None = None
        self._opened = False  # whether somebody is known to have signed in once

    async def start(self) -> None:
        """Create the administrator on the first start, and the local token's file.

        After a first start `one_time_password` holds the password to show once. Raises OSError, StorageFailed.
        """
        if await asyncio.to_thread(self._rows.user, ADMIN) is None:
            password, now = one_time(), self._clock()
            admin = User(ADMIN, await self._passwords.hash(password), "admin", True, created_at=now)
            try:
                audit_event = self._audit_event(ADMIN, audit.user_made(ADMIN, admin.role), SYSTEM, made(admin))
                members = [Member(DEFAULT, ADMIN, "owner", now)]
                await asyncio.to_thread(self._rows.add_user, admin, audit_event, members)
                self.one_time_password = password
            except Conflict:
                self.one_time_password = None  # another server on this database made the administrator first
        await self.meet()

    async def unopened(self) -> bool:
        """Return whether nobody has signed in yet and the administrator's first one-time password still stands. Asked
        by who is not signed in: once it is not so, nothing is read any more.
        """
        if not self._opened:
            codes = [one.code for one in (audit.signed_in(""), signed_in_through("", ""), audit.password_given(""))]
            self._opened = not await asyncio.to_thread(self._rows.is_unopened, ADMIN, codes)
        return not self._opened

    async def meet(self) -> None:
        """Read the secrets by which the local command line and known browsers are recognised. Raises OSError."""
        self._local_digest = digest(await asyncio.to_thread(local_token, self._layout))
        secret = await asyncio.to_thread(browsers_secret, self._layout)
        self._browsers, self.flows = Browsers(secret), Flows(secret)

    # ------------------------------------------------------------------------------------------------- recognising

    async def by_token(self, secret: str) -> Seen:
        """Return who holds this API token or local token. Raises Unauthenticated."""
        mark = digest(secret)
        if self._local_digest and hmac.compare_digest(mark, self._local_digest):
            return Seen(_LOCAL, mark)
        return Seen(await self.recognise(mark, Via.TOKEN), mark)

    async def by_session(self, cookie: str, key: str) -> Seen:
        """Return who is signed in with this cookie and this key. Raises Unauthenticated."""
        mark = mark_of(cookie, key)
        return Seen(await self.recognise(mark, Via.SESSION), mark)

    async def by_ticket(self, cookie: str, ticket: str, address: str) -> Seen:
        """Return who took this ticket to `address` in the session of this cookie; it is used up. Raises
        Unauthenticated.
        """
        mark = self.tickets.take(ticket, cookie, address)
        return Seen(await self.recognise(mark, Via.SESSION), mark)

    async def recognise(self, mark: str, via: Via) -> Principal:
        """Return who has the session or the token with this mark. Raises Unauthenticated."""
        now = self._clock()
        known = self._remembered(mark, now) or await (self._token if via is Via.TOKEN else self._session)(mark, now)
        if known.token and now - self._touched.get(known.token, 0.0) > 60.0:
            self._touched[known.token] = now
            self._rows.touch_token(known.token, now)
        return known.principal

    async def _token(self, mark: str, now: float) -> _Known:
        ended = self._ended
        token = await asyncio.to_thread(self._rows.token, mark, now)
        found = await asyncio.to_thread(self._rows.person, token.owner) if token is not None else None
        if token is None or found is None:
            raise Unauthenticated(messages.token_not_known())
        holder = _principal(found, Via.TOKEN)
        scopes = None if token.scopes is None else frozenset(token.scopes)
        limited = replace(holder, scopes=scopes, within=token.workspace, until=token.expires_at, through=token.id)
        return self._remember(mark, limited, token.expires_at, ended, token.id)

    async def _session(self, mark: str, now: float) -> _Known:
        ended = self._ended
        session = await asyncio.to_thread(self._rows.session, mark, now)
        found = await asyncio.to_thread(self._rows.person, session.user) if session is not None else None
        if session is None or found is None:
            raise Unauthenticated(messages.session_ended())
        return self._remember(mark, _principal(found, Via.SESSION), session.expires_at, ended)

    async def wait_until_lost(self, seen: Seen) -> TrainmasterError:
        """Return why `seen` is allowed no more what it was, once that is so: at once when it was ended here, else
        within REMEMBER_S.
        """
        while seen.principal.via is not Via.LOCAL:
            try:
                if await self.recognise(seen.mark, seen.principal.via) != seen.principal:
                    return Forbidden(access.rights_changed())
            except Unauthenticated as error:
                return error
            except TrainmasterError:  # the store does not answer: no reason to send anybody away
                await asyncio.sleep(ASK_AGAIN_S)
                continue
            known = self._known.get(seen.mark)
            if known is not None:
                with suppress(TimeoutError):
                    async with asyncio.timeout(known.until - self._clock()):
                        await known.over.wait()
        never: asyncio.Future[TrainmasterError] = asyncio.get_running_loop().create_future()
        return await never

    async def user(self, name: str) -> User:
        """Return the user. Raises NotFound."""
        user = await asyncio.to_thread(self._rows.user, name)
        if user is None:
            raise NotFound(messages.no_such_user(name))
        return user

    # ---------------------------------------------------------------------------------------------------- sessions

    async def sign_in(
        self, name: str, password: str, client: str, browser: str | None = None, agent: str = "", address: str = ""
    ) -> SignedIn:
        """Check a password and begin a session. `client` is where it comes from, as guesses are counted, `address` as
        is told; `browser` the mark that it kept, `agent` what it calls itself.

        After failures it waits before it looks; in a browser that is known, failures elsewhere make no difference.
        Raises Unauthenticated, or RateLimited where more wait than may.
        """
        known = self._browsers.recognise(name, browser, self._clock())
        strange = ((f"address {client}", OF_ADDRESS), (f"name {name}", OF_NAME))
        lines = strange if known is None else ((f"browser {known}", OF_BROWSER),)
        for line, pace in lines:
            await self._turns.take(line, pace)
        found = await asyncio.to_thread(self._rows.person, name)
        good = await self._passwords.good(found.user if found else None, password)
        if found is None or not good:
            self._tell_failure(found.user if found else None, good, address or client)
            raise Unauthenticated(messages.name_or_password_wrong())
        for line, _ in lines:
            self._turns.succeeded(line)
        if found.user.state != "active":
            self._tell_failure(found.user, good, address or client)
        else:
            self._failures.forget(name, address or client)
        return await self.begin(found, address or client, agent, audit.signed_in(address or client))

    async def begin(self, found: FoundPerson, address: str, agent: str, said: Said) -> SignedIn:
        """Begin a session of somebody who has proven who they are; `said`: what the audit is told. Raises
        Unauthenticated for an account that is not in use, or whose password is another by now.
        """
        principal, user = replace(_principal(found, Via.SESSION), address=address), found.user
        cookie, key, now = secrets.token_urlsafe(32), secrets.token_urlsafe(32), self._clock()
        session = Session(user.name, now, now + SESSION_S, "s" + secrets.token_hex(8), address, agent)
        audit_event = self._audit_event(user.name, said, principal.actor)
        await asyncio.to_thread(self._rows.add_session, mark_of(cookie, key), session, audit_event, user)
        return SignedIn(cookie, key, self._browsers.mark(user.name, now), principal)

    async def turn(self, client: str) -> Callable[[], None]:
        """Wait for the turn of a try from this address that needs no name; return what is called when it succeeds.
        Raises RateLimited.
        """
        line = f"address {client}"
        await self._turns.take(line, OF_ADDRESS)
        return lambda: self._turns.succeeded(line)

    async def hashed(self, password: str) -> str:
        """Return what is stored of a password."""
        return await self._passwords.hash(password)

    def _tell_failure(self, user: User | None, good: bool, address: str) -> None:
        """Tell the audit of a sign-in that failed; nobody waits for it, or an account that exists took longer."""
        name = user.name if user is not None else ""
        told, count = self._failures.note(name, address)
        if told is Telling.NOTHING:
            return
        said = audit.sign_ins_not_listed(MOST)
        if told is Telling.FAILURE:
            known = audit.sign_in_while_locked if good else audit.sign_in_failed
            said = known(address, count) if name else audit.sign_in_unknown(address, count)
        self._rows.tell(self._audit_event(name, said, Actor("", address=address)))

    async def sign_out(self, who: Principal, mark: str) -> None:
        """End the session of `who` with this mark; nothing happens when it has ended already."""
        audit_event = self._audit_event(who.name, audit.signed_out(), who.actor)
        await asyncio.to_thread(self._rows.drop_session, mark, audit_event)
        self.forget_session(mark)

    async def change_password(self, who: Principal, old: str | None, new: str, keep: str | None = None) -> None:
        """Set a new password and end all other sessions (`keep` is the mark of the one that goes on).

        The old password is needed except over the local token, whose holder owns the server's files anyway. Raises
        InvalidSpec listing all that is wrong with `new`, Unauthenticated for a wrong `old`, RateLimited.
        """
        user = await self.user(who.name)
        demand_acceptable(user, old, new)
        if who.via is not Via.LOCAL:
            await self._turns.take(line := f"change {user.name}", OF_NAME)
            if not await self._passwords.good(user, old or ""):
                raise Unauthenticated(messages.old_password_wrong())
            self._turns.forget(line)
        hashed = await self._passwords.hash(new)
        said = audit.password_reset() if who.via is Via.LOCAL else audit.password_changed()
        audit_event = self._audit_event(user.name, said, who.actor)
        await asyncio.to_thread(self._rows.set_password, user.name, hashed, audit_event, keep_session=keep or "")
        self._forget(lambda _, known: known.principal.name == user.name and known.principal.via is Via.SESSION)
        if user.name == ADMIN:
            self.one_time_password = None

    async def give_password(self, name: str, by: Actor) -> str:
        """Give a user a one-time password, end all their sessions and return it. Raises NotFound."""
        password, user = one_time(), await self.user(name)
        audit_event = self._audit_event(user.name, audit.password_given(user.name), by)
        hashed = await self._passwords.hash(password)
        await asyncio.to_thread(self._rows.set_password, user.name, hashed, audit_event, must_change=True)
        self.forget(name)
        return password

    async def add(self, user: User, members: Sequence[Member], by: Actor) -> str:
        """Store a new user, who has no password yet, and return their one-time password. Raises Conflict."""
        password = one_time()
        user = replace(user, password_hash=await self._passwords.hash(password), must_change_password=True)
        audit_event = self._audit_event(user.name, audit.user_made(user.name, user.role), by, made(user))
        joined = [joins(one, audit_event) for one in members]
        await asyncio.to_thread(self._rows.add_user, user, audit_event, members, joined)
        return password

    def forget(self, name: str) -> None:
        """Look up again who `name` is and what they may: something of that was changed."""
        self._forget(lambda _, known: known.principal.name == name)

    def forget_token(self, token_id: str) -> None:
        """Refuse a token from now on."""
        self._forget(lambda _, known: known.token == token_id)

    def forget_session(self, mark: str) -> None:
        """Refuse a session from now on."""
        self._forget(lambda of, _: of == mark)

    def forget_all(self) -> None:
        """Look up everybody again: something of what many may was changed."""
        self._forget(lambda _, known: True)

    # ------------------------------------------------------------------------------------------------------- inside

    def _audit_event(self, person: str, said: Said, by: Actor, changes: Changes = ()) -> AuditEvent:
        """Return that this was done to a person now."""
        return AuditEvent(subject_of("person", person), said, self._clock(), by, changes)

    def _remembered(self, mark: str, now: float) -> _Known | None:
        known = self._known.get(mark)
        # At most REMEMBER_S away: the clock may have been set back since.
        return known if known is not None and 0 < known.until - now <= REMEMBER_S else None

    def _remember(
        self, mark: str, principal: Principal, expires_at: float | None, ended: int, token: str = ""
    ) -> _Known:
        """Return what is known now, and keep it unless something was ended since `ended` was counted."""
        until = self._clock() + REMEMBER_S
        before = self._known.get(mark)  # keep its event: somebody may wait for it
        over = before.over if before is not None else asyncio.Event()
        known = _Known(principal, until if expires_at is None else min(until, expires_at), token, over)
        if ended == self._ended:
            self._known[mark] = known
        while len(self._known) > _MAX_KNOWN:
            self._known.popitem(last=False)
        return known

    def _forget(self, which: Callable[[str, _Known], bool]) -> None:
        """Believe no more what `which(mark, known)` is true of."""
        self._ended += 1
        for mark in [mark for mark, known in self._known.items() if which(mark, known)]:
            self._known.pop(mark).over.set()


def _principal(person: FoundPerson, via: Via) -> Principal:
    """Return who this is. Raises Unauthenticated for an account that is not in use."""
    user = person.user
    if user.state != "active":
        raise Unauthenticated(messages.account_locked())
    memberships = tuple((one.workspace, one.role) for one in person.members)
    sharing = frozenset(name for name, _ in memberships) - person.closed
    confined = via is Via.SESSION and user.must_change_password
    closed, told = person.closed, person.owners_told
    return Principal(user.name, user.role, via, confined, memberships, sharing, closed, owners_told=told)
