"""A trouble of the platform that lasts: jobs wait for its end, with pauses, and none is failed for it (B12)."""

from pathlib import Path

import pytest

from tests.scenario.stage import ADMIN, Stage, spec

BWRAP = """#!/bin/sh
[ -e {broken} ] && [ "$1" = --args ] && exit 1
exec /usr/bin/bwrap "$@"
"""


async def test_a_sandbox_that_cannot_be_made_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It says why it waits and until when, also after a restart, and runs when all is well."""
    programs, broken = tmp_path / "bin", tmp_path / "broken"
    programs.mkdir()
    (programs / "bwrap").write_text(BWRAP.format(broken=broken))
    (programs / "bwrap").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:/usr/bin:/bin")
    async with Stage(tmp_path / "home", {"local": {"sandbox": "bubblewrap"}}) as stage:
        broken.touch()
        job = await stage.submit(spec("patient", "echo here"))
        await stage.until(job, lambda v: v.reason is not None and v.reason.code == "sandbox_failed", "why it waits")
        view = await stage.view(job)
        assert view.state == "queued"
        reason = (await stage.platform.explain(job, ADMIN)).reason
        assert reason.message.en == "main-0 did not run: its sandbox could not be created"
        assert reason.evidence["again_at"] > stage.platform.context.clock()
        await stage.restart()
        await stage.until(
            job, lambda v: v.reason is not None and v.reason.evidence.get("tries", 0) >= 2, "the next try"
        )
        broken.unlink()
        assert (await stage.ended(job)).state == "succeeded"
