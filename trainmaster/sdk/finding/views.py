"""Saved views: a list of jobs, with its filters and its order, under a name. What `Client.views` offers.

The server keeps of a view what the console's address holds after the question mark. Here it is read and written, so
that console, command line and programs share them.
"""

import builtins
import re
import time
from collections.abc import Mapping
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, Final, Literal, TypedDict, Unpack, cast
from urllib.parse import parse_qsl, quote, urlencode

from trainmaster import answers
from trainmaster.core.errors import NotFound
from trainmaster.core.formats.units import NotRead, parse_duration_s
from trainmaster.messages.jobs import marks
from trainmaster.sdk.finding.filters import JobsAsked

if TYPE_CHECKING:
    from trainmaster.sdk.transport import Transport

_WORDS: Final = (
    "q",
    "owner",
    "workspace",
    "pool",
    "framework",
    "node",
    "tag",
    "order",
    "algorithm",
    "flavor",
    "output",
)
_DAY: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


class ViewAsked(TypedDict, total=False):
    """What a view holds: the filters of a list, but one `tag`, and `since` as ``7d`` or a day, `until` as a day, which
    is included. `columns`: those of the console, in order.
    """

    q: str
    state: str | list[str]
    who: Literal["mine", "all"]
    owner: str
    workspace: str
    pool: str
    framework: str
    node: str
    tag: str
    favorite: bool
    algorithm: str
    favorite_algorithm: bool
    flavor: str
    output: str
    since: str
    until: str
    order: str
    columns: list[str]


class ViewCalls:
    """See the module. Every method raises Forbidden for who may not, InvalidSpec with all problems, Unavailable."""

    def __init__(self, http: "Transport") -> None:
        self._http = http

    def list(self) -> builtins.list[answers.SavedViewView]:
        """Return your views, then those that are shared with your workspaces."""
        return self._http.read(answers.SavedViews, "GET", "/views").items

    def find(self, name: str) -> answers.SavedViewView:
        """Return the view of this name: yours, else the first that is shared with you. Raises NotFound."""
        for one in self.list():  # yours come first
            if one.name == name:
                return one
        raise NotFound(marks.no_such_view(repr(name[:200])))

    def asked(self, name: str) -> JobsAsked:
        """Return what a view asks for: ``client.iterate(**client.views.asked("failures"))``. Raises NotFound."""
        return asked_of(self.find(name).query)

    def save(self, name: str, *, share_with: str | None = None, **asked: Unpack[ViewAsked]) -> answers.SavedViewView:
        """Save a view, instead of yours of this name. `share_with`: the workspace whose members are to see it."""
        return self.put(name, query_of(asked), share_with)

    def put(self, name: str, query: str, share_with: str | None = None) -> answers.SavedViewView:
        """Save the part of a console's address behind the question mark as a view."""
        body = {"query": query, "workspace": share_with}
        return self._http.read(answers.SavedViewView, "PUT", f"/views/{quote(name, safe='')}", json=body, repeat=True)

    def delete(self, name: str) -> None:
        """Delete a view of yours. Raises NotFound."""
        self._http.request("DELETE", f"/views/{quote(name, safe='')}")


def query_of(asked: ViewAsked) -> str:
    """Return what the server keeps of a view."""
    held: dict[str, str] = {}
    for name, value in cast("Mapping[str, object]", asked).items():
        if value in (None, "", [], False):
            continue
        held[name] = "true" if value is True else ",".join(value) if isinstance(value, (list, tuple)) else str(value)
    return urlencode(held)


def asked_of(query: str, now: float | None = None) -> JobsAsked:
    """Return what a view asks of the list of jobs; days are those of this machine's time zone. What is no part of a
    view is passed over, as the console does.
    """
    held = dict(parse_qsl(query))
    found: dict[str, object] = {name: held[name] for name in _WORDS if held.get(name)}
    if held.get("state"):
        found["state"] = held["state"].split(",")
    found |= {name: True for name in ("favorite", "favorite_algorithm") if held.get(name) == "true"}
    if held.get("who") == "mine":
        found["mine"] = True
        found.pop("owner", None)
    times = {
        "since": _since(held.get("since", ""), time.time() if now is None else now),
        "until": _day(held.get("until", ""), 1),
    }
    return cast("JobsAsked", {**found, **{name: at for name, at in times.items() if at is not None}})


def _since(text: str, now: float) -> float | None:
    if _DAY.fullmatch(text):
        return _day(text)
    try:
        return max(0.0, now - parse_duration_s(text))
    except NotRead:
        return None


def _day(text: str, later: int = 0) -> float | None:
    """Return the beginning of a day here, `later` days after it; None for what is no day."""
    try:
        day = date.fromisoformat(text) + timedelta(days=later)
    except (ValueError, OverflowError):
        return None
    return datetime(day.year, day.month, day.day).timestamp()  # noqa: DTZ001 - the zone of whoever asks
