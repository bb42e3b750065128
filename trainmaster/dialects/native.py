"""The native language needs no translation: the document goes on as it is. Its shorthands are read by `check`."""

from collections.abc import Mapping
from typing import Any

from trainmaster.core.errors import Problem
from trainmaster.dialects.base import Translation


def translate(document: Mapping[str, Any], *, hosts: int | None = None) -> Translation:
    """Return `document` unchanged."""
    return Translation(dict(document), "native")


def as_written(item: Problem) -> Problem:
    """Return `item`: it names the field where it was written."""
    return item


def knows(field: str) -> bool:
    """Every field is one of the document's own."""
    return True


def local_code(document: Mapping[str, Any]) -> str | None:
    """Return the folder of the submitter's machine that `document` names as its code; None when there is nothing to
    upload.
    """
    code = document.get("code")
    path = code.get("path") if isinstance(code, Mapping) else code
    return path if isinstance(path, str) and path else None


def uploaded(upload: str) -> dict[str, Any]:
    """Return the field that says that the code is in this upload."""
    return {"code": {"upload": upload}}
