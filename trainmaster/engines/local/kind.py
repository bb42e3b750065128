"""This machine as a kind of engine. `[local]` says how it is seen; its `[[engines]]` has nothing of its own."""

from trainmaster.core.config import Config, EngineConfig
from trainmaster.core.folders.layout import Layout
from trainmaster.engines.base import Engine
from trainmaster.engines.kinds import EngineKind
from trainmaster.engines.local.messages import local as say


def _make(own: EngineConfig, layout: Layout, config: Config) -> Engine:
    # Imported here, because reading the configuration loads the kind and needs no engine.
    from trainmaster.engines.local.engine import LocalEngine  # noqa: PLC0415

    return LocalEngine(layout, config, own.name)


KIND = EngineKind("local", say.this_machine(), _make, this_machine=True)
