"""A Slurm cluster as a kind of engine."""

from collections.abc import Iterator

from trainmaster.core.config import Config, EngineConfig
from trainmaster.core.layout import Layout
from trainmaster.engines.base import Engine
from trainmaster.engines.kinds import EngineKind
from trainmaster.engines.slurm.settings import SlurmEngineConfig
from trainmaster.messages import slurm
from trainmaster.messages.said import Said


def _make(own: EngineConfig, layout: Layout, config: Config) -> Engine:
    from trainmaster.engines.slurm.engine import SlurmEngine  # noqa: PLC0415 (who reads the configuration starts no engine)

    return SlurmEngine(own.name, own.settings, layout, config, own.pools)


def _problems(settings: SlurmEngineConfig) -> Iterator[tuple[str, Said]]:
    if settings.scratch and settings.run_as == "owner":
        yield "scratch", slurm.scratch_not_of_owners()


KIND = EngineKind("slurm", slurm.slurm_cluster(), _make, SlurmEngineConfig, _problems)
