"""A walk along the manual of another platform: what it presses, under the manual's names for it.

Every button that a walk names has to be pressed in it, by the words that people see here: a button that goes, or is
called something else, ends the walk.
"""

import re
from collections.abc import Mapping
from types import TracebackType

from playwright.sync_api import Locator

from tests.e2e.console import Console

ROLES = ("button", "link", "menuitem", "tab", "checkbox", "switch")


class Walk:
    """`buttons`: what the manual calls a button, and what it is called here. Nothing is left unpressed at the end."""

    def __init__(self, console: Console, buttons: Mapping[str, str]) -> None:
        self.console, self._buttons = console, buttons
        self._pressed: set[str] = set()

    def press(self, manual: str, within: Locator | None = None) -> None:
        """Click the button that the manual calls so, whatever kind of control it is here. There has to be one of it, or
        one `within`.
        """
        scope: Locator = within or self.console.page.locator("body")
        # An icon may stand before the words, and what it is for behind them; "…": whatever comes then.
        said = self._buttons[manual]
        rest = ".*" if said.endswith("…") else "(：.*)?"
        words = re.compile(rf"(^|\s){re.escape(said.removesuffix('…'))}{rest}$")
        found = scope.locator("label.ant-segmented-item", has_text=words)
        for role in ROLES:
            found = found.or_(scope.get_by_role(role, name=words))  # type: ignore[arg-type]
        found.locator("visible=true").click()
        self._pressed.add(manual)

    @property
    def dialog(self) -> Locator:
        """The dialog that is open."""
        return self.console.page.locator(".ant-modal:visible, .ant-drawer:visible").last

    @property
    def menu(self) -> Locator:
        """The menu that is open."""
        return self.console.page.locator(".ant-dropdown:visible").last

    @property
    def navigation(self) -> Locator:
        """The pages of the console."""
        return self.console.page.locator(".tm-sider")

    @property
    def tabs(self) -> Locator:
        """The parts of the page."""
        return self.main.get_by_role("tablist").first

    @property
    def main(self) -> Locator:
        """The page, without what is around it."""
        return self.console.page.get_by_role("main")

    def __enter__(self) -> "Walk":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            assert self._pressed == {*self._buttons}, f"not pressed: {', '.join({*self._buttons} - self._pressed)}"
