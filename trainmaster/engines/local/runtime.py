"""The container runtime of this machine, as nodes tell of it: which it is, or why there is none."""

import time
from typing import Final

from trainmaster.agent.containers.runtime import Runtime, RuntimeFailed, RuntimeVersion
from trainmaster.messages import render
from trainmaster.messages.assets import containers as say
from trainmaster.messages.said import Said

PATIENCE_S: Final = 5.0
"""How long it may think about what it is."""
LOOK_S: Final = 15.0
"""Between two looks."""


class LocalRuntime:
    """Behind the socket at `path`, "" for none. What it is was seen at the last look."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._seen: RuntimeVersion | None = None
        self._why = say.containers_off()
        self._looked_at = float("-inf")

    def look(self) -> None:
        """See whether it answers, if that was not seen just now. Blocking, PATIENCE_S at most."""
        if not self._path or time.monotonic() - self._looked_at < LOOK_S:
            return
        try:
            self._seen = Runtime(self._path, PATIENCE_S).version()
        except RuntimeFailed as error:
            self._seen, self._why = None, say.runtime_silent(self._path, error.text)
        self._looked_at = time.monotonic()

    def why_none(self, sandboxed: bool) -> Said | None:
        """Return why tasks cannot have container images, None when they can. `sandboxed`: whether sandboxes work."""
        if self._path and not sandboxed:
            return say.containers_need_sandbox()
        return None if self._seen is not None else self._why

    def fact(self) -> str:
        """Return what the node's page says."""
        if self._seen is not None:
            return f"{self._seen.name} {self._seen.version}"
        return f"none: {render.text(self._why)}"
