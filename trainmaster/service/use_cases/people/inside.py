"""Whether somebody may do something inside a workspace, and what they are told otherwise."""

from collections.abc import Collection

from trainmaster.access.decide import decide
from trainmaster.access.roles import Principal
from trainmaster.access.visible import InWorkspace
from trainmaster.core.errors import Forbidden, NotFound
from trainmaster.messages.cluster import cluster
from trainmaster.messages.server import people


def demand_inside(who: Principal, scope: str, workspace: str, known: Collection[str]) -> None:
    """Return when `who` may do this in a workspace that exists. To who may not see its members nothing is there; a
    member is told what they may not. Raises NotFound, Forbidden.
    """
    if workspace not in known:
        raise NotFound(cluster.workspace_not_found(workspace, sorted(known)))
    decide(who, "members:read", InWorkspace(workspace)).demand()
    if not decide(who, scope, InWorkspace(workspace)).allowed:
        raise Forbidden(people.role_not_enough(who.role_in(workspace) or who.role, workspace))
