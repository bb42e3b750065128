"""What workspaces pass on to each other: data sets, algorithms, images and templates are offered to others, and taken
in there under a name.
"""

from typing import Annotated, Final

from fastapi import Path, Query
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import Response

from trainmaster.answers import PassedKind
from trainmaster.api.auth import who
from trainmaster.api.deps import Json, platform
from trainmaster.api.policy import By, Table
from trainmaster.api.routes.assets.listing import Short
from trainmaster.api.routes.pools import Name
from trainmaster.store.assets.versions import AssetKind

routes = Table("subscriptions")

To = Annotated[str, Path(max_length=63)]
TakenAs = Annotated[str, Path(max_length=200)]
TAKEN = "/workspaces/{workspace}/subscriptions/{kind}/{subscription}"
OFFERED: Final = {
    AssetKind.DATASET: ("a data set", "DatasetDetail"),
    AssetKind.ALGORITHM: ("an algorithm", "AlgorithmDetail"),
    AssetKind.IMAGE: ("an image", "ImageDetail"),
    AssetKind.TEMPLATE: ("a template", "TemplateDetail"),
}
"""What is passed on: what it is called, with its article, and what shows it."""
_ALSO: Final = {AssetKind.IMAGE: " One that its registry gives out for a secret cannot be offered."}
_KEEPS: Final = {
    AssetKind.DATASET: "running jobs keep it, queued jobs fail when they start.",
    AssetKind.ALGORITHM: "jobs that were submitted keep what they have of it.",
    AssetKind.IMAGE: "running jobs keep it, queued jobs fail when they start.",
    AssetKind.TEMPLATE: "jobs that were made of it stay.",
}


class OfKind(BaseModel):
    """Of which kind."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: PassedKind = "dataset"


class Published(OfKind):
    """Which of what is offered, and which page of it."""

    q: Short = ""
    limit: Annotated[int, Field(ge=1, le=500)] = 50
    cursor: Annotated[str | None, Field(max_length=1000)] = None


class TakenIn(BaseModel):
    """What is subscribed to: the id of something that is offered to the workspace."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    asset: Annotated[str, Field(min_length=1, max_length=200)]


def _offers(kind: AssetKind, called: str, answer: str) -> None:
    """Declare the routes by which something of a kind is offered, and no more."""

    async def offer(request: Request, ref: str, workspace: To) -> Response:
        return Json(await platform(request).subscribing.offer(kind, ref, workspace, who(request)))

    async def withdraw(request: Request, ref: str, workspace: To) -> Response:
        return Json(await platform(request).subscribing.withdraw(kind, ref, workspace, who(request)))

    offer.__doc__ = (
        f"Offer {called} to another workspace, which may subscribe to it from then on; `*`: to every workspace."
        f"{_ALSO.get(kind, '')}"
    )
    withdraw.__doc__ = f"Take an offer back. Who subscribed by it sees nothing of it any more; {_KEEPS[kind]}"
    for method, endpoint in (("PUT", offer), ("DELETE", withdraw)):
        endpoint.__name__ = f"{endpoint.__name__}_{kind}"
        path = f"/{kind}s/{{ref}}/offers/{{workspace}}"
        routes.route(method, path, scope=f"{kind}s:share", answers={200: answer})(endpoint)


for _kind, (_called, _answer) in OFFERED.items():
    _offers(_kind, _called, _answer)


@routes.route("GET", "/workspaces/{workspace}/published", scope="meta:read", answers={200: "PublishedPage"}, by=By.ANY)
async def list_published(request: Request, workspace: Name, wanted: Annotated[Published, Query()]) -> Response:
    """List what other workspaces offer to this one, what was changed last first. Each word of `q` is looked for in
    name, description, owner, workspace and id. For who may read what is of this kind.
    """
    kind, me = AssetKind(wanted.kind), who(request)
    found = await platform(request).subscribing.published(kind, workspace, me, wanted.q, wanted.limit, wanted.cursor)
    return Json(found)


@routes.route(
    "GET", "/workspaces/{workspace}/subscriptions", scope="meta:read", answers={200: "Subscriptions"}, by=By.ANY
)
async def list_subscriptions(request: Request, workspace: Name, wanted: Annotated[OfKind, Query()]) -> Response:
    """List what a workspace subscribes to, also what is not offered to it any more. For who may read what is of this
    kind.
    """
    return Json(await platform(request).subscribing.subscriptions(AssetKind(wanted.kind), workspace, who(request)))


@routes.route("PUT", TAKEN, scope="jobs:submit", answers={200: "Subscription"}, body_limit=1024)
async def subscribe(
    request: Request, workspace: Name, kind: PassedKind, subscription: TakenAs, body: TakenIn
) -> Response:
    """Take something in that is offered to a workspace: its members find it there under this name, and may use it in
    jobs. What it subscribes to already gets this name.
    """
    me = who(request)
    return Json(await platform(request).subscribing.subscribe(AssetKind(kind), workspace, subscription, body.asset, me))


@routes.route("DELETE", TAKEN, scope="jobs:submit", answers={204: ""})
async def unsubscribe(request: Request, workspace: Name, kind: PassedKind, subscription: TakenAs) -> Response:
    """End a subscription. Running jobs keep what they have; queued jobs that need a data set or an image fail when they
    start.
    """
    await platform(request).subscribing.end(AssetKind(kind), workspace, subscription, who(request))
    return Response(status_code=204)
