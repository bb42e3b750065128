"""A real browser on a real server: Debian's Chromium, a throwaway home, the built console.

Everything lives as long as one file of tests. A page is watched while it is used: at the end of each test there must be
no error in the browser's log, no violation of the content security policy and no request to anything but the server.
The system asks for no movement: a dialog that still grows while the mouse is pressed is left by the button under it.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Playwright, expect, sync_playwright

from tests.e2e.browser import NoBrowser, chromium, new_password
from tests.e2e.console import Console, Watch
from tests.e2e.world import NotBuilt, World
from tests.fixtures.packages import only_from, wheel

SLOW_MS = 90_000

expect.set_options(timeout=SLOW_MS)

Open = Callable[..., Console]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Browser walks need more than the usual time when the machine is busy."""
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.timeout(480))


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of packages, which is all that images can be made of."""
    folder = tmp_path_factory.mktemp("packages")
    wheel(folder, "tinyone", "1.0", "value = 1\n")
    wheel(folder, "tinyone", "2.0", "value = 2\n")
    wheel(folder, "tinytwo", "1.0", "value = 'two'\n")
    return folder


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory, packages: Path) -> Iterator[World]:
    """A server of its own, started as a user would start it."""
    try:
        made = World(tmp_path_factory.mktemp("e2e") / "home", variables=only_from(packages))
    except NotBuilt as error:
        pytest.fail(str(error), pytrace=False)
    try:
        made.start()
        yield made
    finally:
        made.close()


@pytest.fixture(scope="module")
def playwright() -> Iterator[Playwright]:
    with sync_playwright() as made:
        yield made


@pytest.fixture(scope="module")
def browser(playwright: Playwright) -> Iterator[Browser]:
    """Debian's Chromium, without a window."""
    try:
        browser = chromium(playwright)
    except NoBrowser as error:
        pytest.fail(str(error), pytrace=False)
    yield browser
    browser.close()


@pytest.fixture(scope="module")
def signed_in(world: World, playwright: Playwright, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The session of an administrator who has chosen a password; what the sign-in page does is tested on its own."""
    state = tmp_path_factory.mktemp("cookies") / "state.json"
    new_password(playwright, world, state)
    return state


@pytest.fixture
def new_console(world: World, browser: Browser) -> Iterator[Open]:
    """Make further browsers, each with a person of its own; all are watched."""
    contexts: list[tuple[BrowserContext, Watch]] = []

    def make(language: str = "en-GB", cookies: Path | None = None) -> Console:
        context = browser.new_context(
            base_url=world.url,
            viewport={"width": 1440, "height": 900},
            locale=language,
            timezone_id="Asia/Shanghai",
            storage_state=cookies,
            accept_downloads=True,
            reduced_motion="reduce",
        )
        context.set_default_timeout(SLOW_MS)
        watch = Watch(context, world.url)
        contexts.append((context, watch))
        return Console(context.new_page(), watch)

    yield make
    for context, watch in contexts:
        context.close()
        watch.check()


@pytest.fixture
def console(new_console: Open, signed_in: Path) -> Console:
    """The administrator's browser, in English."""
    return new_console(cookies=signed_in)
