"""What workspaces pass on to each other: offered to others, and taken in there under a name. A part of
`Client.datasets`, `Client.algorithms`, `Client.images` and `Client.templates`.
"""

import builtins
from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar, Final, Generic, TypeVar
from urllib.parse import quote

from trainmaster import answers
from trainmaster.sdk.assets.listing import pages

if TYPE_CHECKING:
    from trainmaster.sdk.transport import Transport

EVERYBODY: Final = "*"
"""Stands for every workspace."""
Detail = TypeVar("Detail", answers.DatasetDetail, answers.AlgorithmDetail, answers.ImageDetail, answers.TemplateDetail)


class PassingOn(Generic[Detail]):
    """See the module. `ref` is an id, a unique beginning of one, or a name. Every method raises Forbidden for who may
    not, NotFound, InvalidSpec with all problems, Conflict, Unavailable.
    """

    _http: "Transport"
    _kind: ClassVar[str]
    _shows: type[Detail]

    def offer(self, ref: str, workspace: str = EVERYBODY) -> Detail:
        """Offer something to another workspace, by default to every one: it may subscribe to it from then on."""
        return self._http.read(self._shows, "PUT", self._offered(ref, workspace), repeat=True)

    def withdraw(self, ref: str, workspace: str = EVERYBODY) -> Detail:
        """Take an offer back; who subscribed by it sees nothing of it any more."""
        return self._http.read(self._shows, "DELETE", self._offered(ref, workspace), repeat=True)

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

        return pages(read, {"kind": self._kind, "q": q}, limit)

    def subscriptions(self, workspace: str) -> builtins.list[answers.SubscriptionView]:
        """Return what a workspace subscribes to, by name."""
        asked, path = {"kind": self._kind}, _inside(workspace, "/subscriptions")
        return self._http.read(answers.SubscriptionsView, "GET", path, params=asked).items

    def subscribe(self, asset: str, workspace: str, name: str) -> answers.SubscriptionView:
        """Take what has the id `asset` in under a name, by which jobs of the workspace use it from then on."""
        return self._http.read(
            answers.SubscriptionView, "PUT", self._taken(workspace, name), json={"asset": asset}, repeat=True
        )

    def unsubscribe(self, workspace: str, name: str) -> None:
        """End a subscription."""
        self._http.request("DELETE", self._taken(workspace, name))

    def _offered(self, ref: str, workspace: str) -> str:
        return f"/{self._kind}s/{quote(ref, safe='') or '%20'}/offers/{quote(workspace, safe='') or '%20'}"

    def _taken(self, workspace: str, name: str) -> str:
        return _inside(workspace, f"/subscriptions/{self._kind}/{quote(name, safe='') or '%20'}")


def _inside(workspace: str, after: str) -> str:
    return f"/workspaces/{quote(workspace, safe='') or '%20'}{after}"
