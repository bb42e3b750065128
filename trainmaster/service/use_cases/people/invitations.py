"""Invitations into a workspace by a link. Its owners and admins make them, and the platform's administrators; whoever
has the link becomes a member, once.

Nobody invites to a role above their own, and an invitation is worth no more than its maker's role at the moment in
which it is used. Invariant: the secret leaves this file once, at its creation, and is never logged.
"""

import asyncio
import secrets
from dataclasses import dataclass
from typing import Final

from msgspec.structs import asdict

from trainmaster.access.roles import WORKSPACE_ROLES, Principal
from trainmaster.answers import InvitationPage, Invitations, InvitationView, MemberView, NewInvitation
from trainmaster.core.errors import Conflict, Forbidden, InvalidSpec, NotFound, Problem, problem_of
from trainmaster.core.events import Actor, AuditEvent, subject_of
from trainmaster.messages.server import audit, sign_in
from trainmaster.messages.server import people as messages
from trainmaster.service.beginnings import whole_id
from trainmaster.service.context import Context
from trainmaster.service.people.groups import NAME
from trainmaster.service.people.passwords import wrong_with
from trainmaster.service.people.people import People, SignedIn
from trainmaster.service.people.told import made
from trainmaster.service.use_cases.people.members import RANK, Members
from trainmaster.store.people.accounts import FoundPerson, PeopleRows, User, digest
from trainmaster.store.people.invitations import Invitation, InvitationRows
from trainmaster.store.people.members import Member

LEAST_S: Final = 60.0
MOST_DAYS: Final = 30
MOST_OPEN: Final = 200
"""Invitations of one workspace that somebody could still use."""


@dataclass(frozen=True, slots=True)
class Comer:
    """Somebody at the door: the account that they want, and where they come from."""

    name: str
    password: str
    address: str
    browser: str


