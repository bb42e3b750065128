"""Makes a Platform from a home folder. The only module that names concrete classes, but for engines, which their kinds
make.
"""

import os
from dataclasses import replace

from trainmaster.agent.caching.cache import root_of
from trainmaster.core.config import Config
from trainmaster.core.folders.layout import Layout
from trainmaster.engines import kinds
from trainmaster.engines.registry import Engines
from trainmaster.service.admission.admission import Admission, Means
from trainmaster.service.admission.stored import StoredInputs
from trainmaster.service.admission.urgent import UrgentLimits
from trainmaster.service.cluster.demo import with_demo_cards
from trainmaster.service.cluster.pools import Pools
from trainmaster.service.context import Context
from trainmaster.service.control.clock import Clock
from trainmaster.service.control.ended import EndedJobs
from trainmaster.service.control.feed import Feed
from trainmaster.service.control.launching import Launching, Specs
from trainmaster.service.control.master import Master
from trainmaster.service.control.observe import Observer
from trainmaster.service.control.orders import OrderRunner
from trainmaster.service.control.saving import Saving
from trainmaster.service.control.timers import Timers
from trainmaster.service.curves.metrics import MetricsReader
from trainmaster.service.environments.builds import Builds
from trainmaster.service.environments.containers import Containers
from trainmaster.service.environments.images import JobImages, NeededBy, NeededImage
from trainmaster.service.environments.keeper import EnvironmentKeeper
from trainmaster.service.environments.workshop import Workshop
from trainmaster.service.folders.disks import Disks
from trainmaster.service.folders.homes import prepare_data, prepare_home
from trainmaster.service.folders.looks import Looks
from trainmaster.service.folders.versions import InputVersions
from trainmaster.service.followers import LiveFollowers
from trainmaster.service.helpers.clerks import Clerks
from trainmaster.service.helpers.random_blocks import RandomBlocks
from trainmaster.service.kept.kept import Kept
from trainmaster.service.kept.versions import KeptVersions
from trainmaster.service.kept.volumes import KeptVolumes
from trainmaster.service.life import Life
from trainmaster.service.money.purses import Purses
from trainmaster.service.notices.parts import NoticeParts
from trainmaster.service.objects.fetched import fetched_of
from trainmaster.service.objects.sending import Sending
from trainmaster.service.people.people import People
from trainmaster.service.platform import Platform
from trainmaster.service.scheduling.counts import Group, StateCounts
from trainmaster.service.scheduling.forecasts import Forecasts
from trainmaster.service.scheduling.scheduling import Scheduling
from trainmaster.service.scheduling.shares import Shares
from trainmaster.service.scheduling.tally import Tally
from trainmaster.service.scheduling.waits import Waits
from trainmaster.service.secrets.seals import Seals
from trainmaster.service.secrets.vault import Vault
from trainmaster.service.settings import load
from trainmaster.service.submitting.submit import Submit
from trainmaster.service.upkeep.binned import BinKeeper, BinRule
from trainmaster.service.upkeep.budgets import BudgetKeeper
from trainmaster.service.upkeep.dates import Dates
from trainmaster.service.upkeep.early import EarlyStopping
from trainmaster.service.upkeep.folders import FolderKeeper
from trainmaster.service.upkeep.pulse import Pulse
from trainmaster.service.upkeep.results import ResultKeeper
from trainmaster.service.upkeep.retention import Retention
from trainmaster.service.upkeep.retention_rules import Keeping, rules_of
from trainmaster.service.upkeep.sweeping import Sweeper
from trainmaster.service.upkeep.volumes import VolumeKeeper
from trainmaster.service.use_cases.assets.parts import assets_of
from trainmaster.service.use_cases.auditing import Auditing
from trainmaster.service.use_cases.finding.parts import finding_of
from trainmaster.service.use_cases.jobs import Jobs
from trainmaster.service.use_cases.money.balances import Balances
from trainmaster.service.use_cases.people.accounts import Accounts
from trainmaster.service.use_cases.people.entrance import entrance_of
from trainmaster.service.use_cases.readiness import Readiness
from trainmaster.spec.lower import environment_of
from trainmaster.store.assets.bin import BinRows
from trainmaster.store.assets.datasets import DatasetRows
from trainmaster.store.assets.favorites import AssetFavorites
from trainmaster.store.assets.images import ImageRows
from trainmaster.store.assets.models import ModelRows
from trainmaster.store.assets.named import NamedVersions
from trainmaster.store.assets.subscriptions import SubscriptionRows
from trainmaster.store.assets.versions import AssetReader
from trainmaster.store.assets.volumes import VolumeRows
from trainmaster.store.audit import AuditReader
from trainmaster.store.cluster_settings import ClusterSettings
from trainmaster.store.database import Database
from trainmaster.store.jobs.favorites import Favorites
from trainmaster.store.jobs.ledger import Ledger
from trainmaster.store.jobs.read_jobs import JobReader
from trainmaster.store.jobs.read_ledger import LedgerReader, Quarantined
from trainmaster.store.jobs.results import ResultRows
from trainmaster.store.kept.rows import KeptRows
from trainmaster.store.leading import LEAD_S
from trainmaster.store.leftovers import Leftovers
from trainmaster.store.money.entries import MoneyRows
from trainmaster.store.past import Past
from trainmaster.store.people.accounts import PeopleRows
from trainmaster.store.people.members import MemberRows
from trainmaster.store.people.secrets import SecretRows
from trainmaster.store.sending.rows import SendRows
from trainmaster.store.sweeps.marks import MarkRows
from trainmaster.store.sweeps.sweeps import SweepRows


