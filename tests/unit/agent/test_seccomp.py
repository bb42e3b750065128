"""The filter of system calls, run here as the kernel runs it: for each kind of processor, also those that no test
machine has.
"""

import errno

import pytest

from trainmaster.agent.sandbox import sandbox, seccomp
from trainmaster.agent.sandbox.seccomp import ABSENT, ALLOW, DENIED, LOOKED_AT, MACHINES, REFUSE

X86, ARM = MACHINES["x86_64"], MACHINES["aarch64"]
USED = {  # by what training, its libraries and its debuggers do all day
    "read": (0, 63), "mmap": (9, 222), "mlock": (149, 228), "futex": (202, 98), "execve": (59, 221),
    "mbind": (237, 235), "set_mempolicy": (238, 237), "move_pages": (279, 239), "sched_setaffinity": (203, 122),
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "pidfd_open": (434, 434), "memfd_create": (319, 279),
    "seccomp": (317, 277), "clock_adjtime": (305, 266), "name_to_handle_at": (303, 264), "prctl": (157, 167),
}  # fmt: skip


def verdict(machine: seccomp.Machine, number: int, *given: int, code: int | None = None) -> int:
    """Return what the filter says to a call: 0, or the error."""
    data = {seccomp.NUMBER: number, seccomp.ARCHITECTURE: machine.code if code is None else code}
    data.update({seccomp.ARGUMENTS + 8 * at: value & 0xFFFFFFFF for at, value in enumerate((*given, *(6 * [0]))[:6])})
    value, at, program = 0, 0, seccomp.assemble(machine)
    while True:
        what, yes, no, operand = program[at]
        at += 1
        if what == seccomp.LOAD:
            value = data[operand]
        elif what == seccomp.RETURN:
            return 0 if operand == ALLOW else operand - REFUSE
        else:
            holds = {
                seccomp.IF_EQUAL: value == operand,
                seccomp.IF_AT_LEAST: value >= operand,
                seccomp.IF_ANY_BIT: bool(value & operand),
            }[what]
            at += yes if holds else no


@pytest.mark.parametrize("machine", [X86, ARM], ids=["x86_64", "aarch64"])
def test_each_call_gets_what_its_table_says(machine: seccomp.Machine) -> None:
    for calls, error in ((ABSENT, errno.ENOSYS), (DENIED, errno.EPERM)):
        for name, numbers in calls.items():
            if machine.column < len(numbers):
                assert verdict(machine, numbers[machine.column]) == error, name
    for name, numbers in USED.items():
        assert verdict(machine, numbers[machine.column]) == 0, name


@pytest.mark.parametrize("machine", [X86, ARM], ids=["x86_64", "aarch64"])
def test_arguments_are_looked_at(machine: seccomp.Machine) -> None:
    number = {name: rule.numbers[machine.column] for name, rule in LOOKED_AT.items()}
    thread = 0x3D0F00
    assert verdict(machine, number["clone"], thread) == 0
    assert verdict(machine, number["clone"], 0x10000000 | 17) == errno.EPERM
    assert verdict(machine, number["unshare"], 0x400) == 0
    assert verdict(machine, number["unshare"], 0x10020000) == errno.EPERM
    assert verdict(machine, number["ioctl"], 3, 0x5401) == 0  # a terminal's settings
    assert verdict(machine, number["ioctl"], 3, 0x5412) == errno.EPERM
    assert verdict(machine, number["ioctl"], 3, 0xFFFFFFFF00005412) == errno.EPERM  # the kernel sees its lower half
    for family in (1, 2, 10, 16):
        assert verdict(machine, number["socket"], family) == 0
    assert {verdict(machine, number["socket"], family) for family in (17, 38, 40)} == {errno.EAFNOSUPPORT}
    assert verdict(machine, number["personality"], 0xFFFFFFFF) == 0
    assert verdict(machine, number["personality"], 0x0040000) == 0  # gdb
    assert verdict(machine, number["personality"], 0x0100000) == errno.EPERM  # a page at address 0


def test_calls_in_the_manner_of_another_processor_are_refused_whole() -> None:
    """32-bit numbers are others: theirs for `mount` is a harmless one here."""
    i386 = 0x40000003
    assert verdict(X86, 0, code=i386) == errno.ENOSYS
    assert verdict(ARM, 0, code=0x40000028) == errno.ENOSYS
    assert verdict(X86, 0x40000000) == errno.ENOSYS  # x32
    assert verdict(X86, 0x40000000 | 165) == errno.ENOSYS


def test_no_number_is_named_twice() -> None:
    for column in (0, 1):
        numbers = [one[column] for calls in (ABSENT, DENIED) for one in calls.values() if column < len(one)]
        numbers += [rule.numbers[column] for rule in LOOKED_AT.values()]
        assert len(numbers) == len(set(numbers))


def test_on_an_unknown_processor_there_is_none_and_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    for cached in (seccomp.program, seccomp.missing):
        cached.cache_clear()
    monkeypatch.setattr(seccomp, "MACHINES", {})
    try:
        why = seccomp.missing()
        assert why is not None
        assert why.code == "no_filter_for_processor"
        assert "--seccomp" not in sandbox.probe_command("bwrap")
        seccomp.install()  # which would be for good
        with open("/proc/self/status", encoding="ascii") as file:
            assert "Seccomp:\t0" in file.read()
    finally:
        for cached in (seccomp.program, seccomp.missing):
            cached.cache_clear()
