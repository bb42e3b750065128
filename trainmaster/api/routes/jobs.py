"""Submitting and what is done to one or many jobs. The submits are raw: no layer between bytes and use case."""

from typing import Annotated, Final, Literal

from fastapi import Query
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import Response

from trainmaster import answers
from trainmaster.access.roles import Principal
from trainmaster.api.auth import who, working
from trainmaster.api.deps import Cursor, DocumentJson, Json, language, paged, platform, read_object
from trainmaster.api.policy import By, Schema, Table
from trainmaster.api.problems import MOST_LISTED, InvalidRequest
from trainmaster.core.errors import problem_of
from trainmaster.core.states import JobShare, Shown
from trainmaster.messages.jobs import jobs as said
from trainmaster.messages.server import requests
from trainmaster.service.use_cases.listing import Chosen
from trainmaster.spec.document import Given
from trainmaster.store.jobs.job_query import JobQuery

routes = Table("jobs")

BATCH_LIMIT: Final = 16 * 2**20
BATCH_VALUES: Final = 1_000_000
"""10,000 jobs of 1.6 KB and 100 values each; larger ones come in several batches."""
IDEMPOTENCY_KEY: Final[Schema] = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "The same key with the same body gives the same job again; with another body a conflict.",
    "schema": {"type": "string", "minLength": 1, "maxLength": 200},
}
Number = int | float


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


_AS_GIVEN: Final[set[str]] = {
    "q", "owner", "workspace", "framework", "pool", "node", "sweep", "since", "until", "algorithm", "flavor", "output",
}  # fmt: skip
"""Filters that a query has under the same name."""


class Filter(_Body):
    """What a list of jobs is cut to."""

    state: Annotated[list[Shown], Field(max_length=len(Shown))] = []
    q: Annotated[str, Field(max_length=200)] = ""
    owner: Annotated[str, Field(max_length=200)] = ""
    mine: bool = False
    workspace: Annotated[str, Field(max_length=200)] = ""
    framework: Annotated[str, Field(max_length=100)] = ""
    pool: Annotated[str, Field(max_length=200)] = ""
    node: Annotated[str, Field(max_length=200)] = ""
    label: Annotated[list[Annotated[str, Field(max_length=600)]], Field(max_length=20)] = []
    tag: Annotated[list[Annotated[str, Field(max_length=200)]], Field(max_length=20)] = []
    favorite: bool = False
    sweep: Annotated[str, Field(max_length=200)] = ""
    algorithm: Annotated[str, Field(max_length=200)] = ""
    favorite_algorithm: bool = False
    flavor: Annotated[str, Field(max_length=200)] = ""
    output: Annotated[str, Field(max_length=600)] = ""
    since: Annotated[Number | None, Field(ge=0, le=2**53)] = None
    until: Annotated[Number | None, Field(ge=0, le=2**53)] = None

    def query(self, asks: Principal, order: str = "-submitted_at") -> JobQuery:
        """Return the same as `asks` means it. Raises InvalidRequest for `mine` with another `owner`."""
        given = self.model_dump(include=_AS_GIVEN)
        if self.mine:
            given["owner"] = asks.name
        if self.owner not in ("", given["owner"]):
            problem = problem_of("owner", said.owner_is_another(), self.owner)
            raise InvalidRequest(said.mine_of_another(), problems=(problem,))
        favorite_of = asks.name if self.favorite else ""
        return JobQuery(
            tuple(self.state),
            **given,
            labels=tuple(self.label),
            tags=tuple(self.tag),
            favorite_of=favorite_of,
            favorite_algorithms_of=asks.name if self.favorite_algorithm else "",
            order=order,
        )


class JobsQuery(Filter):
    """The same with an order, and which page. `exact`: count all that match, however many there are."""

    order: Annotated[str, Field(max_length=220)] = "-submitted_at"
    limit: Annotated[int, Field(ge=1, le=500)] = 50
    cursor: Cursor = None
    exact: bool = False


class Stop(_Body):
    """Why, in words shown with the job."""

    reason: Annotated[str, Field(max_length=500)] = ""


class Several(_Body):
    """Several jobs: `ids`, unique prefixes or slugs; or all that match a `filter`, of which there were `expected`
    (behind `after`, which the answer before told).
    """

    ids: Annotated[
        list[Annotated[str, Field(min_length=1, max_length=200)]] | None, Field(min_length=1, max_length=1000)
    ] = None
    filter: Filter | None = None
    expected: Annotated[int | None, Field(ge=0, le=2**53)] = None
    after: Annotated[str | None, Field(max_length=400)] = None

    def chosen(self, asks: Principal) -> Chosen:
        """Return the same as the service knows it. Raises InvalidRequest."""
        wrong = []
        if (self.ids is None) == (self.filter is None):
            wrong.append(problem_of("ids", said.one_of_ids_and_filter()))
        elif self.filter is not None and self.expected is None:
            wrong.append(problem_of("expected", said.expected_missing()))
        if wrong:
            raise InvalidRequest(said.ids_or_filter(), problems=tuple(wrong))
        query = self.filter.query(asks) if self.filter is not None else None
        return Chosen(tuple(self.ids or ()), query, self.expected or 0, self.after)


