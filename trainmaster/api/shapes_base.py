"""What all shapes are made of. See `shapes`."""

from typing import Any

from pydantic import BaseModel, ConfigDict


class Shape(BaseModel):
    """Base: every declared field is in every answer unless it has a default."""

    model_config = ConfigDict(extra="allow")


class Text(Shape):
    """A text in both languages."""

    zh: str
    en: str


class ProblemItem(Shape):
    """One thing that is wrong."""

    path: str
    rule: str
    remedy: str
    code: str
    value: Any = None
    args: dict[str, Any] | None = None


class Problem(Shape):
    """RFC 9457 problem document, with every problem found."""

    type: str
    title: str
    status: int
    code: str
    remedy: str
    problems: list[ProblemItem]
