"""What a submit would do, what became of several jobs at once, and sweeps. See the package."""

from typing import Any, Literal

from trainmaster.answers.base import Answer, Json, ProblemItem, Text
from trainmaster.answers.jobs import ForecastView, JobRight, ReasonView, TotalsView, VerdictView, When
from trainmaster.core.launch import RolePreview
from trainmaster.core.states import JobShare, Shown


class Placed(Answer, frozen=True):
    """Where a replica would run."""

    task: str
    node: str
    gpus: list[int]


class Fits(Answer, frozen=True):
    """Whether a job would start now, wait, or can never run. `forecast`: by an engine that decides itself."""

    when: When
    reason: ReasonView | None
    forecast: ForecastView | None
    placement: list[Placed]


class NativeView(Answer, frozen=True):
    """What the engine would be asked, in its own terms."""

    kind: str
    document: Any


class PreviewView(Answer, frozen=True):
    """Everything a submit would find and do. `fits` null: no server was asked."""

    ok: bool
    problems: list[ProblemItem]
    warnings: list[ProblemItem]
    spec: Json | None
    fits: Fits | None
    roles: list[RolePreview]
    native: NativeView | None


class BatchItem(Answer, frozen=True):
    """A job of a batch."""

    id: str
    state: Shown


class BatchView(Answer, frozen=True):
    """The jobs of a batch, in order."""

    items: list[BatchItem]


class RefusedView(Answer, frozen=True):
    """A job that was left as it was, and why: `kind` and `code` as in a problem document."""

    id: str
    title: Text
    kind: str
    code: str


class OutcomeView(Answer, frozen=True):
    """What became of each of several jobs. Chosen by a filter, they are done in parts: `left` of those that match are
    still to come, behind `after`; null: that was the last part.
    """

    done: list[str]
    refused: list[RefusedView]
    left: int = 0
    after: str | None = None


class SweepView(Answer, frozen=True):
    """A sweep as lists show it. `entries`: so many were submitted; `counts`: the last job of each by state, of those
    that the reader may see. `metric`: what entries are judged by, null: nothing; `goal`: whether less or more of it is
    better. `may`: what its reader may do with it beside reading.
    """

    id: str
    name: str
    workspace: str
    owner: str
    share: JobShare
    created_at: float
    entries: int
    metric: str | None
    goal: Literal["min", "max"] | None
    counts: dict[Shown, int]
    may: list[JobRight]


class SweepPage(Answer, frozen=True):
    """A page of sweeps, the newest first; `total`: on all pages. `at`: when it was so."""

    items: list[SweepView]
    next_cursor: str | None
    total: int
    at: float


class SweepBest(Answer, frozen=True):
    """The entry with the best value of the sweep's metric, and at which step it was."""

    index: int
    job: str
    name: str
    value: float
    step: float


class SweepDetail(SweepView, frozen=True):
    """A sweep with its document `spec`, the names of the parameters in which entries differ, and the best entry so far.
    `tries`: jobs of all entries, those that were tried again included.
    """

    spec: Json
    parameters: list[str]
    best: SweepBest | None
    tries: int
    at: float


class SweepEntryView(Answer, frozen=True):
    """An entry of a sweep: the last job of this `index`, which counts from 1, after so many `tries`. `own`: what else
    beside `parameters` it has of its own (algorithm, command, code). `metrics`: last values; `best`: of the sweep's
    metric. `algorithm`: its own, as the sweep names it.
    """

    index: int
    job: str
    name: str
    state: Shown
    tries: int
    parameters: Json
    own: list[str]
    submitted_at: float
    started_at: float | None
    ended_at: float | None
    run_s: float | None
    verdict: VerdictView | None
    metrics: dict[str, float | None]
    best: float | None
    best_step: float | None
    algorithm: str | None = None


class SweepEntryPage(Answer, frozen=True):
    """Some entries of a sweep, in the order asked for; `total`: of all that match. `parameters`, `metrics`: the names
    that any entry has.
    """

    items: list[SweepEntryView]
    total: int
    parameters: list[str]
    metrics: list[str]
    at: float


class SweepPreviewEntry(Answer, frozen=True):
    """What an entry of a sweep would be; `algorithm`, `command`: its own."""

    index: int
    name: str
    parameters: Json
    algorithm: str | None = None
    command: str | None = None


class SweepPreview(Answer, frozen=True):
    """What a sweep would be: the number of its entries, the `first` of them, and what all of them take together.
    `job`: the preview of the first one; null where something is wrong. `warnings`: what else is worth knowing of them.
    """

    ok: bool
    problems: list[ProblemItem]
    entries: int
    first: list[SweepPreviewEntry]
    asks: TotalsView | None
    job: PreviewView | None
    warnings: list[ProblemItem]
