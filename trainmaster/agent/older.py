"""Lets this code, written for Python 3.11, run on the Python 3.9 or 3.10 that compute nodes may have.

What newer versions only made shorter is put in its place, for this process alone; nothing else may be changed here. `mend` is called
before anything else of ours is imported, and by an older Python only. A test runs all that a step needs through it. `start` is how
every program of ours on a node begins.
"""

from __future__ import annotations
import __future__

import builtins
import dataclasses
import enum
from importlib.machinery import SourceFileLoader
from typing import Any, Final

START: Final = (
    'import sys; sys.version_info < (3, 9) and sys.exit("Python 3.9 or newer is needed on the nodes, this is " + sys.version);'
    " sys.path.insert(0, sys.argv[1]); from trainmaster.agent import older; sys.version_info < (3, 11) and older.mend();"
    " from trainmaster.{} import main; sys.exit(main(sys.argv[2:]))"
)


def start(module: str) -> str:
    """Return the text for ``python -I -S -c TEXT PACKAGE ...`` that runs `module` of ours with the arguments behind PACKAGE.

    Nothing of the node's own Python settings or folders takes part: -I -S, and our package in the one folder given.
    """
    return START.format(module)


plain_dataclass, plain_zip = dataclasses.dataclass, builtins.zip


def source_to_code(self: Any, data: Any, path: Any, *, _optimization: int = -1) -> Any:
    """Compile a module of which the annotations, such as `int | None`, are not evaluated."""
    flag = __future__.annotations.compiler_flag
    return compile(data, path, "exec", flags=flag, dont_inherit=True, optimize=_optimization)


def dataclass(cls: Any = None, *, slots: bool = False, **options: Any) -> Any:
    """Make a dataclass whose slots are named but not used: they only save memory."""
    if cls is None:
        return lambda given: dataclass(given, slots=slots, **options)
    made = plain_dataclass(cls, **options)
    if slots:
        made.__slots__ = tuple(field.name for field in dataclasses.fields(made))
    return made


def lenient_zip(*given: Any, strict: bool = False) -> Any:
    """Zip; that all are of one length is checked by newer versions."""
    return plain_zip(*given)


class StrEnum(str, enum.Enum):
    """A text that is a member of an enumeration."""

    __str__ = str.__str__


def mend() -> None:
    """Make the modules imported from now on loadable."""
    missing: tuple[tuple[Any, str, Any], ...] = (
        (SourceFileLoader, "source_to_code", source_to_code),
        (dataclasses, "dataclass", dataclass),
        (builtins, "zip", lenient_zip),
        (enum, "StrEnum", StrEnum),
    )
    for where, name, what in missing:
        setattr(where, name, what)
