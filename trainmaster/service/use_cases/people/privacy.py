"""What all signed-in people are told of one another where they share nodes: an administrator's switch.

Kept as a policy beside that of the queue; who asks reads it with what else they may (`store.people.accounts`), so that
a server that stands by knows it, too. Whoever looks at what it hides is sent what is left at once.
"""

from trainmaster.access.decide import decide
from trainmaster.access.roles import Principal
from trainmaster.answers import PrivacyView
from trainmaster.service.context import Context
from trainmaster.store.cluster_settings import OWNERS_TOLD, PRIVACY


class Privacy:
    """One object per server; all methods in the loop's thread."""

    def __init__(self, context: Context) -> None:
        self._ctx = context

    def look(self, who: Principal) -> PrivacyView:
        """Return the switch. Raises Forbidden."""
        decide(who, "cluster:read").demand()
        changed = self._ctx.pools.changed_last("policy", PRIVACY)
        return PrivacyView(
            owners_told=self._ctx.pools.owners_told,
            unreadable=self._ctx.pools.is_unread("policy", PRIVACY),
            changed_at=changed.at if changed else None,
            changed_by=changed.by if changed else None,
        )

    async def change(self, owners_told: bool, who: Principal) -> PrivacyView:
        """Say whether people are told whose the jobs are that they may not see; it holds for the next answer. A
        decision that cannot be read is replaced. Raises Forbidden, StorageFailed.
        """
        decide(who, "cluster:write").demand()
        async with self._ctx.pools.changing():
            pools = self._ctx.pools
            if owners_told != pools.owners_told or pools.is_unread("policy", PRIVACY):
                await pools.put("policy", PRIVACY, {OWNERS_TOLD: owners_told}, who.actor)
        return self.look(who)
