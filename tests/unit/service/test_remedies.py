"""What would help a job that went wrong: more of what it lacked, another word, or nothing but its owner (D6, D7)."""

from dataclasses import replace
from typing import Any

import pytest

from trainmaster.core.records import Attempt, Job, Policy, Resources, Role, Task, Verdict
from trainmaster.core.states import JobState, Phase, TaskPhase
from trainmaster.messages import render
from trainmaster.messages.jobs import tasks as say
from trainmaster.messages.said import verbatim
from trainmaster.service.use_cases.remedies import remedies, rounded_mib

NEED = Resources(cpu=1.0, memory_mib=128, gpu=0)


def job(need: Resources = NEED, duration_s: float | None = None, flavor: str | None = None) -> Job:
    role = Role("worker", 1, need, flavor=flavor)
    return Job("t" + "0" * 32, "j", "me", (role,), "d", 0.0, policy=replace(Policy(), duration_s=duration_s))


def document(command: Any = "python train.py", flavors: tuple[str, ...] = ()) -> dict[str, Any]:
    return {"name": "j", "roles": [{"name": "worker", "command": command, "flavors": list(flavors)}]}


def found(
    of: Job, verdict: Verdict, doc: dict[str, Any] | None = None, **more: Any
) -> list[tuple[str, dict[str, Any]]]:
    made = remedies(of, verdict, doc or document(), more.pop("flavors", {}), **more)
    return [(one.message.code, one.change) for one in made]


def test_an_expired_job_gets_twice_the_time_or_as_much_as_it_takes() -> None:
    out = Verdict("expired")
    doubled = ("longer_limit", {"duration": 4})
    assert found(job(duration_s=2.0), out) == [doubled, ("no_limit", {"duration": None})]
    assert found(job(duration_s=2.0), out, longest_s=3.0) == [("longer_limit", {"duration": 3})]
    assert found(job(duration_s=3.0), out, longest_s=3.0) == []
    said = next(remedies(job(duration_s=3600.0), out, document(), {})).message
    assert render.text(said) == "Raise the time limit from 1h to 2h"


@pytest.mark.parametrize(("wanted", "more"), [(65, 128), (128, 128), (1500, 1536), (3900, 4096), (9000, 9216)])
def test_memory_is_asked_for_in_round_numbers(wanted: int, more: int) -> None:
    assert rounded_mib(wanted) == more


def test_who_ran_out_of_memory_gets_twice_as_much() -> None:
    out = Verdict("out_of_memory", role=0, index=0)
    assert found(job(), out)[0] == ("more_memory", {"roles.0.resources.memory": 256})
    assert found(job(), out)[-1] == ("no_node_has_more", {}), "where no node has as much"


def test_who_has_a_flavor_gets_the_next_larger_that_takes_nothing_away() -> None:
    card = Resources(cpu=1.0, memory_mib=128, gpu=1)
    flavors = {
        "small": card,
        "huge": replace(card, memory_mib=4096),
        "large": replace(card, memory_mib=1024),
        "no-card": Resources(cpu=1.0, memory_mib=512, gpu=0),
    }
    out = Verdict("out_of_memory", role=0, index=0)
    made = found(job(card, flavor="small"), out, document(flavors=("small",)), flavors=flavors)
    assert made[0] == ("flavor_with_more_memory", {"roles.0.flavors": ["large"]})


def missing(program: str, evidence: str = "") -> Verdict:
    return Verdict(
        "command_not_found", say.program_of_task("worker[0]", program, say.no_such_program()), evidence, role=0, index=0
    )


@pytest.mark.parametrize(
    ("command", "verdict", "changed"),
    [
        ("pyton train.py", missing("pyton"), "python train.py"),
        (["pyton", "train.py"], missing("pyton"), ["python", "train.py"]),
        ("python train.py", missing("python"), "python3 train.py"),
        ("cd /code && touchrun x.py", missing("sh", "sh: 1: touchrun: not found"), "cd /code && torchrun x.py"),
        ("run.sh a", missing("run.sh", "sh: 1: run.sh: Permission denied"), "bash run.sh a"),
        (["./run.sh", "a"], missing("./run.sh"), ["bash", "./run.sh", "a"]),
        (
            "python pyton.py; pyton x",
            missing("sh", "bash: line 1: pyton: command not found"),
            "python pyton.py; python x",
        ),
    ],
)
def test_a_mistyped_program_is_named(command: Any, verdict: Verdict, changed: Any) -> None:
    made = found(job(), verdict, document(command))
    assert made[0] == ("other_program", {"roles.0.command": changed})


