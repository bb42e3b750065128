"""Runs one task and writes down how it went, whether or not the server is there. Started as ``keeper.py PLACE``.

PLACE.task says what to run. PLACE.lock is held as long as this lives, and is empty until the task was begun, or must
never be: so it is begun once at most. PLACE.began and PLACE.end are whole as soon as they are there.
"""

import fcntl
import json
import os
import subprocess
import sys
import time
from typing import Any


def put(path: str, value: Any) -> None:
    """Write `value` as JSON to `path`, whole or not at all."""
    with open(f"{path}.new", "w", encoding="utf-8") as file:
        json.dump(value, file)
    os.replace(f"{path}.new", path)


def keep(place: str) -> None:
    """Run the task of `place` to its end, unless it was begun before."""
    with open(f"{place}.lock", "a", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if os.fstat(lock.fileno()).st_size:
            return
        lock.write("begun")
        lock.flush()
        with open(f"{place}.task", encoding="utf-8") as file:
            task = json.load(file)
        with open(task.pop("log"), "ab") as log:
            try:
                process = subprocess.Popen(
                    **task, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
                )
            except OSError as error:
                log.write(f"{error}\n".encode())
                put(f"{place}.end", {"at": time.time(), "exit_code": 127, "signal": None})
                return
        put(f"{place}.began", {"at": time.time()})
        code = process.wait()
        ended = {"exit_code": code, "signal": None} if code >= 0 else {"exit_code": None, "signal": -code}
        put(f"{place}.end", {"at": time.time(), **ended})


if __name__ == "__main__":
    keep(sys.argv[1])
