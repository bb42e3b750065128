"""The filters that say which jobs are meant, and what may change of a job."""

from collections.abc import Sequence
from typing import TypedDict

from trainmaster import answers


class JobFilters(TypedDict, total=False):
    """Which jobs. `q`: words in name, id, slug, description, owner, labels, tags, note, commands and parameters;
    `label`: ``key`` or ``key=value``; `since`, `until`: seconds since the epoch, of the submit; `sweep`: its
    id; `algorithm`: ``NAME`` or ``NAME@VERSION``; `favorite_algorithm`: of your favorite algorithms; `output`: a place
    of object storage that results go to, or a folder above it, or the model that they become. Of a list, any of its
    values does.
    """

    state: str | Sequence[str]
    q: str
    owner: str
    mine: bool
    workspace: str
    framework: str
    pool: str
    node: str
    label: str | Sequence[str]
    tag: str | Sequence[str]
    favorite: bool
    sweep: str
    algorithm: str
    favorite_algorithm: bool
    flavor: str
    output: str
    since: float
    until: float


class JobsAsked(JobFilters, total=False):
    """The same, and in which order: submitted_at, started_at, ended_at, run_s, name, state, priority, owner, workspace,
    pool, framework, gpus, tags or metric:NAME (the last value of that metric), with - in front for descending.
    """

    order: str


class JobChange(TypedDict, total=False):
    """What may change of a job that has not ended. `duration_s` None: no limit."""

    duration_s: float | None
    priority: str


def as_body(filters: JobFilters) -> answers.Json:
    """Return filters as a body holds them: what can be several is a list there."""
    several = {
        name: [value] for name, value in filters.items() if name in ("state", "label") and isinstance(value, str)
    }
    return {**filters, **several}
