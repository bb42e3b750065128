"""A Sphinx directive that prints every command of `tm` from the program itself, so that the page cannot be out of date.

    ```{commands}
    :language: zh
    ```

Without a language it is English. Helps are chosen when the program starts, so it is asked in a process of its own.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import Directive, directives
from product_tables import code, table
from sphinx.application import Sphinx

HERE = Path(__file__).parent
HEADS = {
    "en": ("Argument or option", "Meaning", "Default", "Examples"),
    "zh": ("参数或选项", "含义", "默认值", "示例"),
}


class Commands(Directive):
    """Prints all commands."""

    option_spec: ClassVar = {"language": directives.unchanged}

    def run(self) -> list[nodes.Node]:
        language = self.options.get("language", "en")
        # Where pip builds, this is how the packages of the build are found.
        path = [str(HERE.parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])]
        env = {**os.environ, "TRAINMASTER_LANG": language, "PYTHONPATH": os.pathsep.join(path)}
        words = [sys.executable, str(HERE / "described.py")]
        asked = subprocess.run(words, env=env, stdout=subprocess.PIPE, text=True, check=True)
        return [_section(one, HEADS[language]) for one in json.loads(asked.stdout)]


def _section(command: dict[str, Any], heads: tuple[str, ...]) -> nodes.section:
    path = command["path"]
    made = nodes.section("", nodes.title("", "", code(path)), ids=[nodes.make_id(path)], names=[path])
    made += [nodes.paragraph(text, text) for text in command["help"]]
    rows = []
    for param in command["params"]:
        text = param["help"] + (f" ({param['variable']})" if param["variable"] else "")
        rows.append((code(param["name"]), text, code(param["default"]) if param["default"] else ""))
    if rows:
        made += table(heads[:3], rows)
    if command["examples"]:
        text = "\n".join(command["examples"])
        made += nodes.paragraph(heads[3], heads[3])
        made += nodes.literal_block(text, text, language="bash")
    return made


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("commands", Commands)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
