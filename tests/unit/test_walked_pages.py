"""What holds on every page is held by walks over `tests/e2e/pages.py`: no route and no tab is left out."""

import re
from collections import defaultdict
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from tests.e2e.pages import pages

CONSOLE = Path(__file__).resolve().parents[2] / "console/src"
TABS = {"JOB": "/jobs/$", "COMPARE": "/compare", "SWEEP": "/sweeps/$", "ADMIN": "/admin", "SETTINGS": "/settings"}
JOBS = dict.fromkeys(("good", "bad", "long", "waits", "sweep"), "t1")


def walked() -> dict[str, set[str]]:
    """Return by route the tabs that are walked."""
    found: dict[str, set[str]] = defaultdict(set)
    for address, _ in pages(JOBS):
        parts = urlsplit(address)
        found[re.sub(r"^(/[a-z]+)/.+", r"\1/$", parts.path)].update(parse_qs(parts.query).get("tab", [""]))
    return found


def test_every_route_is_walked() -> None:
    routes = re.findall(r'^  path: "([^"]+)"', (CONSOLE / "router.tsx").read_text(), re.MULTILINE)
    assert len(routes) > 20
    assert [one for one in routes if one.replace("$id", "$") not in walked()] == []


def test_every_tab_is_walked() -> None:
    """The first of them is what an address without one shows."""
    tabs = dict(
        re.findall(r"^export const ([A-Z]+)_TABS = \[([^\]]+)\]", (CONSOLE / "shared/address.ts").read_text(), re.M)
    )
    assert tabs.keys() == TABS.keys()
    left = {
        route: missing
        for name, route in TABS.items()
        if (missing := {*re.findall(r'"([a-z]+)"', tabs[name])[1:]} - walked()[route])
    }
    assert left == {}
