"""Where a job may run and with what: flavors and their combinations, shares of cards, nodes, driver, fewest
replicas.
"""

from typing import Any

import pytest

from trainmaster.core.cluster import Flavor
from trainmaster.core.config import LimitsConfig
from trainmaster.core.errors import InvalidSpec
from trainmaster.core.records import Job, job_from_json, to_json
from trainmaster.spec.check import check
from trainmaster.spec.lower import document_of, lower, read

FLAVORS = {
    "default": {
        "a100": Flavor("a100", cpu=8, memory_mib=4096, gpu=2, gpu_type="A100"),
        "910b": Flavor("910b", gpu=1, gpu_type="Ascend910B"),
        "half": Flavor("half", gpu=1, gpu_milli=500),
        "small": Flavor("small", cpu=0.5),
    }
}


def job(**fields: Any) -> dict[str, Any]:
    return {"name": "w", "command": "python train.py", **fields}


def found(document: dict[str, Any]) -> set[tuple[str, str]]:
    with pytest.raises(InvalidSpec) as refused:
        check(document, flavors=FLAVORS)
    return {(item.path, item.code) for item in refused.value.problems}


def lowered(document: dict[str, Any]) -> Job:
    spec = check(document, flavors=FLAVORS)
    return lower(spec, job_id="t" + "1" * 32, owner="ann", now=5.0, seq=3, limits=LimitsConfig(), flavors=FLAVORS)


def test_one_flavor_is_what_the_replicas_get() -> None:
    made = lowered(job(flavors=["a100"]))
    assert made.roles[0].resources == FLAVORS["default"]["a100"].resources()
    assert (made.roles[0].flavor, made.shapes) == ("a100", ())


def test_several_flavors_are_alternatives_of_one_job() -> None:
    """R161: in the order written; what is written twice counts once."""
    made = lowered(job(flavors=["a100", "910b", "a100"]))
    assert [shape[0].flavor for shape in made.shapes] == ["a100", "910b"]
    assert made.roles == made.shapes[0]
    assert job_from_json(to_json(made)) == made


def test_flavors_of_several_roles_combine() -> None:
    roles = [{"name": name, "command": "x", "flavors": ["a100", "small"]} for name in ("w", "ps")]
    made = lowered({"name": "w", "roles": roles})
    assert [tuple(role.flavor for role in shape) for shape in made.shapes] == [
        ("a100", "a100"),
        ("a100", "small"),
        ("small", "a100"),
        ("small", "small"),
    ]


def test_where_it_may_run_reaches_the_record() -> None:
    made = lowered(
        job(
            nodes=["n2", "n1", "n2"],
            virtual_cluster="vc",
            preemptible=True,
            replicas=4,
            min_replicas=2,
            workspace="default",
        )
    )
    assert (made.node_names, made.virtual_cluster, made.preemptible) == (("n1", "n2"), "vc", True)
    assert (made.roles[0].replicas, made.roles[0].min_replicas, made.roles[0].flavor) == (4, 2, None)
    assert lowered(job(driver="535.1", flavors=["a100"])).driver == "535.1"
    assert lowered(job(resources={"gpu": 1, "gpu_share": 0.25})).roles[0].resources.gpu_milli == 250


def test_everything_wrong_is_said_at_once() -> None:
    """R12, R13, R162, R182 and shares of cards."""
    wrong = job(
        flavors=["small", "huge"],
        resources={"gpu": 2, "gpu_share": 0.5},
        driver="535.1",
        nodes=["n1"],
        min_replicas=3,
        replicas=2,
    )
    assert found(wrong) == {
        ("flavors", "flavors_mixed"),
        ("flavors.1", "unknown_flavor"),
        ("resources.gpu_share", "share_one_card"),
        ("nodes", "nodes_with_driver"),
        ("min_replicas", "over_replicas"),
    }
    assert found(job(driver="535.1")) == {("driver", "driver_without_cards")}
    assert found(job(driver="535.1", flavors=["small"])) == {("driver", "driver_without_cards")}
    many = [{"name": f"r{i}", "command": "x", "flavors": ["a100", "910b", "half", "small"]} for i in range(4)]
    assert found({"name": "w", "roles": many}) == {("roles", "too_many_shapes")}
    assert found(job(flavors=["a100"], workspace="other")) == {("flavors.0", "unknown_flavor")}


def test_a_document_with_flavors_reads_back_the_same() -> None:
    spec = check(job(flavors=["a100", "small"], nodes=["n1"]), flavors=FLAVORS)
    assert read(document_of(spec)) == spec
    assert check(spec.model_dump(mode="json"), flavors=FLAVORS) == spec
