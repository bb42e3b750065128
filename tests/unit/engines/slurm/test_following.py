"""What becomes of one attempt on a cluster, told by its nodes and by Slurm in any order."""

from typing import Any

import pytest

from trainmaster.agent.folder import Folder, StepWork
from trainmaster.agent.settings import Settings
from trainmaster.core.launch import Gang
from trainmaster.core.records import Verdict, to_json
from trainmaster.engines.base import Fact, Note, Refused, Started, TaskReport, Waiting
from trainmaster.engines.slurm.attempts.following import Following
from trainmaster.engines.slurm.client import states
from trainmaster.engines.slurm.client.parse import JobId, JobLine
from trainmaster.engines.slurm.engine import NOT_OURS
from trainmaster.engines.slurm.messages import slurm_states as say
from trainmaster.messages import render
from trainmaster.messages.said import Said, verbatim

NOW = 1000.0
NO_COMMAND = Said("command_not_in_path", {"task": "task0-0", "program": "trian"})


def following() -> Following:
    gang = Gang("t" + "1" * 32, 1, "a", "ann", "single", (), (), ())
    work = StepWork(gang, Settings(), "/data", (((0, 0), (0, 1)),))
    return Following("t" + "1" * 32 + "-1", Folder("/nowhere"), work, "t" + "1" * 32 + "-1", JobId(7))


def line(state: str, reason: str = "None", start: float | None = None, nodes: tuple[str, ...] = ()) -> JobLine:
    return JobLine("t" + "1" * 32 + "-1", JobId(7), 7, states.read(state), start, nodes, (), reason)


def began(*tasks: tuple[int, str]) -> dict[str, Any]:
    told = [
        {"role": 0, "index": index, "node": node, "host": "10.0.0.1", "gpus": [3], "ports": []} for index, node in tasks
    ]
    return {"event": "began", "attempt": "x", "at": NOW, "tasks": told}


def task(index: int, kind: str, **more: Any) -> dict[str, Any]:
    return {"event": "task", "attempt": "x", "role": 0, "index": index, "kind": kind, "at": NOW, **more}


def silence(one: Following, *parts: str) -> None:
    """Let the beats of `parts` stand still for 15 s."""
    for second in range(1000, 1016, 3):
        one.listened(dict.fromkeys(parts, 1.0), float(second))


def kinds(facts: list[Fact]) -> list[str]:
    return [fact.kind if isinstance(fact, TaskReport) else type(fact).__name__ for fact in facts]


def test_a_reason_is_told_once_until_it_changes() -> None:
    one = following()
    (first,) = one.looked([line("PENDING", "Resources")], NOW)
    assert isinstance(first, Waiting)
    assert (first.code, first.starts_at, first.said) == ("Resources", None, say.slurm_reason_resources())
    assert render.text(first.said, "zh") == "等待节点空闲"
    assert one.looked([line("PENDING", "Resources")], NOW + 1) == []
    (second,) = one.looked([line("PENDING", "Resources", 2000.0)], NOW + 2)
    assert isinstance(second, Waiting)
    assert second.starts_at == 2000.0
    (unknown,) = one.looked([line("PENDING", "QuantumFlux")], NOW + 3)
    assert isinstance(unknown, Waiting)
    assert (unknown.code, unknown.said) == ("QuantumFlux", say.slurm_says("QuantumFlux"))


def test_what_became_of_an_after_hook_is_told_as_a_note() -> None:
    """R53: beside the end of the task, whose verdict it does not change."""
    one = following()
    said = {"code": "after_hook_failed", "args": {"who": "main-0", "exit_code": 5}}
    done = task(0, "exited", started_at=NOW, exit_code=0, notes=[said])
    (note,) = one.heard("0-n1", [began((0, "n1")), task(0, "running"), done])
    assert isinstance(note, Note)
    assert (note.code, note.of_end, render.text(note.said).partition(";")[0]) == (
        "after_hook",
        (0, 0),
        "the after hook of main-0 ended with exit code 5",
    )


def test_nothing_of_a_task_is_told_before_all_nodes_have_started_theirs() -> None:
    one = following()
    assert (
        one.heard("0-n1", [began((0, "n1")), task(0, "running"), task(0, "exited", started_at=NOW, exit_code=0)]) == []
    )
    assert one.read(NOW) == []
    one.heard("0-n2", [began((1, "n2"))])
    assert one.read(NOW) == [], "it may still refuse"
    one.heard("0-n2", [task(1, "running")])
    facts = one.read(NOW)
    assert kinds(facts) == ["Started", "running", "exited", "running"]
    assert isinstance(facts[0], Started)
    assert [(place.node, place.gpus) for place in facts[0].placement] == [("n1", (3,)), ("n2", (3,))]
    one.heard("0-n2", [task(1, "exited", started_at=NOW, exit_code=2)])
    assert kinds(one.read(NOW)) == ["exited"]
    assert one.settled
    assert one.read(NOW) == []


