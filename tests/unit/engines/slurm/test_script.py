"""The batch script: what the gang asks for and nothing that a user wrote (the injection tests of issue 4, item 6)."""

import dataclasses
import shlex
import string
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fixtures.gangs import gang
from trainmaster.agent.place import start
from trainmaster.core.launch import Gang, RoleCommand
from trainmaster.core.records import Resources, Role
from trainmaster.engines.slurm.attempts.submitter import TOGETHER
from trainmaster.engines.slurm.script import (
    AttemptPlace,
    BatchMember,
    Terms,
    batch,
    components,
    duration,
    script,
    script_alone,
    script_together,
)

JOB = "t" + "0123456789abcdef" * 2
PLACE = AttemptPlace("/data/jobs/01/job/attempts/1", "/data/agent/abc")


def gang_of(*roles: Role) -> Gang:
    made = gang(job=JOB)
    made.roles, made.commands = list(roles), [RoleCommand(argv=("true",)) for _ in roles]
    return made.build()


WORKERS = Role("worker", 2, Resources(cpu=2.5, memory_mib=4000, gpu=2, gpu_type="a100"))
MASTER = Role("master", 1, Resources(cpu=2.5, memory_mib=4000, gpu=2, gpu_type="a100"))
SERVER = Role("ps", 1, Resources(cpu=1, memory_mib=1024))


def options(text: str) -> list[list[str]]:
    """Return the options of each component."""
    found: list[list[str]] = [[]]
    for line in text.splitlines():
        if line == "#SBATCH hetjob":
            found.append([])
        elif line.startswith("#SBATCH "):
            found[-1].append(line.removeprefix("#SBATCH "))
    return found


def test_a_gang_of_equals_is_one_plain_job() -> None:
    text = script(gang_of(MASTER, WORKERS), Terms("batch", limit_s=3600, grace_s=10), PLACE)
    (plain,) = options(text)
    assert plain == [
        f"--output={PLACE.folder}/slurm.log",
        f"--job-name=tm-{JOB}-1",
        f"--comment={JOB}-1",
        "--partition=batch",
        "--time=0-01:00:00",
        "--signal=TERM@40",
        "--no-requeue",
        "--open-mode=append",
        "--export=ALL",
        "--chdir=/",
        "--ntasks=3",
        "--cpus-per-task=3",
        "--mem-per-cpu=1334M",
        "--gpus-per-task=a100:2",
    ]
    assert "het-group" not in text
    step = shlex.split(text.splitlines()[-1])
    assert step[:2] == ["exec", "srun"]
    assert "--gpus=a100:6" in step
    assert step[-8:] == ["-I", "-S", "-c", start("engines.slurm.node.step"), PLACE.package, "$folder", "$run", "0"]
    assert f"folder={PLACE.folder}" in text.splitlines()


def test_roles_that_ask_for_different_things_are_components() -> None:
    assert components((SERVER, WORKERS, SERVER)) == (((0, 0), (2, 0)), ((1, 0), (1, 1)))
    text = script(gang_of(SERVER, WORKERS), Terms("batch"), PLACE)
    first, second = options(text)
    assert "--ntasks=1" in first
    assert not any("gpu" in option for option in first)
    assert {"--ntasks=2", "--gpus-per-task=a100:2", "--partition=batch", f"--comment={JOB}-1"} <= set(second)
    assert not any(option.startswith(("--time", "--signal")) for option in first + second)
    steps = text.splitlines()[-1].split(" : ")
    assert ["--het-group=0" in steps[0], "--het-group=1" in steps[1]] == [True, True]
    assert "--gpus" not in steps[0]
    assert 'TRAINMASTER_TASKS_1="$SLURM_TASKS_PER_NODE_HET_GROUP_1"' in text


def test_all_that_a_cluster_may_be_asked() -> None:
    terms = Terms(
        "gpu", features=("a100", "ib"), exclude=("n1", "n2", "m"), reservation="course", account="ml", qos="high"
    )
    (asked,) = options(script(gang_of(SERVER), terms, PLACE))
    assert {"--constraint=a100&ib", "--exclude=n[1-2],m", "--reservation=course", "--account=ml", "--qos=high"} <= set(
        asked
    )


def test_shares_of_cards_are_refused() -> None:
    with pytest.raises(ValueError, match="whole GPUs"):
        script(gang_of(Role("w", 1, Resources(gpu=1, gpu_milli=500))), Terms(), PLACE)


@pytest.mark.parametrize(
    ("seconds", "text"), [(1, "0-00:01:00"), (3600, "0-01:00:00"), (93784.2, "1-02:03:05"), (864000, "10-00:00:00")]
)
def test_durations(seconds: float, text: str) -> None:
    assert duration(seconds) == text


HOSTILE = st.one_of(
    st.text(max_size=80),
    st.sampled_from(
        [
            "x\n#SBATCH --partition=secret",
            "'; rm -rf / #",
            "$(id)",
            "`id`",
            "%j",
            "a b",
            '"',
            "\\",
            "-h",
            "\r#SBATCH --uid=0",
            "",
        ]
    ),
)


