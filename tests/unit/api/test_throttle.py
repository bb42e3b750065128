"""Guessing gets slower and slower, and forgetting is bounded (issue item 11)."""

from trainmaster.service.throttle import FORGET_S, KEYS, LONGEST_S, Throttle


def test_waits_double_up_to_the_longest() -> None:
    throttle, now, waits = Throttle(), 0.0, []
    for _ in range(20):
        throttle.failed("a", now)
        waits.append(throttle.wait_s("a", now))
        now += waits[-1]
    assert waits[:8] == [0, 0, 0, 0, 1, 2, 4, 8]
    assert max(waits) == waits[-1] == LONGEST_S


def test_success_and_quiet_forget() -> None:
    throttle = Throttle()
    for _ in range(6):
        throttle.failed("a", 0.0)
    assert throttle.wait_s("b", 0.0) == 0
    throttle.succeeded("a")
    assert throttle.wait_s("a", 0.0) == 0
    for _ in range(6):
        throttle.failed("a", 0.0)
    assert throttle.wait_s("a", FORGET_S + 1) == 0
    throttle.failed("a", FORGET_S + 1)
    assert throttle.wait_s("a", FORGET_S + 1) == 0


def test_memory_is_bounded() -> None:
    throttle = Throttle()
    for number in range(KEYS + 100):
        throttle.failed(str(number), 0.0)
    assert len(throttle._records) == KEYS
