"""The numbers of an outcome, by hand."""

import csv
import io
import json

import pytest

from tests.unit.simulate.workloads import drawn, job, machines, of
from trainmaster.queue.policy import NAMED
from trainmaster.simulate.charts import calendar, durations, linear
from trainmaster.simulate.compare import compare, more_nodes, settings
from trainmaster.simulate.metrics import SIZE_NAMES, jain, over_time, quantile, size_class, summarise
from trainmaster.simulate.report import html
from trainmaster.simulate.rows import CSV_COLUMNS, to_json, write_csv
from trainmaster.simulate.run import SimulationOutcome, SimulationSetting, simulate


def outcome() -> SimulationOutcome:
    """One node of 8: a runs 0..100, b waits 90 and runs 100..105, c of another workspace waits 95 more."""
    jobs = (job(0, 0, 100, 8, workspace="x"), job(1, 10, 5, 4, workspace="x"), job(2, 10, 40, 8, workspace="y"))
    return simulate(of(*jobs), machines("1x8"), SimulationSetting(NAMED["fifo-strict"]))


def test_waits_slowdown_and_use() -> None:
    found = summarise(outcome())
    assert (found.waits.mean_s, found.waits.p50_s, found.waits.max_s) == (pytest.approx((0 + 90 + 95) / 3), 90, 95)
    assert found.waits.slowdown == pytest.approx((1 + 95 / 10 + 135 / 40) / 3)
    assert found.waits.jct_s == pytest.approx((100 + 95 + 135) / 3)
    assert (found.makespan_s, found.allocated) == (145, pytest.approx((800 + 20 + 320) / (8 * 145)))
    assert list(found.by_size) == ["2-4", "5-8"]
    assert found.by_workspace["y"].mean_s == 95
    assert found.fairness == pytest.approx(jain([(1 + 9.5) / 2, 135 / 40]))
    assert found.others == {}


def test_quantiles_sizes_and_fairness() -> None:
    assert quantile([1, 2], 0.5) == 1.5
    assert [SIZE_NAMES[size_class(size)] for size in (0, 1, 3, 8, 9, 33)] == ["0", "1", "2-4", "5-8", "9-32", "33+"]
    assert jain([2, 2]) == 1
    assert jain([1, 0]) == 0.5


def test_over_time_adds_up_to_the_whole() -> None:
    seconds, held, waiting = over_time(outcome(), points=29)
    assert (len(seconds), seconds[1]) == (29, 5)
    assert sum(held) * 5 * 8 == pytest.approx(800 + 20 + 320)
    assert sum(waiting) * 5 == pytest.approx(90 + 95)


def test_nothing_ran() -> None:
    empty = simulate(of(job(0, 0, 5, 64)), machines("1x8"), SimulationSetting())
    assert summarise(empty).others == {"refused": 1}
    assert "<svg" in html(of(job(0, 0, 5, 64)), [empty])


def test_rows_and_json_can_be_read_back() -> None:
    found, text = outcome(), io.StringIO()
    write_csv(text, [found])
    header, *rows = csv.reader(io.StringIO(text.getvalue()))
    assert (tuple(header), len(rows)) == (CSV_COLUMNS, 3)
    assert dict(zip(header, rows[1], strict=True))["wait_s"] == "90"
    data = json.loads(json.dumps(to_json(of(), [found], [summarise(found)])))
    assert data["policies"][0]["waits"]["max_s"] == 95


def test_the_report_compares_and_escapes() -> None:
    work = drawn(3)
    outcomes = list(compare(work, machines("2x8"), settings(["default", "default:max_starts=3"]), [more_nodes("1")]))
    assert [one.label for one in outcomes][:2] == ["default", "default + 1 node"]
    page = html(work, outcomes)
    assert page.count("<svg") == 6
    assert "http" not in page
    assert "平均等待" in page
    assert 'class="tick zh"' in page
    assert [word in page for word in (">中位数<", ">median<", ">p50<")] == [True, True, False]
    nasty = simulate(
        of(job(0, 0, 5, workspace="<b>"), job(1, 0, 5, workspace="ok")), machines(), SimulationSetting(label="<i>")
    )
    assert "<b>" not in html(of(), [nasty])
    assert "<i>" not in html(of(), [nasty]).replace('<i style="', "")


def test_scales() -> None:
    assert [words for _, words in linear(0, 1, lambda v: f"{v:.0%}").ticks] == [
        "0%",
        "20%",
        "40%",
        "60%",
        "80%",
        "100%",
    ]
    assert [words for _, words in calendar(0, 10 * 86400).ticks][:2] == ["0d", "2d"]
    assert [words for _, words in durations(7200).ticks] == ["0", "10s", "1m", "10m", "1h"]
    assert durations(7200).place(0) == 0
    assert linear(0, 0, str).ticks
