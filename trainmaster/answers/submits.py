"""What a submit would do, and what became of several jobs at once. See the package."""

from typing import Any

from trainmaster.answers.base import Answer, Json, ProblemItem, Text
from trainmaster.answers.jobs import ForecastView, ReasonView, When
from trainmaster.core.launch import RolePreview
from trainmaster.core.states import Shown


class Placed(Answer, frozen=True):
    """Where a task would run."""

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
    still to come, behind the number `after`; null: that was the last part.
    """

    done: list[str]
    refused: list[RefusedView]
    left: int = 0
    after: int | None = None
