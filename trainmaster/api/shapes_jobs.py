"""Shapes of jobs and all that belongs to them. See `shapes`."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from trainmaster.api.shapes_base import ProblemItem, Shape, Text

State = Literal[
    "queued",
    "initialising",
    "pending",
    "running",
    "saving",
    "retained",
    "stopping",
    "succeeded",
    "failed",
    "stopped",
    "expired",
]
PriorityName = Literal["normal", "urgent", "very_urgent"]


class Submission(BaseModel):
    """A job to submit: `spec` is a native or OpenPAI document; `set` changes fields by dotted path before the checks.

    `code_follows`: in a preview, the sender has the code folder and will upload it.
    """

    model_config = ConfigDict(extra="forbid")

    spec: dict[str, Any]
    dialect: Literal["auto", "native", "pai"] = "auto"
    set: dict[str, Any] = {}
    dry_run: bool = False
    code_follows: bool = False


class Question(Submission):
    """Would it start if it were submitted? `instead_of`: id of a waiting job that would wait no longer; `suggest`: say what helps."""

    instead_of: str | None = None
    suggest: bool = False


class Submissions(BaseModel):
    """1 to 10,000 jobs, taken in all or none."""

    model_config = ConfigDict(extra="forbid")

    items: Annotated[list[Submission], Field(min_length=1, max_length=10_000)]


class Reason(Shape):
    """Why a job waits. `decided_by`: the engine whose queue it waits in; null: ours."""

    code: str
    message: Text
    evidence: dict[str, Any]
    position: int | None = None
    decided_by: str | None = None


class Verdict(Shape):
    """Why a task, an attempt or a job ended. `fault`: user, platform or none."""

    code: str
    title: Text
    fault: Literal["user", "platform", "none"]
    message: Text
    evidence: str
    role: str | None
    index: int | None
    exit_code: int | None
    signal: int | None


class Retries(Shape):
    """Retries used and allowed."""

    used: int
    limit: int


class TaskCounts(Shape):
    """Tasks of the current attempt by state."""

    total: int
    waiting: int
    running: int
    succeeded: int
    failed: int
    lost: int


class Totals(Shape):
    """Resources of all replicas together."""

    cpu: float
    memory_mib: int
    gpu: float
    gpu_type: str | None


class Progress(Shape):
    """How far the training is, where it says so."""

    fraction: float | None = None
    step: float | None = None
    of: float | None = None
    eta_s: float | None = None


class Job(Shape):
    """A job as lists show it. `forecast`: of one in the queue of an engine that decides itself, by it."""

    id: str
    name: str
    slug: str | None
    description: str
    state: State
    queue_state: str
    pai_state: str
    owner: str
    workspace: str
    pool: str
    priority: PriorityName
    framework: str
    dialect: str
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
    resources: Totals
    nodes: list[str]
    reason: Reason | None
    forecast: "Forecast | None" = None
    verdict: Verdict | None
    model: str | None
    progress: Progress | None
    metrics: dict[str, float | None]
    labels: dict[str, str]
    version: int


class JobPage(Shape):
    """One page of jobs, counts by shown state, and where to watch from."""

    items: list[Job]
    next_cursor: str | None
    counts: dict[str, int]
    seq: int


class Need(Shape):
    """What one replica asks for."""

    cpu: float
    memory_mib: int
    gpu: int
    gpu_type: str | None
    shm_mib: int
    gpu_share: float


class Port(Shape):
    """A labelled block of ports."""

    label: str
    count: int
    begin_at: int


class Role(Shape):
    """A role with its effective values."""

    name: str
    system_name: str
    replicas: int
    command: str
    resources: Need
    ports: list[Port]
    min_succeeded: int | None
    min_failed: int | None
    main: bool
    ends_job: bool


class Task(Shape):
    """One replica in one attempt."""

    name: str
    role: str
    role_index: int
    index: int
    phase: str
    state: str
    node: str
    host: str
    gpus: list[int]
    ports: dict[str, list[int]]
    exit_code: int | None
    signal: int | None
    started_at: float | None
    ended_at: float | None
    verdict: Verdict | None


class Attempt(Shape):
    """One try at running a job."""

    number: int
    cause: str
    phase: str
    why: str | None
    created_at: float
    accepted_at: float | None
    started_at: float | None
    draining_at: float | None
    retained_until: float | None
    ended_at: float | None
    verdict: Verdict | None
    tasks: list[Task]


class Note(Shape):
    """Something worth knowing that stops nothing."""

    code: str
    message: Text


class JobDetail(Job):
    """Everything about one job. `task_list` are the tasks of the last attempt."""

    roles: list[Role]
    attempt_list: list[Attempt]
    task_list: list[Task]
    warnings: list[Note]
    spec: dict[str, Any]
    extras: Any = None


class Placed(Shape):
    """Where a task would run."""

    task: str
    node: str
    gpus: list[int]


class Fits(Shape):
    """Whether a job would start now, wait, or can never run. `forecast`: by an engine that decides itself."""

    when: Literal["now", "queue", "never"]
    reason: Reason | None
    forecast: "Forecast | None"
    placement: list[Placed]


class TaskPreview(Shape):
    """What one task would run. `more_env`: how many further variables it would have."""

    name: str
    argv: list[str]
    env: dict[str, str]
    more_env: int


class RolePreview(Shape):
    """What a role would run. `more_tasks`: how many further replicas there would be."""

    name: str
    command: str
    tasks: list[TaskPreview]
    more_tasks: int


class Preview(Shape):
    """Everything a submit would find and do."""

    ok: bool
    problems: list[ProblemItem]
    warnings: list[ProblemItem]
    spec: dict[str, Any] | None
    fits: Fits
    roles: list[RolePreview]
    native: Any


class BatchItem(Shape):
    """A job of a batch."""

    id: str
    state: State


class Batch(Shape):
    """The jobs of a batch, in order."""

    items: list[BatchItem]


class Refused(Shape):
    """A job that was left as it was, and why."""

    id: str
    title: Text
    code: str


class Outcome(Shape):
    """What became of each of several jobs."""

    done: list[str]
    refused: list[Refused]


class Event(Shape):
    """One fact about a job."""

    seq: int
    at: float
    actor: str
    attempt: int
    kind: str
    title: Text
    text: Text
    data: dict[str, Any]


class Events(Shape):
    """Facts in order."""

    items: list[Event]


class Forecast(Shape):
    """When a waiting job is expected to start. `low` to `high`: most start within; `made_at`: its age. `when` is `after`: not
    before `low`, more is not known; `why`: of `after` and `unknown`.

    `by`: the engine that says it; null: we do. `nodes`: where it expects to start it, as far as it says.
    """

    when: Literal["now", "about", "after", "unknown"]
    at: float | None
    low: float | None
    high: float | None
    why: Text | None
    made_at: float | None
    by: str | None = None
    nodes: list[str] = Field(default=[])


class Suggestion(Shape):
    """What would make it start sooner: now, or as `forecast` says; else it does at `otherwise_at` (null: unknown)."""

    message: Text
    change: dict[str, Any]
    forecast: Forecast | None
    otherwise_at: float | None


class Explanation(Shape):
    """Why a job is where it is, and what would change that. `forecast` null: it does not wait."""

    state: State
    reason: Reason | None
    verdict: Verdict | None
    suggestions: list[Suggestion]
    forecast: Forecast | None
