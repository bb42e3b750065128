"""What becomes of one attempt on a cluster, told by its nodes and by Slurm in any order."""

from typing import Any

from trainmaster.agent.folder import Folder, Work
from trainmaster.agent.settings import Settings
from trainmaster.core.launch import Gang
from trainmaster.engines.base import Fact, Refused, Started, TaskReport, Waiting
from trainmaster.engines.slurm import states
from trainmaster.engines.slurm.following import Following
from trainmaster.engines.slurm.parse import JobLine

NOW = 1000.0


def following() -> Following:
    gang = Gang("t" + "1" * 32, 1, "a", "ann", "single", (), (), ())
    work = Work(gang, Settings(), "/data", (((0, 0), (0, 1)),))
    return Following("t" + "1" * 32 + "-1", Folder("/nowhere"), work, 7)


def line(state: str, reason: str = "None", start: float | None = None, nodes: tuple[str, ...] = ()) -> JobLine:
    return JobLine(7, states.read(state), 1.0, start, None, 1, "batch", nodes, (), reason)


def began(*tasks: tuple[int, str]) -> dict[str, Any]:
    told = [
        {"role": 0, "index": index, "node": node, "host": "10.0.0.1", "gpus": [3], "ports": []} for index, node in tasks
    ]
    return {"event": "began", "attempt": "x", "at": NOW, "tasks": told}


def task(index: int, kind: str, **more: Any) -> dict[str, Any]:
    return {"event": "task", "attempt": "x", "role": 0, "index": index, "kind": kind, "at": NOW, **more}


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


def test_nothing_of_a_task_is_told_before_all_nodes_have_begun() -> None:
    one = following()
    assert (
        one.heard("0-n1", [began((0, "n1")), task(0, "running"), task(0, "exited", started_at=NOW, exit_code=0)]) == []
    )
    assert one.read(NOW) == []
    one.heard("0-n2", [began((1, "n2"))])
    facts = one.read(NOW)
    assert kinds(facts) == ["Started", "running", "exited"]
    assert isinstance(facts[0], Started)
    assert [(place.node, place.gpus) for place in facts[0].placement] == [("n1", (3,)), ("n2", (3,))]
    one.heard("0-n2", [task(1, "exited", started_at=NOW, exit_code=2)])
    assert kinds(one.read(NOW)) == ["running", "exited"]
    assert one.settled
    assert one.read(NOW) == []


def test_what_the_nodes_wrote_wins_over_what_slurm_says() -> None:
    one = following()
    one.looked([line("NODE_FAIL")], NOW)
    one.heard("0-n1", [began((0, "n1"), (1, "n1")), task(0, "running"), task(1, "running")])
    assert kinds(one.read(NOW)) == ["Started", "running", "running"]
    one.heard("0-n1", [task(0, "exited", started_at=NOW, exit_code=0)])
    assert kinds(one.read(NOW)) == ["exited"]
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
