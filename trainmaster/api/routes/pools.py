"""Engines, pools, virtual clusters and nodes: who may use which machines, and which machines are in service."""

from collections.abc import Mapping
from typing import Annotated, Final, Literal

from fastapi import Path, Query
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import Response

from trainmaster.api.auth import who
from trainmaster.api.deps import Json, platform
from trainmaster.api.policy import Table
from trainmaster.api.routes.money.amounts import Price
from trainmaster.core.cluster import DEFAULT, Limit, Pool, VirtualCluster
from trainmaster.service.use_cases.cluster_views import Wanted

routes = Table("cluster")

WORD: Final = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$"
Name = Annotated[str, Path(pattern=WORD)]
Word = Annotated[str, Field(pattern=WORD)]
Text = Annotated[str, Field(max_length=500, pattern=r"^[^\x00-\x08\x0b\x0c\x0e-\x1f\x7f]*$")]
Amount = Annotated[float, Field(ge=0, le=1e12, allow_inf_nan=False)]
Node = Annotated[str, Path(min_length=1, max_length=255)]


class Body(BaseModel):
    """Base of what is sent: nothing unknown."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class LimitBody(Body):
    """What one is entitled to, and how much at most with what others leave unused (null: all of it)."""

    nominal: Amount = 0.0
    cap: Amount | None = None


Limits = Annotated[dict[Annotated[str, Field(max_length=100)], LimitBody], Field(max_length=100)]


class PoolBody(Body):
    """A pool as it is to be. `workspaces`: who may use a dedicated one; `price_gpu`, `price_cpu`: of one hour of a GPU
    and of a core where no flavor says a price, null as it was.
    """

    kind: Literal["public", "dedicated"] = "public"
    workspaces: Annotated[list[Word], Field(max_length=1000)] = []
    description: Text = ""
    price_gpu: Price | None = None
    price_cpu: Price | None = None


class VirtualClusterBody(Body):
    """A virtual cluster as it is to be: its pool, and what is guaranteed by resource (gpu, gpu:<model>, cpu,
    memory_mib).
    """

    pool: Word = DEFAULT
    share: Limits = {}
    description: Text = ""


class NodeBody(Body):
    """What is to change about a node."""

    pool: Word


class Remark(Body):
    """Why, in words shown with the node."""

    note: Text = ""


class Drain(Remark):
    """`evict`: which running jobs go back to the queue; the others end by themselves."""

    evict: Literal["none", "preemptible", "all"] = "preemptible"


def limits(given: Mapping[str, LimitBody]) -> dict[str, Limit]:
    """Return limits as records."""
    return {name: Limit(limit.nominal, limit.cap) for name, limit in given.items()}


def virtual_cluster_of(name: str, body: VirtualClusterBody) -> VirtualCluster:
    """Return a virtual cluster as a record."""
    return VirtualCluster(name, body.pool, limits(body.share), body.description)


@routes.route("GET", "/engines", scope="cluster:read", answers={200: "Engines"})
async def list_engines(request: Request) -> Response:
    """List what runs the jobs: pools and nodes of each engine, and whether it answers."""
    return Json(await platform(request).resources.engines(who(request)))


@routes.route("GET", "/pools", scope="cluster:read", answers={200: "ResourcePools"})
async def list_pools(request: Request, workspace: Annotated[str, Query(max_length=63)] = DEFAULT) -> Response:
    """List pools; one that `workspace` may not use is shown, but not selectable."""
    return Json(platform(request).resources.pools(who(request), workspace))


@routes.route("PUT", "/pools/{name}", scope="cluster:write", answers={200: "ResourcePool"})
async def put_pool(request: Request, name: Name, body: PoolBody) -> Response:
    """Make or change a pool."""
    app, me = platform(request), who(request)
    wanted = Pool(name, body.kind, tuple(body.workspaces), body.description)
    await app.administer.put_pool(wanted, me, body.price_gpu, body.price_cpu)
    return Json(app.resources.pool(name, me))


@routes.route("DELETE", "/pools/{name}", scope="cluster:write", answers={204: ""})
async def delete_pool(request: Request, name: Name) -> Response:
    """Remove a pool that nobody uses."""
    await platform(request).administer.drop_pool(name, who(request))
    return Response(status_code=204)


@routes.route("GET", "/virtual-clusters", scope="cluster:read", answers={200: "VirtualClusters"})
async def list_virtual_clusters(request: Request) -> Response:
    """List virtual clusters with what counts against them."""
    return Json(platform(request).resources.virtual_clusters(who(request)))


@routes.route("PUT", "/virtual-clusters/{name}", scope="cluster:write", answers={200: "VirtualCluster"})
async def put_virtual_cluster(request: Request, name: Name, body: VirtualClusterBody) -> Response:
    """Guarantee a share of a pool, or change it."""
    app, me = platform(request), who(request)
    await app.administer.put_virtual_cluster(virtual_cluster_of(name, body), me)
    return Json(app.resources.virtual_cluster(name, me))


@routes.route("DELETE", "/virtual-clusters/{name}", scope="cluster:write", answers={204: ""})
async def delete_virtual_cluster(request: Request, name: Name) -> Response:
    """Take back a share that no job counts against."""
    await platform(request).administer.drop_virtual_cluster(name, who(request))
    return Response(status_code=204)


@routes.route("GET", "/nodes", scope="cluster:read", answers={200: "NodePage"})
async def list_nodes(request: Request) -> Response:
    """List nodes: what they are, whether they are in service, what is used of them."""
    return Json(platform(request).resources.nodes(who(request)))


@routes.route("GET", "/nodes/{name}", scope="cluster:read", answers={200: "NodeDetail"})
async def get_node(request: Request, name: Node) -> Response:
    """Show one node."""
    return Json(platform(request).resources.node(name, who(request)))


@routes.route("PATCH", "/nodes/{name}", scope="cluster:write", answers={200: "NodeDetail"})
async def change_node(request: Request, name: Node, body: NodeBody) -> Response:
    """Move a node to another pool; what runs there goes on."""
    app, me = platform(request), who(request)
    await app.administer.assign(name, body.pool, me)
    return Json(app.resources.node(name, me))


@routes.route("POST", "/nodes/{name}/cordon", scope="cluster:write", answers={200: "NodeDetail"})
async def cordon_node(request: Request, name: Node, body: Remark | None = None) -> Response:
    """Start nothing on a node any more; what runs there goes on."""
    app, me = platform(request), who(request)
    await app.administer.cordon(name, body.note if body else "", me)
    return Json(app.resources.node(name, me))


@routes.route("POST", "/nodes/{name}/uncordon", scope="cluster:write", answers={200: "NodeDetail"})
async def uncordon_node(request: Request, name: Node) -> Response:
    """Put a node into service again."""
    app, me = platform(request), who(request)
    await app.administer.uncordon(name, me)
    return Json(app.resources.node(name, me))


@routes.route("POST", "/nodes/{name}/drain", scope="cluster:write", answers={200: "NodeDetail"})
async def drain_node(request: Request, name: Node, body: Drain | None = None) -> Response:
    """Cordon a node and let it become empty; preemptible jobs go back to the queue."""
    app, me, wish = platform(request), who(request), body or Drain()
    await app.administer.drain(name, wish.note, wish.evict, me)
    return Json(app.resources.node(name, me))


@routes.route("GET", "/cluster/resources", scope="cluster:read", answers={200: "ClusterResources"})
async def get_resources(
    request: Request,
    flavors: Annotated[list[str] | None, Query(max_length=64)] = None,
    workspace: Annotated[str, Query(max_length=63)] = DEFAULT,
    pool: Annotated[str, Query(max_length=63)] = "",
    model: Annotated[str, Query(max_length=63)] = "",
    owner: Annotated[str, Query(max_length=63)] = "",
    q: Annotated[str, Query(max_length=255)] = "",
    offset: Annotated[int, Query(ge=0, le=1_000_000)] = 0,
    limit: Annotated[int | None, Query(ge=1, le=500)] = None,
) -> Response:
    """Show the nodes that fit the chosen flavors, what is used of them, and what the queue asks for.

    `q`: a part of a node's name or address; `owner`: whose jobs hold something there; without `limit` all that match.
    """
    found = platform(request).resources.resources(
        who(request), flavors or [], workspace, pool, wanted=Wanted(q, model, owner), offset=offset, limit=limit
    )
    return Json(found)
