"""Search over everything, and saved views of the list of jobs."""

from typing import Annotated

from fastapi import Path, Query
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import Response

from trainmaster.api.auth import who
from trainmaster.api.deps import Json, platform
from trainmaster.api.policy import By, Table

routes = Table("search")

ViewName = Annotated[str, Path(max_length=200)]


class ViewBody(BaseModel):
    """A view: the `query` of the list's address, without the question mark. `workspace`: share it with its members."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    query: Annotated[str, Field(max_length=4000)]
    workspace: Annotated[str, Field(max_length=200)] | None = None


@routes.route("GET", "/search", scope="meta:read", answers={200: "Search"})
async def search(
    request: Request,
    q: Annotated[str, Query(max_length=200)] = "",
    limit: Annotated[int, Query(ge=1, le=50)] = 8,
) -> Response:
    """Find jobs, people, workspaces, pools, sweeps, data sets, volumes, templates, algorithms, images and models by
    words, of what the caller may know; in names of the first four a word with one wrong character is found near. For
    every field of jobs there is `GET /jobs`.
    """
    return Json(await platform(request).searching.everything(q, who(request), limit))


@routes.route("GET", "/views", scope="jobs:read", answers={200: "SavedViews"}, by=By.ANY)
async def list_views(request: Request) -> Response:
    """List the caller's saved views, and those that are shared with their workspaces."""
    return Json(await platform(request).saved_views.all(who(request)))


@routes.route("PUT", "/views/{name}", scope="jobs:read", answers={200: "SavedView"})
async def save_view(request: Request, name: ViewName, body: ViewBody) -> Response:
    """Save a view of the list of jobs, instead of the caller's of that name."""
    return Json(await platform(request).saved_views.put(name, body.query, body.workspace, who(request)))


@routes.route("DELETE", "/views/{name}", scope="jobs:read", answers={204: ""})
async def delete_view(request: Request, name: ViewName) -> Response:
    """Delete a saved view of the caller's."""
    await platform(request).saved_views.remove(name, who(request))
    return Response(status_code=204)
