"""Knobs, fair shares and shapes: what an administrator may choose, and what it can do at most (R161, R172, B15)."""

import json
import re
from dataclasses import fields, replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.builders import job, node, snapshot, waiting
from tests.fixtures.examples import examples
from trainmaster.core.records import job_from_json, to_json
from trainmaster.messages import render
from trainmaster.queue.ordering.classes import placing
from trainmaster.queue.ordering.fairness import Fairness
from trainmaster.queue.plan import plan
from trainmaster.queue.policy import DEFAULT, KNOBS, NAMED, QueuePolicy, from_values, problems
from trainmaster.queue.snapshot import Tenant

CONSOLE = Path(__file__).parents[3] / "console/src/i18n/en/admin.ts"
TOTAL = {"gpu": 8000, "cpu": 64_000, "memory_mib": 1 << 18}


def test_the_console_has_words_for_every_choice_of_a_knob() -> None:
    words = re.search(r"choice: \{(.*?)\}", CONSOLE.read_text(encoding="utf-8"), re.DOTALL)
    assert words is not None
    told = re.findall(r'^\s*"?([\w-]+)"?:', words[1], re.MULTILINE)
    assert sorted(told) == sorted({choice for knob in KNOBS for choice in knob.choices})


def test_every_knob_is_explained_and_every_policy_within_bounds() -> None:
    assert [knob.name for knob in KNOBS] == [field.name for field in fields(QueuePolicy)]
    for policy in NAMED.values():
        assert problems({knob.name: getattr(policy, knob.name) for knob in KNOBS}) == ()
    for knob in KNOBS:
        for said in (knob.title, knob.meaning):
            assert render.text(said, "zh") != render.text(said, "en") != said.code


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("age_weight", 5),
        ("age_weight", "1"),
        ("age_weight", True),
        ("max_starts", 1.5),
        ("backfill", "all"),
        ("speed", 1),
        ("grow_every_s", 600.0),  # a knob of earlier versions
    ],
)
def test_values_out_of_bounds_are_named(name: str, value: object) -> None:
    (found,) = problems({name: value})
    assert found.path == name
    assert found.remedy


def test_bounds_of_times_are_told_as_times() -> None:
    (found,) = problems({"fair_weight_s": 40 * 86400.0})
    assert (found.rule, found.remedy) == ("must be a number of seconds from 0s to 7d", "The default is 6h.")
    (found,) = problems({"max_starts": 0})
    assert (found.rule, found.remedy) == ("must be a whole number from 1 to 10000", "The default is 512.")


def test_values_change_one_policy() -> None:
    assert from_values({"age_weight": 1.0}, NAMED["fifo-easy"]) == replace(NAMED["fifo-easy"], age_weight=1.0)


tenants = st.builds(Tenant, st.just(""), st.sampled_from("xyz"), st.sampled_from("ab"))


@settings(max_examples=examples(100))
@given(st.lists(st.tuples(tenants, st.integers(1, 8000), st.floats(0, 1e6)), max_size=8), st.sets(tenants, min_size=1))
def test_a_share_moves_nobody_further_than_its_bound(held: list[tuple[Tenant, int, float]], waits: set[Tenant]) -> None:
    fair = Fairness(DEFAULT.fair_half_life_s)
    for tenant, cards, at in sorted(held, key=lambda item: item[2]):
        fair.change(tenant, (("gpu", cards),), 1, at)
    offsets = fair.offsets(waits, TOTAL, 1e6, DEFAULT)
    for tenant in waits:
        assert -2 <= offsets.of(tenant) / DEFAULT.fair_weight_s <= 2 * DEFAULT.fair_bound


def test_who_used_more_than_its_share_stands_further_back_until_it_is_forgotten() -> None:
    fair, red, blue = Fairness(100.0), Tenant(workspace="red"), Tenant(workspace="blue")
    fair.change(red, (("gpu", 8000),), 1, 0.0)
    fair.change(red, (("gpu", 8000),), -1, 100.0)
    fair.change(blue, (("cpu", 1000),), 1, 100.0)
    now = fair.offsets({red, blue}, TOTAL, 100.0, DEFAULT)
    later = fair.offsets({red, blue}, TOTAL, 1500.0, DEFAULT)
    assert now.of(red) == pytest.approx(DEFAULT.fair_weight_s)
    assert now.of(blue) == pytest.approx(-DEFAULT.fair_weight_s)
    assert later.of(red) < 0 < later.of(blue)
    assert fair.offsets({red}, TOTAL, 100.0, replace(DEFAULT)).of(Tenant(workspace="new")) == 0
    assert Fairness(100.0).offsets({red}, TOTAL, 0.0, DEFAULT).of(red) == 0


def test_what_was_used_is_kept_and_what_is_held_counts_on() -> None:
    """Red's attempt is in the past until 60 and held on; blue's began after the past ends, green's has ended in it."""
    red, blue, green = (Tenant(workspace=name) for name in ("red", "blue", "green"))

    def used(past: bool) -> Fairness:
        fair = Fairness(100.0)
        fair.change(red, [("gpu", 1000)], 1, 10.0)
        fair.change(green, [("gpu", 3000)], 1, 20.0)
        fair.change(green, [("gpu", 3000)], -1, 60.0)
        if past:
            fair = Fairness(100.0, past=json.loads(json.dumps(fair.past_json())))
            fair.change(red, [("gpu", 1000)], 1, 10.0)
        fair.change(blue, [("gpu", 2000)], 1, 70.0)
        return fair

    kept, known = (used(past).offsets({red, blue, green}, TOTAL, 300.0, DEFAULT) for past in (True, False))
    assert [kept.of(each) for each in (red, blue, green)] == pytest.approx([known.of(e) for e in (red, blue, green)])
    assert used(True).offsets({red, green}, TOTAL, 300.0, DEFAULT).of(green) != 0.0


def test_what_has_all_but_decayed_is_not_kept() -> None:
    fair = Fairness(1.0)
    for who, at in (("long-gone", 0.0), ("lately", 100.0)):
        fair.change(Tenant(workspace=who), [("gpu", 1000)], 1, at)
        fair.change(Tenant(workspace=who), [("gpu", 1000)], -1, at + 1.0)
    assert {name[0] for name, _ in fair.past_json()["used"]} == {"lately"}


def test_an_elastic_flavor_starts_as_what_fits_and_says_so() -> None:
    """R161, R172: the second flavor, with as many replicas as there is room for; queued again it is what was asked
    for.
    """
    big = job("a").role("w", 4, gpu=4, gpu_type="H100").done().roles
    small = job("a").role("w", 6, gpu=1, min_replicas=2, min_succeeded=5).done().roles
    asked = job("a").fields(roles=big, shapes=(big, small)).done()
    (start,) = plan(snapshot([node(gpus=3)], asked), 0.0).starts
    data = placing(asked, start)
    assert (start.shape, len(start.placement)) == (1, 3)
    assert (data["roles"][0]["replicas"], data["roles"][0]["min_succeeded"]) == (3, 3)
    assert job_from_json(to_json(asked)) == asked
    assert len(waiting(asked)) == 1
