"""What a training script says about itself: `trainmaster.log` and `trainmaster.progress`. Standard library only.

A call appends one JSON line to ``$TRAINMASTER_METRICS_DIR/metrics.jsonl`` with a single write, so that the processes of
a task never tear each other's lines. Invariant: nothing here ever raises into, or stops, a training: outside a job it
says so once and does nothing; a value that is no number is left out.
"""

from __future__ import annotations

import json
import math
import os
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final

VARIABLE: Final = "TRAINMASTER_METRICS_DIR"
FILE: Final = "metrics.jsonl"
MAX_LINE: Final = 1 << 16
MAX_NAME: Final = 200

_said: set[str] = set()
_files: dict[str, int] = {}
_steps: dict[str, int] = {"next": 0}


def log(values: Mapping[str, object], step: int | None = None) -> None:
    """Record metrics, for example ``log({"loss": 0.3, "accuracy": 0.9}, step=12)``.

    Numbers, and whatever turns into one with ``.item()`` (a tensor with one element, a NumPy scalar). Without `step`
    the calls of this process are counted. With several processes in one task the one with the lowest ``RANK`` is shown.
    """
    try:
        numbers = {str(name)[:MAX_NAME]: _number(name, value) for name, value in values.items()}
        at = _steps["next"] if step is None else int(step)
        _steps["next"] = at + 1
        _append({"step": at, "values": {name: value for name, value in numbers.items() if value is not None}})
    except Exception as error:  # a training never fails because of its metrics
        _say("failed", f"metrics could not be recorded: {error!r}")


def progress(step: float, of: float | None = None) -> None:
    """Tell how far the job is: `step` done, of `of` in all. Shown as a bar wherever the job is listed."""
    try:
        total = None if of is None else _number("of", of)
        _append({"progress": [_number("step", step), total]})
    except Exception as error:
        _say("failed", f"progress could not be recorded: {error!r}")


def _number(name: object, value: Any) -> float | int | str | None:
    """Return `value` as JSON can hold it; not-a-number and infinities as texts; None for what is no number."""
    if hasattr(value, "item"):
        with suppress(ValueError, RuntimeError, TypeError):  # more than one element: reported below
            value = value.item()
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, int):
        return value if abs(value) < 2**63 else float(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else repr(value)
    _say(f"name {name}", f"metric {name!r} is not a number but {type(value).__name__}; it is left out")
    return None


def _append(record: dict[str, object]) -> None:
    folder = os.environ.get(VARIABLE)
    if not folder:
        _say("outside", "not inside a Trainmaster job: metrics are not recorded (this is said once)")
        return
    record = {"t": time.time(), **record}
    rank = os.environ.get("RANK", "")
    if rank.isdecimal():
        record["rank"] = int(rank)
    line = json.dumps(record, separators=(",", ":")).encode() + b"\n"
    if len(line) > MAX_LINE:
        _say("long", f"more than {MAX_LINE} bytes of metrics in one call are left out")
        return
    file = _files.get(folder)
    if file is None:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
        file = _files[folder] = os.open(os.path.join(folder, FILE), flags, 0o644)
    os.write(file, line)


def _say(key: str, text: str) -> None:
    if key in _said or len(_said) > 100:
        return
    _said.add(key)
    print(f"trainmaster: {text}", file=sys.stderr)  # noqa: T201 - the hint belongs in the task's log
