"""Which one somebody means by a name that several things have. Pure."""

from collections.abc import Sequence
from typing import Protocol, TypeVar

from trainmaster.access.roles import Principal


class NamedThing(Protocol):
    """What has a name and an owner."""

    @property
    def name(self) -> str:
        """What it is called."""

    @property
    def owner(self) -> str:
        """Whose it is."""


T = TypeVar("T", bound=NamedThing)


def own_first(found: Sequence[T], name: str, who: Principal) -> Sequence[T]:
    """Return what is meant of things that are called so: one's own comes before what others shared."""
    mine = [one for one in found if one.owner == who.name and one.name == name] if len(found) > 1 else []
    return mine if len(mine) == 1 else found
