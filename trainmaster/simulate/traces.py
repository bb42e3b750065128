"""Reads workloads: the Standard Workload Format (SWF) of the Parallel Workloads Archive, and CSV with named columns.

Either may be compressed with gzip. A CSV may name its columns in any of the ways of COLUMNS; those of the public
extracts of Philly, KTH and openb are among them. Every problem names the file and the line. Fractions of seconds are
cut.
"""

import csv
import gzip
import io
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from trainmaster.core.errors import InvalidSpec, problem_of
from trainmaster.core.formats.units import NotRead
from trainmaster.core.records import Resources, Role
from trainmaster.core.states import Priority
from trainmaster.messages.cluster import simulation
from trainmaster.messages.said import Said
from trainmaster.simulate.workload import NodeSize, Recorded, Workload, gang, gang_of_cores, workload

COLUMNS: Final[dict[str, tuple[str, ...]]] = {
    "id": ("job_id", "id", "job", "name", "row"),
    "submit": ("submit_s", "submitted_at", "creation_time", "submit_time", "submit"),
    "run": ("run_s", "duration", "runtime", "run"),
    "start": ("scheduled_time", "started_at"),
    "end": ("deletion_time", "ended_at"),
    "cards": ("gpus", "num_gpu", "gpu", "gpu_num"),
    "card_type": ("gpu_type", "gpu_spec"),
    "card_milli": ("gpu_milli",),
    "least": ("min_gpus",),
    "procs": ("procs", "cores"),
    "cpu_milli": ("cpu_milli",),
    "cpu": ("cpu", "cpus"),
    "memory": ("memory_mib",),
    "limit": ("limit_s", "duration_s"),
    "workspace": ("vc", "workspace", "tenant"),
    "owner": ("user", "owner"),
    "pool": ("pool",),
    "priority": ("priority",),
    "preemptible": ("preemptible",),
}
"""What a column means -> the names it goes by, the first that is there counts. `cpu` and `memory` are of one replica.

`least`: an elastic job may start with as few cards as that, counted in whole nodes. `card_type` may name several models
with ``|`` between them, any of which will do.
"""

SWF: Final = (
    "id", "submit", "wait", "run", "procs_used", "cpu_s", "memory_used", "procs", "limit", "memory", "status",
    "owner", "group", "app", "queue", "partition", "before", "think",
)  # fmt: skip


def read_trace(path: str, whole: NodeSize, sizes_only: bool = False) -> Workload:
    """Return the workload of a file; sizes are divided into replicas for nodes of size `whole`.

    `sizes_only` keeps jobs that never ran, too, with a run time of 0, and needs no times: for questions of what fits
    beside what. Raises InvalidSpec naming the line when the file is not readable as either format.
    """
    name = Path(path).name
    text = read_text(path)
    words = name.lower().removesuffix(".gz")
    if words.endswith(".swf") or text.lstrip().startswith(";"):
        return _read(name, _swf_rows(name, text), whole, sizes_only)
    rows = csv.DictReader(io.StringIO(text))
    return _read(name, _csv_rows(name, rows, sizes_only), whole, sizes_only)


def read_text(path: str) -> str:
    """Return the text of a file, plain or compressed with gzip. Raises InvalidSpec."""
    try:
        with open(path, "rb") as file:
            data = file.read()
        return (gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data).decode("utf-8-sig")
    except (OSError, EOFError, gzip.BadGzipFile, UnicodeDecodeError) as error:
        raise InvalidSpec(simulation.trace_not_read(path, str(error))) from error


Row = tuple[int, dict[str, str]]
"""The line in the file, and what it says by meaning."""


def _swf_rows(name: str, text: str) -> Iterator[Row]:
    for line, written in enumerate(text.splitlines(), 1):
        fields = written.split()
        if not fields or fields[0].startswith(";"):
            continue
        if len(fields) < 9:
            raise _wrong(name, line, simulation.swf_line_too_short())
        row = dict(zip(SWF, fields, strict=False))
        if float(row["procs"]) < 1:
            row["procs"] = row["procs_used"]
        if float(row["limit"]) < 1:
            row["limit"] = ""
        row["workspace"] = row.get("group", "")
        row.pop("memory")  # in KiB per processor, and rarely given
        yield line, row


