"""Who is signed in, their tokens, and what the server is. See the package."""

from trainmaster.answers.base import Answer, Json, Sandbox, Text
from trainmaster.answers.people import Membership


class UserView(Answer, frozen=True):
    """Who is signed in."""

    name: str
    role: str
    must_change_password: bool
    locale: str | None
    workspaces: list[Membership]


class ServerView(Answer, frozen=True):
    """The server itself."""

    version: str
    name: str
    sandbox: Sandbox


class SessionView(Answer, frozen=True):
    """Who is signed in."""

    user: UserView
    server: ServerView


class NewSession(SessionView, frozen=True):
    """A session just begun; `key` is shown only here. `browser` is sent with the next sign-in of the same person
    there.
    """

    key: str
    browser: str


class SignInProvider(Answer, frozen=True):
    """Through whom people sign in beside, or instead of, a password. `label`: what the button says."""

    label: str


class SignInWays(Answer, frozen=True):
    """How one can sign in to this server. `first`: nobody has signed in yet, and the one-time password that the first
    start wrote to its terminal is still good.
    """

    password: bool
    provider: SignInProvider | None
    first: bool


class BegunSignIn(Answer, frozen=True):
    """A sign-in that was begun: `address` of the provider; `flow` is kept by the page, and by nobody else, until the
    provider has sent the browser back.
    """

    address: str
    flow: str


class Ticket(Answer, frozen=True):
    """`address`, with the ticket in it, is good once, for `expires_in_s`."""

    address: str
    expires_in_s: float


class TokenView(Answer, frozen=True):
    """An API token without its text. `last_used_at`: within a minute; null: never. `scopes`: all that it carries, null:
    whatever its user may; `workspace`: the one that it is for, null: all of them.
    """

    id: str
    name: str
    user: str
    created_at: float
    expires_at: float | None
    last_used_at: float | None
    scopes: list[str] | None
    workspace: str | None


class NewToken(TokenView, frozen=True):
    """A token just made; `token` is shown only here."""

    token: str


class BrowserSession(Answer, frozen=True):
    """Where somebody is signed in. `browser`: what it calls itself; `current`: this is the one that asks."""

    id: str
    created_at: float
    expires_at: float
    address: str
    browser: str
    current: bool


class BrowserSessions(Answer, frozen=True):
    """Where somebody is signed in, newest first."""

    items: list[BrowserSession]


class Tokens(Answer, frozen=True):
    """API tokens, newest first."""

    items: list[TokenView]
    next_cursor: str | None


class PriorityTitle(Answer, frozen=True):
    """A priority class and what it is called."""

    code: str
    title: Text


class FrameworkOption(Answer, frozen=True):
    """The JSON Schema of an integer option of a framework, with its sentence."""

    type: str
    minimum: int
    maximum: int
    title: Text


class FrameworkTitle(Answer, frozen=True):
    """A framework, what it is called, and its options by name."""

    kind: str
    title: Text
    options: dict[str, FrameworkOption]


class VerdictTitle(Answer, frozen=True):
    """What a verdict is called and whose fault it is: user, platform or none."""

    zh: str
    en: str
    fault: str


class MetaLimits(Answer, frozen=True):
    """Limits that forms and clients keep to; null: none."""

    max_upload_mib: int
    max_duration_s: float | None
    max_debug_hold_s: float
    log_mib: int
    max_queued: int


class MetaDefaults(Answer, frozen=True):
    """What holds where a job says nothing. `sample_s`: between two samples of usage."""

    framework: str
    priority: str
    sample_s: float
    resources: Json


class Meta(Answer, frozen=True):
    """Names and limits for forms. `states`, `verdicts`: by code."""

    states: dict[str, Text]
    priorities: list[PriorityTitle]
    frameworks: list[FrameworkTitle]
    verdicts: dict[str, VerdictTitle]
    limits: MetaLimits
    defaults: MetaDefaults


class Alive(Answer, frozen=True):
    """The process answers."""

    ok: bool


class Ready(Answer, frozen=True):
    """Whether work can be taken in, and by part of the platform "ok" or why it does not answer."""

    ok: bool
    checks: dict[str, str]


class Upload(Answer, frozen=True):
    """An uploaded folder by its content's name."""

    upload: str
    files: int
    size_bytes: int
