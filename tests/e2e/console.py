"""The console as a test uses it: pages, fields, rows, by what a person sees and does; and a watch over the browser.

Waits are for things to appear, never for time to pass.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from playwright.sync_api import BrowserContext, ConsoleMessage, Download, Locator, Page, TimeoutError, expect

_REPORT_VIOLATIONS = """
addEventListener("securitypolicyviolation", (e) => console.error(`CSP: ${e.violatedDirective} ${e.blockedURI}`));
"""


class Watch:
    """What must not happen in a browser: errors in its log, content against the policy, requests to other origins."""

    def __init__(self, context: BrowserContext, origin: str) -> None:
        self.seen: list[str] = []
        self.expected: list[str] = []
        context.add_init_script(_REPORT_VIOLATIONS)
        context.on("console", self._said)
        context.on("weberror", lambda e: self.seen.append(f"exception: {e.error}"))
        context.on("request", lambda r: self._request(r.url, origin))

    def _said(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.seen.append(f"{message.type}: {message.text} ({message.location['url']})")

    def _request(self, url: str, origin: str) -> None:
        if not url.startswith((f"{origin}/", "data:", "blob:")):
            self.seen.append(f"request to another origin: {url}")

    def expect(self, *parts: str) -> None:
        """The test is about to cause this on purpose."""
        self.expected.extend(parts)

    def check(self) -> None:
        """Nothing but what was expected was seen."""
        left = [text for text in self.seen if not any(part in text for part in self.expected)]
        assert not left, "\n".join(left)


class Console:
    """One page in one browser."""

    def __init__(self, page: Page, watch: Watch) -> None:
        self.page = page
        self.watch = watch

    # -- anywhere ----------------------------------------------------------------------------------------------

    def at(self, test_id: str) -> Locator:
        """The element that the console marks with this name for tests."""
        return self.page.get_by_test_id(test_id)

    def open(self, path: str = "/jobs") -> None:
        """Load an address and wait until the page is live."""
        self.page.goto(path)
        expect(self.at("feed")).to_have_attribute("data-status", "live")

    def turn_to(self, path: str) -> None:
        """Go to a page as a link in the console does: loading the console anew is most of what a page costs. The way
        leads over a page with nothing on it, so that nothing of the page before is taken for this one.
        """
        self._push("/no/such/page")
        expect(self.at("missing")).to_be_visible()
        self._push(path)

    def _push(self, path: str) -> None:
        self.page.evaluate(
            "path => { history.pushState(null, '', path); dispatchEvent(new PopStateEvent('popstate')) }", path
        )

    def too_wide(self) -> int:
        """By how many pixels the page is wider than its window: it may take a moment to draw itself anew for the width
        that the window has got.
        """
        over = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        with suppress(TimeoutError):
            self.page.wait_for_function(f"{over} <= 0", timeout=3000)
        return int(self.page.evaluate(over))

    def press(self, test_id: str) -> None:
        """Click."""
        self.at(test_id).first.click()

    def choose(self, box: str | Locator, label: str) -> None:
        """Choose an option of a drop-down list. `box`: its test id, or itself."""
        (self.at(box).first if isinstance(box, str) else box).click()
        option = self.page.locator(".ant-select-dropdown:visible .ant-select-item-option", has_text=label).first
        # Not by the mouse: a list that moves to another place meanwhile, as on a busy machine, takes no click.
        option.evaluate("option => option.click()")

    @contextmanager
    def downloading(self, path: Path) -> Iterator[None]:
        """What is downloaded meanwhile comes to `path`."""
        with self.page.expect_download() as waiting:
            yield
        download: Download = waiting.value
        download.save_as(path)

    # -- the form ----------------------------------------------------------------------------------------------

    def field(self, path: str) -> Locator:
        """The input of a place in the job's document."""
        return self.page.locator(f'[data-path="{path}"]').locator("input, textarea").first

    def fill(self, path: str, text: str) -> None:
        """Type into a field and leave it."""
        self.field(path).fill(text)
        self.field(path).blur()

    def pair(self, path: str, row: int, key: str, value: str) -> None:
        """Fill a row of name and value, added if it is not there yet."""
        box = self.at(f"kv-{path}")
        if box.get_by_test_id(f"kv-key-{row}").count() == 0:
            box.get_by_test_id("kv-add").click()
        box.get_by_test_id(f"kv-key-{row}").fill(key)
        box.get_by_test_id(f"kv-value-{row}").fill(value)

    def command_of(self, role: str) -> Locator:
        """What the preview says will run."""
        return self.at(f"preview-{role}").get_by_test_id("command-preview")

    def problem_at(self, path: str) -> Locator:
        """The problem shown at a field."""
        return self.page.locator(f'[data-path="{path}"]').get_by_test_id("field-problem")

    def document(self) -> dict[str, Any]:
        """The text in the open editor, as an object."""
        import yaml

        read = yaml.safe_load(self.editor_text())
        assert isinstance(read, dict)
        return read

    def editor_text(self) -> str:
        """The text in the open editor."""
        # The editor itself is asked: it draws only the lines that are in sight.
        return str(self.at("json-editor").locator(".cm-content").evaluate("e => e.cmTile.view.state.doc.toString()"))

    def write_editor(self, text: str) -> None:
        """Replace the text in the open editor, as pasting does."""
        content = self.at("json-editor").locator(".cm-content")
        content.click()
        self.page.keyboard.press("Control+a")
        self.page.keyboard.insert_text(text)

    def start(self) -> str:
        """Review, confirm, start; return the job's id."""
        self.press("review")
        expect(self.at("confirm-page")).to_be_visible()
        self.press("start")
        expect(self.at("job-page")).to_be_visible()
        return str(self.at("job-page").get_attribute("data-id"))

    # -- a job -------------------------------------------------------------------------------------------------

    def open_job(self, job: str, tab: str = "overview") -> None:
        """Load the page of a job."""
        self.open(f"/jobs/{job}?tab={tab}")
        expect(self.at("job-page")).to_have_attribute("data-id", job)

    def expect_state(self, *states: str) -> None:
        """The open job comes to one of these states by itself."""
        try:
            self.page.wait_for_function(
                "states => states.includes(document.querySelector('[data-testid=job-page]')?.dataset.state)",
                arg=list(states),
            )
        except TimeoutError as error:
            shown = self.page.get_by_role("main").inner_text()
            raise AssertionError(f"the job did not come to {' or '.join(states)}; its page says:\n{shown}") from error

    def row(self, job: str) -> Locator:
        """A job's row in the list."""
        return self.page.locator(f'[data-testid="job-row"][data-id="{job}"]')

    def points(self, card: str) -> int:
        """How many points a chart has drawn."""
        return int(self.at(card).get_by_test_id("chart").get_attribute("data-points") or 0)

    def pixels(self, card: str) -> str:
        """What a chart's canvas looks like now."""
        return str(self.at(card).locator("canvas").first.evaluate("c => c.toDataURL()"))

    def expect_moving(self, card: str) -> None:
        """A chart gets more points, and its picture changes."""
        chart = self.at(card).get_by_test_id("chart")
        expect(chart).to_be_visible()
        before, picture = self.points(card), self.pixels(card)
        self.page.wait_for_function(
            (
                "([id, n]) => Number(document.querySelector(`[data-testid='${id}'] "
                "[data-testid=chart]`)?.dataset.points) > n"
            ),
            arg=[card, before],
        )
        self.page.wait_for_function(
            "([id, old]) => document.querySelector(`[data-testid='${id}'] canvas`).toDataURL() !== old",
            arg=[card, picture],
        )
