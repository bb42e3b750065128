"""Rows of outcomes as CSV, one line per job and policy, and summaries as JSON."""

import csv
from collections.abc import Sequence
from typing import Any, Final, TextIO

from trainmaster.simulate.clusters import describe
from trainmaster.simulate.metrics import SimulationSummary, slowdown
from trainmaster.simulate.run import SimulationOutcome
from trainmaster.simulate.workload import Workload

CSV_COLUMNS: Final = (
    "policy", "job", "workspace", "owner", "gpus", "cores", "submit_s", "limit_s", "start_s", "end_s", "wait_s",
    "run_s", "slowdown", "attempts", "lost_s", "state", "nodes",
)  # fmt: skip


def write_csv(file: TextIO, outcomes: Sequence[SimulationOutcome]) -> None:
    """Write all rows of all outcomes, in the order of submission, with a header."""
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(CSV_COLUMNS)
    for outcome in outcomes:
        for row in outcome.rows:
            job = row.job
            writer.writerow(
                (
                    outcome.label,
                    job.id,
                    job.workspace,
                    job.owner,
                    f"{job.cards:g}",
                    f"{job.cores:g}",
                    job.submit_s,
                    row.limit_s,
                    row.start_s,
                    row.end_s,
                    row.wait_s,
                    row.run_s,
                    f"{slowdown(row):.3f}" if row.done else None,
                    row.attempts,
                    row.lost_s,
                    row.state,
                    " ".join(row.nodes),
                )
            )


def to_json(
    workload: Workload, outcomes: Sequence[SimulationOutcome], summaries: Sequence[SimulationSummary]
) -> dict[str, Any]:
    """Return what `--json` prints: the workload in numbers and one summary per policy."""
    return {
        "workload": {"name": workload.name, "jobs": len(workload.jobs), "notes": list(workload.notes)},
        "policies": [
            {"cluster": describe(outcome.nodes)[1], "passes": outcome.passes, **summary.to_json()}
            for outcome, summary in zip(outcomes, summaries, strict=True)
        ],
    }
