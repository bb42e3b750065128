"""Where a benchmark runs: an own folder, and everything that must be ended afterwards, whatever happens."""

import contextlib
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

from bench import measure, programs, record


class Stage:
    """One benchmark's folder and closers. `TRAINMASTER_BENCH_DIR` names another parent than the system's temporary
    folder.
    """

    def __init__(self, name: str, traces: Path = Path()) -> None:
        self.name, self.traces = name, traces  # traces: folder of recorded workloads
        self.folder = tempfile.mkdtemp(prefix=f"tm-bench-{name}-", dir=os.environ.get("TRAINMASTER_BENCH_DIR"))
        self.programs: dict[str, str] = {}
        self._closers: list[Callable[[], None]] = []
        self._number = 0

    def __enter__(self) -> "Stage":
        """Build the programs."""
        os.chmod(self.folder, 0o755)
        self.programs = programs.build(self.path("env", "bin"))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End and remove everything, last made first."""
        for close in reversed(self._closers):
            with contextlib.suppress(Exception):
                close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def path(self, *parts: str) -> str:
        """Return a path inside the folder."""
        return os.path.join(self.folder, *parts)

    def fresh(self, word: str) -> str:
        """Return a path that was not used yet."""
        self._number += 1
        return self.path(f"{word}-{self._number}")

    def closing(self, close: Callable[[], None]) -> None:
        """Call `close` at the end."""
        self._closers.append(close)

    def record(self, metric: str, values: list[float], unit: str, **rest: object) -> record.Record:
        """Return a record of this benchmark at the load of now."""
        return record.record(self.name, metric, values, unit, measure.load(), **rest)  # type: ignore[arg-type]
