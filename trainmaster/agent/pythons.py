"""What is said of tasks that find no Python: the nodes of a cluster have no `python` unless an environment is named for them. Pure."""

import re
from collections.abc import Mapping
from typing import Final

from trainmaster.agent.sandbox import SYSTEM_PATH

PROGRAMS: Final = ("python", "pip", "torchrun")
"""What every Python environment has, and what Debian's Python and many others do not put on PATH."""
_SAID: Final = re.compile(rf"(?:^|[\s:])({'|'.join(PROGRAMS)}): (?:command )?not found", re.MULTILINE)


def remedy(program: str, env: Mapping[str, str]) -> str:
    """Return what to do about a `program` that a task with these variables did not find; "" where no environment would help."""
    if program not in PROGRAMS or env.get("PATH") != SYSTEM_PATH:
        return ""
    return (
        f"; no Python environment is set for tasks here, and the node has no {program}: "
        "an administrator can name one (environment); python3 may be there"
    )


def missed(evidence: str, env: Mapping[str, str]) -> str:
    """Return the same of what a shell said in a log."""
    found = _SAID.search(evidence)
    return remedy(found[1], env) if found else ""
