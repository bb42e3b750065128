"""Public keys of SSH: everybody adds, lists and deletes their own."""

import asyncio
from typing import Final

from trainmaster.access.decide import decide
from trainmaster.access.roles import Principal
from trainmaster.answers import SshKeys, SshKeyView
from trainmaster.core.errors import InvalidSpec, problem_of
from trainmaster.core.events import AuditEvent, subject_of
from trainmaster.messages.said import Said
from trainmaster.messages.server import sign_in
from trainmaster.service.context import Context
from trainmaster.service.people.public_keys import NotAKey, read
from trainmaster.store.people.ssh_keys import SshKey, SshKeyRows

MOST: Final = 50
_CHANGES: Final = ("key_added", "key_deleted")
"""What the audit is told, by its code."""


class PublicKeys:
    """One object per server."""

    def __init__(self, context: Context, rows: SshKeyRows) -> None:
        self._ctx, self._rows = context, rows

    async def of(self, who: Principal) -> SshKeys:
        """Return the keys of `who`, newest first. Raises Forbidden."""
        decide(who, "account:self").demand()
        found = await asyncio.to_thread(self._rows.of_user, who.name)
        changed = await asyncio.to_thread(self._rows.changed, who.name, _CHANGES)
        at, address = changed or (None, None)
        return SshKeys(items=[_view(one) for one in found], changed_at=at, changed_from=address)

    async def add(self, text: str, who: Principal) -> SshKeyView:
        """Store a key of `who`. Raises Forbidden, InvalidSpec, Conflict where it is stored already or there are too
        many.
        """
        decide(who, "account:self").demand()
        try:
            key = read(text)
        except NotAKey as error:
            raise InvalidSpec(sign_in.key_not_accepted(), problems=(problem_of("key", error.said),)) from None
        now = self._ctx.clock()
        one = SshKey(key.fingerprint, who.name, key.kind, key.bits, key.line, key.comment, now, who.address)
        audit_event = self._event(sign_in.key_added(key.fingerprint, key.kind), who)
        await asyncio.to_thread(self._rows.add, one, audit_event, MOST)
        return _view(one)

    async def delete(self, fingerprint: str, who: Principal) -> None:
        """Forget a key of `who`. Raises Forbidden, NotFound."""
        decide(who, "account:self").demand()
        audit_event = self._event(sign_in.key_deleted(fingerprint), who)
        await asyncio.to_thread(self._rows.drop, who.name, fingerprint, audit_event)

    def _event(self, said: Said, who: Principal) -> AuditEvent:
        return who.did(subject_of("person", who.name), said, self._ctx.clock())


def _view(one: SshKey) -> SshKeyView:
    return SshKeyView(
        fingerprint=one.fingerprint,
        kind=one.kind,
        bits=one.bits,
        comment=one.comment,
        key=one.key,
        created_at=one.created_at,
        address=one.address,
    )
