"""Amounts of money, and what an attempt is charged for: exact, to the millisecond (R3, R19)."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainmaster.core.formats.units import NotRead
from trainmaster.core.money.amounts import (
    MILLION,
    MOST_AMOUNT,
    MOST_CHARGED,
    MOST_PRICE,
    amount_text,
    charge,
    read_amount,
    shown_amount,
)
from trainmaster.core.money.metering import MachineUse, parts_of, ran
from trainmaster.core.money.rates import Rate
from trainmaster.core.records import Attempt, Task
from trainmaster.core.states import Phase, TaskPhase

HOUR_MS = 3_600_000


@given(st.integers(-MOST_AMOUNT, MOST_AMOUNT))
def test_what_is_written_is_read(amount: int) -> None:
    assert read_amount(amount_text(amount), least=-MOST_AMOUNT) == amount


@pytest.mark.parametrize(
    ("text", "amount"),
    [("0", 0), ("12.5", 12_500_000), ("12.50", 12_500_000), ("0.000001", 1), ("007", 7 * MILLION)],
)
def test_amounts_as_people_write_them(text: str, amount: int) -> None:
    assert read_amount(text) == amount


@pytest.mark.parametrize(
    ("amount", "others", "said"),
    [
        (0, (), "0.00"),
        (1_234_567_895_000, (), "1,234,567.90"),
        (-1_005_000, (), "-1.01"),
        (9_999, (), "0.009999"),
        (-417, (), "-0.000417"),
        (10_001, (), "0.01"),
        (-10_001, (), "-0.01"),
        (60_000_400, (60_000_000,), "60.0004"),
        (60_000_000, (60_000_400,), "60.00"),
        (60_000_400, (60_000_400,), "60.00"),
        (1_234_000_100, (-1_234_000_100,), "1,234.00"),
    ],
)
def test_amounts_as_people_read_them(amount: int, others: tuple[int, ...], said: str) -> None:
    """Two digits behind the point, and more only where two would say nothing, or not tell two amounts apart."""
    assert shown_amount(amount, *others) == said


@pytest.mark.parametrize(
    "text",
    ["", " 1", "1 ", "1,5", "1.", ".5", "1e3", "+1", "1.0000001", "NaN", "inf", "0x10", "一", "１２", "1" * 31, "--1"],
)
def test_what_is_no_amount_is_refused(text: str) -> None:
    with pytest.raises(NotRead) as refused:
        read_amount(text)
    assert refused.value.said.code == "not_an_amount"


@pytest.mark.parametrize("text", ["-1", "-0.000001", "1000000.000001", str(2**63), str(2**64)])
def test_prices_out_of_bounds_are_refused(text: str) -> None:
    """Prices of 2^63 and below 0; 0 and the highest are prices."""
    with pytest.raises(NotRead) as refused:
        read_amount(text, MOST_PRICE)
    assert refused.value.said.code == "amount_out_of_range"
    assert (read_amount("0", MOST_PRICE), read_amount("1000000", MOST_PRICE)) == (0, MOST_PRICE)


def test_a_charge_is_rounded_once_and_fits_its_column() -> None:
    assert charge(12_500_000, HOUR_MS) == 12_500_000
    assert charge(1, HOUR_MS // 2) == 1  # half a millionth, up
    assert charge(1, HOUR_MS // 2 - 1) == 0
    assert charge(0, 10**15) == 0
    assert charge(MOST_PRICE, 10**18) == MOST_CHARGED == 2**63 - 1


def use(start: int, end: int, price: int = 7_000_003, machines: int = 3) -> MachineUse:
    return MachineUse("w", "ann", "default", "t1", 1, 0, machines, Rate("big", price, 1000), start, end)


@given(
    st.integers(0, 10**10),
    st.integers(0, 10**9),
    st.integers(0, MOST_PRICE),
    st.lists(st.integers(0, 10**10), max_size=40, unique=True).map(sorted),
)
def test_the_parts_of_a_use_add_up_to_it(start: int, lasts: int, price: int, cuts: list[int]) -> None:
    """Whatever the months' ends: no millisecond and no millionth is lost or counted twice."""
    whole = use(start, start + lasts, price)
    parts = list(parts_of(whole, [-1, *[cut for cut in cuts if cut > 0], 2 * 10**10]))
    assert sum(ms for _, ms, _ in parts) == whole.machine_ms
    assert sum(amount for _, _, amount in parts) == whole.amount
    assert [at for at, _, _ in parts] == sorted({at for at, _, _ in parts})


def test_what_lies_outside_is_left_out() -> None:
    cut = list(parts_of(use(50, 250, 3_600_000_000, 1), [100, 200]))
    assert cut == [(0, 100, charge(3_600_000_000, 150) - charge(3_600_000_000, 50))]
    assert list(parts_of(use(0, 100), [100, 200])) == list(parts_of(use(200, 300), [100, 200])) == []


def task(index: int, started: float | None, ended: float | None) -> Task:
    phase = TaskPhase.WAITING if started is None else TaskPhase.RUNNING if ended is None else TaskPhase.EXITED
    return Task(0, index, phase, started_at=started, ended_at=ended)


def attempt(*tasks: Task, **fields: object) -> Attempt:
    return replace(Attempt(1, "first", Phase.RUNNING, (), tasks, 5.0), **fields)  # type: ignore[arg-type]


def test_an_attempt_is_charged_from_its_first_start_to_its_last_end() -> None:
    """Neither staging before nor saving behind it."""
    both = attempt(task(0, 10.0, 40.0), task(1, 12.0, 30.5), phase=Phase.ENDED, draining_at=50.0, ended_at=60.0)
    assert ran(both, 99.0) == (10.0, 40.0)


def test_what_runs_is_charged_up_to_now_and_what_never_ran_not_at_all() -> None:
    assert ran(attempt(task(0, 10.0, None), task(1, 12.0, 20.0)), 99.0) == (10.0, 99.0)
    assert ran(attempt(task(0, None, 20.0), phase=Phase.ENDED, ended_at=60.0), 99.0) is None


def test_a_debug_hold_is_charged_until_its_end() -> None:
    """It keeps the machines."""
    held = attempt(task(0, 10.0, 20.0), phase=Phase.RETAINED, retained_at=21.0)
    assert ran(held, 99.0) == (10.0, 99.0)
    assert ran(replace(held, draining_at=80.0, ended_at=90.0, phase=Phase.ENDED), 99.0) == (10.0, 80.0)


def test_an_end_before_the_start_costs_nothing() -> None:
    """Two clocks may say so."""
    assert ran(attempt(task(0, 10.0, 9.0)), 99.0) == (10.0, 10.0)
