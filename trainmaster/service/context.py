"""What the use cases share: the parts of the platform by role, made once in `wiring`. Data only; decides nothing."""

import json
import logging
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from trainmaster.access.visible import Visible
from trainmaster.answers import ForecastView, ReasonView
from trainmaster.core.config import Config
from trainmaster.core.folders.layout import Layout
from trainmaster.core.records import Job
from trainmaster.core.states import JobState, Phase, Shown
from trainmaster.engines.registry import Engines
from trainmaster.queue.explaining.reasons import Known, NameOf
from trainmaster.service.cluster.pools import Pools
from trainmaster.service.control.ended import EndedJobs
from trainmaster.service.control.feed import Feed
from trainmaster.service.control.launching import Specs
from trainmaster.service.control.master import Master
from trainmaster.service.curves.metrics import MetricsReader, Summary
from trainmaster.service.environments.images import JobImages
from trainmaster.service.folders.disks import Disks
from trainmaster.service.folders.versions import InputVersions
from trainmaster.service.followers import LiveFollowers
from trainmaster.service.helpers.clerks import Clerks
from trainmaster.service.kept.kept import Kept
from trainmaster.service.kept.versions import KeptVersions
from trainmaster.service.money.purses import Purses
from trainmaster.service.objects.fetched import Fetched
from trainmaster.service.objects.sending import Sending
from trainmaster.service.scheduling.counts import StateCounts
from trainmaster.service.scheduling.forecasts import Forecasts
from trainmaster.service.scheduling.scheduling import Scheduling
from trainmaster.service.scheduling.shares import Shares
from trainmaster.service.scheduling.tally import Tally
from trainmaster.service.scheduling.waits import Waits, forecast_view, reason_view
from trainmaster.service.secrets.seals import Seals
from trainmaster.service.secrets.vault import Vault
from trainmaster.storage.trees import remove_tree
from trainmaster.store.assets.favorites import AssetFavorites
from trainmaster.store.assets.subscriptions import SubscriptionRows
from trainmaster.store.assets.versions import AssetReader
from trainmaster.store.jobs.favorites import Favorites
from trainmaster.store.jobs.read_jobs import JobReader
from trainmaster.store.jobs.read_ledger import LedgerReader
from trainmaster.store.money.entries import MoneyRows

log = logging.getLogger("trainmaster.context")

if TYPE_CHECKING:
    from trainmaster.service.admission.admission import Admission
    from trainmaster.service.control.saving import Saving
    from trainmaster.service.notices.parts import NoticeParts
    from trainmaster.service.submitting.submit import Submit
    from trainmaster.service.upkeep.binned import BinKeeper
    from trainmaster.service.upkeep.budgets import BudgetKeeper
    from trainmaster.service.upkeep.dates import Dates
    from trainmaster.service.upkeep.early import EarlyStopping
    from trainmaster.service.upkeep.folders import FolderKeeper
    from trainmaster.service.upkeep.results import ResultKeeper
    from trainmaster.service.upkeep.volumes import VolumeKeeper


