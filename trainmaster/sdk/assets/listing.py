"""What lists of assets have in common, whatever their kind: what narrows them, and how they come page by page."""

from collections.abc import Callable, Iterator, Sequence
from typing import Final, Protocol, TypedDict, TypeVar

MOST: Final = 500
"""So many come in one answer at most."""

Item = TypeVar("Item")
Held_co = TypeVar("Held_co", covariant=True)


class AssetFilters(TypedDict, total=False):
    """What narrows a list: `mine`: one's own; `shared`: what others share with the members of their workspace;
    `favorite`: what one marked for oneself.
    """

    mine: bool
    shared: bool
    favorite: bool
    owner: str
    workspace: str


class Paged(Protocol[Held_co]):
    """A page of an answer."""

    @property
    def items(self) -> Sequence[Held_co]:
        """What is on it."""

    @property
    def next_cursor(self) -> str | None:
        """What asks for the next one, None: it is the last."""


def pages(
    read: Callable[[dict[str, object]], Paged[Item]], asked: dict[str, object], limit: int | None
) -> Iterator[Item]:
    """Yield what `read` finds with `asked`, page by page, `limit` at most."""
    left, cursor = limit, None
    while left is None or left > 0:
        most = MOST if left is None else min(left, MOST)
        page = read({**asked, "limit": most} | ({"cursor": cursor} if cursor else {}))
        yield from page.items
        left, cursor = None if left is None else left - len(page.items), page.next_cursor
        if cursor is None:
            return
