"""Models that jobs have saved: what a client offers of them itself."""

import builtins
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from trainmaster import answers
from trainmaster.sdk.downloads import Received, unpacked

if TYPE_CHECKING:
    from trainmaster.sdk.transport import Transport


class SavedModels:
    """See the module. A part of `Client`."""

    http: "Transport"

    def models(self, q: str = "") -> builtins.list[answers.ModelView]:
        """Return saved models, what was changed last first. `q`: words in name, owner or id."""
        found, cursor = list[answers.ModelView](), None
        while True:
            asked: dict[str, Any] = {"q": q, "limit": 500} | ({"cursor": cursor} if cursor else {})
            page = self.http.read(answers.ModelPage, "GET", "/models", params=asked)
            found += page.items
            cursor = page.next_cursor
            if cursor is None:
                return found

    def model(self, ref: str) -> answers.ModelDetail:
        """Return a model with its versions, by id or name. Raises NotFound."""
        return self.http.read(answers.ModelDetail, "GET", f"/models/{segment(ref)}")

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
