"""Refuse at submit what can never fit: the reason, the field that asks too much, and the nearest shape that fits. Pure.

Judged by the very `fit` that will place the job, on the machines as if nothing ran and none were taken out of service.
Invariant: None exactly when `plan` could start the gang on an empty platform.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from trainmaster.core.records import Node, Role, port_space
from trainmaster.queue.placing.capacity import Capacity, Room
from trainmaster.queue.placing.fit import fit, largest, with_resources
from trainmaster.queue.rules.shortage import FIELDS, REMEMBERED, STEPS, WRITTEN, evidence
from trainmaster.queue.snapshot import Reason, Request


def can_ever_fit(
    roles: Sequence[Role],
    pool: str,
    nodes: Sequence[Node],
    port_first: int = 21000,
    port_last: int = 28999,
    names: frozenset[str] = frozenset(),
    driver: str | None = None,
) -> Reason | None:
    """Return None when the gang fits on the empty machines, else why it never will.

    `names`: only on these nodes (empty: any); `driver`: only where the driver has this version. The evidence names the
    field (`path`), what it asks (`value`), `nearest` (the largest value of that field alone that fits, or None) and
    `changes` (path -> value: the nearest shape that fits as a whole, empty when lowering does not help).
    Costs O(roles x log of the numbers asked) fits.
    """
    members = tuple(replace(node, schedulable=True) for node in nodes if node.pool == pool)
    if not members:
        return Reason("no_such_pool", {"path": "pool", "pool": pool, "pools": sorted({node.pool for node in nodes})})
    chosen = tuple(node for node in members if not names or node.name in names)
    if not chosen:
        return _none_is(
            members, "node_names", ", ".join(sorted(names)), "no_such_node", [node.name for node in members]
        )
    members = tuple(node for node in chosen if driver in (None, node.driver))
    if not members:
        return _none_is(chosen, "driver", str(driver), "no_such_driver", [node.driver for node in chosen])
    room = Room(members, port_first, port_last, frozenset())
    reason = found = _first_problem(room, roles, pool)
    if reason is None:
        return None
    changes: dict[str, float] = {}
    while found is not None and found.evidence.get("nearest") is not None:
        path, nearest = found.evidence["path"], found.evidence["nearest"]
        changes[path] = nearest
        roles = _changed(roles, path, nearest)
        found = _first_problem(room, roles, pool)
    return Reason(reason.code, {**reason.evidence, "changes": {} if found else changes})


def _none_is(nodes: Sequence[Node], path: str, value: str, code: str, there: Sequence[str]) -> Reason:
    most = 10  # names to choose from; more would hide them
    listed = sorted(set(there) - {""})[:most]
    return Reason(code, {"path": path, "value": value, "choices": listed, "nodes": len(nodes)})


def _first_problem(room: Room, roles: Sequence[Role], pool: str) -> Reason | None:
    if fit(room, roles, pool) is not None:
        return None
    for at, role in enumerate(roles):
        problem = _one_replica(room, at, role, pool)
        if problem is not None:
            return problem
    return _too_many(room, roles, pool)


def _changed(roles: Sequence[Role], path: str, value: float) -> tuple[Role, ...]:
    _, index, *field = path.split(".")
    at = int(index)
    role = replace(roles[at], replicas=int(value)) if field == ["replicas"] else None
    name = next((known for known, written in WRITTEN.items() if written == field[-1]), field[-1])
    role = role or with_resources(roles[at], **{name: value})
    return (*roles[:at], role, *roles[at + 1 :])


def refusal(
    capacity: Capacity,
    roles: Sequence[Role],
    pool: str,
    names: frozenset[str] = frozenset(),
    driver: str | None = None,
) -> Reason | None:
    """Return `can_ever_fit` for the nodes of `capacity`; a request class that was asked before costs a look-up."""
    asked = Request(pool, (tuple(roles),), names, driver)
    if asked not in capacity.refused:
        first, last = capacity.port_first, capacity.port_last
        _keep(capacity, asked, can_ever_fit(roles, pool, capacity.nodes, first, last, names, driver))
    found: Reason | None = capacity.refused[asked]
    return found


def asking(
    capacity: Capacity, roles: Sequence[Role], pool: str, names: frozenset[str], driver: str | None
) -> Callable[[], Reason | None] | None:
    """Return what finds out the answer, which may be called in another thread or process; None where it is known."""
    if Request(pool, (tuple(roles),), names, driver) in capacity.refused:
        return None
    return partial(can_ever_fit, roles, pool, capacity.nodes, capacity.port_first, capacity.port_last, names, driver)


def remember(
    capacity: Capacity,
    roles: Sequence[Role],
    pool: str,
    names: frozenset[str],
    driver: str | None,
    found: Reason | None,
) -> None:
    """Keep an answer that was found on the nodes that `capacity` has now."""
    _keep(capacity, Request(pool, (tuple(roles),), names, driver), found)


def _keep(capacity: Capacity, asked: Request, found: Reason | None) -> None:
    if len(capacity.refused) > REMEMBERED:
        capacity.refused.clear()
    capacity.refused[asked] = found


def _one_replica(room: Room, at: int, role: Role, pool: str) -> Reason | None:
    """Return why not even one replica of `role` fits by itself, or None when it does."""
    single = (replace(role, replicas=1),)
    if fit(room, single, pool) is not None:
        return None
    ask = role.resources
    models = sorted({model for free in room.nodes_of(pool) for model in free.cards})
    if ask.gpu and ask.gpu_type is not None and ask.gpu_type not in models:
        data = {"path": f"roles.{at}.resources.gpu_type", "role": role.name, "type": ask.gpu_type, "types": models}
        return Reason("no_such_card", data)
    what = next((name for name, kinds in STEPS if fit(room, single, pool, kinds) is None), "ports")
    if what == "ports":
        return Reason("never_ports", {"path": f"roles.{at}.ports", **evidence("ports", room, single, pool)})
    field, kinds = FIELDS[what], dict(STEPS)[what]
    value = getattr(ask, field)
    unit = 1000 if what == "cpu" else 1  # bisect cores in thousandths

    def fits(amount: int) -> bool:
        less = with_resources(single[0], **{field: amount / unit if unit > 1 else amount})
        return fit(room, (less,), pool, kinds) is not None

    most = largest(fits, int(value * unit), least=0)
    nearest = most if most is None or unit == 1 else most / unit
    place = {"path": f"roles.{at}.resources.{WRITTEN.get(field, field)}", "value": value, "nearest": nearest}
    shown = evidence(what, room, single, pool)
    return Reason(f"never_{what}", {**shown, "largest": shown["largest"] if nearest is None else nearest, **place})


def _too_many(room: Room, roles: Sequence[Role], pool: str) -> Reason:
    """Each role's replica fits by itself, together they do not: name the role that must give up fewest replicas."""
    best: tuple[int, int, int] | None = None  # (replicas to give up, role, replicas left)
    for at, role in enumerate(roles):
        most = largest(_with_replicas(room, roles, pool, at), role.replicas)
        if most is not None:
            best = min(best or (role.replicas, at, 0), (role.replicas - most, at, most))
    at = best[1] if best else max(range(len(roles)), key=lambda i: roles[i].replicas)
    place = {
        "path": f"roles.{at}.replicas",
        "role": roles[at].name,
        "value": roles[at].replicas,
        "nearest": best[2] if best else None,
    }
    what = next((name for name, kinds in STEPS if fit(room, roles, pool, kinds) is None), "ports")
    data = evidence(what, room, roles, pool)
    if what != "ports":
        return Reason("never_together", {**data, **place, "what": what})
    hosts = len({port_space(free.node.host) for free in room.nodes_of(pool)})
    code = "never_fixed_ports" if data["fixed"] else "never_ports"
    return Reason(code, {**data, **place, "hosts": hosts})


def _with_replicas(room: Room, roles: Sequence[Role], pool: str, at: int) -> Callable[[int], bool]:
    def fits(count: int) -> bool:
        return fit(room, (*roles[:at], replace(roles[at], replicas=count), *roles[at + 1 :]), pool) is not None

    return fits
