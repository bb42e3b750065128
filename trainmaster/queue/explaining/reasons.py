"""What is said of why a job waits or is refused: the evidence of each reason as arguments of the catalogue
`messages.cluster.queue`. Pure.

Owns every reason code the queue uses. Invariant: `say_reason` needs nothing but the evidence that the code's makers put
in.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

from trainmaster.core.errors import Problem, problem_of
from trainmaster.core.ids import role_system_name
from trainmaster.messages import render as words
from trainmaster.messages.cluster import queue
from trainmaster.messages.said import Said, said_from_json
from trainmaster.queue.snapshot import Reason

Evidence = Mapping[str, Any]

_OPEN: Final = frozenset(
    {"holds", "at", "in_s", "limit_s", "account", "kind", "pool", "resource", "used", "asks", "limit"}
)
"""What anybody may know of a job whose name he may not: how much it takes, when his own turn comes, what his own
account holds.
"""

_OTHERS: Final = frozenset({"job", "holders"})
"""Where jobs of others stand in the evidence."""


class Known(NamedTuple):
    """What a reader may know of another job: its name and owner, its owner alone, or neither."""

    name: str | None = None
    owner: str | None = None


NameOf = Callable[[str], Known]
"""Job id -> what the reader may know of it; nothing of one that is gone."""


class Sentence(NamedTuple):
    """One sentence in both languages."""

    zh: str
    en: str


def say_reason(reason: Reason) -> Said:
    """Return what `reason` says. Raises KeyError for a code that is not in REASONS."""
    return REASONS[reason.code](reason.evidence)


def render(reason: Reason) -> Sentence:
    """Return the sentences of `reason`, made once. Raises KeyError for a code that is not in REASONS."""
    if reason.sentences is None:
        found = say_reason(reason)
        english = words.text(found, "en")
        object.__setattr__(reason, "sentences", (words.text(found, "zh"), english[:1].upper() + english[1:]))
    assert reason.sentences is not None
    return Sentence(*reason.sentences)


def evicted(why: str, by: Known) -> Said:
    """Return why an attempt had to make room for the job `by`. Raises KeyError for what is not in EVICTED."""
    return EVICTED[why](_known(by) or queue.another_job())


def instead(data: Evidence) -> Said:
    """Return what to do about a refusal of `can_ever_fit` with this evidence: the nearest shape that fits, or the
    choices.
    """
    if data.get("changes"):
        return queue.lower_what_it_asks([_lowered(path, amount) for path, amount in data["changes"].items()])
    choices = data.get("types", data.get("pools", data.get("choices")))
    return queue.set_to_one_of(data["path"], choices) if choices else queue.ask_for_less_or_nodes(data["path"])


def _lowered(path: str, amount: float) -> Said:
    lowered = queue.memory_lowered_to if path.endswith(".memory") else queue.lowered_to
    return lowered(path, amount)


def with_names(reason: Reason, name_of: NameOf) -> Reason:
    """Return `reason` with names and owners of the jobs in it; of one without a name, only how much it holds is left
    beside its owner.
    """

    def told(item: dict[str, Any]) -> dict[str, Any]:
        known = name_of(item["job"])
        shown = item if known.name is not None else {key: item[key] if key in _OPEN else None for key in item}
        return {**shown, "name": known.name, "owner": known.owner}

    if reason.evidence.keys().isdisjoint(_OTHERS):
        return reason
    evidence = told(reason.evidence) if "job" in reason.evidence else dict(reason.evidence)
    if "holders" in evidence:
        evidence["holders"] = [told(holder) for holder in evidence["holders"]]
    return replace(reason, evidence=evidence)


def without_names(reason: Reason, roles: Sequence[str]) -> Reason:
    """Return `reason`, why a job with these `roles` waits, for who may not know the job: a role is said by its
    number.
    """
    role = reason.evidence.get("role")
    if role not in roles:
        return reason
    return replace(reason, evidence={**reason.evidence, "role": role_system_name(roles.index(role))})


def problem(reason: Reason) -> Problem:
    """Return a refusal of `can_ever_fit` as a problem of the field it is about; it tells all of the evidence."""
    data = reason.evidence
    found = problem_of(data["path"], say_reason(reason), data.get("value", data.get("type", data.get("pool"))))
    return replace(found, args={**data, **(found.args or {})})


def _job(data: Evidence) -> Said:
    known = Known(data.get("name", data["job"]), data.get("owner"))
    return _known(known) or queue.another_users_job()


def _known(job: Known) -> Said | None:
    """Return how a job is called that the reader may know something of."""
    if job.name is not None:
        return queue.job_named(job.name)
    return None if job.owner is None else queue.job_of(job.owner)


def _when(in_s: float | None) -> Said:
    if in_s is None:
        return queue.after_jobs_without_limit()
    return queue.any_moment() if in_s <= 0 else queue.at_the_latest_in(in_s)


def _limit(limit_s: float | None) -> Said:
    return queue.without_a_limit() if limit_s is None else queue.with_a_limit(limit_s)


def _type(data: Evidence) -> Said | str:
    return data.get("type") or queue.any_card_type()


def _fixed(data: Evidence) -> Said | list[int]:
    return data["fixed"] or queue.ports_of_any_number(data["ports"])


def _away(data: Evidence) -> list[Said | str]:
    return [queue.node_away(n["node"], said_from_json(n["reason"])) if n["reason"] else n["node"] for n in data["away"]]


_ACCOUNTS: Final[Mapping[str, Callable[[str], Said]]] = {
    "cluster": queue.account_of_virtual_cluster,
    "workspace": queue.account_of_workspace,
    "user": queue.account_of_user,
}
"""What accounts are called, by kind; one without a name is of those who count against no virtual cluster, of its
pool.
"""


def _account(data: Evidence) -> Said:
    if data["kind"] == "member":
        return queue.account_of_member(data["account"], data["workspace"])
    return _ACCOUNTS[data["kind"]](data["account"]) if data["account"] else queue.account_of_the_rest(data["pool"])


def _amount(data: Evidence, at: str) -> Said | float:
    """Return an amount of a quota: of cards and cores thousandths are kept, of memory MiB."""
    is_memory = data["resource"] == "memory_mib"
    return queue.memory_amount(int(data[at])) if is_memory else float(data[at] / 1000)


def _held(data: Evidence) -> Said:
    """Return what an account holds, with its noun."""
    what, _, model = str(data["resource"]).partition(":")
    return queue.memory_held(int(data["used"])) if what == "memory_mib" else _counted(what, data["used"] / 1000, model)


def _quota(data: Evidence) -> Said:
    """Return that an account holds all that it may, or all but too little."""
    if data["resource"] == "jobs":
        return queue.quota_jobs(_account(data), data["used"] // 1000, data["pool"], data["limit"] / 1000)
    amounts = _amount(data, "asks"), _amount(data, "limit")
    if data["kind"] == "member":
        return queue.quota_of_person(_account(data), _held(data), amounts[1], data["pool"], amounts[0])
    return queue.quota(_account(data), _held(data), *amounts)


def _counted(what: str, number: float, model: str = "") -> Said:
    """Return a number of cards (of a model) or cores, which may be a part of one."""
    if what == "jobs":
        return queue.running_jobs(round(number))
    whole = number == int(number)
    if model:
        return queue.card_of_type(1, model) if number == 1 else queue.cards_of_type(number, model)
    if what == "cpu":
        return queue.cores(int(number)) if whole else queue.parts_of_cores(number)
    return queue.cards(int(number)) if whole else queue.parts_of_cards(number)


def _together(data: Evidence, at: str) -> Said:
    is_memory = data["what"] == "memory"
    return queue.memory_amount(int(data[at])) if is_memory else _counted(data["what"], data[at])


def _short(at: Evidence, some: Callable[..., Said], none: Callable[..., Said], *type_: Said | str) -> Said:
    asked = (at["needs"], *type_, at["each"])
    return some(*asked, at["free"], at["largest"]) if at["free"] else none(*asked)


REASONS: Final[Mapping[str, Callable[[Evidence], Said]]] = {
    "waiting_gpus": lambda at: _short(at, queue.waiting_gpus, queue.waiting_gpus_none, _type(at)),
    "waiting_cpu": lambda at: _short(at, queue.waiting_cpu, queue.waiting_cpu_none),
    "waiting_memory": lambda at: _short(at, queue.waiting_memory, queue.waiting_memory_none),
    "waiting_ports": lambda at: queue.waiting_ports(at["role"], _fixed(at)),
    "waiting_nodes": lambda at: queue.waiting_nodes(at["pool"], at["schedulable"], _away(at)),
    "behind": lambda at: queue.behind(_job(at)),
    "reserved": lambda at: queue.reserved(_job(at), _when(at["in_s"]), _limit(at["limit_s"])),
    "quota": _quota,
    "quota_lent": lambda at: queue.quota_lent(
        _account(at), _held(at), _amount(at, "limit"), _amount(at, "lent"), _amount(at, "asks")
    ),
    "quota_kept": lambda at: queue.quota_kept(_account(at), _job(at)),
    "cluster_full": lambda at: queue.cluster_full(at["pool"]),
    "next_pass": lambda _: queue.next_pass(),
    "no_such_pool": lambda at: queue.no_such_pool(at["pool"], at["pools"], instead(at)),
    "no_such_node": lambda at: queue.no_such_node(at["value"], at["choices"], instead(at)),
    "no_such_driver": lambda at: queue.no_such_driver(at["value"], at["choices"], instead(at)),
    "no_such_card": lambda at: queue.no_such_card(at["role"], at["type"], at["types"], instead(at)),
    "never_gpus": lambda at: queue.never_gpus(at["role"], at["each"], _type(at), at["largest"], instead(at)),
    "never_cpu": lambda at: queue.never_cpu(at["role"], at["each"], at["largest"], instead(at)),
    "never_memory": lambda at: queue.never_memory(at["role"], at["each"], at["largest"], instead(at)),
    "never_ports": lambda at: queue.never_ports(at["role"], at["ports"], instead(at)),
    "never_together": lambda at: queue.never_together(_together(at, "needs"), _together(at, "free"), instead(at)),
    "never_fixed_ports": lambda at: queue.never_fixed_ports(at["fixed"], at["hosts"], instead(at)),
}
"""What is said of each reason's evidence, by code."""

EVICTED: Final[Mapping[str, Callable[[Said], Said]]] = {
    "class": queue.gives_way_to_higher_class,
    "reclaim": queue.gives_way_to_owner_of_quota,
}
"""Why an attempt was sent back to the queue, by `Evict.why`."""
