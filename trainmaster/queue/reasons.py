"""The words for why a job waits or is refused, in both languages. Data and its rendering only; pure.

Owns every reason code the queue uses. Invariant: each code has one sentence in each language, and `render` needs
nothing but the evidence that the code's makers put in.
"""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final, NamedTuple

from trainmaster.core.errors import Problem
from trainmaster.core.units import format_duration, format_memory
from trainmaster.queue.snapshot import Reason

REASONS: Final[dict[str, tuple[str, str]]] = {
    "waiting_gpus": (
        "等待加速卡：共需 {needs} 张（{type}，每个副本 {each} 张），现空闲 {free} 张，单个节点最多空闲 {largest} 张",
        "Waiting for cards: {needs} needed ({type}, {each} per replica), {free} free, at most {largest} on one node",
    ),
    "waiting_cpu": (
        "等待 CPU：共需 {needs} 核（每个副本 {each} 核），现空闲 {free} 核，单个节点最多空闲 {largest} 核",
        "Waiting for CPU: {needs} cores needed ({each} per replica), {free} free, at most {largest} on one node",
    ),
    "waiting_memory": (
        "等待内存：共需 {needs}（每个副本 {each}），现空闲 {free}，单个节点最多空闲 {largest}",
        "Waiting for memory: {needs} needed ({each} per replica), {free} free, at most {largest} on one node",
    ),
    "waiting_ports": (
        "等待端口：角色 {role} 所需的端口（{fixed}）被占用",
        "Waiting for ports: those that role {role} asks for ({fixed}) are in use",
    ),
    "waiting_nodes": (
        "等待节点：资源池 {pool} 中现可调度的 {schedulable} 个节点放不下此任务，不可用的节点：{away}",
        "Waiting for nodes: the {schedulable} nodes of pool {pool} in service cannot carry it; out of service: {away}",
    ),
    "behind": (
        "排在{job}之后：它先得到释放出来的资源",
        "Behind {job}, which gets what is freed first",
    ),
    "reserved": (
        "空闲的资源留给{job}，它{when}启动；此任务{limit}，现在启动会推迟它",
        "What is free is kept for {job}, which starts {when}; {limit} this job would delay it",
    ),
    "quota": (
        "{account}的配额已满：已用 {used}，再加 {asks} 将超过 {limit}",
        "The quota of {account} is reached: {used} in use, {asks} more would exceed {limit}",
    ),
    "quota_lent": (
        "{account}已用 {used}，超过其配额 {limit} 的部分只能借用他人未用的：现可借 {lent}，此任务需要 {asks}",
        "{account} holds {used}; beyond its quota of {limit} it borrows what others leave: {lent} now, this job asks for {asks}",
    ),
    "quota_kept": (
        "{account}的配额留给{job}，它排在前面，也在等待这份配额；此任务现在启动会推迟它",
        "What is left of the quota of {account} is kept for {job}, which comes first and waits for it; now this job would delay it",
    ),
    "cluster_full": (
        "资源池 {pool} 所在集群的队列中已有足够多的任务；有任务启动后就会提交此任务",
        "Enough jobs wait in the queue of the cluster of pool {pool}; this one is handed over when one of them starts",
    ),
    "next_pass": ("即将被调度", "About to be considered"),
    "no_such_pool": ("没有名为 {pool} 的资源池，现有：{pools}", "There is no pool {pool}; there are: {pools}"),
    "no_such_node": (
        "资源池中没有名为 {value} 的节点，现有：{choices}",
        "The pool has no node named {value}; there are: {choices}",
    ),
    "no_such_driver": (
        "可用的节点上没有版本为 {value} 的驱动，现有：{choices}",
        "No node that may be used has the driver {value}; there are: {choices}",
    ),
    "no_such_card": (
        "角色 {role} 要求加速卡型号 {type}，资源池中只有：{types}",
        "Role {role} asks for cards of type {type}; the pool has: {types}",
    ),
    "never_gpus": (
        "角色 {role} 的每个副本需要 {each} 张加速卡（{type}），最大的节点只有 {largest} 张",
        "Role {role} asks for {each} cards per replica ({type}), the largest node has {largest}",
    ),
    "never_cpu": (
        "角色 {role} 的每个副本需要 {each} 核 CPU，能满足其余要求的节点最多有 {largest} 核",
        "Role {role} asks for {each} CPU cores per replica, the largest node has {largest}",
    ),
    "never_memory": (
        "角色 {role} 的每个副本需要 {each} 内存，最大的节点只有 {largest}",
        "Role {role} asks for {each} of memory per replica, the largest node has {largest}",
    ),
    "never_ports": (
        "角色 {role} 的每个副本需要 {ports} 个端口，超出可分配的端口范围",
        "Role {role} asks for {ports} ports per replica, more than there are to give out",
    ),
    "never_together": (
        "每个副本单独放得下，全部副本同时放不下：共需 {needs}{unit}，全部节点共 {free}{unit}",
        "Every replica fits by itself, all together do not: {needs}{unit} needed, all nodes have {free}{unit}",
    ),
    "never_fixed_ports": (
        "固定端口 {fixed} 在每台主机上只能用一次，资源池只有 {hosts} 台主机，放不下全部副本",
        "The fixed ports {fixed} exist once per host, and {hosts} hosts are too few for all replicas",
    ),
}  # fmt: skip
"""Code -> (zh, en). Placeholders are keys of the evidence, made readable by `render`."""