def read_config(
    layout: Layout, host: str | None, port: int | None, demo_cards: int = 0, address: str | None = None
) -> Config:
    """Return the settings of the home folder, with what the command line says. Raises InvalidSpec, Conflict."""
    config = load(layout.config)
    if demo_cards:
        config = with_demo_cards(config, demo_cards)
    server = config.server
    said = replace(
        server,
        host=host or server.host,
        port=server.port if port is None else port,
        address=server.address if address is None else address,
    )
    return replace(config, server=said)


def past_of(layout: Layout) -> Past:
    """Return what the home knows of its ledger besides the ledger itself."""

    def traces() -> bool:
        jobs = os.path.join(layout.bulk, "jobs")
        return os.path.isdir(jobs) and bool(os.listdir(jobs))

    return Past(layout.mark, traces)


def engines_of(layout: Layout, config: Config) -> Engines:
    """Return the engines that the configuration names. Raises InvalidSpec where a kind cannot be loaded."""
    found = {one.name: kinds.find(one.kind) for one in config.engines}
    made = [found[one.name].make(one, layout, config) for one in config.engines]
    pools = {pool: one.name for one in config.engines for pool in one.pools}
    most_pending = {one.name: one.most_pending for one in config.engines}
    return Engines(made, pools, most_pending, {name: kind.label for name, kind in found.items()})


def build(
    home: str,
    host: str | None = None,
    port: int | None = None,
    engines: Engines | None = None,
    demo_cards: int = 0,
    accept_loss: bool = False,
    clock: Clock | None = None,
) -> Platform:
    """Return the platform of `home`, not started. `engines` replaces those that are configured (tests).

    `demo_cards`: see service/cluster/demo. `accept_loss`: a ledger that is less than it was is gone on with. Raises
    InvalidSpec for bad settings, StorageFailed or Conflict when the ledger cannot be opened, OSError.
    """
    layout, config = prepare(home, host, port, demo_cards)
    return lead(layout, config, engines=engines, accept_loss=accept_loss, clock=clock)


def prepare(
    home: str, host: str | None, port: int | None, demo_cards: int = 0, address: str | None = None
) -> tuple[Layout, Config]:
    """Make the folders of `home`; return where everything lies, and the settings. Raises InvalidSpec, Conflict,
    OSError.
    """
    layout = prepare_home(home)
    config = read_config(layout, host, port, demo_cards, address)
    cache = root_of(config.local.cache_folder) if config.local.cache_folder else ""
    return replace(prepare_data(layout, config.server.data), cache=cache), config


def lead(
    layout: Layout,
    config: Config,
    *,
    engines: Engines | None = None,
    accept_loss: bool = False,
    clock: Clock | None = None,
    address: str = "",
    patience_s: float = LEAD_S,
) -> Platform:
    """Return the platform that leads a home, not started. `address`, `patience_s`: see `Database.open`.

    Raises StorageFailed or Conflict when the ledger cannot be opened, OSError.
    """
    Disks(layout, config.limits.reserve_mib).settle()
    past = replace(past_of(layout), accept_loss=accept_loss)
    found = engines or engines_of(layout, config)
    database = Database.open(
        database_url(layout, config),
        backup_dir=layout.path("backups"),
        past=past,
        before_migration=lambda: demand_agents(found),
        address=address,
        patience_s=patience_s,
    )
    return _assembled(layout, config, database, found, clock or Clock(), leads=True)


