"""The policies to compare, from `NAME` or `NAME:key=value,...`: a named policy of the queue with some knobs turned."""

from dataclasses import fields, replace
from typing import Any

from trainmaster.core.errors import InvalidSpec, problem_of
from trainmaster.core.formats.units import NotRead, parse_duration_s
from trainmaster.messages.cluster import simulation
from trainmaster.messages.said import Said, said_from_json
from trainmaster.queue.policy import NAMED, QueuePolicy
from trainmaster.queue.policy import problems as policy_problems


def parse_policy(text: str) -> QueuePolicy:
    """Return the policy that `text` names. Raises InvalidSpec that lists what is known.

    A knob that ends in ``_s`` also takes a duration such as ``3d``; ``none`` empties one that may be empty.
    """
    name, _, rest = text.partition(":")
    policy = NAMED.get(name)
    if policy is None:
        raise _wrong(text, simulation.no_such_policy(repr(name), [*NAMED]))
    known = {field.name: getattr(policy, field.name) for field in fields(policy)}
    changes = {}
    for pair in filter(None, rest.split(",")):
        key, equals, value = (part.strip() for part in pair.partition("="))
        if not equals or key not in known:
            raise _wrong(text, simulation.turns_no_knob(repr(pair), [*known]))
        try:
            changes[key] = _value(key, value, known[key])
        except NotRead as error:
            why = simulation.knob_not_read(key, error.said)
            raise InvalidSpec(
                simulation.simulated_policy_not_valid(text, why), problems=(problem_of("policy", error.said),)
            ) from error
        except ValueError as error:
            raise _wrong(text, simulation.knob_not_read(key, str(error))) from error
    wrong = policy_problems(changes)
    if wrong:
        first = wrong[0]
        why = simulation.knob_not_valid(first.path, said_from_json({"code": first.code, "args": first.args or {}}))
        raise InvalidSpec(simulation.simulated_policy_not_valid(text, why), problems=wrong)
    return replace(policy, **changes)


def _value(key: str, written: str, now: Any) -> Any:
    if written == "none" and not isinstance(now, str):
        return None
    if isinstance(now, bool):
        if written not in ("true", "false"):
            raise NotRead(simulation.neither_true_nor_false(repr(written)))
        return written == "true"
    if key.endswith("_s"):
        return parse_duration_s(written)
    if isinstance(now, int):
        return int(written)
    return float(written) if isinstance(now, float) else written


def _wrong(text: str, why: Said) -> InvalidSpec:
    return InvalidSpec(simulation.simulated_policy_not_valid(text, why), problems=(problem_of("policy", why),))
