"""What people did, and what is removed by itself, as administrators ask for it. See the package."""

from typing import Literal

from trainmaster.answers.base import Answer, Json, Text

RetentionName = Literal["jobs", "logs", "audit", "uploads", "keys"]


class SubjectView(Answer, frozen=True):
    """What something was done to. `kind`: job, pool, virtual_cluster, workspace, flavor, node, policy or person; a
    job's name is its id.
    """

    kind: str
    name: str


class AuditEventView(Answer, frozen=True):
    """One thing that somebody did. `kind`: the code by which such things are looked for; `code`, `args`: what `text` is
    made of.

    `kind` and `code` differ only where it is an event of a job. `by` is "system" for what nobody in particular did.
    """

    id: str
    at: float
    by: str
    subject: SubjectView
    kind: str
    text: Text
    code: str
    args: Json


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
