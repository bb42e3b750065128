"""The platform's clock passes, whatever the machine's clock is set to (B10)."""

from pathlib import Path

import pytest

from trainmaster.agent.host import procs
from trainmaster.service.control.clock import TOLERATED_S, Clock


class Machine:
    """A machine whose clock can be set, and which can be started anew."""

    def __init__(self) -> None:
        self.wall, self.up, self.boot = 1_000_000.0, 500.0, "first"

    def passes(self, seconds: float) -> None:
        self.wall, self.up = self.wall + seconds, self.up + seconds

    def clock(self) -> Clock:
        """Return the clock of a server that is started now."""
        return Clock(lambda: self.wall, lambda: self.up, self.boot)


def test_a_clock_that_is_set_moves_no_time() -> None:
    """Forward, backward, and back again: it is told how far, and follows when asked to."""
    machine = Machine()
    clock = machine.clock()
    assert (clock(), clock.moved()) == (1_000_000.0, 0.0)
    for by_s in (7200.0, -7200.0, -86400.0 * 365):
        before = clock()
        machine.wall += by_s
        machine.passes(3.0)
        assert clock() == before + 3.0
        assert clock.moved() == by_s
        clock.follow(by_s)
        assert (clock(), clock.moved()) == (machine.wall, 0.0)


def test_a_leap_second_is_not_followed_but_many_are() -> None:
    """Small steps add up: dates are never further from the machine's than that."""
    machine = Machine()
    clock = machine.clock()
    machine.wall += TOLERATED_S
    assert clock.moved() == 0.0
    machine.wall += TOLERATED_S
    assert clock.moved() == 2 * TOLERATED_S


def test_a_clock_that_was_set_while_no_server_ran_is_noticed() -> None:
    """The next server goes on from where the one before stood; what passed meanwhile has passed."""
    machine = Machine()
    stand = machine.clock().stand()
    machine.passes(100.0)
    machine.wall += 7200.0
    clock = machine.clock()
    assert clock.resume(stand, 1_000_000.0)
    assert (clock(), clock.moved()) == (1_000_100.0, 7200.0)


def test_after_a_start_of_the_machine_its_clock_counts_but_not_before_what_was() -> None:
    """A machine without a battery begins in 1970; a stand that nobody can read is none."""
    machine = Machine()
    stand = machine.clock().stand()
    machine.wall, machine.up, machine.boot = 1_000_900.0, 10.0, "second"
    clock = machine.clock()
    assert not clock.resume(stand, 1_000_500.0)
    assert clock() == 1_000_900.0
    machine.wall = 30.0
    for unreadable in (stand, None, "{", "[]", '{"boot": "second"}'):
        clock = machine.clock()
        assert not clock.resume(unreadable, 1_000_500.0)
        assert clock() == 1_000_500.0


def test_what_the_agent_stamped_is_read_by_the_same_clock() -> None:
    """On this start of this machine; a stamp of another, or none, says nothing."""
    clock = Clock()
    before, at, after = clock(), clock.of(procs.stamp()), clock()
    assert at is not None
    assert before - 0.001 <= at <= after + 0.001
    clock.follow(7200.0)
    moved = clock.of(procs.stamp())
    assert moved is not None
    assert moved > at + 7000.0
    assert clock.of("other 12.0") is None
    assert clock.of("") is None


def test_a_kernel_without_namespaces_of_time_names_its_start_too(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Linux before 5.6: the starts of two machines, or two of one, would have the same name, and no stamp at all one of
    ours.
    """
    monkeypatch.setattr(procs, "TIME_OFFSETS", str(tmp_path / "none"))
    name = procs.boot_name.__wrapped__()
    assert name == Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    clock = Clock(boot=name)
    assert clock.of(f"{name} 12.0") is not None
    assert clock.of("") is None
    assert clock.of(" 12.0") is None


def test_an_offset_of_a_namespace_of_time_is_part_of_the_name(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """There the count since the start is another one."""
    offsets = tmp_path / "offsets"
    monkeypatch.setattr(procs, "TIME_OFFSETS", str(offsets))
    offsets.write_text("monotonic           0         0\nboottime            0         0\n")
    name = procs.boot_name.__wrapped__()
    offsets.write_text("monotonic           0         0\nboottime            7         0\n")
    assert procs.boot_name.__wrapped__() == f"{name}+7:0"
