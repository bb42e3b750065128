"""Images: environments that are built once, and that jobs have by name. What `Client.images` offers."""

import builtins
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, Unpack
from urllib.parse import quote

from trainmaster import answers
from trainmaster.sdk.assets.listing import AssetFilters, pages
from trainmaster.sdk.assets.subscriptions import PassingOn

if TYPE_CHECKING:
    from trainmaster.sdk.client import Client, Sent

ENDS: Final = ("ready", "failed", "stopped")
LOOK_S: Final = 0.5
"""Between two looks at a build."""


class ImageCalls(PassingOn[answers.ImageDetail]):
    """See the module. `ref` is an id, a unique beginning of one, or a name. Every method raises Forbidden for who may
    not, NotFound for what is not there or not shared, InvalidSpec with all problems, Conflict, Unavailable.
    """

    _kind = "image"
    _shows = answers.ImageDetail

    def __init__(self, client: "Client") -> None:
        self._http, self._upload = client.http, client.upload

    def list(
        self, q: str = "", *, limit: int | None = 50, **filters: Unpack[AssetFilters]
    ) -> builtins.list[answers.ImageView]:
        """Return images, what was changed last first; `limit` None: all. `q`: words in name, description, owner, id."""
        return [*self.iterate(q, limit=limit, **filters)]

    def iterate(
        self, q: str = "", *, limit: int | None = None, **filters: Unpack[AssetFilters]
    ) -> Iterator[answers.ImageView]:
        """Yield images page by page, like `list`."""

        def read(asked: dict[str, object]) -> answers.ImagePage:
            return self._http.read(answers.ImagePage, "GET", "/images", params=asked)

        return pages(read, {"q": q, **filters}, limit)

    def get(self, ref: str, version: int | None = None) -> answers.ImageDetail:
        """Return an image with the packages of its last version, or of an older one."""
        params = {} if version is None else {"version": version}
        return self._http.read(answers.ImageDetail, "GET", self._at(ref), params=params)

    def create(  # noqa: PLR0913 - what an image may be made of
        self,
        name: str,
        *,
        requirements: str | Path | None = None,
        project: str | Path | None = None,
        container: str = "",
        secret: str = "",
        base: str = "",
        code: str | Path | None = None,
        python: str = "",
        workspace: str = "default",
        description: str = "",
        frameworks: Sequence[str] = (),
        cards: Sequence[str] = (),
        share: str = "none",
        on_upload: "Sent | None" = None,
    ) -> answers.ImageBuild:
        """Begin to make an image, or a version of one; return its build, for `wait`. `requirements`: a file, or with
        several lines its text; `project`: a folder with `pyproject.toml`, and `uv.lock` if there is one; `container`: a
        container image, `secret` of the workspace with USER:PASSWORD of its registry; `base`: an image of the platform.
        `code`: a folder, or what was uploaded (``sha256:...``), that jobs with the image run. Raises OSError.
        """
        body: dict[str, object] = {"name": name, "workspace": workspace, "description": description, "share": share}
        body |= {"python": python, "frameworks": [*frameworks], "cards": [*cards]}
        if container:
            body |= {"container": container, "secret": secret}
        if base:
            body["base"] = base
        if code is not None:
            sent = isinstance(code, str) and code.startswith("sha256:")
            body["code"] = code if sent else self._upload(code, on_upload)
        if requirements is not None:
            text = isinstance(requirements, str) and "\n" in requirements
            body["requirements"] = requirements if text else Path(requirements).read_text(encoding="utf-8")
        if project is not None:
            body["pyproject"] = Path(project, "pyproject.toml").read_text(encoding="utf-8")
            lock = Path(project, "uv.lock")
            if lock.exists():
                body["uv_lock"] = lock.read_text(encoding="utf-8")
        return self._http.read(answers.ImageBuild, "POST", "/images", json=body)

    def builds(self) -> builtins.list[answers.ImageBuild]:
        """Return builds that go on or have ended, newest first, without their logs."""
        return self._http.read(answers.ImageBuilds, "GET", "/image-builds").items

    def build(self, id: str) -> answers.ImageBuild:
        """Return a build, with the end of its log."""
        return self._http.read(answers.ImageBuild, "GET", self._build_at(id))

    def wait(
        self,
        id: str,
        *,
        timeout: float | None = None,
        told: Callable[[answers.ImageBuild], None] = lambda build: None,
    ) -> answers.ImageBuild:
        """Return a build once it has ended; `told` gets it as it is, again and again. Raises TimeoutError."""
        until = None if timeout is None else time.monotonic() + timeout
        while True:
            found = self.build(id)
            told(found)
            if found.state in ENDS:
                return found
            if until is not None and time.monotonic() > until:
                raise TimeoutError(f"build {id} is {found.state}")
            time.sleep(LOOK_S)

    def stop(self, id: str) -> answers.ImageBuild:
        """Stop a build."""
        return self._http.read(answers.ImageBuild, "DELETE", self._build_at(id))

    def describe(self, ref: str, description: str) -> answers.ImageDetail:
        """Say what an image is for."""
        body = {"description": description}
        return self._http.read(answers.ImageDetail, "PATCH", self._at(ref), json=body, repeat=True)

    def share(self, ref: str, share: str) -> answers.ImageDetail:
        """Share an image with the other members of its workspace, or no more."""
        return self._http.read(answers.ImageDetail, "PUT", self._at(ref, "/share"), json={"share": share}, repeat=True)

    def favor(self, ref: str, wanted: bool = True) -> answers.ImageDetail:
        """Make an image one of one's own favorites, or no more."""
        return self._http.read(answers.ImageDetail, "PUT" if wanted else "DELETE", self._at(ref, "/favorite"))

    def delete(self, ref: str, version: int | None = None) -> None:
        """Delete a version of an image, or with None all of it; Conflict while jobs that have not ended have it."""
        self._http.request("DELETE", self._at(ref, "" if version is None else f"/versions/{version}"), repeat=False)

    @staticmethod
    def _at(ref: str, after: str = "") -> str:
        return f"/images/{quote(ref, safe='') or '%20'}{after}"

    @staticmethod
    def _build_at(id: str) -> str:
        return f"/image-builds/{quote(id, safe='') or '%20'}"
