"""What somebody may see of a kind of things, as one value: everything, what is theirs, or what lies in some workspaces.

Only the policy function (`decide`) makes one. Whoever reads things for a person asks for it: memory through `covers`,
the store through `store.seen`, which says the same in SQL (a property test compares the two). Invariant: the value with
nothing in it covers nothing.
"""

from dataclasses import dataclass
from typing import Final, Protocol


class Owned(Protocol):
    """A thing that belongs to somebody and lies in a workspace: a job, a model."""

    @property
    def owner(self) -> str:
        """Whose it is."""

    @property
    def workspace(self) -> str:
        """Where it lies."""


@dataclass(frozen=True, slots=True)
class InWorkspace:
    """A place in a workspace: what is done there is asked of it before there is a thing."""

    workspace: str
    owner: str = ""


@dataclass(frozen=True, slots=True)
class Visible:
    """`everything`, or what `owner` owns together with what lies in one of `workspaces`.

    `whose`: of what is not covered, but stands among what is (a queue, a node), its owner may be told.
    """

    everything: bool = False
    owner: str | None = None
    workspaces: frozenset[str] = frozenset()
    whose: bool = False

    def covers(self, thing: Owned) -> bool:
        """Return whether `thing` may be seen."""
        return self.everything or thing.owner == self.owner or thing.workspace in self.workspaces

    def owner_of(self, thing: Owned) -> str | None:
        """Return whose `thing` is, None where that may not be told."""
        return thing.owner if self.whose or self.covers(thing) else None


NOTHING: Final = Visible()
"""What somebody sees to whom the kind of things is not granted."""
