"""What all answers are made of. See the package."""

from typing import Any

import msgspec

from trainmaster.core.errors import Problem

Json = dict[str, Any]
"""A JSON object whose fields no contract names: a document, the evidence of a reason, the data of an event."""


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """Base of every answer. A field without a default is in every answer."""


class Text(Answer, frozen=True):
    """A text in both languages."""

    zh: str
    en: str


class ProblemItem(Answer, frozen=True, omit_defaults=True):
    """One thing that is wrong, in the reader's language."""

    path: str
    rule: str
    remedy: str
    code: str
    value: Any = None
    args: Json | None = None


def problem_item(problem: Problem) -> ProblemItem:
    """Return `problem` as answers tell it."""
    return ProblemItem(
        path=problem.path,
        rule=problem.rule,
        remedy=problem.remedy,
        code=problem.code,
        value=problem.value,
        args=problem.args,
    )


class ProblemView(Answer, frozen=True):
    """A problem document (RFC 9457), with every problem found.

    `kind`: the class of refusal, such as not_found; `code`: what exactly was refused, `args` what its words are made
    of.
    """

    type: str
    title: str
    status: int
    kind: str
    code: str
    args: Json
    remedy: str
    problems: list[ProblemItem]


class Used(Answer, frozen=True):
    """Held by replicas, and there is."""

    used: float
    total: float


class Sandbox(Answer, frozen=True):
    """What keeps replicas apart (bubblewrap or none), and in words what is missing of it."""

    kind: str
    detail: str
