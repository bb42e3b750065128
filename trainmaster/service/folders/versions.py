"""Where the data sets, models and volumes lie that jobs have as inputs (R47, R52, R138, R143, R145).

Asked three times: when a job is submitted, of what its owner may see, and then the version is settled; when it is about
to start; and when its gang is built, from memory. Invariant: what is remembered of a version is looked at anew before
every start, so one that went is never mounted, nor a volume that is being renamed or deleted.
"""

import os
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Final, NamedTuple

from trainmaster.access.clamping import UsedShare
from trainmaster.access.visible import Visible
from trainmaster.core.folders.layout import Layout
from trainmaster.core.states import JobShare
from trainmaster.messages.assets.volumes import volume_gone
from trainmaster.messages.jobs import starting
from trainmaster.messages.said import Said
from trainmaster.spec.inputs import split_reference
from trainmaster.spec.job import Input, JobSpec
from trainmaster.storage.volumes.changing import make
from trainmaster.store.assets.named import NamedVersions
from trainmaster.store.assets.versions import AssetKind, AssetReader, AssetVersion
from trainmaster.store.finding.uses import UsedThing

KEPT: Final = 4096
_WROTE: Final = ("model", "outputs")
"""Where in a model's version what its job left in /model lies, and what it left in its outputs."""

SCOPES: Final = ("datasets:read", "models:read", "volumes:read", "volumes:write")
Scopes = Mapping[str, Visible]
"""What somebody may see of data sets, models and volumes, and to which of these they may write: by the SCOPES."""

_Key = tuple[AssetKind, str, str]


class _Files(NamedTuple):
    """Where the files of a version or volume lie, and what names their content; "" where it may change."""

    path: str
    content: str


def kind_of_input(item: Input) -> AssetKind:
    """Return which kind of asset an input is that is one."""
    if item.volume is not None:
        return AssetKind.VOLUME
    return AssetKind.DATASET if item.dataset is not None else AssetKind.MODEL


def scope_of_input(item: Input) -> str:
    """Return which of the SCOPES somebody needs for what an input names."""
    if item.volume is not None:
        return "volumes:read" if item.read_only else "volumes:write"
    return "datasets:read" if item.dataset is not None else "models:read"


class InputVersions:
    """One object per server. `find`, `resolve`, `shares` and `gone` block: call them from a worker thread."""

    def __init__(self, assets: AssetReader, own: NamedVersions, layout: Layout) -> None:
        self._assets, self._own, self._layout = assets, own, layout
        self._known: OrderedDict[_Key, _Files] = OrderedDict()
        self._changing: set[tuple[str, str]] = set()  # volumes, by workspace and name

    @contextmanager
    def changing(self, workspace: str, volume: str) -> Iterator[bool]:
        """Keep a volume from being mounted by whoever is not live yet; give whether nobody else does. In the loop's
        thread: whoever asks which jobs are live within this knows all that will ever mount it.
        """
        key = (workspace, volume)
        if key in self._changing:
            yield False
            return
        self._changing.add(key)
        try:
            yield True
        finally:
            self._changing.discard(key)
            self._known.pop((AssetKind.VOLUME, workspace, volume), None)

    def find(self, scopes: Scopes, workspace: str, item: Input) -> AssetVersion | None:
        """Return the version that an input of a job in `workspace` names, the latest where it names none; None where
        there is none that `scopes` covers.
        """
        kind, (name, number) = kind_of_input(item), split_reference(item.asset)
        found = self._assets.named(scopes[scope_of_input(item)], kind, workspace, name, number)
        if found is not None:
            self._remember(kind, workspace, found)
        return found

    def resolve(self, scopes: Scopes, spec: JobSpec) -> JobSpec:
        """Return `spec` with the number of each version, where there is one that `scopes` covers."""
        inputs = []
        for item in spec.inputs:
            found = self.find(scopes, spec.workspace, item) if item.asset else None
            if found is not None and item.versioned:
                key = "dataset" if item.dataset is not None else "model"
                item = item.model_copy(update={key: f"{found.name}@{found.number}"})  # noqa: PLW2901
            inputs.append(item)
        return spec if tuple(inputs) == spec.inputs else spec.model_copy(update={"inputs": tuple(inputs)})

    def called(self, visible: Visible, kind: AssetKind, workspace: str, reference: str) -> AssetVersion | None:
        """Return the version that ``NAME`` (the latest) or ``NAME@VERSION`` means in `workspace`; None where there is
        none that `visible` covers.
        """
        return self._assets.named(visible, kind, workspace, *split_reference(reference))

    def shares(self, workspace: str, used: Iterable[UsedThing]) -> list[UsedShare]:
        """Return how what a job of `workspace` uses is shared there; what is gone, and models, which nobody can share,
        are left out. Blocks: one read.
        """
        things = dict.fromkeys((AssetKind(one.kind), one.name) for one in used if one.kind != "model")
        found = self._own.shares(workspace, things) if things else {}
        return [
            UsedShare(kind.value, name, JobShare(found[kind, name])) for kind, name in things if (kind, name) in found
        ]

    def path(self, workspace: str, item: Input) -> str | None:
        """Return where the files of a numbered version lie, from memory; None where nobody asked for it of late."""
        found = self._known.get((kind_of_input(item), workspace, item.asset))
        return None if found is None else found.path

    def content(self, workspace: str, item: Input) -> str:
        """Return what names the content of a numbered version, of whose `path` it is; "" where that may change."""
        found = self._known.get((kind_of_input(item), workspace, item.asset))
        return "" if found is None else found.content

    def known(self, spec: JobSpec) -> bool:
        """Return whether all inputs of `spec` that are versions are in memory."""
        return all(self.path(spec.workspace, item) is not None for item in spec.inputs if item.asset)

    def gone(self, workspace: str, item: Input) -> Said | None:
        """Return why a version cannot be given to a job that names it, None where it can."""
        kind, (name, number) = kind_of_input(item), split_reference(item.asset)
        found = self._own.find(kind, workspace, name, 1 if item.volume is not None else number or 0)
        if found is not None and (kind is not AssetKind.VOLUME or (workspace, name) not in self._changing):
            place = self._remember(kind, workspace, found)
            if kind is AssetKind.VOLUME:
                make(os.path.dirname(place))  # nothing was uploaded yet
            if os.path.isdir(place):
                return None
        self._known.pop((kind, workspace, item.asset), None)
        if kind is AssetKind.VOLUME:
            return volume_gone()
        return starting.dataset_gone() if item.dataset is not None else starting.model_gone()

    def _place(self, kind: AssetKind, version: AssetVersion) -> str:
        """Return which folder tasks see. Of a model what its job left in /model; its outputs where that is nothing."""
        files = self._layout.version_files(version.path)
        if kind is not AssetKind.MODEL:
            return files
        parts = [os.path.join(files, name) for name in _WROTE]
        return next((part for part in parts if _holds_anything(part)), files)

    def _remember(self, kind: AssetKind, workspace: str, version: AssetVersion) -> str:
        """Remember where a version lies, and return it."""
        name = version.name if kind is AssetKind.VOLUME else f"{version.name}@{version.number}"
        key, path = (kind, workspace, name), self._place(kind, version)
        self._known[key] = _Files(path, "" if kind is AssetKind.VOLUME else f"{kind.value}-{version.digest}")
        self._known.move_to_end(key)
        while len(self._known) > KEPT:
            self._known.popitem(last=False)
        return path


def _holds_anything(path: str) -> bool:
    try:
        with os.scandir(path) as entries:
            return next(entries, None) is not None
    except OSError:
        return False
