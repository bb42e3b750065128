"""Workspaces with their quotas and limits, and the flavors that their jobs choose from."""

from typing import Annotated, Literal

from fastapi import Query
from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response

from trainmaster.api.auth import who
from trainmaster.api.deps import Json, platform
from trainmaster.api.policy import Table
from trainmaster.api.routes.money.amounts import Price
from trainmaster.api.routes.pools import Amount, Body, Limits, Name, Text, Word, limits
from trainmaster.core.cluster import DEFAULT, Flavor, Sharing, Workspace
from trainmaster.service.use_cases.cluster_parts import flavor_view

routes = Table("workspaces")

Count = Annotated[int, Field(ge=0, le=1_000_000)]
Most = Annotated[dict[Annotated[str, Field(max_length=100)], Amount | None], Field(max_length=100)]
MostByPool = Annotated[dict[Word, Most], Field(max_length=1000)]


class WorkspaceBody(Body):
    """A workspace as it is to be. `quotas`: by pool and resource; urgent limits null: any number. `per_person`: what
    each person may hold at most, by pool and resource; `people`: what some may hold instead, by name; null: no limit.
    `require_duration`: a job without a time limit of its own is refused. `storage`: what may be kept at most, by `mib`
    and `files`; `storage_per_person`, `storage_people`: the same of each person, and of some instead.
    """

    weight: Annotated[float, Field(gt=0, le=1e6, allow_inf_nan=False)] = 1.0
    quotas: dict[Word, Limits] = Field(default_factory=dict, max_length=1000)
    urgent_per_user: Count | None = None
    urgent_total: Count | None = None
    description: Text = ""
    sharing: Sharing = "open"
    per_person: MostByPool = Field(default_factory=dict)
    people: dict[Word, MostByPool] = Field(default_factory=dict, max_length=1000)
    require_duration: bool = False
    storage: Most = Field(default_factory=dict)
    storage_per_person: Most = Field(default_factory=dict)
    storage_people: dict[Word, Most] = Field(default_factory=dict, max_length=1000)


class PersonalBody(Body):
    """What people in a workspace may hold at most, instead of what was said before. `per_person`: each, by pool and
    resource; `people`: some of them, by name; null: no limit. `storage_per_person`, `storage_people`: what they may
    keep at most, by `mib` and `files`; null, or left out: as it was.
    """

    per_person: MostByPool = Field(default_factory=dict)
    people: dict[Word, MostByPool] = Field(default_factory=dict, max_length=1000)
    storage_per_person: Most | None = None
    storage_people: Annotated[dict[Word, Most], Field(max_length=1000)] | None = None


class FlavorBody(Body):
    """A flavor as it is to be. `gpu_share`: the part of a GPU, only with one GPU; `vendor`: who makes the GPUs;
    `price`: of one hour of one replica, 0 free, null as its pool says; `cache_mib`: local cache disk, which is only
    shown; `pools`: in which it is offered, empty in all.
    """

    cpu: Annotated[float, Field(ge=0.01, le=4096)] = 1.0
    memory_mib: Annotated[int, Field(ge=16, le=2**30)] = 1024
    gpu: Annotated[int, Field(ge=0, le=1024)] = 0
    gpu_type: Word | None = None
    gpu_share: Annotated[float, Field(ge=0.001, le=1)] = 1.0
    shm_mib: Annotated[int, Field(ge=0, le=2**30)] = 64
    description: Text = ""
    vendor: Annotated[str, Field(pattern=r"^([A-Za-z0-9][A-Za-z0-9 ._-]{0,62})?$")] = ""
    price: Price | None = None
    cache_mib: Annotated[int, Field(ge=0, le=2**40)] = 0
    pools: Annotated[tuple[Word, ...], Field(max_length=1000)] = ()


def workspace_of(name: str, body: WorkspaceBody) -> Workspace:
    """Return a workspace as a record."""
    quotas = {pool: limits(given) for pool, given in body.quotas.items()}
    return Workspace(
        name,
        body.weight,
        quotas,
        body.urgent_per_user,
        body.urgent_total,
        body.description,
        body.sharing,
        body.per_person,
        body.people,
        body.require_duration,
        body.storage,
        body.storage_per_person,
        body.storage_people,
    )


@routes.route("GET", "/workspaces", scope="cluster:read", answers={200: "Workspaces"})
async def list_workspaces(request: Request) -> Response:
    """List workspaces with quotas, limits and what counts against them."""
    return Json(platform(request).resources.workspaces(who(request)))


@routes.route("PUT", "/workspaces/{name}", scope="workspaces:write", answers={200: "Workspace"})
async def put_workspace(request: Request, name: Name, body: WorkspaceBody) -> Response:
    """Make or change a workspace with its quotas and limits."""
    app, me = platform(request), who(request)
    await app.administer.put_workspace(workspace_of(name, body), me)
    return Json(app.resources.workspace(name, me))


@routes.route("PUT", "/workspaces/{name}/limits", scope="limits:write", answers={200: "Workspace"})
async def put_limits(request: Request, name: Name, body: PersonalBody) -> Response:
    """Limit what each person in a workspace may hold: for its owners and admins, and administrators."""
    app, me = platform(request), who(request)
    kept = body.storage_per_person, body.storage_people
    await app.administer.put_limits(name, body.per_person, body.people, me, *kept)
    return Json(app.resources.workspace(name, me))


@routes.route("DELETE", "/workspaces/{name}", scope="workspaces:write", answers={204: ""})
async def delete_workspace(request: Request, name: Name) -> Response:
    """Remove a workspace that nobody uses."""
    await platform(request).administer.drop_workspace(name, who(request))
    return Response(status_code=204)


@routes.route("GET", "/flavors", scope="cluster:read", answers={200: "Flavors"})
async def list_flavors(
    request: Request,
    workspace: Annotated[str, Query(max_length=63)] = DEFAULT,
    kind: Literal["", "cpu", "gpu", "ascend", "mlu"] = "",
    model: Annotated[str, Query(max_length=63)] = "",
    pool: Annotated[str, Query(max_length=63)] = "",
    vendor: Annotated[str, Query(max_length=63)] = "",
) -> Response:
    """List the flavors of a workspace, of a type, GPU model or vendor or offered in a pool where asked, and what the
    queue asks for of every model.
    """
    return Json(platform(request).resources.flavors(who(request), workspace, kind, model, pool, vendor))


@routes.route("PUT", "/workspaces/{workspace}/flavors/{name}", scope="workspaces:write", answers={200: "Flavor"})
async def put_flavor(request: Request, workspace: Name, name: Name, body: FlavorBody) -> Response:
    """Make or change a flavor; jobs submitted before keep what it was."""
    flavor = Flavor(
        name,
        workspace,
        body.cpu,
        body.memory_mib,
        body.gpu,
        body.gpu_type,
        round(body.gpu_share * 1000),
        body.shm_mib,
        body.description,
        body.vendor,
        body.price,
        body.cache_mib,
        body.pools,
    )
    await platform(request).administer.put_flavor(flavor, who(request))
    return Json(flavor_view(flavor))


@routes.route("DELETE", "/workspaces/{workspace}/flavors/{name}", scope="workspaces:write", answers={204: ""})
async def delete_flavor(request: Request, workspace: Name, name: Name) -> Response:
    """Remove a flavor; jobs submitted before keep what it was."""
    await platform(request).administer.drop_flavor(workspace, name, who(request))
    return Response(status_code=204)
