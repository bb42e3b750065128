"""Logs, curves, usage and files of a job, being inside one, the feed; saved models, volumes, what
workspaces offer each other. See the package."""

from typing import Literal

import msgspec

from trainmaster.answers.base import Answer, ProblemView
from trainmaster.core.states import JobShare


class Cut(Answer, frozen=True):
    """A range that the log's size limit took away."""

    offset: int
    length: int


class LinesAt(Answer, frozen=True):
    """The next `lines` lines were written after `after` and by `by`; null: not known."""

    lines: int
    after: float | None
    by: float | None


class LogWindowView(Answer, frozen=True, omit_defaults=True):
    """The text at [offset, next_offset). `first_line`: of a window that was asked for by lines.

    `times`: of its lines, one after the other, where they were asked for; none: the log has no times.
    """

    offset: int
    next_offset: int
    size: int
    text: str
    cut: list[Cut]
    ended: bool
    first_line: int | None = None
    times: list[LinesAt] = msgspec.field(default_factory=list)


class LogHit(Answer, frozen=True):
    """A line that matches, 0-based."""

    offset: int
    line: int
    text: str


class LogHits(Answer, frozen=True):
    """Matches of one bounded search; go on at `next_offset` unless `done`."""

    items: list[LogHit]
    next_offset: int
    done: bool


class TaskLimits(Answer, frozen=True):
    """What a replica may use: cores, MiB, GPUs."""

    cpu: float
    memory_mib: int
    gpu: int


class UsageView(Answer, frozen=True):
    """Samples by replica as columns of equal length, and what each replica may use."""

    tasks: dict[str, dict[str, list[float | None]]]
    limits: dict[str, TaskLimits]


class Series(Answer, frozen=True):
    """One curve. `task` null: written for the whole job. `count`: how many points came in all; those shown may be
    fewer.
    """

    name: str
    source: str
    attempt: int
    task: str | None
    count: int
    steps: list[float | None]
    t: list[float | None]
    values: list[float | None]


class MetricsView(Answer, frozen=True):
    """Curves, and the last value of each name."""

    series: list[Series]
    last: dict[str, float | None]


class File(Answer, frozen=True):
    """An entry of a folder. `kind`: file, folder or link. `size` of a folder: how many entries one of a job's own
    folders has, 0 of those below: counting could take long.
    """

    name: str
    path: str
    kind: str
    size: int
    modified_at: float | None


class Files(Answer, frozen=True):
    """One folder."""

    path: str
    items: list[File]


class ModelView(Answer, frozen=True):
    """A saved model as lists show it. `versions`: how many; `latest`: the newest one's number; `updated_at`,
    `size_bytes`, `metrics`, `job`: of that one; `favorite`: one of its reader's own.
    """

    id: str
    name: str
    owner: str
    workspace: str
    versions: int
    latest: int
    created_at: float
    favorite: bool
    updated_at: float
    size_bytes: int
    metrics: dict[str, float]
    job: str


class ModelPage(Answer, frozen=True):
    """A page of saved models, what was changed last first; `total`: on all pages."""

    items: list[ModelView]
    next_cursor: str | None
    total: int


class ModelVersionView(Answer, frozen=True):
    """An immutable version and where it came from. `path`: on the server, for those who administer it; else null."""

    version: int
    digest: str
    size_bytes: int
    files: int
    created_at: float
    job: str
    attempt: int
    path: str | None
    metrics: dict[str, float]


ModelRight = Literal["write"]
"""What its reader may do with a model beside reading it and giving it to jobs: delete it."""


class ModelDetail(Answer, frozen=True):
    """A model with its versions, newest first. `favorite`: one of its reader's own; `may`: what they may do with it."""

    id: str
    name: str
    owner: str
    workspace: str
    latest: int
    created_at: float
    favorite: bool
    versions: list[ModelVersionView]
    may: list[ModelRight]


