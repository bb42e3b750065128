"""Storage connections of workspaces: owners and admins keep them, members see where they go and look whether they work.
No key is ever answered.

To who is not in a workspace nothing of it is there; a connection of another workspace is one that does not exist.
"""

import asyncio
import re
from typing import Final
from urllib.parse import urlsplit

from trainmaster.access.roles import Principal
from trainmaster.answers import ConnectionCheck, ConnectionStep, ConnectionsView, ConnectionView, Text
from trainmaster.core.errors import InvalidSpec, NotFound, Problem, problem_of
from trainmaster.core.events import subject_of
from trainmaster.messages import render
from trainmaster.messages.assets import objects as say
from trainmaster.messages.server import audit
from trainmaster.service.context import Context
from trainmaster.service.helpers.own_thread import in_own_thread
from trainmaster.service.language import both
from trainmaster.service.use_cases.people.inside import demand_inside
from trainmaster.storage.objects.bucket import StoreTarget
from trainmaster.store.people.connections import ConnectionRow

MOST: Final = 50
"""Connections of a workspace."""
LONGEST: Final = 512
"""Characters of an endpoint, and of a prefix."""
KEY_ID: Final = (3, 128)
SECRET: Final = (8, 256)
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,62}")
_BUCKET: Final = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
_REGION: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")
_HOST: Final = re.compile(r"[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\]")


class StorageConnections:
    """One object per server."""

    def __init__(self, context: Context) -> None:
        self._ctx = context

    async def of(self, workspace: str, who: Principal) -> ConnectionsView:
        """Return the connections of a workspace, without keys. Raises NotFound, Forbidden."""
        self._demand(workspace, who, "secrets:use")
        found = await asyncio.to_thread(self._ctx.fetched.connections.rows.of_workspace, workspace)
        return ConnectionsView(items=[_view(one) for one in found])

    async def put(self, workspace: str, name: str, target: StoreTarget, who: Principal) -> ConnectionView:
        """Keep a connection, in place of the one of its name. Raises NotFound, Forbidden, InvalidSpec, Conflict where
        there are too many.
        """
        self._demand(workspace, who, "secrets:write")
        connections = self._ctx.fetched.connections
        wrong = _problems(name, target)
        if not wrong and (host := _unencrypted(target)) and not await asyncio.to_thread(self._private, target):
            wrong.append(problem_of("endpoint", say.store_not_https(host), target.endpoint))
        if wrong:
            raise InvalidSpec(say.connection_not_accepted(len(wrong)), problems=tuple(wrong))
        async with self._ctx.pools.changing():  # nobody removes the workspace meanwhile
            self._demand(workspace, who, "secrets:write")
            key, sealed = await asyncio.to_thread(connections.sealed, workspace, name, target)
            now = self._ctx.clock()
            told = audit.connection_set(name, workspace, target.endpoint, target.bucket)
            audit_event = who.did(subject_of("workspace", workspace), told, now)
            place = target.endpoint, target.region, target.bucket, target.prefix
            one = ConnectionRow(workspace, name, *place, key, sealed, now, now, who.name)
            return _view(await asyncio.to_thread(connections.rows.put, one, audit_event, MOST))

    async def drop(self, workspace: str, name: str, who: Principal) -> None:
        """Forget a connection; what was fetched through it stays with the jobs that have it. Raises NotFound,
        Forbidden.
        """
        self._demand(workspace, who, "secrets:write")
        told = audit.connection_deleted(name, workspace)
        audit_event = who.did(subject_of("workspace", workspace), told, self._ctx.clock())
        await asyncio.to_thread(self._ctx.fetched.connections.rows.drop, workspace, name, audit_event)

    async def check(self, workspace: str, name: str, who: Principal) -> ConnectionCheck:
        """Really look: list, write a probe below the prefix, read and delete it. Raises NotFound, Forbidden,
        Unavailable. At most some minutes.
        """
        self._demand(workspace, who, "secrets:use")
        connections = self._ctx.fetched.connections
        if await asyncio.to_thread(connections.rows.find, workspace, name) is None:
            raise NotFound(say.no_such_connection(name, workspace))
        steps = await in_own_thread(lambda: list(connections.check(workspace, name)), "check")
        made = [
            ConnectionStep(
                step=step,
                wrong=None if wrong is None else both(wrong),
                remedy=None if wrong is None else Text(zh=render.remedy(wrong, "zh"), en=render.remedy(wrong, "en")),
            )
            for step, wrong in steps
        ]
        return ConnectionCheck(ok=all(one.wrong is None for one in made), steps=made)

    def _private(self, target: StoreTarget) -> bool:
        parts = urlsplit(target.endpoint)
        return self._ctx.fetched.connections.reach.private(parts.hostname or "", parts.port or 80)

    def _demand(self, workspace: str, who: Principal, scope: str) -> None:
        demand_inside(who, scope, workspace, self._ctx.pools.workspaces)


def _unencrypted(target: StoreTarget) -> str:
    parts = urlsplit(target.endpoint)
    return parts.hostname or "" if parts.scheme == "http" else ""


def _problems(name: str, target: StoreTarget) -> list[Problem]:
    """Return everything that is wrong with a connection by itself; no problem tells a key."""
    found = []
    if not _NAME.fullmatch(name):
        found.append(problem_of("name", say.bad_connection_name(), name[:64]))
    if not _is_endpoint(target.endpoint):
        shown = None if "@" in target.endpoint else target.endpoint[:LONGEST]  # a password is not repeated
        found.append(problem_of("endpoint", say.bad_store_endpoint(), shown))
    if target.region and not _REGION.fullmatch(target.region):
        found.append(problem_of("region", say.bad_store_region(), target.region[:64]))
    if not _BUCKET.fullmatch(target.bucket) or ".." in target.bucket or _like_address(target.bucket):
        found.append(problem_of("bucket", say.bad_store_bucket(), target.bucket[:64]))
    if target.prefix and not _is_prefix(target.prefix):
        found.append(problem_of("prefix", say.bad_store_prefix(), target.prefix[:LONGEST]))
    for field, value, (least, most) in (("key_id", target.key_id, KEY_ID), ("secret", target.secret, SECRET)):
        if not (least <= len(value) <= most and value.isascii() and value.isprintable() and " " not in value):
            found.append(problem_of(field, say.bad_store_key(least, most)))
    return found


def _is_endpoint(text: str) -> bool:
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        return False
    host = parts.netloc.rpartition(":")[0] if port is not None else parts.netloc
    plain = text.isascii() and text.isprintable() and " " not in text and len(text) <= LONGEST
    bare = parts.path in ("", "/") and not parts.query and not parts.fragment
    return plain and bare and parts.scheme in ("http", "https") and port != 0 and bool(_HOST.fullmatch(host))


def _is_prefix(text: str) -> bool:
    parts = text.strip("/").split("/")
    return len(text) <= LONGEST and text.isprintable() and all(part not in ("", ".", "..") for part in parts)


def _like_address(text: str) -> bool:
    return text.replace(".", "").isdigit() and text.count(".") == 3


def _view(one: ConnectionRow) -> ConnectionView:
    return ConnectionView(
        name=one.name,
        workspace=one.workspace,
        endpoint=one.endpoint,
        region=one.region,
        bucket=one.bucket,
        prefix=one.prefix,
        created_at=one.created_at,
        changed_at=one.changed_at,
        changed_by=one.changed_by,
        used_at=one.used_at,
    )
