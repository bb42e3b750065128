"""From what a person holds - a file, a dictionary, a spec object - to the document that is submitted."""

import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Required, TypedDict

from trainmaster.core.errors import InvalidSpec, problem_of
from trainmaster.messages.server import client
from trainmaster.spec.document import Document, FieldChanges


def load(source: Any) -> tuple[Document, str]:
    """Return (document, folder that relative paths in it start from) of a file's path, a mapping or a spec object.

    Raises InvalidSpec when it cannot be read.
    """
    if isinstance(source, str | os.PathLike):
        path = Path(source)
        return read(path), str(path.resolve().parent)
    dump = getattr(source, "model_dump", None)
    document = dump(mode="json") if callable(dump) else source
    if not isinstance(document, Mapping):
        raise InvalidSpec(client.job_not_given(), problems=(problem_of("", client.neither_file_nor_object()),))
    return dict(document), os.getcwd()


def read(path: Path) -> Document:
    """Return the YAML or JSON object in the file at `path`. Raises InvalidSpec naming file and line."""
    from trainmaster.spec.parse import parse_document  # noqa: PLC0415

    try:
        data = path.read_bytes()
    except OSError as error:
        found = problem_of(str(path), client.unreadable(error.strerror or str(error)))
        raise InvalidSpec(client.job_file_not_read(), problems=(found,)) from None
    return parse_document(data, path.name)


class SubmitBody(TypedDict, total=False):
    """What a submit sends: the document, its dialect, and what is to be changed in it."""

    spec: Required[Document]
    dialect: Required[str]
    code_follows: bool
    set: FieldChanges


@dataclass(frozen=True, slots=True)
class GivenDocument:
    """A document, what is still to be changed in it, and the folder of this machine that holds its code (None: it has
    none).
    """

    document: Document
    changes: dict[str, object]
    folder: str | None


def read_document(source: Any, changes: FieldChanges | None = None, dialect: str = "auto") -> GivenDocument:
    """Return what `source` and `changes` say together. Another `code` is put in here, where its folder is, under
    OpenPAI's name for it in OpenPAI's documents.

    Raises InvalidSpec when `source` cannot be read.
    """
    from trainmaster.dialects.registry import dialect_of, local_code  # noqa: PLC0415
    from trainmaster.spec.parse import apply_set  # noqa: PLC0415

    document, base = load(source)
    left = dict(changes or {})
    ours = {path: value for path, value in left.items() if path.split(".")[0] in ("code", "codeDir")}
    if ours:
        pai = (dialect_of(document) if dialect == "auto" else dialect) == "pai"
        with suppress(InvalidSpec):  # the check of the document will report them
            document = apply_set(
                document, {"codeDir" if pai and path == "code" else path: value for path, value in ours.items()}
            )
            left = {path: value for path, value in left.items() if path not in ours}
    path = local_code(document, dialect)
    folder = None if path is None else os.path.normpath(os.path.join(base, os.path.expanduser(path)))
    return GivenDocument(document, left, folder)
