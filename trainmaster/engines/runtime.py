"""The container runtime of the server's machine, which brings the files of images: which it is, or why there is none.

Nobody waits for it: it is looked at again in a thread of its own. One that is slow is there.
"""

import threading
import time
from typing import Final

from trainmaster.agent.containers.runtime import Runtime, RuntimeFailed, RuntimeVersion
from trainmaster.messages import render
from trainmaster.messages.assets import containers as say
from trainmaster.messages.said import Said

PATIENCE_S: Final = 30.0
"""How long it may think about what it is."""
FIRST_S: Final = 5.0
"""How long a start waits for the first look."""
LOOK_S: Final = 15.0
"""Between two looks."""


class ContainerRuntime:
    """Behind the socket at `path`, "" for none. What it is was seen at the last look."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._seen: RuntimeVersion | None = None
        self._why = say.containers_off() if not path else say.runtime_silent(path, "-")
        self._looked_at = float("-inf")
        self._looking: threading.Thread | None = None

    def look(self) -> None:
        """See whether it answers, behind what goes on, if that was not seen just now."""
        if not self._path or time.monotonic() - self._looked_at < LOOK_S:
            return
        if self._looking is None or not self._looking.is_alive():
            self._looking = threading.Thread(target=self._look, name="runtime", daemon=True)
            self._looking.start()

    def look_first(self) -> None:
        """Look, and wait for it a little. Blocking."""
        self.look()
        if self._looking is not None:
            self._looking.join(FIRST_S)

    def _look(self) -> None:
        try:
            self._seen = Runtime(self._path, PATIENCE_S).version()
        except RuntimeFailed as error:
            if not error.slow or self._seen is None:
                self._seen, self._why = None, say.runtime_silent(self._path, error.text)
        self._looked_at = time.monotonic()

    def why_none(self, unsandboxed: Said | None = None) -> Said | None:
        """Return why tasks cannot have container images, None when they can. `unsandboxed`: why sandboxes, which show
        their files, do not work, None where they do.
        """
        if self._path and unsandboxed is not None:
            return unsandboxed
        return None if self._seen is not None else self._why

    def fact(self, why_none: Said | None = None) -> str:
        """Return what a node's page says. `why_none`: why its tasks can have none although the runtime is there."""
        if self._seen is not None and why_none is None:
            return f"{self._seen.name} {self._seen.version}"
        return f"none: {render.text(why_none or self._why)}"