def follow(layout: Layout, config: Config) -> Platform:
    """Return the platform that stands by while another server leads, not started. Raises like `Database.follow`."""
    database = Database.follow(database_url(layout, config))
    return _assembled(layout, config, database, engines_of(layout, config), Clock(), leads=False)


def _assembled(
    layout: Layout, config: Config, database: Database, engines: Engines, clock: Clock, leads: bool
) -> Platform:
    """Return what `assemble` makes; where it cannot, nobody keeps the lead."""
    try:
        return assemble(layout, config, database, engines, clock, leads)
    except BaseException:
        database.close()
        raise


def database_url(layout: Layout, config: Config) -> str:
    """Return where the ledger is."""
    return config.server.database or f"sqlite:///{layout.database}"


def demand_agents(engines: Engines) -> None:
    """Return when this server could go on with what runs: a database that it has migrated is closed to the one before.

    Raises Unavailable.
    """
    for engine in engines:
        keeper = engines.abilities(engine).keeps_agent
        if keeper is not None:
            keeper.demand_agent()


def assemble(
    layout: Layout, config: Config, database: Database, engines: Engines, clock: Clock, leads: bool
) -> Platform:
    """Join the parts: those that keep and read here, those that act upon them in `_moving`."""
    counts, waits, looks = StateCounts(), Waits(), Looks()
    records = LedgerReader(database, lambda found: counts.set_aside(found.job, _group(found), found.shown))
    ledger, seals = Ledger(database), Seals(layout)
    specs, vault, feed = Specs(records.spec, records.set_aside_spec), Vault(layout, SecretRows(database)), Feed(seals)
    master: Master
    scheduling = Scheduling(config.local, layout.home, lambda job: master.live[job].attempts_used + 1)
    metrics = MetricsReader(layout, clock, lambda: database.leads)
    pools = Pools(ClusterSettings(database), clock, engines.pools)
    urgent = UrgentLimits(lambda name: pools.workspaces.get(name))  # noqa: PLW0108 - made anew by every change
    kept, kept_versions = _kept(layout, pools, database)
    followers = LiveFollowers(
        scheduling,
        Disks(layout, config.limits.reserve_mib),
        counts,
        urgent,
        Tally(),
        Forecasts(scheduling, records.ran_last, layout.path("forecast.json"), clock, lambda: database.leads),
        Shares(scheduling, layout.path("shares.json"), lambda: database.leads),
        waits,
        Purses(pools, config.money.currency, lambda job: master.live[job]),
    )
    master = Master(ledger, feed, clock, followers)
    context = Context(
        config=config,
        layout=layout,
        clock=clock,
        random_bytes=RandomBlocks(os.urandom),
        master=master,
        followers=followers,
        feed=feed,
        records=records,
        reader=JobReader(records),
        favorites=Favorites(database),
        asset_favorites=AssetFavorites(database),
        passed_on=SubscriptionRows(database),
        engines=engines,
        specs=specs,
        metrics=metrics,
        pools=pools,
        entries=MoneyRows(database),
        clerks=Clerks(),
        vault=vault,
        seals=seals,
        assets=AssetReader(database),
        images=_images(layout, config, clock, database, vault, lambda: needed_images(master, specs)),
        fetched=fetched_of(layout, config, database, vault, clock, lambda: list(master.live)),
        versions=InputVersions(AssetReader(database), NamedVersions(database), layout),
        kept=kept,
        kept_versions=kept_versions,
        leads=leads,
    )
    parts = scheduling, looks, pools, urgent, engines, _means(context), vault, context.versions
    context.admission = Admission(config, layout, *parts)
    context.dates, context.submit = Dates(clock, context), Submit(context, records.next_job_seq())
    return _moving(context, scheduling, waits, looks, database, ledger, clock)


def _group(found: Quarantined) -> Group:
    return Group(found.owner, found.workspace, found.share)


def _means(context: Context) -> Means:
    pays, stored = context.purses.problems, StoredInputs(context.fetched.connections)
    may_pay = lambda *on: pays(on[0], context.clock(), *on[1:])  # noqa: E731
    return Means(may_pay, context.kept.problems, stored, context.images.is_container)


def _kept(layout: Layout, pools: Pools, database: Database) -> tuple[Kept, KeptVersions]:
    rows = KeptRows(database)
    kept = Kept(rows, lambda name: pools.workspaces.get(name))  # noqa: PLW0108 - made anew by every change
    return kept, KeptVersions(layout, rows, kept)


