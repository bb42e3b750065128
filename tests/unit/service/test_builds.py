"""What is kept of builds of images: read as it was written, and forgotten where it cannot be read."""

import json
import os
import time
from pathlib import Path
from typing import Any

from trainmaster.core.config import Config
from trainmaster.core.folders.layout import Layout
from trainmaster.messages.assets import images as said
from trainmaster.service.environments.builds import Builds
from trainmaster.service.environments.containers import Containers
from trainmaster.service.environments.keeper import BUILDS, EnvironmentKeeper
from trainmaster.service.environments.workshop import Workshop

KEPT: dict[str, Any] = {
    "id": "b1",
    "name": "env",
    "workspace": "default",
    "owner": "ann",
    "started_at": 10,
    "state": "failed",
    "ended_at": 12.5,
    "packages": 3,
    "error": said.not_made("no space").to_json(),
    "image": None,
    "version": None,
    "share": "none",
    "lines": ["构建", "two"],
}
"""A build as every release so far has written it."""
DAMAGED: dict[str, Any] = {
    "cut": json.dumps(KEPT)[:-9],
    "list": [],
    "number": {**KEPT, "name": 3},
    "state": {**KEPT, "state": "perhaps"},
    "owner": {key: value for key, value in KEPT.items() if key != "owner"},
    "lines": {**KEPT, "lines": "one"},
    "error": {**KEPT, "error": {"code": "not_made"}},
    "later": {**KEPT, "mood": "good"},
}


def builds(home: Path) -> Builds:
    layout = Layout(str(home))
    makers = Workshop(layout, Config()), Containers(layout, Config(), None, time.time)
    return Builds(layout, EnvironmentKeeper(layout, makers, 0, time.time, os.urandom, list), time.time)


async def test_a_build_is_read_as_it_was_written_and_what_is_damaged_is_forgotten(tmp_path: Path) -> None:
    folder = Path(Layout(str(tmp_path)).environments, BUILDS)
    folder.mkdir(parents=True)
    (folder / "b1.json").write_text(json.dumps(KEPT, ensure_ascii=False), encoding="utf-8")
    (folder / "b2.json").write_text(json.dumps({**KEPT, "id": "b2", "state": "installing", "ended_at": None}))
    for name, content in DAMAGED.items():
        (folder / f"{name}.json").write_text(content if isinstance(content, str) else json.dumps(content))
    found = builds(tmp_path)
    await found.start()
    failed, stopped = found.get("b1"), found.get("b2")
    assert failed is not None
    assert (failed.state, failed.ended_at, failed.error) == ("failed", 12.5, said.not_made("no space"))
    assert [*failed.lines] == ["构建", "two"]
    assert stopped is not None
    assert (stopped.state, stopped.error, stopped.ended_at) == ("stopped", said.build_stopped(), 10), "it was killed"
    assert sorted(one.id for one in found.known()) == ["b1", "b2"]
    assert sorted(path.name for path in folder.iterdir()) == ["b1.json", "b2.json"]
