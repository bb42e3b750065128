"""Moves every script that stands inside a page into a file: the server's content security policy lets none run that
does not come from a file of its own (`trainmaster/api/socket/front.py`).
"""

import hashlib
import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # the test of `moved` needs no Sphinx
    from sphinx.application import Sphinx

INLINE = re.compile(r"<script>(.*?)</script>", re.DOTALL)


def moved(page: str, up: str) -> tuple[str, dict[str, str]]:
    """Return `page` with files in place of its scripts, and what goes into each file. `up`: from the page to the top
    of the site, "" or "../" a few times. Pure.
    """
    files: dict[str, str] = {}

    def name(found: re.Match[str]) -> str:
        text = found[1].strip()
        file = f"_static/inline-{hashlib.sha256(text.encode()).hexdigest()[:12]}.js"
        files[file] = text
        return f'<script src="{up}{file}"></script>'

    return INLINE.sub(name, page), files


def _move(app: "Sphinx", failed: Exception | None) -> None:
    if failed is not None or app.builder.format != "html":
        return
    top = Path(app.outdir)
    for path in top.rglob("*.html"):
        page = path.read_text(encoding="utf-8")
        changed, files = moved(page, "../" * (len(path.relative_to(top).parts) - 1))
        for name, text in files.items():
            (top / name).write_text(text + "\n", encoding="utf-8")
        if changed != page:
            path.write_text(changed, encoding="utf-8")


def setup(app: "Sphinx") -> dict[str, bool]:
    app.connect("build-finished", _move)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
