"""Notifications, their settings, webhooks. See the package."""

from typing import Literal

from trainmaster.answers.base import Answer, Text

WebhookState = Literal["on", "off", "broken"]
DeliveryState = Literal["waiting", "sent", "failed", "dropped"]


class NoticeView(Answer, frozen=True):
    """One notification. `kind`: ended, failed, waits, preempted, idle, limit, budget, storage or webhook; `job`: the id
    of the job that it is about.
    """

    id: str
    at: float
    kind: str
    text: Text
    job: str | None
    job_name: str | None
    workspace: str
    read: bool


class NoticePage(Answer, frozen=True):
    """Notifications, newest first; `unread`: of all of them."""

    items: list[NoticeView]
    unread: int
    next_cursor: str | None


class UnreadView(Answer, frozen=True):
    """How many notifications are not read."""

    unread: int


class NoticeSwitches(Answer, frozen=True):
    """Where one kind of notification is told."""

    console: bool
    mail: bool
    webhook: bool


class MailTrouble(Answer, frozen=True):
    """Why the last mail to somebody was not sent, and when that was."""

    text: Text
    at: float


class NoticeSettings(Answer, frozen=True):
    """What somebody chose. `address`: to which mails go, null none; `asked`: the one that waits for its code;
    `sends_mail`: whether this server sends any.
    """

    kinds: dict[str, NoticeSwitches]
    language: Literal["zh", "en"]
    address: str | None
    asked: str | None
    sends_mail: bool
    trouble: MailTrouble | None


class WebhookView(Answer, frozen=True):
    """A webhook, without its secret. `workspace`: whose jobs it is told of, null: its owner's alone; `kinds`: of what,
    for a workspace's. `state`: on, off, or broken (switched off because deliveries failed); `failures` in a row.
    """

    id: str
    name: str
    url: str
    workspace: str | None
    owner: str
    kinds: list[str]
    state: WebhookState
    failures: int
    error: Text | None
    created_at: float


class NewWebhook(WebhookView, frozen=True):
    """A webhook just made; `secret` is shown only here."""

    secret: str


class WebhooksView(Answer, frozen=True):
    """Webhooks, oldest first."""

    items: list[WebhookView]


class DeliveryView(Answer, frozen=True):
    """One message to a `webhook`: `id` is its `webhook-id`. `status`: of the last answer; `error`: of the last try."""

    id: str
    webhook: str
    kind: str
    state: DeliveryState
    tries: int
    created_at: float
    next_at: float | None
    done_at: float | None
    status: int | None
    error: Text | None


class DeliveriesView(Answer, frozen=True):
    """Messages to webhooks, newest first."""

    items: list[DeliveryView]
