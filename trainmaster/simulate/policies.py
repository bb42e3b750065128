"""The policies to compare, from `NAME` or `NAME:key=value,...`: a named policy of the queue with some knobs turned."""

from dataclasses import fields, replace
from typing import Any

from trainmaster.core.errors import InvalidSpec, Problem
from trainmaster.core.units import parse_duration_s
from trainmaster.queue.policy import NAMED, QueuePolicy
from trainmaster.queue.policy import problems as policy_problems


def parse_policy(text: str) -> QueuePolicy:
    """Return the policy that `text` names. Raises InvalidSpec that lists what is known.

    A knob that ends in ``_s`` also takes a duration such as ``3d``; ``none`` empties one that may be empty.
    """
    name, _, rest = text.partition(":")
    policy = NAMED.get(name)
    if policy is None:
        raise _wrong(text, f"there is no policy {name!r}", f"Known: {', '.join(NAMED)}.")
    known = {field.name: getattr(policy, field.name) for field in fields(policy)}
    changes = {}
    for pair in filter(None, rest.split(",")):
        key, equals, value = (part.strip() for part in pair.partition("="))
        if not equals or key not in known:
            raise _wrong(text, f"{pair!r} turns no knob", f"Write key=value; keys: {', '.join(known)}.")
        try:
            changes[key] = _value(key, value, known[key])
        except ValueError as error:
            raise _wrong(text, f"{key}: {error}", "") from error
    wrong = policy_problems(changes)
    if wrong:
        raise InvalidSpec(f"policy {text}: {wrong[0].path} {wrong[0].rule}", remedy=wrong[0].remedy, problems=wrong)
    return replace(policy, **changes)


def _value(key: str, written: str, now: Any) -> Any:
    if written == "none" and not isinstance(now, str):
        return None
    if isinstance(now, bool):
        if written not in ("true", "false"):
            raise ValueError(f"{written!r} is neither true nor false")
        return written == "true"
    if key.endswith("_s"):
        return parse_duration_s(written)
    if isinstance(now, int):
        return int(written)
    return float(written) if isinstance(now, float) else written


def _wrong(text: str, rule: str, remedy: str) -> InvalidSpec:
    return InvalidSpec(f"policy {text}: {rule}", remedy=remedy, problems=(Problem("policy", rule, remedy),))
