"""States of job, attempt and task as data: enums, the transition table, and the names people see (zh, en).

Nothing here acts. `reduce` reads ATTEMPT_TABLE and STRENGTH; consoles read SHOWN. A state compared anywhere else must
be one of these enum members, never a text.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Final, NamedTuple

from trainmaster._compat import StrEnum


class JobState(StrEnum):
    """A job is queued (no processes), active (one live attempt) or terminal (holds nothing)."""

    QUEUED = "queued"
    ACTIVE = "active"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    STOPPED = "stopped"
    EXPIRED = "expired"


TERMINAL: Final = frozenset({JobState.SUCCEEDED, JobState.FAILED, JobState.STOPPED, JobState.EXPIRED})


class JobShare(StrEnum):
    """What other members of its workspace may do with a job: nothing, not even see it; look, clone and build on
    it; or act on it as its owner does.
    """

    NONE = "none"
    READ = "read"
    READ_WRITE = "read-write"


class Phase(StrEnum):
    """Where an attempt is. The only door out of the live phases is `reaped` (nothing is left on the nodes)."""

    PLACED = "placed"  # nodes and cards are assigned and durable; pre-check is running
    STAGING = "staging"  # inputs are brought to the nodes
    STARTING = "starting"  # the engine has been asked to launch the gang
    PENDING = "pending"  # the engine has accepted it and lets it wait in a queue of its own; nothing runs
    RUNNING = "running"
    SAVING = "saving"  # processes ended well; outputs become a model version
    RETAINED = "retained"  # debug hold after a failure: resources are kept
    DRAINING = "draining"  # stopping; resources stay held until proven free
    ENDED = "ended"


class Why(StrEnum):
    """Why an attempt is draining; it decides what becomes of the job once nothing of it is left."""

    OK = "ok"
    STOP = "stop"
    EXPIRE = "expire"
    FAIL = "fail"
    RETRY = "retry"  # the user's command failed and retries are left
    FAULT = "fault"
    BAD_NODE = "bad_node"
    PREEMPTED = "preempted"  # makes room for another job


STRENGTH: Final[dict[Why, int]] = {
    Why.OK: 5,
    Why.STOP: 4,
    Why.EXPIRE: 3,
    Why.FAIL: 2,
    Why.RETRY: 1,
    Why.FAULT: 1,
    Why.BAD_NODE: 1,
    Why.PREEMPTED: 0,
}
"""A stronger reason replaces a weaker one while draining; an equal or weaker one is recorded and ignored."""


class TaskPhase(StrEnum):
    """One replica: waiting -> running -> exited (code or signal) | lost."""

    WAITING = "waiting"
    RUNNING = "running"
    EXITED = "exited"
    LOST = "lost"


class Signal(StrEnum):
    """What an event means to the attempt machine: the column heads of ATTEMPT_TABLE."""

    CHECKED = "checked"
    STAGED = "staged"
    ACCEPTED = "accepted"  # by an engine that owns its queue
    STARTED = "started"
    BAD_NODE = "bad_node"
    BAD = "bad"  # staging or launching failed
    UNSAVED = "unsaved"  # saving failed; not BAD, so that a late refusal to launch cannot throw outputs away
    DONE_OK = "done_ok"
    DONE_FAIL = "done_fail"
    STOP = "stop"
    EXPIRE = "expire"
    FAULT = "fault"
    PREEMPT = "preempt"
    SAVED = "saved"
    RELEASE = "release"
    REAPED = "reaped"


class Edge(NamedTuple):
    """A legal move: the next phase and, when that is draining, why."""

    phase: Phase
    why: Why | None = None


_D = Phase.DRAINING
_BEFORE_RUNNING: Final = (Phase.PLACED, Phase.STAGING, Phase.STARTING, Phase.PENDING)

ATTEMPT_TABLE: Final[dict[tuple[Phase, Signal], Edge]] = {
    (Phase.PLACED, Signal.CHECKED): Edge(Phase.STAGING),
    (Phase.PLACED, Signal.BAD_NODE): Edge(_D, Why.BAD_NODE),
    (Phase.STAGING, Signal.STAGED): Edge(Phase.STARTING),
    (Phase.STAGING, Signal.BAD): Edge(_D, Why.FAIL),
    (Phase.STAGING, Signal.BAD_NODE): Edge(_D, Why.BAD_NODE),
    (Phase.STARTING, Signal.ACCEPTED): Edge(Phase.PENDING),
    (Phase.STARTING, Signal.STARTED): Edge(Phase.RUNNING),
    (Phase.STARTING, Signal.BAD): Edge(_D, Why.FAIL),
    (Phase.STARTING, Signal.BAD_NODE): Edge(_D, Why.BAD_NODE),
    (Phase.PENDING, Signal.STARTED): Edge(Phase.RUNNING),
    (Phase.PENDING, Signal.BAD): Edge(_D, Why.FAIL),  # the engine refused after all what it had accepted
    (Phase.PENDING, Signal.BAD_NODE): Edge(_D, Why.BAD_NODE),
    (Phase.RUNNING, Signal.DONE_OK): Edge(Phase.SAVING),
    (Phase.RUNNING, Signal.DONE_FAIL): Edge(_D, Why.FAIL),  # or retained / retry: decided by the job's policy
    **{(p, Signal.STOP): Edge(_D, Why.STOP) for p in (*_BEFORE_RUNNING, Phase.RUNNING)},
    **{(p, Signal.EXPIRE): Edge(_D, Why.EXPIRE) for p in (*_BEFORE_RUNNING, Phase.RUNNING)},  # a retry, too
    **{(p, Signal.FAULT): Edge(_D, Why.FAULT) for p in (*_BEFORE_RUNNING, Phase.RUNNING)},
    **{(p, Signal.PREEMPT): Edge(_D, Why.PREEMPTED) for p in (*_BEFORE_RUNNING, Phase.RUNNING)},
    (_D, Signal.STOP): Edge(_D, Why.STOP),  # only if stronger
    (_D, Signal.EXPIRE): Edge(_D, Why.EXPIRE),  # only if stronger
    (Phase.RETAINED, Signal.RELEASE): Edge(_D, Why.FAIL),
    (Phase.RETAINED, Signal.STOP): Edge(_D, Why.STOP),
    (Phase.SAVING, Signal.SAVED): Edge(_D, Why.OK),
    (Phase.SAVING, Signal.UNSAVED): Edge(_D, Why.FAIL),
    (Phase.SAVING, Signal.STOP): Edge(_D, Why.STOP),  # nobody wants the outputs any more
    **{(p, Signal.REAPED): Edge(Phase.ENDED) for p in Phase if p not in (Phase.SAVING, Phase.ENDED)},
}
"""Every legal (phase, signal). A pair that is absent is recorded and ignored; out of SAVING lead SAVED, UNSAVED and
STOP.
"""

FINAL_STATE: Final[dict[Why, JobState]] = {
    Why.OK: JobState.SUCCEEDED,
    Why.STOP: JobState.STOPPED,
    Why.EXPIRE: JobState.EXPIRED,
    Why.FAIL: JobState.FAILED,
}
"""What a job becomes when its attempt was reaped for this reason; others go back to the queue while budget is left."""


class Priority(IntEnum):
    """Priority classes, higher starts first (R46, R170)."""

    NORMAL = 0
    URGENT = 1
    VERY_URGENT = 2


class Shown(StrEnum):
    """The state a person sees, derived from job state and attempt phase."""

    QUEUED = "queued"
    INITIALISING = "initialising"
    PENDING = "pending"
    RUNNING = "running"
    SAVING = "saving"
    RETAINED = "retained"
    STOPPING = "stopping"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    STOPPED = "stopped"
    EXPIRED = "expired"


SHOWN_NAMES: Final[dict[Shown, tuple[str, str]]] = {
    Shown.QUEUED: ("排队中", "Queued"),
    Shown.INITIALISING: ("初始化中", "Initializing"),
    Shown.PENDING: ("在集群中排队", "Queued in cluster"),
    Shown.RUNNING: ("运行中", "Running"),
    Shown.SAVING: ("保存中", "Saving"),
    Shown.RETAINED: ("调试保留", "Debug hold"),
    Shown.STOPPING: ("停止中", "Stopping"),
    Shown.SUCCEEDED: ("成功", "Succeeded"),
    Shown.FAILED: ("失败", "Failed"),
    Shown.STOPPED: ("已停止", "Stopped"),
    Shown.EXPIRED: ("已超时", "Expired"),
}
"""(zh, en) names of R194-R197."""

SHOWN_OF_PHASE: Final[dict[Phase, Shown]] = {
    Phase.PLACED: Shown.INITIALISING,
    Phase.STAGING: Shown.INITIALISING,
    Phase.STARTING: Shown.INITIALISING,
    Phase.PENDING: Shown.PENDING,
    Phase.RUNNING: Shown.RUNNING,
    Phase.SAVING: Shown.SAVING,
    Phase.RETAINED: Shown.RETAINED,
    Phase.DRAINING: Shown.STOPPING,
    Phase.ENDED: Shown.STOPPING,
}

PAI_STATE: Final[dict[Shown, str]] = {
    Shown.QUEUED: "WAITING",
    Shown.INITIALISING: "WAITING",
    Shown.PENDING: "WAITING",
    Shown.RUNNING: "RUNNING",
    Shown.SAVING: "RUNNING",
    Shown.RETAINED: "RUNNING",
    Shown.STOPPING: "RUNNING",
    Shown.SUCCEEDED: "SUCCEEDED",
    Shown.FAILED: "FAILED",
    Shown.STOPPED: "STOPPED",
    Shown.EXPIRED: "STOPPED",
}
"""The OpenPAI view of a shown state (R195)."""


def shown_state(state: JobState, phase: Phase | None) -> Shown:
    """Return the state a person sees. `phase` is the live attempt's phase, None when there is no live attempt."""
    if state is JobState.ACTIVE and phase is not None:
        return SHOWN_OF_PHASE[phase]
    return Shown(state.value) if state is not JobState.ACTIVE else Shown.INITIALISING
