"""What people did, and what is removed by itself, as administrators ask for it. See the package."""

from typing import Any, Literal

from trainmaster.answers.base import Answer, Json, Text

RetentionName = Literal["jobs", "logs", "audit", "uploads", "keys", "bin"]


ActorName = Literal["person", "token", "job", "system"]


class SubjectView(Answer, frozen=True):
    """What something was done to. `kind`: job, pool, virtual_cluster, workspace, flavor, node, policy or person; a
    job's name is its id, and its `title` what it is called. `workspace`: where it is; empty: in none.
    """

    kind: str
    name: str
    title: str
    workspace: str


class ActorView(Answer, frozen=True):
    """How the person or program behind an action reached the server. `kind`: person (signed in, or on the server
    itself), token (`through` is its id), job (the platform, to make room for the job `through`), system.

    `address` and `through` are null where they are not known, or not told to who owns the subject and nothing more.
    """

    kind: ActorName
    address: str | None
    through: str | None


class FieldChange(Answer, frozen=True):
    """A field that became something else; null: it was or is not there. `label`: the field in words."""

    field: str
    label: Text
    before: Any
    after: Any


class AuditEventView(Answer, frozen=True):
    """One thing that somebody did. `kind`: the code by which such things are looked for; `code`, `args`: what `text` is
    made of.

    `kind` and `code` differ only where it is an event of a job. `by` is "system" for what nobody in particular did, and
    empty where nobody proved who they are. `changes`: before and after of what became something else.
    """

    id: str
    at: float
    by: str
    actor: ActorView
    subject: SubjectView
    kind: str
    text: Text
    code: str
    args: Json
    changes: list[FieldChange]


class AuditPage(Answer, frozen=True):
    """What people did, newest first."""

    items: list[AuditEventView]
    next_cursor: str | None


class RetentionRule(Answer, frozen=True):
    """What one rule would remove now. `after_s` null: nothing, things are kept for ever; `setting`: where that is set.

    `count` is whole; `size_bytes` is what `measured` of them take on the disk: with fewer than `count`, more goes than
    that. `oldest`: when the first of them was made, used or ended.
    """

    rule: RetentionName
    setting: str
    after_s: float | None
    text: Text
    count: int
    size_bytes: int
    measured: int
    oldest: float | None


class RetentionView(Answer, frozen=True):
    """What would be removed at that moment, by rule."""

    items: list[RetentionRule]
    at: float


BinKind = Literal["model", "template", "image", "dataset", "algorithm", "volume"]


class BinEntryView(Answer, frozen=True):
    """What was deleted at once: an asset with its `versions`, or one `version` of it. `until`: when it goes for good;
    null: not by itself. It counts in the storage quota until then.
    """

    id: str
    kind: BinKind
    name: str
    version: int | None
    versions: int
    workspace: str
    owner: str
    at: float
    by: str
    until: float | None
    size_bytes: int


class BinPage(Answer, frozen=True):
    """A page of what was deleted, last first; `total`: on all pages. `keeps_s`: for how long; null: for ever."""

    items: list[BinEntryView]
    next_cursor: str | None
    total: int
    keeps_s: float | None


class RestoredView(Answer, frozen=True):
    """What was brought back: an asset, or one `version` of it. `id`: of the asset."""

    kind: BinKind
    id: str
    name: str
    version: int | None
