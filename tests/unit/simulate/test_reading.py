"""Workloads, machines and policies from what people write."""

import gzip
from pathlib import Path

import pytest

from trainmaster.core.errors import InvalidSpec
from trainmaster.core.records import Node
from trainmaster.core.states import Priority
from trainmaster.simulate.clusters import PLENTY_CORES, added, describe, parse_cluster
from trainmaster.simulate.policies import parse_policy
from trainmaster.simulate.traces import read_trace
from trainmaster.simulate.workload import NodeSize, Workload, limit_s, loose_limit_s

WHOLE = NodeSize(8, 100)


def read(folder: Path, text: str, name: str = "jobs.csv") -> Workload:
    path = folder / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return read_trace(str(path), WHOLE)


def shape(work: Workload, at: int = 0) -> list[tuple[int, int]]:
    return [(role.replicas, role.resources.gpu) for role in work.jobs[at].roles]


def test_cards_beyond_one_node_are_whole_nodes_and_a_rest(tmp_path: Path) -> None:
    work = read(tmp_path, "row,submit_s,run_s,gpus\n0,5,10,8\n1,5,10,12\n2,5,10,32\n")
    assert [shape(work, at) for at in range(3)] == [[(1, 8)], [(1, 8), (1, 4)], [(4, 8)]]
    assert [job.cards for job in work.jobs] == [8, 12, 32]


def test_all_columns_of_a_csv(tmp_path: Path) -> None:
    work = read(
        tmp_path,
        "job_id,submit_s,run_s,gpus,limit_s,vc,user,priority,preemptible,cpu,memory_mib,wait_fifo,pool\n"
        "a,7,10,1,60,team,ann,urgent,yes,2.5,512,33,big\n",
        "jobs.csv.gz",
    )
    (job,) = work.jobs
    assert (job.id, job.submit_s, job.work_s, job.limit_s, job.workspace, job.owner) == ("a", 7, 10, 60, "team", "ann")
    assert (job.priority, job.preemptible, job.pool, job.reference) == (Priority.URGENT, True, "big", {"wait_fifo": 33})
    assert (job.roles[0].resources.cpu, job.roles[0].resources.memory_mib) == (2.5, 512)


def test_processors_are_cores_and_shares_of_cards_are_kept(tmp_path: Path) -> None:
    assert read(tmp_path, "job_id,submit_s,run_s,procs\n1,0,5,40\n").jobs[0].cores == 40
    pods = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,creation_time,deletion_time,scheduled_time\n"
    work = read(tmp_path, pods + "p0,12000,16384,1,460,0,99,9\np1,1000,1,0,0,1,99,9\np2,1000,1,1,1000,2,,\n")
    (share, plain) = work.jobs
    assert (share.roles[0].resources.gpu_milli, share.work_s, share.roles[0].resources.cpu) == (460, 90, 12)
    assert plain.cards == 0
    assert "1 job " in work.notes[0]


def test_several_card_models_in_one_cell_are_alternatives(tmp_path: Path) -> None:
    """As openb writes them: any of the models will do, so the queue may choose."""
    rows = "row,submit_s,run_s,gpus,gpu_spec\n0,0,5,2,V100M16|V100M32\n1,0,5,2,T4\n2,0,5,2,\n"
    two, one, none = read(tmp_path, rows).jobs
    models = [[role.resources.gpu_type for role in shape] for shape in two.shapes]
    assert models == [["V100M16"], ["V100M32"]]
    assert two.roles == two.shapes[0]
    assert [(job.roles[0].resources.gpu_type, job.shapes) for job in (one, none)] == [("T4", ()), (None, ())]


def test_sizes_alone_need_no_times(tmp_path: Path) -> None:
    """What fits beside what does not depend on when it came; a replay does, and says which column it misses."""
    path = tmp_path / "pods.csv"
    path.write_text("name,cpu_milli,num_gpu,gpu_milli,gpu_spec\na,4000,1,460,T4\nb,8000,8,1000,\n")
    work = read_trace(str(path), WHOLE, sizes_only=True)
    assert [(job.id, job.submit_s, job.work_s, job.cards) for job in work.jobs] == [("a", 0, 0, 0.46), ("b", 0, 0, 8)]
    with pytest.raises(InvalidSpec, match="no column submit_s"):
        read_trace(str(path), WHOLE)
    path.write_text("name,creation_time,num_gpu\na,0,1\n")
    with pytest.raises(InvalidSpec, match="no column run_s or deletion_time"):
        read_trace(str(path), WHOLE)


def test_an_elastic_gang_names_its_least_cards(tmp_path: Path) -> None:
    work = read(tmp_path, "row,submit_s,run_s,gpus,min_gpus\n0,5,10,32,9\n")
    assert work.jobs[0].roles[0].min_replicas == 2


