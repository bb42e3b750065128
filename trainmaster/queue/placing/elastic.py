"""Elastic gangs: roles that may run with any number of replicas from `min_replicas` to `replicas` (R172). Pure."""

from collections.abc import Callable, Sequence
from typing import Final, TypeVar

from trainmaster.core.records import Role, replace

_COUNTS: Final = ("min_replicas", "min_succeeded", "min_failed")
Found = TypeVar("Found")


def steps(roles: Sequence[Role]) -> int:
    """Return in how many steps the gang shrinks from all replicas to the fewest; 0 when it is not elastic."""
    return max((_spare(role) for role in roles), default=0)


def shrunk(roles: tuple[Role, ...], step: int) -> tuple[Role, ...]:
    """Return the gang `step` steps smaller: 0 is the whole, `steps(roles)` the fewest; all roles shrink alike."""
    most = steps(roles)
    return tuple(sized(role, role.replicas - _spare(role) * step // most) for role in roles) if step else roles


def sized(role: Role, replicas: int) -> Role:
    """Return `role` with so many replicas; counts of its completion rules are lowered to what there is."""
    if replicas == role.replicas:
        return role
    most = {name: min(count, replicas) for name in _COUNTS if (count := getattr(role, name)) is not None}
    return replace(role, replicas=replicas, **most)


def fewest(roles: tuple[Role, ...]) -> tuple[Role, ...]:
    """Return the smallest gang that may start."""
    return shrunk(roles, steps(roles))


def largest_size(
    roles: tuple[Role, ...], attempt: Callable[[tuple[Role, ...]], Found | None]
) -> tuple[tuple[Role, ...], Found] | None:
    """Return the largest size for which `attempt` gives something, with what it gave. O(log steps) questions."""
    found = attempt(roles)
    if found is not None:
        return roles, found
    low, high = 0, steps(roles)  # bisection: `low` steps are too few
    if not high or (found := attempt(shrunk(roles, high))) is None:
        return None
    while high - low > 1:
        middle = (low + high) // 2
        between = attempt(shrunk(roles, middle))
        if between is None:
            low = middle
        else:
            high, found = middle, between
    return shrunk(roles, high), found


def _spare(role: Role) -> int:
    return role.replicas - role.min_replicas if role.min_replicas is not None else 0
