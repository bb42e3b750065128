"""What must hold before jobs are sent to a cluster: each thing that was looked at becomes a `Check`, with its remedy.
Pure.

Who looks is `examine`; the engine's own start uses the same checks; what a probe job tells is judged by `probed`. What
was found, and what to do about it, is said by `messages.slurm_checks`.
"""

import base64
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from trainmaster.agent.containers.runtime import RuntimeVersion
from trainmaster.engines.adding import Check
from trainmaster.engines.slurm import script
from trainmaster.engines.slurm.client.parse import NodeLine, Partition
from trainmaster.engines.slurm.messages import slurm_checks as saying
from trainmaster.engines.slurm.messages import slurm_rules
from trainmaster.messages import render
from trainmaster.messages.assets.containers import runtime_silent
from trainmaster.messages.said import Said, verbatim

PROGRAMS: Final = ("sbatch", "scancel", "scontrol", "sinfo", "squeue", "srun")
"""What must be on the server's machine. (`sacct` and `sacctmgr` are used where there is an accounting.)"""
OLDEST: Final = (20, 11)
"""Our scripts use the words ``hetjob`` and ``SLURM_..._HET_GROUP_n`` (20.02), and ``srun --overlap`` (20.11)."""
TESTED: Final = (22, 5)
"""What our tests run on: Debian 12's. Nothing is asked for by position or as JSON, whose form changes between
versions.
"""
LEAST_MIB: Final = 1024
ROOMY_MIB: Final = 20 * 1024
"""Free space below which no engine is added, and below which it is told."""
SKEW_S: Final = 2.0
WRONG_S: Final = 60.0
"""Difference of two clocks from which it is told, and from which limits of time would be wrong for people."""
VANISHING: Final = frozenset({"tmpfs", "ramfs", "devtmpfs"})
"""File systems in memory: of this machine alone, and empty after a restart."""
LOCAL: Final = frozenset({"ext2", "ext3", "ext4", "xfs", "btrfs", "zfs", "overlay", "f2fs", "jfs"})
"""File systems of one machine; it may itself be the one that serves them to the nodes."""


LABELS: Final[dict[str, Said]] = {
    "user": saying.check_user(),
    "folder": saying.check_folder(),
    "data": saying.check_data(),
    "scratch": saying.check_scratch(),
    "space": saying.check_space(),
    "programs": saying.check_programs(),
    "conf": verbatim("slurm.conf"),
    "version": saying.check_version(),
    "munge": verbatim("munge"),
    "controller": saying.check_controller(),
    "token": saying.check_token(),
    "rest": verbatim("slurmrestd"),
    "clock": saying.check_clock(),
    "partition": saying.check_partition(),
    "accounting": saying.check_accounting(),
    "pending": saying.check_pending(),
    "submit": saying.check_submit(),
    "probe": saying.check_probe(),
    "queue": saying.check_queue(),
    "python": saying.check_python(),
    "shared": saying.check_shared(),
    "private": saying.check_private(),
    "environment": saying.check_environment(),
    "sandbox": saying.check_sandbox(),
    "containers": saying.check_containers(),
    "cards": saying.check_cards(),
}
"""What the checks are called."""


# ------------------------------------------------------------------------------------------------- the server's machine


def path(data: str) -> Check:
    """Judge how the data folder is called."""
    if script.PATH.fullmatch(data) is None:
        return Check("folder", False, saying.data_folder_badly_called(data))
    return Check("folder", True, verbatim(data))


def scratch(path: str) -> Check:
    """Judge how the folder is called that each node has for its own."""
    if script.PATH.fullmatch(path) is None or path.endswith("/"):
        return Check("scratch", False, saying.scratch_badly_called(path))
    return Check("scratch", True, saying.nothing_is_shared(path))


def user(mine: int, owner: int, name: str, home: str) -> Check:
    """Judge whether this is the system user that the server runs as, who owns its home folder."""
    if mine == owner:
        return Check("user", True, saying.same_user(name))
    return Check("user", False, saying.another_user(home, owner))


