"""The one policy function. Pure; every route, socket and use case asks it and nothing else.

Decision = what the role grants, cut down to one's own things where the grant says so, and to the account itself while a
one-time password is still in use. Whoever may not see a thing is told that it does not exist.
"""

from dataclasses import dataclass

from trainmaster.access.roles import CONFINED_SCOPES, ROLES, Principal, Reach
from trainmaster.access.scopes import SCOPES
from trainmaster.core.errors import Forbidden, NotFound


@dataclass(frozen=True, slots=True)
class Decision:
    """The answer. `reach` OWN: lists must be cut to the principal's own things. `hidden`: say "not found", not "forbidden"."""

    allowed: bool
    reach: Reach | None = None
    hidden: bool = False
    why: str = ""
    remedy: str = ""

    def demand(self) -> None:
        """Return when allowed. Raises NotFound for a thing that must stay hidden, else Forbidden."""
        if self.allowed:
            return
        if self.hidden:
            raise NotFound(self.why, remedy=self.remedy)
        raise Forbidden(self.why, remedy=self.remedy)


def decide(principal: Principal, scope: str, resource_owner: str | None = None) -> Decision:
    """Say whether `principal` may do `scope`, on the thing of `resource_owner` where there is one.

    Without an owner the question is about the kind of thing ("may list jobs at all"). Raises KeyError for a scope that is
    not in SCOPES: that is a mistake in the code, not a refusal.
    """
    kind = SCOPES[scope]
    if principal.confined and scope not in CONFINED_SCOPES:
        return Decision(
            False,
            why="The one-time password must be replaced first",
            remedy="Set a new password in the console, or run: tm password",
        )
    reach = ROLES.get(principal.role, {}).get(scope)
    if reach is None:
        why = f"The role {principal.role} does not permit this: {kind.en.lower()} ({scope})"
        return Decision(False, why=why, remedy="Ask an administrator.")
    if reach is Reach.OWN and resource_owner is not None and resource_owner != principal.name:
        return Decision(False, reach, hidden=True, why="There is no such thing, or you may not know of it")
    return Decision(True, reach)