class Clone(_Body):
    """Changed fields by dotted path; `submit` false answers the document to edit."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    set_: Annotated[Given, Field(alias="set")] = {}
    submit: bool = True


class Change(_Body):
    """What is absent stays as it is; `duration_s` null takes the limit away."""

    duration_s: float | None = None
    priority: Literal["normal", "urgent", "very_urgent"] | None = None

    def given(self) -> answers.Json:
        """Return what is not absent. Raises InvalidRequest."""
        given = self.model_dump(exclude_unset=True, include={"duration_s", "priority"})
        if given.get("priority", "") is None:
            raise InvalidRequest(requests.change_not_valid(), problems=(problem_of("priority", requests.not_null()),))
        return given


class Shared(_Body):
    """What other members of the workspace may do."""

    share: Literal["none", "read", "read-write"]


class ChangeOfSeveral(Several, Change):
    """Jobs, and what becomes of each."""


@routes.route(
    "POST",
    "/jobs",
    scope="jobs:write",
    raw=True,
    answers={201: "Job", 200: "JobOrPreview"},
    takes="Submission",
    parameters=[IDEMPOTENCY_KEY],
)
async def submit_job(request: Request) -> Response:
    """Submit a job. 201: it is durable and queued; 200: it was submitted before under this key, or this is a dry
    run.
    """
    body = await read_object(request)
    app, me = platform(request), who(request)
    if body.get("dry_run"):
        async with working(request):
            return Json(await app.preview(body, me, language(request)))
    view, created = await app.submit(body, me, request.headers.get("idempotency-key"))
    return Json(view, status_code=201 if created else 200)


@routes.route(
    "POST",
    "/jobs/batch",
    scope="jobs:write",
    raw=True,
    answers={201: "Batch"},
    takes="Submissions",
    parameters=[IDEMPOTENCY_KEY],
    body_limit=BATCH_LIMIT,
)
async def submit_batch(request: Request) -> Response:
    """Submit 1 to 10,000 jobs, all or none."""
    body = await read_object(request, BATCH_VALUES)
    items = body.get("items")
    unknown = [name for name in body if name != "items"]
    wrong = [problem_of(name[:200], requests.not_in_a_batch()) for name in unknown[:MOST_LISTED]]
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        wrong.append(problem_of("items", requests.batch_not_a_list()))
    if wrong:
        raise InvalidRequest(requests.batch_not_valid(), problems=tuple(wrong))
    async with working(request):
        made = await platform(request).submit_batch(items or [], who(request), request.headers.get("idempotency-key"))
    return Json(made, status_code=201)


@routes.route("POST", "/jobs/preview", scope="jobs:write", raw=True, answers={200: "Preview"}, takes="Submission")
async def preview_job(request: Request) -> Response:
    """Say everything that is wrong with a job, what would run, and whether it would start now. Changes nothing."""
    body = await read_object(request)
    async with working(request):
        return Json(await platform(request).preview(body, who(request), language(request)))


@routes.route("GET", "/jobs", scope="jobs:read", answers={200: "JobPage"}, by=By.LEADER_FIRST)
async def list_jobs(request: Request, wanted: Annotated[JobsQuery, Query()]) -> Response:
    """List jobs, newest first. `state`, `tag` and `label` (`key` or `key=value`) repeat; each word of `q` is looked for
    in name, id, slug, description, owner, labels, tags, note, commands and parameters, one of one or two letters where
    a name or an id begins; `label:key=value` in it is the same as `label`. `favorite`: only the caller's favorites;
    `sweep`: only entries of the one with this id. `algorithm`: `NAME` or `NAME@VERSION`; `favorite_algorithm`: only of
    the caller's favorite algorithms; `output`: a place of object storage that results go to, or a folder above it, or
    the model that they become.
    """
    app, me = platform(request), who(request)
    query = wanted.query(me, wanted.order)
    return await paged(
        request, "jobs", wanted.cursor, lambda place: app.jobs(query, wanted.limit, place, me, wanted.exact)
    )


@routes.route("GET", "/jobs/facets", scope="jobs:read", answers={200: "JobFacets"}, by=By.ANY)
async def job_facets(request: Request, wanted: Annotated[Filter, Query()]) -> Response:
    """Say which values the list's filters can have, and how many jobs each would leave."""
    return Json(await platform(request).job_facets(wanted.query(who(request)), who(request)))


@routes.route("POST", "/jobs/stop", scope="jobs:write", answers={200: "Outcome"})
async def stop_jobs(request: Request, body: Several) -> Response:
    """Stop several jobs; each is done or refused for its own reason. Of a filter at most 1,000 at once: ask again with
    what the answer says in `left` and `after`.
    """
    return Json(await platform(request).many("stop", body.chosen(who(request)), who(request)))


