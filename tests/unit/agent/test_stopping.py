"""What an agent says while it does not know yet whether the platform is being stopped (B2)."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from trainmaster.agent.host.cgroups import Cgroups
from trainmaster.agent.supervising.stopping import Stopping
from trainmaster.agent.supervising.supervisor import Supervisor
from trainmaster.core.folders.layout import Layout


def test_an_end_is_told_later_and_a_note_about_an_attempt_at_once(tmp_path: Path) -> None:
    """A note says nothing of an end: a task near its limit is warned all the same."""
    told: list[dict[str, Any]] = []
    timers: list[Callable[[], None]] = []

    def later(seconds: float, call: Callable[[], None]) -> None:
        timers.append(call)

    layout = Layout(str(tmp_path))
    supervisor = Supervisor(layout, Cgroups(layout.home), told.append, later, lambda pid, call: False)
    stopping = Stopping(str(tmp_path / "stopped"), 1, supervisor, later, told.append)
    stopping.asked_to_end()
    note = {
        "event": "note",
        "attempt": "j.1",
        "code": "over_memory",
        "said": {"code": "task_near_memory", "args": {"who": "w-0"}},
    }
    runs = {"event": "task", "attempt": "j.1", "role": 0, "index": 1, "kind": "running"}
    ends = {"event": "task", "attempt": "j.1", "role": 0, "index": 0, "kind": "exited", "verdict": None}
    for event in (note, runs, ends):
        stopping.tell(event)
    assert told == [note, runs]
