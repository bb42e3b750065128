"""Which algorithms submissions mean: looked for among what the submitter may see, and settled to a version (R24, R48).

All of a batch that name one mean the same version.
"""

import asyncio
import logging
from collections.abc import Iterable, Mapping
from typing import Final

from trainmaster.access.decide import decide
from trainmaster.access.roles import Principal
from trainmaster.core.cluster import DEFAULT
from trainmaster.service.folders.versions import InputVersions
from trainmaster.service.submitting.algorithms import KnownAlgorithms, SettledAlgorithm, is_reference
from trainmaster.spec.algorithms.algorithm import AlgorithmSpec
from trainmaster.spec.document import Given
from trainmaster.store.assets.algorithms import document_in
from trainmaster.store.assets.versions import AssetKind

log: Final = logging.getLogger("trainmaster.algorithms")


async def algorithms_named(versions: InputVersions, bodies: Iterable[Given], who: Principal) -> KnownAlgorithms:
    """Return what the names in submit bodies mean to `who`."""
    named = {name for body in bodies if (name := _named(body)) is not None}
    if not named:
        return {}
    visible = decide(who, "algorithms:read").visible

    def look() -> dict[tuple[str, str], SettledAlgorithm]:
        found = {}
        for workspace, reference in named:
            version = versions.called(visible, AssetKind.ALGORITHM, workspace, reference)
            if version is None:
                continue
            settled = f"{version.name}@{version.number}"
            try:
                algorithm = AlgorithmSpec.model_validate(document_in(version))
            except ValueError:  # of pydantic
                log.error("algorithm %s cannot be read", settled)
                continue
            found[workspace, reference] = SettledAlgorithm(settled, algorithm)
        return found

    return await asyncio.to_thread(look)


def _named(body: Given) -> tuple[str, str] | None:
    """Return (workspace, name) of the algorithm that a submit body names, wherever it does."""
    spec, changes = body.get("spec"), body.get("set")
    given = {**spec} if isinstance(spec, Mapping) else {}
    given |= {**changes} if isinstance(changes, Mapping) else {}
    reference, workspace = given.get("algorithm"), given.get("workspace", DEFAULT)
    if not isinstance(reference, str) or not isinstance(workspace, str) or not is_reference(reference):
        return None
    return workspace, reference
