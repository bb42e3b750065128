"""The bin: what was deleted of what people keep under a name, until it goes for good."""

from functools import partial
from typing import Annotated, Literal

from fastapi import Query
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import Response

from trainmaster.api.auth import who
from trainmaster.api.deps import Cursor, Json, paged, platform
from trainmaster.api.policy import By, Table
from trainmaster.store.assets.bin import BinQuery
from trainmaster.store.assets.versions import AssetKind

routes = Table("bin")

Short = Annotated[str, Field(max_length=200)]


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class BinWanted(_Body):
    """What of it, and which page. Each word of `q` is looked for in name, owner and who deleted it."""

    q: Short = ""
    owner: Short = ""
    mine: bool = False
    workspace: Short = ""
    kind: Literal["", "model", "template", "image", "dataset", "algorithm", "volume"] = ""
    limit: Annotated[int, Field(ge=1, le=500)] = 50
    cursor: Cursor = None


class RestoreBody(_Body):
    """Under which other name; absent: its own."""

    name: Short | None = None


class RemoveBody(_Body):
    """What is deleted for good: ids, or names."""

    ids: tuple[Short, ...]


@routes.route("GET", "/bin", scope="meta:read", answers={200: "BinPage"}, by=By.ANY)
async def list_bin(request: Request, wanted: Annotated[BinWanted, Query()]) -> Response:
    """List what was deleted and can come back, last first: of what one may delete. It counts in the storage quota until
    it goes for good.
    """
    me = who(request)
    kind = AssetKind(wanted.kind) if wanted.kind else None
    query = BinQuery(wanted.q, me.name if wanted.mine else wanted.owner, wanted.workspace, kind)
    return await paged(request, "bin", wanted.cursor, partial(platform(request).bin.page, me, query, wanted.limit))


@routes.route("POST", "/bin/{ref}/restore", scope="meta:read", answers={200: "Restored"})
async def restore(request: Request, ref: str, body: RestoreBody) -> Response:
    """Bring back what was deleted, as it was and as it was shared; `ref` is its id in the bin, or a name
    (NAME@VERSION: a version) that is there once.
    """
    return Json(await platform(request).bin.restore(ref, who(request), body.name))


@routes.route("POST", "/bin/remove", scope="meta:read", answers={200: "Outcome"})
async def remove_for_good(request: Request, body: RemoveBody) -> Response:
    """Delete for good, at most 500 at once: with an asset also its versions that were deleted before."""
    return Json(await platform(request).bin.remove(body.ids, who(request)))
