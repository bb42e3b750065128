"""Which code an agent is, where code lies from which one can be started, and the command lines of what begins there.

Code is known by what is in its files: two copies of one release are the same code, wherever they lie and however old
their files are. A place is an interpreter and the folder that holds our package. The server writes its own into
HOME/run/place before it asks for anything, and the keeper reads that file before each start of an agent: an agent comes
from where the last server came from. Invariant: on a full disk the file that is there can still be written anew.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import json
import os
import sys
from functools import cache
from pathlib import Path
from typing import Any, Final

from trainmaster.agent.sandbox import sandbox
from trainmaster.core.folders.layout import Layout

PROTOCOL: Final = 2
"""What agent and server say to each other. One that knows no `who` spoke the first."""
PARTS: Final = ("agent", "core", "frameworks", "messages")
"""What an agent consists of, beside `_compat`."""
ANOTHER_SERVES: Final = 3
"""Exit code of an agent that tells the keeper to restart nobody: it goes on only as the parent of the tasks it has."""
GIVES_WAY: Final = 4
"""Exit code of an agent that was asked to make room for the one of the place written down."""
ROOM: Final = 4096
"""Bytes of the file of the place: what is written anew must fit into the blocks that it has."""
PACKAGE: Final = Path(__file__).resolve().parents[1]
NEW_ENOUGH: Final = (
    'sys.version_info < (3, 9) and sys.exit("Python 3.9 or newer is needed on the nodes, this is " + sys.version)'
)
"""What a text begins with that runs on a node: whatever Python that has understands it. The shell has it between single
quotes.
"""
START: Final = (
    f"import sys; {NEW_ENOUGH}; sys.path.insert(0, sys.argv[1]);"
    " from trainmaster.MODULE import main; sys.exit(main(sys.argv[2:]))"
)
KEEPER: Final = (PACKAGE / "agent" / "keeper.py").read_text(encoding="utf-8")
"""The keeper's text, read at the start: its file may be gone when it is needed."""


def start(module: str) -> str:
    """Return the text for ``python -I -S -c TEXT PACKAGE ...`` that runs `module` of ours with the arguments behind
    PACKAGE.

    Nothing of the node's own Python settings or folders takes part: -I -S, and our package in the one folder given.
    """
    return START.replace("MODULE", module)


@cache
def own_digest() -> str:
    """Return the name of this process's code. Called at its start: its files may be others later."""
    return digest()


def digest() -> str:
    """Return the name of the code that an agent started from here would be of. Reads some 150 files."""
    found = hashlib.sha256()
    for path in (PACKAGE / "_compat.py", *(path for part in PARTS for path in sorted((PACKAGE / part).rglob("*.py")))):
        data = path.read_bytes()
        found.update(f"{path.relative_to(PACKAGE)} {len(data)}\n".encode())
        found.update(data)
    return found.hexdigest()[:32]


def agent_command(layout: Layout) -> list[str]:
    """Return the command line of an agent of this code; its keeper's pid follows."""
    # -P: do not import from the folder in which the server was started: it may be a checkout of another version.
    own = [sys.executable, "-P", "-S", "-m", "trainmaster.agent"]
    return [*own, "--home", layout.home, "--data", layout.data, "--kept"]


def keeper_command(layout: Layout) -> list[str]:
    """Return the command line of a keeper for a home, which runs this agent until another place is written down."""
    # The base interpreter: the keeper needs no packages, and the virtual environment may be removed under it.
    base = os.path.realpath(sys.executable)
    python = next(
        (path for path in (base, sys.executable, *_interpreter_written_down(layout)) if os.access(path, os.X_OK)), base
    )
    return [python, "-I", "-S", "-c", KEEPER, layout.path("run"), *agent_command(layout)]


def _interpreter_written_down(layout: Layout) -> list[str]:
    """Return the interpreter of the place written down, where there is one."""
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError, IndexError):
        return [str(json.loads(_file(layout).read_text(encoding="utf-8"))["command"][0])]
    return []


def agent_environment() -> dict[str, str]:
    """Return the whole environment of keeper and agent: they inherit nothing from the server."""
    return {"PATH": sandbox.SYSTEM_PATH, "LANG": "C.UTF-8", "PYTHONPATH": str(PACKAGE.parent)}


def _file(layout: Layout) -> Path:
    return Path(layout.path("run", "place"))


def tell_place(layout: Layout) -> None:
    """Write this process's place down for the keeper. Raises OSError."""
    text = json.dumps({"command": agent_command(layout), "path": str(PACKAGE.parent)})
    overwrite(_file(layout), text.encode().ljust(ROOM - 1) + b"\n")


def overwrite(path: Path, data: bytes) -> None:
    """Put `data` into a private file, as long as the last time, in the blocks that it has. Raises OSError."""
    with contextlib.suppress(OSError):
        if path.read_bytes() == data:
            return
    fd = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o600)
    try:
        if os.pwrite(fd, data, 0) != len(data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        os.ftruncate(fd, len(data))
    finally:
        os.close(fd)


def guarded(layout: Layout) -> bool:
    """Return whether a keeper guards the home: it holds a lock for as long as it lives, which needs no disk."""
    try:
        fd = os.open(layout.path("run", "exits"), os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(fd)
    return False


def about(layout: Layout, attempts: int) -> dict[str, Any]:
    """Return what an agent says of itself to whoever asks who it is."""
    return {
        "protocol": PROTOCOL,
        "code": own_digest(),
        "package": str(PACKAGE),
        "home": layout.home,
        "pid": os.getpid(),
        "attempts": attempts,
    }
