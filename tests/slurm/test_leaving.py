"""How an attempt leaves the cluster's queue: by itself where it can."""

from tests.fixtures.gangs import gang, key
from tests.fixtures.watcher import Watcher
from tests.slurm.world import SlurmWorld


async def test_a_job_that_has_ended_by_itself_is_not_cancelled() -> None:
    """Slurm's own accounting says that it completed, as the platform does."""
    world, watcher = SlurmWorld(), Watcher()
    try:
        engine = await world.engine(watcher)
        story = gang().told("worker", 1, world.command("exit 0")).build()
        await engine.launch(story)
        await watcher.end_of(key(story))
        await engine.reap(key(story), 0)
        state = world.bed.ask("squeue", "-h", "-t", "all", f"--name=tm-{key(story)}", "-o", "%T")
        assert state.split() == ["COMPLETED"]
    finally:
        await world.close()
