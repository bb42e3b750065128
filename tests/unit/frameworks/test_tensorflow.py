"""TensorFlow: TF_CONFIG of R113, R125 and R126, on every task; what names of roles mean, and what completes a job."""

import json
from dataclasses import replace
from typing import Any

import pytest

from trainmaster.core.errors import InvalidSpec
from trainmaster.core.launch import Gang
from trainmaster.core.records import PortRequest
from trainmaster.frameworks import registry
from trainmaster.spec.check import check
from trainmaster.spec.job import JobSpec
from trainmaster.spec.lower import draft, lower_roles
from trainmaster.spec.semantics import advice


def role(name: str, replicas: int = 1, **more: Any) -> dict[str, Any]:
    return {"name": name, "replicas": replicas, "command": "python train.py", **more}


def spec(*roles: dict[str, Any], **more: Any) -> JobSpec:
    return check({"name": "a", "framework": "tensorflow", "roles": list(roles), **more})


def gang(*roles: dict[str, Any], **more: Any) -> Gang:
    return draft(spec(*roles, **more))


def configs(made: Gang) -> dict[str, Any]:
    """TF_CONFIG of each task by ``role-index``."""
    return {
        f"{one.env['TRAINMASTER_ROLE']}-{one.env['TRAINMASTER_INDEX']}": json.loads(one.env["TF_CONFIG"])
        for one in registry.preview(made, {})
    }


@pytest.mark.parametrize("name", ["worker", "trainer"])
def test_without_parameter_servers_the_workers_know_one_another(name: str) -> None:
    """R113, R125: a single role is workers, whatever it is called; there is no `ps` list."""
    made = configs(gang(role(name, 2)))
    cluster = {"worker": ["127.0.0.2:21000", "127.0.0.3:21001"]}
    assert made == {
        f"{name}-{index}": {"cluster": cluster, "task": {"type": "worker", "index": index}, "environment": "cloud"}
        for index in (0, 1)
    }


def test_with_parameter_servers_every_task_has_the_same_cluster_and_its_own_place_in_it() -> None:
    """R126, R115: types by the names of roles, the index is VK_TASK_INDEX; an evaluator stands outside."""
    made = gang(role("ps", 2), role("worker", 2), role("chief"), role("evaluator"))
    ports = {
        f"{made.roles[task.role].name}-{task.index}": f"{task.host}:{task.ports[0][1][0]}" for task in made.placement
    }
    cluster = {
        "chief": [ports["chief-0"]],
        "worker": [ports["worker-0"], ports["worker-1"]],
        "ps": [ports["ps-0"], ports["ps-1"]],
    }
    found = configs(made)
    assert len({*ports.values()}) == 6, "one address for each task (R113)"
    assert found == {
        name: {
            "cluster": cluster,
            "task": {"type": name.partition("-")[0], "index": int(name.partition("-")[2])},
            "environment": "cloud",
        }
        for name in ports
    }
    for one in registry.preview(made, {}):
        assert one.env["VK_TASK_INDEX"] == str(json.loads(one.env["TF_CONFIG"])["task"]["index"])


def test_the_order_of_the_placement_changes_nothing() -> None:
    made = gang(role("ps"), role("worker", 3))
    assert configs(replace(made, placement=tuple(reversed(made.placement)))) == configs(made)


def test_a_gang_that_began_smaller_names_only_who_is_there() -> None:
    """R182: of three workers two were placed."""
    made = gang(role("worker", 3, min_replicas=2))
    smaller = replace(made, placement=made.placement[:2])
    assert [len(one["cluster"]["worker"]) for one in configs(smaller).values()] == [2, 2]


def test_without_allocated_ports_the_manuals_2222_and_addresses_of_ipv6_in_brackets() -> None:
    """D6: a private network needs no allocation."""
    made = gang(role("worker", 2))
    bare = replace(
        made, placement=tuple(replace(task, ports=(), host=f"fd00::{task.index}") for task in made.placement)
    )
    assert configs(bare)["worker-0"]["cluster"]["worker"] == ["[fd00::0]:2222", "[fd00::1]:2222"]


