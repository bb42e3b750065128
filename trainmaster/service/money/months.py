"""Calendar months of a time zone, as the milliseconds between their days. Pure.

A day is from midnight to midnight by the clocks there: 23 or 25 hours where they are changed.
"""

import re
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

_MONTH: Final = re.compile(r"(2[0-9]{3})-(0[1-9]|1[0-2])")


@dataclass(frozen=True, slots=True)
class Month:
    """A month (YYYY-MM). `bounds`: when each of its days begins, and the month after it, in ms since the epoch."""

    name: str
    bounds: tuple[int, ...]

    @property
    def whole(self) -> tuple[int, int]:
        """When it begins and ends."""
        return self.bounds[0], self.bounds[-1]


def month_named(name: str, zone: ZoneInfo) -> Month | None:
    """Return a month by its name, YYYY-MM; None for what is none, or before 2000 or after 2999."""
    found = _MONTH.fullmatch(name)
    if found is None:
        return None
    year, month = map(int, found.groups())
    first = date(year, month, 1)
    last = (first + timedelta(days=31)).replace(day=1)
    days = [first + timedelta(days=at) for at in range((last - first).days + 1)]
    begins = (datetime(day.year, day.month, day.day, tzinfo=zone).timestamp() for day in days)
    return Month(name, tuple(round(at * 1000) for at in begins))


def month_at(now: float, zone: ZoneInfo) -> Month:
    """Return the month in which `now` lies; before 2000 the first of that year."""
    day = max(datetime.fromtimestamp(now, zone), datetime(2000, 1, 1, tzinfo=zone))
    found = month_named(f"{day:%Y-%m}", zone)
    assert found is not None
    return found
