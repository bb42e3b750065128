"""What is said of tasks that find no Python: the nodes of a cluster have no `python` unless an environment is named for
them. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from trainmaster.agent.sandbox.sandbox import SYSTEM_PATH
from trainmaster.messages.jobs import tasks as say
from trainmaster.messages.said import Said

PROGRAMS: Final = ("python", "pip", "torchrun")
"""What every Python environment has, and what Debian's Python and many others do not put on PATH."""
_SHELLS: Final = re.compile(rf"(?:^|[\s:])({'|'.join(PROGRAMS)}): (?:command )?not found", re.MULTILINE)


def with_remedy(said: Said, program: str, env: Mapping[str, str]) -> Said:
    """Return `said` of a `program` that a task with these variables did not find, with what to do where an environment
    would help.
    """
    if program not in PROGRAMS or env.get("PATH") != SYSTEM_PATH or "container" in env:
        return said
    return say.and_no_environment(said, program)


def with_missed(said: Said, evidence: str, env: Mapping[str, str]) -> Said:
    """Return the same of the program that a shell did not find, by what it said in a log."""
    found = _SHELLS.search(evidence)
    return with_remedy(said, found[1], env) if found else said
