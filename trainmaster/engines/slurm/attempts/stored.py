"""How the server reads the folder of an attempt: what it was told to run (`submitter`), and what the nodes wrote. All
of it may block.
"""

import json
import logging
import os
from typing import Any, Final, NamedTuple

from trainmaster.agent import folder
from trainmaster.agent.folder import Folder, StepWork, write_whole
from trainmaster.agent.host.sharing import make_private
from trainmaster.engines.slurm.attempts.following import Following
from trainmaster.engines.slurm.attempts.submitter import CLOSED, SUBMITTED
from trainmaster.engines.slurm.client.commands import plain
from trainmaster.engines.slurm.script import PRINTED

log = logging.getLogger("trainmaster.slurm")

MOST: Final = 4096
"""Bytes of that which are looked at."""


class Remembered(NamedTuple):
    """What the folder of an attempt tells of its launch.

    `ran`: a run of it has claimed it; `name`: how the job is called, "" when it was not given to Slurm yet; `element`
    of an array; `number`: Slurm's, None: not known.
    """

    work: StepWork
    closed: bool
    ran: bool
    name: str = ""
    element: int | None = None
    user: str = ""
    number: int | None = None


def remembered(shared: Folder) -> Remembered | None:
    """Return what was launched, None when nothing was. Raises OSError."""
    closed, ran = os.path.exists(shared.file(CLOSED)), shared.ran
    try:
        work = shared.work()
    except FileNotFoundError:
        return None
    try:
        given, *taken = _own_lines(shared.file(SUBMITTED))
        number = taken[0]["job"] if taken else None
        return Remembered(work, closed, ran, given["name"], given["element"], given["user"], number)
    except (ValueError, KeyError, TypeError):  # not submitted yet, or lost when the machine lost its power
        return Remembered(work, closed, ran)


def _own_lines(path: str) -> list[Any]:
    """Return the lines of a file of the server's own; none of one that somebody else has put there. Raises OSError,
    ValueError.
    """
    try:
        with os.fdopen(folder.open_to_read(path), encoding="utf-8") as file:
            return [json.loads(line) for line in file] if os.fstat(file.fileno()).st_uid == os.geteuid() else []
    except FileNotFoundError:
        return []


def close(shared: Folder, grace_s: float) -> None:
    """Let nothing of the attempt start any more, and end what runs. Raises OSError."""
    make_private(shared.path)
    write_whole(shared.file(CLOSED), "")
    shared.order("end", grace_s=grace_s)


class FolderFacts(NamedTuple):
    """What is in an attempt's folder. `parts`: the facts that are new, by part, how far they go, and its agent's last
    beat. `words`: what the job itself printed last, where no agent has told anything: why it could not even begin.
    """

    parts: list[tuple[str, list[dict[str, Any]], int, float]]
    words: str = ""


def read_all(one: Following) -> FolderFacts | None:
    """Return what is there for `one`, None when the folder cannot be read now."""
    try:
        there = [name[6:-6] for name in os.listdir(one.shared.path) if name.startswith("facts-")]
        found = []
        for part in sorted({*there, *one.parts}):
            found.append((part, *_facts(one, part), _beat(one.shared.beat(part))))
        words = _last_words(one.shared.file(PRINTED)) if one.over and not there else ""
    except OSError:
        log.exception("the folder of %s cannot be read", one.attempt)
        return None
    return FolderFacts(found, words)


def _facts(one: Following, part: str) -> tuple[list[dict[str, Any]], int]:
    """Return the new facts of `part` and how far they go. What no agent of ours wrote there is reported once and counts
    as nothing: where a task runs as its owner, it could write there as well. Raises OSError.
    """
    offset = one.parts.get(part, 0)
    try:
        return folder.read(one.shared.facts(part), offset)
    except (ValueError, RecursionError):
        if part not in one.garbled:
            log.exception("what %s wrote about %s cannot be read", part, one.attempt)
        one.garbled.add(part)
        return [], offset


def _last_words(path: str) -> str:
    try:
        with os.fdopen(folder.open_to_read(path), "rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - MOST))
            return plain("\n".join(file.read(MOST).decode("utf-8", "replace").splitlines()[-3:]))
    except (FileNotFoundError, ValueError):
        return ""


def _beat(path: str) -> float:
    try:
        return os.stat(path).st_mtime
    except FileNotFoundError:
        return 0.0
