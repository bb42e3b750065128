"""Signing in: with a password where that is on, or through the provider that is set up. Whoever comes through the
provider is found by issuer and subject, and becomes what their groups say; the session is the same either way.

Invariant: an account is never found by a name or an address that the provider tells.
"""

import asyncio
import hmac
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from trainmaster.access.decide import decide
from trainmaster.access.roles import Principal
from trainmaster.answers import BegunSignIn, IdentityView, SignInProvider, SignInWays
from trainmaster.core.errors import Conflict, Forbidden, NotFound, Unauthenticated
from trainmaster.core.events import Actor, AuditEvent, subject_of
from trainmaster.messages.server import people as messages
from trainmaster.messages.server import sign_in
from trainmaster.service.context import Context
from trainmaster.service.people import groups
from trainmaster.service.people.flows import FLOW_S
from trainmaster.service.people.people import ADMIN, People, SignedIn
from trainmaster.service.people.provider import ComesBack, Proven, Provider
from trainmaster.service.people.told import made
from trainmaster.service.use_cases.people.invitations import Inviting, joined
from trainmaster.store.people.accounts import FoundPerson, PeopleRows, User
from trainmaster.store.people.identities import Coming, Given, IdentityRows, ProviderIdentity
from trainmaster.store.people.invitations import Invitation
from trainmaster.store.people.members import Member

PAGE: Final = "/sign-in"
"""The page of the console to which the provider sends people back."""


@dataclass(frozen=True, slots=True)
class From:
    """Where somebody comes from: `origin` of the page they are in, `client` as tries are counted, `address` as is told,
    `browser` as it calls itself.
    """

    origin: str
    client: str
    address: str
    browser: str = ""


