"""Jobs side by side as a program holds them: the API's answer, and the same as a table, a job a row."""

from typing import TYPE_CHECKING

from trainmaster import answers

if TYPE_CHECKING:
    import pandas as pd

Cell = bool | int | float | str | None


class Comparison(answers.ComparisonView, frozen=True):
    """Jobs side by side: `jobs`, the settings of their job files as `rows`, and what became of each of `metrics`."""

    def differences(self) -> list[answers.ComparedRow]:
        """Return the settings that differ."""
        return [row for row in self.rows if row.differs]

    def metric(self, name: str) -> answers.ComparedMetric | None:
        """Return what became of one metric in each job; None where no job has it."""
        return next((one for one in self.metrics if one.name == name), None)

    def best(self, metric: str, better: str | None = None) -> answers.JobView | None:
        """Return the job that reached the best value of a metric, the first of several; None where none is known.

        `better`: min or max; without it, by the name of the metric, which may not say.
        """
        places = self.leading(metric, better)
        return self.jobs[places[0]] if places else None

    def leading(self, metric: str, better: str | None = None) -> list[int]:
        """Return the places of all jobs that reached the best value, as `best` does."""
        found = self.metric(metric)
        better = better or (found.better if found is not None else None)
        if found is None or better is None:
            return []
        reached = [None if one is None else one.low if better == "min" else one.high for one in found.values]
        known = [value for value in reached if value is not None]
        top = (min if better == "min" else max)(known, default=None)
        return [at for at, value in enumerate(reached) if top is not None and value == top]

    def table(self, everything: bool = False) -> list[dict[str, Cell]]:
        """Return a row for each job: who it is, the settings that differ (with `everything` all of them) as
        ``section.name``, and of each metric ``metric``, ``metric.min`` and ``metric.max``.
        """
        rows: list[dict[str, Cell]] = []
        for at, job in enumerate(self.jobs):
            row: dict[str, Cell] = {
                "id": job.id,
                "name": job.name,
                "state": str(job.state),
                "owner": job.owner,
                "workspace": job.workspace,
                "submitted_at": job.submitted_at,
                "run_s": job.run_s,
                "attempts": job.attempts,
            }
            row |= {f"{one.section}.{one.name}": one.values[at] for one in self.rows if everything or one.differs}
            for metric in self.metrics:
                value = metric.values[at]
                row[metric.name] = value.last if value is not None else None
                row[f"{metric.name}.min"] = value.low if value is not None else None
                row[f"{metric.name}.max"] = value.high if value is not None else None
            rows.append(row)
        return rows

    def to_pandas(self, everything: bool = False) -> "pd.DataFrame":
        """Return `table` as a frame with a row for each job, by its id. Raises ImportError without pandas."""
        try:
            import pandas as pd  # noqa: PLC0415 (an extra: only who asks for a table needs it)
        except ImportError as error:
            raise ImportError("to_pandas needs pandas: pip install pandas; table() needs nothing") from error
        return pd.DataFrame(self.table(everything)).set_index("id")