def _csv_rows(name: str, rows: "csv.DictReader[str]", sizes_only: bool) -> Iterator[Row]:
    there = {column.strip(): column for column in rows.fieldnames or ()}
    means = {
        meaning: there[names[0]] for meaning, known in COLUMNS.items() if (names := [n for n in known if n in there])
    }
    for needed, other in (("submit", ()), ("cards", ("procs",)), ("run", ("end",))):
        if sizes_only and needed != "cards":
            continue
        if not any(meaning in means for meaning in (needed, *other)):
            wanted, instead = COLUMNS[needed][0], [COLUMNS[one][0] for one in other]
            no = simulation.neither_column(wanted, *instead) if instead else simulation.no_such_column(wanted)
            raise _wrong(name, 1, no)
    waits = {column: there[column] for column in there if column.startswith("wait_")}
    for row in rows:
        found = {meaning: (row[column] or "").strip() for meaning, column in means.items()}
        found.update({column: row[written] or "" for column, written in waits.items()})
        yield rows.line_num, found


def _wrong(name: str, line: int, why: Said) -> InvalidSpec:
    return InvalidSpec(simulation.trace_line_not_valid(name, line, why), problems=(problem_of(f"{name}:{line}", why),))


def _read(name: str, rows: Iterator[Row], whole: NodeSize, sizes_only: bool) -> Workload:
    jobs: list[Recorded] = []
    left_out = 0
    has_limits = False
    for line, row in rows:
        has_limits = has_limits or bool(row.get("limit"))
        try:
            job = _job(len(jobs) + left_out, row, whole, sizes_only)
        except NotRead as error:
            raise _wrong(name, line, error.said) from error
        except ValueError as error:
            raise _wrong(name, line, simulation.trace_value_not_read(str(error))) from error
        if job is None:
            left_out += 1
        else:
            jobs.append(job)
    which, are = ("job", "is") if left_out == 1 else ("jobs", "are")
    notes = (
        [f"{left_out} {which} that never ran, or whose size or times are unknown, {are} left out"] if left_out else []
    )
    return workload(name, jobs, has_limits, notes)


def _job(row_number: int, row: Mapping[str, str], whole: NodeSize, sizes_only: bool) -> Recorded | None:
    submit, run = _number(row, "submit"), _run(row)
    if sizes_only:
        submit, run = submit or 0, run or 0
    cards, procs = _number(row, "cards"), _number(row, "procs")
    if submit is None or run is None or run < 0 or submit < 0 or (cards is None and (procs or 0) <= 0):
        return None
    if row.get("status") == "5" and run == 0:
        return None  # SWF: cancelled before it started
    models = [model.strip() for model in row.get("card_type", "").split("|")]
    shapes = tuple(_roles(row, model or None, whole) for model in dict.fromkeys(models))
    return Recorded(
        id=row.get("id") or str(row_number),
        row=row_number,
        submit_s=submit,
        work_s=run,
        roles=shapes[0],
        shapes=shapes if len(shapes) > 1 else (),
        limit_s=_number(row, "limit"),
        workspace=row.get("workspace") or "default",
        owner=row.get("owner") or "",
        pool=row.get("pool") or "default",
        priority=_priority(row.get("priority", "")),
        preemptible=row.get("preemptible", "").lower() in ("1", "true", "yes"),
        reference={key: int(value) for key, value in row.items() if key.startswith("wait_") and value},
    )


def _roles(row: Mapping[str, str], model: str | None, whole: NodeSize) -> tuple[Role, ...]:
    """Return what the job asks for on cards of `model`. Raises ValueError."""
    cards = _number(row, "cards")
    each = Resources(
        cpu=_cores(row),
        memory_mib=_number(row, "memory") or 0,
        gpu_type=model,
        shm_mib=0,
        gpu_milli=(_number(row, "card_milli") or 1000) if cards == 1 else 1000,
    )
    if cards is None:
        return gang_of_cores(_number(row, "procs") or 1, each, whole.cores)
    return gang(cards, each, whole.cards, _number(row, "least"))


def _number(row: Mapping[str, str], meaning: str) -> int | None:
    written = row.get(meaning, "")
    try:
        return int(float(written)) if written else None
    except (ValueError, OverflowError):
        raise NotRead(simulation.trace_value_not_a_number(meaning, repr(written))) from None


def _run(row: Mapping[str, str]) -> int | None:
    if row.get("run"):
        return _number(row, "run")
    start, end = _number(row, "start"), _number(row, "end")
    return end - start if start is not None and end is not None else None


def _cores(row: Mapping[str, str]) -> float:
    milli = _number(row, "cpu_milli")
    return milli / 1000 if milli is not None else float(row.get("cpu") or 0.0)


def _priority(written: str) -> Priority:
    if not written:
        return Priority.NORMAL
    try:
        return Priority(int(written)) if written.lstrip("-").isdigit() else Priority[written.upper()]
    except (KeyError, ValueError):
        names = [one.name.lower() for one in Priority]
        raise NotRead(simulation.trace_priority_unknown(repr(written), names, len(Priority) - 1)) from None
