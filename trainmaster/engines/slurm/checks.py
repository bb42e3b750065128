"""What must hold before jobs are sent to a cluster: each thing that was looked at becomes a `Check`, with its remedy. Pure.

Who looks is `examine`; the engine's own start uses the same checks; what a probe job tells is judged by `probed`. A sentence says what
was found, a remedy what to do; both have their Chinese in `core.chinese_cluster`.
"""

import base64
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from trainmaster.engines.slurm import script
from trainmaster.engines.slurm.parse import NodeLine, Partition

PROGRAMS: Final = ("sbatch", "scancel", "scontrol", "sinfo", "squeue", "srun")
"""What must be on the server's machine. (`sacct` and `sacctmgr` are used where there is an accounting.)"""
OLDEST: Final = (20, 11)
"""Our scripts use the words ``hetjob`` and ``SLURM_..._HET_GROUP_n`` (20.02), and ``srun --overlap`` (20.11)."""
TESTED: Final = (22, 5)
"""What our tests run on: Debian 12's. Nothing is asked for by position or as JSON, whose form changes between versions."""
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


class Label(NamedTuple):
    """What a check is called, in zh and en."""

    zh: str
    en: str


LABELS: Final[dict[str, Label]] = {
    "user": Label("用户", "user"),
    "moving": Label("已有数据", "data there"),
    "jobs": Label("已有任务", "jobs there"),
    "folder": Label("共享目录", "shared folder"),
    "data": Label("数据目录", "data folder"),
    "scratch": Label("节点自有目录", "nodes' own folder"),
    "space": Label("空间", "free space"),
    "programs": Label("客户端程序", "programs"),
    "conf": Label("slurm.conf", "slurm.conf"),
    "version": Label("版本", "version"),
    "munge": Label("munge", "munge"),
    "controller": Label("控制器", "controller"),
    "token": Label("slurmrestd 令牌", "slurmrestd token"),
    "rest": Label("slurmrestd", "slurmrestd"),
    "clock": Label("时钟", "clock"),
    "partition": Label("分区", "partition"),
    "accounting": Label("记账", "accounting"),
    "pending": Label("排队上限", "queue limit"),
    "submit": Label("提交权限", "may submit"),
    "probe": Label("试探任务", "probe job"),
    "queue": Label("队列", "queue"),
    "python": Label("节点 Python", "node's Python"),
    "shared": Label("节点看到的目录", "node's folder"),
    "private": Label("节点 /tmp", "node's /tmp"),
    "environment": Label("Python 环境", "environment"),
    "sandbox": Label("沙箱", "sandbox"),
    "cards": Label("加速卡", "cards"),
}


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at, a key of LABELS. `needed` False: jobs run without it. `where`: the partition, "" the cluster."""

    name: str
    ok: bool
    text: str
    remedy: str = ""
    needed: bool = True
    where: str = ""

    @property
    def bad(self) -> bool:
        """Whether no job may be sent before this is mended."""
        return self.needed and not self.ok


# ----------------------------------------------------------------------------------------------------- the server's machine


def path(data: str) -> Check:
    """Judge how the data folder is called."""
    if script.PATH.fullmatch(data) is None:
        return Check(
            "folder", False, f"The data folder {data} has a character that Slurm or a shell would take for its own",
            "Set server.data to a folder whose path has letters, digits and ./_-+@=,: only.",
        )  # fmt: skip
    return Check("folder", True, data)


def scratch(path: str) -> Check:
    """Judge how the folder is called that each node has for its own."""
    if script.PATH.fullmatch(path) is None or path.endswith("/"):
        return Check(
            "scratch", False, f"The folder {path} has a character that Slurm or a shell would take for its own",
            "Name one whose path has letters, digits and ./_-+@=,: only: --scratch DIR.",
        )  # fmt: skip
    return Check("scratch", True, f"{path}: nothing is shared, srun brings and fetches what jobs read and write")


def user(mine: int, owner: int, name: str, home: str) -> Check:
    """Judge whether this is the system user that the server runs as, who owns its home folder."""
    if mine == owner:
        return Check("user", True, f"{name}, as the server")
    return Check(
        "user", False, f"{home} belongs to another user, as whom the server runs",
        f"Say it as that user: sudo -u '#{owner}' tm engine ...",
    )  # fmt: skip


def folder(data: str, there: bool, kind: str, trouble: str) -> Check:
    """Judge the data folder on this machine. `kind`: its file system's; `trouble`: why it cannot be written."""
    if not (called := path(data)).ok:
        return called
    if not there:
        return Check(
            "folder", False, f"there is no folder {data}",
            "Mount the shared file system, or make the folder (mode 700, of the server's user).",
        )  # fmt: skip
    if trouble:
        remedy = "It must be writable for the server's user, and know fsync and hard links."
        return Check("folder", False, f"{data} cannot be used: {trouble}", remedy)
    if kind in VANISHING:
        return Check(
            "folder", False, f"{data} lies in the memory of this machine ({kind})",
            "Name a folder of the shared file system: --data FOLDER.",
        )  # fmt: skip
    if kind in LOCAL:
        return Check("folder", True, f"{data} ({kind}: right if this machine serves it to the nodes; they will tell)")
    return Check("folder", True, f"{data} ({kind})")