class LogPiece(Answer, frozen=True, omit_defaults=True):
    """What was written since the last one, of a log that is followed. `cut`: where the log's size limit took something
    away; `at`: when it was read, of what was written since the log is followed.
    """

    offset: int
    next_offset: int
    text: str
    cut: list[Cut] | None = None
    at: float | None = None


class FeedPosition(Answer, frozen=True):
    """The feed's position at which something changed that is to be asked for again."""

    seq: str


class DeletedJob(Answer, frozen=True):
    """A job that is there no more."""

    id: str


class Nothing(Answer, frozen=True):
    """An event that says all by its name."""


class ExecCause(Answer, frozen=True):
    """Why a command failed: `reason` ExitCode, `message` the code."""

    reason: str
    message: str


class ExecCauses(Answer, frozen=True):
    """All causes of a failure."""

    causes: list[ExecCause]


class ExecStatus(Answer, frozen=True, omit_defaults=True):
    """The last message of who was inside a replica, as Kubernetes' remotecommand has it (metav1.Status). `problem`: of
    what was refused.
    """

    metadata: Nothing
    status: Literal["Success", "Failure"]
    reason: str | None = None
    message: str | None = None
    code: int | None = None
    details: ExecCauses | None = None
    problem: ProblemView | None = None


VolumeRight = Literal["write", "share"]
"""What its reader may do with a volume beside reading it and giving it to jobs that read it."""


class VolumeView(Answer, frozen=True):
    """A volume as lists show it. `share`: with the other members of its workspace; `size_bytes`, `files`: what it takes
    on the disk, as it was measured last; `changed_at`: when somebody changed it through the platform; `favorite`:
    one of its reader's own; `may`: what its reader may do with it.
    """

    id: str
    name: str
    description: str
    workspace: str
    owner: str
    share: JobShare
    size_bytes: int
    files: int
    created_at: float
    changed_at: float
    favorite: bool
    may: list[VolumeRight]


class VolumePage(Answer, frozen=True):
    """A page of volumes, what was changed last first; `total`: on all pages."""

    items: list[VolumeView]
    next_cursor: str | None
    total: int


class VolumeUse(Answer, frozen=True):
    """A job that has not ended and mounts a volume; `writes`: it may write to it."""

    id: str
    name: str
    state: str
    owner: str
    writes: bool


class VolumeDetail(VolumeView, frozen=True):
    """A volume with the jobs that mount it: those that its reader may see, and how many more there are. `path`: where
    it is on the server, for who may know.
    """

    jobs: list[VolumeUse]
    more_jobs: int
    path: str | None


PassedKind = Literal["dataset", "algorithm", "image", "template"]
"""What can be offered to other workspaces."""


class PublishedView(Answer, frozen=True):
    """Something that another workspace offers. `workspace`, `owner`: where it is, and whose it is; `latest`: the
    number of its last version, of which `size_bytes` and `files` tell; `taken_as`: what it is called where it was asked
    for; null: there is no subscription.
    """

    id: str
    kind: PassedKind
    name: str
    description: str
    workspace: str
    owner: str
    latest: int
    versions: int
    size_bytes: int
    files: int
    changed_at: float
    taken_as: str | None


class PublishedPage(Answer, frozen=True):
    """A page of what is offered to a workspace, what was changed last first."""

    items: list[PublishedView]
    next_cursor: str | None


class SubscriptionView(Answer, frozen=True):
    """What `workspace` subscribes to under `name`; `at`, `by`: since when, and who did it. `called`, `source`, `owner`:
    the name and workspace of its own that it has, and whose it is; null while it is not offered any more.
    """

    workspace: str
    kind: PassedKind
    name: str
    asset: str
    called: str | None
    source: str | None
    owner: str | None
    latest: int
    at: float
    by: str


class SubscriptionsView(Answer, frozen=True):
    """What a workspace subscribes to, by name."""

    items: list[SubscriptionView]
