"""A step on a node that shares no folder with the server: waits until a `mirror` has brought all it needs, and at its
end until the server has all that it made.

Invariants: nothing of ours is executed but from a folder that only this user can write, and nothing of the user's runs
before the server has said that this run has the attempt. Standard library of Python 3.9 only.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import sys
import time
from typing import Final

from trainmaster.engines.slurm.node import step, survey

LOOK_S: Final = 0.1
PROGRAMS: Final = {"step": step.main, "survey": survey.main}


def main(argv: list[str]) -> int:
    """Run as ``mirrored PROGRAM ROOT FOLDER RUN COMPONENT SECONDS``; return the exit code of the program."""
    program, root, folder, run, number, most = argv
    code = PROGRAMS[program]([folder, run, number])
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # the cluster ends the job: use the moment before SIGKILL
    if fetched(root, float(most)):
        shutil.rmtree(root, ignore_errors=True)
    else:
        print(f"the server has not fetched everything: it is kept in {root}", file=sys.stderr)
    return code


def fetched(root: str, most_s: float) -> bool:
    """Wait until the server has everything and return True, or False when it has got no further for `most_s`."""
    until, heard = 0.0, -1
    while not os.path.exists(os.path.join(root, "fetched")):
        with contextlib.suppress(OSError):  # a full disk: there may be room the next time
            os.close(os.open(os.path.join(root, "left"), os.O_CREAT | os.O_WRONLY, 0o600))
        now = 0
        with contextlib.suppress(OSError):
            now = os.stat(os.path.join(root, "heard")).st_mtime_ns
        if now != heard:
            until, heard = time.monotonic() + most_s, now
        if time.monotonic() > until:
            return False
        time.sleep(LOOK_S)
    return True
