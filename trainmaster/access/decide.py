"""The one policy function. Pure; every route, socket and use case asks it and nothing else.

Decision = what the role grants, cut down to one's own things where the grant says so, and to the account itself while a
one-time password is still in use. Whoever may not see a thing is told that it does not exist.
"""

from dataclasses import dataclass

from trainmaster.access.roles import CONFINED_SCOPES, ROLES, Principal, Reach
from trainmaster.access.scopes import SCOPES
from trainmaster.core.errors import Forbidden, NotFound
from trainmaster.messages import access
from trainmaster.messages.said import Said


@dataclass(frozen=True, slots=True)
class Decision:
    """The answer. `said`: why not, None when it is allowed. `reach` OWN: lists must be cut to the principal's own things.

    `hidden`: say "not found", not "forbidden".
    """

    said: Said | None
    reach: Reach | None = None
    hidden: bool = False

    @property
    def allowed(self) -> bool:
        """Return whether it is."""
        return self.said is None

    def demand(self) -> None:
        """Return when allowed. Raises NotFound for a thing that must stay hidden, else Forbidden."""
        if self.said is None:
            return
        raise NotFound(self.said) if self.hidden else Forbidden(self.said)


def decide(principal: Principal, scope: str, resource_owner: str | None = None) -> Decision:
    """Say whether `principal` may do `scope`, on the thing of `resource_owner` where there is one.

    Without an owner the question is about the kind of thing ("may list jobs at all"). Raises KeyError for a scope that is
    not in SCOPES: that is a mistake in the code, not a refusal.
    """
    what = SCOPES[scope]
    if principal.confined and scope not in CONFINED_SCOPES:
        return Decision(access.one_time_password())
    reach = ROLES.get(principal.role, {}).get(scope)
    if reach is None:
        return Decision(access.not_permitted(principal.role, what, scope))
    if reach is Reach.OWN and resource_owner is not None and resource_owner != principal.name:
        return Decision(access.no_such_thing(), reach, hidden=True)
    return Decision(None, reach)
