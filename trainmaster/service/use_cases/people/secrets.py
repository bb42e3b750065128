"""Secrets of workspaces: owners and admins set and delete them, members see their names. No value is ever answered.

To who is not in a workspace nothing of it is there; a secret of another workspace is one that does not exist.
"""

import asyncio
import re
from typing import Final

from trainmaster.access.roles import Principal
from trainmaster.answers import SecretsView, SecretView
from trainmaster.core.errors import InvalidSpec, Problem, problem_of
from trainmaster.core.events import subject_of
from trainmaster.messages.server import audit
from trainmaster.messages.server import secrets as say
from trainmaster.service.context import Context
from trainmaster.service.use_cases.people.inside import demand_inside
from trainmaster.store.people.secrets import SecretRow, SecretRows

MOST: Final = 200
"""Secrets of a workspace."""
LEAST: Final = 4
"""Characters of a value: shorter ones stand in logs by chance."""
LARGEST: Final = 65_536
"""Bytes of a value."""
LONGEST_NAME: Final = 255
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,254}")


class Secrets:
    """One object per server."""

    def __init__(self, context: Context, rows: SecretRows) -> None:
        self._ctx, self._rows = context, rows

    async def of(self, workspace: str, who: Principal) -> SecretsView:
        """Return the secrets of a workspace by name, without values. Raises NotFound, Forbidden."""
        self._demand(workspace, who, "secrets:use")
        found = await asyncio.to_thread(self._rows.of_workspace, workspace)
        return SecretsView(items=[_view(one) for one in found])

    async def put(self, workspace: str, name: str, value: str, who: Principal) -> SecretView:
        """Store a value under a name, in place of what was there. Raises NotFound, Forbidden, InvalidSpec, Conflict
        where there are too many.
        """
        self._demand(workspace, who, "secrets:write")
        if wrong := _problems(name, value):
            raise InvalidSpec(say.secret_not_accepted(len(wrong)), problems=tuple(wrong))
        async with self._ctx.pools.changing():  # nobody removes the workspace meanwhile
            self._demand(workspace, who, "secrets:write")
            key, sealed = await asyncio.to_thread(self._ctx.vault.seal, workspace, name, value)
            now = self._ctx.clock()
            audit_event = who.did(subject_of("workspace", workspace), audit.secret_set(name, workspace), now)
            one = SecretRow(workspace, name, key, sealed, now, now, who.name)
            return _view(await asyncio.to_thread(self._rows.put, one, audit_event, MOST))

    async def drop(self, workspace: str, name: str, who: Principal) -> None:
        """Forget a secret; what runs keeps what it was given. Raises NotFound, Forbidden."""
        self._demand(workspace, who, "secrets:write")
        said = audit.secret_deleted(name, workspace)
        audit_event = who.did(subject_of("workspace", workspace), said, self._ctx.clock())
        await asyncio.to_thread(self._rows.drop, workspace, name, audit_event)

    def _demand(self, workspace: str, who: Principal, scope: str) -> None:
        demand_inside(who, scope, workspace, self._ctx.pools.workspaces)


def _problems(name: str, value: str) -> list[Problem]:
    """Return everything that is wrong with a secret; no problem tells its value."""
    found = []
    if not _NAME.fullmatch(name):
        found.append(problem_of("name", say.bad_secret_name(LONGEST_NAME), name[:LONGEST_NAME]))
    if len(value.strip()) < LEAST:
        found.append(problem_of("value", say.secret_too_short(LEAST)))
    try:
        size = len(value.encode())
    except UnicodeEncodeError:
        size = 0
        found.append(problem_of("value", say.secret_not_text()))
    if "\0" in value:
        found.append(problem_of("value", say.secret_not_text()))
    if size > LARGEST:
        found.append(problem_of("value", say.secret_too_long(LARGEST)))
    return found


def _view(one: SecretRow) -> SecretView:
    return SecretView(
        name=one.name,
        workspace=one.workspace,
        created_at=one.created_at,
        changed_at=one.changed_at,
        changed_by=one.changed_by,
        used_at=one.used_at,
    )
