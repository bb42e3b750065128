"""Records survive JSON without loss; malformed ones are refused; tables are total; ids, units and launches come
back.
"""

import dataclasses
import json
import pickle
import pkgutil
import re
from dataclasses import MISSING, fields
from importlib import import_module
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainmaster import core
from trainmaster.core import events, states, verdicts
from trainmaster.core.formats.units import (
    exact_duration,
    parse_duration_s,
    parse_memory_mib,
)
from trainmaster.core.ids import attempt_id, job_id, role_system_name, split_attempt_id, split_task_name, task_name
from trainmaster.core.launch import Gang, Mount, RoleCommand, gang_from_json, gang_to_json
from trainmaster.core.records import (
    Assignment,
    Attempt,
    Job,
    Policy,
    PortRequest,
    Resources,
    Role,
    Task,
    Verdict,
    job_from_json,
    replace,
    to_json,
)
from trainmaster.messages.amounts import duration, memory
from trainmaster.messages.said import Said, verbatim

text = st.text(max_size=8)
number = st.integers(0, 1 << 40)
seconds = st.floats(0, 2e9, allow_nan=False)
port_requests = st.builds(PortRequest, text, number, number)
resources = st.builds(Resources, seconds, number, number, st.none() | text, number)
roles = st.builds(
    Role,
    text,
    number,
    resources,
    st.lists(port_requests, max_size=2).map(tuple),
    st.none() | number,
    st.none() | number,
)
said = st.recursive(
    st.builds(verbatim, text),
    lambda inner: st.builds(Said, text, st.dictionaries(text, st.none() | number | text | inner, max_size=2)),
    max_leaves=3,
)
verdict = st.none() | st.builds(Verdict, text, st.none() | said, text, st.none() | number, st.none() | number)
tasks = st.builds(
    Task,
    number,
    number,
    st.sampled_from(states.TaskPhase),
    st.none() | number,
    st.none() | number,
    st.none() | seconds,
    st.none() | seconds,
    verdict,
)
ports = st.lists(st.tuples(text, st.lists(number, max_size=2).map(tuple)), max_size=2).map(tuple)
assignments = st.builds(Assignment, number, number, text, text, st.lists(number, max_size=2).map(tuple), ports)
attempts = st.builds(
    Attempt,
    number,
    text,
    st.sampled_from(states.Phase),
    st.lists(assignments, max_size=2).map(tuple),
    st.lists(tasks, max_size=2).map(tuple),
    seconds,
    st.none() | st.sampled_from(states.Why),
    st.none() | seconds,
    verdict=verdict,
)
jobs = st.builds(
    Job,
    text,
    text,
    text,
    st.lists(roles, max_size=2).map(tuple),
    text,
    seconds,
    state=st.sampled_from(states.JobState),
    priority=st.sampled_from(states.Priority),
    policy=st.builds(Policy, number, number, number, st.none() | seconds),
    labels=st.lists(st.tuples(text, text), max_size=2).map(tuple),
    attempt=st.none() | attempts,
    verdict=verdict,
)


def through_json(value: Any) -> Any:
    return json.loads(json.dumps(value))


@given(jobs)
def test_a_job_survives_json(job: Job) -> None:
    again = job_from_json(through_json(to_json(job)))
    assert again == job
    assert type(again.priority) is states.Priority
    assert type(again.state) is states.JobState


@given(jobs, st.data())
def test_a_malformed_job_is_refused(job: Job, data: st.DataObject) -> None:
    """Never a half-read record: a missing required key, an unknown key, or a state that does not exist."""
    document = through_json(to_json(job))
    required = [f.name for f in fields(Job) if f.default is MISSING and f.default_factory is MISSING]
    broken = {**document}
    del broken[data.draw(st.sampled_from(required))]
    for wrong in (broken, {**document, "surprise": 1}, {**document, "state": "dancing"}):
        with pytest.raises((KeyError, TypeError, ValueError)):
            job_from_json(wrong)