def data(path: str, there: bool, trouble: str) -> Check:
    """Judge the data folder on this machine where no node shares it. `trouble`: why it cannot be written."""
    if not there:
        return Check("data", False, f"there is no folder {path}", "Make it (mode 700, of the server's user).")
    if trouble:
        remedy = "It must be writable for the server's user, and know fsync and hard links."
        return Check("data", False, f"{path} cannot be used: {trouble}", remedy)
    return Check("data", True, path)


def space(data: str, free_mib: int) -> Check:
    """Judge the room for code, logs, outputs and models."""
    text = f"{free_mib / 1024:.1f} GiB free in {data}"
    remedy = "Code, logs, outputs and models of all jobs lie there: make room, or name another folder."
    if free_mib < ROOMY_MIB:
        return Check("space", False, text, remedy, needed=free_mib < LEAST_MIB)
    return Check("space", True, text)


def programs(found: Mapping[str, bool], where: str) -> Check:
    """Judge which of PROGRAMS are there. `where`: in words, the places looked at."""
    lacking = ", ".join(name for name in PROGRAMS if not found[name])
    if lacking:
        return Check(
            "programs", False, f"not found in {where}: {lacking}",
            "Install Slurm's client programs (Debian and Ubuntu: slurm-client), or name their folder: --programs FOLDER.",
        )  # fmt: skip
    return Check("programs", True, where)


def conf(given: str, trouble: str) -> Check:
    """Judge whether slurm.conf can be read. `given` "": the programs find it themselves."""
    if trouble:
        return Check("conf", False, f"{given} cannot be read: {trouble}", "Name the cluster's slurm.conf: --conf FILE.")
    return Check("conf", True, given or "as the programs find it")


def munge(place: str, trouble: str) -> Check:
    """Judge whether munged answers on this machine."""
    if trouble:
        return Check(
            "munge", False, f"munged does not answer at {place}: {trouble}",
            "Start it (systemctl start munge); its key is that of the cluster, /etc/munge/munge.key.",
        )  # fmt: skip
    return Check("munge", True, f"answers at {place}")


def version(client: tuple[int, int, int]) -> Check:
    """Judge the version of the client programs."""
    words = dotted(client)
    if client[:2] < OLDEST:
        return Check(
            "version", False, f"Slurm {words} is too old: it must be {dotted(OLDEST)} or newer",
            "Heterogeneous jobs are asked for in words that older versions do not know. Upgrade the cluster.",
        )  # fmt: skip
    if client[:2] > TESTED:
        return Check("version", True, f"{words} (newer than {dotted(TESTED)}, on which this was tested)")
    return Check("version", True, words)


def dotted(parts: Sequence[int]) -> str:
    """Return a version as Slurm writes it: ``22.05.8``."""
    return ".".join(f"{part:02d}" if at == 1 else str(part) for at, part in enumerate(parts))


def token(path: str, said: str, trouble: str, now: float) -> Check:
    """Judge the token of slurmrestd, a JSON Web Token (RFC 7519), by what it says of itself; who signed it Slurm judges.

    `said`: what is in its file; `trouble`: why that cannot be read.
    """
    remedy = (
        "Write what scontrol token prints behind SLURM_JWT= into the file of rest_token, and anew before it expires."
    )
    if trouble:
        return Check("token", False, f"{path} cannot be read: {trouble}", remedy)
    claims = _claims(said.strip())
    if claims is None:
        return Check("token", False, f"{path} holds no token", remedy)
    expires = claims.get("exp")
    left_s = expires - now if isinstance(expires, int | float) else math.inf
    if left_s <= 0:
        return Check("token", False, f"the token in {path} has expired", remedy)
    return Check("token", True, f"{path}, which expires in {left_s / 3600:.1f} hours" if left_s < math.inf else path)


def _claims(token: str) -> dict[str, Any] | None:
    """Return what a JSON Web Token claims, None for anything else."""
    try:
        head, body, _ = token.split(".")
        header, claims = (json.loads(base64.urlsafe_b64decode(part + "==")) for part in (head, body))
    except ValueError:
        return None
    return claims if isinstance(header, dict) and isinstance(claims, dict) else None


# --------------------------------------------------------------------------------------------------------------- the cluster


