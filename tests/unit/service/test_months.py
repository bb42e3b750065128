"""Months begin and end at midnight of a time zone, also where clocks are changed."""

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainmaster.service.money.months import month_at, month_named

ZONES = ("UTC", "Asia/Shanghai", "Europe/Berlin", "America/Sao_Paulo", "Pacific/Apia", "Asia/Kolkata")
HOUR_MS = 3_600_000


@pytest.mark.parametrize(
    "name", ["", "2026", "2026-00", "2026-13", "2026-1", "1999-12", "3000-01", "２０２６-01", "2026-011"]
)
def test_what_is_no_month(name: str) -> None:
    assert month_named(name, ZoneInfo("UTC")) is None


@given(st.integers(2000, 2999), st.integers(1, 12), st.sampled_from(ZONES))
def test_months_follow_one_another_without_a_gap(year: int, month: int, zone: str) -> None:
    one = month_named(f"{year}-{month:02}", ZoneInfo(zone))
    after = month_named(f"{year + month // 12}-{month % 12 + 1:02}", ZoneInfo(zone))
    assert one is not None
    assert list(one.bounds) == sorted(set(one.bounds))
    assert after is None or one.bounds[-1] == after.bounds[0]


@given(st.floats(946_684_800 + 86_400, 32_500_000_000), st.sampled_from(ZONES))
def test_every_moment_lies_in_its_month(now: float, zone: str) -> None:
    month = month_at(now, ZoneInfo(zone))
    assert month.name == f"{datetime.fromtimestamp(now, ZoneInfo(zone)):%Y-%m}"
    assert month.whole[0] <= now * 1000 < month.whole[1]


def test_a_month_of_shanghai_begins_eight_hours_before_that_of_utc() -> None:
    here, there = month_named("2026-11", ZoneInfo("Asia/Shanghai")), month_named("2026-11", ZoneInfo("UTC"))
    assert here is not None
    assert there is not None
    assert [there.bounds[at] - here.bounds[at] for at in (0, -1)] == [8 * HOUR_MS, 8 * HOUR_MS]


def test_days_on_which_clocks_are_changed_have_23_and_25_hours() -> None:
    berlin = ZoneInfo("Europe/Berlin")
    for name, day, hours in (("2026-03", 28, 23), ("2026-10", 24, 25)):
        month = month_named(name, berlin)
        assert month is not None
        assert month.bounds[day + 1] - month.bounds[day] == hours * HOUR_MS


def test_february_has_its_days() -> None:
    lengths = [len(month.bounds) - 1 for year in (2024, 2026) if (month := month_named(f"{year}-02", ZoneInfo("UTC")))]
    assert lengths == [29, 28]
