"""The client: one server, and what a program asks of it. Synchronous; works in scripts and notebooks.

    from trainmaster import Client
    job = Client().submit("job.yaml").wait(progress=True)

Invariant: a submit carries an idempotency key, so that a lost answer never becomes a second job (B4).
"""

import builtins
import os
import sys
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Unpack, cast

from trainmaster import answers
from trainmaster.sdk.administration.cluster import ClusterCalls
from trainmaster.sdk.administration.money import MoneyCalls
from trainmaster.sdk.administration.notices import NoticeCalls
from trainmaster.sdk.administration.people import PeopleCalls
from trainmaster.sdk.administration.storage import StorageCalls
from trainmaster.sdk.assets.algorithms import AlgorithmCalls
from trainmaster.sdk.assets.bin import Deleting
from trainmaster.sdk.assets.datasets import DatasetCalls
from trainmaster.sdk.assets.images import ImageCalls
from trainmaster.sdk.assets.models import SavedModels, segment
from trainmaster.sdk.assets.sweeps import SweepCalls
from trainmaster.sdk.assets.templates import TemplateCalls
from trainmaster.sdk.assets.volumes import VolumeCalls
from trainmaster.sdk.documents import SubmitBody, read_document
from trainmaster.sdk.find import locate
from trainmaster.sdk.finding.comparing import Comparison
from trainmaster.sdk.finding.filters import JobChange, JobFilters, JobsAsked, as_body
from trainmaster.sdk.finding.lineage import Tracing
from trainmaster.sdk.finding.views import ViewCalls
from trainmaster.sdk.jobs import Job
from trainmaster.spec.document import FieldChanges

if TYPE_CHECKING:
    import httpx

Sent = Callable[[int], None]
"""Is told how many more bytes of a code folder were sent."""
Few = Sequence[str]

UPLOAD_TIMEOUT_S: Final = 600.0


@contextmanager
def _no_command_line() -> Iterator[None]:
    """Keep httpx from importing its own command line, with rich and pygments: half of the time that it takes."""
    if "httpx" in sys.modules:
        yield
        return
    absent = cast("dict[str, object]", sys.modules)
    absent["httpx._main"] = None  # how Python marks what cannot be imported; httpx does without
    try:
        yield
    finally:
        absent.pop("httpx._main", None)


