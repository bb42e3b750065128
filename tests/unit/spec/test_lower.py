"""From a spec to records: the row, the stored document, the gang, progress (R40, D2, D6, D10, B9)."""

from typing import Any

import pytest

from trainmaster.core.config import LimitsConfig
from trainmaster.core.errors import InvalidSpec
from trainmaster.core.launch import Mount, gang_from_json, gang_to_json
from trainmaster.core.records import Attempt, Job, PortRequest, Resources, job_from_json, to_json
from trainmaster.core.states import JobState, Phase, Priority
from trainmaster.spec.check import check
from trainmaster.spec.job import JobSpec
from trainmaster.spec.lower import (
    digest_of,
    document_of,
    draft,
    effective,
    gang,
    lower,
    lower_roles,
    progress_of,
    read,
    rehearse,
    unplaced_gang,
)

ID = "t" + "1" * 32


def lowered(spec: JobSpec, **limits: Any) -> Job:
    return lower(spec, job_id=ID, owner="ann", now=5.0, seq=3, limits=LimitsConfig(**limits))


def test_every_field_reaches_the_record() -> None:
    spec = check(
        {
            "name": "训练",
            "slug": "a.b",
            "description": "why",
            "framework": "pytorch",
            "pool": "big",
            "priority": "urgent",
            "duration": "2h",
            "retries": 2,
            "fault_restarts": 1,
            "grace": 3,
            "debug_hold": 60,
            "labels": {"team": "x"},
            "model": {"save": False},
            "roles": [
                {
                    "name": "w",
                    "replicas": 2,
                    "command": "x",
                    "resources": {"cpu": 0.5, "memory": 100, "gpu": 1, "gpu_type": "a", "shm": 32},
                    "ports": [{"label": "h", "count": 2, "begin_at": 1024}],
                    "min_succeeded": 1,
                    "min_failed": None,
                    "main": True,
                    "ends_job": True,
                },
            ],
        }
    )
    job = lowered(spec)
    only = job.roles[0]
    assert (job.id, job.name, job.slug, job.owner, job.description) == (ID, "训练", "a.b", "ann", "why")
    assert (job.submitted_at, job.queued_at, job.seq, job.state) == (5.0, 5.0, 3, JobState.QUEUED)
    assert (job.pool, job.priority, job.framework, job.labels) == ("big", Priority.URGENT, "pytorch", (("team", "x"),))
    policy = job.policy
    assert (policy.duration_s, policy.retries, policy.fault_restarts, policy.grace_s) == (7200.0, 2, 1, 3.0)
    assert (policy.debug_hold_s, policy.save_model) == (60.0, False)
    assert only.resources == Resources(0.5, 100, 1, "a", 32)
    assert only.ports == (PortRequest("h", 2, 1024), PortRequest("master"))
    assert (only.min_succeeded, only.min_failed, only.main, only.ends_job) == (1, None, True, True)
    assert job_from_json(to_json(job)) == job
    assert job.spec_digest == digest_of(document_of(spec))


def test_the_stored_document_reads_back_the_same() -> None:
    spec = check(
        {
            "name": "a",
            "command": ["a", "b c"],
            "parameters": {"x": 1.5, "y": None, "z": True},
            "extras": {"n": [1, None]},
        }
    )
    text = document_of(spec)
    assert read(text) == spec
    assert document_of(read(text)) == text
    assert check(effective(spec)) == spec
    assert digest_of(text).startswith("sha256:")


def test_effective_values_are_complete_and_in_base_units() -> None:
    """D2."""
    shown = effective(check({"name": "a", "command": "x", "resources": {"memory": "1GiB"}, "duration": "1m"}))
    asked = {"cpu": 1.0, "memory": 1024, "gpu": 0, "gpu_type": None, "gpu_share": 1.0, "shm": 64}
    assert shown["roles"][0]["resources"] == asked
    assert shown["roles"][0]["min_failed"] == 1
    assert shown["duration"] == 60.0


def test_only_the_first_role_gets_the_master_port_and_only_where_it_is_needed() -> None:
    """D6."""
    roles = [{"name": "a", "command": "x"}, {"name": "b", "command": "x"}]
    first, second = lower_roles(check({"name": "a", "framework": "pytorch", "roles": roles}))
    assert (first.ports, second.ports) == ((PortRequest("master"),), ())
    assert all(not role.ports for role in lower_roles(check({"name": "a", "roles": roles})))
    own = [{"name": "a", "command": "x", "ports": [{"label": "master", "begin_at": 2222}]}]
    assert lower_roles(check({"name": "a", "framework": "pytorch", "roles": own}))[0].ports == (
        PortRequest("master", 1, 2222),
    )


