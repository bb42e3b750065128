"""What the audit is told when an administrator decides something: which setting became what. Pure; changes nothing.

Records are compared field by field, by the names that the API gives them (`quotas.default.gpu.nominal`).
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from trainmaster.core.events import Changes
from trainmaster.core.money.amounts import amount_text
from trainmaster.messages import render
from trainmaster.messages.cluster import kept
from trainmaster.messages.said import Said, verbatim
from trainmaster.messages.server import audit, fields, money
from trainmaster.store.cluster_settings import PRIVACY

MOST_CHANGES: Final = 12
MOST_TEXT: Final = 100

_MADE: Final[dict[str, Callable[[str, audit.Changes], Said]]] = {
    "pool": audit.pool_made,
    "virtual_cluster": audit.virtual_cluster_made,
    "workspace": audit.workspace_made,
    "flavor": audit.flavor_made,
}
_CHANGED: Final[dict[str, Callable[[str, audit.Changes], Said]]] = {
    "pool": audit.pool_changed,
    "virtual_cluster": audit.virtual_cluster_changed,
    "workspace": audit.workspace_changed,
    "flavor": audit.flavor_changed,
    "node": audit.node_changed,
    "budget": money.budget_set,
    "policy": lambda name, changes: (audit.privacy_changed if name == PRIVACY else audit.policy_changed)(changes),
}
_REMOVED: Final[dict[str, Callable[[str], Said]]] = {
    "pool": audit.pool_removed,
    "virtual_cluster": audit.virtual_cluster_removed,
    "workspace": audit.workspace_removed,
    "flavor": audit.flavor_removed,
    "budget": money.budget_removed,
}

_MONEY: Final = frozenset({"price", "price_gpu", "price_cpu", "credit_limit", "monthly"})
"""Fields that are amounts of money."""
_NAMES: Final = {"monthly": "budget"}
"""What the API calls otherwise."""


def made(kind: str, name: str, plain: Any, record: Any) -> Said:
    """Return what the audit says of something new. `plain`: the same with defaults alone. Both as JSON."""
    return _MADE[kind](name, _changes(plain, record, made=True) or [audit.only_a_name()])


def changed(kind: str, name: str, before: Any, after: Any) -> Said:
    """Return what the audit says of a changed record. Both as JSON."""
    return _CHANGED[kind](name, _changes(before, after) or [audit.as_it_was()])


def removed(kind: str, name: str) -> Said:
    """Return what the audit says of something removed."""
    return _REMOVED[kind](name)


def changes(before: Any, after: Any) -> Changes:
    """Return each field that became something else, whole; of something new or removed, None stands for the other
    side. Both as JSON.
    """
    was, now = dict(_fields(before)), dict(_fields(after))
    return tuple(
        (_NAMES.get(name, name), was.get(name), now.get(name))
        for name in {**was, **now}
        if was.get(name) != now.get(name)
    )


def label(field: str) -> Said:
    """Return the name of a field, as `changes` and the audit's own records have it, in words; what has none, of an
    earlier version perhaps, as it is.
    """
    head, _, rest = field.partition(".")
    names = rest.rsplit(".", _DEPTHS.get(head, 1) - 1)
    if head in _DEPTHS and len(names) == _DEPTHS[head] and rest:
        return _NAMED[head](names)
    return next((Said(code) for code in (f"field_{field}", f"knob_{field}") if render.has_words(code)), verbatim(field))


def _resource(name: str) -> Said:
    kind, _, model = name.partition(":")
    return fields.field_gpu_of(model) if kind == "gpu" and model else label(name)


def _share(names: list[str]) -> Said:
    resource, which = names
    return (fields.field_share_cap if which == "cap" else fields.field_share)(_resource(resource))


def _quota(names: list[str]) -> Said:
    pool, resource, which = names
    return (fields.field_quota_cap if which == "cap" else fields.field_quota)(_resource(resource), pool)


_DEPTHS: Final = {
    "share": 2, "quotas": 3, "per_person": 2, "people": 3, "members": 1, "webhooks": 2,
    "storage": 1, "storage_per_person": 1, "storage_people": 2,
}  # fmt: skip
"""How many names stand behind those of what has something for each of many."""
_NAMED: Final[dict[str, Callable[[list[str]], Said]]] = {
    "share": _share,
    "quotas": _quota,
    "per_person": lambda names: fields.field_per_person(_resource(names[1]), names[0]),
    "people": lambda names: fields.field_of_person(_resource(names[2]), names[0], names[1]),
    "members": lambda names: fields.field_role_of(names[0]),
    "webhooks": lambda names: label(names[1]),
    "storage": lambda names: kept.field_storage(label(names[0])),
    "storage_per_person": lambda names: kept.field_storage_per_person(label(names[0])),
    "storage_people": lambda names: kept.field_storage_of_person(label(names[1]), names[0]),
}


def _changes(before: Any, after: Any, made: bool = False) -> audit.Changes:
    """Return what is said of each changed field; of something new only what it is."""
    found = [
        _change(label(name), None if made and now is not None else _written(name, was), _written(name, now))
        for name, was, now in changes(before, after)
    ]
    more = len(found) - MOST_CHANGES
    if more <= 0:
        return found
    return [*found[:MOST_CHANGES], (audit.more_settings if made else audit.more_changes)(more)]


def _change(name: Said, before: Said | str | None, after: Said | str | None) -> Said:
    if after is None:
        return audit.is_gone(name, before or "")
    return audit.now_is(name, after) if before is None else audit.was_and_is(name, before, after)


def _fields(record: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield (path, value) of every field that is not empty: an empty one says as little as a missing one."""
    if isinstance(record, Mapping):
        for name, value in record.items():
            yield from _fields(value, f"{path}.{name}" if path else str(name))
    elif path in _MONEY and isinstance(record, int):
        yield path, amount_text(record)
    elif record not in (None, "", [], ()):
        yield path, list(record) if isinstance(record, tuple) else record


def _written(field: str, value: Any) -> Said | str | None:
    """Return a value as it is said: what has words in them, times as times, the rest as it is stored."""
    if value is None:
        return None
    if isinstance(value, bool):
        return fields.value_yes() if value else fields.value_no()
    if isinstance(value, str) and (words := _VALUES.get((field, value))) is not None:
        return words()
    if isinstance(value, int | float) and render.has_words(f"knob_{field}") and field.endswith("_s"):
        return fields.value_time(float(value))
    text = ", ".join(map(str, value)) if isinstance(value, list) else _text(value)
    return text if len(text) <= MOST_TEXT else text[:MOST_TEXT] + "..."


_VALUES: Final[Mapping[tuple[str, str], Callable[[], Said]]] = {
    ("kind", "public"): fields.value_public,
    ("kind", "dedicated"): fields.value_dedicated,
    ("sharing", "off"): fields.value_sharing_off,
    ("sharing", "open"): fields.value_sharing_open,
    ("sharing", "required"): fields.value_sharing_required,
}


def _text(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