def folder(data: str, there: bool, kind: str, trouble: str) -> Check:
    """Judge the data folder on this machine. `kind`: its file system's; `trouble`: why it cannot be written."""
    if not (called := path(data)).ok:
        return called
    if not there:
        return Check("folder", False, saying.no_shared_folder(data))
    if trouble:
        return Check("folder", False, saying.folder_not_usable(data, trouble))
    if kind in VANISHING:
        return Check("folder", False, saying.folder_in_memory(data, kind))
    if kind in LOCAL:
        return Check("folder", True, saying.folder_of_this_machine(data, kind))
    return Check("folder", True, saying.folder_of_kind(data, kind))


def data(path: str, there: bool, trouble: str) -> Check:
    """Judge the data folder on this machine where no node shares it. `trouble`: why it cannot be written."""
    if not there:
        return Check("data", False, saying.no_data_folder(path))
    if trouble:
        return Check("data", False, saying.folder_not_usable(path, trouble))
    return Check("data", True, verbatim(path))


def space(data: str, free_mib: int) -> Check:
    """Judge the room for code, logs, outputs and models."""
    gib = round(free_mib / 1024, 1)
    if free_mib < ROOMY_MIB:
        return Check("space", False, saying.space_short(gib, data), needed=free_mib < LEAST_MIB)
    return Check("space", True, saying.space_free(gib, data))


def programs(found: Mapping[str, bool], where: str) -> Check:
    """Judge which of PROGRAMS are there. `where`: in words, the places looked at."""
    lacking = [name for name in PROGRAMS if not found[name]]
    if lacking:
        return Check("programs", False, saying.programs_not_found(where, lacking))
    return Check("programs", True, verbatim(where))


def conf(given: str, trouble: str) -> Check:
    """Judge whether slurm.conf can be read. `given` "": the programs find it themselves."""
    if trouble:
        return Check("conf", False, saying.conf_unreadable(given, trouble))
    return Check("conf", True, verbatim(given) if given else saying.conf_as_found())


def munge(place: str, trouble: str) -> Check:
    """Judge whether munged answers on this machine."""
    if trouble:
        return Check("munge", False, saying.munge_silent(place, trouble))
    return Check("munge", True, saying.answers_at(place))


def containers(socket: str, scratch: str, seen: RuntimeVersion | None, trouble: str) -> Check:
    """Judge whether the files of container images can be had and read on nodes. `socket`: of the runtime, "" for none;
    `seen`: which it is, or `trouble`: why it does not answer.
    """
    if not socket:
        return Check("containers", True, saying.containers_without_runtime(), needed=False)
    if scratch:
        return Check("containers", False, slurm_rules.containers_not_shared(), needed=False)
    if seen is None:
        return Check("containers", False, runtime_silent(socket, trouble), needed=False)
    return Check("containers", True, saying.containers_fetched_by(seen.name, seen.version), needed=False)


def version(client: tuple[int, int, int]) -> Check:
    """Judge the version of the client programs."""
    name = dotted(client)
    if client[:2] < OLDEST:
        return Check("version", False, saying.slurm_too_old(name, dotted(OLDEST)))
    if client[:2] > TESTED:
        return Check("version", True, saying.slurm_newer_than_tested(name, dotted(TESTED)))
    return Check("version", True, verbatim(name))


def dotted(parts: Sequence[int]) -> str:
    """Return a version as Slurm writes it: ``22.05.8``."""
    return ".".join(f"{part:02d}" if at == 1 else str(part) for at, part in enumerate(parts))


def token(path: str, said: str, trouble: str, now: float) -> Check:
    """Judge the token of slurmrestd, a JSON Web Token (RFC 7519), by what it says of itself; who signed it Slurm
    judges.

    `said`: what is in its file; `trouble`: why that cannot be read.
    """
    if trouble:
        return Check("token", False, saying.token_unreadable(path, trouble))
    claims = _claims(said.strip())
    if claims is None:
        return Check("token", False, saying.file_without_token(path))
    expires = claims.get("exp")
    left_s = expires - now if isinstance(expires, int | float) else math.inf
    if left_s <= 0:
        return Check("token", False, saying.token_expired(path))
    if left_s < math.inf:
        return Check("token", True, saying.token_expires_in(path, round(left_s / 3600, 1)))
    return Check("token", True, verbatim(path))


def _claims(token: str) -> dict[str, Any] | None:
    """Return what a JSON Web Token claims, None for anything else."""
    try:
        head, body, _ = token.split(".")
        header, claims = (json.loads(base64.urlsafe_b64decode(part + "==")) for part in (head, body))
    except ValueError:
        return None
    return claims if isinstance(header, dict) and isinstance(claims, dict) else None


