"""EASY backfill on quotas: the first that waits for the quota of an account gets it; who comes later must leave it.
Pure.

A claim is what one job will take of its accounts, and when: as soon as the limits of what runs have given enough of it
back. A later job charged to one of these accounts starts only if it ends by then, or takes no more than is then left
beside the claim. Invariant: whoever starts beside a claim makes it no later while limits are obeyed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from trainmaster.queue.ordering.quota import Account

Key = tuple["Account", str]
"""An account and a resource."""

Amounts = Mapping[Key, int]
"""What is held, asked for or allowed, by account and resource."""

Release = tuple[float, Amounts]
"""When an attempt ends, and what it gives back to which accounts."""


class Promised(NamedTuple):
    """When, and what the accounts can then give to others."""

    at: float
    spare: dict[Key, int]


class KeptForHead(NamedTuple):
    """What the head of the line will take, until when."""

    job: str
    wanted: Amounts
    ends_at: float


class Claim:
    """`job` takes `wanted` of what its accounts have a right to. When that is gets known once somebody comes in its
    way.
    """

    def __init__(self, job: str, wanted: Amounts, promised: Callable[[], Promised]) -> None:
        self.job, self.wanted = job, wanted
        self._made: Promised | None = None
        self._make = promised

    @property
    def promised(self) -> Promised:
        """The promise, made when it is first looked at: nobody who would change it started before."""
        if self._made is None:
            self._made = self._make()
        return self._made

    def refuses(self, asked: Amounts, ends_at: float, head: KeptForHead | None) -> Key | None:
        """Return of what too much is asked to start now and end at `ends_at`, None when the claim is not touched.

        `head`: what of the rest is kept for another job.
        """
        touched = [key for key in asked if key in self.wanted]
        if not touched or self._in_time(ends_at):
            return None
        kept = head.wanted if head is not None and not self._in_time(head.ends_at) else {}
        return next((key for key in touched if asked[key] + kept.get(key, 0) > self.promised.spare[key]), None)

    def took(self, asked: Amounts, ends_at: float) -> None:
        """Note what started beside it."""
        touched = [key for key in asked if key in self.wanted]
        if touched and not self._in_time(ends_at):
            for key in touched:
                self.promised.spare[key] -= asked[key]

    def _in_time(self, ends_at: float) -> bool:
        return ends_at <= self.promised.at and ends_at < math.inf


class Claims:
    """The claims in one pool during a pass, by account: at most that of the first who waits and that of the line's
    head.
    """

    def __init__(self) -> None:
        self._claims: dict[Account, list[Claim]] = {}
        self._head: KeptForHead | None = None

    @property
    def any(self) -> bool:
        """Whether anything was ever claimed."""
        return bool(self._claims)

    def on(self, account: Account) -> Sequence[Claim]:
        """Return the claims on this account."""
        return self._claims.get(account, ())

    def of(self, job: str) -> bool:
        """Return whether `job` claims anything."""
        return any(claim.job == job for claims in self._claims.values() for claim in claims)

    def add(self, claim: Claim) -> None:
        """Let it hold for the accounts that it asks something of."""
        for account in dict.fromkeys(account for account, _ in claim.wanted):
            self._claims.setdefault(account, []).append(claim)

    def keep(self, kept: KeptForHead, claim: Claim) -> None:
        """Let the head have what it claims; what other claims leave is that much less for the others, if it is to run
        on then.
        """
        self._head = kept
        self.add(claim)

    def withdraw(self, job: str) -> None:
        """Forget the claims of this job, which starts."""
        if self._head is not None and self._head.job == job:
            self._head = None
        for account, claims in self._claims.items():
            self._claims[account] = [claim for claim in claims if claim.job != job]

    def refused(self, job: str, asked: Amounts, ends_at: float) -> tuple[Key, str] | None:
        """Return what somebody else's claim refuses to `job`, and who that is."""
        for account in dict.fromkeys(account for account, _ in asked):
            for claim in self.on(account):
                head = self._head if self._head is not None and self._head.job not in (job, claim.job) else None
                key = claim.refuses(asked, ends_at, head) if claim.job != job else None
                if key is not None:
                    return key, claim.job
        return None

    def took(self, job: str, asked: Amounts, ends_at: float) -> None:
        """Note what `job` took."""
        claims = {id(claim): claim for account, _ in asked for claim in self.on(account)}
        for claim in claims.values():
            if claim.job != job:
                claim.took(asked, ends_at)


def promise(wanted: Amounts, held: Amounts, rights: Amounts, releases: Iterable[Release], now: float) -> Promised:
    """Return when `wanted`, no more than `rights` allow, is to be had as `releases`, sorted, come. O(releases).

    Of those without a limit only as many end as it takes: else each pass would let one more of them go first.
    """
    used, at = {key: held[key] for key in wanted}, now
    for ends_at, amounts in releases:
        lacks = any(used[key] + wanted[key] > rights[key] for key in wanted)
        if not lacks and not ends_at <= at < math.inf:
            break
        at = max(at, ends_at)
        for key, amount in amounts.items():
            if key in used:
                used[key] -= amount
    return Promised(at, {key: rights[key] - used[key] - wanted[key] for key in wanted})
