"""Use cases on saved views: a list of jobs with its filters, columns and order under a name, for oneself or for the
members of a workspace. A view opens nothing: whoever uses it sees of the list what they may see.
"""

import asyncio
from typing import Final

from trainmaster.access.decide import decide
from trainmaster.access.roles import Principal
from trainmaster.answers import SavedViews, SavedViewView
from trainmaster.core.errors import InvalidSpec, NotFound, problem_of
from trainmaster.messages.jobs import marks
from trainmaster.service.context import Context
from trainmaster.store.people.views import SavedView, SavedViewRows

MOST: Final = 100
LONGEST_NAME: Final = 64
LONGEST_QUERY: Final = 2000


class SavedViewing:
    """One object per server."""

    def __init__(self, context: Context, rows: SavedViewRows) -> None:
        self._ctx, self._rows = context, rows

    async def all(self, who: Principal) -> SavedViews:
        """Return one's own views and those of one's workspaces."""
        decide(who, "jobs:read").demand()
        found = await asyncio.to_thread(self._rows.seen_by, who.name, _places(who))
        if who.within is not None:  # a token for one workspace sees no word of another
            found = [one for one in found if one.workspace == who.within]
        return SavedViews(items=sorted((_view(one, who) for one in found), key=lambda one: not one.mine))

    async def put(self, name: str, query: str, workspace: str | None, who: Principal) -> SavedViewView:
        """Save a view under a name, instead of one's own of that name. Raises InvalidSpec, StorageFailed."""
        decide(who, "jobs:read").demand()
        wrong = []
        if not name.strip() or name != name.strip() or len(name) > LONGEST_NAME or not name.isprintable():
            wrong.append(problem_of("name", marks.not_a_view_name(LONGEST_NAME), name[:200]))
        if len(query) > LONGEST_QUERY or not query.isprintable() or set(query) & set("?#"):
            wrong.append(problem_of("query", marks.not_a_list(LONGEST_QUERY)))
        if workspace is not None and workspace not in _places(who):
            wrong.append(problem_of("workspace", marks.view_shared_elsewhere(), workspace[:200]))
        if wrong:
            raise InvalidSpec(marks.view_not_valid(), problems=tuple(wrong))
        view = SavedView(who.name, name, workspace or "", query, self._ctx.clock())
        if not await asyncio.to_thread(self._rows.put, view, MOST):
            problem = problem_of("name", marks.too_many_views(MOST))
            raise InvalidSpec(marks.view_not_valid(), problems=(problem,))
        return _view(view, who)

    async def remove(self, name: str, who: Principal) -> None:
        """Remove a view of one's own. Raises NotFound."""
        decide(who, "jobs:read").demand()
        if not await asyncio.to_thread(self._rows.remove, who.name, name):
            raise NotFound(marks.no_such_view(repr(name[:200])))


def _places(who: Principal) -> list[str]:
    return [name for name, _ in who.memberships if who.within in (None, name)]


def _view(view: SavedView, who: Principal) -> SavedViewView:
    return SavedViewView(
        name=view.name,
        owner=view.owner,
        workspace=view.workspace or None,
        query=view.query,
        mine=view.owner == who.name,
        at=view.at,
    )
