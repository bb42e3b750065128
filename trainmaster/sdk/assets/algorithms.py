"""Algorithms: programs with versions, and with what may be set of them. What `Client.algorithms` offers."""

import builtins
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Unpack

from trainmaster import answers
from trainmaster.core.errors import InvalidSpec, problem_of
from trainmaster.messages.assets import algorithms as said
from trainmaster.sdk.assets.listing import AssetFilters, pages
from trainmaster.sdk.assets.models import segment
from trainmaster.sdk.assets.subscriptions import PassingOn
from trainmaster.sdk.documents import load
from trainmaster.sdk.downloads import Received, unpacked

if TYPE_CHECKING:
    from trainmaster.sdk.client import Client, Sent
    from trainmaster.spec.algorithms.origins import Origin

FILE: Final = "algorithm.yaml"
"""What the document in a folder is called."""


@dataclass(frozen=True, slots=True)
class GivenAlgorithm:
    """What somebody holds: a document, what it is called in there, and the folder of this machine with its code (None:
    it has none, or that is uploaded, or it is a commit, `origin`).
    """

    document: dict[str, object]
    name: str
    folder: str | None
    origin: "Origin | None" = None


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
    if isinstance(code, Mapping) and "git" in code:
        from trainmaster.spec.algorithms.origins import read_origin  # noqa: PLC0415

        origin = read_origin(code, "code")
        return GivenAlgorithm(document, name if isinstance(name, str) else "", None, origin)
    given = code.get("path") if isinstance(code, Mapping) else code
    folder = os.path.normpath(os.path.join(base, os.path.expanduser(given))) if isinstance(given, str) else None
    return GivenAlgorithm(document, name if isinstance(name, str) else "", folder)


@contextmanager
def given_algorithm(source: Any, commit: str | None, folder: str | None) -> Iterator[GivenAlgorithm]:
    """Give what `source` says, and its code for as long as this lasts: what `upload` takes, which see. Raises
    InvalidSpec, Unavailable.
    """
    from trainmaster.sdk.assets.repository import fetched  # noqa: PLC0415
    from trainmaster.spec.algorithms.origins import read_origin  # noqa: PLC0415

    if commit is None and folder is None:
        given = read_algorithm_file(source)
        if not given.name and isinstance(source, str | os.PathLike):
            path = Path(source)
            given = replace(given, name=(path if path.is_dir() else path.absolute().parent).resolve().name)
        if given.origin is None:
            yield given
            return
        with fetched(given.origin) as files:
            yield replace(given, folder=str(files))
        return
    origin = read_origin({"git": str(source), "commit": commit or "", "folder": folder}, "")
    with fetched(origin) as files:
        if not (files / FILE).is_file():
            found = problem_of("folder", said.no_algorithm_file_in_commit(), folder or ".")
            raise InvalidSpec(said.origin_not_valid(), problems=(found,))
        given = read_algorithm_file(files)
        name = given.name or (folder or origin.git).rstrip("/").replace(":", "/").rpartition("/")[2].removesuffix(
            ".git"
        )
        if given.folder is not None:
            given = replace(given, origin=_within(origin, files, given.folder))
        yield replace(given, name=name)


def _within(origin: "Origin", files: Path, code: str) -> "Origin":
    """Return from where the folder `code` of fetched `files` is. Raises InvalidSpec where it lies elsewhere."""
    try:
        below = Path(os.path.realpath(code)).relative_to(os.path.realpath(files))
    except ValueError:
        found = problem_of("code", said.code_outside_repository())
        raise InvalidSpec(said.origin_not_valid(), problems=(found,)) from None
    parts = [part for part in (origin.folder or "", below.as_posix()) if part not in ("", ".")]
    return origin.model_copy(update={"folder": "/".join(parts) or None})


class AlgorithmCalls(PassingOn[answers.AlgorithmDetail]):
    """See the module. `ref` is an id, a unique beginning of one, or a name. Every method raises Forbidden for who may
    not, NotFound for what is not there or not shared, InvalidSpec with all problems, Conflict, Unavailable.
    """

    _kind = "algorithm"
    _shows = answers.AlgorithmDetail

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
        commit: str | None = None,
        folder: str | None = None,
        on_upload: "Sent | None" = None,
    ) -> answers.AlgorithmDetail:
        """Make the next version of an algorithm, which is created if there is none: of a file, of the algorithm.yaml in
        a folder, or of a mapping; with `commit`, of that in the git repository at the address `source`, in its `folder`
        (None: at its top), which the git of this computer fetches. Its code is uploaded first: the folder that `code`
        names, or the commit, else the one that the file lies in. `name`: None: as the document says, else as the
        folder or the repository is called. Where the last version says the same, that is the answer.
        """
        with given_algorithm(source, commit, folder) as given:
            return self._upload(given, name or given.name, workspace, description, share, on_upload)

    def _upload(
        self,
        given: GivenAlgorithm,
        name: str,
        workspace: str | None,
        description: str,
        share: str,
        on_upload: "Sent | None",
    ) -> answers.AlgorithmDetail:
        from trainmaster.spec.algorithms.checking import read_algorithm  # noqa: PLC0415

        document = given.document
        if given.origin is not None:
            document = {**document, "origin": given.origin.model_dump()}
        if given.folder is not None:
            read_algorithm({**document, "code": {"path": given.folder}})  # before anything is sent
            document = {**document, "code": {"upload": self._client.upload(given.folder, on_upload)}}
        body: dict[str, object] = {
            "name": name,
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
