"""The native language needs no translation: the document goes on as it is. Its shorthands are read by `check`."""

from collections.abc import Mapping
from typing import Any

from trainmaster.dialects.base import Translation, image_warning


def translate(document: Mapping[str, Any], *, hosts: int | None = None) -> Translation:
    """Return `document` unchanged, with a warning when it names a container image."""
    return Translation(dict(document), "native", image_warning(document.get("image")))
