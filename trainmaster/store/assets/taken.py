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


def taken_as(workspaces: Iterable[str], kind: str, name: str | None = None) -> Select[Any]:
    """Return the question for the ids of what these workspaces took in of a kind, under `name` where one is given."""
    one = asset_subscription
    found = taken_in(one.c.asset).where(one.c.workspace.in_(sorted(workspaces)), one.c.kind == kind)
    return found if name is None else found.where(one.c.name == name)


def taken_with(workspaces: Iterable[str], kind: str, word: str) -> Select[Any]:
    """Return the question for the ids of what these workspaces took in of a kind under a name that has this word."""
    return taken_as(workspaces, kind).where(asset_subscription.c.name.icontains(word, autoescape=True))


def taken_by(connection: Connection, ids: Collection[str]) -> dict[str, list[tuple[str, str]]]:
    """Return (workspace, name) of all that took in each of these assets, by workspace; others are missing."""
    asked, found, one = list(ids), dict[str, list[tuple[str, str]]](), asset_subscription
    for at in range(0, len(asked), _AT_ONCE):
        some = taken_in(one.c.asset, one.c.workspace, one.c.name).where(one.c.asset.in_(asked[at : at + _AT_ONCE]))
        for id_, workspace, name in connection.execute(some.order_by(one.c.workspace)):
            found.setdefault(id_, []).append((workspace, name))
    return found
