"""`trainmaster serve --demo-cards N`: this machine shown as two nodes with N cards each that exist only in the books.
Pure.

For this start only: config.toml stays as it is, and where it divides the machine itself nothing is guessed.
"""

from dataclasses import replace
from typing import Final

from trainmaster.core.config import Config, LocalConfig
from trainmaster.core.errors import Conflict
from trainmaster.engines.kinds import find
from trainmaster.messages.server import settings

NODES: Final = 2
MODEL: Final = "demo"
_OWN: Final = ("nodes", "virtual_nodes", "simulated_gpus")
"""The settings of `[local]` that say the same."""


def with_demo_cards(config: Config, cards: int) -> Config:
    """Return `config` with NODES virtual nodes of `cards` simulated cards each.

    Raises Conflict where `config` divides the machine itself, or runs no jobs on it.
    """
    said = [name for name in _OWN if getattr(config.local, name) != getattr(LocalConfig(), name)]
    if said:
        raise Conflict(settings.demo_cards_and_own_division(said))
    if not any(find(engine.kind).this_machine for engine in config.engines):
        raise Conflict(settings.demo_cards_without_engine())
    local = replace(config.local, virtual_nodes=NODES, simulated_gpus=cards, gpu_type=MODEL)
    return replace(config, local=local)
