"""What the server tells the agent once per connection: how tasks are run on this host. Plain data, JSON-able."""

from __future__ import annotations

import json
from dataclasses import asdict, field
from functools import cached_property
from typing import Any

from trainmaster._compat import dataclass
from trainmaster.messages.said import Said, said_from_json, verbatim


@dataclass(frozen=True, slots=True)
class Cards:
    """The accelerators of one node by index. Simulated ones have neither `uuids` nor `devices`, the files of each."""

    simulated: bool = True
    uuids: tuple[str, ...] = ()
    devices: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True)
class Settings:
    """How to run tasks. `bwrap` empty: without a sandbox, `degraded` says why (None when that was asked for)."""

    bwrap: str = ""
    degraded: Said | None = None
    cgroups: bool = True
    network: str = "shared"  # or private: see agent/sandbox/apart
    environment: str = ""  # prefix of the Python environment tasks see first
    package: str = ""  # folder that contains the trainmaster package
    log_mib: int = 1024
    disk_mib: int = 0
    inodes: int = 0
    disk_share: float = 0.0
    reserve_mib: int = 0  # 0: nobody is ended for filling the disk
    processes: int = 4096
    sample_s: float = 2.0
    cards: dict[str, Cards] = field(default_factory=dict)
    cache: str = ""  # folder of fast storage for copies of inputs, "": none (see agent/caching)

    def to_json(self) -> dict[str, Any]:
        """Return the JSON object of `settings_from_json`."""
        return asdict(self)

    @cached_property
    def text(self) -> str:
        """The JSON text of `to_json`, made once: it goes into every record."""
        return json.dumps(self.to_json(), separators=(",", ":"))


def settings_from_json(data: dict[str, Any]) -> Settings:
    """Return the Settings of `to_json`. Raises TypeError or KeyError for a malformed object."""
    cards = {
        node: Cards(c["simulated"], tuple(c["uuids"]), tuple(map(tuple, c["devices"])))
        for node, c in data["cards"].items()
    }
    why = data["degraded"]  # a text in records of earlier versions
    degraded = said_from_json(why) if isinstance(why, dict) else verbatim(why) if why else None
    return Settings(**{**data, "cards": cards, "degraded": degraded})
