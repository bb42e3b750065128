"""What workspaces offer each other, and what they subscribe to."""

from typing import Literal

from trainmaster.answers.base import Answer

PassedKind = Literal["dataset"]
"""What can be offered to other workspaces."""


class PublishedView(Answer, frozen=True):
    """Something that another workspace offers. `workspace`, `owner`: where it lies, and whose it is; `latest`: the
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
