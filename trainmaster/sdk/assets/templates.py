"""Templates: job documents under a name, from which jobs are submitted. What `Client.templates` offers."""

import builtins
import uuid
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Unpack
from urllib.parse import quote

from trainmaster import answers
from trainmaster.sdk.assets.listing import AssetFilters, pages
from trainmaster.sdk.assets.subscriptions import PassingOn
from trainmaster.sdk.jobs import Job
from trainmaster.spec.document import FieldChanges

if TYPE_CHECKING:
    from trainmaster.sdk.client import Client, Sent


class TemplateCalls(PassingOn[answers.TemplateDetail]):
    """See the module. `ref` is an id, a unique beginning of one, or a name. Every method raises Forbidden for who may
    not, NotFound for what is not there or not shared, InvalidSpec with all problems, Conflict, Unavailable.
    """

    _kind = "template"
    _shows = answers.TemplateDetail

    def __init__(self, client: "Client") -> None:
        self._client, self._http = client, client.http

    def list(
        self, q: str = "", *, limit: int | None = 50, **filters: Unpack[AssetFilters]
    ) -> builtins.list[answers.TemplateView]:
        """Return templates, what was changed last first; `limit` None: all. `q`: words in name, description, owner,
        id.
        """
        return [*self.iterate(q, limit=limit, **filters)]

    def iterate(
        self, q: str = "", *, limit: int | None = None, **filters: Unpack[AssetFilters]
    ) -> Iterator[answers.TemplateView]:
        """Yield templates page by page, like `list`."""

        def read(asked: dict[str, object]) -> answers.TemplatePage:
            return self._http.read(answers.TemplatePage, "GET", "/templates", params=asked)

        return pages(read, {"q": q, **filters}, limit)

    def get(self, ref: str, version: int | None = None) -> answers.TemplateDetail:
        """Return a template with its document (`spec`), or with that of an older version."""
        params = {} if version is None else {"version": version}
        return self._http.read(answers.TemplateDetail, "GET", self._at(ref), params=params)

    def create(
        self,
        name: str,
        spec: Any = None,
        *,
        job: str | None = None,
        set: FieldChanges | None = None,
        description: str = "",
        share: str = "none",
        on_upload: "Sent | None" = None,
    ) -> answers.TemplateDetail:
        """Make a template of a job file's path, a document or a JobSpec, or of the `job` with this id, with what `set`
        changes by dotted path. A `code:` folder is uploaded first.
        """
        body: dict[str, object] = {"name": name, "description": description, "share": share}
        if spec is not None:
            body.update(self._client.body(spec, set=set, on_upload=on_upload))
        elif set:
            body["set"] = dict(set)
        if job is not None:
            body["job"] = job
        return self._http.read(answers.TemplateDetail, "POST", "/templates", json=body)

    def edit(
        self,
        ref: str,
        spec: Any = None,
        *,
        name: str | None = None,
        description: str | None = None,
        version: int | None = None,
        on_upload: "Sent | None" = None,
    ) -> answers.TemplateDetail:
        """Change a template: what is None stays. `version`: the one that you edited; Conflict if it is not the last any
        more.
        """
        given: dict[str, object] = {"name": name, "description": description, "version": version}
        body: dict[str, object] = {key: value for key, value in given.items() if value is not None}
        if spec is not None:
            body.update(self._client.body(spec, on_upload=on_upload))
        return self._http.read(answers.TemplateDetail, "PATCH", self._at(ref), json=body)

    def share(self, ref: str, share: str) -> answers.TemplateDetail:
        """Share a template with the other members of its workspace, or no more."""
        return self._http.read(
            answers.TemplateDetail, "PUT", self._at(ref, "/share"), json={"share": share}, repeat=True
        )

    def copy(self, ref: str, name: str | None = None) -> answers.TemplateDetail:
        """Make a template of yours of another; `name` None: one that is free."""
        body = {} if name is None else {"name": name}
        return self._http.read(answers.TemplateDetail, "POST", self._at(ref, "/copy"), json=body)

    def favor(self, ref: str, wanted: bool = True) -> answers.TemplateDetail:
        """Make a template one of one's own favorites, or no more."""
        return self._http.read(answers.TemplateDetail, "PUT" if wanted else "DELETE", self._at(ref, "/favorite"))

    def delete(self, ref: str) -> None:
        """Delete a template with its versions; jobs that were made of it stay."""
        self._http.request("DELETE", self._at(ref))

    def delete_many(self, refs: Sequence[str]) -> answers.OutcomeView:
        """Delete several templates; return which were, and why others were not."""
        return self._http.read(answers.OutcomeView, "POST", "/templates/delete", json={"ids": [*refs]})

    def submit(
        self,
        ref: str,
        *,
        name: str | None = None,
        parameters: Mapping[str, object] | None = None,
        set: FieldChanges | None = None,
        key: str | None = None,
    ) -> Job:
        """Submit a job of a template; raises like `Client.submit`. `parameters` are set in every role that has one of
        this name, in the first where none has; `set` changes fields by dotted path.
        """
        body: dict[str, object] = {"parameters": dict(parameters or {}), "set": dict(set or {})}
        if name is not None:
            body["name"] = name
        headers = {"idempotency-key": key or uuid.uuid4().hex}
        made = self._http.read(
            answers.JobView, "POST", self._at(ref, "/submit"), json=body, headers=headers, repeat=True
        )
        return Job(self._client, made)

    @staticmethod
    def _at(ref: str, after: str = "") -> str:
        return f"/templates/{quote(ref, safe='') or '%20'}{after}"
