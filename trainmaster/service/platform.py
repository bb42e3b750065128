"""The one object the API talks to: every use case of the platform, by name. Decides nothing itself."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any

from trainmaster._version import __version__
from trainmaster.access.decide import decide
from trainmaster.access.roles import Principal
from trainmaster.answers import (
    BatchView,
    ClusterView,
    EventsView,
    Explanation,
    JobDetail,
    JobFacets,
    JobPage,
    JobVersions,
    JobView,
    ModelDetail,
    ModelPage,
    NodeView,
    OutcomeView,
    PreviewView,
    Ready,
)
from trainmaster.core.errors import TrainmasterError
from trainmaster.core.records import Job
from trainmaster.core.states import JobShare
from trainmaster.engines.base import CardUsage, Terminal, Window
from trainmaster.service.context import Context
from trainmaster.service.language import Language
from trainmaster.service.life import Life
from trainmaster.service.people.people import People
from trainmaster.service.submitting.preview import Preview
from trainmaster.service.upkeep.retention import Retention
from trainmaster.service.use_cases.administer import Administer
from trainmaster.service.use_cases.assets.parts import AssetParts
from trainmaster.service.use_cases.auditing import Auditing
from trainmaster.service.use_cases.cluster import cluster_view, node_use
from trainmaster.service.use_cases.cluster_use import ClusterUses
from trainmaster.service.use_cases.cluster_views import ClusterViews
from trainmaster.service.use_cases.entering import Entering
from trainmaster.service.use_cases.finding.comparing import Comparing
from trainmaster.service.use_cases.finding.marking import Marking
from trainmaster.service.use_cases.finding.parts import FindingParts
from trainmaster.service.use_cases.jobs import UNSET, Jobs
from trainmaster.service.use_cases.listing import Chosen, Listing
from trainmaster.service.use_cases.money.balances import Balances
from trainmaster.service.use_cases.money.reports import Reports
from trainmaster.service.use_cases.notices.choosing import Choosing
from trainmaster.service.use_cases.notices.reading import Notifications
from trainmaster.service.use_cases.notices.webhooks import Webhooks
from trainmaster.service.use_cases.people.accounts import Accounts
from trainmaster.service.use_cases.people.entrance import Entrance
from trainmaster.service.use_cases.people.privacy import Privacy
from trainmaster.service.use_cases.personal.home import Home
from trainmaster.service.use_cases.queueing import Queueing
from trainmaster.service.use_cases.readiness import Readiness, Stats
from trainmaster.service.use_cases.sending import Uploads
from trainmaster.service.use_cases.what_if import WhatIf
from trainmaster.spec.document import Document, Given
from trainmaster.store.assets.versions import AssetQuery
from trainmaster.store.jobs.read_jobs import JobQuery


class Platform:
    """Made by `wiring.build`."""

    version = __version__

    def __init__(
        self,
        context: Context,
        life: Life,
        people: People,
        accounts: Accounts,
        entrance: Entrance,
        finding: FindingParts,
        assets: AssetParts,
        readiness: Readiness,
        auditing: Auditing,
        retention: Retention,
    ) -> None:
        self.context, self.people, self.auditing, self.retention = context, people, auditing, retention
        self.accounts, self.credentials, self.members = accounts, entrance.credentials, entrance.members
        self.inviting, self.sign_ins, self.public_keys = entrance.inviting, entrance.sign_ins, entrance.public_keys
        self.secrets, self.storage = entrance.secrets, entrance.storage
        self.notifications, self.choosing, self.webhooks = Notifications(context), Choosing(context), Webhooks(context)
        self.templates, self._models, self.sweeps = assets.templates, assets.models, assets.sweeps
        self.images, self.datasets, self.dataset_uploads = assets.images, assets.datasets, assets.dataset_uploads
        self.subscribing = assets.subscribing
        self.algorithms, self.volumes = assets.algorithms, assets.volumes
        self.volume_files, self.bin = assets.volume_files, assets.bin
        self.searching, self.saved_views = finding.searching, finding.saved_views
        self.lineages = finding.lineages
        self.reports, self.balances = Reports(context), Balances(context)
        self.config, self.layout, self.feed, self.seals, self.metrics = (
            context.config,
            context.layout,
            context.feed,
            context.seals,
            context.metrics,
        )
        self._life, self._readiness = life, readiness
        self._jobs, self._preview, self._entering = Jobs(context), Preview(context), Entering(context)
        self._uploads = Uploads(context, self._jobs)
        self.marking = Marking(context, self._jobs, context.favorites)
        self.comparing = Comparing(context, self._jobs, assets.models)
        self._listing = Listing(context, self._jobs, self.marking)
        self.administer, self.resources = Administer(context), ClusterViews(context)
        self.uses, self.privacy = ClusterUses(context), Privacy(context)
        self.queueing, self.what_if = Queueing(context, self.resources), WhatIf(context)
        self.home = Home(context, self._jobs, self.queueing, auditing)

    # -- life --------------------------------------------------------------------------------------------------

    async def start(self) -> None:
        """Begin. Raises Unavailable when no engine can be used."""
        await self._life.start()

    async def announce(self) -> None:
        """Tell the other servers of the home where this one answers, once it does. Raises StorageFailed,
        Unavailable.
        """
        await self._life.announce()

    async def stand_by(self) -> None:
        """Answer what rows and files say while another server leads, instead of `start`."""
        await self._life.stand_by()

    async def catch_up(self) -> None:
        """While standing by: take in how far the ledger is."""
        await self._life.catch_up()

    async def step_down(self) -> None:
        """Stand by from now on: another server leads."""
        await self._life.step_down()

    def leave(self) -> None:
        """Start nothing more."""
        self._life.leave()

    async def close(self) -> None:
        """Let go of everything; user processes go on."""
        await self._life.close()

    # -- jobs --------------------------------------------------------------------------------------------------

    async def submit(self, body: Given, who: Principal, key: str | None) -> tuple[JobView, bool]:
        """Take in one job; return (list item, created now?). Raises InvalidSpec, Unsatisfiable, Conflict,
        StorageFailed.
        """
        return await self.context.submit.submit(body, who, key)

    async def submit_batch(self, bodies: Sequence[Given], who: Principal, key: str | None) -> BatchView:
        """Take in all or none. Raises like `submit`."""
        return await self.context.submit.submit_batch(bodies, who, key)

    async def preview(self, body: Given, who: Principal, language: Language = "en") -> PreviewView:
        """Return what would happen, changing nothing; problems in `language`. Raises Forbidden."""
        return await self._preview.preview(body, who, language)

    async def jobs(
        self, query: JobQuery, limit: int, cursor: str | None, who: Principal, exact: bool = False
    ) -> JobPage:
        """Return one page. Raises InvalidSpec for a malformed cursor."""
        return await self._listing.page(query, limit, cursor, who, exact)

    async def job_facets(self, query: JobQuery, who: Principal) -> JobFacets:
        """Return what a list can be chosen by."""
        return await self._listing.facets(query, who)

    async def many(self, verb: str, chosen: Chosen, who: Principal, **change: Any) -> OutcomeView:
        """Stop, delete, change, tag or share several. Raises Conflict when more match than were expected."""
        return await self._listing.many(verb, chosen, who, **change)

    async def job(self, ref: str, who: Principal) -> JobDetail:
        """Return everything about one job. Raises NotFound."""
        return await self._jobs.detail(ref, who)

    async def resolve(self, ref: str, who: Principal) -> Job:
        """Return the record of one job. Raises NotFound."""
        return await self._jobs.resolve(ref, who)

    async def views(self, jobs: Sequence[Job], who: Principal, seq: str) -> list[JobView]:
        """Return list items of those of `jobs` that `who` may see, as they were at `seq`, for the feed."""
        return await self._jobs.views(jobs, who, seq)

    async def spec(self, ref: str, who: Principal, dialect: str, form: str) -> tuple[str, str]:
        """Return (text, media type) of the job's document. Raises NotFound."""
        return await self._jobs.spec(ref, who, dialect, form)

    async def events(self, ref: str, who: Principal, after: int) -> EventsView:
        """Return the job's events after `after`. Raises NotFound."""
        return await self._jobs.events(ref, who, after)

    async def explain(self, ref: str, who: Principal) -> Explanation:
        """Return why the job is where it is. Raises NotFound."""
        return await self._jobs.explain(ref, who)

    async def stop(self, ref: str, who: Principal, reason: str = "") -> JobView:
        """Stop one job. Raises NotFound, Conflict in the moment in which its outputs were saved."""
        return await self._jobs.stop(ref, who, reason)

    async def delete(self, ref: str, who: Principal) -> None:
        """Delete one ended job. Raises NotFound, Conflict before the end."""
        await self._jobs.delete(ref, who)

    async def copy_of(self, ref: str, who: Principal) -> Document:
        """Return the document of a copy, to edit. Raises NotFound."""
        return await self._jobs.copy_of(ref, who)

    async def clone(self, ref: str, who: Principal, set_: Given) -> JobView:
        """Submit a copy. Raises NotFound, InvalidSpec."""
        return await self._jobs.clone(ref, who, set_)

    async def versions(self, ref: str, who: Principal) -> JobVersions:
        """Return the versions of a job. Raises NotFound."""
        return await self._jobs.versions(ref, who)

    async def change(self, ref: str, who: Principal, duration_s: Any = UNSET, priority: Any = UNSET) -> JobView:
        """Change duration or priority. Raises NotFound, InvalidSpec, Conflict after the end."""
        return await self._jobs.change(ref, who, duration_s, priority)

    async def enter(
        self, ref: str, task: str, argv: Sequence[str], window: Window | None, who: Principal
    ) -> AbstractAsyncContextManager[Terminal]:
        """Return what runs `argv` inside a task of a job, for as long as it is held open. Raises NotFound, Conflict,
        Unavailable.
        """
        job = await self._jobs.resolve(ref, who, "jobs:write")
        return self._entering.enter(job, task, argv, window, who)

    async def release(self, ref: str, who: Principal) -> JobView:
        """End a debug hold. Raises NotFound, Conflict."""
        return await self._jobs.release(ref, who)

    async def upload_again(self, ref: str, who: Principal) -> JobView:
        """Upload again what failed of a job's outputs, or was left out. Raises NotFound, Conflict."""
        return await self._uploads.again(ref, who)

    async def share(self, ref: str, who: Principal, share: JobShare) -> JobView:
        """Share a job in its workspace, or no more. Raises NotFound, InvalidSpec."""
        return await self._jobs.share(ref, who, share)

    # -- the rest ----------------------------------------------------------------------------------------------

    async def cluster(self, who: Principal) -> ClusterView:
        """Return nodes, cards, who uses what."""
        decide(who, "cluster:read").demand()
        return cluster_view(self.context, decide(who, "jobs:read").visible, await self._card_usage())

    async def node_use(self, name: str, who: Principal) -> NodeView:
        """Return one node with its cards and who uses what of it. Raises Forbidden, NotFound."""
        decide(who, "cluster:read").demand()
        return node_use(self.context, decide(who, "jobs:read").visible, name, await self._card_usage())

    async def _card_usage(self) -> Mapping[str, Sequence[CardUsage]]:
        try:
            await self._life.see_machines()
            return await asyncio.to_thread(self.context.engines.card_usage)
        except TrainmasterError:
            return {}

    async def models(
        self, who: Principal, wanted: AssetQuery | None = None, limit: int = 100, cursor: str | None = None
    ) -> ModelPage:
        """Return a page of the saved models. Raises InvalidSpec for a cursor of another list."""
        return await self._models.page(who, wanted or AssetQuery(), limit, cursor)

    async def model(self, ref: str, who: Principal) -> ModelDetail:
        """Return one model with its versions. Raises NotFound."""
        return await self._models.detail(ref, who)

    async def model_files(self, ref: str, version: int, who: Principal) -> tuple[str, str]:
        """Return a model's name, and the folder with the files of one of its versions. Raises NotFound."""
        return await self._models.files(ref, version, who)

    async def favor_model(self, ref: str, who: Principal, wanted: bool) -> ModelDetail:
        """Make a model one of one's own favorites, or no more. Raises NotFound."""
        return await self._models.favor(ref, who, wanted)

    async def delete_model(self, ref: str, version: int | None, who: Principal) -> None:
        """Put a model into the bin, or one of its versions. Raises NotFound, Forbidden, Conflict."""
        await self._models.delete(ref, who, version)

    async def demand_room(self) -> None:
        """Raise StorageFailed while a disk is nearly full: nothing new is taken in."""
        await self.context.disks.demand_room()

    async def ready(self) -> Ready:
        """Return whether the ledger can be written and an engine answers."""
        return await self._readiness.ready()

    def stats(self) -> Stats:
        """Return counters and gauges for /metrics; cheap."""
        return self._readiness.stats()
