"""Every state of Slurm has one meaning, and what is not known is never guessed."""

import pytest

from trainmaster.core.verdicts import VERDICTS
from trainmaster.engines.slurm.client.states import (
    NOT_USABLE,
    REASONS,
    SHORT,
    STATES,
    JobStateSeen,
    of_components,
    out_of_service,
    read,
    reason,
)
from trainmaster.engines.slurm.messages import slurm_states
from trainmaster.messages import render
from trainmaster.messages.said import Said, verbatim

MANUAL = {
    "BF": "BOOT_FAIL", "CA": "CANCELLED", "CD": "COMPLETED", "CF": "CONFIGURING", "CG": "COMPLETING", "DL": "DEADLINE",
    "F": "FAILED", "NF": "NODE_FAIL", "OOM": "OUT_OF_MEMORY", "PD": "PENDING", "PR": "PREEMPTED", "R": "RUNNING",
    "RD": "RESV_DEL_HOLD", "RF": "REQUEUE_FED", "RH": "REQUEUE_HOLD", "RQ": "REQUEUED", "RS": "RESIZING",
    "RV": "REVOKED", "SI": "SIGNALING", "SE": "SPECIAL_EXIT", "SO": "STAGE_OUT", "ST": "STOPPED", "S": "SUSPENDED",
    "TO": "TIMEOUT",
}  # fmt: skip
"""JOB STATE CODES of squeue's manual, version 22.05."""


def test_every_state_of_the_manual_is_in_the_table() -> None:
    assert MANUAL == SHORT
    assert set(SHORT.values()) <= set(STATES)


def test_every_end_has_a_verdict_of_ours_and_only_ends_have() -> None:
    for name, state in STATES.items():
        assert state.code == "" or (state.standing == "ended" and state.code in VERDICTS), name
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


def in_both(said: Said) -> tuple[str, str]:
    return render.text(said), render.text(said, "zh")


def test_a_state_is_told_in_both_languages_and_an_unknown_one_as_it_is() -> None:
    assert read("CANCELLED by 0").said == slurm_states.slurm_state_cancelled()
    assert in_both(read("CANCELLED by 0").said) == ("was cancelled in Slurm", "在 Slurm 中被取消")
    assert in_both(read("RUNNING,NEW").said) == ("running, NEW", "正在运行、NEW")
    assert read("NEW").said == verbatim("NEW")


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
    assert of_components([read("COMPLETED"), read("NODE_FAIL")]) == JobStateSeen(
        ("COMPLETED", "NODE_FAIL"), "ended", "lost"
    )


def test_reasons() -> None:
    found = reason("(ReqNodeNotAvail, UnavailableNodes:n[1-2])")
    assert found == REASONS["ReqNodeNotAvail"] == slurm_states.slurm_reason_nodes_not_available()
    assert reason("AssocGrpCpuLimit") == REASONS["AssocGrp*"]
    assert reason("QOSMaxGRESPerUser") == REASONS["QOSMax*"]
    assert reason("launch failed requeued held") == slurm_states.slurm_reason_launch_failed_held()


def test_a_reason_that_is_not_known_is_told_as_slurm_writes_it() -> None:
    assert reason("SomethingNew") == slurm_states.slurm_says("SomethingNew")
    assert in_both(reason("SomethingNew")) == ("Slurm reports: SomethingNew", "Slurm 的报告：SomethingNew")


TABLES: dict[str, dict[str, Said]] = {
    "slurm_state_": {name: state.said for name, state in STATES.items()},
    "slurm_reason_": REASONS,
    "slurm_node_": NOT_USABLE,
}


@pytest.mark.parametrize("prefix", TABLES)
def test_whatever_slurm_says_has_a_code_and_words_of_its_own_in_both_languages(prefix: str) -> None:
    for name, said in TABLES[prefix].items():
        english, chinese = in_both(said)
        assert said.code.startswith(prefix), name
        assert render.has_words(said.code), name
        assert english != chinese, name


def test_how_a_job_ended_is_said_in_chinese_wherever_it_is_told() -> None:
    for name, state in STATES.items():
        if state.standing == "ended":
            english, chinese = in_both(slurm_states.slurm_says_of_job(read(name).said))
            assert english == f"Slurm reports for the job: {render.text(state.said)}"
            assert chinese.replace(" ", "") == f"Slurm对该任务的报告：{render.text(state.said, 'zh')}".replace(" ", "")


def test_every_state_that_takes_a_node_out_of_service_is_said_with_what_its_administrator_wrote() -> None:
    for state, said in NOT_USABLE.items():
        english, chinese = render.text(said), render.text(said, "zh")
        assert in_both(out_of_service((state,), "x") or verbatim("")) == (
            f"Slurm reports that the node is {english}: x",
            f"Slurm 报告该节点{chinese}：x",
        )
        assert in_both(out_of_service((state,), "") or verbatim("")) == (
            f"Slurm reports that the node is {english}",
            f"Slurm 报告该节点{chinese}",
        )
    assert out_of_service(("IDLE", "POWERED_DOWN"), "x") is None
