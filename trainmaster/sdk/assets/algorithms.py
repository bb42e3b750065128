"""Algorithms: programs with versions, and with what may be set of them. What `Client.algorithms` offers."""

import builtins
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Unpack

from trainmaster import answers
from trainmaster.sdk.assets.listing import AssetFilters, pages
from trainmaster.sdk.assets.models import segment
from trainmaster.sdk.documents import load
from trainmaster.sdk.downloads import Received, unpacked

if TYPE_CHECKING:
    from trainmaster.sdk.client import Client, Sent

FILE: Final = "algorithm.yaml"
"""What the document in a folder is called."""


@dataclass(frozen=True, slots=True)
class GivenAlgorithm:
    """What somebody holds: a document, what it is called in there, and the folder of this machine with its code (None:
    it has none, or that is uploaded).
    """

    document: dict[str, object]
    name: str
    folder: str | None


def read_algorithm_file(source: Any) -> GivenAlgorithm:
    """Return what the file at a path says, or the algorithm.yaml of a folder, or a mapping. Code that a file does not
    name is the folder that it lies in; `name` is taken out of the document.

    Raises InvalidSpec when it cannot be read.
    """
    path = isinstance(source, str | os.PathLike)
    if path and os.path.isdir(source):
        source = os.path.join(source, FILE)
    document, base = load(source)
    name = document.pop("name", "")
    code = document.get("code", "." if path else None)
    given = code.get("path") if isinstance(code, Mapping) else code
    folder = os.path.normpath(os.path.join(base, os.path.expanduser(given))) if isinstance(given, str) else None
    return GivenAlgorithm(document, name if isinstance(name, str) else "", folder)


class AlgorithmCalls:
    """See the module. `ref` is an id, a unique beginning of one, or a name. Every method raises Forbidden for who may
    not, NotFound for what is not there or not shared, InvalidSpec with all problems, Conflict, Unavailable.
    """

    def __init__(self, client: "Client") -> None:
        self._client, self._http = client, client.http

    def list(
        self, q: str = "", *, limit: int | None = 50, **filters: Unpack[AssetFilters]
    ) -> builtins.list[answers.AlgorithmView]:
        """Return algorithms, what was changed last first; `limit` None: all. `q`: words in name, description, owner,
        id.
        """
        return [*self.iterate(q, limit=limit, **filters)]

    def iterate(
        self, q: str = "", *, limit: int | None = None, **filters: Unpack[AssetFilters]
    ) -> Iterator[answers.AlgorithmView]:
        """Yield algorithms page by page, like `list`."""

        def read(asked: dict[str, object]) -> answers.AlgorithmPage:
            return self._http.read(answers.AlgorithmPage, "GET", "/algorithms", params=asked)

        return pages(read, {"q": q, **filters}, limit)

    def get(self, ref: str, version: int | None = None) -> answers.AlgorithmDetail:
        """Return an algorithm with its versions and its document (`spec`), or with that of an older version."""
        params = {} if version is None else {"version": version}
        return self._http.read(answers.AlgorithmDetail, "GET", self._at(ref), params=params)

    def upload(
        self,
        source: Any,
        name: str | None = None,
        *,
        workspace: str | None = None,
        description: str = "",
        share: str = "none",
        on_upload: "Sent | None" = None,
    ) -> answers.AlgorithmDetail:
        """Make the next version of an algorithm, which is created if there is none: of a file, of the algorithm.yaml in
        a folder, or of a mapping. Its code is uploaded first: the folder that `code` names, else the one that the file
        lies in. `name`: None: as the document says. Where the last version says the same, that is the answer.
        """
        from trainmaster.spec.algorithms.checking import read_algorithm  # noqa: PLC0415

        given = read_algorithm_file(source)
        document = given.document
        if given.folder is not None:
            read_algorithm({**document, "code": {"path": given.folder}})  # before anything is sent
            document = {**document, "code": {"upload": self._client.upload(given.folder, on_upload)}}
        body: dict[str, object] = {
            "name": name or given.name,
            "spec": document,
            "description": description,
            "share": share,
        }
        if workspace is not None:
            body["workspace"] = workspace
        return self._http.read(answers.AlgorithmDetail, "POST", "/algorithms", json=body, repeat=True)

    def describe(self, ref: str, description: str) -> answers.AlgorithmDetail:
        """Say what an algorithm does."""
        return self._http.read(
            answers.AlgorithmDetail, "PATCH", self._at(ref), json={"description": description}, repeat=True
        )

    def share(self, ref: str, share: str) -> answers.AlgorithmDetail:
        """Share an algorithm with the other members of its workspace, or no more."""
        return self._http.read(
            answers.AlgorithmDetail, "PUT", self._at(ref, "/share"), json={"share": share}, repeat=True
        )

    def favor(self, ref: str, wanted: bool = True) -> answers.AlgorithmDetail:
        """Make an algorithm one of one's own favorites, or no more."""
        return self._http.read(answers.AlgorithmDetail, "PUT" if wanted else "DELETE", self._at(ref, "/favorite"))

    def delete(self, ref: str, version: int | None = None) -> None:
        """Delete a version of an algorithm, or with None all of it. Jobs keep the code that they run."""
        self._http.request("DELETE", self._at(ref, "" if version is None else f"/versions/{version}"), repeat=False)

    def download(
        self,
        ref: str,
        version: int | None = None,
        to: str | os.PathLike[str] = ".",
        *,
        on_bytes: Received | None = None,
    ) -> builtins.list[Path]:
        """Download the code of a version (default: the newest) into the folder `to`; return its files. Raises Conflict
        where one is there already.
        """
        number = version if version is not None else self.get(ref).latest or 1
        return unpacked(self._http.download(self._at(ref, f"/versions/{number}/download")), Path(to), on_bytes)

    def _at(self, ref: str, after: str = "") -> str:
        return f"/algorithms/{segment(ref)}{after}"
