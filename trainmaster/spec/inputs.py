"""Rules of a job's `inputs`: what each of them is, and where its tasks see it. Pure."""

import posixpath
import re
from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from trainmaster.core.errors import Problem
from trainmaster.core.folders.layout import IN_DATASET, IN_PRETRAIN, IN_VOLUME
from trainmaster.core.folders.targets import PLACES, hidden_by, place_at, within
from trainmaster.messages.assets import algorithms, caching
from trainmaster.messages.jobs import form, rules
from trainmaster.spec.problems import problem

if TYPE_CHECKING:
    from trainmaster.spec.job import Input, JobSpec

HAN: Final = "〇㐀-䶿一-鿿豈-﫿𠀀-𯨟"
REFERENCE: Final = f"^[A-Za-z0-9_{HAN}][A-Za-z0-9_.{HAN}-]{{0,127}}(@[1-9][0-9]{{0,8}})?$"
"""A data set or a model: its name, and perhaps which version."""
_REFERENCE: Final = re.compile(REFERENCE)
STORED: Final = r"^[A-Za-z0-9][A-Za-z0-9_-]{0,62}(/[^\x00-\x1f\x7f]*)?$"
"""A place of object storage: a storage connection, and what lies there."""
_STORED: Final = re.compile(STORED)


def split_reference(text: str) -> tuple[str, int | None]:
    """Return (name, version, None: the latest) of what follows REFERENCE."""
    name, at, number = text.partition("@")
    return name, int(number) if at else None


def split_place(text: str) -> tuple[str, str]:
    """Return (storage connection, path there) of what follows STORED."""
    name, _, path = text.partition("/")
    return name, path.strip("/")


def with_mounts(given: Any) -> Any:
    """Return `inputs` as they were written, with the place of each data set, model and volume that names none: the
    only data set is /dataset, each of several /dataset/NAME; a model /pretrain/NAME, a volume /workspace/volume/NAME.
    What comes from object storage is placed as a data set is, by the last part of its path.
    """
    if not isinstance(given, list | tuple):
        return given
    of_data = [item for item in given if isinstance(item, Mapping) and (item.get("dataset") or item.get("s3"))]
    several = len(of_data) > 1
    return [_with_mount(item, several) for item in given]


def _with_mount(item: Any, several: bool) -> Any:
    if not isinstance(item, Mapping) or "mount" in item:
        return item
    places = (("dataset", IN_DATASET, several), ("model", IN_PRETRAIN, True), ("volume", IN_VOLUME, True))
    for key, folder, beneath in places:
        named = item.get(key)
        if isinstance(named, str) and _REFERENCE.fullmatch(named):
            name = split_reference(named)[0]
            return {**item, "mount": f"{folder}/{name}" if beneath else folder}
    stored = item.get("s3")
    if isinstance(stored, str) and _STORED.fullmatch(stored):
        name = posixpath.basename(stored.rstrip("/"))
        return {**item, "mount": f"{IN_DATASET}/{name}" if several else IN_DATASET}
    return item


def absolute(path: str) -> bool:
    """Tell whether a path is whole and plain."""
    return path.startswith("/") and not path.startswith("//") and posixpath.normpath(path) == (path.rstrip("/") or "/")


def inputs_problems(spec: "JobSpec") -> Iterator[Problem]:
    """Yield everything that is wrong with the inputs of a job, apart from whether they exist."""
    placed: list[tuple[str, str]] = []
    names: set[str] = set()
    for index, item in enumerate(spec.inputs):
        path = f"inputs.{index}"
        if item.name in names:
            yield problem(f"{path}.name", form.duplicate_name(str(item.name)))
        names |= {item.name} if item.name is not None else set()
        yield from _source_problems(item, path)
        if item.channel is not None and spec.algorithm is None:
            yield problem(f"{path}.channel", algorithms.channel_without_algorithm(), item.channel)
        if not absolute(item.mount):
            yield problem(f"{path}.mount", rules.mount_not_absolute(), item.mount)
        target = posixpath.normpath(item.mount)
        for other, taken in placed if target != "/" else ():
            if within(target, taken) or within(taken, target):
                yield problem(f"{path}.mount", rules.mount_twice(other), item.mount)
                break
        if target != "/":
            placed.append((item.title, target))
    yield from mount_problems(spec, PLACES)


def _source_problems(item: "Input", path: str) -> Iterator[Problem]:
    """Yield what is wrong with what an input is."""
    given = [key for key in ("path", "dataset", "model", "volume", "s3") if getattr(item, key) is not None]
    if len(given) > 1:
        yield problem(path, rules.several_sources(given))
        return
    if not given:
        yield problem(f"{path}.path", form.required("path"))
    if given in ([], ["path"]) and item.name is None:
        yield problem(f"{path}.name", form.required("name"))
    if item.path is not None and not absolute(item.path):
        yield problem(f"{path}.path", rules.mount_not_absolute(), item.path)
    if item.s3 is not None and any(part in ("", ".", "..") for part in item.s3.rstrip("/").split("/")):
        yield problem(f"{path}.s3", rules.stored_place_not_plain(), item.s3)
    if item.versioned and not item.read_only:
        yield problem(f"{path}.read_only", rules.version_not_writable())
    if item.s3 is not None and not item.read_only:
        yield problem(f"{path}.read_only", rules.stored_place_not_writable())
    if item.cache and not (item.versioned or item.s3 is not None):
        yield problem(f"{path}.cache", caching.input_not_cacheable(), item.cache)


def mount_problems(spec: "JobSpec", places: Collection[str]) -> Iterator[Problem]:
    """Yield the problem of each mount over or within one of `places`, which something else has in the sandbox
    (R138).
    """
    for index, item in enumerate(spec.inputs):
        path, target = f"inputs.{index}.mount", posixpath.normpath(item.mount)
        if not absolute(item.mount):
            continue
        if (place := place_at(target, places)) is not None:
            yield problem(path, rules.mount_reserved(place), item.mount)
        elif (place := hidden_by(target, places)) is not None:
            yield problem(path, rules.mount_hides(target=target, place=place), item.mount)
