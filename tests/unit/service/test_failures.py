"""Which failed sign-ins are told: few of many, and never so many that they fill the disk."""

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fixtures.examples import examples
from trainmaster.service.people.failures import FORGET_S, HOUR_S, KEYS, MOST, SignInFailures, Telling


class Time:
    def __init__(self) -> None:
        self.now = 1e9

    def __call__(self) -> float:
        return self.now


def test_each_doubling_is_told_and_a_day_later_all_begins_anew() -> None:
    time = Time()
    failures = SignInFailures(time)
    told = [failures.note("ann", "a") for _ in range(20)]
    assert [count for what, count in told if what is Telling.FAILURE] == [1, 2, 4, 8, 16]
    assert failures.note("ann", "b") == (Telling.FAILURE, 1)  # another address is another guesser
    failures.forget("ann", "b")
    assert failures.note("ann", "b") == (Telling.FAILURE, 1)
    time.now += FORGET_S
    assert failures.note("ann", "a") == (Telling.FAILURE, 1)
    time.now -= 7 * FORGET_S  # the clock was set back
    assert failures.note("ann", "a") == (Telling.FAILURE, 1)


def test_an_hour_has_a_most_and_says_so_once() -> None:
    time = Time()
    failures = SignInFailures(time)
    for _ in range(2):
        told = Counter(failures.note("", f"address {number}")[0] for number in range(MOST + KEYS))
        assert (told[Telling.FAILURE], told[Telling.NO_MORE]) == (MOST - 1, 1)
        time.now += HOUR_S


@settings(max_examples=examples(50))
@given(st.lists(st.tuples(st.sampled_from("abc"), st.floats(0.0, 2 * FORGET_S)), max_size=200))
def test_whatever_comes_counts_rise_by_one_until_they_begin_anew(steps: list[tuple[str, float]]) -> None:
    time = Time()
    failures, last = SignInFailures(time), Counter[str]()
    for address, passed in steps:
        time.now += passed
        told, count = failures.note("ann", address)
        assert count in (1, last[address] + 1)
        assert (told is not Telling.NOTHING) == (count & (count - 1) == 0)
        last[address] = count
