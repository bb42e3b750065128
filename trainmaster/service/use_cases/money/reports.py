"""What was used in a month, and what it cost: by workspace, person and flavor, and by day (R3, R19).

An attempt is counted where it ran, to the millisecond, cut at midnight of the platform's time zone; what runs now is
counted up to now.
"""

import csv
import io
from collections import Counter, defaultdict
from collections.abc import Iterable
from datetime import datetime
from typing import Final
from zoneinfo import ZoneInfo

from trainmaster.access.decide import decide
from trainmaster.access.roles import Principal
from trainmaster.answers import ReportDay, ReportLine, ReportSums, UsageReport
from trainmaster.core.errors import InvalidSpec, problem_of
from trainmaster.core.money.amounts import amount_text
from trainmaster.core.records import Job
from trainmaster.messages.server import money
from trainmaster.service.context import Context
from trainmaster.service.money.months import Month, month_at, month_named
from trainmaster.service.use_cases.money.spending import spending
from trainmaster.store.money.entries import CORRECTION, CREDIT, USE, Spending, Spent

CSV_HEAD: Final = (
    "month",
    "workspace",
    "person",
    "flavor",
    "replica_seconds",
    "replica_hours",
    "gpu_hours",
    "amount",
    "currency",
)


class Reports:
    """One object per server."""

    def __init__(self, context: Context) -> None:
        self._ctx = context
        self._zone = ZoneInfo(context.config.money.time_zone)

    async def usage(self, who: Principal, month: str = "", workspace: str = "", owner: str = "") -> UsageReport:
        """Return the report of a month, of this one for "", of one workspace or person where asked: of what may be
        seen. Raises Forbidden, InvalidSpec. O(entries of the month and after).
        """
        visible = decide(who, "usage:read").demand()
        asked, now = self._month(month), self._ctx.clock()

        def covers(job: Job) -> bool:
            return visible.covers(job) and workspace in ("", job.workspace) and owner in ("", job.owner)

        def read(after: int) -> Spending:
            return self._ctx.entries.spent(visible, asked.bounds, workspace, owner, after=after)

        return self._report(asked, now, await spending(self._ctx, asked.bounds, covers, read))

    async def usage_csv(self, who: Principal, month: str = "", workspace: str = "", owner: str = "") -> str:
        """Return the lines of `usage` as CSV (RFC 4180): seconds exact, hours rounded to six digits. Raises like it."""
        report = await self.usage(who, month, workspace, owner)
        text = io.StringIO()
        out = csv.writer(text)
        out.writerow(CSV_HEAD)
        for line in report.lines:
            times = f"{line.machine_s:.3f}", *(f"{seconds / 3600:.6f}" for seconds in (line.machine_s, line.gpu_s))
            out.writerow(
                (
                    report.month,
                    *map(plain, (line.workspace, line.owner, line.flavor)),
                    *times,
                    line.amount,
                    report.currency,
                )
            )
        return text.getvalue()

    def _month(self, name: str) -> Month:
        found = month_named(name, self._zone) if name else month_at(self._ctx.clock(), self._zone)
        if found is None:
            problem = problem_of("month", money.not_a_month(), name)
            raise InvalidSpec(money.report_not_answerable(), problems=(problem,))
        return found

    def _report(self, month: Month, now: float, found: Iterable[Spent]) -> UsageReport:
        lines: defaultdict[tuple[str, str, str], list[int]] = defaultdict(lambda: [0, 0, 0])
        days = [[0, 0, 0] for _ in month.bounds[1:]]
        credited: Counter[str] = Counter()
        corrected: Counter[str] = Counter()
        for spent in found:
            if spent.kind == USE:
                for sums in (lines[spent.workspace, spent.owner, spent.flavor], days[spent.span]):
                    for at, more in enumerate((spent.machine_ms, spent.gpu_ms, -spent.amount)):
                        sums[at] += more
            elif spent.kind in (CREDIT, CORRECTION):
                (credited if spent.kind == CREDIT else corrected)[spent.workspace] += spent.amount
        total = [sum(sums[at] for sums in days) for at in range(3)]
        since, until = month.whole
        return UsageReport(
            month=month.name,
            time_zone=self._zone.key,
            currency=self._ctx.config.money.currency,
            priced=self._ctx.purses.in_use,
            since=since / 1000,
            until=until / 1000,
            at=now,
            machine_s=total[0] / 1000,
            gpu_s=total[1] / 1_000_000,
            amount=amount_text(total[2]),
            lines=[
                ReportLine(
                    workspace=workspace,
                    owner=owner,
                    flavor=flavor,
                    machine_s=sums[0] / 1000,
                    gpu_s=sums[1] / 1_000_000,
                    amount=amount_text(sums[2]),
                )
                for (workspace, owner, flavor), sums in sorted(
                    lines.items(), key=lambda one: (-one[1][2], -one[1][0], one[0])
                )
            ],
            days=[
                ReportDay(
                    day=f"{datetime.fromtimestamp(begin / 1000, self._zone):%Y-%m-%d}",
                    machine_s=sums[0] / 1000,
                    gpu_s=sums[1] / 1_000_000,
                    amount=amount_text(sums[2]),
                )
                for begin, sums in zip(month.bounds, days, strict=False)
            ],
            sums=[
                ReportSums(workspace=name, credited=amount_text(credited[name]), corrected=amount_text(corrected[name]))
                for name in sorted({*credited, *corrected})
            ],
        )


def plain(text: str) -> str:
    """Return a name as a cell that no table program takes for a formula."""
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text
