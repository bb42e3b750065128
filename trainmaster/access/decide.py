"""The one policy function. Pure; every route, socket and use case asks it and nothing else.

Decision = what the role grants, cut down to one's own things where the grant says so, with what the roles in workspaces
add and what is shared there, cut down again to what a token carries, and nothing but the account itself while a
one-time password is still in use; with it comes the value that every list is made with (`Visible`). Whoever may not see
a thing is told that it does not exist.
"""

from dataclasses import dataclass

from trainmaster.access.roles import (
    ALWAYS_CARRIED,
    ALWAYS_TOLD_WHOSE,
    CONFINED_SCOPES,
    ROLES,
    SHARED,
    SHARED_WITH,
    SUBSCRIBED,
    WORKSPACE_ROLES,
    Principal,
    Reach,
)
from trainmaster.access.scopes import SCOPES
from trainmaster.access.visible import NOTHING, Owned, Visible
from trainmaster.core.errors import Forbidden, NotFound
from trainmaster.messages.said import Said
from trainmaster.messages.server import access


@dataclass(frozen=True, slots=True)
class Decision:
    """The answer. `said`: why not, None when it is allowed. `visible`: which things of that kind it is allowed of.

    `hidden`: say "not found", not "forbidden".
    """

    said: Said | None
    visible: Visible = NOTHING
    hidden: bool = False

    @property
    def allowed(self) -> bool:
        """True when nothing speaks against it."""
        return self.said is None

    def demand(self) -> Visible:
        """Return of which things it is allowed. Raises NotFound for a thing that must stay hidden, else Forbidden."""
        if self.said is None:
            return self.visible
        raise NotFound(self.said) if self.hidden else Forbidden(self.said)


def decide(principal: Principal, scope: str, thing: Owned | None = None) -> Decision:
    """Decide whether `principal` may do `scope`, to `thing` where there is one.

    Without a thing the question is about the kind of thing ("may list jobs at all"). Raises KeyError for a scope that
    is not in SCOPES: that is a mistake in the code, not a refusal.
    """
    found: Decision | None = principal.decided.get(scope)
    if found is None:
        found = principal.decided[scope] = _decide(principal, scope)
    if thing is None or found.said is not None or found.visible.covers(thing):
        return found
    return Decision(access.no_such_thing(), found.visible, hidden=True)


def _decide(principal: Principal, scope: str) -> Decision:
    what = SCOPES[scope]
    if principal.confined and scope not in CONFINED_SCOPES:
        return Decision(access.one_time_password())
    if principal.scopes is not None and scope not in principal.scopes | ALWAYS_CARRIED:
        return Decision(access.token_lacks_scope(what, scope))
    reach = ROLES.get(principal.role, {}).get(scope)
    everything = reach is Reach.ANY
    inside = frozenset(name for name, role in principal.memberships if scope in WORKSPACE_ROLES.get(role, ()))
    if reach is None and not inside:
        return Decision(access.not_permitted(principal.role, what, scope))
    visible = Visible(
        everything,
        principal.name if reach is Reach.OWN else None,
        frozenset() if everything else inside,
        whose=principal.owners_told or principal.role in ALWAYS_TOLD_WHOSE,
        shared=frozenset() if everything else _shared(principal, scope) - inside,
        levels=SHARED.get(scope, frozenset()),
        within=principal.within,
        subscribed=_subscribed(principal, scope, everything),
        closed=principal.closed if scope in SUBSCRIBED and not everything else frozenset(),
    )
    return Decision(None, visible)


def _shared(principal: Principal, scope: str) -> frozenset[str]:
    """Return the workspaces in which what is shared is reached by `scope`."""
    reaching = (name for name, role in principal.memberships if scope in SHARED_WITH.get(role, ()))
    return principal.sharing.intersection(reaching)


def _subscribed(principal: Principal, scope: str, everything: bool) -> frozenset[str]:
    """Return the workspaces through which what they subscribe to is reached by `scope`. Whoever sees everything needs
    it only for a token that is for one of them.
    """
    if scope not in SUBSCRIBED:
        return frozenset()
    if everything:
        return frozenset() if principal.within is None else frozenset({principal.within})
    return principal.sharing.intersection(name for name, role in principal.memberships if role in WORKSPACE_ROLES)