class Client(SavedModels, Deleting, Tracing):
    """One server, found by `url`, TRAINMASTER_URL, or the home folder of this machine (see sdk/find).

    `ca`: a file of certificates to trust (default: TRAINMASTER_CA), for a server behind a CA of your own. `language`:
    en or zh, of refusals and of what is shown while a job is awaited. `http` replaces the connection in tests. Raises
    Unavailable when nothing says where a server is, InvalidSpec when the certificates cannot be read.
    """

    def __init__(
        self,
        url: str | None = None,
        token: str | None = None,
        home: str | None = None,
        *,
        ca: str | None = None,
        language: str | None = None,
        http: "httpx.Client | None" = None,
    ) -> None:
        with _no_command_line():
            from trainmaster.sdk.transport import Transport  # noqa: PLC0415 (httpx: see there)

        target = locate(url, token, home)
        authorities = ca or os.environ.get("TRAINMASTER_CA") or None
        self.language = "zh" if language == "zh" else "en"
        self.http = Transport(target.url, target.token, ca=authorities, language=language, http=http)

    @property
    def url(self) -> str:
        """The server's address, which is also the console's."""
        return self.http.url

    def close(self) -> None:
        """Close the connections."""
        self.http.close()

    def __enter__(self) -> "Client":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def home(self) -> answers.HomeView:
        """Return what one sees first: what runs, waits and failed of one's own, what is free, what one used and did."""
        return self.http.read(answers.HomeView, "GET", "/home")

    # -- submitting --------------------------------------------------------------------------------------------

    def submit(
        self,
        spec: Any,
        *,
        set: FieldChanges | None = None,
        dialect: str = "auto",
        name: str | None = None,
        key: str | None = None,
        instead_of: str | None = None,
        version_of: str | None = None,
        on_upload: Sent | None = None,
    ) -> Job:
        """Submit a job file's path, a document or a JobSpec; return the job, which is durable and queued.

        `set` changes fields by dotted path (``{"roles.0.parameters.lr": 0.1}``), `name` the name; a `code:` folder is
        uploaded first. `key`: your own idempotency key. `instead_of`: id of a queued job of yours, which is stopped as
        this one is taken in, both or neither; `version_of`: of one whose next version this is. Raises InvalidSpec or
        Unsatisfiable with every problem, Conflict when that queued job is no longer so, Unavailable.
        """
        body = self.body(spec, set=set, dialect=dialect, name=name, on_upload=on_upload)
        beside = {"instead_of": instead_of, "version_of": version_of}
        named = {field: job for field, job in beside.items() if job is not None}
        sent, headers = {**body, **named}, {"idempotency-key": key or uuid.uuid4().hex}
        return Job(self, self.http.read(answers.JobView, "POST", "/jobs", json=sent, headers=headers, repeat=True))

    def submit_many(self, specs: Sequence[Any], *, key: str | None = None) -> builtins.list[Job]:
        """Submit up to 10,000 jobs, all or none; return them in order. Raises like `submit`, naming the item."""
        body = {"items": [self.body(spec) for spec in specs]}
        headers = {"idempotency-key": key or uuid.uuid4().hex}
        made = self.http.read(
            answers.BatchView, "POST", "/jobs/batch", json=body, headers=headers, repeat=True, timeout=300.0
        )
        return [Job(self, item) for item in made.items]

    def body(
        self,
        spec: Any,
        *,
        set: FieldChanges | None = None,
        dialect: str = "auto",
        name: str | None = None,
        on_upload: Sent | None = None,
        upload: bool = True,
    ) -> SubmitBody:
        """Return the request body for `spec`, its code folder uploaded, or with `upload` false promised."""
        from trainmaster.dialects.registry import dialect_of, with_upload  # noqa: PLC0415

        said = read_document(spec, set, dialect)
        document, changes = said.document, said.changes
        body: SubmitBody = {"spec": document, "dialect": dialect}
        if said.folder is not None and upload:
            body["spec"] = with_upload(document, self.upload(said.folder, on_upload), dialect)
        elif said.folder is not None:
            body["code_follows"] = True
        if name is not None:
            changes["jobName" if dialect_of(document) == "pai" else "name"] = name
        if changes:
            body["set"] = changes
        return body

    def upload(self, folder: str | os.PathLike[str], on_upload: Sent | None = None) -> str:
        """Upload a code folder; return its name, ``sha256:...``. Raises InvalidSpec, TooLarge before it is sent."""
        from trainmaster.sdk.pack import demand_small, pack  # noqa: PLC0415

        demand_small(folder, self.meta().limits.max_upload_mib)
        packed = pack(os.fspath(folder))

        def counted() -> Iterator[bytes]:
            for chunk in packed:
                if on_upload is not None:
                    on_upload(len(chunk))
                yield chunk

        headers = {"content-type": "application/gzip"}
        made = self.http.read(
            answers.Upload, "POST", "/uploads", content=counted(), headers=headers, timeout=UPLOAD_TIMEOUT_S
        )
        return made.upload

    def preview(
        self, spec: Any, *, set: FieldChanges | None = None, dialect: str = "auto", offline: bool = False
    ) -> answers.PreviewView:
        """Return what would happen: what is wrong, what would run, whether it fits. Changes nothing, uploads nothing.

        `offline`: check and show commands without the server (`fits` and `native` are then None); see sdk/offline.
        Raises InvalidSpec when `spec` cannot be read, Unavailable.
        """
        from trainmaster.sdk.offline import rehearse, with_folder  # noqa: PLC0415

        if offline:
            return rehearse(spec, set, dialect)
        body = self.body(spec, set=set, dialect=dialect, upload=False)
        found = self.http.read(answers.PreviewView, "POST", "/jobs/preview", json=body, repeat=True)
        return with_folder(found, read_document(spec, set, dialect).folder)

    # -- looking -----------------------------------------------------------------------------------------------

    def get(self, ref: str) -> Job:
        """Return a job with all its details; `ref` is an id, a unique beginning of one, or a slug. Raises NotFound,
        Conflict.
        """
        return Job(self, self.http.read(answers.JobDetail, "GET", f"/jobs/{segment(ref)}"))

    def list(self, limit: int | None = 50, **filters: Unpack[JobsAsked]) -> builtins.list[Job]:
        """Return jobs, newest first; `limit` None: all. Filters: those of JobFilters, and `order`, see JobsAsked."""
        return [*self.iterate(limit, **filters)]

    def iterate(self, limit: int | None = None, **filters: Unpack[JobsAsked]) -> Iterator[Job]:
        """Yield jobs page by page, like `list`."""
        cursor: str | None = None
        left = limit
        while left is None or left > 0:
            size = 500 if left is None else min(left, 500)
            params = {
                name: value for name, value in {**filters, "limit": size, "cursor": cursor}.items() if value is not None
            }
            page = self.http.read(answers.JobPage, "GET", "/jobs", params=params)
            for item in page.items:
                yield Job(self, item)
            left = None if left is None else left - len(page.items)
            cursor = page.next_cursor
            if cursor is None:
                return

    def facets(self, **filters: Unpack[JobFilters]) -> answers.JobFacets:
        """Return which values the filters of `list` can have, and how many jobs each would leave."""
        return self.http.read(answers.JobFacets, "GET", "/jobs/facets", params=filters)

    def count(self, **filters: Unpack[JobFilters]) -> int:
        """Return how many jobs match; filters like `list`."""
        return self.http.read(answers.JobPage, "GET", "/jobs", params={**filters, "limit": 1, "exact": True}).total

    def stop(
        self, refs: Sequence[str] = (), *, expected: int | None = None, **filters: Unpack[JobFilters]
    ) -> answers.OutcomeView:
        """Stop several jobs, or all that match filters of `list`; return which were, and why others were not.

        `expected`: with filters, how many may match (None: as many as do now). Raises Conflict when more do: then
        nothing is done.
        """
        return self._several("stop", refs, expected, filters)

    def delete(
        self, refs: Sequence[str] = (), *, expected: int | None = None, **filters: Unpack[JobFilters]
    ) -> answers.OutcomeView:
        """Delete several ended jobs, chosen as in `stop`; return which were, and why others were not."""
        return self._several("delete", refs, expected, filters)

    def change(
        self, refs: Sequence[str] = (), *, change: JobChange, expected: int | None = None, **filters: Unpack[JobFilters]
    ) -> answers.OutcomeView:
        """Change `duration_s` (None: no limit) or `priority` of several live jobs, chosen as in `stop`."""
        return self._several("change", refs, expected, filters, **change)

    def tag(
        self,
        refs: Few = (),
        *,
        add: Few = (),
        remove: Few = (),
        expected: int | None = None,
        **filters: Unpack[JobFilters],
    ) -> answers.OutcomeView:
        """Put tags on several jobs and take others away, chosen as in `stop`; ended ones, too."""
        return self._several("tags", refs, expected, filters, add=[*add], remove=[*remove])

    def share(
        self, refs: Sequence[str] = (), *, share: str, expected: int | None = None, **filters: Unpack[JobFilters]
    ) -> answers.OutcomeView:
        """Share several jobs (none, read, read-write) with their workspaces, chosen as in `stop`; ended ones, too."""
        return self._several("share", refs, expected, filters, share=share)

    def _several(
        self, verb: str, refs: Sequence[str], expected: int | None, filters: JobFilters, **more: Any
    ) -> answers.OutcomeView:
        path, repeat = f"/jobs/{verb}", verb != "delete"
        if refs or not filters:
            body: answers.Json = {"ids": [*refs], **more}
            return self.http.read(answers.OutcomeView, "POST", path, json=body, repeat=repeat)
        body = {"filter": as_body(filters), "expected": self.count(**filters) if expected is None else expected, **more}
        done: list[str] = []
        refused: list[answers.RefusedView] = []
        while True:
            part = self.http.read(answers.OutcomeView, "POST", path, json=body, repeat=repeat)
            done, refused = done + part.done, refused + part.refused
            if part.after is None:
                return answers.OutcomeView(done=done, refused=refused)
            body |= {"expected": part.left, "after": part.after}

    def search(self, q: str, limit: int = 8) -> answers.SearchView:
        """Find by words: jobs, sweeps, data sets, volumes, templates, algorithms, images, models, people and places."""
        return self.http.read(answers.SearchView, "GET", "/search", params={"q": q, "limit": limit})

    def compare(self, refs: Sequence[str]) -> Comparison:
        """Return up to 50 jobs side by side; a ref may also be ``NAME@VERSION`` of a model. Raises NotFound."""
        return self.http.read(Comparison, "GET", "/compare", params={"job": [*refs]})

    def cluster(self) -> answers.ClusterView:
        """Return nodes, cards, who uses what, and the queue in numbers."""
        return self.http.read(answers.ClusterView, "GET", "/cluster")

    def would_start(
        self,
        spec: Any,
        *,
        set: FieldChanges | None = None,
        dialect: str = "auto",
        instead_of: str | None = None,
        suggest: bool = False,
    ) -> answers.WouldStart:
        """Return whether a job would start now or queue (``when``); with several flavors, now when any way can.

        `instead_of`: id of a waiting job of yours that is taken not to wait, because this one would take its place;
        `suggest`: if it would wait, also say what would start it sooner (``suggestions``). Raises InvalidSpec.
        """
        asked = self.body(spec, set=set, dialect=dialect, upload=False)
        body = {**asked, "instead_of": instead_of, "suggest": suggest}
        return self.http.read(answers.WouldStart, "POST", "/queue/would-start", json=body, repeat=True)

    @property
    def admin(self) -> ClusterCalls:
        """Pools, nodes, workspaces, flavors, the queue and the audit."""
        return ClusterCalls(self.http)

    @property
    def people(self) -> PeopleCalls:
        """Accounts, and members of workspaces."""
        return PeopleCalls(self.http)

    @property
    def money(self) -> MoneyCalls:
        """Reports of use, balances, credits and budgets."""
        return MoneyCalls(self.http)

    @property
    def notices(self) -> NoticeCalls:
        """Your notifications, where they are told, and webhooks."""
        return NoticeCalls(self.http)

    @property
    def views(self) -> ViewCalls:
        """Saved views of the list of jobs."""
        return ViewCalls(self.http)

    @property
    def templates(self) -> TemplateCalls:
        """Templates: job documents under a name."""
        return TemplateCalls(self)

    @property
    def images(self) -> ImageCalls:
        """Images: environments that are built once, for jobs."""
        return ImageCalls(self)

    @property
    def datasets(self) -> DatasetCalls:
        """Data sets: trees of files with versions, which jobs are given to read."""
        return DatasetCalls(self)

    @property
    def volumes(self) -> VolumeCalls:
        """Volumes: folders that jobs read and write."""
        return VolumeCalls(self)

    @property
    def storage(self) -> StorageCalls:
        """Storage connections of workspaces, to object storage."""
        return StorageCalls(self.http)

    @property
    def algorithms(self) -> AlgorithmCalls:
        """Algorithms: programs with what may be set of them, which jobs run."""
        return AlgorithmCalls(self)

    @property
    def sweeps(self) -> SweepCalls:
        """Sweeps: many jobs of one document."""
        return SweepCalls(self)

    def meta(self) -> answers.Meta:
        """Return names in both languages, frameworks, limits and defaults."""
        return self.http.read(answers.Meta, "GET", "/meta")

    def session(self) -> answers.SessionView:
        """Return who we are to the server, and what the server is."""
        return self.http.read(answers.SessionView, "GET", "/session")
