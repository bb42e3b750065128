"""Roles as data: how far each scope reaches for each role, and the Principal who holds a role.

A scope that a role does not name is not granted. Everybody has one role on the platform, and one in each workspace that
they are a member of. A token may carry less than its holder's roles: some scopes, in one workspace.
"""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from trainmaster.access.scopes import SCOPES
from trainmaster.core.events import Actor, ActorKind, AuditEvent, Changes, Subject
from trainmaster.core.records import replace as cheaply_replaced
from trainmaster.core.states import JobShare
from trainmaster.messages.said import Said


class Reach(StrEnum):
    """Whose things a grant covers."""

    OWN = "own"
    ANY = "any"


class Via(StrEnum):
    """How somebody proved who they are. LOCAL: through the 0600 file of the server's own machine."""

    SESSION = "session"
    TOKEN = "token"
    LOCAL = "local"


@dataclass(frozen=True, slots=True)
class Principal:
    """Who asks. `confined`: must set a new password before anything else is permitted. `memberships`: (workspace, role
    in it), by workspace; `sharing`: those of them in which jobs may be shared; `closed`: the workspaces, whosever, in
    which an administrator lets nothing be shared.

    `owners_told`: whether an administrator lets people know whose the jobs are that they may not see.

    `scopes`: all that a token carries, None: whatever its holder may. `within`: the one workspace that it is for.
    `until`: when it expires; None: never. `address` they ask from, and the id of the token `through` which: for the
    audit, nothing is decided by it.
    """

    name: str
    role: str = "user"
    via: Via = Via.TOKEN
    confined: bool = False
    memberships: tuple[tuple[str, str], ...] = ()
    sharing: frozenset[str] = frozenset()
    closed: frozenset[str] = frozenset()
    scopes: frozenset[str] | None = None
    within: str | None = None
    owners_told: bool = True
    until: float | None = field(default=None, compare=False)
    address: str = field(default="", compare=False)
    through: str = field(default="", compare=False)
    decided: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False)
    """By scope, what `decide` found: for its own use. `dataclasses.replace` begins with nothing."""

    def asking_from(self, address: str) -> "Principal":
        """Return the same person at `address`, of whom the same is decided: that goes along."""
        return cheaply_replaced(self, address=address)

    @property
    def actor(self) -> Actor:
        """Who this is in the audit."""
        kind = ActorKind.TOKEN if self.via is Via.TOKEN else ActorKind.PERSON
        return Actor(self.name, kind, self.address, self.through)

    def did(self, subject: Subject, said: Said, at: float, changes: Changes = ()) -> AuditEvent:
        """Return what the audit is told of what they did."""
        return AuditEvent(subject, said, at, self.actor, changes)

    def role_in(self, workspace: str) -> str | None:
        """Return the role in a workspace, None for who is not a member."""
        return next((role for name, role in self.memberships if name == workspace), None)


_OWN: Final = (
    "account:self", "tokens:self", "jobs:read", "jobs:write", "jobs:share", "models:read", "models:write",
    "uploads:write",
    "templates:read", "templates:write", "templates:share", "datasets:read", "datasets:write", "datasets:share",
    "volumes:read", "volumes:write", "volumes:share",
    "algorithms:read", "algorithms:write", "algorithms:share",
    "images:read", "images:write", "images:share",
    "usage:read", "audit:read", "notices:self", "webhooks:write",
)  # fmt: skip
_OF_ALL: Final = ("meta:read", "cluster:read")

ROLES: Final[dict[str, dict[str, Reach]]] = {
    "admin": dict.fromkeys(SCOPES, Reach.ANY),
    "user": {**dict.fromkeys(_OWN, Reach.OWN), **dict.fromkeys(_OF_ALL, Reach.ANY)},
}
"""role -> scope -> reach."""

_VIEWER: Final = frozenset({"members:read", "balance:read"})
_MEMBER: Final = _VIEWER | {"jobs:submit", "secrets:use"}
_ADMIN: Final = _MEMBER | {
    "jobs:read",
    "jobs:write",
    "jobs:share",
    "models:read",
    "models:write",
    "templates:read",
    "templates:write",
    "templates:share",
    "images:read",
    "images:write",
    "images:share",
    "datasets:read",
    "datasets:write",
    "datasets:share",
    "volumes:read",
    "volumes:write",
    "volumes:share",
    "algorithms:read",
    "algorithms:write",
    "algorithms:share",
    "members:write",
    "limits:write",
    "audit:read",
    "usage:read",
    "webhooks:write",
    "secrets:write",
}

WORKSPACE_ROLES: Final[dict[str, frozenset[str]]] = {
    "owner": _ADMIN,
    "admin": _ADMIN,
    "member": _MEMBER,
    "viewer": _VIEWER,
}
"""role in a workspace -> scopes that reach whatever lies in it. Highest first: nobody gives a role above their own, nor
takes one away.
"""

_ANY_SHARE: Final = frozenset({JobShare.READ.value, JobShare.READ_WRITE.value})

SHARED: Final[dict[str, frozenset[str]]] = {
    "jobs:read": _ANY_SHARE,
    "jobs:write": frozenset({JobShare.READ_WRITE.value}),
    "templates:read": _ANY_SHARE,
    "templates:write": frozenset({JobShare.READ_WRITE.value}),
    "images:read": _ANY_SHARE,
    "images:write": frozenset({JobShare.READ_WRITE.value}),
    "datasets:read": _ANY_SHARE,
    "datasets:write": frozenset({JobShare.READ_WRITE.value}),
    "volumes:read": _ANY_SHARE,
    "volumes:write": frozenset({JobShare.READ_WRITE.value}),
    "algorithms:read": _ANY_SHARE,
    "algorithms:write": frozenset({JobShare.READ_WRITE.value}),
}
"""scope -> how a job, or what else can be shared, has to be shared for it to reach the other members of its workspace
(R223, R226, R227).
"""

SHARED_WITH: Final[dict[str, frozenset[str]]] = {
    "member": frozenset(SHARED),
    "viewer": frozenset(scope for scope in SHARED if scope.endswith(":read")),
}
"""role in a workspace -> scopes that reach what is shared there; higher roles reach it anyway."""

SUBSCRIBED: Final = frozenset({"datasets:read", "algorithms:read", "images:read", "templates:read"})
"""Scopes that reach what a workspace subscribes to in another one (R141), for whoever has a role in it: it is there as
what is shared to be read.
"""

ALWAYS_TOLD_WHOSE: Final = frozenset({"admin"})
"""Roles that are told whose any job is. Others are told of those that they may not see unless an administrator hides it
(`Principal.owners_told`): people who share nodes have to know whom to ask.
"""

ALWAYS_CARRIED: Final = frozenset({"meta:read"})
"""What every token carries: names that are the same for everybody."""

CONFINED_SCOPES: Final = frozenset({"account:self"})
"""What is permitted to somebody who still has to replace a one-time password."""
