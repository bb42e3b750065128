"""What Slurm's words mean: one literal table of the states of a job, one of the reasons to wait. Pure.

`STATES` holds every state and flag of the manual (squeue, sacct, scontrol). A word that is in neither is unknown: the job is taken
to be still there, and a person is told; it is never guessed.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

Standing = Literal["pending", "running", "ended", "unknown"]
"""pending: holds nothing yet, or again. running: something of it may hold or use nodes. ended: nothing of it will run any more."""


class State(NamedTuple):
    """What a state means. `code`: the verdict code when it ended ("" where our own records say it); `zh`, `en`: in words."""

    standing: Standing
    code: str
    zh: str
    en: str


STATES: Final[dict[str, State]] = {
    # --- not started
    "PENDING": State("pending", "", "在 Slurm 中排队", "waiting in Slurm"),
    "REQUEUED": State("pending", "", "正被 Slurm 重新排队", "being put back into Slurm's queue"),
    "REQUEUE_FED": State("pending", "", "正被集群联邦重新排队", "being put back into the queue by a federation"),
    "REQUEUE_HOLD": State("pending", "", "被 Slurm 重新排队并挂起", "put back into Slurm's queue and held"),
    "RESV_DEL_HOLD": State("pending", "", "预留已被删除，任务被挂起", "held: its reservation was deleted"),
    "SPECIAL_EXIT": State("pending", "", "被管理员的规则重新排队并挂起", "put back and held by a rule of the administrators"),
    # --- holds nodes
    "CONFIGURING": State("running", "", "节点正在准备", "its nodes are being made ready"),
    "POWER_UP_NODE": State("running", "", "节点正在开机", "its nodes are being switched on"),
    "RUNNING": State("running", "", "正在运行", "running"),
    "SUSPENDED": State("running", "", "被 Slurm 暂停", "suspended by Slurm"),
    "STOPPED": State("running", "", "被 Slurm 停住，仍占有资源", "stopped by Slurm, keeping what it has"),
    "SIGNALING": State("running", "", "正在接收信号", "being signalled"),
    "RESIZING": State("running", "", "正在改变大小", "changing its size"),
    "STAGE_OUT": State("running", "", "正在保存文件", "its files are being brought out"),
    "COMPLETING": State("running", "", "正在结束", "ending: some of its processes may still run"),
    "UPDATE_DB": State("running", "", "正在结束", "ending: Slurm is writing it down"),
    "LAUNCH_FAILED": State("running", "", "无法启动，正在清理", "could not be started and is being cleaned up"),
    "RECONFIG_FAIL": State("running", "", "节点准备失败", "its nodes could not be made ready"),
    # --- over
    "COMPLETED": State("ended", "", "已完成", "completed"),
    "FAILED": State("ended", "launch_failed", "在 Slurm 中失败", "failed in Slurm"),
    "CANCELLED": State("ended", "stopped", "在 Slurm 中被取消", "was cancelled in Slurm"),
    "TIMEOUT": State("ended", "expired", "达到 Slurm 的时限", "reached its time limit in Slurm"),
    "DEADLINE": State("ended", "expired", "超过 Slurm 的最后期限", "could not end before its deadline in Slurm"),
    "OUT_OF_MEMORY": State("ended", "out_of_memory", "内存超出所申请的上限", "used more memory than it asked for"),
    "NODE_FAIL": State("ended", "lost", "节点故障", "lost a node"),
    "BOOT_FAIL": State("ended", "bad_node", "节点无法开机", "its nodes could not be booted"),
    "PREEMPTED": State("ended", "lost", "被 Slurm 中的其他任务抢占", "had to make room for another job in Slurm"),
    "REVOKED": State("ended", "lost", "由联邦中的另一集群接手", "was taken over by another cluster of the federation"),
}  # fmt: skip

SHORT: Final[dict[str, str]] = {
    "PD": "PENDING", "RQ": "REQUEUED", "RF": "REQUEUE_FED", "RH": "REQUEUE_HOLD", "RD": "RESV_DEL_HOLD", "SE": "SPECIAL_EXIT",
    "CF": "CONFIGURING", "R": "RUNNING", "S": "SUSPENDED", "ST": "STOPPED", "SI": "SIGNALING", "RS": "RESIZING",
    "SO": "STAGE_OUT", "CG": "COMPLETING", "CD": "COMPLETED", "F": "FAILED", "CA": "CANCELLED", "TO": "TIMEOUT",
    "DL": "DEADLINE", "OOM": "OUT_OF_MEMORY", "NF": "NODE_FAIL", "BF": "BOOT_FAIL", "PR": "PREEMPTED", "RV": "REVOKED",
}  # fmt: skip
"""The short forms, which jobcomp and old tools write."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A job's state as read: Slurm's own words, and what they mean together."""

    words: tuple[str, ...]
    standing: Standing
    code: str = ""

    def told(self, language: Literal["zh", "en"]) -> str:
        """Return the state in words; a word that is not known is shown as Slurm writes it."""
        known = [getattr(STATES[word], language) if word in STATES else word for word in self.words]
        return ("，" if language == "zh" else ", ").join(known)


