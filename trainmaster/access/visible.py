"""What somebody may see of a kind of things, as one value: everything, what is theirs, or what lies in some workspaces,
or is shared there, or was taken in there from another workspace.

Only the policy function (`decide`) makes one. Whoever reads things for a person asks for it: memory through `covers`,
the store through `store.seen`, which says the same in SQL (a property test compares the two). Invariant: the value with
nothing in it covers nothing.
"""

from dataclasses import dataclass
from typing import Final, Protocol

from trainmaster.core.states import JobShare


class Owned(Protocol):
    """A thing that belongs to somebody and lies in a workspace: a job, a model. What can be passed on to other
    workspaces has a `taken_in`, too: those that subscribe to it and to which it is offered.
    """

    @property
    def owner(self) -> str:
        """Whose it is."""

    @property
    def workspace(self) -> str:
        """Where it lies."""

    @property
    def share(self) -> str:
        """How it is shared there: a value of `core.states.JobShare`."""


@dataclass(frozen=True, slots=True)
class InWorkspace:
    """A place in a workspace: what is done there is asked of it before there is a thing."""

    workspace: str
    owner: str = ""
    share: str = JobShare.NONE.value


@dataclass(frozen=True, slots=True)
class Visible:
    """`everything`, or what `owner` owns together with what lies in one of `workspaces`, what is shared at one of
    `levels` in one of `shared`, and what one of `subscribed` took in, but from `closed`. `within`: of all that, only
    what lies in this workspace or was taken in there; None: wherever it lies.

    `whose`: of what is not covered, but stands among what is (a queue, a node), its owner may be told.
    """

    everything: bool = False
    owner: str | None = None
    workspaces: frozenset[str] = frozenset()
    whose: bool = False
    shared: frozenset[str] = frozenset()
    levels: frozenset[str] = frozenset()
    within: str | None = None
    subscribed: frozenset[str] = frozenset()
    closed: frozenset[str] = frozenset()

    @property
    def taking(self) -> frozenset[str]:
        """The workspaces through which what they took in is seen."""
        return self.subscribed if self.within is None else self.subscribed & {self.within}

    def looks_into(self, workspace: str) -> bool:
        """Return whether it may be told what `workspace` took in."""
        return workspace in self.taking or (self.everything and self.within in (None, workspace))

    def covers(self, thing: Owned) -> bool:
        """Return whether `thing` may be seen."""
        if self.within is None or thing.workspace == self.within:
            if self.everything or thing.owner == self.owner or thing.workspace in self.workspaces:
                return True
            if thing.share in self.levels and thing.workspace in self.shared:
                return True
        return bool(self.subscribed) and self._covers_taken(thing)

    def _covers_taken(self, thing: Owned) -> bool:
        taken_in: frozenset[str] = getattr(thing, "taken_in", frozenset())
        return thing.workspace not in self.closed and not self.taking.isdisjoint(taken_in)

    def owner_of(self, thing: Owned) -> str | None:
        """Return whose `thing` is, None where that may not be told."""
        return thing.owner if self.whose or self.covers(thing) else None


NOTHING: Final = Visible()
"""What somebody sees to whom the kind of things is not granted."""
TO_THE_PLATFORM: Final = Visible(everything=True)
"""What the platform itself sees when it clears away what is over: nobody has asked it to."""
