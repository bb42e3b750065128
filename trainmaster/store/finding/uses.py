"""What a job's stored document names of what people keep: its algorithm, its image, its inputs, and the places of
object storage that it reads and writes. Pure: the one place that says what counts as used, for the index and lineage.

Only numbered versions count, and volumes, which have none: a document that was stored has the number of each version
that it means. Invariant: what cannot be read uses nothing.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

import msgspec

UsedKind = Literal["dataset", "model", "volume", "algorithm", "image"]
UseHow = Literal["input", "written", "algorithm", "image"]
"""As what a job has it; `written`: as an input that it may write, too."""


@dataclass(frozen=True, slots=True)
class UsedThing:
    """One thing that a job uses. `number`: its version, None for a volume."""

    kind: UsedKind
    name: str
    number: int | None
    how: UseHow = "input"

    @property
    def reference(self) -> str:
        """How the document names it."""
        return self.name if self.number is None else f"{self.name}@{self.number}"

    @property
    def written(self) -> str:
        """Return what stands in the text of every document that has it."""
        return f'"{self.kind}":"{self.reference}"'


@dataclass(frozen=True, slots=True)
class JobUses:
    """All that a job uses, in the order of its document, nothing twice; `reads` and `writes`: places of object
    storage.
    """

    things: tuple[UsedThing, ...] = ()
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()


class _NamedInput(msgspec.Struct):
    dataset: str | None = None
    model: str | None = None
    volume: str | None = None
    s3: str | None = None
    read_only: bool = True


class _NamedOutput(msgspec.Struct):
    s3: str = ""


class _Naming(msgspec.Struct):
    algorithm: str | None = None
    image: str = ""
    inputs: list[_NamedInput] = []
    outputs: list[_NamedOutput] = []


_decode: Final = msgspec.json.Decoder(_Naming).decode
_NOTHING: Final = JobUses()


def uses_of(document: str | None) -> JobUses:
    """Return what a stored document names. O(its length)."""
    try:
        found = _decode(document or "{}")
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return _NOTHING  # whoever reads the document itself says what is the matter with it
    reads = (one.s3 for one in found.inputs if one.s3)
    writes = (one.s3 for one in found.outputs if one.s3)
    return JobUses(_once(_things(found)), tuple(dict.fromkeys(reads)), tuple(dict.fromkeys(writes)))


def _things(document: _Naming) -> Iterator[UsedThing]:
    if document.algorithm and (found := _numbered("algorithm", document.algorithm, "algorithm")):
        yield found
    if found := _numbered("image", document.image, "image"):
        yield found
    for one in document.inputs:
        if one.dataset and (found := _numbered("dataset", one.dataset, "input")):
            yield found
        if one.model and (found := _numbered("model", one.model, "input")):
            yield found
        if one.volume:
            yield UsedThing("volume", one.volume, None, "input" if one.read_only else "written")


def _numbered(kind: UsedKind, reference: str, how: UseHow) -> UsedThing | None:
    """Return what ``NAME@VERSION`` names; None for a name alone, and for a container image."""
    name, _, number = reference.rpartition("@")
    if not name or not number.isascii() or not number.isdecimal() or len(number) > 9 or "/" in name or ":" in name:
        return None
    return UsedThing(kind, name, int(number), how)


def _once(found: Iterator[UsedThing]) -> tuple[UsedThing, ...]:
    by_name: dict[tuple[str, str], UsedThing] = {}
    for one in found:
        if one.how == "written" or (one.kind, one.reference) not in by_name:
            by_name[one.kind, one.reference] = one
    return tuple(by_name.values())