def test_what_a_node_refuses_after_it_has_begun_is_a_refusal() -> None:
    one = following()
    one.heard("0-n1", [began((0, "n1"), (1, "n1"))])
    assert one.read(NOW) == []
    one.heard("0-n1", [{"event": "refused", "at": NOW, "code": "command_not_found", "said": NO_COMMAND.to_json()}])
    (refused,) = one.read(NOW)
    assert isinstance(refused, Refused)
    assert (refused.code, refused.said) == ("command_not_found", NO_COMMAND)


def test_what_the_nodes_wrote_wins_over_what_slurm_says() -> None:
    one = following()
    one.looked([line("NODE_FAIL")], NOW)
    one.heard("0-n1", [began((0, "n1"), (1, "n1")), task(0, "running"), task(1, "running")])
    assert kinds(one.read(NOW)) == ["Started", "running", "running"]
    one.heard("0-n1", [task(0, "exited", started_at=NOW, exit_code=0)])
    assert kinds(one.read(NOW)) == ["exited"]
    assert one.read(NOW) == [], "what lives is not lost"
    silence(one, "0-n1")
    facts = one.read(NOW)
    assert kinds(facts) == ["lost"], "only after it was looked again"
    assert isinstance(facts[0], TaskReport)
    assert facts[0].verdict == Verdict("lost", say.slurm_says_of_job(say.slurm_state_node_fail()))
    assert one.report().known


def test_memory_that_slurm_took_is_said() -> None:
    one = following()
    one.heard("0-n1", [began((0, "n1"), (1, "n1")), task(0, "running"), task(1, "running")])
    one.looked([line("OUT_OF_MEMORY")], NOW)
    silence(one, "0-n1")
    facts = [fact for _ in range(4) for fact in one.read(NOW)]
    ends = [fact for fact in facts if isinstance(fact, TaskReport) and fact.kind != "running"]
    memory = Verdict("out_of_memory", say.slurm_says_of_job(say.slurm_state_out_of_memory()))
    assert [(end.kind, end.signal, end.verdict) for end in ends] == 2 * [("exited", 9, memory)]


def test_ended_before_it_began_is_a_refusal_in_words_and_forgotten_is_unknown() -> None:
    cancelled = following()
    cancelled.looked([line("CANCELLED")], NOW)
    facts = [fact for _ in range(4) for fact in cancelled.read(NOW, verbatim("python3: not found"))]
    assert kinds(facts) == ["Refused"]
    assert isinstance(facts[0], Refused)
    assert render.text(facts[0].said).endswith("was cancelled in Slurm; python3: not found")
    assert render.text(facts[0].said, "zh") == "任务在运行之前就被 Slurm 结束：在 Slurm 中被取消；python3: not found"
    silent = following()
    silent.looked([line("CANCELLED")], NOW)
    (fact,) = [fact for _ in range(4) for fact in silent.read(NOW)]
    assert isinstance(fact, Refused)
    assert fact.said == say.slurm_ended_it_before(say.slurm_state_cancelled())
    forgotten = following()
    forgotten.looked([line("PENDING")], NOW)
    forgotten.looked([], NOW)
    assert [fact for _ in range(4) for fact in forgotten.read(NOW)] == []
    assert not forgotten.report().known


def test_a_node_is_blamed_for_what_is_its_fault_only() -> None:
    for code, node in (("launch_failed", "n1"), ("command_not_found", None)):
        one = following()
        one.heard("0-n1", [{"event": "refused", "attempt": "x", "at": NOW, "code": code, "said": NO_COMMAND.to_json()}])
        (fact,) = one.read(NOW)
        assert isinstance(fact, Refused)
        assert (fact.code, fact.node, fact.said) == (code, node, NO_COMMAND)


def test_what_an_agent_of_an_earlier_version_wrote_is_told_in_its_words() -> None:
    one = following()
    old = {"attempt": "x", "at": NOW, "code": "degraded", "message": "no sandbox"}
    (note,) = one.heard("0-n1", [{"event": "note", **old}])
    assert note == Note(one.attempt, "degraded", verbatim("no sandbox"))
    one.heard("0-n1", [{"event": "refused", **old}])
    (refused,) = one.read(NOW)
    assert isinstance(refused, Refused)
    assert refused.said == verbatim("no sandbox")


def test_why_a_program_ended_is_told_as_its_agent_says_it() -> None:
    one = following()
    one.heard("0-n1", [began((0, "n1"), (1, "n1"))])
    told = Verdict("command_not_found", NO_COMMAND, "line 3", 0, 0, 127)
    earlier = {"code": "exit_code", "message": "worker-1 ended with exit code 2", "exit_code": 2}
    one.heard("0-n1", [task(0, "exited", exit_code=127, verdict=to_json(told)), task(1, "exited", verdict=earlier)])
    ends = [fact.verdict for fact in one.read(NOW) if isinstance(fact, TaskReport)]
    assert ends == [told, Verdict("exit_code", verbatim("worker-1 ended with exit code 2"), exit_code=2)]


