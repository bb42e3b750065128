"""What something was made of, and what was made of it: a part of `Client`."""

from typing import TYPE_CHECKING

from trainmaster import answers

if TYPE_CHECKING:
    from trainmaster.sdk.transport import Transport


class Tracing:
    """A part of `Client`."""

    http: "Transport"

    def lineage(self, kind: str, ref: str, *, depth: int | None = None) -> answers.LineageView:
        """Return the lineage of a job (id or short name), or of a version (``NAME@VERSION``; without one, the latest)
        of a dataset, model, algorithm, image or volume: what it was made of, and what was made of it. `depth`: steps
        each way, 1 to 12. Raises NotFound, Conflict where several are meant.
        """
        asked: dict[str, object] = {"kind": kind, "ref": ref} | ({} if depth is None else {"depth": depth})
        return self.http.read(answers.LineageView, "GET", "/lineage", params=asked)
