"""What the routes about all kinds of assets have in common: by what a list is narrowed, and the two routes by which one
becomes a favorite, or none any more.
"""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import Response

from trainmaster.access.roles import Principal
from trainmaster.answers.base import Answer
from trainmaster.api.auth import who
from trainmaster.api.deps import Cursor, Json, platform
from trainmaster.api.policy import Table
from trainmaster.store.assets.versions import AssetQuery

if TYPE_CHECKING:
    from trainmaster.service.platform import Platform

Short = Annotated[str, Field(max_length=200)]
Favor = Callable[["Platform", str, Principal, bool], Awaitable[Answer]]
"""Makes what is meant a favorite of somebody, or no more, and answers how it is then."""


class ListedAssets(BaseModel):
    """Which assets of a kind, and which page of them."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    q: Short = ""
    owner: Short = ""
    mine: bool = False
    favorite: bool = False
    workspace: Short = ""
    limit: Annotated[int, Field(ge=1, le=500)] = 50
    cursor: Cursor = None

    def of(self, me: Principal) -> AssetQuery:
        """Return what is looked for, as `me` means it."""
        owner, marked = me.name if self.mine else self.owner, me.name if self.favorite else ""
        return AssetQuery(self.q, owner, self.workspace, favorite_of=marked)


class ShareableAssets(ListedAssets):
    """The same of a kind that can be shared. `shared`: what others share with the members of their workspace."""

    shared: bool = False

    def of(self, me: Principal) -> AssetQuery:
        """Return what is looked for, as `me` means it."""
        return replace(super().of(me), shared_with=me.name if self.shared else "")


def favorites(routes: Table, kind: str, called: str, answer: str, favor: Favor) -> None:
    """Declare the routes by which an asset of `kind` becomes a favorite. `called`: it, with its article."""

    async def add(request: Request, ref: str) -> Response:
        return Json(await favor(platform(request), ref, who(request), True))

    async def remove(request: Request, ref: str) -> Response:
        return Json(await favor(platform(request), ref, who(request), False))

    add.__doc__ = f"Make {called} one of the caller's favorites; nobody else sees that."
    remove.__doc__ = f"Make {called} no favorite any more."
    for method, endpoint, name in (("PUT", add, "add_favorite"), ("DELETE", remove, "remove_favorite")):
        endpoint.__name__ = f"{name}_{kind}"
        path = f"/{kind}s/{{ref}}/favorite"
        routes.route(method, path, scope=f"{kind}s:read", answers={200: answer})(endpoint)
