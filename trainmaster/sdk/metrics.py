"""Training metrics as a program holds them: the API's answer, and the same as a table."""

from typing import TYPE_CHECKING

from trainmaster import answers

if TYPE_CHECKING:
    import pandas as pd


class Metrics(answers.MetricsView, frozen=True):
    """Curves, and the last value of each name."""

    def to_pandas(self) -> "pd.DataFrame":
        """Return a row for each point: attempt, task, source, name, step, time (UTC), value; NaN where there is no
        number.

        Raises ImportError without pandas. ``frame.pivot_table("value", "step", "name")`` has a column for each metric.
        """
        import pandas as pd  # noqa: PLC0415 (an extra: only who asks for a table needs it)

        columns = ("attempt", "task", "source", "name", "step", "time", "value")
        rows = [
            (one.attempt, one.task, one.source, one.name, step, at, value)
            for one in self.series
            for step, at, value in zip(one.steps, one.t, one.values, strict=True)
        ]
        frame = pd.DataFrame(rows, columns=list(columns))
        frame["time"] = pd.to_datetime(frame["time"], unit="s", utc=True)
        frame["value"] = frame["value"].astype(float)
        return frame