@given(st.data())
def test_nothing_that_a_user_wrote_is_in_the_script(data: st.DataObject) -> None:
    plain = gang_of(SERVER, WORKERS)
    text = script(plain, Terms("batch"), PLACE)
    hostile = dataclasses.replace(
        plain,
        name=data.draw(HOSTILE),
        user=data.draw(HOSTILE),
        framework=data.draw(HOSTILE),
        roles=tuple(
            dataclasses.replace(role, name=data.draw(HOSTILE), flavor=data.draw(HOSTILE)) for role in plain.roles
        ),
        commands=tuple(
            RoleCommand(data.draw(HOSTILE), (data.draw(HOSTILE),), ((data.draw(HOSTILE), data.draw(HOSTILE)),))
            for _ in plain.roles
        ),
        env=((data.draw(HOSTILE), data.draw(HOSTILE)),),
        facts={"job_name": data.draw(HOSTILE)},
        options={data.draw(HOSTILE): data.draw(HOSTILE)},
    )
    assert script(hostile, Terms("batch"), PLACE) == text


SAFE = set(string.ascii_letters + string.digits + "_.+@-")


@given(st.sampled_from(["partition", "reservation", "account", "qos", "feature", "exclude", "card", "job"]), HOSTILE)
def test_a_name_is_harmless_or_refused(where: str, name: str) -> None:
    terms = Terms(
        **{where: name} if where in ("partition", "reservation", "account", "qos") else {},  # type: ignore[arg-type]
        features=(name,) if where == "feature" else (),
        exclude=(name,) if where == "exclude" else (),
    )
    asked = gang_of(Role("w", 1, Resources(gpu=1, gpu_type=name if where == "card" else None)))
    if where == "job":
        asked = dataclasses.replace(asked, job=name)
    try:
        text = script(asked, terms, PLACE)
    except ValueError:
        return
    assert set(name) <= SAFE
    assert not name.startswith("-")
    assert len(text.splitlines()) == len(
        script(gang_of(Role("w", 1, Resources(gpu=1))), Terms(), PLACE).splitlines()
    ) + (where in ("partition", "reservation", "account", "qos", "feature", "exclude") and name != "")


@given(HOSTILE)
def test_a_folder_is_harmless_or_refused(name: str) -> None:
    try:
        text = script(gang_of(SERVER), Terms(), AttemptPlace("/data/" + name, PLACE.package))
    except ValueError:
        return
    assert set(name) <= SAFE | set("=,:/")
    assert ran(text) == f"/data/{name}"
    both = (BatchMember(f"{JOB}-1", PLACE.folder), BatchMember(f"{JOB}-2", f"/data/{name}"))
    assert (
        ran(script_together(batch(gang_of(SERVER), Terms(), PLACE), "a" * 33, both), SLURM_ARRAY_TASK_ID="1")
        == f"/data/{name}"
    )


def ran(text: str, **env: str) -> str:
    """Run a batch script with a program in srun's place; return the folder that this was told of."""
    kept = [line for line in text.splitlines() if not line.startswith("exec >>")]
    words = "srun() { shift $(($# - 3)); printf '%s' \"$1\"; }\n" + "\n".join(kept).replace("exec srun", "srun")
    done = subprocess.run(
        ["sh", "-c", words], env={"PATH": "/usr/bin:/bin", **env}, capture_output=True, text=True, check=True
    )
    return done.stdout.splitlines()[-1]


MEMBERS = tuple(BatchMember(f"{JOB}-{number + 1}", f"/data/attempts/{number + 1}") for number in range(3))


def test_an_array_runs_each_attempt_in_its_own_folder() -> None:
    of = batch(gang_of(SERVER), Terms("batch", limit_s=3600), PLACE)
    text = script_together(of, "a" + "5" * 32, MEMBERS)
    (asked,) = options(text)
    assert asked[:4] == [
        "--output=/dev/null",
        f"--job-name=tm-a{'5' * 32}",
        f"--comment={JOB}-1,{JOB}-2,{JOB}-3",
        "--array=0-2",
    ]
    (single,) = options(script_alone(of, MEMBERS[0]))
    assert asked[4:] == single[3:], "what is asked of Slurm does not depend on who else asks for it"
    assert [ran(text, SLURM_ARRAY_TASK_ID=str(number)) for number in range(3)] == [one.folder for one in MEMBERS]
    with pytest.raises(subprocess.CalledProcessError):
        ran(text, SLURM_ARRAY_TASK_ID="3")


def test_the_comment_of_the_largest_array_is_one_that_slurm_takes() -> None:
    most = tuple(BatchMember(f"{JOB}-999999", PLACE.folder) for _ in range(TOGETHER))
    text = script_together(batch(gang_of(SERVER), Terms(), PLACE), "a" + "5" * 32, most)
    (asked,) = options(text)
    assert len(asked[2].removeprefix("--comment=")) <= 1024


def test_components_cannot_be_elements() -> None:
    with pytest.raises(ValueError):
        script_together(batch(gang_of(SERVER, WORKERS), Terms(), PLACE), "a" + "5" * 32, MEMBERS)
