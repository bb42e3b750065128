"""Where assets were taken in from other workspaces, as questions of SQL: what counts is a subscription that an offer
covers (`store.seen.taken_in`). Changes nothing.
"""

from collections.abc import Collection, Iterable
from typing import Any, Final

from sqlalchemy import Connection, Select

from trainmaster.store.seen import taken_in
from trainmaster.store.tables import asset_subscription

_AT_ONCE: Final = 400
"""Of so many assets is asked at once: a statement holds a limited number of values."""


def taken_as(workspaces: Iterable[str], kind: str, name: str | None = None, by: float | None = None) -> Select[Any]:
    """Return the question for the ids of what these workspaces took in of a kind, under `name` where one is given, and
    had taken in so at the moment `by`.
    """
    one = asset_subscription
    found = taken_in(one.c.asset).where(one.c.workspace.in_(sorted(workspaces)), one.c.kind == kind)
    found = found if name is None else found.where(one.c.name == name)
    return found if by is None else found.where(one.c.at <= by)


def taken_with(workspaces: Iterable[str], kind: str, word: str) -> Select[Any]:
    """Return the question for the ids of what these workspaces took in of a kind under a name that has this word."""
    return taken_as(workspaces, kind).where(asset_subscription.c.name.icontains(word, autoescape=True))


def taken_since(connection: Connection, id_: str) -> list[tuple[str, str, float]]:
    """Return (workspace, name, since when) of all that took in an asset, by workspace."""
    one = asset_subscription
    found = taken_in(one.c.workspace, one.c.name, one.c.at).where(one.c.asset == id_).order_by(one.c.workspace)
    return [(workspace, name, at) for workspace, name, at in connection.execute(found)]


def taken_by(connection: Connection, ids: Collection[str]) -> dict[str, list[tuple[str, str]]]:
    """Return (workspace, name) of all that took in each of these assets, by workspace; others are missing."""
    asked, found, one = list(ids), dict[str, list[tuple[str, str]]](), asset_subscription
    for at in range(0, len(asked), _AT_ONCE):
        some = taken_in(one.c.asset, one.c.workspace, one.c.name).where(one.c.asset.in_(asked[at : at + _AT_ONCE]))
        for id_, workspace, name in connection.execute(some.order_by(one.c.workspace)):
            found.setdefault(id_, []).append((workspace, name))
    return found
