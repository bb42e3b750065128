"""What a real cluster says is read as it is."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.slurm.bed import Bed
from trainmaster.core.formats.hostlist import expand, fold
from trainmaster.engines.slurm.client import parse
from trainmaster.engines.slurm.client.commands import ClusterRefused, Commands
from trainmaster.engines.slurm.client.parse import NodeCards

SLEEP = "#!/bin/sh\nsleep 60\n"


async def test_nodes(commands: Commands) -> None:
    nodes = parse.nodes(await commands.run("scontrol", "show", "node", "-o"))
    assert [node.name for node in nodes] == ["n1", "n2", "n3", "n4"]
    first = nodes[0]
    assert (first.cpus, first.memory_mib, first.address, first.usable) == (4, 4096, "127.0.0.1", True)
    assert (first.cards, first.features, first.partitions) == ((NodeCards("fake", 2),), ("bed",), ("batch", "urgent"))
    assert first.kernel.startswith("Linux ")
    assert parse_version(first.version) == await commands.version()


def parse_version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split("."))


async def test_a_drained_node_says_why(commands: Commands) -> None:
    await commands.run("scontrol", "update", "NodeName=n4", "State=DRAIN", "Reason=bad State=IDLE disk")
    try:
        drained = parse.nodes(await commands.run("scontrol", "show", "node", "n4", "-o"))[0]
        assert (drained.usable, drained.reason.split(" [")[0]) == (False, "bad State=IDLE disk")
    finally:
        await commands.run("scontrol", "update", "NodeName=n4", "State=RESUME")


async def test_partitions_and_reservations(commands: Commands) -> None:
    batch, urgent = parse.partitions(await commands.run("scontrol", "show", "partition", "-o"))
    assert (batch.name, batch.default, batch.limit_s, batch.nodes) == ("batch", True, None, ("n1", "n2", "n3", "n4"))
    assert (urgent.limit_s, urgent.nodes) == (129600.0, ("n1", "n2"))
    assert parse.reservations(await commands.run("scontrol", "show", "reservation", "-o")) == []
    await commands.run(
        "scontrol",
        "create",
        "reservation",
        "ReservationName=r",
        "StartTime=now",
        "Duration=5",
        "Users=root",
        "Nodes=n4",
    )
    try:
        (kept,) = parse.reservations(await commands.run("scontrol", "show", "reservation", "-o"))
        assert (kept.name, kept.nodes, kept.end - kept.start) == ("r", ("n4",), 300.0)
    finally:
        await commands.run("scontrol", "delete", "ReservationName=r")


async def test_jobs_and_estimates(commands: Commands) -> None:
    full = [f"--job-name=tm-t{'0' * 32}-1", "--nodes=4", "--gres=gpu:2", "--time=10"]
    first = parse.job_number(await commands.run("sbatch", "--parsable", "--output=/dev/null", *full, given=SLEEP))
    second = parse.job_number(await commands.run("sbatch", "--parsable", "--output=/dev/null", *full, given=SLEEP))
    asked = ("-h", "-t", "all", f"--jobs={first},{second}", "-o", parse.JOB_FORMAT)
    try:
        jobs = {}
        while not jobs or jobs[first].state.standing == "pending":
            jobs = {job.id.number: job for job in parse.jobs(await commands.run("squeue", *asked))}
        assert (jobs[first].state.words, jobs[first].nodes) == (("RUNNING",), ("n1", "n2", "n3", "n4"))
        assert jobs[second].state.standing == "pending"
        began = jobs[first].start
        assert began is not None
        estimate = parse.estimate(await commands.test(*full, given=SLEEP))
        assert estimate is not None
        assert estimate.start >= began + 599
    finally:
        await commands.run("scancel", str(first), str(second))
    states = {job.id.number: job.state for job in parse.jobs(await commands.run("squeue", *asked))}
    assert states[second].standing == "ended"
    assert states[second].code == "stopped"


async def test_what_is_impossible_is_refused_in_words(commands: Commands) -> None:
    for call in (commands.run("sbatch", "--gres=gpu:none:1", given=SLEEP), commands.test("--nodes=9", given=SLEEP)):
        with pytest.raises(ClusterRefused, match="not available"):
            await call


PIECE = st.builds(
    lambda first, more, width: f"{first:0{width}d}" if not more else f"{first:0{width}d}-{first + more:0{width}d}",
    st.integers(0, 200),
    st.integers(0, 8),
    st.integers(1, 4),
)
LIST = st.lists(
    st.builds(
        lambda before, pieces: f"{before}[{','.join(pieces)}]",
        st.sampled_from(["n", "node-", "r1n", "r[1-2]n", "a"]),
        st.lists(PIECE, min_size=1, max_size=3),
    ),
    min_size=1,
    max_size=3,
).map(",".join)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(LIST)
def test_lists_of_hosts_are_those_of_slurm(bed: Bed, text: str) -> None:
    names = bed.ask("scontrol", "show", "hostnames", text).split()
    assert sorted(expand(text)) == sorted(names)
    assert bed.ask("scontrol", "show", "hostnames", fold(names)).split() == names
