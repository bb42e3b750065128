"""Exact commands and environments of every framework x shape, kept as files that change only on purpose."""

import json

import pytest

from tests.unit.frameworks.shapes import GOLDEN, SHAPES, launches
from trainmaster.core.framework_kinds import KINDS


@pytest.mark.parametrize("shape", SHAPES)
def test_golden(shape: str) -> None:
    assert launches(shape) == json.loads((GOLDEN / f"{shape}.json").read_text())


def test_no_file_is_left_from_a_shape_that_is_gone_and_every_framework_has_shapes() -> None:
    assert {path.stem for path in GOLDEN.glob("*.json")} == set(SHAPES)
    assert {shape.partition("-")[0] for shape in SHAPES} - {"pai"} == set(KINDS)
