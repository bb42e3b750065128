"""Users, sessions and API tokens as rows. Hashes passwords nowhere (the caller does); keeps sessions and tokens as
digests of their secrets (marks) only, so that a stolen copy of the database signs nobody in. Every change brings the
audit event that tells of it, which is stored with it (`store.audit`).

Methods block until durable or read: call them from a worker thread. Times are seconds since the epoch, given by the
caller.
"""

import hashlib
from collections.abc import Callable, Collection, Iterable
from dataclasses import asdict, dataclass
from typing import Any, Final, NamedTuple, TypeVar

from sqlalchemy import Connection, Row, delete, func, insert, or_, select, update

from trainmaster.core.errors import Conflict, NotFound, Unauthenticated
from trainmaster.core.events import AuditEvent
from trainmaster.messages.server import people
from trainmaster.store import audit
from trainmaster.store.cluster_settings import are_owners_told, where_closed
from trainmaster.store.database import Database
from trainmaster.store.notices.settings import forget_person
from trainmaster.store.people.members import Member
from trainmaster.store.tables import asset_favorite, favorite, member, saved_view, sessions, ssh_key, tokens, users

T = TypeVar("T")
STATES: Final = ("active", "locked", "deleted")
"""What a user is. A deleted one keeps the name, so that nobody else is ever taken for them."""


@dataclass(frozen=True, slots=True)
class User:
    """Somebody who can sign in. `password_hash` is argon2's text; `role` a key of access."""

    name: str
    password_hash: str
    role: str
    must_change_password: bool = False
    locale: str = ""  # "" follows the browser
    created_at: float = 0.0
    state: str = "active"  # one of STATES


class FoundPerson(NamedTuple):
    """A user with all that decides what they may. `closed`: the workspaces in which nothing is shared;
    `owners_told`: whether people are told whose the jobs are that they may not see.
    """

    user: User
    members: tuple[Member, ...]
    closed: frozenset[str]
    owners_told: bool = True


@dataclass(frozen=True, slots=True)
class Session:
    """One signed-in browser. Its secret is known to the browser alone; its mark is the secret's digest. `address` and
    `browser`: where the sign-in came from, and what the browser called itself.
    """

    user: str
    created_at: float
    expires_at: float
    id: str = ""
    address: str = ""
    browser: str = ""


@dataclass(frozen=True, slots=True)
class Token:
    """One API token, without its secret. `scopes`: all that it carries, None: whatever its owner may; `workspace`: the
    one that it is for, None: all of its owner's.
    """

    id: str
    name: str
    owner: str
    created_at: float
    expires_at: float | None = None
    last_used_at: float | None = None
    scopes: tuple[str, ...] | None = None
    workspace: str | None = None


def digest(secret: str) -> str:
    """Return the mark of a secret, which is all that is stored of it: it is too random (at least 128 bits) to need a
    slow hash.
    """
    return hashlib.sha256(secret.encode()).hexdigest()


