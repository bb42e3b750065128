"""A class of ours in Slurm's order, where the site wants that, and its change while the job waits."""

from dataclasses import replace

from tests.fixtures.gangs import gang, key
from tests.fixtures.watcher import Watcher
from tests.slurm.site import Site
from trainmaster.core.config import Config
from trainmaster.core.launch import Asked
from trainmaster.core.states import Priority
from trainmaster.engines.slurm.engine import SlurmEngine
from trainmaster.engines.slurm.settings import SlurmEngineConfig


async def test_normal_jobs_stand_lower_and_an_urgent_one_is_lifted(site: Site) -> None:
    site.bed.ask("scontrol", "update", "PartitionName=batch", "State=DOWN")
    own = SlurmEngineConfig(conf=site.bed.conf, nice=200, partitions={"default": "batch"})
    engine = SlurmEngine("slurm", own, site.layout, Config())
    await engine.start(Watcher().sink)
    asked = Asked("default", 600.0)
    story = replace(gang(node="").shell("w", 1, "true").build(), asked=asked)

    def nice() -> str:
        return site.bed.ask("squeue", "-h", f"--name=tm-{key(story)}", "-O", "Nice").strip()

    try:
        await engine.launch(story)
        assert nice() == "200"
        for priority, wanted in ((Priority.URGENT, "100"), (Priority.VERY_URGENT, "0")):
            await engine.adjust(key(story), replace(asked, priority=priority))
            assert nice() == wanted
        await engine.reap(key(story), 0)
    finally:
        await engine.close()
        site.bed.ask("scontrol", "update", "PartitionName=batch", "State=UP")
