"""Templates of jobs. See the package."""

from typing import Literal

from trainmaster.answers.base import Answer, Json
from trainmaster.core.states import JobShare

TemplateRight = Literal["write", "share"]
"""What its reader may do with a template beside reading it and making jobs of it."""


class TemplateView(Answer, frozen=True):
    """A template as lists show it. `share`: with the other members of its workspace; `version`: its last one, made at
    `changed_at` by `changed_by`; `used`: jobs that were made of it; `may`: what its reader may do with it.
    """

    id: str
    name: str
    description: str
    workspace: str
    owner: str
    share: JobShare
    version: int
    created_at: float
    changed_at: float
    changed_by: str
    used: int
    used_at: float | None
    may: list[TemplateRight]


class TemplatePage(Answer, frozen=True):
    """A page of templates, what was changed last first; `total`: on all pages."""

    items: list[TemplateView]
    next_cursor: str | None
    total: int


class TemplateVersionView(Answer, frozen=True):
    """A version of a template: when it was made, and by whom."""

    version: int
    at: float
    by: str


class TemplateDetail(TemplateView, frozen=True):
    """A template with its versions, newest first, and the document `spec` of the version `shown`."""

    shown: int
    spec: Json
    versions: list[TemplateVersionView]
