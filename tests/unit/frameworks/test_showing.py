"""What a preview shows of a large job: commands of all roles, the first replicas, and how much more there is (R41)."""

import json
from dataclasses import asdict
from typing import Any

from trainmaster.core.launch import RolePreview
from trainmaster.frameworks.showing import LONGEST, ROOM, preview_roles
from trainmaster.frameworks.words import MOST_FILLED, TextBudget, expand
from trainmaster.spec.check import check
from trainmaster.spec.lower import draft


def roles_of(count: int, replicas: int, **fields: Any) -> list[RolePreview]:
    roles = [
        {"name": f"r{at}", "command": "echo $PAI_TASK_ROLE_COUNT", "replicas": replicas, **fields}
        for at in range(count)
    ]
    return preview_roles(draft(check({"name": "a", "roles": roles})))


def test_a_small_job_is_shown_whole() -> None:
    (role,) = roles_of(1, 3)
    assert (role.command, role.more_tasks, len(role.tasks)) == ("echo 1", 0, 3)
    assert all(task.more_env == 0 and task.env["PAI_TASK_ROLE_COUNT"] == "1" for task in role.tasks)


def test_sixteen_replicas_of_a_role_are_enough() -> None:
    (role,) = roles_of(1, 40)
    assert (len(role.tasks), role.more_tasks) == (16, 24)


def test_64_roles_of_64_tasks_fit_into_an_answer() -> None:
    """Six kilobytes asked for 743 MiB: every one of 1,024 tasks was shown with what it is told of 4,096 others."""
    roles = roles_of(64, 64)
    assert len(json.dumps([asdict(role) for role in roles])) < 2 * ROOM
    assert [role.command for role in roles] == ["echo 64"] * 64
    for role in roles:
        (task,) = role.tasks
        assert role.more_tasks == 63
        assert task.env["PAI_TASK_ROLE_COUNT"] == "64"
        assert task.more_env > 3000
        assert len(task.env) > 100


def test_names_that_stand_for_long_lists_make_no_endless_command() -> None:
    """A command of 60 KB whose words each stand for 4,096 hosts."""
    role = {
        "name": "r",
        "replicas": 4096,
        "command": "echo " + "$VC_TASKROLE_0_HOSTS " * 2800,
        "env": {"E": "$VC_TASK0_HOSTS " * 2000},
    }
    (found,) = preview_roles(draft(check({"name": "a", "roles": [role]})))
    assert len(json.dumps(asdict(found))) < 3 * ROOM
    assert sum(map(len, found.tasks[0].argv)) <= LONGEST + 1


def test_no_more_is_filled_in_than_a_program_can_be_started_with() -> None:
    env = {"LONG": "x" * 1000, "SHORT": "y"}
    words = expand("$LONG " * 10_000 + "$SHORT", env)
    assert sum(map(len, words)) < MOST_FILLED + 10_000 * len("$LONG")
    assert words[0] == env["LONG"]
    assert words[-2:] == ["$LONG", "y"]
    assert expand("$LONG $SHORT", env, TextBudget(10)) == ["$LONG", "y"]
