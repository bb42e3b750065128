"""The documentation site. Tables of the product (states, errors, settings...) are read from its code: see ext/."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / "ext"), str(HERE.parent)]

from pygments.lexers.special import TextLexer  # noqa: E402
from sphinx.application import Sphinx  # noqa: E402

from trainmaster._version import __version__  # noqa: E402

project = "Trainmaster"
author = "The Trainmaster authors"
copyright = "The Trainmaster authors, Apache-2.0"
version = release = __version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "http_api",
    "product_tables",
    "command_reference",
    "languages",
    "inline_scripts",
]
default_role = "code"  # docstrings write `names` so
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
exclude_patterns = ["_build", "ext"]
myst_enable_extensions = ["colon_fence", "deflist", "fieldlist"]
myst_heading_anchors = 3

html_theme = "furo"
html_title = f"Trainmaster {version}"
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {"navigation_with_keys": True}


def setup(app: Sphinx) -> None:
    """Diagrams in mermaid are drawn by code hosts; here their text is shown, without a script from elsewhere."""
    app.add_lexer("mermaid", TextLexer)
