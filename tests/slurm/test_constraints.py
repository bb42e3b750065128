"""What a job asks of its nodes reaches Slurm and holds there: R10 to R14, through the whole server."""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.slurm.bed import Bed, until
from tests.slurm.served import Served, job


@pytest.fixture(scope="module")
def served(bed: Bed) -> Iterator[Served]:
    """Start a server on a cluster whose features name drivers and, of n4, the model of the cards."""
    bed.ask("scontrol", "update", "NodeName=n[1-2]", "AvailableFeatures=bed,driver-535.104.05")
    bed.ask("scontrol", "update", "NodeName=n4", "AvailableFeatures=bed,A100,driver-550.54")
    made = Served(bed, Path(tempfile.mkdtemp(prefix="served-", dir=bed.folder)), {"card_features": ["A100"]})
    yield made.whole()
    made.end()


def ran_on(served: Served, name: str, **fields: Any) -> set[str]:
    view = served.ended(served.submit(job(name, "true", **fields)))
    assert view["state"] == "succeeded", view["verdict"]
    return set(view["nodes"])


def with_cards(model: str | None, **fields: Any) -> dict[str, Any]:
    return {
        "roles": [
            {
                "name": "w",
                "command": "true",
                "replicas": 1,
                "resources": {"cpu": 1, "memory": 64, "gpu": 1, "gpu_type": model},
            }
        ],
        **fields,
    }


def test_chosen_nodes(served: Served) -> None:
    """R12: any of those named will do."""
    assert ran_on(served, "a", nodes=["n3"]) == {"n3"}
    assert ran_on(served, "b", nodes=["n2", "n3"], gpu=2, replicas=2) == {"n2", "n3"}


def test_a_version_of_the_driver(served: Served) -> None:
    """R13: read from features, asked for as one."""
    nodes = {node.name: node for node in served.sdk().admin.nodes()}
    assert [nodes[name].driver for name in ("n1", "n3", "n4")] == ["535.104.05", "", "550.54"]
    assert ran_on(served, "c", **with_cards(None, driver="550.54")) == {"n4"}
    assert ran_on(served, "d", **with_cards(None, driver="535.104.05")) < {"n1", "n2"}


def test_a_model_of_cards_by_type_and_by_feature(served: Served) -> None:
    assert ran_on(served, "e", **with_cards("fake")) < {"n1", "n2", "n3", "n4"}
    assert ran_on(served, "f", **with_cards("A100")) == {"n4"}


def test_a_flavor(served: Served) -> None:
    """R14, R161."""
    served.sdk().admin.put_flavor("one-card", cpu=1, memory_mib=128, gpu=1, gpu_type="fake")
    role = {"name": "w", "command": "true", "replicas": 2, "flavors": ["one-card"]}
    view = served.ended(served.submit(job("g", "true", roles=[role])))
    assert view["state"] == "succeeded", view["verdict"]
    assert [len(task["gpus"]) for task in view["task_list"]] == [1, 1]


def test_nodes_out_of_service_say_so_in_words(served: Served) -> None:
    bed = served.bed
    bed.ask("scontrol", "update", "NodeName=n3", "State=DRAIN", "Reason=old disk")
    words = ("ReservationName=course", "StartTime=now", "Duration=5", "Users=nobody", "Nodes=n2")
    bed.ask("scontrol", "create", "reservation", *words)
    try:

        def reasons() -> list[str]:
            told = {node.name: node.reason.en if node.reason else "" for node in served.sdk().admin.nodes()}
            return [told[name].split(" [")[0] for name in ("n1", "n2", "n3")]

        kept = "Slurm reports that the node is kept for the reservation course"
        until(lambda: reasons() == ["", kept, "Slurm reports that the node is drained: old disk"], "the reasons")
    finally:
        bed.ask("scontrol", "delete", "ReservationName=course")
        bed.ask("scontrol", "update", "NodeName=n3", "State=RESUME")
