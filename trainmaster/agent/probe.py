"""Whether sandboxes work on this machine: one is tried, with everything that every sandbox uses."""

import os
import subprocess
from dataclasses import dataclass
from typing import Final

from trainmaster.agent import apart, sandbox, seccomp
from trainmaster.core.errors import Unavailable

INSTALL: Final = "install bubblewrap (Debian and Ubuntu: apt install bubblewrap)"


@dataclass(frozen=True, slots=True)
class Probe:
    """Whether sandboxes work here. `bwrap` empty: no; `detail` says why, or the version."""

    bwrap: str
    detail: str


def probe_sandbox(wanted: str, find: str | None) -> Probe:
    """Try one sandbox with everything every sandbox uses. `find` is bubblewrap's path or None. Takes some 10 ms.

    Raises Unavailable when sandboxes are required and do not work.
    """
    if wanted == "none":
        return Probe("", "")
    detail = f"bubblewrap is not installed; {INSTALL}"
    if find is not None:
        why = _tried(sandbox.probe_command(find))
        if not why:
            return Probe(find, "bubblewrap")
        detail = why
    if wanted == "bubblewrap":
        raise Unavailable(f"Sandboxes are required, but {detail}", remedy='Mend it, or set local.sandbox = "auto".')
    return Probe("", f"tasks run without a sandbox and can see this machine's files: {detail}")


def probe_network(wanted: str, found: Probe) -> None:
    """Try a private network where that is `wanted`. `found`: the sandbox. Takes some 10 ms.

    Raises Unavailable when it does not work.
    """
    if wanted != apart.PRIVATE:
        return
    if not found.bwrap:
        why = found.detail or "sandboxes are switched off"
    elif os.geteuid() == 0:
        why = apart.no_network()
    else:
        why = _tried(sandbox.probe_command(found.bwrap, *sandbox.OWN_NETWORK))
    if why:
        raise Unavailable(
            f"Private networks are required, but {why}", remedy='Mend it, or set local.network = "shared".'
        )


def _tried(command: list[str]) -> str:
    """Return why the sandbox that `command` makes cannot be made, "" when it can."""
    try:
        done = subprocess.run(command, input=seccomp.program(), capture_output=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"bubblewrap does not run: {error}"
    said = done.stderr.decode("utf-8", "replace").strip()
    return f"bubblewrap cannot make a sandbox on this machine: {said[:200]}" if done.returncode else ""