def test_records_have_slots_and_no_dictionary() -> None:
    """A server holds them by the hundred thousand; only the Python 3.9 of a node makes them without."""
    modules = [import_module(found.name) for found in pkgutil.walk_packages(core.__path__, "trainmaster.core.")]
    kinds = [
        kind
        for module in modules
        for kind in vars(module).values()
        if dataclasses.is_dataclass(kind) and isinstance(kind, type) and kind.__module__ == module.__name__
    ]
    assert {Job, Attempt, Task, Resources, Role} <= set(kinds)
    assert len(kinds) > 40
    for kind in kinds:
        assert ("__slots__" in vars(kind), kind.__dictoffset__) == (True, 0), kind


@given(jobs)
def test_records_survive_pickling_and_a_change(job: Job) -> None:
    assert pickle.loads(pickle.dumps(job)) == job
    assert replace(job, seq=7) == dataclasses.replace(job, seq=7)


@given(
    st.lists(roles, min_size=1, max_size=2),
    st.lists(st.builds(Mount, text, text, st.booleans()), max_size=2),
    st.lists(st.tuples(text, text), max_size=2),
    st.lists(assignments, max_size=3),
)
def test_a_gang_survives_json(
    asked: list[Role], mounts: list[Mount], env: list[tuple[str, str]], placed: list[Assignment]
) -> None:
    commands = tuple(RoleCommand("run", ("a", "b"), tuple(env), tuple(env)) for _ in asked)
    gang = Gang(
        "t1",
        2,
        "名",
        "ann",
        "pytorch",
        tuple(asked),
        commands,
        tuple(placed),
        {"processes_per_node": 2},
        tuple(env),
        {"user": "ann"},
        tuple(mounts),
        image="a/b:1",
        pull_secret="team",
    )
    assert gang_from_json(through_json(gang_to_json(gang))) == gang


def test_a_gang_finds_its_members() -> None:
    placed = (Assignment(0, 1, "n", "h"), Assignment(0, 0, "n", "h"), Assignment(1, 0, "n", "h"))
    gang = Gang("t1", 1, "n", "u", "single", (), (), placed)
    assert [a.index for a in gang.members(0)] == [0, 1]
    assert gang.find(1, 0) is placed[2]
    with pytest.raises(KeyError):
        gang.find(2, 0)


@given(st.binary(min_size=16, max_size=16), st.integers(1, 10**6))
def test_attempt_ids_come_apart_again(random: bytes, number: int) -> None:
    """R111: a job id is t and 32 hex digits."""
    job = job_id(lambda count: random[:count])
    assert re.fullmatch("t[0-9a-f]{32}", job)
    assert split_attempt_id(attempt_id(job, number)) == (job, number)


@given(st.integers(0, 999), st.integers(0, 99_999))
def test_task_names_come_apart_again(role: int, index: int) -> None:
    """R108, R111."""
    assert split_task_name(task_name(role, index)) == (role, index)
    assert task_name(role, index).startswith(role_system_name(role) + "-")


@pytest.mark.parametrize("name", ["", "task", "task1", "task-1", "task1-", "taskx-1", "job0-0", "task0-0-0", "task٣-0"])
def test_other_names_are_no_task_names(name: str) -> None:
    with pytest.raises(ValueError):
        split_task_name(name)


@pytest.mark.parametrize("name", ["", "t1", "-1", "t1-", "t1-x"])
def test_other_names_are_no_attempt_ids(name: str) -> None:
    with pytest.raises(ValueError):
        split_attempt_id(name)


@pytest.mark.parametrize(
    ("given_text", "mib"),
    [
        (2048, 2048),
        ("2048", 2048),
        ("512MiB", 512),
        ("2GiB", 2048),
        ("1.5g", 1536),
        ("1 tb", 1024**2),
        ("1k", 1),
        (0.5, 1),
    ],
)
def test_memory_sizes(given_text: str | float, mib: int) -> None:
    assert parse_memory_mib(given_text) == mib


@pytest.mark.parametrize("wrong", ["", "x", "-1", "1 2", "2GiBs", "GiB", True, float("nan"), float("inf"), -1])
def test_wrong_memory_sizes(wrong: Any) -> None:
    with pytest.raises(ValueError):
        parse_memory_mib(wrong)