class SignIns:
    """One object per server."""

    def __init__(
        self,
        context: Context,
        people: People,
        rows: PeopleRows,
        identities: IdentityRows,
        inviting: Inviting,
        provider: Provider | None,
    ) -> None:
        self._ctx, self._people, self._rows = context, people, rows
        self._identities, self._inviting, self._provider = identities, inviting, provider

    async def ways(self) -> SignInWays:
        """Return how people can sign in here."""
        provider = SignInProvider(label=self._provider.label) if self._provider is not None else None
        password = self._ctx.config.sign_in.password
        return SignInWays(password=password, provider=provider, first=password and await self._people.unopened())

    async def with_password(self, name: str, password: str, browser: str | None, at: From) -> SignedIn:
        """Begin a session with a password. Raises Forbidden where that is switched off, and like `People.sign_in`."""
        if not self._ctx.config.sign_in.password:
            raise Forbidden(sign_in.password_off(self._known().label))
        return await self._people.sign_in(name, password, at.client, browser, at.browser, at.address)

    async def begin(self, at: From) -> BegunSignIn:
        """Return where to send a browser, and what its page keeps for itself until it is back. Raises NotFound without
        a provider, Unavailable.
        """
        page = at.origin + PAGE
        flow, secrets = self._people.flows.begin(page, self._ctx.clock())
        return BegunSignIn(address=await self._known().address(page, secrets), flow=flow)

    async def complete(self, flow: str, back: ComesBack, at: From, invitation: str | None = None) -> SignedIn:
        """Begin the session of who is back from the provider; `invitation`: the secret of one, for who has no account.

        Raises NotFound without a provider, Unauthenticated for what is not proven, Conflict for a name of
        another's, Forbidden for who has no access, Unavailable, RateLimited.
        """
        provider, page = self._known(), at.origin + PAGE
        succeeded = await self._people.turn(at.client)
        secrets = self._people.flows.take(flow, page, self._ctx.clock())
        if secrets is None:
            raise Unauthenticated(sign_in.sign_in_not_completed(sign_in.flow_not_good(int(FLOW_S / 60))))
        if not hmac.compare_digest(secrets.state.encode(), back.state.encode()):
            raise Unauthenticated(sign_in.sign_in_not_completed(sign_in.state_differs()))
        proven = await provider.proven(page, back, secrets)
        if not self._people.flows.complete(flow, self._ctx.clock()):
            raise Unauthenticated(sign_in.sign_in_not_completed(sign_in.flow_not_good(int(FLOW_S / 60))))
        succeeded()
        async with self._ctx.pools.changing():  # nobody removes a workspace, nor decides about members, meanwhile
            name = await self._enters(proven, at, invitation)
        found = await asyncio.to_thread(self._rows.person, name)
        if found is None:
            raise NotFound(messages.no_such_user(name))
        said = sign_in.signed_in_through(at.address, proven.issuer)
        return await self._people.begin(found, at.address, at.browser, said)

    # ------------------------------------------------------------------------------------------------------- linking

    async def identity(self, name: str, who: Principal) -> IdentityView:
        """Return as whom the provider knows an account. Raises Forbidden, NotFound."""
        decide(who, "people:read").demand()
        await self._account(name)
        one = await asyncio.to_thread(self._identities.of_user, self._known().settings.issuer, name)
        if one is None:
            raise NotFound(sign_in.not_linked(name))
        return _view(one)

    async def link(self, name: str, subject: str, who: Principal) -> IdentityView:
        """Let a person of the provider be an account that exists. Raises Forbidden, NotFound, Conflict."""
        decide(who, "people:write").demand()
        await self._account(name)
        issuer, now = self._known().settings.issuer, self._ctx.clock()
        one = ProviderIdentity(issuer, subject, name, now)
        audit_event = who.did(subject_of("person", name), sign_in.user_linked(name, subject, issuer), now)
        await asyncio.to_thread(self._identities.link, one, audit_event)
        self._people.forget(name)
        return _view(one)

    async def unlink(self, name: str, who: Principal) -> None:
        """Let an account be nobody of the provider any more; its sessions end. Raises Forbidden, NotFound."""
        decide(who, "people:write").demand()
        issuer = self._known().settings.issuer
        said = sign_in.user_unlinked(name, issuer)
        audit_event = who.did(subject_of("person", name), said, self._ctx.clock())
        await asyncio.to_thread(self._identities.unlink, issuer, name, audit_event)
        self._people.forget(name)

    async def _account(self, name: str) -> User:
        user = await self._people.user(name)
        if user.state == "deleted":
            raise NotFound(messages.no_such_user(name))
        return user

    # -------------------------------------------------------------------------------------------------------- inside

    def _known(self) -> Provider:
        if self._provider is None:
            raise NotFound(sign_in.no_provider())
        return self._provider

    async def _enters(self, proven: Proven, at: From, invitation: str | None) -> str:
        """Make of somebody what their groups say; return the account's name. Raises Unauthenticated for an account that
        is not in use.
        """
        one = await asyncio.to_thread(self._identities.find, proven.issuer, proven.subject)
        found = await asyncio.to_thread(self._rows.person, one.user) if one is not None else None
        if one is None or found is None:
            return await self._new(proven, at, invitation)
        if found.user.state != "active":  # or who was deleted would be a member again
            raise Unauthenticated(messages.account_locked())
        await self._again(one, found, proven, at)
        return one.user

    async def _new(self, proven: Proven, at: From, invitation: str | None) -> str:
        now = self._ctx.clock()
        name = await self._new_name(proven)
        gives = groups.wanted(self._known().settings, proven, self._ctx.pools.workspaces)
        invited: tuple[Invitation, Member] | None = None
        if invitation:
            one = await self._inviting.usable(invitation)
            if one.workspace not in gives.roles:
                invited = one, Member(one.workspace, name, one.role, now)
        if not (gives.admin or gives.roles or invited):
            raise Forbidden(sign_in.no_group(self._known().label))
        by = groups.decided(name, "user", (), Given(), gives, now)
        new = User(name, "", by.role or "user", created_at=now)
        actor = Actor(name, address=at.address)
        said = sign_in.user_came_through(name, proven.issuer)
        told = [AuditEvent(subject_of("person", name), said, now, actor, made(new))]
        told += [*_memberships(by, proven.issuer, actor, now)]
        if invited is not None:
            told.append(joined(*invited, actor))
        coming = Coming(
            ProviderIdentity(proven.issuer, proven.subject, name, now, by.given), new, None, by.joins, by.leaves
        )
        await asyncio.to_thread(self._identities.comes, coming, told, invited)
        return name

    async def _new_name(self, proven: Proven) -> str:
        """Return what a new account is called. Raises Forbidden, Conflict where the name is or was somebody's."""
        label = self._known().label
        if not proven.name:
            raise Forbidden(sign_in.claim_missing(label, self._known().settings.name_claim))
        name = groups.name_of(proven.name)
        if name is None:
            raise Forbidden(sign_in.name_not_usable(label, proven.name[:100], proven.subject))
        if await asyncio.to_thread(self._rows.user, name) is not None:
            raise Conflict(sign_in.name_of_another(name, label, proven.subject))
        return name

    async def _again(self, one: ProviderIdentity, found: FoundPerson, proven: Proven, at: From) -> None:
        """Give and take what the groups of who has an account say. Raises Forbidden where nothing is left."""
        user, now = found.user, self._ctx.clock()
        gives = groups.wanted(self._known().settings, proven, self._ctx.pools.workspaces)
        by = groups.decided(user.name, user.role, found.members, one.given, gives, now)
        if user.name == ADMIN and by.role == "user":  # somebody has to be able to mend the settings
            by = groups.ByGroups(by.given, None, by.joins, by.leaves)
        actor = Actor(user.name, address=at.address)
        told = [*_memberships(by, proven.issuer, actor, now)]
        if by.role is not None:
            say = sign_in.group_made_admin if by.role == "admin" else sign_in.group_unmade_admin
            changes = (("role", user.role, by.role),)
            said = say(user.name, proven.issuer)
            told.append(AuditEvent(subject_of("person", user.name), said, now, actor, changes))
        kept = ProviderIdentity(one.issuer, one.subject, one.user, one.linked_at, by.given)
        coming = Coming(kept, None, by.role, by.joins, by.leaves, user.must_change_password)
        await asyncio.to_thread(self._identities.comes, coming, told)
        self._people.forget(user.name)
        left = len(found.members) - len(by.leaves) + len(by.joins)
        if not left and (by.role or user.role) != "admin":
            raise Forbidden(sign_in.no_group(self._known().label))


def _memberships(by: groups.ByGroups, issuer: str, actor: Actor, now: float) -> Iterator[AuditEvent]:
    """Return what the audits of workspaces are told of what groups gave and took."""
    for one in by.leaves:
        said = sign_in.group_took(one.user, one.workspace, issuer)
        changes = ((f"members.{one.user}", one.role, None),)
        yield AuditEvent(subject_of("workspace", one.workspace), said, now, actor, changes)
    for one in by.joins:
        said = sign_in.group_gave(one.user, one.workspace, one.role, issuer)
        yield AuditEvent(
            subject_of("workspace", one.workspace), said, now, actor, ((f"members.{one.user}", None, one.role),)
        )


def _view(one: ProviderIdentity) -> IdentityView:
    return IdentityView(user=one.user, issuer=one.issuer, subject=one.subject, linked_at=one.linked_at)
