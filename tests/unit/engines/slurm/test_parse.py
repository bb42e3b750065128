"""What Slurm prints is read as it is meant, and a line that cannot be read is said."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainmaster.engines.slurm.client import parse
from trainmaster.engines.slurm.client.parse import NodeCards

ARRAY = f"tm-a{'5' * 32}"
OURS = f"tm-t{'0' * 31}a-1     |"
SQUEUE = f"""\
{OURS}8|N/A|8|PENDING|1826789487||n[1-3]|Resources
{OURS}7|N/A|7|RUNNING|1795253487|n[1-3]|(null)|None
{OURS}9|N/A|9|PENDING|N/A||(null)|\
Nodes required for job are DOWN, DRAINED or reserved for jobs in higher priority partitions
{ARRAY:43}|12|3|15|PENDING|N/A||(null)|Priority
"""

NODE = (
    "NodeName=n4 Arch=x86_64 CoresPerSocket=1  CPUAlloc=0 CPUEfctv=4 CPUTot=8 CPULoad=7.57 AvailableFeatures=a100,ib"
    " ActiveFeatures=a100 Gres=gpu:fake:2(S:0-1),shard:8 NodeAddr=10.0.0.4 NodeHostName=localhost Port=17105 "
    "Version=22.05.8"
    " OS=Linux 6.18.44 #1 SMP PREEMPT_DYNAMIC @0  RealMemory=4096 AllocMem=0 FreeMem=20928 Sockets=4 Boards=1 "
    "State={state}"
    " ThreadsPerCore=1 TmpDisk=0 Weight=1 Owner=N/A MCS_label=N/A Partitions=batch,urgent  BootTime=1795218689"
    " CfgTRES=cpu=4,mem=4G,billing=4 AllocTRES= CapWatts=n/a ExtSensorsTemp=n/s{reason}\n"
)
PARTITION = (
    "PartitionName=batch AllowGroups={groups} AllowAccounts=ALL AllowNodes=ALL Default=YES QoS=N/A Hidden=NO "
    "MaxNodes=UNLIMITED"
    " MaxTime={limit} MinNodes=0 Nodes=n[1-4] State=UP TotalCPUs=16 DefMemPerCPU=256 TRES=cpu=16,mem=16G,node=4\n"
)
RESERVATIONS = (
    "ReservationName=root_1 StartTime=1795253490 EndTime=1795253790 Duration=00:05:00 Nodes=n4 NodeCnt=1 "
    "Users=root,ann Groups=(null)"
    " State=ACTIVE BurstBuffer=(null)\n"
)


def test_jobs() -> None:
    waiting, running, stuck, element = parse.jobs(SQUEUE)
    assert (element.name, element.id, str(element.id), element.own) == (ARRAY[3:], (12, 3), "12_3", 15)
    assert (waiting.id, waiting.state.standing, waiting.start, waiting.expected_nodes) == (
        ((8, None), "pending", 1826789487.0, ("n1", "n2", "n3"))
    )
    assert (running.nodes, running.start, running.expected_nodes) == (("n1", "n2", "n3"), 1795253487.0, ())
    assert stuck.start is None
    assert stuck.reason.endswith("higher priority partitions")


@pytest.mark.parametrize(
    "line",
    [
        "",
        "slurm_load_jobs error",
        "x|N/A|7|RUNNING|1|n1||None",
        "7|N/A|7|RUNNING|1|n[1||None",
        "7|x|7|RUNNING|1|n1||None",
    ],
)
def test_a_line_that_is_none_is_said(line: str) -> None:
    with pytest.raises(ValueError):
        parse.jobs(OURS + line)


TAIL = "7|N/A|7|RUNNING|1|n1||None"


@pytest.mark.parametrize(
    "name", ["train", "a|b", OURS + TAIL, f"x\n{OURS}{TAIL}", f"x\u2028{OURS}{TAIL}", f"{OURS[:37]}|{TAIL}"]
)
def test_no_name_of_somebody_elses_job_reads_like_ours(name: str) -> None:
    """squeue cuts and fills names to 43 characters."""
    assert [line for line in parse.jobs(f"{name:43.43}|8|N/A|8|RUNNING|1|n1||None\n") if line.id.number == 7] == []


def test_a_node() -> None:
    (node,) = parse.nodes(NODE.format(state="MIXED", reason=""))
    assert (node.name, node.address, node.cpus, node.memory_mib) == ("n4", "10.0.0.4", 4, 4096)
    assert (node.features, node.partitions, node.usable) == (("a100", "ib"), ("batch", "urgent"), True)
    assert node.cards == (NodeCards("fake", 2),)
    assert node.kernel == "Linux 6.18.44 #1 SMP PREEMPT_DYNAMIC @0"


@pytest.mark.parametrize(
    ("state", "usable"),
    [
        ("IDLE", True),
        ("ALLOCATED", True),
        ("IDLE+CLOUD+POWERED_DOWN", True),
        ("IDLE~", True),
        ("IDLE+PLANNED", True),
        ("IDLE+DRAIN", False),
        ("DOWN*", False),
        ("MIXED*", False),
        ("IDLE+MAINTENANCE+DRAIN", False),
        ("DOWN+NOT_RESPONDING", False),
        ("IDLE$", False),
    ],
)
def test_whether_a_node_starts_jobs(state: str, usable: bool) -> None:
    assert parse.nodes(NODE.format(state=state, reason=""))[0].usable is usable


def test_nothing_is_read_from_what_an_administrator_wrote() -> None:
    text = NODE.format(state="DOWN", reason=" Reason=bad State=IDLE RealMemory=9999 disk [root@1795253490]")
    (node,) = parse.nodes(text)
    assert (node.usable, node.memory_mib) == (False, 4096)
    assert node.reason == "bad State=IDLE RealMemory=9999 disk [root@1795253490]"


@pytest.mark.parametrize(
    ("text", "cards"),
    [
        ("", ()),
        ("(null)", ()),
        ("gpu:2", (NodeCards("", 2),)),
        ("gpu", (NodeCards("", 1),)),
        ("gpu:tesla", (NodeCards("tesla", 1),)),
        ("gpu:a100:2(IDX:0-1)", (NodeCards("a100", 2, (0, 1)),)),
        ("gpu:nvidia_a100-sxm4-40gb:8(S:0-1)", (NodeCards("nvidia_a100-sxm4-40gb", 8),)),
        ("gpu:1g.5gb:7(S:0),gpu:a100:1(IDX:N/A),shard:4", (NodeCards("1g.5gb", 7), NodeCards("a100", 1))),
        ("gpu:fake:2(IDX:0,2-3)", (NodeCards("fake", 2, (0, 2, 3)),)),
        ("craynetwork:4", ()),
    ],
)
def test_cards(text: str, cards: tuple[NodeCards, ...]) -> None:
    assert parse.cards(text) == cards


def test_partitions() -> None:
    (open_to_all,) = parse.partitions(PARTITION.format(groups="ALL", limit="UNLIMITED"))
    assert (open_to_all.nodes, open_to_all.default, open_to_all.limit_s, open_to_all.groups) == (
        (("n1", "n2", "n3", "n4"), True, None, ())
    )
    (kept,) = parse.partitions(PARTITION.format(groups="ml,hpc", limit="2-12:00:00"))
    assert (kept.groups, kept.limit_s, kept.up) == (("ml", "hpc"), 216000.0, True)


def test_reservations() -> None:
    assert parse.reservations("No reservations in the system\n") == []
    (kept,) = parse.reservations(RESERVATIONS)
    assert kept == parse.SlurmReservation("root_1", ("n4",), 1795253490.0, 1795253790.0)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("UNLIMITED", None),
        ("30", 1800.0),
        ("1:30", 90.0),
        ("01:30:00", 5400.0),
        ("1-00:00:00", 86400.0),
        ("2-12", 216000.0),
    ],
)
def test_time_limits(text: str, seconds: float | None) -> None:
    assert parse.limit_s(text) == seconds


def test_estimates() -> None:
    said = (
        "sbatch: Job 12 to start at 1795253489 using 4 processors on nodes n[1-2] in partition urgent\n"
        "sbatch:   Preempts: 7,9\n"
    )
    assert parse.estimate(said) == parse.Estimate(1795253489.0, ("n1", "n2"), 2)
    assert parse.estimate("allocation failure: Requested node configuration is not available") is None


def test_of_a_heterogeneous_job_no_estimate_is_taken() -> None:
    """Each component is judged by itself: 22.05 says "now" of two that each need every card."""
    assert parse.estimate("sbatch: Job 18 to start at 1795265602 using 12 processors on n[1-4]\n") is None


def test_the_number_of_a_submitted_job() -> None:
    assert parse.job_number("12\n") == 12
    assert parse.job_number("12;green\n") == 12
    with pytest.raises(ValueError):
        parse.job_number("")


@given(st.text(max_size=200))
def test_no_text_makes_the_readers_fail_otherwise(text: str) -> None:
    for read in (parse.jobs, parse.nodes, parse.partitions, parse.estimate, parse.cards):
        with contextlib.suppress(ValueError):
            read(text)