@pytest.mark.parametrize(
    ("given_text", "s"),
    [(90, 90), ("90", 90), ("90s", 90), ("2h", 7200), ("1h30m", 5400), ("1h 30m", 5400), ("1.5h", 5400), ("1d", 86400)],
)
def test_durations(given_text: str | float, s: float) -> None:
    assert parse_duration_s(given_text) == s


@pytest.mark.parametrize(
    "wrong", ["", " ", "x", "-1", "1 2", "1h30", "10 minutes", True, float("nan"), float("inf"), -1]
)
def test_wrong_durations(wrong: Any) -> None:
    with pytest.raises(ValueError):
        parse_duration_s(wrong)


@given(st.integers(0, 2**40))
def test_memory_is_written_as_it_is_read(mib: int) -> None:
    assert parse_memory_mib(memory(mib)) == mib


@given(st.floats(0, 10**8))
def test_whole_durations_are_written_as_they_are_read(s: float) -> None:
    assert parse_duration_s(exact_duration(s)) == pytest.approx(s)


def test_a_whole_duration_is_short() -> None:
    said = [exact_duration(s) for s in (0, 1.5, 60, 5400, 30 * 86400, 90061)]
    assert said == ["0s", "1.5s", "1m", "1h30m", "30d", "1d1h1m1s"]


def test_a_duration_shows_only_what_has_passed() -> None:
    """The same as in the console (console/tests/format.test.ts)."""
    said = [duration(s) for s in (0, 0.07, 0.1, 0.44, 9.98, 19.9, 59.9, 60, 119.9, 50434)]
    assert said == ["0s", "<0.1s", "0.1s", "0.4s", "9.9s", "19s", "59s", "1m", "1m 59s", "14h"]


@given(st.integers(60, 10**8))
def test_durations_are_written_as_they_are_read_to_their_second_unit(s: int) -> None:
    again = parse_duration_s(duration(s))
    assert again <= s < again + (86400 if s >= 86400 else 3600)


def test_every_table_is_total() -> None:
    """Each kind, state and phase has its names in both languages; each pair of the attempt machine leads somewhere
    known.
    """
    assert events.NAMES.keys() == set(events.Kind)
    assert states.SHOWN_NAMES.keys() == set(states.Shown)
    assert states.PAI_STATE.keys() == set(states.Shown)
    assert states.SHOWN_OF_PHASE.keys() == set(states.Phase)
    assert states.STRENGTH.keys() == set(states.Why)
    names = [*events.NAMES.values(), *states.SHOWN_NAMES.values(), *((v.zh, v.en) for v in verdicts.VERDICTS.values())]
    assert all(zh.strip() and en.strip() and zh != en for zh, en in names)
    for (phase, _), edge in states.ATTEMPT_TABLE.items():
        assert phase is not states.Phase.ENDED
        assert (edge.why is not None) == (edge.phase is states.Phase.DRAINING)


def test_every_state_is_shown() -> None:
    """R194-R197: what a person sees, derived for every combination."""
    for state in states.JobState:
        for phase in (None, *states.Phase):
            assert states.shown_state(state, phase) in states.Shown
    assert states.shown_state(states.JobState.ACTIVE, states.Phase.STAGING) is states.Shown.INITIALISING
    assert states.shown_state(states.JobState.QUEUED, states.Phase.ENDED) is states.Shown.QUEUED


def test_a_record_is_replaced_as_dataclasses_do_it_and_stays_frozen() -> None:
    task = Task(1, 2, started_at=3.0)
    made = replace(task, exit_code=4)
    assert made == dataclasses.replace(task, exit_code=4)
    assert type(made) is Task
    assert hash(made) == hash(dataclasses.replace(task, exit_code=4))
    with pytest.raises(dataclasses.FrozenInstanceError):
        made.exit_code = 5  # type: ignore[misc]  # what mypy refuses too
    with pytest.raises(KeyError):
        replace(task, no_such=1)
