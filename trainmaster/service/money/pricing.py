"""What one machine of a role costs where it runs (R3): the price of its flavor, else what its pool asks for GPUs and
cores. Pure.
"""

from collections.abc import Iterable

from trainmaster.core.money.amounts import MILLION
from trainmaster.core.money.rates import Rate
from trainmaster.core.records import Role
from trainmaster.service.cluster.pools import Pools


def rates_of(roles: Iterable[Role], workspace: str, pool: str, pools: Pools) -> tuple[Rate, ...]:
    """Return the rate of each role of a job of `workspace` in `pool`, by what holds at this moment."""
    return tuple(_rate(role, workspace, pool, pools) for role in roles)


def _rate(role: Role, workspace: str, pool: str, pools: Pools) -> Rate:
    asked = role.resources
    gpu_milli = asked.gpu * asked.gpu_milli
    flavor = pools.flavors.get(workspace, {}).get(role.flavor or "")
    if flavor is not None and flavor.price is not None:
        return Rate(flavor.name, flavor.price, gpu_milli)
    where = pools.pools.get(pool)
    by_gpu, by_cpu = (where.price_gpu, where.price_cpu) if where is not None else (0, 0)
    price = (gpu_milli * by_gpu + round(asked.cpu * 1000) * by_cpu + 500) // 1000
    return Rate(role.flavor or "", min(price, 1_000_000_000 * MILLION), gpu_milli)
