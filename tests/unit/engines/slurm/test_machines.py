"""A cluster's nodes and partitions as ours, what is asked of them, and what speaks against it."""

import math
from typing import Any

import pytest

from tests.fixtures.gangs import gang, key
from trainmaster.core.config import LimitsConfig
from trainmaster.core.launch import Asked
from trainmaster.core.records import Node, Resources, Role
from trainmaster.engines.base import Refused, Waiting
from trainmaster.engines.slurm.attempts.asking import Asking
from trainmaster.engines.slurm.client.commands import ClusterDown, ClusterRefused
from trainmaster.engines.slurm.client.estimates import ClusterEstimates
from trainmaster.engines.slurm.client.machines import Machines
from trainmaster.engines.slurm.client.reading import Printed
from trainmaster.engines.slurm.messages import slurm, slurm_states
from trainmaster.engines.slurm.script import AttemptPlace, CardRequest, script
from trainmaster.engines.slurm.settings import SlurmEngineConfig
from trainmaster.messages import render
from trainmaster.messages.said import verbatim

NODE = (
    "NodeName={name} CPUTot=8 AvailableFeatures={features} Gres={gres} NodeAddr={name} RealMemory=4096 State={state} "
    "Partitions=batch"
    "{reason}\n"
)
PARTITION = (
    "PartitionName=batch AllowGroups=ALL MaxNodes=1 MaxTime={time} MaxMemPerNode={memory} Nodes=n[1-2] State={state}\n"
)
RESERVATION = "ReservationName=course StartTime=1 EndTime=9999999999 Nodes=n2\n"


class Told:
    """Client programs that answer what a test says."""

    def __init__(self) -> None:
        self.node = {
            "n1": {"features": "A100,driver-535.104.05", "gres": "gpu:2"},
            "n2": {"features": "fast", "gres": "gpu:v100:4"},
        }
        self.partition = {"time": "1-00:00:00", "memory": "2048", "state": "UP"}
        self.reservation = "No reservations in the system\n"
        self.foreseen: str | Exception = "sbatch: Job 1 to start at 5 using 1 processors on nodes n1 in partition batch"
        self.questions = 0

    async def run(self, program: str, *words: str) -> str:
        texts = {
            "node": "".join(
                NODE.format(name=name, **{"state": "IDLE", "reason": "", **more}) for name, more in self.node.items()
            ),
            "partition": PARTITION.format(**self.partition),
            "reservation": self.reservation,
        }
        return texts[words[1]]

    async def test(self, given: str, user: str = "") -> str:
        self.questions += 1
        if isinstance(self.foreseen, Exception):
            raise self.foreseen
        return self.foreseen


async def machines_of(told: Told, **own: Any) -> Machines:
    config = SlurmEngineConfig(partitions={"gpu": "batch"}, card_features=("A100",), **own)
    made: Any = Machines(Printed(told), ("gpu",), config)  # type: ignore[arg-type]
    await made.read()
    return made  # type: ignore[no-any-return]


async def asking_of(told: Told, **own: Any) -> Asking:
    settings = SlurmEngineConfig(partitions={"gpu": "batch"}, card_features=("A100",), **own)
    return Asking(settings, LimitsConfig(), await machines_of(told, **own))


async def test_features_name_the_model_of_untyped_cards_and_the_driver() -> None:
    first, second = await (await machines_of(Told())).nodes({"kind": "none"}, "Podman 4.3.1")
    assert (first.gpus, first.driver, first.pool) == (("A100", "A100"), "535.104.05", "gpu")
    assert (second.gpus, second.driver) == (("v100",) * 4, "")


def told_of(node: Node) -> str:
    return render.text(node.reason) if node.reason is not None else ""


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"state": "MIXED"}, ""),
        ({"state": "IDLE+DRAIN", "reason": " Reason=old disk"}, "Slurm reports that the node is drained: old disk"),
        ({"state": "DOWN*+DRAIN"}, "Slurm reports that the node is down"),
    ],
)
async def test_why_a_node_is_out_of_service_is_said_in_words(more: dict[str, str], reason: str) -> None:
    told = Told()
    told.node["n1"] |= more
    node, _ = await (await machines_of(told)).nodes({"kind": "none"}, "Podman 4.3.1")
    assert (node.schedulable, told_of(node)) == (not reason, reason)


