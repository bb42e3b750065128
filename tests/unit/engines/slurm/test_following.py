"""What becomes of one attempt on a cluster, told by its nodes and by Slurm in any order."""

from typing import Any

import pytest

from trainmaster.agent.folder import Folder, Work
from trainmaster.agent.settings import Settings
from trainmaster.core.launch import Gang
from trainmaster.engines.base import Fact, Refused, Started, TaskReport, Waiting
from trainmaster.engines.slurm import states
from trainmaster.engines.slurm.following import Following
from trainmaster.engines.slurm.parse import JobId, JobLine

NOW = 1000.0


def following() -> Following:
    gang = Gang("t" + "1" * 32, 1, "a", "ann", "single", (), (), ())
    work = Work(gang, Settings(), "/data", (((0, 0), (0, 1)),))
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
    assert (first.code, first.starts_at, first.chinese) == ("Resources", None, "等待节点空闲")
    assert one.looked([line("PENDING", "Resources")], NOW + 1) == []
    (second,) = one.looked([line("PENDING", "Resources", 2000.0)], NOW + 2)
    assert isinstance(second, Waiting)
    assert second.starts_at == 2000.0
    (unknown,) = one.looked([line("PENDING", "QuantumFlux")], NOW + 3)
    assert isinstance(unknown, Waiting)
    assert unknown.text == "Slurm says: QuantumFlux"


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
    one.heard("0-n1", [{"event": "refused", "at": NOW, "code": "command_not_found", "message": "no such command"}])
    (refused,) = one.read(NOW)
    assert isinstance(refused, Refused)
    assert refused.code == "command_not_found"


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
    assert facts[0].verdict is not None
    assert "lost a node" in facts[0].verdict.message
    assert one.report().known


def test_memory_that_slurm_took_is_said() -> None:
    one = following()
    one.heard("0-n1", [began((0, "n1"), (1, "n1")), task(0, "running"), task(1, "running")])
    one.looked([line("OUT_OF_MEMORY")], NOW)
    silence(one, "0-n1")
    facts = [fact for _ in range(4) for fact in one.read(NOW)]
    ends = [fact for fact in facts if isinstance(fact, TaskReport) and fact.kind != "running"]
    assert [(end.kind, end.signal, end.verdict and end.verdict.code) for end in ends] == 2 * [
        ("exited", 9, "out_of_memory")
    ]


def test_ended_before_it_began_is_a_refusal_in_words_and_forgotten_is_unknown() -> None:
    cancelled = following()
    cancelled.looked([line("CANCELLED")], NOW)
    facts = [fact for _ in range(4) for fact in cancelled.read(NOW, "python3: not found")]
    assert kinds(facts) == ["Refused"]
    assert isinstance(facts[0], Refused)
    assert facts[0].text.endswith("was cancelled in Slurm; python3: not found")
    forgotten = following()
    forgotten.looked([line("PENDING")], NOW)
    forgotten.looked([], NOW)
    assert [fact for _ in range(4) for fact in forgotten.read(NOW)] == []
    assert not forgotten.report().known


def test_a_node_is_blamed_for_what_is_its_fault_only() -> None:
    for code, node in (("launch_failed", "n1"), ("command_not_found", None)):
        one = following()
        one.heard("0-n1", [{"event": "refused", "attempt": "x", "at": NOW, "code": code, "message": "words"}])
        (fact,) = one.read(NOW)
        assert isinstance(fact, Refused)
        assert (fact.code, fact.node, fact.text) == (code, node, "words")


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
    ("lines", "kind", "code", "words"),
    [
        ([line("CANCELLED")], "exited", "stopped", "was cancelled in Slurm"),
        ([line("TIMEOUT")], "exited", "expired", "reached its time limit in Slurm"),
        ([line("PREEMPTED")], "lost", "lost", "had to make room for another job in Slurm"),
        ([line("PENDING", "BeginTime")], "lost", "lost", "was put back into its queue"),
        ([], "lost", "lost", "is not known to Slurm any more"),
    ],
)
def test_why_the_cluster_ended_a_program_is_slurms_to_say(
    lines: list[JobLine], kind: str, code: str, words: str
) -> None:
    one = following()
    one.heard("0-n1", [began((0, "n1"), (1, "n1")), task(0, "running"), task(1, "running")])
    one.heard("0-n1", [task(1, "exited", exit_code=3), ENDING, task(0, "exited", exit_code=0)])
    one.looked([line("RUNNING")], NOW)
    assert [(fact.index, fact.kind, fact.exit_code) for fact in one.read(NOW)[1:] if isinstance(fact, TaskReport)] == [
        (0, "running", None), (1, "running", None), (1, "exited", 3),
    ]  # fmt: skip
    one.looked(lines, NOW)
    (end,) = one.read(NOW)
    assert isinstance(end, TaskReport)
    assert end.verdict is not None
    assert (end.index, end.kind, end.verdict.code, end.exit_code) == (0, kind, code, None)
    assert end.verdict.message.endswith(words)
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
    for nodes, words, blamed in ((("n3",), "", "n3"), (("n3",), "JOB 7 CANCELLED", None), ((), "", None)):
        one = following()
        one.looked([line("CANCELLED", nodes=nodes)], NOW)
        (fact,) = [fact for _ in range(4) for fact in one.read(NOW, words)]
        assert isinstance(fact, Refused)
        assert fact.node == blamed
