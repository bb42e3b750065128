"""What somebody may see (`access.visible`), as a condition of SQL. Builds conditions, runs none; says what
`Visible.covers` says.
"""

from typing import Any

from sqlalchemy import ColumnElement, Select, String, Table, and_, false, or_, select
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement

from trainmaster.access.visible import Visible
from trainmaster.store.tables import asset, asset_offer, asset_subscription


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


def by_row(column: ColumnElement[str]) -> ColumnElement[str]:
    """Return `column`, written so that no index of it is taken: something else is walked, and each row is looked at."""
    return _ByRow(column)


class _ByRow(FunctionElement[str]):
    type = String()
    inherit_cache = True


@compiles(_ByRow)
def _joined_with_nothing(element: _ByRow, compiler: SQLCompiler, **more: Any) -> str:
    return f"({compiler.process(element.clauses, **more)} || '')"


@compiles(_ByRow, "sqlite")
def _with_a_plus(element: _ByRow, compiler: SQLCompiler, **more: Any) -> str:
    """SQLite takes no index for a column with a plus, which costs nothing: a walk passes over rows in a third of the
    time (https://sqlite.org/optoverview.html).
    """
    return f"+{compiler.process(element.clauses, **more)}"


def seen(visible: Visible, table: Table, walked: bool = False) -> list[ColumnElement[bool]]:
    """Return the conditions on the rows of `table`, which has an owner and a workspace; none where everything is
    visible. `walked`: something else says where to look, and these conditions are only held against its rows.
    """
    owner, workspace = (by_row(one) if walked else one for one in (table.c.owner, table.c.workspace))
    place = [] if visible.within is None else [workspace == visible.within]
    taken = _taken(visible, table)
    if visible.everything:
        return place if not place or taken is None else [or_(*place, taken)]
    parts: list[ColumnElement[bool]] = []
    if visible.owner is not None:
        parts.append(owner == visible.owner)
    if visible.workspaces:
        parts.append(workspace.in_(sorted(visible.workspaces)))
    if visible.shared and visible.levels and "share" in table.c:
        parts.append(workspace.in_(sorted(visible.shared)) & table.c.share.in_(sorted(visible.levels)))
    found = or_(*parts) if parts else false()
    return [or_(and_(*place, found), taken)] if taken is not None else [*place, found]


def taken_in(*columns: ColumnElement[Any]) -> Select[Any]:
    """Return the question for `columns` of subscriptions that count: those that an offer covers, to their workspace or
    to everybody. One asset stands in it once for each of them.
    """
    theirs, to_all = asset_offer.alias("to_it"), asset_offer.alias("to_everybody")
    one = asset_subscription
    covered = or_(
        select(theirs.c.asset).where(theirs.c.asset == one.c.asset, theirs.c.workspace == one.c.workspace).exists(),
        select(to_all.c.asset).where(to_all.c.asset == one.c.asset, to_all.c.workspace == "").exists(),
    )
    return select(*columns).select_from(one).where(covered)


def _taken(visible: Visible, table: Table) -> ColumnElement[bool] | None:
    """Return the condition of what is seen through subscriptions; None where nothing can be."""
    if table is not asset or not visible.taking:
        return None
    through = taken_in(asset_subscription.c.asset).where(asset_subscription.c.workspace.in_(sorted(visible.taking)))
    found = asset.c.id.in_(through)
    return and_(found, asset.c.workspace.not_in(sorted(visible.closed))) if visible.closed else found
