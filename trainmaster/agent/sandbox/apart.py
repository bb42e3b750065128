"""Starts the sandboxes of one gang where nobody else's sockets can be reached, and its own by nobody else.

What a thread gives up is given up by what it starts, not by the rest of its process: the sandboxes of a gang are
started in a thread that has given up the abstract sockets of everybody outside (Landlock, Linux 6.12) and, where a
private network is wanted and this process may make one, the machine's network. Tasks of one gang reach each other: NCCL
hands the memory of cards from rank to rank through abstract sockets. Invariants: nothing is started with less than was
asked for; this process and its other threads keep all they have.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import socket
import stat
import struct
import threading
from collections.abc import Callable
from functools import cache
from typing import Final

from trainmaster._compat import dataclass
from trainmaster.agent.settings import Settings
from trainmaster.core.launch import Gang
from trainmaster.messages.jobs import starting as say
from trainmaster.messages.said import Said

CREATE_RULESET, RESTRICT_SELF = 444, 446
"""Numbers of landlock_create_ruleset(2) and landlock_restrict_self(2), the same on every architecture."""
ASK_VERSION: Final = 1
SCOPES_SINCE: Final = 6  # the Landlock version that first keeps abstract sockets apart
SCOPE_ABSTRACT_SOCKETS: Final = 1
PR_SET_NO_NEW_PRIVS: Final = 38
CLONE_NEWNET: Final = 0x40000000
SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP = 0x8913, 0x8914, 1
SHARED, PRIVATE = "shared", "private"


@dataclass(frozen=True, slots=True)
class Restrictions:
    """What the thread gives up that starts sandboxes: others' abstract sockets, the machine's network."""

    sockets: bool = False
    network: bool = False


def is_whole(gang: Gang) -> bool:
    """Return whether all tasks that `gang` has on these nodes are started by this agent. O(tasks)."""
    own = gang.own()
    nodes = {place.node for place in own}
    return len(own) == sum(place.node in nodes for place in gang.placement)


def has_own_network(gang: Gang, settings: Settings) -> bool:
    """Return whether the tasks of `gang` have a network of their own, without a way out.

    Who is not root can make one only together with a sandbox: for a gang of one task.
    """
    return settings.network == PRIVATE and bool(settings.bwrap) and (os.geteuid() == 0 or len(gang.own()) == 1)


def restrictions_of(gang: Gang, settings: Settings) -> Restrictions:
    """Return what is given up for the sandboxes of `gang`."""
    if not settings.bwrap:
        return Restrictions()
    sockets = is_whole(gang) and not missing(settings.bwrap)
    return Restrictions(sockets, os.geteuid() == 0 and has_own_network(gang, settings))


def run(work: Callable[[], None], given: Restrictions) -> None:
    """Do `work`, which starts programs, where they lack what is given up, and wait for it: some 0.3 ms; a network 1 ms
    more.

    Raises OSError, and whatever `work` raises.
    """
    if given == Restrictions():
        work()
        return
    failed: list[BaseException] = []

    def inside() -> None:
        try:
            if given.network:
                _leave_network()
            if given.sockets:
                _leave_sockets()
            work()
        except BaseException as error:  # raised again below, in the thread that waits
            failed.append(error)

    thread = threading.Thread(target=inside, name="apart")
    try:
        thread.start()
    except RuntimeError as error:
        raise OSError(errno.EAGAIN, os.strerror(errno.EAGAIN)) from error
    thread.join()
    if failed:
        raise failed[0]


@cache
def missing(bwrap: str) -> Said | None:
    """Return why abstract sockets of jobs are not kept apart here, None when they are."""
    version = _call(CREATE_RULESET, None, 0, ASK_VERSION)
    if version < SCOPES_SINCE:
        return say.kernel_keeps_no_sockets_apart()
    if os.geteuid() != 0 and os.stat(bwrap).st_mode & stat.S_ISUID:
        return say.takes_rights_of_root(bwrap)
    return _why_not(Restrictions(sockets=True))


def no_network() -> Said | None:
    """Return why this process can make no network, None when it can; bubblewrap may be able to where this process is
    not.
    """
    return _why_not(Restrictions(network=True))


def sharing(bwrap: str, network: str) -> Said:
    """Return what of the network jobs share on this machine. `bwrap` "": there is no sandbox."""
    if bwrap and network == PRIVATE:
        return say.network_is_private()
    why = missing(bwrap) if bwrap else say.there_is_no_sandbox()
    return say.network_and_sockets_shared(why) if why else say.network_alone_shared()


def _why_not(given: Restrictions) -> Said | None:
    try:
        run(lambda: None, given)
    except OSError as error:
        return say.kernel_refuses(error.strerror or "")
    return None


def _call(number: int, *arguments: object) -> int:
    """Return the result of a system call, negative: it failed, errno is known to ctypes."""
    libc = ctypes.CDLL(None, use_errno=True)
    return int(libc.syscall(ctypes.c_long(number), *arguments))


def _must(result: int) -> int:
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def _leave_sockets() -> None:
    """Let this thread, and whatever it starts, reach no abstract socket but those made by whatever it starts. Raises
    OSError.
    """
    # struct landlock_ruleset_attr
    rules = ctypes.create_string_buffer(struct.pack("=QQQ", 0, 0, SCOPE_ABSTRACT_SOCKETS), 24)
    ruleset = _must(_call(CREATE_RULESET, rules, ctypes.c_size_t(24), 0))
    try:
        _must(ctypes.CDLL(None, use_errno=True).prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        _must(_call(RESTRICT_SELF, ruleset, 0))
    finally:
        os.close(ruleset)


def _leave_network() -> None:
    """Put this thread into a network of its own, which has loopback addresses and nothing else. Raises OSError."""
    _must(ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWNET))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        name, flags = struct.unpack("16sh", fcntl.ioctl(control, SIOCGIFFLAGS, struct.pack("16sh", b"lo", 0)))
        fcntl.ioctl(control, SIOCSIFFLAGS, struct.pack("16sh", name, flags | IFF_UP))
