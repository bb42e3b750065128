"""Jobs, and why they are where they are. See the package."""

from typing import Final, Literal

import msgspec

from trainmaster.answers.base import Answer, Json, Text
from trainmaster.core.events import Kind
from trainmaster.core.sending import SendState
from trainmaster.core.states import JobShare, JobState, Phase, Priority, Shown, TaskPhase, Why

PriorityName = Literal["normal", "urgent", "very_urgent"]
When = Literal["now", "queue", "never"]
JobRight = Literal["write", "share"]

PRIORITY_NAMES: Final[dict[Priority, PriorityName]] = {
    Priority.NORMAL: "normal",
    Priority.URGENT: "urgent",
    Priority.VERY_URGENT: "very_urgent",
}


class ReasonView(Answer, frozen=True):
    """Why a job is queued. `position` 1 is next in its pool; `decided_by`: the engine in whose queue it is; null:
    ours.
    """

    code: str
    message: Text
    evidence: Json
    position: int | None = None
    decided_by: str | None = None


class VerdictView(Answer, frozen=True):
    """Why a replica, an attempt or a job ended. `fault`: user, platform or none."""

    code: str
    title: Text
    fault: Literal["user", "platform", "none"]
    message: Text
    evidence: str
    role: str | None
    index: int | None
    exit_code: int | None
    signal: int | None


class ForecastView(Answer, frozen=True):
    """When a queued job is expected to start. `low` to `high`: most start within; `made_at`: its age. `when` is
    `after`: not before `low`, more is not known; `why`: of `after` and `unknown`.

    `by`: the engine that says it; null: we do. `nodes`: where it expects to start it, as far as it says.
    """

    when: Literal["now", "about", "after", "unknown"]
    at: float | None
    low: float | None
    high: float | None
    why: Text | None
    made_at: float | None
    by: str | None = None
    nodes: list[str] = msgspec.field(default_factory=list)


class SuggestionView(Answer, frozen=True):
    """What would help, as a `change` of the document by field path.

    Of a queued job: what makes it start sooner, now or as `forecast` says; else it does at `otherwise_at` (null:
    unknown). Of one that failed, ran out of time or is held: what a clone would need; `change` empty: only its owner
    knows, or nothing is to be changed.
    """

    code: str
    message: Text
    change: Json
    forecast: ForecastView | None
    otherwise_at: float | None


class Retries(Answer, frozen=True):
    """Retries used and allowed."""

    used: int
    limit: int


class TaskCounts(Answer, frozen=True):
    """Replicas of the current attempt by state."""

    total: int
    waiting: int
    running: int
    succeeded: int
    failed: int
    lost: int


class TotalsView(Answer, frozen=True):
    """Resources of all replicas together."""

    cpu: float
    memory_mib: int
    gpu: float
    gpu_type: str | None


class ProgressView(Answer, frozen=True):
    """How far the training is: `step` of `of`, as a `fraction` 0..1. `eta_s`, and what a step took lately, `step_s`:
    null where nobody knows.
    """

    fraction: float
    step: float
    of: float
    eta_s: float | None
    step_s: float | None


class SweepPlace(Answer, frozen=True):
    """The sweep that a job is an entry of, and which one: `index` counts from 1."""

    id: str
    name: str
    index: int


class JobView(Answer, frozen=True):
    """A job as lists show it. `share`: with the other members of its workspace; `may`: what its reader may do with it
    beside reading: act on it (stop, change, delete), share it. `forecast`: of one in the queue of an engine that
    decides itself, by it. `family`: id of the first of its versions, of which it is number `family_version`, from 1.

    `seq`: the feed's position at which it was so, to watch it from.
    """

    id: str
    name: str
    slug: str | None
    description: str
    state: Shown
    queue_state: JobState
    pai_state: str
    owner: str
    workspace: str
    pool: str
    virtual_cluster: str | None
    priority: PriorityName
    framework: str
    dialect: str
    family: str
    family_version: int
    submitted_at: float
    queued_at: float
    started_at: float | None
    ended_at: float | None
    run_s: float | None
    wait_s: float
    duration_s: float | None
    expires_at: float | None
    attempts: int
    retries: Retries
    tasks: TaskCounts
    resources: TotalsView
    nodes: list[str]
    reason: ReasonView | None
    forecast: ForecastView | None
    verdict: VerdictView | None
    model: str | None
    progress: ProgressView | None
    metrics: dict[str, float | None]
    labels: dict[str, str]
    tags: list[str]
    note: str
    favorite: bool
    share: JobShare
    may: list[JobRight]
    version: int
    seq: str
    sweep: SweepPlace | None


