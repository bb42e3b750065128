"""Where the data sets and models lie that jobs have as inputs (R47, R138, R143).

Asked three times: when a job is submitted, of what its owner may see, and then the version is settled; when it is about
to start; and when its gang is built, from memory. Invariant: what is remembered of a version is looked at anew before
every start, so one that went is never mounted.
"""

import os
from collections import OrderedDict
from collections.abc import Mapping
from typing import Final

from trainmaster.access.visible import Visible
from trainmaster.core.folders.layout import Layout
from trainmaster.messages.jobs import starting
from trainmaster.messages.said import Said
from trainmaster.spec.inputs import split_reference
from trainmaster.spec.job import Input, JobSpec
from trainmaster.store.assets.versions import AssetKind, AssetReader, AssetVersion, NamedVersions

KEPT: Final = 4096
_WROTE: Final = ("model", "outputs")
"""Where in a model's version what its job left in /model lies, and what it left in its outputs."""

Scopes = Mapping[AssetKind, Visible]
"""What somebody may see of data sets and of models."""

_Key = tuple[AssetKind, str, str]


def kind_of_input(item: Input) -> AssetKind:
    """Return which kind of asset an input is that is one."""
    return AssetKind.DATASET if item.dataset is not None else AssetKind.MODEL


class InputVersions:
    """One object per server. `find`, `resolve` and `gone` block: call them from a worker thread."""

    def __init__(self, assets: AssetReader, own: NamedVersions, layout: Layout) -> None:
        self._assets, self._own, self._layout = assets, own, layout
        self._known: OrderedDict[_Key, str] = OrderedDict()

    def find(self, scopes: Scopes, workspace: str, item: Input) -> AssetVersion | None:
        """Return the version that an input of a job in `workspace` names, the latest where it names none; None where
        there is none that `scopes` covers.
        """
        kind, (name, number) = kind_of_input(item), split_reference(item.asset)
        found = self._assets.named(scopes[kind], kind, workspace, name, number)
        if found is not None:
            self._remember(kind, workspace, found)
        return found

    def resolve(self, scopes: Scopes, spec: JobSpec) -> JobSpec:
        """Return `spec` with the number of each version, where there is one that `scopes` covers."""
        inputs = []
        for item in spec.inputs:
            found = self.find(scopes, spec.workspace, item) if item.asset else None
            if found is not None:
                key = "dataset" if item.dataset is not None else "model"
                item = item.model_copy(update={key: f"{found.name}@{found.number}"})  # noqa: PLW2901
            inputs.append(item)
        return spec if tuple(inputs) == spec.inputs else spec.model_copy(update={"inputs": tuple(inputs)})

    def path(self, workspace: str, item: Input) -> str | None:
        """Return where the files of a numbered version lie, from memory; None where nobody asked for it of late."""
        return self._known.get((kind_of_input(item), workspace, item.asset))

    def known(self, spec: JobSpec) -> bool:
        """Return whether all inputs of `spec` that are versions are in memory."""
        return all(self.path(spec.workspace, item) is not None for item in spec.inputs if item.asset)

    def gone(self, workspace: str, item: Input) -> Said | None:
        """Return why a version cannot be given to a job that names it, None where it can."""
        kind, (name, number) = kind_of_input(item), split_reference(item.asset)
        found = self._own.find(kind, workspace, name, number or 0)
        if found is not None and os.path.isdir(self._remember(kind, workspace, found)):
            return None
        self._known.pop((kind, workspace, item.asset), None)
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
        key, path = (kind, workspace, f"{version.name}@{version.number}"), self._place(kind, version)
        self._known[key] = path
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