def read(text: str) -> Seen:
    """Return what a state means, as any of Slurm's programs writes it: ``RUNNING``, ``CG``, ``CANCELLED by 1000``, ``A,B``.

    A base state with flags counts as running while any of them does: COMPLETED,COMPLETING still has processes.
    """
    words = tuple(
        SHORT.get(word, word) for word in text.split(" by ", maxsplit=1)[0].replace("+", ",").split(",") if word
    )
    if not words or any(word not in STATES for word in words):
        return Seen(words, "unknown")
    states = [STATES[word] for word in words]
    return Seen(words, _together(state.standing for state in states), next((s.code for s in states if s.code), ""))


def _together(standings: Iterable[Standing]) -> Standing:
    found = set(standings)
    order: tuple[Standing, ...] = ("unknown", "running", "pending", "ended")
    return next((standing for standing in order if standing in found), "unknown")


def of_components(seen: Iterable[Seen]) -> Seen:
    """Return the state of a heterogeneous job by those of its components: over only when all of them are."""
    parts = list(seen)
    words = tuple(dict.fromkeys(word for part in parts for word in part.words))
    return Seen(words, _together(part.standing for part in parts), next((part.code for part in parts if part.code), ""))


class Reason(NamedTuple):
    """Why Slurm lets a job wait, in words. `forever`: nothing will change by itself, somebody must act."""

    zh: str
    en: str
    forever: bool = False


