"""The same server with the ledger taken out of a submit: what the HTTP side and the checks alone can do.

Started by the submit benchmark as `python -m bench.validating serve ...` is; every layer before the record is made
stays.
"""

from collections.abc import Mapping
from typing import Any

from trainmaster.access.roles import Principal
from trainmaster.cli import main
from trainmaster.service.platform import Platform
from trainmaster.service.submitting.submit import read_body


async def _only_validate(self: Platform, body: Mapping[str, Any], who: Principal, key: str | None) -> tuple[Any, bool]:
    candidate = read_body(body, self.context.scheduling.hosts)
    return {"name": candidate.spec.name, "digest": candidate.digest}, True


def run() -> None:
    """Run the command line of a server whose submits end after validation."""
    Platform.submit = _only_validate  # type: ignore[method-assign]
    main.run()