NESTED: dict[str, Any] = {"code": "x", "args": {}}
for _ in range(400):
    NESTED = {"code": "x", "args": {"state": NESTED}}


@pytest.mark.parametrize("said", [3, "words", ["x"], {"code": "x"}, {"code": "x", "args": 3}, NESTED])
def test_what_no_agent_of_ours_has_said_ends_nothing(said: object) -> None:
    """Whoever runs the tasks could write it: it is refused where it is heard, and nothing of it is left to be read
    again.
    """
    for fact in (
        task(0, "exited", verdict={"code": "lost", "said": said}),
        task(0, "exited", notes=[said]),
        {"event": "note", "code": "x", "said": said},
        {"event": "refused", "at": NOW, "code": "x", "said": said},
    ):
        one = following()
        one.heard("0-n1", [began((0, "n1"), (1, "n1")), task(1, "running")])
        with pytest.raises(NOT_OURS):
            one.heard("0-n1", [fact])
        one.heard("0-n1", [task(0, "running")])
        assert kinds(one.read(NOW)) == ["Started", "running", "running"]


def test_a_state_that_nobody_knows_is_taken_for_still_there() -> None:
    one = following()
    one.looked([line("TELEPORTING")], NOW)
    assert not one.over
    assert one.runs


def test_silence_counts_only_while_somebody_listens() -> None:
    one = following()
    one.heard("0-n1", [began((0, "n1"), (1, "n1"))])
    for at in (0.0, 5.0, 10.0, 60.0, 65.0, 70.0):  # the folder could not be read, or the server stood still
        one.listened({"0-n1": 1.0}, at)
        assert one.alive == {"0-n1"}
    one.listened({"0-n1": 1.0}, 75.0)
    assert one.alive == set()
    one.listened({"0-n1": 2.0}, 76.0)
    assert one.alive == {"0-n1"}
    one.heard("0-n1", [{"event": "left", "at": NOW}])
    assert one.alive == set()


ENDING = {"event": "ending", "attempt": "x", "at": NOW, "why": "the cluster ends the job"}


@pytest.mark.parametrize(
    ("lines", "kind", "code", "state"),
    [
        ([line("CANCELLED")], "exited", "stopped", say.slurm_state_cancelled()),
        ([line("TIMEOUT")], "exited", "expired", say.slurm_state_timeout()),
        ([line("PREEMPTED")], "lost", "lost", say.slurm_state_preempted()),
        ([line("PENDING", "BeginTime")], "lost", "lost", say.slurm_state_put_back()),
        ([], "lost", "lost", say.slurm_state_forgotten()),
    ],
)
def test_why_the_cluster_ended_a_program_is_slurms_to_say(
    lines: list[JobLine], kind: str, code: str, state: Said
) -> None:
    one = following()
    one.heard("0-n1", [began((0, "n1"), (1, "n1")), task(0, "running"), task(1, "running")])
    one.heard("0-n1", [task(1, "exited", exit_code=3), ENDING, task(0, "exited", exit_code=0)])
    one.looked([line("RUNNING")], NOW)
    assert [(fact.index, fact.kind, fact.exit_code) for fact in one.read(NOW)[1:] if isinstance(fact, TaskReport)] == [
        (0, "running", None),
        (1, "running", None),
        (1, "exited", 3),
    ]
    one.looked(lines, NOW)
    (end,) = one.read(NOW)
    assert isinstance(end, TaskReport)
    assert (end.index, end.kind, end.verdict, end.exit_code) == (
        0,
        kind,
        Verdict(code, say.slurm_says_of_job(state)),
        None,
    )
    assert one.settled


def test_a_program_that_an_administrators_own_signal_ended_has_its_own_end() -> None:
    one = following()
    one.heard(
        "0-n1", [began((0, "n1"), (1, "n1")), ENDING, task(0, "exited", exit_code=0), task(1, "exited", exit_code=5)]
    )
    one.looked([line("COMPLETED")], NOW)
    ends = [fact for fact in one.read(NOW) if isinstance(fact, TaskReport)]
    assert [(end.exit_code, end.verdict) for end in ends] == [(0, None), (5, None)]


def test_a_node_that_has_something_of_the_same_id_is_blamed_and_a_persons_cancel_is_not() -> None:
    for nodes, said, blamed in ((("n3",), None, "n3"), (("n3",), verbatim("JOB 7 CANCELLED"), None), ((), None, None)):
        one = following()
        one.looked([line("CANCELLED", nodes=nodes)], NOW)
        (fact,) = [fact for _ in range(4) for fact in one.read(NOW, said)]
        assert isinstance(fact, Refused)
        assert fact.node == blamed