REASONS: Final[dict[str, Reason]] = {
    "None": Reason("Slurm 尚未考虑", "Slurm has not looked at it yet"),
    "WaitingForScheduling": Reason("Slurm 尚未考虑", "Slurm has not looked at it yet"),
    "Resources": Reason("等待节点空闲", "waiting for nodes to become free"),
    "Priority": Reason("优先级更高的任务在它之前", "jobs of a higher priority come first"),
    "Dependency": Reason("等待另一任务", "waiting for another job"),
    "DependencyNeverSatisfied": Reason("所依赖的任务不会完成", "the job it depends on will never be done", True),
    "BeginTime": Reason("尚未到最早开始时间", "its earliest start has not come yet"),
    "Cleaning": Reason("上一次运行仍在清理", "its former run is still being cleaned up"),
    "Prolog": Reason("节点准备程序仍在运行", "the cluster's prolog is still running"),
    "JobArrayTaskLimit": Reason("数组任务同时运行数已满", "as many of its array run as may at once"),
    "Licenses": Reason("等待许可证", "waiting for a licence"),
    "JobHeldUser": Reason("被用户挂起", "held by its user", True),
    "JobHeldAdmin": Reason("被集群管理员挂起", "held by the cluster's administrator", True),
    "launch failed requeued held": Reason("启动失败后被挂起", "held after it could not be started", True),
    "job requeued in held state": Reason("重新排队后被挂起", "put back into the queue and held", True),
    "BadConstraints": Reason("没有节点满足所要求的特征", "no node has the features asked for", True),
    "PartitionDown": Reason("分区已停用", "its partition is down", True),
    "PartitionInactive": Reason("分区不运行任务", "its partition starts no jobs", True),
    "PartitionNodeLimit": Reason("节点数超出分区限制，或节点不可用", "its partition has too few usable nodes", True),
    "PartitionTimeLimit": Reason("时限超过分区的时限", "its time limit is longer than its partition's", True),
    "PartitionConfig": Reason("请求不符合分区的设置", "its request does not agree with its partition", True),
    "AccountNotAllowed": Reason("账户不可使用该分区", "its account may not use this partition", True),
    "QOSNotAllowed": Reason("QOS 不可用于该分区", "its quality of service may not be used in this partition", True),
    "InvalidAccount": Reason("Slurm 账户无效", "its Slurm account is not valid", True),
    "InvalidQOS": Reason("QOS 无效", "its quality of service is not valid", True),
    "ReqNodeNotAvail": Reason("所需节点不可用（停用、保留或占用）", "nodes it needs are down, drained or reserved"),
    "NodeDown": Reason("所需节点已停机", "a node it needs is down"),
    "Nodes required for job are DOWN, DRAINED or reserved for jobs in higher priority partitions": Reason(
        "所需节点停用，或保留给更高优先级的分区",
        "nodes it needs are down, drained or kept for partitions of a higher priority",
    ),
    "Reservation": Reason("等待预留生效", "waiting for its reservation to begin"),
    "ReservationDeleted": Reason("预留已被删除", "its reservation was deleted", True),
    "AssociationJobLimit": Reason("账户的任务数已达上限", "its account has as many jobs as it may"),
    "AssociationResourceLimit": Reason("账户的资源已达上限", "its account uses as much as it may"),
    "AssociationTimeLimit": Reason("账户的时间已用完", "its account has used its time", True),
    "QOSJobLimit": Reason("QOS 的任务数已达上限", "its quality of service has as many jobs as it may"),
    "QOSResourceLimit": Reason("QOS 的资源已达上限", "its quality of service uses as much as it may"),
    "QOSTimeLimit": Reason("QOS 的时间已用完", "its quality of service has used its time", True),
    "QOSUsageThreshold": Reason("低于 QOS 的使用门槛", "it is below the threshold of its quality of service"),
    "AssocGrp*": Reason("账户组的用量已达上限", "its account's group uses as much as it may"),
    "AssocMax*": Reason("请求超过账户的单任务上限", "it asks for more than one job of its account may", True),
    "MaxJobsPerAccount": Reason("账户的任务数已达上限", "its account has as many jobs as it may"),
    "QOSGrp*": Reason("QOS 的用量已达上限", "its quality of service uses as much as it may"),
    "QOSMax*": Reason("请求超过 QOS 的上限", "it reached a limit of its quality of service"),
    "QOSMin*": Reason("请求低于 QOS 的下限", "it asks for less than its quality of service wants", True),
    "MaxMemPerLimit": Reason("内存超过分区上限", "it asks for more memory than may be had", True),
    "BurstBufferResources": Reason("等待突发缓冲区", "waiting for the burst buffer"),
    "BurstBufferStageIn": Reason("正在向突发缓冲区装入文件", "files are being brought into the burst buffer"),
    "FedJobLock": Reason("等待联邦中的集群达成一致", "the clusters of the federation are agreeing"),
    "JobLaunchFailure": Reason("启动失败", "it could not be started", True),
    "SystemFailure": Reason("Slurm 系统故障", "Slurm has a fault", True),
}
"""A name that ends with `*` stands for all that begin so. Those of https://slurm.schedmd.com/job_reason_codes.html that users meet."""


def reason(text: str) -> Reason | None:
    """Return the words for a reason as squeue writes it, None for one that is not known: it is then shown as it is.

    What follows a comma names nodes (``ReqNodeNotAvail, UnavailableNodes:n[1-2]``).
    """
    name = text.strip("() ")
    for key in (name, name.split(",")[0].strip()):
        if key in REASONS:
            return REASONS[key]
    return next((words for key, words in REASONS.items() if key.endswith("*") and name.startswith(key[:-1])), None)


NOT_USABLE: Final[dict[str, str]] = {
    "DOWN": "down", "DRAIN": "drained", "DRAINED": "drained", "DRAINING": "being drained", "FAIL": "failing", "FAILING": "failing",
    "ERROR": "in an error", "UNKNOWN": "in an unknown state", "FUTURE": "not there yet", "MAINT": "in maintenance",
    "MAINTENANCE": "in maintenance", "NOT_RESPONDING": "not responding", "PERFCTRS": "kept for performance counters",
    "INVALID": "not what Slurm was told that it is", "INVALID_REG": "not what Slurm was told that it is",
    "BLOCKED": "blocked by another node",
    "REBOOT": "to be rebooted", "REBOOT_ISSUED": "being rebooted", "REBOOT_REQUESTED": "to be rebooted",
    "POWER_DOWN": "being switched off", "POWERING_DOWN": "being switched off",
}  # fmt: skip
"""States of a node in which it starts nothing, in words, the one that matters most first. One that is switched off to save power is
not among them: Slurm wakes it.
"""


def out_of_service(flags: Collection[str], why: str) -> str:
    """Return in words why a node of these states starts nothing, "" when it may. `why`: what an administrator wrote."""
    state = next((NOT_USABLE[flag] for flag in NOT_USABLE if flag in flags), "")
    if not state:
        return ""
    return f"Slurm says that the node is {state}: {why}" if why else f"Slurm says that the node is {state}"