def test_swf(tmp_path: Path) -> None:
    log = (
        "; Computer: one\n"
        "1 0 10 97 56 -1 -1 56 2100 -1 1 1 7 -1 1 -1 -1 -1\n"
        "2 5 0 0 4 -1 -1 -1 -1 -1 5 2 7 -1 1 -1 -1 -1\n"
        "3 9 0 33 4 -1 -1 -1 -1 -1 1 2 8 -1 1 -1 -1 -1\n"
    )
    work = read(tmp_path, log, "log.swf")
    assert [(job.id, job.submit_s, job.work_s, job.cores, job.limit_s) for job in work.jobs] == [
        ("1", 0, 97, 56, 2100),
        ("3", 9, 33, 4, None),
    ]
    assert (work.jobs[0].owner, work.jobs[0].workspace, work.has_limits) == ("1", "7", True)


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("a,b\n1,2\n", "jobs.csv:1", "submit_s"),
        ("submit_s,gpus\n1,2\n", "jobs.csv:1", "run_s"),
        ("submit_s,run_s,gpus\n1,2,3\n1,x,3\n", "jobs.csv:3", "'x'"),
        ("submit_s,run_s,gpus,priority\n1,2,3,high\n", "jobs.csv:2", "very_urgent"),
    ],
)
def test_a_wrong_file_is_refused_with_its_line(tmp_path: Path, text: str, place: str, words: str) -> None:
    with pytest.raises(InvalidSpec) as found:
        read(tmp_path, text)
    assert found.value.problems[0].path == place
    assert words in found.value.message


def test_a_file_that_is_not_there_or_not_text(tmp_path: Path) -> None:
    (tmp_path / "x.gz").write_bytes(b"\x1f\x8bnonsense")
    for path in ("none.csv", "x.gz"):
        with pytest.raises(InvalidSpec, match="cannot be read"):
            read_trace(str(tmp_path / path), WHOLE)


def test_equal_ids_are_told_apart(tmp_path: Path) -> None:
    work = read(tmp_path, "id,submit_s,run_s,gpus\na,0,1,1\na,0,1,1\n")
    assert [job.id for job in work.jobs] == ["a", "a#1"]


def test_what_the_queue_is_told_of_run_times(tmp_path: Path) -> None:
    work = read(tmp_path, "row,submit_s,run_s,gpus,limit_s\n0,0,100,1,50\n1,0,100,1,\n")
    short, none = work.jobs
    told = {word: limit_s(short, word, work.has_limits) for word in ("auto", "recorded", "exact", "loose", "none")}
    assert told == {"auto": 100, "recorded": 100, "exact": 100, "loose": 3600, "none": None}
    assert limit_s(none, "recorded", True) is None
    assert limit_s(none, "auto", False) == 14400
    assert loose_limit_s(10**9, 0) == 10**9


def test_machines_in_one_line() -> None:
    (node, *rest) = parse_cluster(["2x4:model=A100,cpu=64,memory=512GiB,pool=big", "1x0:cpu=100"])
    assert (node.gpus, node.cpu, node.memory_mib, node.pool) == (("A100",) * 4, 64.0, 512 * 1024, "big")
    assert (len(rest), rest[-1].cpu, rest[-1].gpus) == (2, 100.0, ())
    assert parse_cluster(["1x1"])[0].cpu == PLENTY_CORES
    assert describe(parse_cluster(["1x0:cpu=100"]))[1] == "1 node, 100 cores"
    assert describe(parse_cluster(["2x1"]))[1] == "2 nodes, 2 GPUs"
    assert describe(parse_cluster(["1x1"]))[1] == "1 node, 1 GPU"


def test_machines_in_a_file(tmp_path: Path) -> None:
    yaml = tmp_path / "cluster.yaml"
    yaml.write_text("nodes:\n- {count: 2, cards: 8, model: A100, cpu: 128, memory: 1TiB}\n- {name: big, cores: 64}\n")
    rows = tmp_path / "cluster.csv"
    rows.write_text("sn,cpu_milli,memory_mib,gpu,model\nn1,96000,393216,8,G2\n")
    assert [node.name for node in parse_cluster([str(yaml)])] == ["node-0", "node-1", "big"]
    assert parse_cluster([str(rows)])[0] == Node("n1", "10.0.0.0", 96.0, 393216, ("G2",) * 8, simulated=True)


@pytest.mark.parametrize(
    "text", ["64", "8x", "8x8:fast", "8x8:speed=3", "0x8", "8x8:cpu=lots", "8x8:memory=big", "no.yaml"]
)
def test_wrong_machines_are_refused(text: str) -> None:
    with pytest.raises(InvalidSpec):
        parse_cluster([text])


def test_more_nodes() -> None:
    nodes = parse_cluster(["2x4:model=T4"])
    assert [node.gpus for node in added(nodes, "1")] == [("T4",) * 4] * 3
    assert [len(node.gpus) for node in added(nodes, "1x8")] == [4, 4, 8]
    assert len({node.name for node in added(nodes, "3")} | {node.host for node in added(nodes, "3")}) == 10


def test_a_policy_and_its_knobs() -> None:
    assert parse_policy("default:max_starts=7").max_starts == 7
    for text in ("nobody", "default:speed=1", "default:max_starts", "default:max_starts=many"):
        with pytest.raises(InvalidSpec):
            parse_policy(text)
