"""Models that jobs have saved: what a client offers of them itself."""

import builtins
import os
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from trainmaster import answers
from trainmaster.sdk.downloads import Received, unpacked

if TYPE_CHECKING:
    from trainmaster.sdk.transport import Transport


class SavedModels:
    """See the module. A part of `Client`."""

    http: "Transport"

    def models(self, q: str = "") -> builtins.list[answers.ModelView]:
        """Return saved models."""
        return self.http.read(answers.ModelPage, "GET", "/models", params={"q": q}).items

    def model(self, ref: str) -> answers.ModelDetail:
        """Return a model with its versions, by id or name. Raises NotFound."""
        return self.http.read(answers.ModelDetail, "GET", f"/models/{segment(ref)}")

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
