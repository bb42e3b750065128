"""Templates: job documents under a name, from which jobs are submitted."""

from functools import partial
from typing import Annotated, Literal

from fastapi import Query
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import Response

from trainmaster.api.auth import who
from trainmaster.api.deps import Json, paged, platform
from trainmaster.api.policy import By, Table
from trainmaster.api.routes.assets.listing import ShareableAssets, favorites
from trainmaster.api.routes.jobs import IDEMPOTENCY_KEY, Shared
from trainmaster.core.states import JobShare
from trainmaster.service.use_cases.assets.templates import WantedEdit, WantedTemplate
from trainmaster.spec.document import Given

routes = Table("templates")

Text = Annotated[str, Field(max_length=4000)]
Short = Annotated[str, Field(max_length=200)]
Level = Literal["none", "read", "read-write"]


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class TemplateBody(_Body):
    """A template to make: of a job document, as a submission has it (`spec`, `dialect`, `set`), or of the `job` with
    this id, with what `set` changes. `share`: with the other members of the workspace in which its jobs run.
    """

    name: Short
    description: Text = ""
    spec: Given | None = None
    dialect: Literal["auto", "native", "pai"] = "auto"
    set_: Annotated[Given, Field(alias="set")] = {}
    job: Short | None = None
    share: Level = "none"


class TemplateChange(_Body):
    """What is to change of a template; what is absent stays. `version`: the one that was edited: if it is no longer the
    last, the change is refused; absent: whatever is there is replaced.
    """

    name: Short | None = None
    description: Text | None = None
    spec: Given | None = None
    dialect: Literal["auto", "native", "pai"] = "auto"
    version: Annotated[int | None, Field(ge=1, le=2**31)] = None


class CopyBody(_Body):
    """The new name; absent: a name that is free."""

    name: Short | None = None


class SeveralTemplates(_Body):
    """Templates: ids, unique beginnings of them, or names."""

    ids: Annotated[list[Annotated[str, Field(min_length=1, max_length=200)]], Field(min_length=1, max_length=1000)]


class TemplateSubmission(_Body):
    """What the job has that the template has not: `name`; `parameters`, set in every sub-task that has one of this
    name, in the first where none has; `set` by dotted path. `spec`: the whole document, as it became in a form.
    """

    name: Annotated[str | None, Field(max_length=200)] = None
    parameters: Given = {}
    set_: Annotated[Given, Field(alias="set")] = {}
    spec: Given | None = None


@routes.route("GET", "/templates", scope="templates:read", answers={200: "TemplatePage"}, by=By.ANY)
async def list_templates(request: Request, wanted: Annotated[ShareableAssets, Query()]) -> Response:
    """List templates, what was changed last first: one's own and what is shared. Each word of `q` is looked for in
    name, description, owner and id. `favorite`: only the caller's favorites; `shared`: only
    what others share with the members of their workspace.
    """
    me = who(request)
    page = partial(platform(request).templates.page, me, wanted.of(me), wanted.limit)
    return await paged(request, "templates", wanted.cursor, page)


@routes.route("POST", "/templates", scope="templates:write", answers={201: "TemplateDetail"})
async def create_template(request: Request, body: TemplateBody) -> Response:
    """Make a template of a job document or of a job. The document is checked as a job's is, but not by what is free."""
    submission = None
    if body.spec is not None:
        submission = {"spec": body.spec, "dialect": body.dialect, "set": body.set_}
    share = JobShare(body.share)
    wanted = WantedTemplate(body.name, submission, body.job, body.description, share, body.set_)
    return Json(await platform(request).templates.create(who(request), wanted), status_code=201)


@routes.route("POST", "/templates/delete", scope="templates:write", answers={200: "Outcome"})
async def delete_templates(request: Request, body: SeveralTemplates) -> Response:
    """Delete several templates; each is done or refused for its own reason."""
    return Json(await platform(request).templates.delete_many(tuple(body.ids), who(request)))


@routes.route("GET", "/templates/{ref}", scope="templates:read", answers={200: "TemplateDetail"}, by=By.ANY)
async def get_template(
    request: Request, ref: str, version: Annotated[int | None, Query(ge=1, le=2**31)] = None
) -> Response:
    """Show a template with its document, or with that of an older version; `ref` is an id, a unique beginning of one (4
    or more characters), or a name.
    """
    return Json(await platform(request).templates.detail(ref, who(request), version))


@routes.route("PATCH", "/templates/{ref}", scope="templates:write", answers={200: "TemplateDetail"})
async def change_template(request: Request, ref: str, body: TemplateChange) -> Response:
    """Change a template; what it was before stays as an older version."""
    submission = {"spec": body.spec, "dialect": body.dialect} if body.spec is not None else None
    wanted = WantedEdit(body.name, body.description, submission, body.version)
    return Json(await platform(request).templates.edit(ref, who(request), wanted))


@routes.route(
    "PUT", "/templates/{ref}/share", scope="templates:share", answers={200: "TemplateDetail"}, body_limit=1024
)
async def share_template(request: Request, ref: str, body: Shared) -> Response:
    """Share a template with the other members of its workspace: to read (copy it, make jobs of it), read-write (change
    and delete it, too), or none.
    """
    return Json(await platform(request).templates.share(ref, who(request), JobShare(body.share)))


@routes.route("POST", "/templates/{ref}/copy", scope="templates:write", answers={201: "TemplateDetail"})
async def copy_template(request: Request, ref: str, body: CopyBody | None = None) -> Response:
    """Make a template of one's own of one that one may see; it is not shared."""
    name = body.name if body is not None else None
    return Json(await platform(request).templates.copy(ref, who(request), name), status_code=201)


@routes.route("DELETE", "/templates/{ref}", scope="templates:write", answers={204: ""})
async def delete_template(request: Request, ref: str) -> Response:
    """Put a template with its versions into the bin; jobs that were made of it stay."""
    await platform(request).templates.delete(ref, who(request))
    return Response(status_code=204)


@routes.route(
    "POST",
    "/templates/{ref}/submit",
    scope="jobs:write",
    answers={201: "Job", 200: "Job"},
    parameters=[IDEMPOTENCY_KEY],
)
async def submit_template(request: Request, ref: str, body: TemplateSubmission | None = None) -> Response:
    """Submit a job of a template, and count that it was used."""
    body = body or TemplateSubmission()
    changes = {**body.set_, **({"name": body.name} if body.name is not None else {})}
    key = request.headers.get("idempotency-key")
    view, created = await platform(request).templates.submit(
        ref, who(request), changes, body.parameters, body.spec, key
    )
    return Json(view, status_code=201 if created else 200)


favorites(
    routes, "template", "a template", "TemplateDetail", lambda to, ref, me, wanted: to.templates.favor(ref, me, wanted)
)