def test_commands_run_as_typed_and_threads_are_the_cores() -> None:
    command = "python -u train.py --config=$TF_CONFIG"
    made = registry.preview(gang(role("worker", command=command, resources={"cpu": 3})), {})[0]
    assert made.argv == ("python", "-u", "train.py", f"--config={made.env['TF_CONFIG']}")
    assert (made.env["OMP_NUM_THREADS"], made.env["TF_NUM_INTRAOP_THREADS"]) == ("3", "3")
    own = registry.preview(gang(role("worker"), env={"TF_NUM_INTRAOP_THREADS": 1}), {})[0]
    assert own.env["TF_NUM_INTRAOP_THREADS"] == "1"


def test_every_role_gets_a_port_for_each_of_its_tasks() -> None:
    """R113: each task is a server of the cluster; a port that the job asks for itself is that one."""
    roles = lower_roles(spec(role("ps"), role("worker", 2, ports=[{"label": "tf", "begin_at": 2222}]), role("chief")))
    assert [one.ports for one in roles] == [(PortRequest("tf"),), (PortRequest("tf", 1, 2222),), (PortRequest("tf"),)]


@pytest.mark.parametrize(
    ("roles", "completing"),
    [
        ([role("ps"), role("worker", 2), role("chief")], "chief"),
        ([role("ps"), role("worker", 2)], "worker"),
        ([role("ps"), role("trainer", 2)], "trainer"),
        ([role("ps"), role("worker", 2, main=True), role("chief")], "worker"),
        ([role("chief"), role("worker", 2)], None),
        ([role("worker", 2)], None),
    ],
)
def test_parameter_servers_never_end_so_who_trains_completes_the_job(
    roles: list[dict[str, Any]], completing: str | None
) -> None:
    """R136: the main sub-task, unless the job says itself which it is; without servers all have to be done."""
    assert [one.name for one in lower_roles(spec(*roles)) if one.main] == ([completing] if completing else [])


def test_a_role_that_ends_the_job_is_not_joined_by_another() -> None:
    """D11."""
    lowered = lower_roles(spec(role("ps"), role("worker", ends_job=True), role("chief")))
    assert [(one.main, one.ends_job) for one in lowered] == [(False, False), (False, True), (False, False)]


@pytest.mark.parametrize(
    ("roles", "path", "code"),
    [
        ([role("a"), role("b")], "roles.1.name", "type_taken"),
        ([role("trainer"), role("worker")], "roles.0.name", "type_taken"),
        ([role("worker"), role("chief", 2)], "roles.1.replicas", "type_single"),
        ([role("worker"), role("evaluator", 2)], "roles.1.replicas", "type_single"),
        ([role("ps", 2)], "roles", "type_missing"),
        ([role("ps"), role("evaluator")], "roles", "type_missing"),
    ],
)
def test_a_cluster_that_tensorflow_cannot_form_is_refused(roles: list[dict[str, Any]], path: str, code: str) -> None:
    """R117."""
    with pytest.raises(InvalidSpec) as refused:
        spec(*roles)
    assert [(one.path, one.code) for one in refused.value.problems] == [(path, code)]


def test_a_job_may_not_say_tf_config_itself() -> None:
    with pytest.raises(InvalidSpec) as refused:
        spec(role("worker"), env={"TF_CONFIG": "{}"})
    assert [(one.path, one.code) for one in refused.value.problems] == [("env.TF_CONFIG", "reserved_env")]


def test_parameter_servers_without_a_chief_are_pointed_out() -> None:
    """The form of the manual (R126) has no chief; TensorFlow 2 trains with one."""
    assert [(one.path, one.code) for one in advice(spec(role("ps"), role("worker", 2)))] == [("roles", "no_leader")]
    assert advice(spec(role("ps"), role("worker", 2), role("chief"))) == []
    assert advice(spec(role("worker", 2))) == []
    assert advice(check({"name": "a", "roles": [role("ps"), role("worker")]})) == []
