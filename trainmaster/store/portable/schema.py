"""The schema of a backup: what makes its tables, for each kind of database, in the words of the release that wrote it.

So a later release makes the tables of an older backup as they were, and its migrations bring them up to date as they do
with an older store. Pure.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.schema import CreateIndex, CreateTable

from trainmaster.store import tables

LEFT_OUT: Final = frozenset({"sessions"})
"""Tables that are restored empty: everybody signs in again, so that no session that was ended comes back."""
_MAKES: Final = re.compile(r"\s*CREATE (TABLE|INDEX|UNIQUE INDEX) [^;]*", re.DOTALL)
_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,62}")


def columns() -> dict[str, list[str]]:
    """Return the columns of each table, in the order in which tables are written."""
    return {str(table.name): [str(one.name) for one in table.columns] for table in tables.META.sorted_tables}


def statements() -> dict[str, list[str]]:
    """Return what makes all tables and indexes, by the name of the dialect."""
    tables.add_postgresql()
    dialects = (sqlite.dialect(), postgresql.dialect())  # type: ignore[no-untyped-call]
    return {dialect.name: [*_of(dialect)] for dialect in dialects}


def _of(dialect: Any) -> Iterable[str]:
    for table in tables.META.sorted_tables:
        yield str(CreateTable(table).compile(dialect=dialect)).strip()
        for index in sorted(table.indexes, key=lambda one: str(one.name)):
            yield str(CreateIndex(index).compile(dialect=dialect)).strip()


def is_usable(found: Mapping[str, Any]) -> bool:
    """Return whether this is what `statements` and `columns` made of some release, and nothing else."""
    known, makes = found.get("columns"), found.get("statements")
    if not isinstance(known, dict) or not isinstance(makes, dict):
        return False
    names = [name for table, own in known.items() for name in (table, *own)]
    lines = [line for own in makes.values() for line in own]
    return all(isinstance(name, str) and _NAME.fullmatch(name) for name in names) and all(
        isinstance(line, str) and _MAKES.fullmatch(line) for line in lines
    )