async def test_a_partition_that_is_down_takes_its_nodes_out_of_service() -> None:
    told = Told()
    told.partition["state"] = "DOWN"
    node, _ = await (await machines_of(told)).nodes({"kind": "none"}, "Podman 4.3.1")
    assert (node.schedulable, node.reason) == (False, slurm_states.slurm_says_partition_down("batch"))
    assert told_of(node) == "Slurm reports that the partition batch is down"


async def test_nodes_of_a_reservation_are_for_those_who_ask_for_it() -> None:
    told = Told()
    told.reservation = RESERVATION
    nodes = await (await machines_of(told)).nodes({"kind": "none"}, "Podman 4.3.1")
    assert [told_of(node) for node in nodes] == ["", "Slurm reports that the node is kept for the reservation course"]
    assert dict(nodes[1].facts)["reservation"] == "course"
    ours = await (await machines_of(told, reservation="course")).nodes({"kind": "none"}, "Podman 4.3.1")
    assert [told_of(node) for node in ours] == ["Slurm reports that the node is not in the reservation course", ""]
    assert [node.schedulable for node in (*nodes, *ours)] == [True, False, False, True]


async def test_cards_and_drivers_are_asked_for_as_the_cluster_has_them() -> None:
    asking = await asking_of(Told())
    terms = asking.terms(Asked("gpu", driver="535.104.05"))
    assert terms.features == ("driver-535.104.05",)
    roles = {"A100": "--gpus-per-task=1", "v100": "--gpus-per-task=v100:1", "gpu": "--gpus-per-task=1"}
    for model, option in roles.items():
        made = gang(node="")
        made.roles = [Role("w", 1, Resources(gpu=1, gpu_type=model)), Role("ps", 1, Resources())]
        text = script(made.build(), terms, AttemptPlace("/d", "/p"))
        with_card, without = text.split("#SBATCH hetjob")
        assert f"#SBATCH {option}\n" in with_card
        assert ("--constraint=driver-535.104.05&A100\n" in with_card) == (model == "A100")
        assert "--constraint=driver-535.104.05\n" in without
    assert terms.card(Resources(gpu=1)) == CardRequest("")


async def test_what_slurm_keeps_of_a_job_is_said_with_why() -> None:
    why, asking = verbatim("Access/permission denied"), await asking_of(Told(), nice=50)
    assert [
        (change.partition("=")[0], code, said(why)) for change, code, said in asking.changes(Asked("gpu", 60.0))
    ] == [
        ("TimeLimit", "limit_kept", slurm.time_limit_kept(why)),
        ("Nice", "place_kept", slurm.place_in_order_kept(why)),
    ]
    assert [code for _, code, _ in (await asking_of(Told(), nice=0)).changes(Asked("gpu"))] == ["limit_kept"]


@pytest.mark.parametrize(
    ("most", "wanted", "limit"),
    [
        ("1-00:00:00", 60.0, 190.0),
        ("1-00:00:00", 86400.0, 86400.0),
        ("1-00:00:00", None, 86400.0),
        ("UNLIMITED", None, math.inf),
    ],
)
async def test_slurms_limit_is_later_than_ours_but_never_above_its_partitions(
    most: str, wanted: float | None, limit: float
) -> None:
    told = Told()
    told.partition["time"] = most
    asking = await asking_of(told)
    assert asking.limit_s(Asked("gpu", limit_s=wanted, grace_s=10.0)) == limit
    text = script(
        gang(node="").role("w", 1, "true").build(), asking.terms(Asked("gpu", wanted)), AttemptPlace("/d", "/p")
    )
    assert ("--time=UNLIMITED" in text) == (limit == math.inf)