EVICTED: Final[dict[str, tuple[str, str]]] = {
    "class": (
        "让位给{job}：它的优先级更高",
        "Makes room for {job}, which is of a higher priority class",
    ),
    "reclaim": (
        "让位给{job}：它收回借出的配额",
        "Makes room for {job}, which takes back quota that it had lent",
    ),
}
"""Why an attempt was sent back to the queue, by `Evict.why` -> (zh, en)."""

_SOMEBODY: Final = ("其他用户的任务", "another user's job")
_OPEN: Final = frozenset(
    {"holds", "at", "in_s", "limit_s", "account", "kind", "pool", "resource", "used", "asks", "limit"}
)
"""What anybody may know of a job whose name he may not: how much it takes, when his own turn comes, what his own account holds."""

_OTHERS: Final = frozenset({"job", "holders"})
"""Where jobs of others stand in the evidence."""

_KINDS: Final[dict[str, tuple[str, str]]] = {
    "cluster": ("虚拟集群 {} ", "virtual cluster {}"),
    "workspace": ("工作空间 {} ", "workspace {}"),
    "user": ("用户 {} ", "user {}"),
    "rest": ("资源池 {} 的未分配份额", "the unassigned share of pool {}"),
}
"""What accounts are called, by kind; "rest": the account of those who count against no virtual cluster, by its pool."""

_HELD: Final[dict[tuple[str, bool], tuple[str, str]]] = {
    ("gpu", False): ("{0} 张卡", "{0} card{2}"),
    ("gpu", True): ("{0} 张 {1} 卡", "{0} {1} card{2}"),
    ("cpu", False): ("{0} 核", "{0} core{2}"),
    ("memory_mib", False): ("{0}", "{0} of memory"),
}
"""What an account holds: of which resource, of one model? The amount, the model, and the English plural."""

_AMOUNTS: Final[tuple[str, ...]] = ("used", "asks", "limit", "lent")
"""The amounts in the evidence about quotas."""

_UNITS: Final[dict[str, tuple[str, str]]] = {"gpus": (" 张卡", " cards"), "cpu": (" 核", " cores"), "memory": ("", "")}


class Text(NamedTuple):
    """One sentence in both languages."""

    zh: str
    en: str

    def to_json(self) -> dict[str, str]:
        """Return it as the API shows texts."""
        return {"zh": self.zh, "en": self.en}


def render(reason: Reason) -> Text:
    """Return the sentences of `reason`. Raises KeyError for a code that is not in REASONS."""
    if reason.sentences is None:
        zh, en = REASONS[reason.code]
        english = en.format(**_words(reason, 1))
        sentences = _closed_up(zh.format(**_words(reason, 0))), english[:1].upper() + english[1:]
        object.__setattr__(reason, "sentences", sentences)
    assert reason.sentences is not None
    return Text(*reason.sentences)


def evicted(why: str, name: str | None) -> Text:
    """Return why an attempt had to make room for the job `name`, None: the reader may not know of it, or it is gone.

    Raises KeyError for what is not in EVICTED.
    """
    zh, en = EVICTED[why]
    job = Text("另一个任务", "another job") if name is None else Text(f"任务 {name} ", f"job {name}")
    return Text(_closed_up(zh.format(job=job.zh)), en.format(job=job.en))


