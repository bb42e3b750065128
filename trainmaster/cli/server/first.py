"""The first process of a container: the kernel hands it every orphan, and all of them have to be buried.

`docker run IMAGE trainmaster serve` makes the server that process. Somebody's dead that nobody buries keep the process
namespace of a task alive, and its attempt would never be seen to be empty.
"""

import os
import signal
from contextlib import suppress
from typing import Final

SI_KERNEL: Final = 0x80
"""sigaction(2): sent by the terminal. Then everybody in front of it has got it, too."""
PASSED_ON: Final = {signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2}


def make_way() -> None:
    """Where this is the first process, go on in a child. This one buries orphans, passes signals on, and ends as the
    child does.

    To be called while there is one thread. Anywhere else nothing happens.
    """
    if os.getpid() != 1:
        return
    watched = PASSED_ON | {signal.SIGCHLD}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, watched)
    child = os.fork()
    if child == 0:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        return
    while True:
        told = signal.sigwaitinfo(watched)
        if told.si_signo != signal.SIGCHLD:
            if told.si_code != SI_KERNEL:
                with suppress(ProcessLookupError):
                    os.kill(child, told.si_signo)
            continue
        status = _bury(child)
        if status is not None:
            code = os.waitstatus_to_exitcode(status)
            os._exit(code if code >= 0 else 128 - code)


def _bury(child: int) -> int | None:
    """Bury all who have ended; return how `child` did, None while it runs."""
    found = None
    with suppress(ChildProcessError):
        while (dead := os.waitpid(-1, os.WNOHANG))[0]:
            if dead[0] == child:
                found = dead[1]
    return found
