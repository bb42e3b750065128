"""What administrators decided about the cluster, in memory and on disk: pools, virtual clusters, workspaces, flavors,
nodes.

Changes are made one at a time: checked, stored, and only then applied, at once. Decides nothing about people and forms
no answers (service/use_cases/administer and service/use_cases/cluster_views do). Invariant: what is in memory is what
the disk holds.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any, Final, TypeVar

import msgspec

from trainmaster.core.cluster import DEFAULT, Budget, Flavor, NodeSetting, Pool, VirtualCluster, Workspace
from trainmaster.core.errors import TrainmasterError
from trainmaster.core.events import Actor, AuditEvent, Subject, subject_of
from trainmaster.core.records import Job, Node
from trainmaster.messages.said import Said, verbatim
from trainmaster.queue.policy import Values
from trainmaster.service.cluster import decided
from trainmaster.store.cluster_settings import OWNERS_TOLD, PRIVACY, ClusterSettings, Setting, told_by

log = logging.getLogger("trainmaster.pools")

KINDS: Final[dict[str, type[Any]]] = {
    "pool": Pool,
    "virtual_cluster": VirtualCluster,
    "workspace": Workspace,
    "flavor": Flavor,
    "node": NodeSetting,
    "budget": Budget,
    "policy": dict,
}
"""What each kind of row is read as."""

POLICY: Final = "queue"
"""The name of the queue's policy: the values of the knobs that were changed."""

DEFAULTS: Final[Mapping[str, Values]] = {POLICY: {}, PRIVACY: {OWNERS_TOLD: True}}
"""By the name of a policy: what holds where nobody decided anything."""

Kind = TypeVar("Kind")


class _Told(msgspec.Struct, forbid_unknown_fields=True):
    """What the record of PRIVACY is."""

    owners_told: bool


Record = Pool | VirtualCluster | Workspace | Flavor | NodeSetting | Budget | Values


