"""What workspaces pass on to each other: a data set is offered to others, and taken in there under a name."""

from typing import Annotated

from fastapi import Path, Query
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import Response

from trainmaster.api.auth import who
from trainmaster.api.deps import Json, platform
from trainmaster.api.policy import By, Table
from trainmaster.api.routes.assets.listing import Short
from trainmaster.api.routes.pools import Name

routes = Table("subscriptions")

To = Annotated[str, Path(max_length=63)]
TakenAs = Annotated[str, Path(max_length=200)]
OFFER = "/datasets/{ref}/offers/{workspace}"
TAKEN = "/workspaces/{workspace}/subscriptions/dataset/{subscription}"


class Published(BaseModel):
    """Which of what is offered, and which page of it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    q: Short = ""
    limit: Annotated[int, Field(ge=1, le=500)] = 50
    cursor: Annotated[str | None, Field(max_length=1000)] = None


class TakenIn(BaseModel):
    """What is subscribed to: the id of a data set that is offered to the workspace."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    asset: Annotated[str, Field(min_length=1, max_length=200)]


@routes.route("PUT", OFFER, scope="datasets:share", answers={200: "DatasetDetail"})
async def offer_dataset(request: Request, ref: str, workspace: To) -> Response:
    """Offer a data set to another workspace, which may subscribe to it from then on; `*`: to every workspace."""
    return Json(await platform(request).subscribing.offer(ref, workspace, who(request)))


@routes.route("DELETE", OFFER, scope="datasets:share", answers={200: "DatasetDetail"})
async def withdraw_dataset(request: Request, ref: str, workspace: To) -> Response:
    """Take an offer back. Who subscribed by it sees nothing of the data set any more; running jobs keep it."""
    return Json(await platform(request).subscribing.withdraw(ref, workspace, who(request)))


@routes.route(
    "GET", "/workspaces/{workspace}/published", scope="datasets:read", answers={200: "PublishedPage"}, by=By.ANY
)
async def list_published(request: Request, workspace: Name, wanted: Annotated[Published, Query()]) -> Response:
    """List the data sets that other workspaces offer to this one, what was changed last first. Each word of `q` is
    looked for in name, description, owner, workspace and id.
    """
    found = await platform(request).subscribing.published(
        workspace, who(request), wanted.q, wanted.limit, wanted.cursor
    )
    return Json(found)


@routes.route(
    "GET", "/workspaces/{workspace}/subscriptions", scope="datasets:read", answers={200: "Subscriptions"}, by=By.ANY
)
async def list_subscriptions(request: Request, workspace: Name) -> Response:
    """List what a workspace subscribes to, also what is not offered to it any more."""
    return Json(await platform(request).subscribing.subscriptions(workspace, who(request)))


@routes.route("PUT", TAKEN, scope="jobs:submit", answers={200: "Subscription"}, body_limit=1024)
async def subscribe(request: Request, workspace: Name, subscription: TakenAs, body: TakenIn) -> Response:
    """Take a data set in that is offered to a workspace: its members find it there under this name, and may give it to
    jobs. One that it subscribes to already gets this name.
    """
    return Json(await platform(request).subscribing.subscribe(workspace, subscription, body.asset, who(request)))


@routes.route("DELETE", TAKEN, scope="jobs:submit", answers={204: ""})
async def unsubscribe(request: Request, workspace: Name, subscription: TakenAs) -> Response:
    """End a subscription. Running jobs keep the data set; queued jobs fail when they start."""
    await platform(request).subscribing.end(workspace, subscription, who(request))
    return Response(status_code=204)
