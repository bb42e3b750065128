"""What somebody may see (`access.visible`), as a condition of SQL. Builds conditions, runs none; says what
`Visible.covers` says.
"""

from sqlalchemy import ColumnElement, Table, false, or_

from trainmaster.access.visible import Visible


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
