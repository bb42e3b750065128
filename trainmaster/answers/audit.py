"""What people did, as administrators ask for it. See the package."""

from trainmaster.answers.base import Answer, Json, Text


class SubjectView(Answer, frozen=True):
    """What something was done to. `kind`: job, pool, virtual_cluster, workspace, flavor, node, policy or person; a job's name is its id."""

    kind: str
    name: str


class DeedView(Answer, frozen=True):
    """One thing that somebody did. `kind`: the code by which such things are looked for; `code`, `args`: what `text` is made of.

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

    items: list[DeedView]
    next_cursor: str | None