def controller(said: Mapping[str, str], client: tuple[int, int, int]) -> Check:
    """Judge the controller by its own configuration. A client may not be newer than its controller, nor two versions older."""
    name, theirs = said.get("ClusterName", ""), said.get("SLURM_VERSION", "")
    if theirs and not theirs.startswith(dotted(client)[:5]):
        return Check(
            "controller", False, f"slurmctld of {name} is of version {theirs}, the programs here of {dotted(client)}",
            "They talk, but it is better that both are of the same version.", needed=False,
        )  # fmt: skip
    return Check("controller", True, f"slurmctld of {name} answers, version {theirs}")


def no_answer(said: str, remedy: str) -> Check:
    """Judge what came instead of an answer; ``scontrol ping`` says it of each controller, and no more."""
    if "is DOWN" in said:
        name = said.partition(";")[0]
        return Check(
            "controller",
            False,
            f"no controller answers: {name}",
            "Look whether slurmctld runs there, and whether this machine reaches its port.",
        )
    return Check("controller", False, said, remedy or "Look at slurm.conf and munge on this machine.")


def rest(place: str, trouble: str, remedy: str) -> Check:
    """Judge slurmrestd, from which the cluster is read. `trouble`: why nothing was; "": it answers, lets us in, speaks what we do."""
    if trouble:
        remedy = remedy or (
            f"Look whether slurmrestd listens at {place} and the server's user may connect there; its own log says what it refuses."
        )
        return Check("rest", False, trouble, remedy)
    return Check("rest", True, f"answers at {place}")


def clock(low_s: float, high_s: float, where: str = "") -> Check:
    """Judge how far another clock is ahead of ours: between `low_s` and `high_s` seconds."""
    off = max(low_s, -high_s, 0.0)
    if off <= SKEW_S:
        return Check("clock", True, "the same as here", where=where)
    remedy = "Set the clocks by NTP: starts, ends and limits are told by the node's clock."
    return Check("clock", False, f"differs from this machine's by {off:.0f} s or more", remedy, off > WRONG_S, where)


def partition(pool: str, name: str, there: Iterable[Partition], nodes: Iterable[NodeLine]) -> Check:
    """Judge the partition that `pool` is to be."""
    known = {one.name: one for one in there}
    found = known.get(name)
    if found is None:
        names = ", ".join(sorted(one.name for one in known.values() if not one.hidden))
        return Check(
            "partition", False, f"there is no partition {name}; there are: {names}",
            f"Name another for this pool: --pool {pool}=PARTITION.", where=name,
        )  # fmt: skip
    if not found.up:
        return Check(
            "partition", False, f"{name} is down: jobs would wait for ever",
            f"The cluster's administrator lets it start jobs: scontrol update PartitionName={name} State=UP", where=name,
        )  # fmt: skip
    all_of_it = [node for node in nodes if name in node.partitions]
    usable = [node for node in all_of_it if node.usable]
    if not usable:
        return Check(
            "partition", False, f"{name} has {len(all_of_it)} nodes, and none can start a job now",
            "The cluster's administrator sees why: sinfo -R", where=name,
        )  # fmt: skip
    cards = sum(card.count for node in usable for card in node.cards)
    return Check("partition", True, f"{len(usable)} of {len(all_of_it)} nodes ready, {cards} cards", where=name)


def accounting(said: Mapping[str, str]) -> Check:
    """Tell whether Slurm keeps accounts. We need none: the nodes tell how each task ended."""
    kind = said.get("AccountingStorageType", "").removeprefix("accounting_storage/")
    if kind in ("", "none"):
        return Check("accounting", True, "none; it is not needed", needed=False)
    return Check("accounting", True, f"{kind}; it is not needed", needed=False)


def pending(wanted: int, pools: int, said: Mapping[str, str], limits: Iterable[int]) -> Check:
    """Judge whether so many may wait: `wanted` of each pool; `limits`: MaxSubmitJobs where they can be seen."""
    total = wanted * max(1, pools)
    most = min([int(said["MaxJobCount"])] * ("MaxJobCount" in said) + list(limits), default=None)
    if most is not None and total > most:
        return Check(
            "pending", False, f"up to {total} of our jobs may wait there, but Slurm takes only {most}",
            f"Let fewer wait: most_pending = {max(1, most // 2 // max(1, pools))} in this engine's section.", needed=False,
        )  # fmt: skip
    return Check("pending", True, f"up to {total} of our jobs may wait there", needed=False)


def submit(where: str, refused: str) -> Check:
    """Judge what ``sbatch --test-only`` said of a small job; `refused` "": it would be taken."""
    if refused:
        remedy = "Ask the cluster's administrator for the right to submit there; name an account with --account NAME."
        return Check("submit", False, f"Slurm would refuse our jobs: {refused}", remedy, where=where)
    return Check("submit", True, "Slurm would take our jobs", where=where)


# ------------------------------------------------------------------------------------------------------------ the probe job


def not_tried() -> Check:
    """Say that there was no probe job."""
    return Check("probe", False, "not tried while something above is missing", needed=False)
