"""A controller that is killed before it has saved its state forgets what it started: nothing runs twice, nothing is
lost.
"""

import asyncio
import time
from pathlib import Path

from tests.slurm.site import PATIENCE_S, Site, ends, gang_of
from trainmaster.core.records import Resources, Role


async def test_a_controller_that_forgets_a_running_job_does_not_make_it_run_twice(site: Site) -> None:
    """Seen: it knows nothing of the job; or it finds it waiting, starts it again, has the node call that a duplicate,
    drains the node and says that the job was cancelled. What is true is in the facts.
    """
    story = gang_of(
        (Role("w", 1, Resources(cpu=1, memory_mib=256)), "echo ran >> $TRAINMASTER_OUTPUT_DIR/ran; sleep 4")
    )
    await site.submit(story)
    await site.until(lambda: any(fact.get("kind") == "running" for fact in site.facts(story)), "it runs")
    site.bed.kill("slurmctld")
    await site.until(lambda: ends(site.facts(story)) == {(0, 0): 0}, "it ends")
    site.bed.start_controller()
    give_up = time.monotonic() + PATIENCE_S
    while (await site.state(story)).standing in ("pending", "running"):
        assert time.monotonic() < give_up, site.told(story)
        await asyncio.sleep(0.2)
    assert (Path(site.layout.outputs(story.job)) / "ran").read_text() == "ran\n"
    assert ends(site.facts(story)) == {(0, 0): 0}
