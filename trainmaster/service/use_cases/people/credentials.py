"""What opens the door for somebody: API tokens and sessions, listed, made and ended.

Nobody makes a token that carries more, or holds longer, than what they come with: the holder of one that is limited
makes none but such as are limited at least alike. Administrators make, list and delete tokens of others. Invariant: the
text of a token leaves this file once, at its creation, and is never logged.
"""

import asyncio
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from msgspec.structs import asdict

from trainmaster.access.decide import decide
from trainmaster.access.roles import Principal
from trainmaster.access.scopes import SCOPES
from trainmaster.answers import BrowserSession, BrowserSessions, NewToken, Tokens, TokenView
from trainmaster.core.errors import InvalidSpec, NotFound, Problem, problem_of
from trainmaster.core.events import AuditEvent, subject_of
from trainmaster.messages.jobs import rules
from trainmaster.messages.said import Said
from trainmaster.messages.server import audit
from trainmaster.messages.server import people as messages
from trainmaster.service.beginnings import whole_id
from trainmaster.service.context import Context
from trainmaster.service.folders.secret_files import TOKEN_PREFIX
from trainmaster.service.people.people import People
from trainmaster.spec.problems import problem
from trainmaster.store.people.accounts import PeopleRows, Token, digest

MAX_TOKENS: Final = 100


@dataclass(frozen=True, slots=True)
class WantedToken:
    """A token to make, of `user`, "" for whoever asks. `scopes` None: whatever its user may; `workspace` None: in all
    of theirs; `expires_in_s` None: never.
    """

    name: str
    expires_in_s: float | None = None
    user: str = ""
    scopes: tuple[str, ...] | None = None
    workspace: str | None = None


