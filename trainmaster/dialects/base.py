"""What every dialect hands on: the native document and what its writer should know. Data, and a warning all share."""

from dataclasses import dataclass
from typing import Any, Final

from trainmaster.core.errors import Problem
from trainmaster.messages.jobs import rules
from trainmaster.spec.problems import problem

LOCAL_IMAGES: Final = frozenset({"default", "local", ""})
"""Names of the engine's own environment; anything else is a container image."""


@dataclass(frozen=True, slots=True)
class Translation:
    """A native document, the dialect it came from, and warnings: things that are not wrong but may surprise."""

    document: dict[str, Any]
    dialect: str
    warnings: tuple[Problem, ...] = ()


def image_warning(image: Any) -> tuple[Problem, ...]:
    """Return the warning that an image is kept but not pulled; nothing for the engine's own environment."""
    if not isinstance(image, str) or image in LOCAL_IMAGES:
        return ()
    return (problem("image", rules.image_not_used(image)),)
