"""Accounts: administrators make, lock and delete them. What becomes of the jobs of who is locked or deleted is never
guessed: where some have not ended, the caller says it.
"""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

from trainmaster.access.decide import decide
from trainmaster.access.roles import ROLES, WORKSPACE_ROLES, Principal
from trainmaster.answers import AccountsView, AccountView, Membership, NewAccount, OneTimePassword
from trainmaster.core.cluster import DEFAULT
from trainmaster.core.errors import Conflict, InvalidSpec, NotFound, Problem, problem_of
from trainmaster.core.events import subject_of
from trainmaster.messages.jobs import rules
from trainmaster.messages.said import Said
from trainmaster.messages.server import audit
from trainmaster.messages.server import people as messages
from trainmaster.service.context import Context
from trainmaster.service.people.groups import NAME
from trainmaster.service.people.people import ADMIN, People
from trainmaster.service.people.told import leaves
from trainmaster.service.use_cases.jobs import Jobs
from trainmaster.spec.problems import problem
from trainmaster.store.people.accounts import PeopleRows, User
from trainmaster.store.people.members import Member, MemberRows

Theirs = Literal["keep", "stop"]
"""What becomes of somebody's jobs that have not ended: they go on, or are stopped."""


@dataclass(frozen=True, slots=True)
class NewPerson:
    """An account to make: `role` on the platform; a member of `workspace` as `workspace_role`."""

    name: str
    role: str = "user"
    workspace: str = DEFAULT
    workspace_role: str = "member"


class Accounts:
    """One object per server."""

    def __init__(self, context: Context, people: People, rows: PeopleRows, members: MemberRows, jobs: Jobs) -> None:
        self._ctx, self._people, self._rows, self._members, self._jobs = context, people, rows, members, jobs

    async def all(self, who: Principal) -> AccountsView:
        """Return every account by name, but those that were deleted. Raises Forbidden."""
        decide(who, "people:read").demand()
        users, members = await asyncio.gather(asyncio.to_thread(self._rows.users), asyncio.to_thread(self._members.all))
        theirs: dict[str, list[Member]] = {}
        for one in members:
            theirs.setdefault(one.user, []).append(one)
        shown = [account_view(user, theirs.get(user.name, ())) for user in users if user.state != "deleted"]
        return AccountsView(items=shown)

    async def show(self, name: str, who: Principal) -> AccountView:
        """Return one account. Raises Forbidden, NotFound."""
        decide(who, "people:read").demand()
        return account_view(*await self._person(name))

    async def add(self, wanted: NewPerson, who: Principal) -> NewAccount:
        """Make an account; the answer is the only place where its one-time password is ever shown.

        Raises Forbidden, InvalidSpec, Conflict where the name is or was somebody's.
        """
        decide(who, "people:write").demand()
        self._demand_good(wanted)
        now = self._ctx.clock()
        user = User(wanted.name, "", wanted.role, created_at=now)
        members = [Member(wanted.workspace, wanted.name, wanted.workspace_role, now)]
        async with self._ctx.pools.changing():  # nobody removes the workspace or takes the name meanwhile
            self._demand_good(wanted)
            if await asyncio.to_thread(self._rows.user, wanted.name) is not None:
                raise Conflict(messages.user_name_taken(wanted.name))
            password = await self._people.add(user, members, who.actor)
        return NewAccount(account=account_view(user, members), one_time_password=password)

    def _demand_good(self, wanted: NewPerson) -> None:
        found: list[Problem] = []
        if not NAME.fullmatch(wanted.name):
            found.append(problem_of("name", messages.bad_user_name(), wanted.name))
        if wanted.role not in ROLES:
            found.append(problem_of("role", messages.no_such_role(wanted.role, sorted(ROLES)), wanted.role))
        if wanted.workspace not in self._ctx.pools.workspaces:
            known = sorted(self._ctx.pools.workspaces)
            found.append(problem("workspace", rules.unknown_workspace(name=wanted.workspace, known=known)))
        if wanted.workspace_role not in WORKSPACE_ROLES:
            said = messages.no_such_role(wanted.workspace_role, list(WORKSPACE_ROLES))
            found.append(problem_of("workspace_role", said, wanted.workspace_role))
        if found:
            raise InvalidSpec(messages.account_not_accepted(len(found)), problems=tuple(found))

    async def give_password(self, name: str, who: Principal) -> OneTimePassword:
        """Give somebody who forgot theirs a one-time password. Raises Forbidden, NotFound."""
        decide(who, "people:write").demand()
        await self._person(name)
        return OneTimePassword(name=name, one_time_password=await self._people.give_password(name, who.actor))

    async def lock(self, name: str, who: Principal, theirs: Theirs | None) -> AccountView:
        """Let nobody in with this account: sessions end, tokens are refused. Raises Forbidden, NotFound, Conflict where
        jobs have not ended and `theirs` is None.
        """
        return await self._leave(name, who, theirs, "locked", audit.user_locked)

    async def unlock(self, name: str, who: Principal) -> AccountView:
        """Let somebody in again. Raises Forbidden, NotFound."""
        decide(who, "people:write").demand()
        await self._person(name)
        await self._become(name, who, "active", audit.user_unlocked)
        return account_view(*await self._person(name))

    async def delete(self, name: str, who: Principal, theirs: Theirs | None) -> None:
        """Delete an account with its tokens and memberships; the name is never given to anybody else, for jobs and the
        audit tell of it. Raises like `lock`.
        """
        await self._leave(name, who, theirs, "deleted", audit.user_deleted)

    async def _leave(
        self, name: str, who: Principal, theirs: Theirs | None, state: str, said: Callable[[str], Said]
    ) -> AccountView:
        decide(who, "people:write").demand()
        user, members = await self._person(name)
        if name in (who.name, ADMIN):
            raise Conflict(messages.account_stays(name))
        jobs = [job.id for job in self._ctx.master.live.values() if job.owner == name and not job.terminal]
        if jobs and theirs is None:
            raise Conflict(messages.jobs_not_ended(name, len(jobs)))
        await self._become(name, who, state, said)  # first: nothing new is submitted between
        if theirs == "stop":
            for job in [job.id for job in self._ctx.master.live.values() if job.owner == name and not job.terminal]:
                # One that ends by itself, or has gone, does not keep the others running.
                with suppress(Conflict, NotFound):
                    await self._jobs.stop(job, who)
        return account_view(User(user.name, "", user.role, created_at=user.created_at, state=state), members)

    async def _become(self, name: str, who: Principal, state: str, said: Callable[[str], Said]) -> None:
        async with self._ctx.pools.changing():  # nobody makes them a member, or decides otherwise, meanwhile
            user, members = await self._person(name)
            before = user.state
            changes = (("state", before, state),) if before != state else ()
            audit_event = who.did(subject_of("person", name), said(name), self._ctx.clock(), changes)
            left = [leaves(one, audit_event) for one in members] if state == "deleted" else []
            await asyncio.to_thread(self._rows.set_state, name, state, audit_event, left)
        self._people.forget(name)

    async def _person(self, name: str) -> tuple[User, tuple[Member, ...]]:
        found = await asyncio.to_thread(self._rows.person, name)
        if found is None or found.user.state == "deleted":
            raise NotFound(messages.no_such_user(name))
        return found.user, found.members


def account_view(user: User, members: Sequence[Member]) -> AccountView:
    """Return what is shown of an account."""
    return AccountView(
        name=user.name,
        role=user.role,
        state=user.state,
        created_at=user.created_at,
        must_change_password=user.must_change_password,
        workspaces=[Membership(workspace=one.workspace, role=one.role) for one in members],
    )
