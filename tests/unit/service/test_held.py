"""How much was held over time: means by step, out of the spans in which attempts held it."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fixtures.examples import examples
from trainmaster.service.cluster.held import Span, means

MOMENTS = st.floats(-500.0, 1500.0)
SPANS = st.lists(st.builds(Span, MOMENTS, MOMENTS, st.floats(0.0, 8.0)), max_size=12)


def test_half_a_step_is_half_of_what_was_held() -> None:
    """Before, across and after the steps; what still runs ends where the picture ends."""
    spans = [Span(-50.0, 15.0, 4.0), Span(25.0, 100.0, 2.0), Span(3.0, 4.0, 10.0), Span(60.0, 70.0, 1.0)]
    assert means(spans, 0.0, 10.0, 3) == [5.0, 2.0, 1.0]
    assert means([], 0.0, 10.0, 2) == [0.0, 0.0]
    assert means([Span(0.0, 30.0, 2.0)], 0.0, 10.0, 3) == [2.0, 2.0, 2.0]


@settings(max_examples=examples(200))
@given(SPANS, st.sampled_from([1.0, 7.5, 60.0]), st.integers(1, 40))
def test_all_steps_together_hold_what_the_spans_hold(spans: list[Span], step_s: float, steps: int) -> None:
    until = step_s * steps
    held = sum(one.amount * max(0.0, min(one.end, until) - max(one.start, 0.0)) for one in spans)
    found = means(spans, 0.0, step_s, steps)
    assert len(found) == steps
    assert sum(found) * step_s == pytest.approx(held, abs=1e-6 * (1 + held))
