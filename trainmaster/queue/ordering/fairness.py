"""Fair shares: what workspaces and users used lately, against what they are entitled to. Pure data, kept between
passes.

Usage is what was reserved, in amount x time, and counts half after every half-life. The dominant share of a tenant is
its largest share of any resource (DRF: Ghodsi et al., NSDI 2011), taken relative to the others' who hold or want
something now. Invariant: an offset lies within [-1, bound] x weight, and is zero for who is alone, so it delays by a
bounded time.
"""

import math
from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from trainmaster.queue.policy import QueuePolicy
from trainmaster.queue.snapshot import Tenant

RESOURCES: Final = ("gpu", "cpu", "memory_mib")
Past = Mapping[str, Any]
"""What was used until some time, as plain JSON."""
Name = tuple[str, ...]
"""(workspace,) or (workspace, user)."""


class _Used(NamedTuple):
    """Decayed amount x seconds until `at`, and what is held since."""

    value: float
    rate: int
    at: float

    def until(self, at: float, half_life_s: float) -> "_Used":
        if at <= self.at:
            return self
        kept = 2.0 ** (-(at - self.at) / half_life_s)
        return _Used(self.value * kept + self.rate * (1.0 - kept) * half_life_s / math.log(2), self.rate, at)


_NOTHING: Final = _Used(0.0, 0, 0.0)
_NEGLIGIBLE: Final = 1.0
"""A thousandth of a card or core for a second, a MiB for a second: not worth keeping."""


class Fairness:
    """What each workspace and each user in it used. `weights`: entitlement of a workspace relative to others, default
    1.

    `past`: what was used until some time, `past_json` of an earlier one. Who holds something is told anew: `change`
    counts nothing twice that was held before that time already. Raises TypeError, ValueError, KeyError for what is no
    such thing.
    """

    def __init__(
        self, half_life_s: float, weights: Mapping[str, float] | None = None, past: Past | None = None
    ) -> None:
        self.half_life_s, self.weights = half_life_s, dict(weights or {})
        self._used: dict[Name, dict[str, _Used]] = {}
        if past is not None:
            at = float(past["at"])
            for name, used in past["used"]:
                self._used[tuple(name)] = {resource: _Used(float(used[resource]), 0, at) for resource in used}

    def past_json(self) -> Past:
        """Return what was used until the last change as plain JSON, without what has all but decayed. O(names)."""
        at = max((used.at for mine in self._used.values() for used in mine.values()), default=0.0)
        values = (
            (name, {resource: used.until(at, self.half_life_s).value for resource, used in mine.items()})
            for name, mine in sorted(self._used.items())
        )
        return {"at": at, "used": [[list(name), used] for name, used in values if max(used.values()) >= _NEGLIGIBLE]}

    def clock_set(self, by_s: float) -> None:
        """Count on `by_s` seconds later: the clock was set, and nothing was used for that. O(names)."""
        for mine in self._used.values():
            for resource, used in mine.items():
                mine[resource] = used._replace(at=used.at + by_s)

    def change(self, tenant: Tenant, held: Iterable[tuple[str, int]], sign: int, at: float) -> None:
        """Note that `tenant` holds `held` from `at` on (`sign` 1), or no longer (-1). O(1)."""
        for name in ((tenant.workspace,), (tenant.workspace, tenant.owner)):
            mine = self._used.setdefault(name, {})
            for resource, amount in held:
                if resource in RESOURCES:
                    used = mine.get(resource, _NOTHING).until(at, self.half_life_s)
                    mine[resource] = _Used(used.value, used.rate + sign * amount, max(at, used.at))

    def offsets(
        self, waiting: Iterable[Tenant], total: Mapping[str, int], now: float, policy: QueuePolicy
    ) -> "Offsets":
        """Return by how many seconds each tenant moves back. `total`: amount of each resource there is."""
        active: dict[Name, set[str]] = {(): set()}
        for name, used in self._used.items():
            if any(item.rate for item in used.values()):
                active.setdefault(name[:-1], set()).add(name[-1])
        for tenant in waiting:
            active[()].add(tenant.workspace)
            active.setdefault((tenant.workspace,), set()).add(tenant.owner)
        lead: dict[Name, float] = {}
        for group, members in sorted(active.items()):
            for member, excess in self._excess(group, sorted(members), total, now):
                bounded = min(max(excess, -1.0), policy.fair_bound)
                lead[(*group, member)] = bounded * policy.fair_weight_s
        return Offsets(lead)

    def _excess(self, group: Name, members: list[str], total: Mapping[str, int], now: float) -> list[tuple[str, float]]:
        """Return (member, its share / what it is entitled to - 1) within one group."""
        shares = [self._dominant((*group, member), total, now) for member in members]
        weights = [1.0 if group else self.weights.get(member, 1.0) for member in members]
        used, weight = sum(shares), sum(weights)
        if len(members) < 2 or used <= 0:
            return [(member, 0.0) for member in members]
        return [
            (member, share / used * weight / mine - 1.0)
            for member, share, mine in zip(members, shares, weights, strict=True)
        ]

    def _dominant(self, name: Name, total: Mapping[str, int], now: float) -> float:
        mine = self._used.get(name, {})
        parts = [
            mine[resource].until(now, self.half_life_s).value / total[resource]
            for resource in RESOURCES
            if resource in mine and total.get(resource)
        ]
        return max(parts, default=0.0)


class Offsets(NamedTuple):
    """How far back a tenant's jobs move, in seconds."""

    lead: Mapping[Name, float]

    def of(self, tenant: Tenant) -> float:
        """Return the sum for its workspace and for its owner within that, within 2 x weight x [-1, bound]."""
        workspace = self.lead.get((tenant.workspace,), 0.0)
        return workspace + self.lead.get((tenant.workspace, tenant.owner), 0.0)
