"""Several jobs save at once; one model's versions still count up one by one, and each is found where it lies."""

import asyncio
import os
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.fixtures.api_contract import signed_in
from tests.scenario.stage import ADMIN, Stage, spec
from trainmaster.api.app import create_app
from trainmaster.storage import outputs

SAVES = "echo $TRAINMASTER_JOB > /model/w"


async def test_models_are_saved_at_once_and_their_versions_in_turn(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R149: the version numbers of a model stay without gaps and doubles."""
    together = threading.Barrier(2)
    under_way: list[str] = []
    real = outputs.save

    def save(*args: Any, **rest: Any) -> outputs.Saved:
        name = str(rest["provenance"]["name"])
        assert name not in under_way
        under_way.append(name)
        together.wait(30)  # only passes when both models are being saved
        saved = real(*args, **rest)
        under_way.remove(name)
        return saved

    monkeypatch.setattr(outputs, "save", save)
    jobs = [await stage.submit(spec(name, SAVES)) for name in ("a", "b", "a", "b")]
    views = await asyncio.gather(*(stage.ended(job) for job in jobs))
    assert [view["state"] for view in views] == ["succeeded"] * 4
    for name in ("a", "b"):
        versions = (await stage.platform.model(name, ADMIN))["versions"]
        assert [version["version"] for version in versions] == [2, 1]
        assert len({version["path"] for version in versions}) == 2


async def test_a_version_is_found_where_it_lies(stage: Stage) -> None:
    """A save that a crash left unregistered keeps its folder; the next version lies beside it under another number."""
    await stage.ended(await stage.submit(spec("m", SAVES)))
    first = (await stage.platform.model("m", ADMIN))["versions"][0]
    left = Path(first["path"]).parent / "2"
    os.makedirs(left / "files" / "model")
    (left / "manifest.json").write_text('{"provenance": {"job": "another", "attempt": 1}}')
    job = await stage.submit(spec("m", SAVES))
    assert (await stage.ended(job))["model"].endswith("@2")
    assert (await stage.platform.model("m", ADMIN))["versions"][0]["path"].endswith("/3")
    app = create_app(stage.platform)
    async with signed_in(app, stage.platform) as http:
        found = await http.get("/api/v1/models/m/versions/2/files/content", params={"path": "model/w"})
        assert found.text == f"{job}\n"
