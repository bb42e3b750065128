"""What an algorithm may say, and what it makes of a job that names it (R60, R150-R157)."""

import math
from contextlib import suppress
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainmaster.core.cluster import Flavor
from trainmaster.core.errors import InvalidSpec
from trainmaster.spec.algorithms.algorithm import AlgorithmSpec, Hyperparameter
from trainmaster.spec.algorithms.checking import read_algorithm, written
from trainmaster.spec.algorithms.filling import filled
from trainmaster.spec.algorithms.judging import judged
from trainmaster.spec.algorithms.values import value_problem
from trainmaster.spec.check import check
from trainmaster.spec.job import scalar_text

UPLOAD: Final = "sha256:" + "a" * 64
DIGITS: Final[dict[str, Any]] = {
    "command": "python train.py",
    "code": {"upload": UPLOAD},
    "framework": "pytorch",
    "image": "torch:2",
    "parameters": [
        {"name": "lr", "type": "float", "default": 0.1, "min": 0, "max": 1},
        {"name": "epochs", "type": "int", "required": True, "min": 1},
        {"name": "net", "type": "str", "default": "cnn", "choices": ["cnn", "mlp"], "deletable": False},
        {"name": "seed", "type": "int", "default": 7, "editable": False},
        {"name": "amp", "type": "bool"},
    ],
    "custom_parameters": False,
    "inputs": [{"name": "data_url", "kinds": ["dataset"]}, {"name": "START", "given": "variable", "required": False}],
    "outputs": ["train_url", {"name": "best", "to": "model", "folder": "best"}],
}
JOB: Final[dict[str, Any]] = {
    "name": "digits",
    "algorithm": "digits",
    "parameters": {"epochs": 3},
    "inputs": [{"dataset": "mnist", "channel": "data_url"}],
}


def read(**changes: Any) -> AlgorithmSpec:
    return read_algorithm({**DIGITS, **changes})


def problems(job: dict[str, Any], algorithm: AlgorithmSpec | None = None, **flavors: Flavor) -> list[tuple[str, str]]:
    made = algorithm or read()
    return [(one.path, one.code) for one in judged(check(filled(job, made, "digits@1")), made, flavors or None)]


def wrong(document: Any) -> list[tuple[str, str]]:
    with pytest.raises(InvalidSpec) as why:
        read_algorithm(document)
    return [(one.path, one.code) for one in why.value.problems]


def test_a_document_is_read_and_its_effective_form_reads_back_the_same() -> None:
    algorithm = read()
    assert read_algorithm(written(algorithm)) == algorithm
    assert [channel.name for channel in algorithm.outputs] == ["train_url", "best"]


def test_everything_that_is_wrong_with_a_document_is_told_at_once() -> None:
    found = wrong(
        {
            "command": "a && b",
            "image": " x",
            "framework": "nothing",
            "more": 1,
            "parameters": [
                {"name": "lr", "type": "floating", "default": "x", "min": 0},
                {"name": "x", "type": "int", "default": 5, "max": 1},
                {"name": "x", "type": "str", "min": 1, "editable": False},
                {"name": "y", "type": "int", "min": 3, "max": 1.5, "choices": [1, "a", None]},
            ],
            "inputs": [{"name": "data_url", "kinds": ["tape"]}, {"name": "A-B", "given": "variable"}, "PATH"],
            "outputs": [{"name": "x", "folder": "../up"}, {"name": "TRAINMASTER_JOB", "given": "variable"}],
        }
    )
    assert set(found) == {
        ("image", "bad_image"),
        ("more", "unknown_key"),
        ("framework.kind", "unknown_framework"),
        ("command", "command_statements"),
        ("parameters.0.type", "not_one_of"),
        ("parameters.1.default", "too_big"),
        ("parameters.2.name", "duplicate_name"),
        ("parameters.2.min", "range_of_no_number"),
        ("parameters.2.default", "fixed_without_value"),
        ("parameters.3.max", "not_integer"),
        ("parameters.3.max", "too_small"),
        ("parameters.3.choices.0", "too_small"),
        ("parameters.3.choices.1", "not_integer"),
        ("parameters.3.choices.2", "null_not_allowed"),
        ("inputs.0.kinds.0", "not_one_of"),
        ("inputs.1.name", "bad_env_name"),
        ("outputs.0.folder", "bad_pattern"),
        ("outputs.0.name", "duplicate_name"),
        ("outputs.1.name", "reserved_env"),
    }


