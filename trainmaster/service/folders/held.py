"""The lock of a home folder: who serves it, or restores a backup into it, has it alone. The kernel frees it, whatever
happens.
"""

import fcntl
import os


def hold(folder: str) -> int | None:
    """Return the held lock of the home `folder`, which is made where there is none; None when somebody else holds it.
    Raises OSError.
    """
    for private in (folder, os.path.join(folder, "run")):  # makedirs gives its mode only to the last new folder
        os.makedirs(private, mode=0o700, exist_ok=True)
    fd = os.open(os.path.join(folder, "run", "server.lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(fd)
        return None
    return fd
