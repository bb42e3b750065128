"""What somebody may see (`access.visible`), as a condition of SQL. Builds conditions, runs none; says what
`Visible.covers` says.
"""

from sqlalchemy import ColumnElement, Table, false, or_

from trainmaster.access.visible import Visible


def parts(visible: Visible, table: Table) -> list[list[ColumnElement[bool]]]:
    """Return `seen` as several lists of conditions, of which one index answers each; what several of them find is
    found twice. Of a table whose rows are not shared.
    """
    place = [] if visible.within is None else [table.c.workspace == visible.within]
    if visible.everything:
        return [place]
    found = [] if visible.owner is None else [[table.c.owner == visible.owner, *place]]
    inside = visible.workspaces if visible.within is None else visible.workspaces & {visible.within}
    return found + [[table.c.workspace == name] for name in sorted(inside)]


def seen(visible: Visible, table: Table) -> list[ColumnElement[bool]]:
    """Return the conditions on the rows of `table`, which has an owner and a workspace; none where everything is
    visible.
    """
    place = [] if visible.within is None else [table.c.workspace == visible.within]
    if visible.everything:
        return place
    parts: list[ColumnElement[bool]] = []
    if visible.owner is not None:
        parts.append(table.c.owner == visible.owner)
    if visible.workspaces:
        parts.append(table.c.workspace.in_(sorted(visible.workspaces)))
    if visible.shared and visible.levels and "share" in table.c:
        parts.append(table.c.workspace.in_(sorted(visible.shared)) & table.c.share.in_(sorted(visible.levels)))
    return [*place, or_(*parts) if parts else false()]