@pytest.mark.parametrize("document", [{}, {"command": 5}, {"command": ""}, {"version": 2, "command": "true"}, []])
def test_what_is_no_document_is_refused(document: Any) -> None:
    assert wrong(document)


def test_a_job_gets_code_command_framework_image_values_and_places() -> None:
    """R138, R152, R154, R155: what it says itself stays; places are parameters like any others."""
    made = filled(JOB, read(), "digits@3")
    assert made["algorithm"] == "digits@3"
    assert made["code"] == {"upload": UPLOAD}
    assert (made["command"], made["framework"], made["image"]) == ("python train.py", {"kind": "pytorch"}, "torch:2")
    assert made["parameters"] == {
        "lr": 0.1,
        "epochs": 3,
        "net": "cnn",
        "seed": 7,
        "data_url": "$TRAINMASTER_DATASET_DIR",
        "train_url": "$TRAINMASTER_OUTPUT_DIR",
        "best": "${TRAINMASTER_MODEL_DIR}/best",
    }
    assert problems(JOB) == []
    other = {**JOB, "image": "mine:1", "inputs": [*JOB["inputs"], {"model": "start", "channel": "START"}]}
    made = filled(other, read(), "digits@3")
    assert (made["image"], made["env"]) == ("mine:1", {"START": "$TRAINMASTER_PRETRAIN_DIR"})
    assert problems({**other, "inputs": [other["inputs"][0] | {"mount": "/workspace/d"}]}) == []


def test_a_filled_job_is_filled_the_same_again() -> None:
    """So that a clone of a job is the job."""
    once = filled(JOB, read(), "digits@1")
    again = filled(check(once).model_dump(mode="json"), read(), "digits@1")
    assert check(again) == check(once)
    assert judged(check(again), read(), None) == []


def test_each_role_that_names_no_command_runs_it() -> None:
    roles = [
        {"name": "worker", "replicas": 2, "parameters": {"epochs": 1}},
        {"name": "watch", "command": "python w.py"},
    ]
    job = {key: value for key, value in JOB.items() if key != "parameters"} | {"roles": roles}
    worker, watch = filled(job, read(), "digits@1")["roles"]
    assert worker["command"] == "python train.py"
    assert worker["parameters"]["data_url"] == "$TRAINMASTER_DATASET_DIR"
    assert watch == roles[1]
    assert problems(job) == []
    assert problems({**job, "roles": [roles[1]]}) == [("roles.0.command", "command_of_algorithm")]


def test_parameters_are_judged_by_what_the_algorithm_says_of_them() -> None:
    """R155, R156: all at once."""
    wanted = {"lr": 2, "net": "gru", "seed": 8, "amp": 1, "epoch": 3, "train_url": "/elsewhere"}
    assert set(problems({**JOB, "parameters": wanted})) == {
        ("roles.0.parameters.lr", "too_big"),
        ("roles.0.parameters.net", "not_one_of"),
        ("roles.0.parameters.seed", "parameter_not_editable"),
        ("roles.0.parameters.amp", "not_boolean"),
        ("roles.0.parameters.epoch", "no_such_parameter"),
        ("roles.0.parameters.epochs", "required"),
        ("roles.0.parameters.train_url", "parameter_is_channel"),
    }
    assert problems({**JOB, "parameters": {"epochs": None, "net": None, "seed": None}}) == [
        ("roles.0.parameters.epochs", "required"),
        ("roles.0.parameters.net", "parameter_not_deletable"),
        ("roles.0.parameters.seed", "parameter_not_deletable"),
    ]
    assert problems({**JOB, "parameters": {"epochs": 1, "lr": None, "amp": True, "seed": 7}}) == []
    assert problems({**JOB, "parameters": {"epochs": 1, "more": 1}}, read(custom_parameters=True)) == []


