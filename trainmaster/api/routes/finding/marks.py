"""What people say of jobs: tags, a note, favorites; and tags and sharing of several at once."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import Response

from trainmaster.api.auth import who
from trainmaster.api.deps import Json, platform
from trainmaster.api.policy import Table
from trainmaster.api.routes.jobs import Several, Shared
from trainmaster.core.states import JobShare

routes = Table("marks")

Tags = Annotated[list[Annotated[str, Field(max_length=200)]], Field(max_length=64)]


class TagChange(BaseModel):
    """Tags to put on and to take away. Upper and lower case are the same tag."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    add: Tags = []
    remove: Tags = []


class NoteBody(BaseModel):
    """What is to be remembered of the job; "" takes it away."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    note: Annotated[str, Field(max_length=20_000)]


class TagsOfSeveral(Several, TagChange):
    """Jobs, and the tags that each gets and loses."""


class ShareOfSeveral(Several, Shared):
    """Jobs, and what other members of their workspaces may do with each."""


@routes.route("POST", "/jobs/tags", scope="jobs:write", answers={200: "Outcome"})
async def tag_jobs(request: Request, body: TagsOfSeveral) -> Response:
    """Change the tags of several jobs, ended ones too, as several are stopped."""
    chosen, change = body.chosen(who(request)), {"add": body.add, "remove": body.remove}
    return Json(await platform(request).many("tag", chosen, who(request), **change))


@routes.route("POST", "/jobs/share", scope="jobs:share", answers={200: "Outcome"})
async def share_jobs(request: Request, body: ShareOfSeveral) -> Response:
    """Share several jobs, ended ones too, as several are stopped."""
    chosen = body.chosen(who(request))
    return Json(await platform(request).many("share", chosen, who(request), share=JobShare(body.share)))


@routes.route("PATCH", "/jobs/{ref}/tags", scope="jobs:write", answers={200: "Job"})
async def tag_job(request: Request, ref: str, body: TagChange) -> Response:
    """Put tags on a job and take others away; also after its end. Labels are those of the job file and stay."""
    return Json(await platform(request).marking.tag(ref, who(request), body.add, body.remove))


@routes.route("PUT", "/jobs/{ref}/note", scope="jobs:write", answers={200: "Job"})
async def note_job(request: Request, ref: str, body: NoteBody) -> Response:
    """Say what is to be remembered of a job; also after its end."""
    return Json(await platform(request).marking.note(ref, who(request), body.note))


@routes.route("PUT", "/jobs/{ref}/favorite", scope="jobs:read", answers={200: "Job"})
async def add_favorite(request: Request, ref: str) -> Response:
    """Make a job one of the caller's favorites; nobody else sees that."""
    return Json(await platform(request).marking.favor(ref, who(request), True))


@routes.route("DELETE", "/jobs/{ref}/favorite", scope="jobs:read", answers={200: "Job"})
async def remove_favorite(request: Request, ref: str) -> Response:
    """Make a job no favorite any more."""
    return Json(await platform(request).marking.favor(ref, who(request), False))
