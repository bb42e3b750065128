"""Shows the checks of an engine as they are made, in the language of the terminal, and all of them as JSON at the
end.
"""

import asyncio
import signal
import sys
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

from trainmaster.cli.language import language
from trainmaster.messages import render
from trainmaster.messages.said import Said

if TYPE_CHECKING:
    from trainmaster.engines.adding import Check, Examination

WIDTH: Final = 24
"""Of the names, in cells."""


def in_terminal_language(said: Said) -> str:
    """Return what was said in the language of the terminal."""
    return render.text(said, language())


def remedy(said: Said) -> str:
    """Return what to do about it in the language of the terminal, "" where there is nothing."""
    return render.remedy(said, language())


class Screen:
    """Where the checks of one command appear. `as_json`: nothing does before the end."""

    def __init__(self, as_json: bool) -> None:
        self.as_json = as_json
        self.checks: list[Check] = []
        self._labels: dict[str, Said] = {}

    @property
    def bad(self) -> bool:
        """Whether something must be mended before jobs are sent there."""
        return any(check.bad for check in self.checks)

    def show(self, checks: "Iterable[Check]", labels: Mapping[str, Said] | None = None) -> None:
        """Take these in, and print a line for each. `labels`: what they are called."""
        from trainmaster.cli.showing.console import finding

        self._labels.update(labels or {})
        for check in checks:
            self.checks.append(check)
            if self.as_json:
                continue
            label = in_terminal_language(self._labels[check.name]) + (f" ({check.where})" if check.where else "")
            mark = "ok" if check.ok else "bad" if check.needed else "warning"
            finding(mark, label, in_terminal_language(check.said), "" if check.ok else remedy(check.said), width=WIDTH)

    def wait(self, where: str, why: Said) -> None:
        """Say what the probe job in a partition waits for, on standard error."""
        print(f"        ... {where}: {in_terminal_language(why)}", file=sys.stderr, flush=True)

    def examine(self, examination: "Examination") -> None:
        """Make all checks. Interrupted or ended, it first takes back what it has put into the cluster's queue."""

        async def look() -> None:
            task = asyncio.current_task()
            assert task is not None
            asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
            async for check in examination.run():
                self.show([check], examination.labels)

        try:
            asyncio.run(look())
        except asyncio.CancelledError:
            sys.exit(128 + signal.SIGTERM)

    def result(self, **more: Any) -> dict[str, Any]:
        """Return everything for programs."""
        return {
            "ok": not self.bad,
            "checks": [
                {
                    "name": check.name,
                    "where": check.where,
                    "ok": check.ok,
                    "needed": check.needed,
                    "text": {"zh": render.text(check.said, "zh"), "en": check.text},
                    "remedy": {"zh": render.remedy(check.said, "zh"), "en": check.remedy},
                }
                for check in self.checks
            ],
            **more,
        }
