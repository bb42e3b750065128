"""What a probe job tells of a partition and its nodes, judged: a part of `checks`. Pure."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from trainmaster.engines.slurm.checks import Check
from trainmaster.engines.slurm.states import Seen


def not_started(where: str, waited_s: float, reason: str) -> Check:
    """Say that the probe job still waits when nobody wants to wait any more."""
    return Check(
        "probe", False, f"it did not start within {waited_s:.0f} s: {reason}",
        "Wait longer (--wait 2h), or ask the cluster's administrator for a reservation (--reservation NAME).", where=where,
    )  # fmt: skip


_TOO_OLD: Final = re.compile(r"Python 3\.9 or newer is needed on the nodes, this is (\S+)")
_NO_PYTHON: Final = re.compile(r"(?:execve\(\)|exec): .*?(/\S+): (.+)")


def silent(
    where: str, python: str, data: str, node: str, seen: Seen | None, log: str | None, scratch: str = ""
) -> Check:
    """Say why a probe job ended without a word. `log`: what it printed into the shared folder; None: nothing ever came there.

    `scratch`: the nodes' own folder, where none is shared.
    """
    if log and (found := _TOO_OLD.search(log)):
        return Check(
            "python", False, f"{python} on {node} is Python {found[1]}: it must be 3.9 or newer",
            "Name another that is on all nodes: --python PATH.", where=where,
        )  # fmt: skip
    if log and (found := _NO_PYTHON.search(log)) and found[1].rstrip(":") == python:
        return Check(
            "python", False, f"there is no {python} on {node}: {found[2].strip()}",
            "Install Python 3.9 or newer there, or name it: --python PATH.", where=where,
        )  # fmt: skip
    if log and log.strip():
        lines = log.strip().splitlines()
        said = ([line for line in lines if not line.startswith(("srun:", "slurmstepd:"))] or lines)[-1][:200]
        return Check(
            "probe", False, f"it ended on {node} and printed: {said}",
            "Look at the node's slurmd log if this does not say enough.", where=where,
        )  # fmt: skip
    ended = seen.told("en") if seen is not None else "is not known to Slurm any more"
    if scratch:
        return Check(
            "shared", False, f"nothing came from {node or 'the node'}; Slurm says of the job: {ended}",
            "srun listens on this machine: the nodes must reach it there (SrunPortRange).", where=where,
        )  # fmt: skip
    return Check(
        "shared", False, f"{node or 'the node'} wrote nothing into {data}; Slurm says of the job: {ended}",
        "Mount the same file system at the same path on every node, writable for the server's user.", where=where,
    )  # fmt: skip


def survey(where: str, found: Mapping[str, Any], word: str, sandbox: str, cards: int, scratch: str = "") -> list[Check]:
    """Judge what a node told of itself (`agent.survey`). `word`: what it had to read; `cards`: how many it was to be given."""
    node = found["node"]
    right = found["word"] == word and not found["writing"]
    trouble = found["writing"] or "it does not see what the server writes"
    works = f"{node} reads what the server writes, and writes, syncs and links there"
    if scratch:
        works = f"what the server sends comes to {scratch} on {node}, and what is written there comes back"
    remedy = "The shared file system must be writable on every node and know fsync and hard links."
    if scratch:
        remedy = "Name a folder that this user may make and write on every node: --scratch DIR."
    return [
        Check("python", True, f"Python {found['python']} on {node}", where=where),
        Check(
            "shared", right,
            works if right else f"{node} cannot use it: {trouble}",
            "" if right else remedy,
            where=where,
        ),
        _private(where, found),
        *_environment(where, found),
        _sandbox(where, found, sandbox),
        _cards(where, found, cards),
    ]  # fmt: skip


def queue(where: str, shown: bool, trouble: str) -> Check:
    """Judge whether a probe job that ran is in the queue as it is read where jobs are followed. `trouble`: why it cannot be read."""
    if not shown:
        return Check(
            "queue", False,
            trouble or "the probe job ran, but what is read of the queue does not show it: jobs would count as lost",
            "slurmrestd must serve this cluster, as a user from whom no job is hidden (PrivateData).", where=where,
        )  # fmt: skip
    return Check("queue", True, "shows our jobs", where=where)


def _private(where: str, found: Mapping[str, Any]) -> Check:
    if found["private"]:
        remedy = "Each task keeps its sockets and small files in the node's own /tmp: make it writable."
        return Check(
            "private", False, f"{found['node']} has no room of its own: {found['private']}", remedy, where=where
        )
    return Check("private", True, "writable", where=where)


def _environment(where: str, found: Mapping[str, Any]) -> list[Check]:
    """Judge what tasks find that call python: the environment that is named, or what the node's system has."""
    if found["environment"] is None:
        return [_bare(where, found["node"], found["pythons"])]
    prefix, node = found["environment"], found["node"]
    if not found["environment_there"]:
        return [Check(
            "environment", False, f"{node} has no {prefix}/bin/python",
            "Name a folder with a Python environment that every node has: --environment PREFIX.", where=where,
        )]  # fmt: skip
    return [Check("environment", True, f"{node} has {prefix}/bin/python", where=where)]


def _bare(where: str, node: str, pythons: Sequence[str]) -> Check:
    if "python" in pythons:
        return Check("environment", True, f"none is named; tasks find the python of {node}", where=where)
    found = f"tasks on {node} find no python: none is named for them"
    if pythons:
        found = f"tasks on {node} find no python, only {', '.join(pythons)}: none is named for them"
    return Check(
        "environment", False, found,
        "Name a folder with a Python environment that every node has: --environment PREFIX.", needed=False, where=where,
    )  # fmt: skip


def _sandbox(where: str, found: Mapping[str, Any], wanted: str) -> Check:
    if wanted == "none":
        return Check("sandbox", True, "switched off: tasks see what their system user may see", where=where)
    if found["sandbox"]:
        free = f"; system calls are not filtered: {found['unfiltered']}" if found.get("unfiltered") else ""
        free += f"; abstract sockets are not kept apart: {found['reachable']}" if found.get("reachable") else ""
        return Check("sandbox", True, f"bubblewrap works on {found['node']}{free}", where=where)
    return Check(
        "sandbox", False, found["degraded"], "Install bubblewrap on the nodes (package bubblewrap).",
        needed=wanted == "bubblewrap", where=where,
    )  # fmt: skip


def _cards(where: str, found: Mapping[str, Any], wanted: int) -> Check:
    given = len(found["cards"])
    if given != wanted:
        return Check(
            "cards", False, f"asked for {wanted} cards, {found['node']} shows the job {given}",
            "Look at gres.conf: Slurm must tell a job its cards (CUDA_VISIBLE_DEVICES) and hide the others.", where=where,
        )  # fmt: skip
    return Check("cards", True, f"{given} asked for, {given} given", where=where)
