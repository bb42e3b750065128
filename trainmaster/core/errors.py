"""The error tree. Every error a person can see has a code, a cause in the user's words, a remedy, and a place.

    TrainmasterError
      InvalidSpec      422  the request is malformed; carries *all* problems found
      Unsatisfiable    422  well formed, but can never run here
      NotFound         404
      Conflict         409  the state does not allow it (yet), or another body under the same idempotency key
      Unauthenticated  401
      Forbidden        403
      TooLarge         413
      RateLimited      429
      StorageFailed    507  nothing was accepted; try again when the cause is mended
      Unavailable      503  a part of the platform (engine, agent) does not answer

The HTTP status lives here so that API, SDK and CLI share one table.
"""

from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong: where, which rule, what to do. `path` is a dotted field path such as ``roles.0.name``."""

    path: str
    rule: str
    remedy: str
    code: str = "invalid"
    value: Any = None
    args: dict[str, Any] | None = None  # what the texts of `code` were filled with, so that they can be shown in zh too

    def to_json(self) -> dict[str, Any]:
        """Return the JSON object shown to users."""
        return {k: v for k, v in asdict(self).items() if v is not None}


class TrainmasterError(Exception):
    """Something the platform refuses or cannot do, in words for the person who asked."""

    status: ClassVar[int] = 500
    code: ClassVar[str] = "internal"

    def __init__(self, message: str, *, remedy: str = "", problems: tuple[Problem, ...] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy
        self.problems = problems

    def __str__(self) -> str:
        """Return the message and a line for each problem: what a program that knows nothing of us prints."""
        lines = [f"  {p.path}: {p.rule}. {p.remedy}" if p.path else f"  {p.rule}. {p.remedy}" for p in self.problems]
        return "\n".join([self.message, *(line.rstrip(". ") for line in lines)])

    def to_json(self) -> dict[str, Any]:
        """Return the RFC 9457 problem document (``application/problem+json``)."""
        return {
            "type": f"urn:trainmaster:{self.code}",
            "title": self.message,
            "status": self.status,
            "code": self.code,
            "remedy": self.remedy,
            "problems": [p.to_json() for p in self.problems],
        }


class InvalidSpec(TrainmasterError):
    """The request is malformed; every problem found is listed."""

    status = 422
    code = "invalid_spec"


class Unsatisfiable(TrainmasterError):
    """The request is well formed but can never run on this platform; the remedy names the nearest shape that fits."""

    status = 422
    code = "unsatisfiable"


class NotFound(TrainmasterError):
    """There is no such thing, or you may not know of it."""

    status = 404
    code = "not_found"


class Conflict(TrainmasterError):
    """The state of the thing does not allow this."""

    status = 409
    code = "conflict"


class Unauthenticated(TrainmasterError):
    """Nobody is signed in, or the credential is wrong or expired."""

    status = 401
    code = "unauthenticated"


class Forbidden(TrainmasterError):
    """You are known, but may not do this."""

    status = 403
    code = "forbidden"


class TooLarge(TrainmasterError):
    """The request is larger than the limit named."""

    status = 413
    code = "too_large"


class RateLimited(TrainmasterError):
    """Too many tries; wait as long as the message says."""

    status = 429
    code = "rate_limited"


class StorageFailed(TrainmasterError):
    """The change could not be made durable, so it was not made at all."""

    status = 507
    code = "storage_failed"


class Unavailable(TrainmasterError):
    """A part of the platform does not answer right now."""

    status = 503
    code = "unavailable"


@dataclass(slots=True)
class ProblemList:
    """Collects problems while checking, so that all are reported at once."""

    problems: list[Problem] = field(default_factory=list)

    def add(self, path: str, rule: str, remedy: str, *, code: str = "invalid", value: Any = None) -> None:
        """Note one problem at the dotted field `path`."""
        self.problems.append(Problem(path, rule, remedy, code, value))

    def raise_if_any(self, message: str = "The job is not valid") -> None:
        """Raise InvalidSpec with everything noted, or return when nothing was."""
        if self.problems:
            count = len(self.problems)
            text = f"{message}: {count} problem{'s' if count > 1 else ''}"
            raise InvalidSpec(text, remedy="Mend the fields listed and submit again.", problems=tuple(self.problems))
