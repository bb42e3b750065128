"""Whether sandboxes work on this machine: one is tried, with everything that every sandbox uses."""

import subprocess
from dataclasses import dataclass
from typing import Final

from trainmaster.agent import sandbox, seccomp
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
        try:
            done = subprocess.run(
                sandbox.probe_command(find), input=seccomp.program(), capture_output=True, timeout=60, check=False
            )
            if done.returncode == 0:
                return Probe(find, "bubblewrap")
            said = done.stderr.decode("utf-8", "replace").strip()
            detail = f"bubblewrap cannot make a sandbox on this machine: {said[:200]}"
        except (OSError, subprocess.TimeoutExpired) as error:
            detail = f"bubblewrap does not run: {error}"
    if wanted == "bubblewrap":
        raise Unavailable(f"Sandboxes are required, but {detail}", remedy='Mend it, or set local.sandbox = "auto".')
    return Probe("", f"tasks run without a sandbox and can see this machine's files: {detail}")
