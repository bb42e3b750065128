"""What a saved view holds is written as the console's address has it, and read as the console reads it."""

from datetime import datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainmaster.sdk.finding.views import asked_of, query_of

NOW = 1_790_000_000.0
WORDS = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=20)


def test_an_address_of_the_console_is_read() -> None:
    query = "q=lr+0.1+label%3Around%3D2&state=failed%2Cexpired&who=mine&tag=paper&favorite=true&since=7d&columns=name"
    assert asked_of(query, NOW) == {
        "q": "lr 0.1 label:round=2",
        "state": ["failed", "expired"],
        "mine": True,
        "tag": "paper",
        "favorite": True,
        "since": NOW - 7 * 86400,
    }


def test_days_are_whole_days_here() -> None:
    asked = asked_of("since=2026-03-01&until=2026-03-31", NOW)
    assert asked["since"] == datetime(2026, 3, 1).timestamp()  # noqa: DTZ001 - as in the module
    assert asked["until"] == datetime(2026, 4, 1).timestamp()  # noqa: DTZ001


@pytest.mark.parametrize(
    "query",
    [
        "",
        "since=yesterday",
        "until=7d",
        "since=2026-02-30",
        "until=9999-12-31",
        "who=other",
        "favorite=no",
        "page=3",
        "state=",
    ],
)
def test_what_is_no_part_of_a_view_is_passed_over(query: str) -> None:
    assert asked_of(query, NOW) == {}


def test_of_ones_own_jobs_no_owner_is_asked() -> None:
    assert asked_of("who=mine&owner=bob") == {"mine": True}
    assert asked_of("who=all&owner=bob") == {"owner": "bob"}


@given(st.fixed_dictionaries({}, optional=dict.fromkeys(("q", "owner", "workspace", "pool", "node", "tag"), WORDS)))
def test_whatever_is_written_is_read(asked: dict[str, Any]) -> None:
    assert asked_of(query_of(asked)) == asked  # type: ignore[arg-type]
