"""Data sets beyond their workspace: offered to others, and taken in there under a name. A part of `Client.datasets`."""

import builtins
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from trainmaster import answers
from trainmaster.sdk.assets.listing import pages

if TYPE_CHECKING:
    from trainmaster.sdk.transport import Transport

EVERYBODY: Final = "*"
"""Stands for every workspace."""


class PassingOn:
    """See the module. `ref` is an id, a unique beginning of one, or a name. Every method raises Forbidden for who may
    not, NotFound, InvalidSpec with all problems, Conflict, Unavailable.
    """

    _http: "Transport"

    def offer(self, ref: str, workspace: str = EVERYBODY) -> answers.DatasetDetail:
        """Offer a data set to another workspace, by default to every one: it may subscribe to it from then on."""
        return self._http.read(answers.DatasetDetail, "PUT", _offer(ref, workspace), repeat=True)

    def withdraw(self, ref: str, workspace: str = EVERYBODY) -> answers.DatasetDetail:
        """Take an offer back; who subscribed by it sees nothing of the data set any more."""
        return self._http.read(answers.DatasetDetail, "DELETE", _offer(ref, workspace), repeat=True)

    def published(
        self, workspace: str, q: str = "", *, limit: int | None = None
    ) -> builtins.list[answers.PublishedView]:
        """Return what other workspaces offer to this one, what was changed last first; `limit` None: all. `q`: words in
        name, description, owner, workspace, id.
        """
        return [*self._published(workspace, q, limit)]

    def _published(self, workspace: str, q: str, limit: int | None) -> Iterator[answers.PublishedView]:
        def read(asked: dict[str, object]) -> answers.PublishedPage:
            return self._http.read(answers.PublishedPage, "GET", _inside(workspace, "/published"), params=asked)

        return pages(read, {"q": q}, limit)

    def subscriptions(self, workspace: str) -> builtins.list[answers.SubscriptionView]:
        """Return what a workspace subscribes to, by name."""
        return self._http.read(answers.SubscriptionsView, "GET", _inside(workspace, "/subscriptions")).items

    def subscribe(self, asset: str, workspace: str, name: str) -> answers.SubscriptionView:
        """Take the data set with the id `asset` in under a name, by which jobs of the workspace give it from then
        on.
        """
        return self._http.read(
            answers.SubscriptionView, "PUT", _taken(workspace, name), json={"asset": asset}, repeat=True
        )

    def unsubscribe(self, workspace: str, name: str) -> None:
        """End a subscription."""
        self._http.request("DELETE", _taken(workspace, name))


def _offer(ref: str, workspace: str) -> str:
    return f"/datasets/{quote(ref, safe='') or '%20'}/offers/{quote(workspace, safe='') or '%20'}"


def _inside(workspace: str, after: str) -> str:
    return f"/workspaces/{quote(workspace, safe='') or '%20'}{after}"


def _taken(workspace: str, name: str) -> str:
    return _inside(workspace, f"/subscriptions/dataset/{quote(name, safe='') or '%20'}")
