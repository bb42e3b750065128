"""What cannot even begin on a node is said with the node's own words."""

from tests.fixtures.gangs import gang, key
from tests.fixtures.watcher import Watcher
from tests.slurm.site import Site
from trainmaster.core.config import Config
from trainmaster.engines.base import Refused
from trainmaster.engines.slurm.engine import SlurmEngine
from trainmaster.engines.slurm.settings import SlurmEngineConfig
from trainmaster.messages import render


async def test_a_python_that_no_node_has_is_named(site: Site) -> None:
    watcher, story = Watcher(), gang(node="").shell("w", 1, "true").build()
    own = SlurmEngineConfig(conf=site.bed.conf, python="/opt/no-such-python3", partitions={"default": "batch"})
    engine = SlurmEngine("slurm", own, site.layout, Config())
    await engine.start(watcher.sink)
    try:
        await engine.launch(story)
        await watcher.until(lambda: isinstance((watcher.queue(key(story)) or [None])[-1], Refused), "a refusal")
        refused = watcher.queue(key(story))[-1]
        assert isinstance(refused, Refused)
        assert refused.code == "launch_failed"
        assert "/opt/no-such-python3" in render.text(refused.said)
        await engine.reap(key(story), 0)
    finally:
        await engine.close()
