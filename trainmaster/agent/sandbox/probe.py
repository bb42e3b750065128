"""Whether sandboxes work on this machine: one is tried, with everything that every sandbox uses."""

from __future__ import annotations

import os
import subprocess

from trainmaster._compat import dataclass
from trainmaster.agent.sandbox import apart, sandbox, seccomp
from trainmaster.core.errors import Unavailable
from trainmaster.messages.jobs import starting as say
from trainmaster.messages.said import Said


@dataclass(frozen=True, slots=True)
class Probe:
    """Whether sandboxes work here. `bwrap` empty: no, and `why`; None: nobody asked for one."""

    bwrap: str
    why: Said | None = None


def probe_sandbox(wanted: str, find: str | None) -> Probe:
    """Try one sandbox with everything every sandbox uses. `find` is bubblewrap's path or None. Takes some 10 ms.

    Raises Unavailable when sandboxes are required and do not work.
    """
    if wanted == "none":
        return Probe("")
    why = say.no_bubblewrap() if find is None else _tried(sandbox.probe_command(find))
    if find is not None and why is None:
        return Probe(find)
    assert why is not None
    if wanted == "bubblewrap":
        raise Unavailable(say.sandboxes_required(why))
    return Probe("", say.without_sandbox(why))


def probe_network(wanted: str, found: Probe) -> None:
    """Try a private network where that is `wanted`. `found`: the sandbox. Takes some 10 ms.

    Raises Unavailable when it does not work.
    """
    if wanted != apart.PRIVATE:
        return
    if not found.bwrap:
        why: Said | None = found.why or say.sandboxes_off()
    elif os.geteuid() == 0:
        why = apart.no_network()
    else:
        why = _tried(sandbox.probe_command(found.bwrap, *sandbox.OWN_NETWORK))
    if why:
        raise Unavailable(say.private_networks_required(why))


def _tried(command: list[str]) -> Said | None:
    """Return why the sandbox that `command` makes cannot be made, None when it can."""
    try:
        done = subprocess.run(command, input=seccomp.program(), capture_output=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return say.bubblewrap_does_not_run(str(error))
    said = done.stderr.decode("utf-8", "replace").strip()
    return say.bubblewrap_fails(said[:200]) if done.returncode else None