@routes.route("POST", "/jobs/delete", scope="jobs:write", answers={200: "Outcome"})
async def delete_jobs(request: Request, body: Several) -> Response:
    """Delete several ended jobs, as several are stopped."""
    return Json(await platform(request).many("delete", body.chosen(who(request)), who(request)))


@routes.route("POST", "/jobs/change", scope="jobs:write", answers={200: "Outcome"})
async def change_jobs(request: Request, body: ChangeOfSeveral) -> Response:
    """Change the time limit or the priority of several jobs, as several are stopped."""
    chosen, change = body.chosen(who(request)), body.given()
    return Json(await platform(request).many("change", chosen, who(request), **change))


@routes.route("GET", "/jobs/{ref}", scope="jobs:read", answers={200: "JobDetail"}, by=By.LEADER_FIRST)
async def get_job(request: Request, ref: str) -> Response:
    """Show everything about one job; `ref` is an id, a unique prefix of one (4 or more characters), or a slug."""
    return Json(await platform(request).job(ref, who(request)))


@routes.route("PATCH", "/jobs/{ref}", scope="jobs:write", answers={200: "Job"})
async def change_job(request: Request, ref: str, body: Change) -> Response:
    """Change time limit or priority of a job that has not ended; its processes are untouched."""
    return Json(await platform(request).change(ref, who(request), **body.given()))


@routes.route("PUT", "/jobs/{ref}/share", scope="jobs:share", answers={200: "Job"}, body_limit=1024)
async def share_job(request: Request, ref: str, body: Shared) -> Response:
    """Share a job with the other members of its workspace: to read (look, clone), read-write (act on it as its owner
    does), or none. Also after its end.
    """
    return Json(await platform(request).share(ref, who(request), JobShare(body.share)))


@routes.route("DELETE", "/jobs/{ref}", scope="jobs:write", answers={204: ""})
async def delete_job(request: Request, ref: str) -> Response:
    """Delete an ended job with its logs and files; a saved model stays."""
    await platform(request).delete(ref, who(request))
    return Response(status_code=204)


@routes.route("GET", "/jobs/{ref}/spec", scope="jobs:read", answers={200: "Document or application/yaml"}, by=By.ANY)
async def get_spec(
    request: Request, ref: str, dialect: Literal["native", "pai"] = "native", form: Literal["json", "yaml"] = "json"
) -> Response:
    """Give the job's document back in a format, as YAML or JSON."""
    text, media_type = await platform(request).spec(ref, who(request), dialect, form)
    return Response(text, media_type=media_type)


@routes.route("GET", "/jobs/{ref}/events", scope="jobs:read", answers={200: "Events"}, by=By.LEADER_FIRST)
async def get_events(request: Request, ref: str, after: Annotated[int, Query(ge=0, le=2**53)] = 0) -> Response:
    """List what happened to the job, in order; without the first `after` of it."""
    return Json(await platform(request).events(ref, who(request), after))


@routes.route("GET", "/jobs/{ref}/explain", scope="jobs:read", answers={200: "Explanation"})
async def explain_job(request: Request, ref: str) -> Response:
    """Say why the job is queued, runs or ended, and what would change that."""
    return Json(await platform(request).explain(ref, who(request)))


@routes.route("POST", "/jobs/{ref}/stop", scope="jobs:write", answers={202: "Job"})
async def stop_job(request: Request, ref: str, body: Stop | None = None) -> Response:
    """Stop the job at once and for good. Asking twice is the same as asking once."""
    view = await platform(request).stop(ref, who(request), body.reason if body else "")
    return Json(view, status_code=202)


@routes.route("POST", "/jobs/{ref}/clone", scope="jobs:write", answers={201: "Job", 200: "Document"})
async def clone_job(request: Request, ref: str, body: Clone | None = None) -> Response:
    """Submit the same job again, with changes; or only give the document to edit."""
    body, app = body or Clone(), platform(request)
    if not body.submit:
        return DocumentJson(await app.copy_of(ref, who(request)))
    return Json(await app.clone(ref, who(request), body.set_), status_code=201)


@routes.route("GET", "/jobs/{ref}/versions", scope="jobs:read", answers={200: "JobVersions"}, by=By.LEADER_FIRST)
async def versions_of_job(request: Request, ref: str) -> Response:
    """List the versions of a job, the newest first: those made of it with clone or `version_of`, the last 200 of
    them.
    """
    return Json(await platform(request).versions(ref, who(request)))


@routes.route("POST", "/jobs/{ref}/release", scope="jobs:write", answers={200: "Job"})
async def release_job(request: Request, ref: str) -> Response:
    """End a debug hold."""
    return Json(await platform(request).release(ref, who(request)))


@routes.route("POST", "/jobs/{ref}/upload", scope="jobs:write", answers={200: "Job"})
async def upload_again(request: Request, ref: str) -> Response:
    """Upload again what of a job's outputs could not go to object storage, or was left out."""
    return Json(await platform(request).upload_again(ref, who(request)))