class Inviting:
    """One object per server."""

    def __init__(
        self, context: Context, people: People, rows: InvitationRows, accounts: PeopleRows, members: Members
    ) -> None:
        self._ctx, self._people, self._rows, self._accounts, self._members = context, people, rows, accounts, members

    # -------------------------------------------------------------------------------------------------- by members

    async def of(self, workspace: str, who: Principal) -> Invitations:
        """Return the invitations to a workspace, newest first. Raises NotFound, Forbidden."""
        self._members.demand(workspace, who, "members:write")
        now = self._ctx.clock()
        found = await asyncio.to_thread(self._rows.of_workspace, workspace)
        return Invitations(items=[_view(one, now) for one in found])

    async def make(self, workspace: str, role: str, lasts_s: float, who: Principal) -> NewInvitation:
        """Make an invitation; the answer is the only place where its link is ever shown.

        Raises NotFound, Forbidden, InvalidSpec with all that is wrong, Conflict where there are too many.
        """
        self._members.demand(workspace, who, "members:write")
        problems = []
        if role not in WORKSPACE_ROLES:
            problems.append(problem_of("role", messages.no_such_role(role, list(WORKSPACE_ROLES)), role))
        if not LEAST_S <= lasts_s <= MOST_DAYS * 86400:
            problems.append(problem_of("expires_in_s", sign_in.invitation_lasts(MOST_DAYS), lasts_s))
        if problems:
            raise InvalidSpec(sign_in.invitation_not_accepted(len(problems)), problems=tuple(problems))
        self._members.demand_rank(workspace, who, role)
        secret, id_ = secrets.token_urlsafe(32), "i" + secrets.token_hex(8)
        async with self._ctx.pools.changing():  # nobody removes the workspace meanwhile
            self._members.demand(workspace, who, "members:write")
            now = self._ctx.clock()
            there = await asyncio.to_thread(self._rows.of_workspace, workspace)
            if sum(_state(one, now) == "open" for one in there) >= MOST_OPEN:
                raise Conflict(sign_in.too_many_invitations(workspace, MOST_OPEN))
            one = Invitation(id_, workspace, role, who.name, now, now + lasts_s)
            said = sign_in.invitation_made(workspace, role, id_, one.expires_at)
            audit_event = who.did(subject_of("workspace", workspace), said, now)
            await asyncio.to_thread(self._rows.add, digest(secret), one, audit_event)
        return NewInvitation(**asdict(_view(one, now)), link=f"/join#{secret}")

    async def revoke(self, workspace: str, id_: str, who: Principal) -> None:
        """Let nobody use an invitation any more; one that was used is only forgotten. The beginning of its id will do.

        Raises NotFound, Forbidden, Conflict where several begin so.
        """
        self._members.demand(workspace, who, "members:write")
        there = await asyncio.to_thread(self._rows.of_workspace, workspace)
        id_ = whole_id(id_, (one.id for one in there))
        said = sign_in.invitation_revoked(id_, workspace)
        audit_event = who.did(subject_of("workspace", workspace), said, self._ctx.clock())
        await asyncio.to_thread(self._rows.drop, workspace, id_, audit_event)

    # ------------------------------------------------------------------------------------------ by who has the link

    async def look(self, secret: str) -> InvitationPage:
        """Return what an invitation is to. Raises NotFound for one that cannot be used."""
        one = await self.usable(secret)
        return InvitationPage(workspace=one.workspace, role=one.role, made_by=one.made_by, expires_at=one.expires_at)

    async def join(self, secret: str, who: Principal) -> MemberView:
        """Make who is signed in a member. Raises NotFound, Conflict; Forbidden for a token that is for elsewhere."""
        one = await self.usable(secret)
        if who.within not in (None, one.workspace):
            raise Forbidden(messages.workspace_beyond_yours(who.within or ""))
        async with self._ctx.pools.changing():  # nobody removes the workspace meanwhile
            one = await self.usable(secret)
            found = await self._person(who.name)
            role = next((member.role for member in found.members if member.workspace == one.workspace), None)
            if role is not None:
                raise Conflict(sign_in.already_in(one.workspace, role))
            joins = Member(one.workspace, who.name, one.role, self._ctx.clock())
            await asyncio.to_thread(self._rows.use, one, joins, [joined(one, joins, who.actor)])
        self._people.forget(who.name)
        return MemberView(user=who.name, workspace=one.workspace, role=one.role, since=joins.since)

    async def accept(self, secret: str, comer: Comer) -> SignedIn:
        """Make an account that is a member, and begin its first session. Raises NotFound, Forbidden where passwords are
        switched off, InvalidSpec with all that is wrong, Conflict where the name is or was somebody's.
        """
        if not self._ctx.config.sign_in.password:
            oidc = self._ctx.config.sign_in.oidc
            raise Forbidden(sign_in.password_off(oidc.label or oidc.issuer))
        await self.usable(secret)
        _demand_good(comer)
        if await asyncio.to_thread(self._accounts.user, comer.name) is not None:
            raise Conflict(messages.user_name_taken(comer.name))
        hashed = await self._people.hashed(comer.password)
        actor = Actor(comer.name, address=comer.address)
        async with self._ctx.pools.changing():  # nobody removes the workspace or takes the name meanwhile
            one = await self.usable(secret)
            if await asyncio.to_thread(self._accounts.user, comer.name) is not None:
                raise Conflict(messages.user_name_taken(comer.name))
            now = self._ctx.clock()
            user = User(comer.name, hashed, "user", created_at=now)
            joins = Member(one.workspace, comer.name, one.role, now)
            said = sign_in.user_came(comer.name, one.made_by)
            came = AuditEvent(subject_of("person", comer.name), said, now, actor, made(user))
            await asyncio.to_thread(self._rows.use, one, joins, [came, joined(one, joins, actor)], user)
        found = await self._person(comer.name)
        said = audit.signed_in(comer.address)
        return await self._people.begin(found, comer.address, comer.browser, said)

    async def usable(self, secret: str) -> Invitation:
        """Return the invitation with this secret. Raises NotFound for one that does not hold: used, expired, revoked,
        of a workspace that is gone, or of somebody who may not give that role any more.
        """
        one = await asyncio.to_thread(self._rows.find, digest(secret))
        now = self._ctx.clock()
        good = one is not None and _state(one, now) == "open" and one.workspace in self._ctx.pools.workspaces
        if one is None or not good or not await self._still_may(one):
            raise NotFound(sign_in.invitation_over())
        return one

    async def _still_may(self, one: Invitation) -> bool:
        maker = await asyncio.to_thread(self._accounts.person, one.made_by)
        if maker is None or maker.user.state != "active":
            return False
        roles = [member.role for member in maker.members if member.workspace == one.workspace]
        gives = any("members:write" in WORKSPACE_ROLES[role] and RANK[role] <= RANK[one.role] for role in roles)
        return gives or maker.user.role == "admin"

    async def _person(self, name: str) -> FoundPerson:
        found = await asyncio.to_thread(self._accounts.person, name)
        if found is None:
            raise NotFound(messages.no_such_user(name))
        return found


def joined(one: Invitation, joins: Member, by: Actor) -> AuditEvent:
    """Return what the audit of a workspace is told of who became a member by an invitation."""
    said = sign_in.joined(joins.user, one.workspace, one.role, one.id, one.made_by)
    changes = ((f"members.{joins.user}", None, one.role),)
    return AuditEvent(subject_of("workspace", one.workspace), said, joins.since, by, changes)


def _demand_good(comer: Comer) -> None:
    problems: list[Problem] = []
    if not NAME.fullmatch(comer.name):
        problems.append(problem_of("name", messages.bad_user_name(), comer.name))
    problems += [problem_of("password", said) for said in wrong_with(comer.name, None, comer.password)]
    if problems:
        raise InvalidSpec(messages.account_not_accepted(len(problems)), problems=tuple(problems))


def _state(one: Invitation, now: float) -> str:
    if one.used_at is not None:
        return "used"
    return "open" if now < one.expires_at else "expired"


def _view(one: Invitation, now: float) -> InvitationView:
    return InvitationView(
        id=one.id,
        workspace=one.workspace,
        role=one.role,
        made_by=one.made_by,
        created_at=one.created_at,
        expires_at=one.expires_at,
        state=_state(one, now),
        used_at=one.used_at,
        used_by=one.used_by,
    )
