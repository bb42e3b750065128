"""Members of workspaces: who belongs to which, in which role. Owners and admins of a workspace decide it, and the
platform's administrators.

Nobody gives or takes away a role above their own. Invariant: what was decided holds at once for whoever is signed in.
"""

import asyncio
from typing import Final

from trainmaster.access.decide import decide
from trainmaster.access.roles import WORKSPACE_ROLES, Principal
from trainmaster.answers import MembersView, MemberView
from trainmaster.core.errors import Forbidden, InvalidSpec, NotFound, problem_of
from trainmaster.core.events import subject_of
from trainmaster.messages.server import audit, people
from trainmaster.service.context import Context
from trainmaster.service.people.people import People
from trainmaster.service.use_cases.people.inside import demand_inside
from trainmaster.store.people.members import Member, MemberRows

RANK: Final = {role: at for at, role in enumerate(WORKSPACE_ROLES)}


class Members:
    """One object per server."""

    def __init__(self, context: Context, people: People, rows: MemberRows) -> None:
        self._ctx, self._people, self._rows = context, people, rows

    async def of(self, workspace: str, who: Principal) -> MembersView:
        """Return the members of a workspace by name. Raises NotFound, also for one that the caller is not in."""
        self.demand(workspace, who, "members:read")
        found = await asyncio.to_thread(self._rows.of_workspace, workspace)
        return MembersView(items=[_view(one) for one in found])

    async def put(self, workspace: str, user: str, role: str, who: Principal) -> MemberView:
        """Make somebody a member, or give a member another role. Raises NotFound, Forbidden, InvalidSpec."""
        self.demand(workspace, who, "members:write")
        if role not in WORKSPACE_ROLES:
            wrong = problem_of("role", people.no_such_role(role, list(WORKSPACE_ROLES)), role)
            raise InvalidSpec(people.member_not_accepted(), problems=(wrong,))
        async with self._ctx.pools.changing():  # nobody removes the workspace meanwhile, nor decides the same
            self.demand(workspace, who, "members:write")
            if (await self._people.user(user)).state == "deleted":
                raise NotFound(people.no_such_user(user))
            before = await asyncio.to_thread(self._rows.find, workspace, user)
            self.demand_rank(workspace, who, role, before)
            if before is not None and before.role == role:
                return _view(before)
            said = audit.member_added(user, workspace, role)
            if before is not None:
                said = audit.member_changed(user, workspace, before.role, role)
            now = self._ctx.clock()
            made = Member(workspace, user, role, now if before is None else before.since)
            changes = ((f"members.{user}", None if before is None else before.role, role),)
            audit_event = who.did(subject_of("workspace", workspace), said, now, changes)
            await asyncio.to_thread(self._rows.put, made, audit_event)
        self._people.forget(user)
        return _view(made)

    async def drop(self, workspace: str, user: str, who: Principal) -> None:
        """Remove a member; everybody may leave by themselves. Their jobs go on. Raises NotFound, Forbidden."""
        self.demand(workspace, who, "members:read" if user == who.name else "members:write")
        async with self._ctx.pools.changing():
            before = await asyncio.to_thread(self._rows.find, workspace, user)
            if before is None:
                raise NotFound(people.not_a_member(user, workspace))
            self.demand_rank(workspace, who, before.role, before)
            said = audit.member_removed(user, workspace)
            changes = ((f"members.{user}", before.role, None),)
            audit_event = who.did(subject_of("workspace", workspace), said, self._ctx.clock(), changes)
            await asyncio.to_thread(self._rows.drop, workspace, user, audit_event)
        self._people.forget(user)

    def demand(self, workspace: str, who: Principal, scope: str) -> None:
        """Return when `who` may do this in a workspace that exists. Raises NotFound, Forbidden."""
        demand_inside(who, scope, workspace, self._ctx.pools.workspaces)

    def demand_rank(self, workspace: str, who: Principal, role: str, before: Member | None = None) -> None:
        """Return when `who` may give `role`, and take away the one there was. Raises Forbidden."""
        own = 0 if decide(who, "members:write").visible.everything else RANK[who.role_in(workspace) or "viewer"]
        for touched in (role, *(() if before is None else (before.role,))):
            if RANK[touched] < own:
                raise Forbidden(people.role_too_high(touched, workspace))


def _view(one: Member) -> MemberView:
    return MemberView(user=one.user, workspace=one.workspace, role=one.role, since=one.since)
