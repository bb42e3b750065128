"""Every state of Slurm has one meaning, and what is not known is never guessed."""

import pytest

from trainmaster.core.chinese import chinese
from trainmaster.core.verdicts import VERDICTS
from trainmaster.engines.slurm.states import REASONS, SHORT, STATES, Seen, of_components, read, reason

MANUAL = {
    "BF": "BOOT_FAIL", "CA": "CANCELLED", "CD": "COMPLETED", "CF": "CONFIGURING", "CG": "COMPLETING", "DL": "DEADLINE",
    "F": "FAILED", "NF": "NODE_FAIL", "OOM": "OUT_OF_MEMORY", "PD": "PENDING", "PR": "PREEMPTED", "R": "RUNNING",
    "RD": "RESV_DEL_HOLD", "RF": "REQUEUE_FED", "RH": "REQUEUE_HOLD", "RQ": "REQUEUED", "RS": "RESIZING", "RV": "REVOKED",
    "SI": "SIGNALING", "SE": "SPECIAL_EXIT", "SO": "STAGE_OUT", "ST": "STOPPED", "S": "SUSPENDED", "TO": "TIMEOUT",
}  # fmt: skip
"""JOB STATE CODES of squeue's manual, version 22.05."""


def test_every_state_of_the_manual_is_in_the_table() -> None:
    assert MANUAL == SHORT
    assert set(SHORT.values()) <= set(STATES)


def test_every_end_has_a_verdict_of_ours_and_only_ends_have() -> None:
    for name, state in STATES.items():
        assert state.code == "" or (state.standing == "ended" and state.code in VERDICTS), name
        assert state.zh
        assert state.en
    assert [name for name, state in STATES.items() if state.standing == "ended" and not state.code] == ["COMPLETED"]


@pytest.mark.parametrize(
    ("text", "standing", "code"),
    [
        ("PENDING", "pending", ""),
        ("CG", "running", ""),
        ("CANCELLED by 1000", "ended", "stopped"),
        ("COMPLETED,COMPLETING", "running", ""),
        ("NODE_FAIL+COMPLETING", "running", "lost"),
        ("PENDING,SPECIAL_EXIT", "pending", ""),
        ("OOM", "ended", "out_of_memory"),
        ("RUNNING,SOMETHING_NEW", "unknown", ""),
        ("SOMETHING_NEW", "unknown", ""),
        ("", "unknown", ""),
    ],
)
def test_states_are_read_as_any_program_writes_them(text: str, standing: str, code: str) -> None:
    seen = read(text)
    assert (seen.standing, seen.code) == (standing, code)


def test_a_state_is_told_in_both_languages_and_an_unknown_one_as_it_is() -> None:
    assert read("CANCELLED by 0").told("en") == "was cancelled in Slurm"
    assert read("RUNNING,NEW").told("zh") == "正在运行，NEW"


@pytest.mark.parametrize(
    ("parts", "standing"),
    [
        (("COMPLETED", "COMPLETED"), "ended"),
        (("COMPLETED", "RUNNING"), "running"),
        (("PENDING", "PENDING"), "pending"),
        (("COMPLETED", "NEW"), "unknown"),
        ((), "unknown"),
    ],
)
def test_a_heterogeneous_job_is_over_when_all_of_it_is(parts: tuple[str, ...], standing: str) -> None:
    assert of_components(read(part) for part in parts).standing == standing


def test_a_component_that_failed_gives_the_verdict() -> None:
    assert of_components([read("COMPLETED"), read("NODE_FAIL")]) == Seen(("COMPLETED", "NODE_FAIL"), "ended", "lost")


def test_reasons() -> None:
    found = reason("(ReqNodeNotAvail, UnavailableNodes:n[1-2])")
    assert found is REASONS["ReqNodeNotAvail"]
    assert reason("AssocGrpCpuLimit") is REASONS["AssocGrp*"]
    assert reason("QOSMaxGRESPerUser") is REASONS["QOSMax*"]
    assert reason("launch failed requeued held") is not None
    assert reason("SomethingNew") is None
    assert all(words.zh and words.en for words in REASONS.values())


def test_how_a_job_ended_is_said_in_chinese_wherever_it_is_told() -> None:
    for state in STATES.values():
        if state.standing == "ended":
            assert chinese(f"Slurm says of the job: {state.en}") == f"Slurm 对该任务的说明：{state.zh}"
