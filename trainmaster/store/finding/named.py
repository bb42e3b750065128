"""What a job's document names that lists are cut to: its algorithm, its flavors, and where its results go (R199). Kept
as one text in the job's row, made to be searched: \\x1e kind \\x1f value \\x1e kind \\x1f value \\x1e. Pure.

An algorithm is ``NAME@VERSION``. An output is a place of object storage, ``CONNECTION/PREFIX``, or the name of the
model that the outputs become. Invariant: the text never changes, so what it says is what was submitted.
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import Final

import msgspec
from sqlalchemy import ColumnElement, exists, func, or_

from trainmaster.store.tables import asset, asset_favorite, job

ALGORITHM: Final = "algorithm"
FLAVOR: Final = "flavor"
OUTPUT: Final = "output"
DEEP: Final = 16
"""Folders of a place one in another that the index tells apart; the row tells the rest."""
_NEXT: Final = "\x1e"
_IS: Final = "\x1f"
_FOREIGN: Final = {ord(_NEXT): "\x1d", ord(_IS): "\x1d"}  # what is named holds none of the three characters


class _NamedRole(msgspec.Struct):
    flavors: list[str] = []


class _NamedPlace(msgspec.Struct):
    s3: str = ""


class _NamedModel(msgspec.Struct, frozen=True):
    save: bool = True
    name: str | None = None


class _NamingDocument(msgspec.Struct):
    algorithm: str | None = None
    roles: list[_NamedRole] = []
    outputs: list[_NamedPlace] = []
    model: _NamedModel = _NamedModel()


_decode: Final = msgspec.json.Decoder(_NamingDocument).decode


def written(id_: str, name: str, document: str | None) -> str:
    """Return the text of a job with this id and name; the empty one of a document that cannot be read."""
    found = _naming(document) if document else None
    pairs = {} if found is None else dict.fromkeys(_pairs(found, id_, name))
    return "".join(f"{_NEXT}{kind}{_IS}{value}" for kind, value in pairs) + _NEXT if pairs else ""


@lru_cache(maxsize=256)  # of what is submitted again, or by the thousand
def _naming(document: str) -> _NamingDocument | None:
    try:
        return _decode(document)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None  # whoever reads the document itself says what is the matter with it


def _pairs(document: _NamingDocument, id_: str, name: str) -> Iterator[tuple[str, str]]:
    if document.algorithm:
        yield ALGORITHM, _clean(document.algorithm)
    for role in document.roles:
        yield from ((FLAVOR, _clean(one)) for one in role.flavors)
    for output in document.outputs:
        place = output.s3.replace("{id}", id_).replace("{name}", name)
        yield OUTPUT, _clean(place.rstrip("/"))
    if document.model.save:
        yield OUTPUT, _clean(document.model.name or name)


def _clean(text: str) -> str:
    return text.translate(_FOREIGN)


def read(text: str) -> list[tuple[str, str]]:
    """Return the pairs (kind, value) that `text` was written of."""
    pairs = (pair.partition(_IS) for pair in text.split(_NEXT)[1:-1])
    return [(kind, value) for kind, _, value in pairs]


def values(text: str, kind: str) -> set[str]:
    """Return what a list can be cut to of this kind; of an algorithm its name, without the version."""
    found = {value for of, value in read(text) if of == kind}
    return {value.rpartition("@")[0] or value for value in found} if kind == ALGORITHM else found


def has(text: str, kind: str, wanted: str) -> bool:
    """Return whether a job with this text is one of those that `having` finds."""
    wanted = wanted.lower()
    return any(one == wanted for of, value in read(text) if of == kind for one in said_as(kind, value.lower()))


def having(kind: str, wanted: str) -> ColumnElement[bool]:
    """Return whether a job names this: an algorithm with or without a version, a flavor, a place of object storage or a
    folder above it, a model. Upper and lower case are the same.
    """
    begins = f"{_NEXT}{kind}{_IS}{_clean(wanted).rstrip('/')}"
    more = {ALGORITHM: "@", OUTPUT: "/"}.get(kind)
    ends = [_NEXT] if more is None else [_NEXT, more]
    return or_(*(job.c.named.icontains(begins + end, autoescape=True) for end in ends))


def of_favorites(user: str) -> ColumnElement[bool]:
    """Return whether a job names one of the algorithms that `user` marked for themselves."""
    needle = f"{_NEXT}{ALGORITHM}{_IS}" + asset.c.name + "@"
    mine = (asset_favorite.c.user == user, asset_favorite.c.asset == asset.c.id, asset.c.kind == ALGORITHM)
    here = (asset.c.workspace == job.c.workspace, func.replace(job.c.named, needle, "") != job.c.named)
    return exists().where(*mine, *here).correlate(job)


def said_as(kind: str, value: str) -> list[str]:
    """Return everything that is asked for and means `value`, but for what lies deeper than DEEP folders."""
    if kind == ALGORITHM:
        return [value, value.rpartition("@")[0] or value]
    if kind == OUTPUT:
        parts = value.split("/")
        return ["/".join(parts[:at]) for at in range(1, min(len(parts), DEEP) + 1)]
    return [value]


def indexed(kind: str, wanted: str) -> str:
    """Return what the index is asked for instead of `wanted`: it tells DEEP folders apart."""
    wanted = _clean(wanted).rstrip("/")
    return "/".join(wanted.split("/")[:DEEP]) if kind == OUTPUT else wanted