class Pools:
    """One object per server; all methods in the loop's thread. `clock` returns seconds since the epoch.

    `named`: pools that exist whatever was stored and whichever machines are seen.
    """

    def __init__(self, rows: ClusterSettings, clock: Callable[[], float], named: Iterable[str] = ()) -> None:
        self._rows, self._clock, self._named = rows, clock, tuple(named)
        self._lock = asyncio.Lock()
        self._stored: dict[tuple[str, str], tuple[Record, Setting]] = {}
        self._unread: set[tuple[str, str]] = set()  # what was stored and cannot be read
        self._machines: tuple[Node, ...] = ()  # as the engine says
        self._changed: Callable[[str], None] = lambda kind: None
        self._settle()

    async def start(self, changed: Callable[[str], None] | None = None) -> None:
        """Read everything; from then on `changed` is told after every change what kind of thing changed.

        A row that cannot be read is said in the log and left as it is: the server must start.
        """
        self._changed = changed or self._changed
        for setting in await asyncio.to_thread(self._rows.all):
            try:
                record = msgspec.convert(setting.record, KINDS[setting.kind], strict=False)
                if (setting.kind, setting.name) == ("policy", PRIVACY):
                    msgspec.convert(setting.record, _Told)
            except (KeyError, msgspec.ValidationError) as error:
                log.error("the %s %s cannot be read and does not hold: %s", setting.kind, setting.name, error)
                self._unread.add((setting.kind, setting.name))
            else:
                self._stored[setting.kind, setting.name] = record, setting
        self._settle()

    def _settle(self) -> None:
        """Make the views of what is stored, with the pool and the workspace that always exist, and pools that nodes
        name.
        """
        named = {DEFAULT, *self._named, *(node.pool for node in self._machines)}
        self.pools: dict[str, Pool] = {name: Pool(name) for name in sorted(named)} | self._of(Pool)
        self.virtual_clusters: dict[str, VirtualCluster] = self._of(VirtualCluster)
        self.workspaces: dict[str, Workspace] = {DEFAULT: Workspace(DEFAULT)} | self._of(Workspace)
        self.node_settings: dict[str, NodeSetting] = self._of(NodeSetting)
        self.flavors: dict[str, dict[str, Flavor]] = {name: {} for name in self.workspaces}
        for flavor in self._of(Flavor).values():
            self.flavors.setdefault(flavor.workspace, {})[flavor.name] = flavor
        self.priced = any(pool.price_gpu or pool.price_cpu for pool in self.pools.values()) or any(
            flavor.price for of in self.flavors.values() for flavor in of.values()
        )
        self.budgets: dict[str, Budget] = self._of(Budget)
        self.policy: Values = self._of(dict).get(POLICY, {})
        unread = self.is_unread("policy", PRIVACY)
        self.owners_told = not unread and told_by(self._of(dict).get(PRIVACY, DEFAULTS[PRIVACY]))
        self.nodes: tuple[Node, ...] = tuple(map(self._decided, self._machines))

    def _of(self, kind: type[Kind]) -> dict[str, Kind]:
        """Return the records that are read as a `kind`, by name."""
        found = sorted(self._stored.items(), key=_key)
        return {name: record for (_, name), (record, _) in found if isinstance(record, kind)}

    # -- machines ----------------------------------------------------------------------------------------------

    def take_machines(self, machines: Iterable[Node]) -> bool:
        """Take in the machines as the engine shows them; return whether anything is new. `nodes` is then made anew."""
        machines = tuple(machines)
        if machines == self._machines:
            return False
        self._machines = machines
        self._settle()
        return True

    def _decided(self, node: Node) -> Node:
        """Return a node as administrators want it used."""
        setting = self.node_settings.get(node.name)
        if setting is None:
            return node
        node = replace(node, pool=setting.pool or node.pool)
        if setting.service == "in_service":
            return node
        return replace(node, schedulable=False, reason=verbatim(setting.note or setting.service))

    # -- changes -----------------------------------------------------------------------------------------------

    @asynccontextmanager
    async def changing(self) -> AsyncIterator[None]:
        """Hold everybody else's changes off, from the check to the end of the change."""
        async with self._lock:
            yield

    async def put(self, kind: str, name: str, record: Record, by: Actor, said: Said | None = None) -> None:
        """Store a record, then apply it. Only inside `changing`. `said`: what was done; None: which of its fields
        became what.

        Raises StorageFailed.
        """
        setting = Setting(kind, name, msgspec.to_builtins(record), self._clock(), by.name)
        before, after = self._before(kind, name), setting.record
        said = said or self._said(kind, name, before, after)
        changes = decided.changes(before, after)
        await asyncio.wrap_future(
            self._rows.put(setting, AuditEvent(_subject(kind, name), said, setting.at, by, changes))
        )
        self._stored[kind, name] = record, setting
        self._unread.discard((kind, name))
        self._settle()
        self._changed(kind)

    async def drop(self, kind: str, name: str, by: Actor) -> None:
        """Remove a record. Only inside `changing`. It holds no more while that is stored, so that nothing begins to use
        it meanwhile; where it cannot be stored, it holds again. Raises StorageFailed.
        """
        changes = decided.changes(self._before(kind, name), None)
        audit_event = AuditEvent(_subject(kind, name), decided.removed(kind, name), self._clock(), by, changes)
        keys = [(kind, name), *([("budget", name)] if kind == "workspace" else [])]  # it goes with its workspace
        held = {key: self._stored.pop(key) for key in keys if key in self._stored}
        self._settle()
        try:
            await asyncio.wrap_future(self._rows.drop(kind, name, audit_event))
        except TrainmasterError:
            self._stored.update(held)
            self._settle()
            raise
        self._changed(kind)

    def _before(self, kind: str, name: str) -> Any:
        """Return the record that holds now, as JSON; None where there is none."""
        always: Mapping[str, Mapping[str, Record]] = {
            "pool": self.pools,
            "workspace": self.workspaces,
            "policy": DEFAULTS,
            "node": {name: NodeSetting(name)},
            "budget": {name: Budget(name)},
        }
        found = self._stored.get((kind, name))
        return msgspec.to_builtins(found[0] if found else always.get(kind, {}).get(name))

    @staticmethod
    def _said(kind: str, name: str, before: Any, after: Any) -> Said:
        """Return what the audit says of storing `after`: how it differs from what holds now."""
        if before is None:
            plain = KINDS[kind](name.rpartition("/")[2])
            return decided.made(kind, name, msgspec.to_builtins(plain), after)
        return decided.changed(kind, name, before, after)

    def changed_last(self, kind: str, name: str) -> Setting | None:
        """Return who changed a record last and when, None when it was never stored."""
        found = self._stored.get((kind, name))
        return found[1] if found else None

    def is_unread(self, kind: str, name: str) -> bool:
        """Return whether something was stored under this name that cannot be read."""
        return (kind, name) in self._unread

    # -- looking up --------------------------------------------------------------------------------------------

    def placed(self, job: Job) -> Job:
        """Return `job` with the pool its document means."""
        share = self._virtual_cluster_of(job.pool, job.virtual_cluster)
        return job if share is None else replace(job, pool=share.pool, virtual_cluster=share.name)

    def pool_of(self, pool: str, virtual_cluster: str | None) -> str:
        """Return the pool that a document means with these two."""
        share = self._virtual_cluster_of(pool, virtual_cluster)
        return pool if share is None else share.pool

    def _virtual_cluster_of(self, pool: str, virtual_cluster: str | None) -> VirtualCluster | None:
        """Return the virtual cluster that decides the pool: `pool` may name one, as OpenPAI does (R6)."""
        named = pool if virtual_cluster is None and pool not in self.pools else virtual_cluster
        share = self.virtual_clusters.get(named) if named is not None else None
        return share if share is not None and pool in (DEFAULT, share.name) else None

    def shares_of(self, pool: str) -> list[VirtualCluster]:
        """Return the virtual clusters of a pool by name."""
        return [share for share in self.virtual_clusters.values() if share.pool == pool]


def _key(item: tuple[tuple[str, str], Any]) -> tuple[str, str]:
    return item[0]


def _subject(kind: str, name: str) -> Subject:
    """Return what the audit says a setting is of: a budget is its workspace's."""
    return subject_of("workspace" if kind == "budget" else kind, name)