# ---------------------------------------------------------------------------------------------------------- the cluster


def controller(said: Mapping[str, str], client: tuple[int, int, int]) -> Check:
    """Judge the controller by its own configuration. A client may not be newer than its controller, nor two versions
    older.
    """
    name, theirs = said.get("ClusterName", ""), said.get("SLURM_VERSION", "")
    if theirs and not theirs.startswith(dotted(client)[:5]):
        other = saying.controller_of_another_version(name, theirs, dotted(client))
        return Check("controller", False, other, needed=False)
    return Check("controller", True, saying.controller_answers(name, theirs))


def no_answer(why: Said) -> Check:
    """Judge what came instead of an answer; ``scontrol ping`` says it of each controller, and no more."""
    text = render.text(why)
    if "is DOWN" in text:
        return Check("controller", False, saying.no_controller_answers(text.partition(";")[0]))
    return Check("controller", False, why if render.remedy(why) else saying.controller_refuses(why))


def rest(place: str, trouble: Said | None) -> Check:
    """Judge slurmrestd, from which the cluster is read. `trouble`: why nothing was; None: it answers, lets us in,
    speaks what we do.
    """
    if trouble is None:
        return Check("rest", True, saying.answers_at(place))
    return Check("rest", False, trouble if render.remedy(trouble) else saying.slurmrestd_unusable(trouble, place))


def clock(low_s: float, high_s: float, where: str = "") -> Check:
    """Judge how far another clock is ahead of ours: between `low_s` and `high_s` seconds."""
    off = max(low_s, -high_s, 0.0)
    if off <= SKEW_S:
        return Check("clock", True, saying.clock_right(), where=where)
    return Check("clock", False, saying.clock_wrong(round(off)), needed=off > WRONG_S, where=where)


def partition(pool: str, name: str, there: Iterable[Partition], nodes: Iterable[NodeLine]) -> Check:
    """Judge the partition that `pool` is to be."""
    known = {one.name: one for one in there}
    found = known.get(name)
    if found is None:
        names = sorted(one.name for one in known.values() if not one.hidden)
        return Check("partition", False, saying.partition_not_found(name, names, pool), where=name)
    if not found.up:
        return Check("partition", False, saying.partition_down(name), where=name)
    all_of_it = [node for node in nodes if name in node.partitions]
    usable = [node for node in all_of_it if node.usable]
    if not usable:
        return Check("partition", False, saying.partition_without_usable_nodes(name, len(all_of_it)), where=name)
    cards = sum(card.count for node in usable for card in node.cards)
    return Check("partition", True, saying.partition_ready(len(usable), len(all_of_it), cards), where=name)


def accounting(said: Mapping[str, str]) -> Check:
    """Tell whether Slurm keeps accounts. We need none: the nodes tell how each task ended."""
    kind = said.get("AccountingStorageType", "").removeprefix("accounting_storage/")
    if kind in ("", "none"):
        return Check("accounting", True, saying.no_accounting(), needed=False)
    return Check("accounting", True, saying.accounting_of_kind(kind), needed=False)


def pending(wanted: int, pools: int, said: Mapping[str, str], limits: Iterable[int]) -> Check:
    """Judge whether so many may wait: `wanted` of each pool; `limits`: MaxSubmitJobs where they can be seen."""
    total = wanted * max(1, pools)
    most = min([int(said["MaxJobCount"])] * ("MaxJobCount" in said) + list(limits), default=None)
    if most is not None and total > most:
        fewer = max(1, most // 2 // max(1, pools))
        return Check("pending", False, saying.too_many_may_wait(total, most, fewer), needed=False)
    return Check("pending", True, saying.many_may_wait(total), needed=False)


def submit(where: str, refused: Said | None) -> Check:
    """Judge what ``sbatch --test-only`` said of a small job; `refused` None: it would be taken."""
    if refused is not None:
        return Check("submit", False, saying.jobs_would_be_refused(refused), where=where)
    return Check("submit", True, saying.jobs_would_be_taken(), where=where)


# -------------------------------------------------------------------------------------------------------- the probe job


def not_tried() -> Check:
    """Say that there was no probe job."""
    return Check("probe", False, saying.probe_not_tried(), needed=False)