def test_channels_are_given_what_they_take() -> None:
    """R152, R153."""
    assert problems({**JOB, "inputs": []}) == [("inputs", "channel_missing")]
    inputs = [
        {"model": "start", "channel": "data_url"},
        {"dataset": "a", "channel": "data_url", "mount": "/dataset/a"},
        {"dataset": "b", "channel": "data", "mount": "/dataset/b"},
    ]
    assert problems({**JOB, "inputs": inputs}) == [
        ("inputs.0.channel", "kind_not_of_channel"),
        ("inputs.1.channel", "channel_twice"),
        ("inputs.2.channel", "no_such_input_channel"),
    ]
    by_hand = {**JOB, "inputs": [], "parameters": {"epochs": 1, "data_url": "/x"}}
    assert ("roles.0.parameters.data_url", "parameter_is_channel") in problems(by_hand)
    stored = {**JOB, "inputs": [{"s3": "team/digits", "channel": "data_url"}]}
    assert problems(stored) == [("inputs.0.channel", "kind_not_of_channel")]
    assert problems(stored, read(inputs=[{"name": "data_url", "kinds": ["path"]}])) == problems(stored)
    assert problems(stored, read(inputs=[{"name": "data_url", "kinds": ["s3"]}])) == []
    assert problems(stored, read(inputs=["data_url"])) == []
    assert problems({**JOB, "env": {"START": "/x"}}) == [("env.START", "parameter_is_channel")]
    with pytest.raises(InvalidSpec) as why:
        check({"name": "a", "command": "true", "inputs": JOB["inputs"]})
    assert [(one.path, one.code) for one in why.value.problems] == [("inputs.0.channel", "channel_without_algorithm")]


def test_it_runs_on_what_the_algorithm_allows() -> None:
    """R60."""
    small, cards = Flavor("small"), Flavor("cards", gpu=1, gpu_type="A100")
    npu = Flavor("npu", gpu=1, vendor="huawei")
    known = {"small": small, "cards": cards, "npu": npu}
    only = read(flavors=["small", "cards"], max_replicas=2)
    assert problems({**JOB, "flavors": ["small"], "replicas": 2}, only, **known) == []
    assert problems({**JOB, "flavors": ["small", "npu"], "replicas": 3}, only, **known) == [
        ("roles.0.replicas", "too_big"),
        ("roles.0.flavors.1", "flavors_of_algorithm"),
    ]
    assert problems(JOB, only, **known) == [("roles.0.flavors", "flavors_of_algorithm")]
    gpu = read(runs_on=["gpu", "ascend"])
    assert problems({**JOB, "flavors": ["cards", "npu"]}, gpu, **known) == []
    assert problems({**JOB, "flavors": ["small"]}, gpu, **known) == [("roles.0.flavors.0", "runs_on_others")]
    assert problems(JOB, gpu) == [("roles.0.resources.gpu", "runs_on_others")]
    assert problems({**JOB, "resources": {"gpu": 1}}, gpu) == []
    assert problems({**JOB, "resources": {"gpu": 1}}, read(runs_on=["cpu"])) == [
        ("roles.0.resources.gpu", "runs_on_others")
    ]


def test_code_of_its_own_is_refused() -> None:
    assert problems({**JOB, "code": {"upload": "sha256:" + "b" * 64}}) == [("code", "code_of_algorithm")]


scalars = st.one_of(st.integers(), st.floats(), st.text(max_size=5), st.booleans())
kinds = st.sampled_from(["int", "float", "str", "bool"])
bounds = st.none() | st.integers(-100, 100) | st.floats(-100, 100)


@given(kinds, scalars, bounds, bounds, st.lists(scalars, max_size=3))
def test_a_value_that_passes_is_of_the_type_in_range_and_one_of_the_choices(
    kind: Any, value: Any, low: Any, high: Any, choices: list[Any]
) -> None:
    what = Hyperparameter(name="x", type=kind, min=low, max=high, choices=tuple(choices))
    if value_problem(what, value, "x") is not None:
        return
    if kind in ("int", "float"):
        assert not isinstance(value, bool | str)
        assert math.isfinite(value)
        assert low is None or value >= low
        assert high is None or value <= high
    assert kind != "bool" or isinstance(value, bool)
    assert not choices or any(one == value or scalar_text(one) == scalar_text(value) for one in choices)


@given(st.recursive(st.none() | scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
    st.sampled_from(["command", "parameters", "inputs", "outputs", "name", "type", "default", "min", "max", "choices",
                     "code", "framework", "flavors", "kinds"]), inner, max_size=4), max_leaves=12))  # fmt: skip
def test_whatever_is_given_either_reads_or_is_refused(document: Any) -> None:
    for one in (document, {"command": "true", "parameters": [document], "inputs": [document]}):
        with suppress(InvalidSpec):
            read_algorithm(one)
        if isinstance(one, dict):
            filled(one, read(), "digits@1")