class PeopleRows:
    """Users, sessions, tokens."""

    def __init__(self, database: Database) -> None:
        self._database = database

    # ---------------------------------------------------------------------------------------------------------- users

    def add_user(
        self, user: User, audit_event: AuditEvent, members: Iterable[Member] = (), also: Iterable[AuditEvent] = ()
    ) -> None:
        """Store a new user, a member of some workspaces, which `also` tells these. Raises Conflict when the name is
        taken.
        """

        def work(connection: Connection) -> None:
            connection.execute(insert(users).values(asdict(user)))
            for one in members:
                connection.execute(insert(member).values(asdict(one)))
            audit.write(connection, [audit_event, *also])

        self._write(work)

    def person(self, name: str) -> FoundPerson | None:
        """Return the user with this name, what they are a member of, by workspace, and where nothing is shared."""
        mine = select(member).where(member.c.user == name).order_by(member.c.workspace)
        with self._database.read() as connection:
            row = connection.execute(select(users).where(users.c.name == name)).first()
            if row is None:
                return None
            members = tuple(Member(**one._mapping) for one in connection.execute(mine))
            closed = where_closed(connection)
            told = are_owners_told(connection)
        return FoundPerson(User(**row._mapping), members, closed, told)

    def user(self, name: str) -> User | None:
        """Return the user with this name."""
        with self._database.read() as connection:
            row = connection.execute(select(users).where(users.c.name == name)).first()
        return User(**row._mapping) if row else None

    def is_unopened(self, name: str, opening: Collection[str]) -> bool:
        """Return whether this user has to change their password and the audit tells of nothing by which a server is
        opened: `opening`, the codes of sign-ins and of passwords that were given anew.
        """
        waits = select(users.c.name).where(users.c.name == name, users.c.must_change_password)
        with self._database.read() as connection:
            return connection.scalar(waits) is not None and not audit.tells_any(connection, opening)

    def users(self) -> list[User]:
        """Return all users by name."""
        with self._database.read() as connection:
            return [User(**row._mapping) for row in connection.execute(select(users).order_by(users.c.name))]

    def set_password(
        self,
        name: str,
        password_hash: str,
        audit_event: AuditEvent,
        *,
        must_change: bool = False,
        keep_session: str = "",
    ) -> None:
        """Store another password and end the user's sessions but `keep_session` (its mark). Raises NotFound."""

        def work(connection: Connection) -> None:
            values = {"password_hash": password_hash, "must_change_password": must_change}
            self._change_user(connection, name, values)
            connection.execute(delete(sessions).where(sessions.c.user == name, sessions.c.id_hash != keep_session))
            audit.write(connection, [audit_event])

        self._write(work)

    def set_state(self, name: str, state: str, audit_event: AuditEvent, also: Iterable[AuditEvent] = ()) -> None:
        """Let a user be active, locked or deleted. Who is no longer active is signed out; who is deleted has neither
        password, tokens, views, favorites nor memberships any more, which `also` tells the workspaces. Raises NotFound.
        """

        def work(connection: Connection) -> None:
            gone = state == "deleted"
            self._change_user(connection, name, {"state": state, **({"password_hash": ""} if gone else {})})
            if state != "active":
                connection.execute(delete(sessions).where(sessions.c.user == name))
            if gone:
                connection.execute(delete(tokens).where(tokens.c.owner == name))
                connection.execute(delete(member).where(member.c.user == name))
                forget_person(connection, name)
                connection.execute(delete(ssh_key).where(ssh_key.c.user == name))
                connection.execute(delete(saved_view).where(saved_view.c.owner == name))
                for table in (favorite, asset_favorite):
                    connection.execute(delete(table).where(table.c.user == name))
            audit.write(connection, [audit_event, *also])

        self._write(work)

    def set_locale(self, name: str, locale: str) -> None:
        """Store the language the user chose. Raises NotFound."""
        self._write(lambda c: self._change_user(c, name, {"locale": locale}))

    @staticmethod
    def _change_user(connection: Connection, name: str, values: dict[str, object]) -> None:
        if connection.execute(update(users).where(users.c.name == name).values(values)).rowcount != 1:
            raise NotFound(people.no_such_user(name))

    # ------------------------------------------------------------------------------------------------------- sessions

    def add_session(self, mark: str, session: Session, audit_event: AuditEvent, proven: User | None = None) -> None:
        """Store a session under its mark; sessions that ended before it began are forgotten. `proven`: the user as they
        were when they proved who they are. Raises Unauthenticated where their password or state is another by now.
        """
        of = users.c

        def work(connection: Connection) -> None:
            if proven is not None:
                same = (of.name == proven.name, of.password_hash == proven.password_hash, of.state == proven.state)
                if connection.scalar(select(of.name).where(*same)) is None:
                    raise Unauthenticated(people.session_ended())
            connection.execute(delete(sessions).where(sessions.c.expires_at <= session.created_at))
            connection.execute(insert(sessions).values(id_hash=mark, **asdict(session)))
            audit.write(connection, [audit_event])

        self._write(work)

    def session(self, mark: str, now: float) -> Session | None:
        """Return the session with this mark, None when there is none or it has ended."""
        statement = select(sessions).where(sessions.c.id_hash == mark, sessions.c.expires_at > now)
        with self._database.read() as connection:
            row = connection.execute(statement).first()
        return _session(row) if row else None

    def sessions(self, user: str, now: float) -> list[Session]:
        """Return the sessions of a user that have not ended, newest first."""
        mine = select(sessions).where(sessions.c.user == user, sessions.c.expires_at > now)
        with self._database.read() as connection:
            return [_session(row) for row in connection.execute(mine.order_by(sessions.c.created_at.desc()))]

    def end_session(self, user: str, id_: str, audit_event: AuditEvent) -> str:
        """End a session of a user and return its mark. Raises NotFound."""

        def work(connection: Connection) -> str:
            mine = (sessions.c.user == user, sessions.c.id == id_)
            mark = connection.scalar(select(sessions.c.id_hash).where(*mine))
            if mark is None:
                raise NotFound(people.no_such_session(repr(id_)))
            connection.execute(delete(sessions).where(*mine))
            audit.write(connection, [audit_event])
            return str(mark)

        return self._write(work)

    def drop_session(self, mark: str, audit_event: AuditEvent) -> None:
        """Sign out; nothing happens when there is no such session."""

        def work(connection: Connection) -> None:
            if connection.execute(delete(sessions).where(sessions.c.id_hash == mark)).rowcount:
                audit.write(connection, [audit_event])

        self._write(work)

    # --------------------------------------------------------------------------------------------------------- tokens

    def add_token(self, mark: str, token: Token, audit_event: AuditEvent, most: int = 2**31) -> None:
        """Store an API token under its mark. Raises Conflict when its id or mark exists, or where its owner has `most`
        already.
        """

        def work(connection: Connection) -> None:
            theirs = select(func.count()).where(tokens.c.owner == token.owner)
            if (connection.scalar(theirs) or 0) >= most:
                raise Conflict(people.too_many_tokens(most))
            values = {**asdict(token), "scopes": None if token.scopes is None else " ".join(token.scopes)}
            connection.execute(insert(tokens).values(token_hash=mark, **values))
            audit.write(connection, [audit_event])

        self._write(work)

    def token(self, mark: str, now: float) -> Token | None:
        """Return the token with this mark, None when there is none or it has expired."""
        alive = or_(tokens.c.expires_at.is_(None), tokens.c.expires_at > now)
        with self._database.read() as connection:
            row = connection.execute(select(tokens).where(tokens.c.token_hash == mark, alive)).first()
        return _token(row) if row else None

    def tokens(self, owner: str) -> list[Token]:
        """Return the tokens of `owner`, oldest first."""
        statement = select(tokens).where(tokens.c.owner == owner).order_by(tokens.c.created_at, tokens.c.id)
        with self._database.read() as connection:
            return [_token(row) for row in connection.execute(statement)]

    def drop_token(self, id_: str, owner: str, audit_event: AuditEvent) -> None:
        """Revoke a token of `owner`. Raises NotFound."""

        def work(connection: Connection) -> None:
            mine = delete(tokens).where(tokens.c.id == id_, tokens.c.owner == owner)
            if connection.execute(mine).rowcount != 1:
                raise NotFound(people.no_such_token(repr(id_)))
            audit.write(connection, [audit_event])

        self._write(work)

    def tell(self, audit_event: AuditEvent) -> None:
        """Store what changed nothing, a sign-in that failed; does not wait."""
        self._database.write(lambda connection: audit.write(connection, [audit_event]))

    def touch_token(self, id_: str, now: float) -> None:
        """Note when a token was last used; does not wait. Callers touch a token at most once a minute."""
        self._database.write(lambda c: c.execute(update(tokens).where(tokens.c.id == id_).values(last_used_at=now)))

    def _write(self, work: Callable[[Connection], T]) -> T:
        return self._database.write(work).result()


def _token(row: Row[Any]) -> Token:
    values = {name: row._mapping[name] for name in Token.__slots__}
    return Token(**{**values, "scopes": None if row.scopes is None else tuple(row.scopes.split())})


def _session(row: Row[Any]) -> Session:
    return Session(**{name: row._mapping[name] for name in Session.__slots__})
