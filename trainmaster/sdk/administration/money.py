"""Money: reports of use, balances, credits and budgets: what `Client.money` offers. Synchronous.

Amounts are decimal texts, exact: "12.50". Every method raises Forbidden for who may not, NotFound, InvalidSpec with all
problems, Unavailable.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING
from uuid import uuid4

from trainmaster import answers
from trainmaster.sdk.administration.cluster import word

if TYPE_CHECKING:
    from trainmaster.sdk.transport import Transport


class MoneyCalls:
    """See the module."""

    def __init__(self, http: "Transport") -> None:
        self._http = http

    def report(self, month: str = "", *, workspace: str = "", owner: str = "") -> answers.UsageReport:
        """Return what was used in a month (YYYY-MM, "" this one) and what it cost: of what may be seen."""
        params = {"month": month, "workspace": workspace, "owner": owner}
        return self._http.read(answers.UsageReport, "GET", "/reports/usage", params=params)

    def report_csv(self, month: str = "", *, workspace: str = "", owner: str = "") -> str:
        """Return the lines of `report` as CSV."""
        params = {"month": month, "workspace": workspace, "owner": owner}
        return self._http.request("GET", "/reports/usage.csv", params=params).text

    def balances(self) -> list[answers.BalanceView]:
        """Return how the workspaces stand that one is in."""
        return self._http.read(answers.BalancesView, "GET", "/balances").items

    def balance(self, workspace: str) -> answers.BalanceView:
        """Return how a workspace stands."""
        return self._http.read(answers.BalanceView, "GET", f"/workspaces/{word(workspace)}/balance")

    def set_budget(
        self,
        workspace: str,
        *,
        credit_limit: str | None = None,
        budget: str | None = None,
        alarms: Sequence[int] = (80, 100),
    ) -> answers.BalanceView:
        """Set how far a workspace may go below 0 (None: however far) and its budget of a month (None: none)."""
        body = {"credit_limit": credit_limit, "budget": budget, "alarms": [*alarms]}
        path = f"/workspaces/{word(workspace)}/budget"
        return self._http.read(answers.BalanceView, "PUT", path, json=body, repeat=True)

    def credit(self, workspace: str, amount: str, note: str = "", key: str = "") -> answers.EntryView:
        """Enter a credit. The same `key` again enters nothing; without one each call enters one."""
        return self._enter(workspace, "credit", amount, note, key)

    def correct(self, workspace: str, amount: str, note: str, key: str = "") -> answers.EntryView:
        """Enter a correction, which may be less than 0 and says why. `key`: as in `credit`."""
        return self._enter(workspace, "correction", amount, note, key)

    def _enter(self, workspace: str, kind: str, amount: str, note: str, key: str) -> answers.EntryView:
        body = {"kind": kind, "amount": amount, "note": note, "key": key or uuid4().hex}
        path = f"/workspaces/{word(workspace)}/entries"
        return self._http.read(answers.EntryView, "POST", path, json=body, repeat=True)

    def entries(self, workspace: str) -> Iterator[answers.EntryView]:
        """Yield what changed the balance of a workspace, newest first."""
        cursor: str | None = ""
        while cursor is not None:
            params: dict[str, object] = {"cursor": cursor} if cursor else {}
            page = self._http.read(answers.EntryPage, "GET", f"/workspaces/{word(workspace)}/entries", params=params)
            yield from page.items
            cursor = page.next_cursor