def test_a_card_type_without_cards_asks_for_nothing() -> None:
    spec = check({"name": "a", "command": "x", "resources": {"gpu_type": "a100"}})
    assert lower_roles(spec)[0].resources.gpu_type is None


def test_the_administrators_limits() -> None:
    """D10: a hold is cut; a duration above the limit is refused with the limit named; without one the limit holds."""
    long = check({"name": "a", "command": "x", "duration": "2h", "debug_hold": "9h"})
    assert lowered(long).policy.debug_hold_s == 4 * 3600
    with pytest.raises(InvalidSpec) as refused:
        lowered(long, max_duration_s=3600)
    assert [(p.path, p.code) for p in refused.value.problems] == [("duration", "duration_over_limit")]
    assert lowered(check({"name": "a", "command": "x"}), max_duration_s=3600).policy.duration_s == 3600
    assert lowered(check({"name": "a", "command": "x"})).policy.duration_s is None


def test_a_gang_carries_all_that_a_task_needs_and_survives_the_wire() -> None:
    spec = check(
        {
            "name": "a",
            "framework": {"kind": "pytorch", "processes_per_node": 2},
            "env": {"A": 1},
            "image": "registry/x:1",
            "pull_secret": "team",
            "replicas": 2,
            "command": "python x.py",
            "parameters": {"lr": 0.1, "fast": True, "none": None},
        }
    )
    job = lowered(spec)
    placement = rehearse(job.roles)
    attempt = Attempt(4, "retry", Phase.STARTING, placement, (), 0.0)
    mount = Mount("/src", "/code")
    made = gang(_with(job, attempt), spec, facts={"fs_uri": "file:///x"}, mounts=(mount,))
    assert (made.job, made.attempt, made.user, made.framework) == (ID, 4, "ann", "pytorch")
    assert made.options == {"processes_per_node": 2}
    assert made.commands[0].parameters == (("lr", "0.1"), ("fast", "true"))
    assert made.env == (("A", "1"),)
    assert made.facts == {"job_name": "a", "fs_uri": "file:///x"}
    assert (made.placement, made.mounts) == (placement, (mount,))
    assert (made.image, made.pull_secret) == ("registry/x:1", "team")
    assert gang_from_json(gang_to_json(made)) == made
    with pytest.raises(ValueError, match="no attempt"):
        gang(job, spec, facts={})


@pytest.mark.parametrize("image", ["default", "local"])
def test_an_image_that_means_the_engines_own_environment_is_none(image: str) -> None:
    assert draft(check({"name": "a", "command": "x", "image": image})).image is None


def test_before_anything_has_a_place_a_gang_says_where_it_may_run() -> None:
    """Node selection: what the engine is asked about before the submit."""
    spec = check(
        {
            "name": "a",
            "command": "x",
            "pool": "p",
            "nodes": ["n2", "n1"],
            "duration": "1m",
            "env": {"A": 1},
            "image": "x:1",
        }
    )
    mounts = (Mount("/data", "/dataset"),)
    made = unplaced_gang(lowered(spec), spec, mounts)
    assert (made.placement, made.mounts, made.env, made.image, made.user) == ((), mounts, (("A", "1"),), "x:1", "ann")
    assert made.asked is not None
    assert (made.asked.pool, made.asked.nodes, made.asked.limit_s) == ("p", ("n1", "n2"), 60.0)


def _with(job: Job, attempt: Attempt) -> Job:
    from dataclasses import replace

    return replace(job, attempt=attempt)


def test_a_draft_places_every_task_on_a_node_of_its_own() -> None:
    spec = check(
        {"name": "a", "roles": [{"name": "w", "replicas": 300, "command": "x", "ports": [{"label": "p", "count": 2}]}]}
    )
    placed = draft(spec).placement
    assert len({task.host for task in placed}) == 300
    assert len({port for task in placed for _, ports in task.ports for port in ports}) == 600


@pytest.mark.parametrize(
    ("parameters", "progress", "expected"),
    [
        ({"epochs": 30}, None, ("step", 30.0)),
        ({"epochs": 30, "max_steps": "500"}, None, ("step", 500.0)),
        ({"lr": 1}, None, None),
        ({"epochs": "many"}, None, None),
        ({"n": 7}, {"of": "n", "metric": "epoch"}, ("epoch", 7.0)),
        ({}, {"of": 9}, ("step", 9.0)),
    ],
)
def test_how_far_a_job_goes(parameters: dict[str, Any], progress: Any, expected: Any) -> None:
    assert progress_of(check({"name": "a", "command": "x", "parameters": parameters, "progress": progress})) == expected
