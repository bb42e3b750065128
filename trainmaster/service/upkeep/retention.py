"""How long things are kept: asks every rule what goes now, for whoever wants to know, and lets it go, for the sweep.

One function decides for both (`_due`). The question may be asked of settings that do not hold: what they would remove
can be seen before they are written. Invariant: what a sweep removes is what the question of that moment named, less
what somebody began to use meanwhile.
"""

import asyncio
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from trainmaster.access.decide import decide
from trainmaster.access.roles import Principal
from trainmaster.answers import RetentionName, RetentionRule, RetentionView
from trainmaster.core.errors import TrainmasterError
from trainmaster.messages.said import Said
from trainmaster.messages.server import retention as said
from trainmaster.service.language import both
from trainmaster.service.upkeep.retention_rules import DuePage, Keeping, Rule, Step

log = logging.getLogger("trainmaster.retention")

MOST_MEASURED: Final = 1000
"""Folders that are measured for one answer, of each rule; the number of what goes is always whole."""


@dataclass(frozen=True, slots=True)
class RuleText:
    """How a rule is set, and what it says of itself."""

    setting: str
    goes: Callable[[float], Said]
    stays: Callable[[], Said]


TEXTS: Final[Mapping[RetentionName, RuleText]] = {
    "jobs": RuleText("retention.jobs_days", said.old_jobs_go, said.jobs_stay),
    "logs": RuleText("retention.logs_days", said.old_logs_go, said.logs_stay),
    "audit": RuleText("retention.audit_days", said.old_audit_events_go, said.audit_events_stay),
    "uploads": RuleText("limits.uploads_s", said.old_uploads_go, said.uploads_stay),
    "keys": RuleText("limits.keys_s", said.old_keys_go, said.keys_stay),
    "bin": RuleText("retention.bin_days", said.binned_go, said.binned_stay),
}


class Retention:
    """One object per server. `rules` go in this order: one that makes another's things due comes after it."""

    def __init__(self, rules: Sequence[Rule], keeping: Keeping, clock: Callable[[], float]) -> None:
        self._rules, self._keeping, self._clock = rules, keeping, clock
        self._asking = asyncio.Lock()

    async def ask(self, who: Principal, **others: float) -> RetentionView:
        """Return what would be removed now, by rule. `others`: seconds by the name of a rule, in place of what is set;
        0: for ever.

        O(what goes), and what a rule says of itself. Raises Forbidden, Unavailable.
        """
        decide(who, "retention:read").demand()
        keeping, now = replace(self._keeping, **others), self._clock()
        async with self._asking:
            items = await asyncio.to_thread(lambda: [self._answer(rule, keeping, now) for rule in self._rules])
        return RetentionView(items=items, at=now)

    def steps(self) -> Iterator[Step]:
        """Remove what goes now, a bounded piece before each yield; what is yielded is to be done before the next.
        Blocking.

        A rule that fails is tried again by the next sweep; the others go on.
        """
        now = self._clock()
        for rule in self._rules:
            try:
                yield from rule.begin(self._keeping, now)
                for page in self._due(rule, self._keeping, now):
                    yield from rule.remove(page, self._keeping, now)
            except (TrainmasterError, OSError) as error:
                log.warning("what is kept no longer (%s) could not be removed; tried again later: %s", rule.name, error)

    @staticmethod
    def _due(rule: Rule, keeping: Keeping, now: float) -> Iterator[DuePage]:
        """Yield what goes by one rule: nothing where things are kept for ever."""
        if getattr(keeping, rule.name):
            yield from rule.due(keeping, now)

    def _answer(self, rule: Rule, keeping: Keeping, now: float) -> RetentionRule:
        count, measured, size = 0, 0, 0
        oldest: float | None = None
        for page in self._due(rule, keeping, now):
            for due in page.items:
                count += 1
                oldest = due.at if oldest is None else min(oldest, due.at)
                if measured < MOST_MEASURED and (found := rule.size(due)) is not None:
                    size, measured = size + found, measured + 1
        after_s, text = getattr(keeping, rule.name), TEXTS[rule.name]
        return RetentionRule(
            rule=rule.name,
            setting=text.setting,
            after_s=after_s or None,
            text=both(text.goes(after_s) if after_s else text.stays()),
            count=count,
            size_bytes=size,
            measured=measured,
            oldest=oldest,
        )
