"""What a node of a cluster has that a step needs: looked at on the node itself, before any job of a user is sent there.

Started like a step, by the same line of the batch script, and it imports all that a step does. It reads what the server
wrote into the folder, writes back what it finds, and answers once when the server has read that: so both directions are
tried, and the clocks are compared without any guess about how long a message takes. It needs no network. Standard
library of Python 3.9 only.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import socket
import sys
import tempfile
import time
from typing import Any, Final

from trainmaster.agent import folder
from trainmaster.agent.folder import Folder
from trainmaster.agent.sandbox import apart, seccomp
from trainmaster.agent.sandbox.probe import probe_sandbox
from trainmaster.agent.sandbox.sandbox import SYSTEM_PATH
from trainmaster.engines.slurm.node import step
from trainmaster.messages.said import Said

REQUEST: Final = "survey.json"
"""What the server asks: {word, sandbox, environment}."""
PATIENCE_S: Final = 60.0
"""How long the node waits for the server to read what it wrote: network file systems show a new file half a minute
late.
"""
LOOK_S: Final = 0.1
FIND: Final = "/usr/local/bin:/usr/bin:/bin"
PYTHONS: Final = ("python", "python3")
"""Names by which tasks may call a Python."""


def trouble_writing(place: str) -> str:
    """Return why a file in the folder `place` cannot be written, brought to the disk and linked, "" when it can."""
    try:
        fd, own = tempfile.mkstemp(prefix=".try-", dir=place)
        try:
            os.write(fd, b"trainmaster")
            os.fsync(fd)
            os.link(own, f"{own}-link")
            os.unlink(f"{own}-link")
        finally:
            os.close(fd)
            os.unlink(own)
    except OSError as error:
        return f"{error.strerror or error} ({place})"
    return ""


def survey(shared: Folder, node: str) -> dict[str, Any]:
    """Return what is found on this node. Raises OSError or ValueError when the folder cannot be read."""
    with open(shared.file(REQUEST), encoding="utf-8") as file:
        asked = json.load(file)
    probe = probe_sandbox("none" if asked["sandbox"] == "none" else "auto", shutil.which("bwrap", path=FIND))
    visible, numbers = step.own_cards(os.environ)
    environment = asked["environment"]
    return {
        "event": "survey",
        "word": asked["word"],
        "node": node,
        "machine": socket.gethostname(),
        "python": platform.python_version(),
        "user": os.geteuid(),
        "writing": trouble_writing(shared.path),
        "private": trouble_writing(tempfile.gettempdir()),
        "sandbox": bool(probe.bwrap),
        "degraded": _plain(probe.why),
        "unfiltered": _plain(seccomp.missing()),
        "reachable": _plain(apart.missing(probe.bwrap) if probe.bwrap else None),
        "cards": list(visible),
        "devices": list(numbers),
        "environment": environment or None,
        "environment_there": os.access(os.path.join(environment, "bin", "python"), os.X_OK),
        "pythons": [name for name in PYTHONS if shutil.which(name, path=SYSTEM_PATH)],
        "at": time.time(),
    }


def _plain(said: Said | None) -> dict[str, Any] | None:
    return None if said is None else said.to_json()


def main(argv: list[str]) -> int:
    """Run as ``survey FOLDER RUN COMPONENT`` on one node. Exit code 0: the server has read what was found."""
    shared, node = Folder(argv[0]), os.environ["SLURMD_NODENAME"]
    facts = shared.facts(f"0-{node}")
    folder.append(facts, survey(shared, node))
    give_up, offset = time.monotonic() + PATIENCE_S, 0
    while time.monotonic() < give_up:
        orders, offset = folder.read(shared.orders, offset)
        for order in orders:
            folder.append(facts, {"event": "answered", "word": order["word"], "at": time.time()})
            return 0
        time.sleep(LOOK_S)
    print("the server did not read what was written here", file=sys.stderr)
    return 1
