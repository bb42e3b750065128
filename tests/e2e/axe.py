"""axe-core in the browser: what of WCAG 2.1 A and AA can be judged by a program, told so that it can be fixed."""

import re
from collections import defaultdict
from pathlib import Path
from typing import Any

from playwright.sync_api import Page

SOURCE = Path(__file__).resolve().parents[2] / "console/node_modules/axe-core/axe.min.js"
_RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]


def judge(page: Page) -> list[dict[str, Any]]:
    """Return what is wrong on the page as it stands: a rule, and the elements that break it."""
    if page.evaluate("!window.axe"):
        page.evaluate(
            SOURCE.read_text()
        )  # through the debugger, so that the page's own policy stays as strict as it is
    # What is faded in by a moment's animation has the colors of that moment.
    page.evaluate(
        "Promise.all(document.getAnimations().filter(a => a.effect.getTiming().iterations !== Infinity)"
        ".map(a => a.finished.catch(() => null)))"
    )
    found = page.evaluate(
        "tags => axe.run(document, {runOnly: tags, resultTypes: ['violations']}).then(r => r.violations)", _RULES
    )
    return list(found)


class Report:
    """Violations of many pages: each once, with where it was seen and how it is fixed."""

    def __init__(self) -> None:
        self._seen: dict[tuple[str, str], list[str]] = defaultdict(list)
        self._told: dict[tuple[str, str], tuple[str, str]] = {}

    def add(self, where: str, violations: list[dict[str, Any]]) -> None:
        """Remember what `judge` found."""
        for one in violations:
            for node in one["nodes"]:
                place = " ".join(map(str, node["target"]))
                key = (one["id"], _generic(place))
                self._seen[key].append(where)
                self._told.setdefault(key, (one["help"], f"{node['html'][:160]}\n      {_fix(node)}"))

    def __str__(self) -> str:
        lines = []
        for key, places in sorted(self._seen.items()):
            rule, selector = key
            what, how = self._told[key]
            lines.append(
                f"{rule}: {what}\n   at {selector}\n      {how}\n      seen on {', '.join(places[:4])}"
                + (f" and {len(places) - 4} more" if len(places) > 4 else "")
            )
        return "\n".join(lines)

    def __bool__(self) -> bool:
        return bool(self._seen)


def _fix(node: dict[str, Any]) -> str:
    summary = str(node.get("failureSummary", ""))
    return " · ".join(line.strip() for line in summary.splitlines() if line.strip())[:420]


def _generic(selector: str) -> str:
    """The selector without what differs from row to row."""
    return re.sub(r":nth-child\(\d+\)|\[data-[a-z-]*=\"[^\"]*\"\]|\d+", "", selector)
