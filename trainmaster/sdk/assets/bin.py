"""What was deleted and can come back: what `Client.bin` offers."""

import builtins
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING
from urllib.parse import quote

from trainmaster import answers

if TYPE_CHECKING:
    from trainmaster.sdk.transport import Transport

_MOST = 500


class BinCalls:
    """See the module. `ref` is an id in the bin, or a name (NAME@VERSION: a version) that is there once. Every method
    raises NotFound for what is not there or not one's to delete, Unavailable.
    """

    def __init__(self, http: "Transport") -> None:
        self._http = http

    def list(
        self, q: str = "", *, mine: bool = False, kind: str = "", workspace: str = "", limit: int | None = 50
    ) -> builtins.list[answers.BinEntryView]:
        """Return what was deleted, last first; `limit` None: all. `q`: words in name, owner or who deleted it; `kind`:
        model, template, image, dataset, algorithm or volume.
        """
        return [*self.iterate(q, mine=mine, kind=kind, workspace=workspace, limit=limit)]

    def iterate(
        self, q: str = "", *, mine: bool = False, kind: str = "", workspace: str = "", limit: int | None = None
    ) -> Iterator[answers.BinEntryView]:
        """Yield what was deleted page by page, like `list`."""
        left, cursor = limit, None
        while left is None or left > 0:
            asked: dict[str, object] = {"q": q, "mine": mine, "kind": kind, "workspace": workspace}
            asked |= {"limit": _MOST if left is None else min(left, _MOST)} | ({"cursor": cursor} if cursor else {})
            page = self._http.read(answers.BinPage, "GET", "/bin", params=asked)
            yield from page.items
            left, cursor = None if left is None else left - len(page.items), page.next_cursor
            if cursor is None:
                return

    def restore(self, ref: str, name: str | None = None) -> answers.RestoredView:
        """Bring back what was deleted, an asset under another `name` where one is given. Raises Conflict where its name
        is taken by now.
        """
        body = {} if name is None else {"name": name}
        path = f"/bin/{quote(ref, safe='') or '%20'}/restore"
        return self._http.read(answers.RestoredView, "POST", path, json=body, repeat=False)

    def remove(self, refs: Sequence[str]) -> answers.OutcomeView:
        """Delete for good; what is refused is said and does not stop the others."""
        done, refused = builtins.list[str](), builtins.list[answers.RefusedView]()
        for at in range(0, len(refs), _MOST):
            body = {"ids": [*refs[at : at + _MOST]]}
            found = self._http.read(answers.OutcomeView, "POST", "/bin/remove", json=body, repeat=False)
            done += found.done
            refused += found.refused
        return answers.OutcomeView(done=done, refused=refused)


class Deleting:
    """A part of `Client`."""

    http: "Transport"

    @property
    def bin(self) -> BinCalls:
        """What was deleted and can come back."""
        return BinCalls(self.http)