async def test_what_slurm_would_let_wait_for_ever_is_objected_to() -> None:
    asking, fits = await asking_of(Told()), (Role("w", 1, Resources(memory_mib=2048)),)
    assert asking.objections(fits, Asked("gpu", limit_s=86400.0)) == ()
    roles = (Role("a", 1, Resources(memory_mib=512)), Role("b", 1, Resources(memory_mib=2049, gpu=1, gpu_milli=500)))
    found = asking.objections(roles, Asked("gpu", limit_s=86401.0))
    assert [(one.code, one.path) for one in found] == [
        ("whole_cards", "roles.1.resources.gpu_share"),
        ("partition_time", "duration"),
        ("partition_memory", "roles.1.resources.memory"),
    ]
    assert [one.code for one in asking.objections(fits, Asked("cpu"))] == ["no_partition"]
    assert asking.objections(fits, Asked("gpu")) == ()


async def foreseen(told: Told, components: int = 1) -> Waiting | Refused:
    story: Any = told
    return await ClusterEstimates(story, await machines_of(told)).of("a-1", "gpu", "text", components)


async def test_an_estimate_says_when_and_where() -> None:
    found = await foreseen(Told())
    assert isinstance(found, Waiting)
    assert (found.attempt, found.starts_at, found.nodes) == ("a-1", 5.0, ("n1",))
    assert (found.code, found.said) == ("Resources", slurm.would_wait_in_slurm())


async def test_an_estimate_says_how_many_would_have_to_make_room() -> None:
    told = Told()
    told.foreseen = f"{told.foreseen} Preempts: 7,8"
    found = await foreseen(told)
    assert isinstance(found, Waiting)
    assert (found.code, found.starts_at) == ("Preempts", 5.0)
    assert render.text(found.said) == "Slurm would stop or suspend 2 other jobs for it"


async def test_no_start_is_guessed_where_slurm_foresees_none() -> None:
    down, drained, told = Told(), Told(), Told()
    down.partition["state"] = "DOWN"
    drained.node["n1"]["state"] = "IDLE+DRAIN"
    drained.foreseen = ClusterRefused("Requested node configuration is not available")
    told.foreseen = "sbatch: Job 1 to start at N/A using 1 processors on nodes n1 in partition batch"
    answers = [
        await foreseen(down),
        await foreseen(drained),
        await foreseen(told),
        await foreseen(Told(), components=2),
    ]
    for answer in answers:
        assert isinstance(answer, Waiting)
        assert answer.starts_at is None
        assert render.text(answer.said, "zh") != render.text(answer.said)
    assert [(answer.code, answer.said.code) for answer in answers if isinstance(answer, Waiting)] == [
        ("PartitionDown", "slurm_reason_partition_down"),
        ("ReqNodeNotAvail", "no_node_in_service"),
        ("None", "no_start_foreseen"),
        ("Heterogeneous", "no_start_foreseen_of_parts"),
    ]


async def test_a_refusal_is_one_where_all_nodes_are_in_service_or_it_is_not_about_nodes() -> None:
    told = Told()
    told.foreseen = ClusterRefused("Requested node configuration is not available")
    refused = await foreseen(told)
    assert isinstance(refused, Refused)
    assert refused.said == verbatim("Requested node configuration is not available")
    told.node["n1"]["state"] = "DOWN"
    told.foreseen = ClusterRefused("Invalid feature specification")
    assert isinstance(await foreseen(told), Refused)
    told.foreseen = ClusterDown("x")
    with pytest.raises(ClusterDown):
        await foreseen(told)


async def test_the_same_question_is_asked_once_in_a_while() -> None:
    told = Told()
    story: Any = told
    estimates = ClusterEstimates(story, await machines_of(told))
    for attempt in ("a-1", "b-1"):
        assert (await estimates.of(attempt, "gpu", "text", 1)).attempt == attempt
    assert told.questions == 1
    await estimates.of(key(gang().build()), "gpu", "another", 1)
    assert told.questions == 2
