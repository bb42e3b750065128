"""How the server's log is written: lines for people, or one JSON object a line for programs (`server.log_format`).

Only what is logged, on standard error. What is printed for whoever starts the server stays on standard output.
"""

import json
import logging
import sys
from datetime import UTC, datetime
from typing import Any, Final

TEXT: Final = "%(asctime)s %(levelname)s %(name)s: %(message)s"
_ACCESS: Final = ("client", "method", "path", "http", "status")
"""What uvicorn's line of a request is made of."""


class JsonLines(logging.Formatter):
    """One object a line: `at` (RFC 3339, UTC), `level`, `logger`, `message`; `error` with the traceback where there is
    one; of a request also `client`, `method`, `path`, `status`.
    """

    def format(self, record: logging.LogRecord) -> str:
        """Return the line. Never raises for what was logged."""
        try:
            message = record.getMessage()
        except Exception as error:  # whoever logs with wrong arguments must not lose the line
            message = f"{record.msg} ({error})"
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        said: dict[str, Any] = {
            "at": at,
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": message,
        }
        if record.name == "uvicorn.access" and isinstance(record.args, tuple) and len(record.args) == len(_ACCESS):
            said |= {name: value for name, value in zip(_ACCESS, record.args, strict=True) if name != "http"}
        if record.exc_info:
            said["error"] = self.formatException(record.exc_info)
        return json.dumps(said, ensure_ascii=False, default=str)


def begin(level: str, form: str = "text") -> None:
    """Log to standard error from `level` on, as "text" or "json"; anew where it was begun another way."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines() if form == "json" else logging.Formatter(TEXT))
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
