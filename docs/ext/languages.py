"""Puts a link to the same page in the other language at the top of every page that is there in both, and Chinese
chapters and words around the Chinese pages; where the platform serves the site (tag `served`), a link to its console.

The Chinese pages are the tree `zh/`, with the names of the English ones; no page names its other half itself.
"""

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # the test of `counterpart` needs no Sphinx
    from sphinx.application import Sphinx

CHINESE = "zh/"
WORDS = {
    "Back to top": "回到顶部",
    "Home": "首页",
    "Next": "下一页",
    "On this page": "本页内容",
    "Previous": "上一页",
    "Search": "搜索",
}
"""The theme's own words on a Chinese page."""


def counterpart(page: str, pages: Collection[str]) -> str | None:
    """Return the page of the other language, None where there is none. Pure."""
    other = page.removeprefix(CHINESE) if page.startswith(CHINESE) else CHINESE + page
    return other if other in pages else None


def console_of(page: str) -> str:
    """Return the address of the console, in whose folder `docs/` the site lies, seen from `page`. Pure."""
    return "../" * (page.count("/") + 1)


def chapters(app: "Sphinx", page: str) -> str:
    """Return the chapters of the Chinese index as HTML, seen from `page`."""
    env, builder = app.env, app.builder
    found = env.get_doctree(CHINESE + "index").findall(lambda node: node.tagname == "toctree")
    trees = [env.resolve_toctree(page, builder, tree, prune=False, titles_only=True) for tree in found]
    return "".join(builder.render_partial(tree)["fragment"] for tree in trees)


def _link(app: "Sphinx", page: str, _template: str, context: dict[str, Any], doctree: object) -> None:
    if doctree is None:
        return  # search and index: nobody wrote them
    chinese = page.startswith(CHINESE)
    context["language"] = "zh-CN" if chinese else "en"
    if chinese:
        context["toctree"] = lambda **_options: chapters(app, page)  # of which the theme makes its sidebar
        context["_"] = context["gettext"] = lambda text: WORDS.get(text.strip(), text)
    links = []
    other = counterpart(page, app.env.found_docs)
    if other is not None:
        name, language = ("English", "en") if chinese else ("中文", "zh-CN")
        target = app.builder.get_relative_uri(page, other)
        links.append(f'<a href="{target}" hreflang="{language}" lang="{language}">{name}</a>')
    if app.tags.has("served"):
        links.append(f'<a href="{console_of(page)}">{"控制台" if chinese else "Console"}</a>')
    if links:
        context["body"] = f"<p>{' · '.join(links)}</p>\n{context['body']}"


def setup(app: "Sphinx") -> dict[str, Any]:
    app.connect("html-page-context", _link, priority=400)  # before the theme, at 500
    return {"parallel_read_safe": True, "parallel_write_safe": True}
