"""Sphinx directives that print tables of the product from the product's own code, so that they cannot be out of date.

Use one as an empty fenced block with the name in braces: see TABLES. `:language: zh` prints it for a Chinese page.
"""

import dataclasses
import inspect
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import Directive, directives
from sphinx.application import Sphinx

from trainmaster.core import config, errors, events, framework_kinds, states, verdicts
from trainmaster.engines import kinds
from trainmaster.messages.catalogue import ENTRIES
from trainmaster.messages.jobs import form, rules

Cell = str | nodes.Node
Rows = Iterable[Sequence[Cell]]


def code(text: str) -> nodes.Node:
    return nodes.literal(text, text)


def table(head: Sequence[str], rows: Rows) -> nodes.table:
    """A table of texts and inline nodes."""
    group = nodes.tgroup(cols=len(head))
    group += [nodes.colspec(colwidth=1) for _ in head]
    group += nodes.thead("", _row(head))
    group += nodes.tbody("", *[_row(row) for row in rows])
    return nodes.table("", group)


def _row(cells: Sequence[Cell]) -> nodes.row:
    inline = [nodes.Text(cell) if isinstance(cell, str) else cell for cell in cells]
    return nodes.row("", *[nodes.entry("", nodes.paragraph("", "", cell)) for cell in inline])


HEADS = {
    "en": {
        "states": ("state", "English", "中文", "OpenPAI"),
        "events": ("event", "English", "中文"),
        "verdicts": ("verdict", "English", "中文", "whose fault"),
        "errors": ("kind", "HTTP status", "meaning"),
        "problems": ("code", "rule", "remedy"),
    },
    "zh": {
        "states": ("状态", "英文", "中文", "OpenPAI"),
        "events": ("事件", "英文", "中文"),
        "verdicts": ("结束原因", "英文", "中文", "责任方"),
        "errors": ("类别", "HTTP 状态码", "含义"),
        "problems": ("代码", "规则", "处理方法"),
    },
}
KINDS_ZH = {
    "InvalidSpec": "请求不符合规则；列出发现的所有问题。",
    "Unsatisfiable": "请求本身正确，但在此平台上永远无法运行；处理方法中给出最接近的可行配置。",
    "NotFound": "不存在，或您无权知道它是否存在。",
    "Conflict": "对象当前的状态不允许这样做。",
    "Unauthenticated": "没有登录，或凭据错误、已过期。",
    "Forbidden": "已识别您的身份，但您无权这样做。",
    "TooLarge": "请求超过所示的上限。",
    "RateLimited": "尝试过于频繁；请等待提示的时间。",
    "StorageFailed": "修改无法可靠保存，因此完全没有进行。",
    "Unavailable": "平台的某一部分目前没有响应。",
    "ClusterRefused": "集群拒绝了请求；再次请求不会有变化。",
    "AddressTooLong": "请求行比平台的任何地址都长。",
    "HeadTooLarge": "请求头的字节数或行数超过任何请求所需。",
    "TooSlow": "请求没有在规定时间内到达。",
    "Misdirected": "Host 请求头不是此服务器的地址（防止 DNS 重绑定）。",
    "BadRequest": "收到的内容不是 HTTP 请求，或可以有两种解释。",
    "InvalidRequest": "查询参数、请求头或请求体不符合接口约定；列出所有问题。",
    "MethodNotAllowed": "地址存在，但不能这样操作。",
    "HttpRefusal": "由框架本身拒绝，使用平台其他地方没有的状态码。",
}
"""What the docstring of a kind of error says, in Chinese."""


def state_tables(language: str) -> list[nodes.Node]:
    rows = [
        (code(state.value), en, zh, code(states.PAI_STATE[state])) for state, (zh, en) in states.SHOWN_NAMES.items()
    ]
    return [table(HEADS[language]["states"], rows)]


def event_tables(language: str) -> list[nodes.Node]:
    rows = [(code(kind.value), en, zh) for kind, (zh, en) in events.NAMES.items()]
    return [table(HEADS[language]["events"], rows)]


def verdict_tables(language: str) -> list[nodes.Node]:
    rows = [(code(name), kind.en, kind.zh, kind.fault) for name, kind in verdicts.VERDICTS.items()]
    return [table(HEADS[language]["verdicts"], rows)]


def error_tables(language: str) -> list[nodes.Node]:
    kinds = sorted(errors.TrainmasterError.__subclasses__(), key=lambda kind: (kind.status, kind.kind))
    said = {kind: KINDS_ZH[kind.__name__] if language == "zh" else inspect.getdoc(kind) or "" for kind in kinds}
    return [table(HEADS[language]["errors"], [(code(kind.kind), str(kind.status), said[kind]) for kind in kinds])]


def problem_tables(language: str) -> list[nodes.Node]:
    """What is said of documents: codes with their templates, counts written with the noun of many."""
    entries = [ENTRIES[name] for catalogue in (form, rules) for name in vars(catalogue) if name in ENTRIES]
    rows = [(code(one.code), _plain(one.texts[language]), _plain(one.remedies[language])) for one in entries]
    return [table(HEADS[language]["problems"], [row for row in rows if row[2]])]


def _plain(template: str) -> str:
    return re.sub(r"\{(\w+):\w[^|}]*\|([^}]*)\}", r"{\1} \2", template).replace("{{", "{").replace("}}", "}")


def framework_tables(_language: str) -> list[nodes.Node]:
    rows = [
        (code(kind.kind), option_name, f"{option.en} ({option.minimum} to {option.maximum})")
        for kind in framework_kinds.KINDS.values()
        for option_name, option in kind.options.items()
    ]
    return [table(("framework", "option", "meaning"), rows)]


def setting_tables(_language: str) -> list[nodes.Node]:
    found: list[nodes.Node] = []
    for section in dataclasses.fields(config.Config):
        if section.name != "engines":
            assert callable(section.default_factory)
            found += _settings(f"[{section.name}]", section.default_factory())
    found += _settings("[[engines]]", config.EngineConfig())
    for kind in kinds.BUILT_IN:
        found += _settings(f'[[engines]], kind = "{kind}"', kinds.find(kind).settings())
    return found


def _settings(title: str, settings: Any) -> list[nodes.Node]:
    text = (inspect.getdoc(type(settings)) or "").replace("`", "")
    values = {field.name: getattr(settings, field.name) for field in dataclasses.fields(settings)}
    rows = [
        (code(name), code(_spelled(value))) for name, value in values.items() if not dataclasses.is_dataclass(value)
    ]
    parts = [nodes.paragraph(part, part) for part in text.split("\n\n")]
    return [nodes.rubric("", title), *parts, *([table(("key", "default"), rows)] if rows else [])]


def _spelled(value: object) -> str:
    """As TOML writes it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return "[" + ", ".join(map(_spelled, value)) + "]"
    return f'"{value}"' if isinstance(value, str) else str(value)


TABLES: dict[str, Callable[[str], list[nodes.Node]]] = {
    "states": state_tables,
    "events": event_tables,
    "verdicts": verdict_tables,
    "errors": error_tables,
    "problems": problem_tables,
    "framework-options": framework_tables,
    "settings": setting_tables,
}


class ProductTable(Directive):
    """Prints the table it is named after."""

    option_spec: ClassVar = {"language": directives.unchanged}

    def run(self) -> list[nodes.Node]:
        return TABLES[self.name](self.options.get("language", "en"))


def setup(app: Sphinx) -> dict[str, bool]:
    for name in TABLES:
        app.add_directive(name, ProductTable)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
