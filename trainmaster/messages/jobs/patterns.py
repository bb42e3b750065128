"""What is said of the regular expressions that people search with."""

# fmt: off
# ruff: noqa: E501 (a table: what is said stands on one line, in both languages)
from __future__ import annotations

from trainmaster.messages.catalogue import say
from trainmaster.messages.said import Said

RE2 = "Use RE2 syntax (https://github.com/google/re2/wiki/Syntax): no look-around, no back-references."
RE2_ZH = "使用 RE2 语法（https://github.com/google/re2/wiki/Syntax）：不支持环视和反向引用。"

@say("The pattern cannot be used", "正则表达式无法使用", RE2, RE2_ZH)
def pattern_not_usable() -> Said: ...

@say("not a usable regular expression: {error}", "不是可用的正则表达式：{error}", RE2, RE2_ZH)
def bad_expression(error: str) -> Said: ...

@say("not a usable regular expression: longer than {most} characters", "不是可用的正则表达式：超过 {most} 个字符", "Write a shorter one.", "请缩短它。")
def expression_too_long(most: int) -> Said: ...
