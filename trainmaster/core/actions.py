"""Orders from the reducer to the shell. Idempotent by (job, attempt); results come back as events, never as values."""

from __future__ import annotations

from trainmaster._compat import dataclass


@dataclass(frozen=True, slots=True)
class Action:
    """Base of all actions: which job and attempt it is about (attempt 0: none)."""

    job: str
    attempt: int = 0


@dataclass(frozen=True, slots=True)
class WakePlanner(Action):
    """Something changed that may let a waiting job start."""


@dataclass(frozen=True, slots=True)
class Precheck(Action):
    """Check the nodes of the placement; answer `checked` or `bad_node`."""


@dataclass(frozen=True, slots=True)
class Stage(Action):
    """Bring inputs to the nodes; answer `staged` or `launch_failed`."""


@dataclass(frozen=True, slots=True)
class Launch(Action):
    """Start the gang, all or none; answer `started` or, from an engine that owns its queue, `accepted` and
    in its time `started`; then task facts. Or `launch_failed`.
    """


@dataclass(frozen=True, slots=True)
class Save(Action):
    """Stop what still runs, then turn outputs into a model version; answer `saved` or `save_failed`."""


@dataclass(frozen=True, slots=True)
class Hold(Action):
    """Keep the attempt for debugging until `until` (seconds since the epoch); then answer `released`."""

    until: float = 0.0


@dataclass(frozen=True, slots=True)
class Reap(Action):
    """Stop everything with `grace_s` seconds of grace, prove nothing is left, release resources; answer `reaped`."""

    grace_s: float = 10.0


@dataclass(frozen=True, slots=True)
class Watch(Action):
    """The time at which the duration runs out is now `expires_at` (None: never); answer `expired` when it comes."""

    expires_at: float | None = None


@dataclass(frozen=True, slots=True)
class Adjust(Action):
    """Limit or priority of a launched attempt were changed: tell an engine that decides order itself. No answer."""


@dataclass(frozen=True, slots=True)
class Notify(Action):
    """The job reached a terminal state."""

    state: str = ""