@pytest.mark.parametrize(("command", "program"), [("my-own-tool x", "my-own-tool"), ("python x", "mpirun")])
def test_what_nobody_knows_or_the_command_does_not_say_is_not_guessed(command: str, program: str) -> None:
    assert found(job(), missing(program), document(command)) == [("fix_what_runs", {})]


def test_who_filled_dev_shm_gets_more_of_it() -> None:
    need = replace(NEED, memory_mib=8192, shm_mib=64)
    full = Verdict("disk_full", None, "unable to write to file </torch_12>: No space left on device", role=0, index=0)
    assert found(job(need), full) == [("more_shared_memory", {"roles.0.resources.shm": 1024})]
    bus = Verdict("signal", role=0, index=0, signal=7)
    assert found(job(need), bus)[0] == ("more_shared_memory", {"roles.0.resources.shm": 1024})
    disk = Verdict("disk_full", None, "checkpoint.pt: No space left on device", role=0, index=0)
    assert found(job(need), disk) == [("write_less", {})]


@pytest.mark.parametrize(
    ("code", "helps"),
    [
        ("exit_code", "fix_what_runs"),
        ("signal", "fix_what_runs"),
        ("lost", "run_as_it_is"),
        ("bad_node", "run_as_it_is"),
    ],
)
def test_who_is_to_blame_is_told_what_to_do(code: str, helps: str) -> None:
    assert found(job(), Verdict(code, verbatim("x"), role=0, index=0)) == [(helps, {})]


@pytest.mark.parametrize("code", ["ok", "stopped"])
def test_nothing_is_said_where_nothing_went_wrong(code: str) -> None:
    assert found(job(), Verdict(code)) == []


def test_what_only_counts_failures_is_told_by_the_first_of_them() -> None:
    inner = Verdict("out_of_memory", role=0, index=0)
    tasks = (Task(0, 0, TaskPhase.EXITED, exit_code=1, verdict=inner, ended_at=1.0),)
    attempt = Attempt(1, "first", Phase.ENDED, (), tasks, 0.0)
    counted = replace(job(), state=JobState.FAILED, attempt=attempt)
    assert found(counted, Verdict("too_many_failures", role=0))[0][0] == "more_memory"


def test_a_module_that_is_missing_is_named() -> None:
    """What a newcomer meets first: an example that needs torch, where nobody installed it."""
    evidence = "Traceback (most recent call last):\nModuleNotFoundError: No module named 'torch'\n"
    out = Verdict("exit_code", evidence=evidence, role=0, index=1, exit_code=1)
    assert found(job(), out) == [("install_package", {})]
    assert "no module torch" in render.text(next(remedies(job(), out, document(), {})).message)
    assert found(job(), replace(out, evidence="No module named what it should be")) == [("fix_what_runs", {})]


@pytest.mark.parametrize(
    ("out", "module"),
    [
        (missing("torchrun"), "torch"),
        (missing("sh", "sh: 1: horovodrun: not found"), "horovod"),
        (missing("bash", "bash: line 1: deepspeed: command not found"), "deepspeed"),
        ("/usr/bin/python3: No module named accelerate", "accelerate"),
        ("python3: Error while finding module 'torch.run' (ModuleNotFoundError: No module named 'torch')", "torch"),
    ],
)
def test_a_launcher_that_is_missing_is_told_as_the_module_that_it_comes_with(out: Verdict | str, module: str) -> None:
    verdict = Verdict("exit_code", evidence=out, role=0, index=0, exit_code=1) if isinstance(out, str) else out
    [remedy] = remedies(job(), verdict, document("torchrun train.py"), {})
    assert (remedy.message.code, remedy.message.args["module"]) == ("install_package", module)


def test_a_module_of_the_jobs_own_that_python_does_not_find_is_for_its_owner_to_mend() -> None:
    out = Verdict("exit_code", evidence="/usr/bin/python3: No module named mytrain", role=0, index=0, exit_code=1)
    assert found(job(), out) == [("fix_what_runs", {})]
