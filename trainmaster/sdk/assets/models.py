"""Models that jobs have saved: what a client offers of them itself."""

import builtins
import os
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from trainmaster import answers
from trainmaster.sdk.assets.listing import pages
from trainmaster.sdk.downloads import Received, unpacked

if TYPE_CHECKING:
    from trainmaster.sdk.transport import Transport


class SavedModels:
    """See the module. A part of `Client`."""

    http: "Transport"

    def models(self, q: str = "", *, mine: bool = False, favorite: bool = False) -> builtins.list[answers.ModelView]:
        """Return saved models, what was changed last first. `q`: words in name, owner or id; `mine`: one's own;
        `favorite`: what one marked for oneself.
        """

        def read(asked: dict[str, object]) -> answers.ModelPage:
            return self.http.read(answers.ModelPage, "GET", "/models", params=asked)

        given = {"mine": mine, "favorite": favorite}
        return [*pages(read, {"q": q, **{name: True for name, wanted in given.items() if wanted}}, None)]

    def model(self, ref: str) -> answers.ModelDetail:
        """Return a model with its versions, by id or name. Raises NotFound."""
        return self.http.read(answers.ModelDetail, "GET", f"/models/{segment(ref)}")

    def favor_model(self, ref: str, wanted: bool = True) -> answers.ModelDetail:
        """Make a model one of one's own favorites, or no more. Raises NotFound."""
        verb = "PUT" if wanted else "DELETE"
        return self.http.read(answers.ModelDetail, verb, f"/models/{segment(ref)}/favorite")

    def delete_model(self, ref: str, version: int | None = None) -> None:
        """Delete a version of a model, or with None all of it. Raises NotFound, Conflict while a job that has not ended
        needs it.
        """
        path = f"/models/{segment(ref)}" + ("" if version is None else f"/versions/{version}")
        self.http.request("DELETE", path, repeat=False)

    def download_model(
        self,
        ref: str,
        version: int | None = None,
        to: str | os.PathLike[str] = ".",
        *,
        on_bytes: Received | None = None,
    ) -> builtins.list[Path]:
        """Download a model's version (default: the newest) into `to`; return its files. Raises NotFound, Conflict."""
        number = version if version is not None else max(one.version for one in self.model(ref).versions)
        path = f"/models/{segment(ref)}/versions/{number}/download"
        return unpacked(self.http.download(path), Path(to), on_bytes)


def segment(text: str) -> str:
    """Return `text` as one segment of an address: what a person types must not reach another route."""
    return quote(text, safe="") or "%20"
