"""What somebody may see (`access.visible`), as a condition of SQL. Builds conditions, runs none; says what
`Visible.covers` says.
"""

from sqlalchemy import ColumnElement, Table, false, or_

from trainmaster.access.visible import Visible


def parts(visible: Visible, table: Table) -> list[list[ColumnElement[bool]]]:
    """Return `seen` as several lists of conditions, of which one index answers each; what several of them find is
    found twice.
    """
    if visible.everything:
        return [[]]
    found: list[list[ColumnElement[bool]]] = []
    if visible.owner is not None:
        found.append([table.c.owner == visible.owner])
    return found + [[table.c.workspace == name] for name in sorted(visible.workspaces)]


def seen(visible: Visible, table: Table) -> list[ColumnElement[bool]]:
    """Return the conditions on the rows of `table`, which has an owner and a workspace; none where everything is
    visible.
    """
    if visible.everything:
        return []
    parts: list[ColumnElement[bool]] = []
    if visible.owner is not None:
        parts.append(table.c.owner == visible.owner)
    if visible.workspaces:
        parts.append(table.c.workspace.in_(sorted(visible.workspaces)))
    return [or_(*parts)] if parts else [false()]
