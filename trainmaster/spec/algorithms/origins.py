"""From where the code of an algorithm was taken: a commit of a git repository, and which addresses may name one. Pure.

Taken is what goes over a network to a host, HTTPS, HTTP or SSH. Never what names a program or a file of the machine
that fetches (``ext::``, ``file://``, paths), nothing that git would read as an option, and no password: an origin is
shown to whoever may see the algorithm.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Annotated, Any, Final

from pydantic import Field, ValidationError

from trainmaster.core.errors import InvalidSpec, Problem
from trainmaster.messages.assets import algorithms as said
from trainmaster.spec.check import faults, structure_problems
from trainmaster.spec.job import CLEAN, Model
from trainmaster.spec.problems import problem

LONGEST: Final = 2048
_HOST: Final = r"(?:[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\])"
_USER: Final = r"[A-Za-z0-9_][A-Za-z0-9_.-]*"
_PATH: Final = r"[A-Za-z0-9_~.][^\s\\?#\x00-\x1f\x7f]*"
_ADDRESS: Final = re.compile(
    rf"https?://{_HOST}(?::[0-9]{{1,5}})?/{_PATH}|ssh://(?:{_USER}@)?{_HOST}(?::[0-9]{{1,5}})?/{_PATH}|{_USER}@{_HOST}:(?!:)/?{_PATH}"
)
_WITH_PASSWORD: Final = re.compile(
    r"https?://[^/]*@|[a-z+]+://[^/@]*:[^/]*@|[^/]*[?#]|[^:]*://[^?#]*[?#]", re.IGNORECASE
)
_COMMIT: Final = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_FOLDER_PART: Final = re.compile(r"[^\s\\:\x00-\x1f\x7f-][^\\:\x00-\x1f\x7f]*")


class Origin(Model):
    """A commit of a repository, and the folder of it that is the code (None: all)."""

    git: Annotated[str, Field(pattern=CLEAN, min_length=1, max_length=LONGEST)]
    commit: Annotated[str, Field(pattern=CLEAN, max_length=100)]
    folder: Annotated[str, Field(pattern=CLEAN, min_length=1, max_length=1024)] | None = None


def read_origin(document: Mapping[str, Any], path: str) -> Origin:
    """Return the origin that `document` says, which stands at `path`. Raises InvalidSpec with all problems."""
    try:
        found = Origin.model_validate(dict(document))
    except ValidationError as error:
        problems = structure_problems(faults(error), Origin)
    else:
        problems = [*origin_problems(found)]
        if not problems:
            return found
    placed = [replace(one, path=f"{path}.{one.path}".strip(".")) for one in problems]
    raise InvalidSpec(said.origin_not_valid(), problems=tuple(placed))


def origin_problems(origin: Origin) -> Iterator[Problem]:
    """Yield what is wrong with an origin. An address that may hold a password is not told again."""
    if _WITH_PASSWORD.match(origin.git):
        yield problem("git", said.origin_with_password())
    elif not _ADDRESS.fullmatch(origin.git):
        yield problem("git", said.not_an_origin(), origin.git)
    if not _COMMIT.fullmatch(origin.commit):
        yield problem("commit", said.not_a_commit(), origin.commit)
    if origin.folder is not None and not _is_folder(origin.folder):
        yield problem("folder", said.not_a_folder_of_repository(), origin.folder)


def _is_folder(folder: str) -> bool:
    parts = folder.split("/")
    return all(_FOLDER_PART.fullmatch(part) and part not in (".", "..") for part in parts)
