"""What a probe job tells of a partition and its nodes, judged: a part of `checks`. Pure."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from trainmaster.engines.adding import Check
from trainmaster.engines.slurm.client.states import JobStateSeen
from trainmaster.engines.slurm.messages import slurm_checks as saying
from trainmaster.engines.slurm.messages import slurm_states
from trainmaster.messages import render
from trainmaster.messages.said import WORDS, Said, said_from_json, verbatim


def not_started(where: str, waited_s: float, reason: Said) -> Check:
    """Say that the probe job still waits when nobody wants to wait any more."""
    return Check("probe", False, saying.probe_not_started(round(waited_s), reason), where=where)


_TOO_OLD: Final = re.compile(r"Python 3\.9 or newer is needed on the nodes, this is (\S+)")
_NO_PYTHON: Final = re.compile(r"(?:execve\(\)|exec): .*?(/\S+): (.+)")


def silent(
    where: str, python: str, data: str, node: str, seen: JobStateSeen | None, printed: Said | None, scratch: str = ""
) -> Check:
    """Say why a probe job ended without a word. `printed`: its own words, or why the connection with its node ended;
    None: nothing came.

    `scratch`: the nodes' own folder, where none is shared.
    """
    log = render.text(printed) if printed is not None else ""
    if found := _TOO_OLD.search(log):
        return Check("python", False, saying.python_too_old(python, node, found[1]), where=where)
    if (found := _NO_PYTHON.search(log)) and found[1].rstrip(":") == python:
        return Check("python", False, saying.no_python(python, node, found[2].strip()), where=where)
    if printed is not None and printed.code != WORDS:
        return Check("probe", False, saying.probe_broke_off(node, printed), where=where)
    if lines := log.strip().splitlines():
        last = ([line for line in lines if not line.startswith(("srun:", "slurmstepd:"))] or lines)[-1][:200]
        return Check("probe", False, saying.probe_ended(node, last), where=where)
    ended = seen.said if seen is not None else slurm_states.slurm_state_forgotten()
    if scratch:
        return Check("shared", False, saying.node_sent_nothing(node or saying.the_node(), ended), where=where)
    return Check("shared", False, saying.node_wrote_nothing(node or saying.the_node(), data, ended), where=where)


def survey(where: str, found: Mapping[str, Any], word: str, sandbox: str, cards: int, scratch: str = "") -> list[Check]:
    """Judge what a node told of itself (`engines.slurm.node.survey`). `word`: what it had to read; `cards`: how many it
    was to be given.
    """
    return [
        Check("python", True, saying.python_on_node(found["python"], found["node"]), where=where),
        _shared(where, found, word, scratch),
        _private(where, found),
        *_environment(where, found),
        _sandbox(where, found, sandbox),
        _cards(where, found, cards),
    ]


def _shared(where: str, found: Mapping[str, Any], word: str, scratch: str) -> Check:
    node = found["node"]
    if found["word"] == word and not found["writing"]:
        works = saying.node_is_mirrored(scratch, node) if scratch else saying.node_shares_folder(node)
        return Check("shared", True, works, where=where)
    why = found["writing"] or saying.server_not_seen()
    trouble = saying.scratch_not_usable_on(node, why) if scratch else saying.shared_not_usable_on(node, why)
    return Check("shared", False, trouble, where=where)


def queue(where: str, shown: bool, trouble: Said | None) -> Check:
    """Judge whether a probe job that ran is in the queue as it is read where jobs are followed. `trouble`: why it
    cannot be read.
    """
    if shown:
        return Check("queue", True, saying.queue_shows_our_jobs(), where=where)
    hidden = saying.queue_hides_our_jobs() if trouble is None else saying.queue_unreadable(trouble)
    return Check("queue", False, hidden, where=where)


def _private(where: str, found: Mapping[str, Any]) -> Check:
    if found["private"]:
        return Check("private", False, saying.node_without_room(found["node"], found["private"]), where=where)
    return Check("private", True, saying.node_has_room(), where=where)


def _environment(where: str, found: Mapping[str, Any]) -> list[Check]:
    """Judge what tasks find that call python: the environment that is named, or what the node's system has."""
    if found["environment"] is None:
        return [_bare(where, found["node"], found["pythons"])]
    prefix, node = found["environment"], found["node"]
    if not found["environment_there"]:
        return [Check("environment", False, saying.environment_missing(node, prefix), where=where)]
    return [Check("environment", True, saying.environment_there(node, prefix), where=where)]


def _bare(where: str, node: str, pythons: Sequence[str]) -> Check:
    if "python" in pythons:
        return Check("environment", True, saying.python_of_node(node), where=where)
    found = saying.tasks_find_other_pythons(node, list(pythons)) if pythons else saying.tasks_find_no_python(node)
    return Check("environment", False, found, needed=False, where=where)


def _sandbox(where: str, found: Mapping[str, Any], wanted: str) -> Check:
    if wanted == "none":
        return Check("sandbox", True, saying.sandbox_off(), where=where)
    if found["sandbox"]:
        return Check("sandbox", True, _works(found), where=where)
    lacking = saying.no_sandbox_on_node(_parse_said(found["degraded"]))
    return Check("sandbox", False, lacking, needed=wanted == "bubblewrap", where=where)


def containers(sandbox: Check, wanted: str) -> Check:
    """Judge whether a node can show the files of container images, from what was found of its `sandbox`."""
    works = sandbox.ok and wanted != "none"
    said = saying.containers_shown() if works else saying.containers_not_shown()
    return Check("containers", works, said, needed=False, where=sandbox.where)


def _works(found: Mapping[str, Any]) -> Said:
    """Return that sandboxes work, with what they leave open."""
    node, filters, sockets = found["node"], found.get("unfiltered"), found.get("reachable")
    if filters and sockets:
        return saying.sandbox_unfiltered_and_reachable(node, _parse_said(filters), _parse_said(sockets))
    if filters:
        return saying.sandbox_unfiltered(node, _parse_said(filters))
    return saying.sandbox_reachable(node, _parse_said(sockets)) if sockets else saying.sandbox_works(node)


def _parse_said(kept: Mapping[str, Any] | str) -> Said:
    """Return what a node says; a text is of an earlier version."""
    return verbatim(kept) if isinstance(kept, str) else said_from_json(kept)


def _cards(where: str, found: Mapping[str, Any], wanted: int) -> Check:
    given = len(found["cards"])
    if given != wanted:
        return Check("cards", False, saying.cards_wrong(wanted, found["node"], given), where=where)
    return Check("cards", True, saying.cards_right(wanted, given), where=where)
