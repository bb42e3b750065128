"""The filter of system calls that every sandboxed task runs under: tables of what is refused, and the program the
kernel runs.

What is refused needs no right of the user's and has no use in training, yet reaches what no namespace covers (keys of
the host's users) or opens the kernel's least tried parts. Invariants: what PyTorch, NCCL, CUDA, debuggers and build
tools use is let through; a call made in the manner of another architecture is refused whole, or its numbers would pass
for others. The kernel remembers which numbers are always allowed (5.11 and newer): they cost nothing. Pure but for
`missing` and `install`.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct
from functools import cache
from typing import Final

from trainmaster._compat import dataclass
from trainmaster.messages.jobs import starting as say
from trainmaster.messages.said import Said

PR_SET_SECCOMP: Final = 22
MODE_FILTER: Final = 2
CLONE_NEWUSER: Final = 0x10000000
TIOCSTI, TIOCLINUX = 0x5412, 0x541C
PERSONALITIES: Final = (0, 0x0020000, 0x0040000, 0x0060000, 0xFFFFFFFF)
"""Linux itself, an old version number, and no random addresses (debuggers); all ones only asks."""
FAMILIES: Final = (1, 2, 10, 16)
"""Of sockets: unix, IPv4, IPv6, netlink (the list of network cards)."""


@dataclass(frozen=True, slots=True)
class Machine:
    """One architecture. `code`: AUDIT_ARCH_* of linux/audit.h. `foreign`: numbers from here on belong to another
    convention (x32).
    """

    code: int
    column: int  # where the tables have its numbers
    foreign: int = 0


MACHINES: Final = {
    "x86_64": Machine(0xC000003E, 0, 0x40000000),
    "aarch64": Machine(0xC00000B7, 1),
}

ABSENT: Final[dict[str, tuple[int, ...]]] = {
    # Answered as by a kernel without them (ENOSYS): programs then do without. For clone3, whose flags lie in memory
    # where no filter can look, the C library falls back to clone.
    "clone3": (435, 435), "io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "io_uring_register": (427, 427),
    "add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219),
}  # fmt: skip
DENIED: Final[dict[str, tuple[int, ...]]] = {
    # Answered as without the right to (EPERM). Most need a capability that no task has: they are here in case the
    # kernel forgets to check.
    "bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282), "syslog": (103, 116),
    "open_by_handle_at": (304, 265), "setns": (308, 268), "chroot": (161, 51), "pivot_root": (155, 41),
    "mount": (165, 40), "umount2": (166, 39), "open_tree": (428, 428), "move_mount": (429, 429), "fsopen": (430, 430),
    "fsconfig": (431, 431), "fsmount": (432, 432), "fspick": (433, 433), "mount_setattr": (442, 442),
    "open_tree_attr": (467, 467), "kexec_load": (246, 104), "kexec_file_load": (320, 294), "init_module": (175, 105),
    "finit_module": (313, 273), "delete_module": (176, 106), "reboot": (169, 142), "swapon": (167, 224),
    "swapoff": (168, 225), "acct": (163, 89), "quotactl": (179, 60), "quotactl_fd": (443, 443),
    "settimeofday": (164, 170), "clock_settime": (227, 112), "vhangup": (153, 58), "nfsservctl": (180, 42),
    "iopl": (172,), "ioperm": (173,), "modify_ldt": (154,), "uselib": (134,), "_sysctl": (156,),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class ArgumentRule:
    """A call that is refused for what one of its arguments says: any of the bits `values`, one of them, or anything
    else.
    """

    numbers: tuple[int, ...]
    argument: int
    refused: str  # "bits", "these", "others"
    values: tuple[int, ...]
    error: int = errno.EPERM


LOOKED_AT: Final = {
    "ioctl": ArgumentRule((16, 29), 1, "these", (TIOCSTI, TIOCLINUX)),  # typing into a terminal
    "clone": ArgumentRule((56, 220), 0, "bits", (CLONE_NEWUSER,)),  # all capabilities, in a namespace of its own
    "unshare": ArgumentRule((272, 97), 0, "bits", (CLONE_NEWUSER,)),
    "socket": ArgumentRule((41, 198), 0, "others", FAMILIES, errno.EAFNOSUPPORT),
    "personality": ArgumentRule((135, 92), 0, "others", PERSONALITIES),
}

# struct seccomp_data of linux/seccomp.h; of each argument the lower half, which is all that these calls take.
NUMBER, ARCHITECTURE, ARGUMENTS = 0, 4, 16
LOAD, RETURN = 0x20, 0x06  # linux/bpf_common.h
IF_EQUAL, IF_AT_LEAST, IF_ANY_BIT = 0x15, 0x35, 0x45
ALLOW, REFUSE = 0x7FFF0000, 0x00050000

Instruction = tuple[int, int, int, int]  # code, instructions to pass over if true, if false, value


def _refuse(error: int) -> Instruction:
    return (RETURN, 0, 0, REFUSE | error)


def _look(rule: ArgumentRule, number: int) -> list[Instruction]:
    """Return the part that decides about one call by its argument; it passes over itself for all other calls."""
    load = (LOAD, 0, 0, ARGUMENTS + 8 * rule.argument)
    refuse, allow = _refuse(rule.error), (RETURN, 0, 0, ALLOW)
    first, last = (allow, refuse) if rule.refused != "others" else (refuse, allow)
    test, count = IF_ANY_BIT if rule.refused == "bits" else IF_EQUAL, len(rule.values)
    tests = [(test, count - at, 0, value) for at, value in enumerate(rule.values)]
    body = [load, *tests, first, last]
    return [(IF_EQUAL, 0, len(body), number), *body]


def assemble(machine: Machine) -> list[Instruction]:
    """Return the filter for `machine`."""
    program = [(LOAD, 0, 0, ARCHITECTURE), (IF_EQUAL, 1, 0, machine.code), _refuse(errno.ENOSYS), (LOAD, 0, 0, NUMBER)]
    if machine.foreign:
        program += [(IF_AT_LEAST, 0, 1, machine.foreign), _refuse(errno.ENOSYS)]
    for rule in LOOKED_AT.values():
        program += _look(rule, rule.numbers[machine.column])
    for calls, error in ((ABSENT, errno.ENOSYS), (DENIED, errno.EPERM)):
        for numbers in calls.values():
            if machine.column < len(numbers):
                program += [(IF_EQUAL, 0, 1, numbers[machine.column]), _refuse(error)]
    return [*program, (RETURN, 0, 0, ALLOW)]


@cache
def program() -> bytes:
    """Return the filter for this machine as the kernel and bubblewrap take it, empty where there is none (see
    `missing`).
    """
    if missing():
        return b""
    return b"".join(struct.pack("=HBBI", *one) for one in assemble(MACHINES[os.uname().machine]))


@cache
def missing() -> Said | None:
    """Return why system calls are not filtered on this machine, None when they are."""
    machine = os.uname().machine
    if machine not in MACHINES or struct.calcsize("P") != 8:
        return say.no_filter_for_processor(machine)
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(PR_SET_SECCOMP, MODE_FILTER, None, 0, 0)
    if ctypes.get_errno() != errno.EFAULT:  # EFAULT: it has filters, and found none at address 0
        return say.no_filter_in_kernel(os.strerror(ctypes.get_errno()))
    return None


def install() -> None:
    """Put this process, for good, under the filter. Raises OSError; does nothing where there is none."""
    if not (text := program()):
        return
    libc = ctypes.CDLL(None, use_errno=True)
    code = ctypes.create_string_buffer(text, len(text))
    head = ctypes.create_string_buffer(struct.pack("@HP", len(text) // 8, ctypes.addressof(code)))
    if libc.prctl(PR_SET_SECCOMP, MODE_FILTER, head, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


@cache
def filter_file() -> str:
    """Return where a child of this process finds the filter as a file to read: one in memory, made once and never
    closed.
    """
    file = os.memfd_create("seccomp", os.MFD_CLOEXEC)
    os.write(file, program())
    return f"/proc/self/fd/{file}"
