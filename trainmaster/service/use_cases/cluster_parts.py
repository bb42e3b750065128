"""What `cluster_views` is made of: one engine's abilities, one task's cards, one flavor, one share, as the API shows
them. Changes nothing.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping

from trainmaster.access.decide import decide
from trainmaster.access.roles import Principal
from trainmaster.access.visible import InWorkspace, Visible
from trainmaster.answers import (
    CardUse,
    EngineAbilities,
    FlavorView,
    PersonalLimit,
    ShareView,
    StorageView,
    Text,
    WorkspaceStorage,
)
from trainmaster.core.cluster import JOBS, Flavor, Limit, Limits, Pool, Workspace
from trainmaster.core.ids import task_name
from trainmaster.core.money.amounts import amount_text
from trainmaster.core.records import Assignment, Job, Node
from trainmaster.engines.abilities import Abilities
from trainmaster.engines.base import Engine
from trainmaster.messages.cluster import cluster
from trainmaster.messages.cluster.kept import nothing_more_is_kept
from trainmaster.messages.jobs import rules
from trainmaster.queue.ordering.quota import Account
from trainmaster.queue.placing.need import WHOLE
from trainmaster.service.kept.kept import MIB, Kept
from trainmaster.service.language import both
from trainmaster.service.scheduling.tally import Sums
from trainmaster.service.views import identity

Charged = Mapping[tuple[Account, str, str], int]
"""What is held by account, pool and resource, as a pass counts it."""


def abilities_of(engine: Engine, can: Abilities) -> EngineAbilities:
    """Return what an engine can do beside running jobs."""
    return EngineAbilities(
        owns_queue=engine.owns_queue,
        estimates=can.estimates is not None,
        adjusts=can.adjusts is not None,
        attaches=can.attaches is not None,
        measures=can.measures is not None,
        images=can.images,
        no_environments=both(why) if (why := can.no_environments) is not None else None,
        no_containers=both(why) if (why := can.no_containers) is not None else None,
        no_cache=both(why) if (why := can.no_cache) is not None else None,
    )


def card_uses(visible: Visible, node: Node, job: Job, place: Assignment) -> list[CardUse]:
    """Return what one task holds of cards, as `physical(virtual):application` (R168)."""
    found, seen = [], identity(visible, job)
    for card in place.gpus:
        physical, slice_ = node.card_slots[card] if card < len(node.card_slots) else (card, 0)
        found.append(
            CardUse(
                index=card,
                model=node.gpus[card] if card < len(node.gpus) else "",
                physical=physical,
                virtual=slice_,
                share=job.roles[place.role].resources.gpu_milli / WHOLE,
                label=f"{physical}({slice_}):{seen.name or ''}",
                job=seen.job,
                name=seen.name,
                owner=seen.owner,
                workspace=job.workspace,
                task=task_name(place.role, place.index) if seen.known else None,
            )
        )
    return found


def flavor_view(flavor: Flavor) -> FlavorView:
    """Return one flavor."""
    return FlavorView(
        name=flavor.name,
        workspace=flavor.workspace,
        kind=flavor.kind,
        cpu=flavor.cpu,
        memory_mib=flavor.memory_mib,
        gpu=flavor.gpu,
        gpu_type=flavor.gpu_type,
        gpu_share=flavor.gpu_milli / WHOLE,
        shm_mib=flavor.shm_mib,
        description=flavor.description,
        vendor=flavor.vendor,
        price=None if flavor.price is None else amount_text(flavor.price),
        cache_mib=flavor.cache_mib,
        pools=list(flavor.pools),
    )


def shares_of(limits: Limits, used: Mapping[str, int]) -> list[ShareView]:
    """Return limits with what counts against them, in thousandths."""
    return [_share(name, limit, used.get(name, 0) / 1000) for name, limit in sorted(limits.items())]


def _share(resource: str, limit: Limit, used: float) -> ShareView:
    warning = None
    if used > limit.nominal:
        above_cap = limit.cap is not None and used > limit.cap
        warning = both(cluster.used_above_cap() if above_cap else cluster.used_above_guaranteed())
    return ShareView(
        resource=resource,
        nominal=limit.nominal,
        cap=limit.cap,
        used=used,
        borrowed=max(0.0, used - limit.nominal),
        warning=warning,
    )


def dedicated(pool: Pool) -> Text:
    """Return why a workspace may not use `pool`."""
    return both(rules.pool_dedicated(pool.name, sorted(pool.workspaces)))


def used_of(sums: Sums) -> Counter[str]:
    """Return what is used, in thousandths: of running jobs their number."""
    return sums.used + Counter({JOBS: 1000 * sums.running})


def limits_of(workspace: Workspace, person: str, charged: Charged) -> list[PersonalLimit]:
    """Return what `person` may hold at most in `workspace`, by pool and resource, beside what they hold."""
    return list(_limits(workspace, person, charged))


def _limits(workspace: Workspace, person: str, charged: Charged) -> Iterator[PersonalLimit]:
    account = Account("member", person, workspace.name)
    for pool in sorted({*workspace.per_person, *workspace.people.get(person, ())}):
        for name, limit in sorted(workspace.most_of(person, pool).items()):
            used = charged.get((account, pool, name), 0)
            yield PersonalLimit(
                workspace=workspace.name,
                pool=pool,
                resource=name,
                used=used if name == "memory_mib" else used / 1000,
                limit=limit,
            )


def storage_of(kept: Kept, workspace: Workspace, who: Principal) -> WorkspaceStorage:
    """Return what is kept for a workspace and may be, as `who` is shown it."""
    inside, leads = (
        decide(who, scope, InWorkspace(workspace.name)).allowed for scope in ("members:read", "limits:write")
    )
    people = kept.people(workspace.name) if leads else []
    return WorkspaceStorage(
        use=_storage(kept, workspace, None),
        mine=_storage(kept, workspace, who.name),
        per_person=dict(workspace.storage_per_person),
        people={name: dict(most) for name, most in workspace.storage_people.items()} if inside else {},
        by_person=[_storage(kept, workspace, name) for name in people],
    )


def _storage(kept: Kept, workspace: Workspace, person: str | None) -> StorageView:
    used, most = kept.used(workspace.name, person), workspace.storage_of(person)
    full = used.bytes >= most.get("mib", math.inf) * MIB or used.files >= most.get("files", math.inf)
    return StorageView(
        person=person,
        used_bytes=used.bytes,
        used_files=used.files,
        limit_mib=most.get("mib"),
        limit_files=most.get("files"),
        warning=both(nothing_more_is_kept()) if full else None,
    )