def remedy(reason: Reason) -> Text:
    """Return what to do about a refusal of `can_ever_fit`: the nearest shape that fits, or the choices."""
    data = reason.evidence
    path = data["path"]
    if data.get("changes"):
        items = data["changes"].items()
        lower = [(at, format_memory(int(n)) if at.endswith(".memory") else f"{n:g}") for at, n in items]
        zh, en = "，".join(f"{at} 降到 {n}" for at, n in lower), " and ".join(f"{at} to {n}" for at, n in lower)
        return Text(f"将 {zh}", f"Lower {en}")
    choices = data.get("types", data.get("pools", data.get("choices")))
    if choices:
        listed = ", ".join(choices)
        return Text(f"将 {path} 改为以下之一：{listed}", f"Set {path} to one of: {listed}")
    return Text(
        f"减少 {path} 的要求，或请管理员增加节点", f"Ask for less at {path}, or ask the administrator for nodes"
    )


def named(reason: Reason, name_of: Callable[[str], str | None]) -> Reason:
    """Return `reason` with the names of the jobs in it; where `name_of` gives None, only how much that job holds is left."""

    def told(item: dict[str, Any]) -> dict[str, Any]:
        name = name_of(item["job"])
        shown = item if name is not None else {key: item[key] if key in _OPEN else None for key in item}
        return {**shown, "name": name}

    if reason.evidence.keys().isdisjoint(_OTHERS):
        return reason
    evidence = told(reason.evidence) if "job" in reason.evidence else dict(reason.evidence)
    if "holders" in evidence:
        evidence["holders"] = [told(holder) for holder in evidence["holders"]]
    return replace(reason, evidence=evidence)


def problem(reason: Reason) -> Problem:
    """Return a refusal of `can_ever_fit` as a problem of the field it is about."""
    data = reason.evidence
    value = data.get("value", data.get("type", data.get("pool")))
    return Problem(data["path"], render(reason).en, remedy(reason).en, reason.code, value, data)


def _closed_up(zh: str) -> str:
    """Return a Chinese sentence without the space that sets off a name where a mark follows it."""
    return re.sub(" (?=[，：；、。])", "", zh)


def _words(reason: Reason, language: int) -> dict[str, Any]:
    """Return the evidence as words of one language (0 zh, 1 en)."""
    out = dict(reason.evidence)
    memory = reason.code.endswith("_memory") or out.get("what") == "memory"
    for name in ("needs", "each", "free", "largest"):
        if name in out:
            out[name] = format_memory(int(out[name])) if memory else f"{out[name]:g}"
    out["type"] = out.get("type") or ("任意型号", "any type")[language]
    out["unit"] = _UNITS.get(str(out.get("what")), ("", ""))[language]
    if "away" in out:
        out["away"] = [f"{n['node']} ({n['reason']})" if n["reason"] else n["node"] for n in out["away"]]
    if "job" in out:
        name = out.get("name", out["job"])
        out["job"] = _SOMEBODY[language] if name is None else (f"任务 {name} ", f"job {name}")[language]
    if "in_s" in out:
        out["when"] = _when(out["in_s"])[language]
    if "limit_s" in out:
        limit_s = out["limit_s"]
        out["limit"] = _limit(limit_s)[language]
    if "account" in out:
        out.update(_account(out, language))
    if "fixed" in out:
        out["fixed"] = out["fixed"] or [f"{out['ports']} {('个', 'of any number')[language]}"]
    return {name: _listed(value, language) if isinstance(value, list) else value for name, value in out.items()}


def _limit(limit_s: float | None) -> Text:
    if limit_s is None:
        return Text("没有时长上限", "without a limit")
    return Text(f"的时长上限为 {format_duration(limit_s)}", f"with a limit of {format_duration(limit_s)}")


def _when(in_s: float | None) -> Text:
    if in_s is None:
        return Text("在无时长上限的任务结束后", "when jobs without a limit have ended")
    if in_s <= 0:
        return Text("即将", "any moment")
    return Text(f"最迟在 {format_duration(in_s)} 后", f"in {format_duration(in_s)} at the latest")


def _account(data: dict[str, Any], language: int) -> dict[str, str]:
    """Return the words of a quota: amounts of cards and cores are thousandths, of memory MiB."""
    kind, name = (data["kind"], data["account"]) if data["account"] else ("rest", data["pool"])
    what, _, model = str(data["resource"]).partition(":")
    amounts = {at: data[at] for at in _AMOUNTS if at in data}
    out = {at: format_memory(int(n)) if what == "memory_mib" else f"{n / 1000:g}" for at, n in amounts.items()}
    out["used"] = _HELD[what, bool(model)][language].format(out["used"], model, "" if out["used"] == "1" else "s")
    return {**out, "account": _KINDS[kind][language].format(name)}


def _listed(values: list[Any], language: int) -> str:
    return ", ".join(map(str, values)) or ("无", "none")[language]
