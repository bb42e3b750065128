"""What every account holds, added up from the placements themselves: the second opinion on quotas."""

from collections import Counter
from collections.abc import Sequence

from tests.unit.queue.worlds import World
from trainmaster.core.records import Assignment, Role
from trainmaster.queue.ordering.quota import Account
from trainmaster.queue.snapshot import Tenant

Key = tuple[Account, str, str]
"""An account, a pool, a resource."""

KINDS = ("cluster", "workspace", "user")


class Ledger:
    """`amounts`: what runs, and what was added since. Thousandths of cards and cores, MiB."""

    def __init__(self, world: World) -> None:
        self._models = {node.name: node.gpus for node in world.nodes}
        self.amounts: Counter[Key] = Counter()
        for usage in world.running.values():
            self.add(usage.pool, usage.tenant, usage.roles, usage.placement)

    def ask(self, pool: str, tenant: Tenant, roles: Sequence[Role]) -> Counter[Key]:
        """Note a gang wherever it runs: cards of a model only where it asks for that. Return what it takes."""
        taken: Counter[Key] = Counter()
        for kind, name in zip(KINDS, tenant, strict=True):
            for role in roles:
                ask, account = role.resources, Account(kind, name)
                taken[account, pool, "cpu"] += round(1000 * ask.cpu) * role.replicas
                taken[account, pool, "memory_mib"] += ask.memory_mib * role.replicas
                for card in ("gpu", f"gpu:{ask.gpu_type}"):
                    taken[account, pool, card] += ask.gpu * ask.gpu_milli * role.replicas
        self.amounts += taken
        return taken

    def add(self, pool: str, tenant: Tenant, roles: Sequence[Role], placement: Sequence[Assignment]) -> Counter[Key]:
        """Note one more gang; return what it takes."""
        taken: Counter[Key] = Counter()
        for task in placement:
            ask = roles[task.role].resources
            for kind, name in zip(KINDS, tenant, strict=True):
                account = Account(kind, name)
                taken[account, pool, "cpu"] += round(1000 * ask.cpu)
                taken[account, pool, "memory_mib"] += ask.memory_mib
                for card in task.gpus:
                    taken[account, pool, "gpu"] += ask.gpu_milli
                    taken[account, pool, f"gpu:{self._models[task.node][card]}"] += ask.gpu_milli
        self.amounts += taken
        return taken