@dataclass(slots=True)
class Context:
    """The parts, by name."""

    config: Config
    layout: Layout
    clock: Callable[[], float]
    random_bytes: Callable[[int], bytes]
    master: Master
    followers: LiveFollowers
    feed: Feed
    records: LedgerReader
    reader: JobReader
    favorites: Favorites
    asset_favorites: AssetFavorites
    passed_on: SubscriptionRows
    engines: Engines
    specs: Specs
    metrics: MetricsReader
    pools: Pools
    entries: MoneyRows
    clerks: Clerks
    vault: Vault
    seals: Seals
    assets: AssetReader
    images: JobImages
    fetched: Fetched
    versions: InputVersions
    kept: Kept
    kept_versions: KeptVersions
    leads: bool
    """Whether this process owns the live jobs. If not, `master.live` is empty, and `followers` know nothing: readers
    take rows.
    """
    scheduling: Scheduling = field(init=False)
    counts: StateCounts = field(init=False)
    tally: Tally = field(init=False)
    forecasts: Forecasts = field(init=False)
    shares: Shares = field(init=False)
    waits: Waits = field(init=False)
    disks: Disks = field(init=False)
    purses: Purses = field(init=False)
    admission: "Admission" = field(init=False)
    submit: "Submit" = field(init=False)
    dates: "Dates" = field(init=False)
    budgets: "BudgetKeeper" = field(init=False)
    results: "ResultKeeper" = field(init=False)
    early: "EarlyStopping" = field(init=False)
    folders: "FolderKeeper" = field(init=False)
    volumes: "VolumeKeeper" = field(init=False)
    bin: "BinKeeper" = field(init=False)
    saving: "Saving" = field(init=False)
    sending: Sending = field(init=False)
    ended: EndedJobs = field(init=False)
    notices: "NoticeParts" = field(init=False)

    def __post_init__(self) -> None:
        """Name those that follow the live jobs, too: most use cases ask one of them."""
        self.scheduling, self.counts, self.tally = (
            self.followers.scheduling,
            self.followers.counts,
            self.followers.tally,
        )
        self.forecasts, self.shares = self.followers.forecasts, self.followers.shares
        self.waits, self.disks, self.purses = self.followers.waits, self.followers.disks, self.followers.purses

    def newest(self, job: Job) -> Job | None:
        """Return `job`, which was just found, as it is at this moment; None once it is not live any more."""
        return self.master.live.get(job.id) if self.leads else job

    def names_for(self, visible: Visible) -> NameOf:
        """Return what gives by its id what may be known of a live job."""

        def name_of(job_id: str) -> Known:
            job = self.master.live.get(job_id)
            if job is None:
                return Known()
            return Known(job.name if visible.covers(job) else None, visible.owner_of(job))

        return name_of

    def reason(self, job: Job, name_of: NameOf) -> ReasonView | None:
        """Return why `job` waits, here or in the queue of a cluster; None when it does not, or the cluster has not said
        it yet.

        None also where another process leads, which alone knows it.
        """
        if not self.leads:
            return None
        waiting = self.waits.of(job)
        if waiting is None and (held_up := self.held_up(job)) is not None:
            return held_up
        if waiting is None:
            return self.scheduling.reason(job, name_of)
        ours = job.attempt is not None and job.attempt.phase is Phase.STAGING
        return reason_view(waiting, None if ours else self.engines.of(job.pool).name)

    def held_up(self, job: Job) -> ReasonView | None:
        """Return why `job` does not start whoever's turn it is, None when that is not so or it does not wait."""
        if job.state is not JobState.QUEUED:
            return None
        return self.disks.reason() or self.scheduling.pausing.reason(job) or self.scheduling.turns.reason(job)

    def forecast(self, job: Job) -> ForecastView | None:
        """Return when `job` is expected to start, by whoever decides that; None when it does not wait."""
        return self.foretold(job) or self.forecasts.view(job, self.clock())

    def foretold(self, job: Job) -> ForecastView | None:
        """Return when the engine expects to start a job that waits in a queue of its own, None of any other."""
        if not self.leads or job.shown is not Shown.PENDING:
            return None
        return forecast_view(self.waits.of(job), self.engines.of(job.pool).name)

    @staticmethod
    def json(document: Any) -> str:
        """Return readable JSON text."""
        return json.dumps(document, ensure_ascii=False, indent=2)

    def watched(self, jobs: Sequence[Job]) -> list[Summary]:
        """Return progress and last metrics of each job, in order. Reads small files: call it in a thread."""
        return [self.metrics.summary(job, self.specs.fetch_or_none(job.spec_digest)) for job in jobs]

    def remove_files(self, job_id: str) -> None:
        """Remove everything a deleted job left, except saved models; what cannot be removed now is at the next start.
        Blocking.
        """
        path = self.layout.job(job_id)
        try:
            remove_tree(path)
        except OSError as error:
            log.warning("files of the deleted job %s are left in %s: %s", job_id, path, error)
        self.metrics.forget(job_id)
        self.kept.removed(job_id)
        with suppress(OSError):  # the parent folder may still hold other jobs
            os.rmdir(os.path.dirname(path))
