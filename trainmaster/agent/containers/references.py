"""How a container image is named: ``registry/path:tag@sha256:digest``, by the grammar of the distribution
specification. Pure.

Invariant: what passes begins with no dash, holds no user name and no password, and says its registry in full.
"""

from __future__ import annotations

import re
from typing import Final

from trainmaster._compat import dataclass

LONGEST: Final = 500
DEFAULT_REGISTRY: Final = "docker.io"
_HOST: Final = (
    r"(?:[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?)(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?)*|\[[0-9a-fA-F:]+\]"
)
_PART: Final = r"[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*"
_REFERENCE: Final = re.compile(
    rf"(?:((?:{_HOST})(?::[0-9]{{1,5}})?)/)?({_PART}(?:/{_PART})*)(?::([A-Za-z0-9_][A-Za-z0-9._-]{{0,127}}))?"
    r"(?:@(sha256:[0-9a-f]{64}))?"
)


@dataclass(frozen=True, slots=True)
class Reference:
    """`name`: with its registry, without tag and digest; `tag` and `digest` may both be "": the tag latest then."""

    name: str
    tag: str = ""
    digest: str = ""

    @property
    def registry(self) -> str:
        """Whom the name is asked of."""
        return self.name.partition("/")[0]

    @property
    def which(self) -> str:
        """What of the name is wanted: its digest, else its tag."""
        return self.digest or self.tag or "latest"

    @property
    def text(self) -> str:
        """The reference in full: what a runtime understands."""
        return f"{self.name}@{self.digest}" if self.digest else f"{self.name}:{self.tag or 'latest'}"

    def pinned(self, digest: str) -> Reference:
        """Return the same by its content."""
        return Reference(self.name, "", digest)


def reference_of(text: str) -> Reference | None:
    """Return what `text` names, None where that is no reference."""
    found = _REFERENCE.fullmatch(text) if len(text) <= LONGEST else None
    if found is None:
        return None
    host, path = found[1] or "", found[2]
    if host and not ("." in host or ":" in host or host == "localhost"):  # a folder of the default registry
        if host != host.lower():
            return None
        host, path = "", f"{host}/{path}"
    if host in ("", "index.docker.io", DEFAULT_REGISTRY):
        host, path = DEFAULT_REGISTRY, path if "/" in path else f"library/{path}"
    return Reference(f"{host}/{path}", found[3] or "", found[4] or "")
