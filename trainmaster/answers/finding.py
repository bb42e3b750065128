"""What is found from anywhere, saved views of lists, and jobs side by side: what differs, results, curves and code. See
the package.
"""

from typing import Literal

import msgspec

from trainmaster.answers.base import Answer
from trainmaster.answers.jobs import JobView
from trainmaster.answers.watching import Series
from trainmaster.core.states import Shown

Section = Literal["parameters", "command", "framework", "resources", "environment", "code", "inputs", "settings"]
"""What of a job a setting belongs to, in the order in which people ask."""
Scalar = bool | int | float | str | None


class FoundJob(Answer, frozen=True):
    """A job that was found. `near`: its name has a word that differs by a character from what was looked for."""

    id: str
    name: str
    state: Shown
    owner: str
    workspace: str
    submitted_at: float
    near: bool


class FoundName(Answer, frozen=True):
    """What was found that is no job, and what is said of it, or whose it is. `ref`: what it is called by."""

    ref: str
    name: str
    about: str
    near: bool


class SearchView(Answer, frozen=True):
    """What was found of each kind, of what the caller may know; of each a few, jobs newest first."""

    jobs: list[FoundJob]
    people: list[FoundName]
    workspaces: list[FoundName]
    pools: list[FoundName]
    sweeps: list[FoundName]
    datasets: list[FoundName]
    volumes: list[FoundName]
    templates: list[FoundName]
    algorithms: list[FoundName]
    images: list[FoundName]
    models: list[FoundName]


class SavedViewView(Answer, frozen=True):
    """A list of jobs that somebody named: the `query` of its address. `workspace`: whose members see it, null: nobody
    else. `mine`: its owner is who asks.
    """

    name: str
    owner: str
    workspace: str | None
    query: str
    mine: bool
    at: float


class SavedViews(Answer, frozen=True):
    """Saved views by name, one's own first."""

    items: list[SavedViewView]


class ComparedRow(Answer, frozen=True):
    """One setting of the job files. `values`: by job, in order; null where a job has none. `differs`: they are not all
    the same.
    """

    section: Section
    name: str
    values: list[Scalar]
    differs: bool


class MetricResult(Answer, frozen=True):
    """What became of a metric in one job: its last value, and its least and largest with their steps. `count`: of all
    its points; null: no number.
    """

    last: float | None
    low: float | None
    low_step: float | None
    high: float | None
    high_step: float | None
    count: int


class ComparedMetric(Answer, frozen=True):
    """One metric. `better`: whether less or more of it is, by its name; null where the name does not say. `values`: by
    job, in order; null where a job has none. `best`: places of the jobs with the best value that they reached.
    """

    name: str
    better: Literal["min", "max"] | None
    values: list[MetricResult | None]
    best: list[int]


class ComparisonView(Answer, frozen=True):
    """Jobs side by side, in the order asked for. `partial`: ids of those whose points are still being read;
    `unreadable`: of those whose job file is damaged.
    """

    jobs: list[JobView]
    rows: list[ComparedRow]
    metrics: list[ComparedMetric]
    partial: list[str] = msgspec.field(default_factory=list)
    unreadable: list[str] = msgspec.field(default_factory=list)


class OverlaidCurves(Answer, frozen=True):
    """The curves of one job. `roles`: names of its sub-tasks, in which the first number of `task0-1` counts."""

    id: str
    roles: list[str]
    series: list[Series]


class OverlayView(Answer, frozen=True):
    """Curves of several jobs, to be drawn over each other, in the order asked for. Of each metric the source and
    replica whose last value counts.
    """

    jobs: list[OverlaidCurves]


class FileDiff(Answer, frozen=True):
    """A file that differs. `size`, `was`: bytes in the second and in the first job; `diff`: unified, "" where it is not
    text or too large; `cut`: there is more of it.
    """

    path: str
    change: Literal["added", "removed", "changed"]
    was: int
    size: int
    binary: bool
    diff: str
    cut: bool


class CodeDiffView(Answer, frozen=True):
    """What differs between the code of two jobs, `base` and `other`. `base_code`, `other_code`: the names of the
    uploads, null: it has none. `gone`: ids of jobs whose code is not kept any more; nothing is compared then.

    `same`: how many files are; `left_out`: how many that may differ are not in `files`, for there are too many.
    """

    base: str
    other: str
    base_code: str | None
    other_code: str | None
    gone: list[str]
    files: list[FileDiff]
    same: int
    left_out: int


LineageKind = Literal["job", "dataset", "model", "algorithm", "image", "volume", "storage"]
"""What stands in a lineage; `storage`: a place of object storage."""
LineageState = Literal["there", "bin", "deleted", "unseen"]
"""`bin`: its reader may restore it; `unseen`: it was deleted, or is not shared with its reader."""


class LineageNode(Answer, frozen=True):
    """Something that was made or used. `ref`: the id by which it is asked for, "" of what is not there; `name`: ""
    where that may not be told; `status`: of a job; `layer`: 0 is what was asked for, what stands below it was made
    before; `at`: when it was made or submitted; `more`: something behind it is left out.
    """

    id: str
    kind: LineageKind
    name: str
    version: int | None
    ref: str
    state: LineageState
    status: Shown | None
    owner: str
    workspace: str
    at: float | None
    layer: int
    more: bool


class LineageEdge(Answer, frozen=True):
    """`target` came of `source`; both are ids of nodes. `how`: what the source is to it (`written`: a volume that the
    job may write, too; `base`: an image that another stands on), or `output`: what it made.
    """

    source: str
    target: str
    how: Literal["algorithm", "image", "input", "written", "base", "output"]


class LineageView(Answer, frozen=True):
    """From what a version or a job was made, and what was made of it: jobs and versions as a graph without circles.
    `center`: the node that was asked for; `more`: there is more than is told.
    """

    center: str
    nodes: list[LineageNode]
    edges: list[LineageEdge]
    more: bool
