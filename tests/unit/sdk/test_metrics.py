"""Metrics as a table, for a notebook (R209)."""

import pandas as pd

from trainmaster.answers import Series
from trainmaster.sdk.metrics import Metrics


def series(name: str, steps: list[float | None], values: list[float | None]) -> Series:
    times: list[float | None] = [1_700_000_000.0 + step for step in steps if step is not None]
    return Series(
        name=name, source="sdk", attempt=1, task="task0-0", count=len(steps), steps=steps, t=times, values=values
    )


def test_a_row_for_each_point_of_each_curve() -> None:
    curves = [series("loss", [0, 1, 2], [3.0, None, 1.0]), series("accuracy", [2], [0.9])]
    found = Metrics(series=curves, last={"loss": 1.0})
    frame = found.to_pandas()
    assert list(frame.columns) == ["attempt", "task", "source", "name", "step", "time", "value"]
    assert list(frame["name"]) == ["loss"] * 3 + ["accuracy"]
    assert frame["value"].isna().tolist() == [False, True, False, False]
    assert frame["time"][0] == pd.Timestamp(1_700_000_000, unit="s", tz="UTC")
    wide = frame.pivot_table("value", "step", "name")
    assert wide.loc[2].to_dict() == {"accuracy": 0.9, "loss": 1.0}
    assert (found.series, found.last) == (curves, {"loss": 1.0}), "it is still the API's answer"


def test_a_job_without_metrics_is_an_empty_table() -> None:
    frame = Metrics(series=[], last={}).to_pandas()
    assert (len(frame), list(frame.columns)[:2], str(frame["value"].dtype)) == (0, ["attempt", "task"], "float64")
