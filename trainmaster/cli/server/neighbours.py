"""Other Trainmaster servers on this machine: each books all of its cores, memory and cards, and knows nothing of the
others.
"""

import os
import pwd
from collections.abc import Iterator
from contextlib import suppress


def others(folder: str) -> Iterator[tuple[str, str]]:
    """Yield (home, user) of every other home on this machine that an agent serves. O(processes)."""
    seen = {os.path.realpath(folder)}
    for name in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError, ValueError, IndexError):
            with open(f"/proc/{name}/cmdline", "rb") as file:
                words = [os.fsdecode(word) for word in file.read().split(b"\0")]
            if "trainmaster.agent" not in words or "-m" not in words:
                continue
            home = words[words.index("--home") + 1]
            if os.path.realpath(home) not in seen:
                seen.add(os.path.realpath(home))
                yield home, _user(os.stat(f"/proc/{name}").st_uid)


def _user(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)
