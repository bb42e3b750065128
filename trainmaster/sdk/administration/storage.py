"""Storage connections of workspaces (S3): what `Client.storage` offers. Synchronous.

Every method raises Forbidden for who may not, NotFound, Unavailable.
"""

import builtins
from typing import TYPE_CHECKING

from trainmaster import answers
from trainmaster.sdk.administration.cluster import word

if TYPE_CHECKING:
    from trainmaster.sdk.transport import Transport

CHECK_S = 300.0


class StorageCalls:
    """See the module."""

    def __init__(self, http: "Transport") -> None:
        self._http = http

    def list(self, workspace: str) -> builtins.list[answers.ConnectionView]:
        """Return the storage connections of a workspace by name; their keys are told by nothing."""
        return self._http.read(answers.ConnectionsView, "GET", f"/workspaces/{word(workspace)}/storage").items

    def add(
        self,
        workspace: str,
        name: str,
        *,
        endpoint: str,
        bucket: str,
        key_id: str,
        secret: str,
        region: str = "",
        prefix: str = "",
    ) -> answers.ConnectionView:
        """Keep a storage connection, in place of the one of its name. `prefix`: below which everything lies, "": the
        whole bucket. Raises InvalidSpec with all problems, Conflict where there are too many.
        """
        body = {"endpoint": endpoint, "region": region, "bucket": bucket, "prefix": prefix}
        keys = {"key_id": key_id, "secret": secret}
        return self._http.read(
            answers.ConnectionView, "PUT", self._path(workspace, name), json=body | keys, repeat=True
        )

    def check(self, workspace: str, name: str) -> answers.ConnectionCheck:
        """Look whether a connection works: list, write a probe below its prefix, read and delete it."""
        path = f"{self._path(workspace, name)}/check"
        return self._http.read(answers.ConnectionCheck, "POST", path, timeout=CHECK_S)

    def delete(self, workspace: str, name: str) -> None:
        """Delete a connection; jobs that wait for their start and name it will fail."""
        self._http.request("DELETE", self._path(workspace, name))

    @staticmethod
    def _path(workspace: str, name: str) -> str:
        return f"/workspaces/{word(workspace)}/storage/{word(name)}"