def _images(
    layout: Layout, config: Config, clock: Clock, database: Database, vault: Vault, needed: NeededBy
) -> JobImages:
    """Join what makes and keeps environments."""
    images = JobImages(ImageRows(database), needed)
    makers = Workshop(layout, config), Containers(layout, config, vault, clock)
    keeper = EnvironmentKeeper(layout, makers, config.limits.environments_mib, clock, os.urandom, images.keys)
    images.use(keeper, Builds(layout, keeper, clock))
    return images


def _sending(context: Context, database: Database) -> Sending:
    """Join what copies outputs to object storage; it follows the live jobs."""
    parts = context.layout, context.clock, context.records.get_job, context.config.storage
    context.sending = Sending(SendRows(database), context.fetched.connections, *parts)
    context.followers.watchers.append(context.sending)
    return context.sending


def needed_images(master: Master, specs: Specs) -> list[NeededImage]:
    """Return what each live job that has an environment needs; blocking."""
    found = ((job, specs.fetch_or_none(job.spec_digest)) for job in list(master.live.values()))
    return [
        NeededImage(job.workspace, image, job.id, job.submitted_at)
        for job, spec in found
        if spec is not None and (image := environment_of(spec))
    ]


def _moving(
    context: Context,
    scheduling: Scheduling,
    waits: Waits,
    looks: Looks,
    database: Database,
    ledger: Ledger,
    clock: Clock,
) -> Platform:
    """Join to what is kept the parts that launch, save, watch and clear away."""
    config, layout, master = context.config, context.layout, context.master
    engines, specs, metrics, records = context.engines, context.specs, context.metrics, context.records
    roots, vault = config.local.mount_roots, context.vault
    stored = context.fetched, _sending(context, database)
    launching = Launching(specs, layout, looks, context.versions, context.images, roots, vault, *stored)
    models, kept = ModelRows(database), context.kept
    saving = context.saving = Saving(layout, config.limits, specs, models, metrics, clock, os.urandom, kept)
    shell: OrderRunner
    timers = Timers(clock, lambda key: shell.due(key))  # noqa: PLW0108 - the two know each other
    observer = Observer(master, engines, waits, clock)
    shell = OrderRunner(master, observer, engines, launching, saving, timers, waits, lambda: scheduling.nodes, clock)
    master.orders = shell
    person_rows, member_rows = PeopleRows(database), MemberRows(database)
    context.notices = NoticeParts.make(context, database, person_rows, member_rows)
    people, readiness = People(person_rows, layout), Readiness(context, database, shell.ended)
    context.ended, leftovers = EndedJobs(master, context.remove_files), Leftovers(database)
    context.bin = BinKeeper(context, BinRows(database))
    rules = (*rules_of(leftovers, layout, records, context.ended, clock), BinRule(context.bin))
    retention = Retention(rules, Keeping.of(config), clock)
    paths = DatasetRows(database).paths
    sweeper = Sweeper(layout, retention, leftovers, context.remove_files, lambda job: job in master.live, clock, paths)
    context.results = ResultKeeper(ResultRows(database), records.get_job, metrics, specs, clock)
    context.followers.watchers.append(context.results)
    context.early = EarlyStopping(MarkRows(database), SweepRows(database), context)
    context.followers.watchers.append(context.early)
    context.folders = FolderKeeper(context, KeptRows(database))
    context.followers.watchers.append(context.folders)
    context.volumes = VolumeKeeper(context, VolumeRows(database), KeptVolumes(layout, kept))
    context.followers.watchers.append(context.volumes)
    context.budgets = BudgetKeeper(context.purses, context.entries, Balances(context).tell_alarms)
    life = Life(
        context,
        people=people,
        shell=shell,
        observer=observer,
        pulse=Pulse(context.feed, master, metrics, specs, context.results.seen),
        timers=timers,
        sweeper=sweeper,
        readiness=readiness,
        database=database,
        ledger=ledger,
    )
    auditing = Auditing(AuditReader(database), context.seals)
    accounts = Accounts(context, people, person_rows, member_rows, Jobs(context))
    entrance, finding = entrance_of(context, people, database), finding_of(context, context.assets, database)
    assets = assets_of(context, context.assets, database)
    return Platform(context, life, people, accounts, entrance, finding, assets, readiness, auditing, retention)