class JobPage(Answer, frozen=True):
    """One page of jobs, counts by shown state, and where to watch from. `total`: in the states asked for, on all pages;
    `partial`: `counts` and `total` are of the newest 500 that match, and there are more. `at`: when it was so.
    """

    items: list[JobView]
    next_cursor: str | None
    counts: dict[Shown, int]
    total: int
    partial: bool
    seq: str
    at: float


class JobVersions(Answer, frozen=True):
    """Versions of a job, the newest first: those that the reader may see, of the last 200."""

    items: list[JobView]


class FacetValue(Answer, frozen=True):
    """A value to choose by, and how many jobs that would leave."""

    value: str
    jobs: int


class LabelFacet(Answer, frozen=True):
    """The key of a label, how many jobs have it, and its values."""

    key: str
    jobs: int
    values: list[FacetValue]


class JobFacets(Answer, frozen=True):
    """What a list of jobs can be chosen by, the most frequent first, 50 of each at most. `partial`: only the newest
    jobs were looked at, since there are more than 1,000.
    """

    owner: list[FacetValue]
    workspace: list[FacetValue]
    framework: list[FacetValue]
    pool: list[FacetValue]
    node: list[FacetValue]
    labels: list[LabelFacet]
    tags: list[FacetValue]
    algorithm: list[FacetValue]
    flavor: list[FacetValue]
    partial: bool


class NeedView(Answer, frozen=True):
    """What one replica asks for."""

    cpu: float
    memory_mib: int
    gpu: int
    gpu_type: str | None
    shm_mib: int
    gpu_share: float


class PortView(Answer, frozen=True):
    """A labelled block of ports."""

    label: str
    count: int
    begin_at: int


class RoleView(Answer, frozen=True):
    """A sub-task with its effective values. `flavor` null: resources of its own; `min_replicas` null: it runs with
    all or not at all.
    """

    name: str
    system_name: str
    replicas: int
    command: str
    resources: NeedView
    flavor: str | None
    min_replicas: int | None
    ports: list[PortView]
    min_succeeded: int | None
    min_failed: int | None
    main: bool
    ends_job: bool


class TaskView(Answer, frozen=True):
    """One replica in one attempt. `state`: waiting, running, succeeded, failed or lost."""

    name: str
    role: str
    role_index: int
    index: int
    phase: TaskPhase
    state: str
    node: str
    host: str
    gpus: list[int]
    ports: dict[str, list[int]]
    exit_code: int | None
    signal: int | None
    started_at: float | None
    ended_at: float | None
    verdict: VerdictView | None


class AttemptView(Answer, frozen=True):
    """One try at running a job."""

    number: int
    cause: str
    phase: Phase
    why: Why | None
    created_at: float
    accepted_at: float | None
    started_at: float | None
    draining_at: float | None
    retained_until: float | None
    ended_at: float | None
    verdict: VerdictView | None
    tasks: list[TaskView]


class NoteView(Answer, frozen=True):
    """Something worth knowing that stops nothing."""

    code: str
    message: Text


class OutputTarget(Answer, frozen=True):
    """A folder of a job on its way to object storage: how much is there, is left to go, and is left out. `why`: what
    hinders it, or what was left out; `tries` failed, the next one is at `next_at`.
    """

    place: str
    folder: str
    if_exists: str
    state: SendState
    files: int
    size_bytes: int
    left_files: int
    left_bytes: int
    left_out: int
    why: Text | None
    tries: int
    next_at: float | None


class JobDetail(JobView, frozen=True):
    """Everything about one job. `task_list` are the replicas of the last attempt."""

    roles: list[RoleView]
    attempt_list: list[AttemptView]
    task_list: list[TaskView]
    warnings: list[NoteView]
    uploads: list[OutputTarget]
    spec: Json
    extras: Json | None


class EventView(Answer, frozen=True):
    """One fact about a job. `seq`: its place among those of the job, from 1."""

    seq: int
    at: float
    actor: str
    attempt: int
    kind: Kind
    title: Text
    text: Text
    data: Json


class EventsView(Answer, frozen=True):
    """Facts in order."""

    items: list[EventView]


class Explanation(Answer, frozen=True):
    """Why a job is where it is, and what would change that. `forecast` null: it does not wait.

    `position`, `ahead` and `evidence`: of who waits in a queue of ours.
    """

    id: str
    state: Shown
    reason: ReasonView | None
    position: int | None
    ahead: int
    evidence: Json
    verdict: VerdictView | None
    suggestions: list[SuggestionView]
    forecast: ForecastView | None
