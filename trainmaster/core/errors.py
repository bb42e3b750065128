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

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, field
from typing import Any, ClassVar

from trainmaster._compat import dataclass
from trainmaster.messages import render
from trainmaster.messages.said import WORDS, Said, said_from_json, verbatim


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong: where, which rule, what to do. `path` is a dotted field path such as
    ``roles.0.name``.
    """

    path: str
    rule: str
    remedy: str
    code: str = "invalid"
    value: Any = None
    args: dict[str, Any] | None = None  # what the texts of `code` are made of, in any language

    @property
    def said(self) -> Said:
        """What is wrong, as a code with its arguments; a problem without `args` has only its words."""
        return verbatim(self.rule) if self.args is None else said_from_json({"code": self.code, "args": self.args})

    def to_json(self) -> dict[str, Any]:
        """Return the JSON object shown to users."""
        return {k: v for k, v in asdict(self).items() if v is not None}


def problem_of(path: str, said: Said, value: Any = None) -> Problem:
    """Return the problem `said` at the field `path`, which holds `value`."""
    plain = said.to_json()
    return Problem(path, render.text(said), render.remedy(said), said.code, value, plain["args"])


class TrainmasterError(Exception):
    """Something the platform refuses or cannot do. `said`: what, as data; `kind`: the class of refusal, a word that
    never changes.

    A `said` that is a text, with its remedy beside it, is the words of somebody else, of a program for example. `told`:
    title and remedy in the words of the server that refused, where another did.
    """

    status: int = 500
    kind: ClassVar[str] = "internal"

    def __init__(
        self,
        said: Said | str,
        *,
        remedy: str = "",
        problems: tuple[Problem, ...] = (),
        told: tuple[str, str] | None = None,
    ) -> None:
        self.said = verbatim(said) if isinstance(said, str) else said
        self.problems, self.told = problems, told
        self._remedy = remedy
        super().__init__(self.message)

    @property
    def code(self) -> str:
        """What a program may compare: the code of `said`; the kind where `said` is only somebody else's words."""
        return self.kind if self.said.code == WORDS else self.said.code

    @property
    def message(self) -> str:
        """What was said, in English."""
        return render.text(self.said) if self.told is None else self.told[0]

    @property
    def remedy(self) -> str:
        """What to do about it, in English."""
        return self._remedy or render.remedy(self.said) if self.told is None else self.told[1]

    def __str__(self) -> str:
        """Return the message and a line for each problem: an uncaught error in a user's script is printed so."""
        lines = [f"  {p.path}: {p.rule}. {p.remedy}" if p.path else f"  {p.rule}. {p.remedy}" for p in self.problems]
        return "\n".join([self.message, *(line.rstrip(". ") for line in lines)])


def problem_from(path: str, error: TrainmasterError) -> Problem:
    """Return the refusal `error` as a problem at the field `path`."""
    if error.said.code == WORDS:
        return Problem(path, error.message, error.remedy, error.code)
    return problem_of(path, error.said)


class InvalidSpec(TrainmasterError):
    """The request is malformed; every problem found is listed."""

    status = 422
    kind = "invalid_spec"


class Unsatisfiable(TrainmasterError):
    """The request is well formed but can never run on this platform; the remedy names the nearest shape that fits."""

    status = 422
    kind = "unsatisfiable"


class NotFound(TrainmasterError):
    """There is no such thing, or you may not know of it."""

    status = 404
    kind = "not_found"


class Conflict(TrainmasterError):
    """The state of the thing does not allow this."""

    status = 409
    kind = "conflict"


class Unauthenticated(TrainmasterError):
    """Nobody is signed in, or the credential is wrong or expired."""

    status = 401
    kind = "unauthenticated"


class Forbidden(TrainmasterError):
    """You are known, but may not do this."""

    status = 403
    kind = "forbidden"


class TooLarge(TrainmasterError):
    """The request is larger than the limit named."""

    status = 413
    kind = "too_large"


class RateLimited(TrainmasterError):
    """Too many tries; wait as long as the message says."""

    status = 429
    kind = "rate_limited"


class StorageFailed(TrainmasterError):
    """The change could not be made durable, so it was not made at all."""

    status = 507
    kind = "storage_failed"


class Unavailable(TrainmasterError):
    """A part of the platform does not answer right now."""

    status = 503
    kind = "unavailable"


@dataclass(slots=True)
class ProblemList:
    """Collects problems while checking, so that all are reported at once."""

    problems: list[Problem] = field(default_factory=list)

    def add(self, path: str, said: Said, value: Any = None) -> None:
        """Note the problem `said` at the dotted field `path`, which holds `value`."""
        self.problems.append(problem_of(path, said, value))

    def raise_if_any(self, title: Callable[[int], Said]) -> None:
        """Raise InvalidSpec with everything noted, or return when nothing was. `title`: says it of so many problems."""
        if self.problems:
            raise InvalidSpec(title(len(self.problems)), problems=tuple(self.problems))
