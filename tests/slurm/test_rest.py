"""slurmrestd and the programs tell the same of the same cluster, field by field, and the engine runs on either."""

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.fixtures.gangs import gang, key
from tests.fixtures.watcher import Watcher
from tests.slurm.bed import Bed, until
from tests.slurm.site import Site
from trainmaster.core.config import Config
from trainmaster.engines.slurm.client.commands import ClusterDown, Commands
from trainmaster.engines.slurm.client.reading import Printed
from trainmaster.engines.slurm.client.rest import Served
from trainmaster.engines.slurm.engine import SlurmEngine
from trainmaster.engines.slurm.settings import SlurmEngineConfig


@pytest.fixture(scope="module")
def rest(bed: Bed) -> Iterator[str]:
    """Where the cluster's slurmrestd listens. It is ended before munged, which it asks."""
    yield bed.start_rest()
    bed.kill("slurmrestd")


def submitted(bed: Bed, *words: str) -> str:
    """Submit a job as one of ours is called; return the attempt."""
    attempt = f"t{os.urandom(16).hex()}-1"
    text = "#!/bin/sh\nsleep 600\n"
    bed.ask("sbatch", f"--job-name=tm-{attempt}", "--output=/dev/null", *words, given=text)
    return attempt


async def test_both_read_the_same(bed: Bed, rest: str, commands: Commands) -> None:
    """Where a waiting job is expected to start v0.0.38 does not say."""
    runs = submitted(bed, "--nodes=4", "--exclusive", "--time=10")
    waits, unlimited = submitted(bed, "--nodes=2", "--time=5"), submitted(bed, "--time=UNLIMITED")
    until(
        lambda: bed.ask("squeue", "-h", f"--name=tm-{waits}", "--start", "-o", "%S").strip() not in ("", "N/A"),
        "an estimate",
    )
    held, ended = submitted(bed, "--hold"), submitted(bed, "--hold")
    bed.ask("scancel", f"--name=tm-{ended}")
    array = "a" + "5" * 32
    number = bed.ask(
        "sbatch",
        "--parsable",
        f"--job-name=tm-{array}",
        "--array=0-3",
        "--hold",
        "--output=/dev/null",
        given="#!/bin/sh\n",
    )
    bed.ask("scancel", f"{number.strip()}_2")
    bed.ask("sbatch", "--job-name=another", "--hold", "--output=/dev/null", given="#!/bin/sh\n")
    bed.ask("scontrol", "update", "NodeName=n4", "State=DRAIN", "Reason=old disk")
    words = ("ReservationName=course", "StartTime=now+600", "Duration=5", "Users=nobody", "Nodes=n[3-4]")
    bed.ask("scontrol", "create", "reservation", *words)
    bed.ask(
        "scontrol",
        "update",
        "PartitionName=urgent",
        "State=DOWN",
        "MaxMemPerNode=1000",
        "Hidden=YES",
        "AllowGroups=nogroup",
    )
    printed, served = Printed(commands), Served(rest, "", "root")
    try:
        assert [
            replace(node, reason=node.reason.split(" [")[0]) for node in await printed.nodes()
        ] == await served.nodes()
        assert await printed.partitions() == await served.partitions()
        assert await printed.reservations() == await served.reservations()
        for attempt in (runs, waits, unlimited, held, ended, array):
            before, found, after = [  # when a waiting job is expected to start may change in between
                [replace(line, expected_nodes=()) for line in await one.find_named(attempt)]
                for one in (printed, served, printed)
            ]
            assert found
            assert found in (before, after)
        assert [line.id.element for line in await served.find_named(array)] == [0, 1, 3]
        assert {line.name for line in await served.present(["root"])} == {runs, waits, unlimited, held, ended, array}
    finally:
        await served.close()
        bed.ask(
            "scontrol", "update", "PartitionName=urgent", "State=UP", "MaxMemPerNode=0", "Hidden=NO", "AllowGroups=ALL"
        )
        bed.ask("scontrol", "delete", "ReservationName=course")
        bed.ask("scontrol", "update", "NodeName=n4", "State=RESUME")
        bed.ask("scancel", "--user=root")


async def test_a_job_is_followed_through_slurmrestd(site: Site, rest: str) -> None:
    watcher, story = Watcher(), gang(node="").shell("w", 2, "exit 3").build()
    own = SlurmEngineConfig(conf=site.bed.conf, sandbox="none", partitions={"default": "batch"}, rest=rest)
    engine = SlurmEngine("slurm", own, site.layout, Config())
    await engine.start(watcher.sink)
    try:
        assert [node.name for node in await engine.nodes()] == ["n1", "n2", "n3", "n4"]
        await engine.launch(story)
        assert [end.exit_code for end in await watcher.end_of(key(story), 2)] == [3, 3]
        await engine.reap(key(story), 0)
    finally:
        await engine.close()


async def test_one_that_is_not_there_is_a_cluster_that_is_down(bed: Bed, tmp_path: Path) -> None:
    served = Served(f"unix:{tmp_path}/none", "", "root")
    with pytest.raises(ClusterDown, match="slurmrestd does not answer"):
        await served.nodes()
    await served.close()