class Credentials:
    """One object per server."""

    def __init__(self, context: Context, people: People, rows: PeopleRows) -> None:
        self._ctx, self._people, self._rows = context, people, rows

    # ------------------------------------------------------------------------------------------------------ tokens

    async def tokens(self, who: Principal, user: str = "") -> Tokens:
        """Return the tokens of `user`, "" for those of who asks, newest first, without their texts. Raises Forbidden,
        NotFound.
        """
        owner = await self._owner(who, user, "people:read")
        found = await asyncio.to_thread(self._rows.tokens, owner)
        return Tokens(items=[_token_view(token) for token in reversed(found)], next_cursor=None)

    async def create(self, who: Principal, wanted: WantedToken) -> NewToken:
        """Make a token; the answer is the only place where its text is ever shown.

        Raises Forbidden, NotFound, InvalidSpec with all that is wrong, Conflict where its user has too many.
        """
        owner = await self._owner(who, wanted.user, "people:write")
        now = self._ctx.clock()
        expires = who.until if wanted.expires_in_s is None else now + wanted.expires_in_s
        found = [*self._scope_problems(who, wanted.scopes), *await self._workspace_problems(who, owner, wanted)]
        if who.until is not None and expires is not None and expires > who.until:
            found.append(problem_of("expires_in_s", messages.longer_than_yours(), wanted.expires_in_s))
        if found:
            raise InvalidSpec(messages.token_not_accepted(len(found)), problems=tuple(found))
        secret = TOKEN_PREFIX + secrets.token_urlsafe(32)
        scopes = None if wanted.scopes is None else tuple(dict.fromkeys(wanted.scopes))
        token = Token(
            "k" + secrets.token_hex(8),
            wanted.name,
            owner,
            now,
            expires,
            scopes=scopes if who.scopes is None or scopes is not None else tuple(sorted(who.scopes)),
            workspace=wanted.workspace or who.within,
        )
        said = audit.token_made(token.name, token.id)
        if expires is not None:
            said = audit.token_made_for(token.name, token.id, expires - now)
        audit_event = self._event(owner, said, who)
        await asyncio.to_thread(self._rows.add_token, digest(secret), token, audit_event, MAX_TOKENS)
        return NewToken(**asdict(_token_view(token)), token=secret)

    async def delete(self, who: Principal, token_id: str, user: str = "") -> None:
        """Delete a token of `user`, "" for who asks; it is refused from now on. The beginning of its id will do.

        Raises Forbidden, NotFound, Conflict where several begin so.
        """
        owner = await self._owner(who, user, "people:write")
        there = await asyncio.to_thread(self._rows.tokens, owner)
        token_id = whole_id(token_id, (one.id for one in there))
        audit_event = self._event(owner, audit.token_deleted(token_id), who)
        await asyncio.to_thread(self._rows.drop_token, token_id, owner, audit_event)
        self._people.forget_token(token_id)

    # ---------------------------------------------------------------------------------------------------- sessions

    async def sessions(self, who: Principal, mark: str) -> BrowserSessions:
        """Return where `who` is signed in; `mark`: that of the session that asks."""
        now = self._ctx.clock()
        mine = await asyncio.to_thread(self._rows.session, mark, now)
        found = await asyncio.to_thread(self._rows.sessions, who.name, now)
        return BrowserSessions(
            items=[
                BrowserSession(
                    id=one.id,
                    created_at=one.created_at,
                    expires_at=one.expires_at,
                    address=one.address,
                    browser=one.browser,
                    current=mine is not None and one.id == mine.id,
                )
                for one in found
            ]
        )

    async def end_session(self, who: Principal, session_id: str) -> None:
        """Sign `who` out somewhere, at once. The beginning of the session's id will do.

        Raises NotFound, Conflict where several begin so.
        """
        there = await asyncio.to_thread(self._rows.sessions, who.name, self._ctx.clock())
        session_id = whole_id(session_id, (one.id for one in there))
        audit_event = self._event(who.name, audit.session_ended_there(session_id), who)
        self._people.forget_session(await asyncio.to_thread(self._rows.end_session, who.name, session_id, audit_event))

    # ------------------------------------------------------------------------------------------------------ inside

    async def _owner(self, who: Principal, user: str, scope: str) -> str:
        if user in ("", who.name):
            decide(who, "tokens:self").demand()
            return who.name
        decide(who, scope).demand()
        if (await self._people.user(user)).state == "deleted":
            raise NotFound(messages.no_such_user(user))
        return user

    @staticmethod
    def _scope_problems(who: Principal, scopes: Sequence[str] | None) -> list[Problem]:
        """Return what is wrong with what a token is to carry."""
        if scopes is None:
            return []
        if not scopes:
            return [problem_of("scopes", messages.no_scopes())]
        found = []
        for at, scope in enumerate(scopes):
            if scope not in SCOPES:
                found.append(problem_of(f"scopes.{at}", messages.no_such_scope(scope, list(SCOPES)), scope))
            elif who.scopes is not None and scope not in who.scopes:
                found.append(problem_of(f"scopes.{at}", messages.scope_beyond_yours(scope), scope))
        return found

    async def _workspace_problems(self, who: Principal, owner: str, wanted: WantedToken) -> list[Problem]:
        """Return what is wrong with where a token is for."""
        name = wanted.workspace
        if name is None:
            return []
        if name not in self._ctx.pools.workspaces:
            known = sorted(self._ctx.pools.workspaces)
            return [problem("workspace", rules.unknown_workspace(name=name, known=known))]
        if who.within is not None and name != who.within:
            return [problem_of("workspace", messages.workspace_beyond_yours(who.within), name)]
        person = await asyncio.to_thread(self._rows.person, owner)
        inside = person is not None and any(one.workspace == name for one in person.members)
        if not inside and (person is None or person.user.role != "admin"):
            return [problem_of("workspace", messages.not_a_member(owner, name), name)]
        return []

    def _event(self, person: str, said: Said, who: Principal) -> AuditEvent:
        return who.did(subject_of("person", person), said, self._ctx.clock())


def _token_view(token: Token) -> TokenView:
    return TokenView(
        id=token.id,
        name=token.name,
        user=token.owner,
        created_at=token.created_at,
        expires_at=token.expires_at,
        last_used_at=token.last_used_at,
        scopes=None if token.scopes is None else list(token.scopes),
        workspace=token.workspace,
    )
