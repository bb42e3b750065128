"""Regular expressions from users. RE2 only: its time is linear in the text, so no pattern can hang the server.

The price is said in the error: no look-around and no back-references. Invariant: a pattern matches within one line.
"""

from typing import Any, Final

import re2

from trainmaster.core.errors import InvalidSpec, problem_of
from trainmaster.messages.jobs import patterns
from trainmaster.messages.said import Said

MAX_LENGTH: Final = 1000
MAX_MEMORY: Final = 8 << 20


def literal(text: str) -> Any:
    """Return a pattern for exactly `text`; without capitals in it, capitals do not matter."""
    return _compile(re2.escape(text), "q", ignore_case=text == text.lower())


def expression(pattern: str, field: str = "q") -> Any:
    """Return the compiled pattern; ``^`` and ``$`` match at lines. Raises InvalidSpec: `field`, what is wrong."""
    return _compile(pattern, field, ignore_case=False)


def _compile(pattern: str, field: str, *, ignore_case: bool) -> Any:
    options = re2.Options()
    options.log_errors = False
    options.never_nl = True
    options.max_mem = MAX_MEMORY
    options.case_sensitive = not ignore_case
    if len(pattern) > MAX_LENGTH:
        raise _refused(pattern, field, patterns.expression_too_long(MAX_LENGTH))
    try:
        return re2.compile(f"(?m){pattern}", options)
    except (re2.error, UnicodeError) as error:
        reason = error.args[0].decode(errors="replace") if isinstance(error.args[0], bytes) else str(error)
        raise _refused(pattern, field, patterns.bad_expression(reason)) from None


def _refused(pattern: str, field: str, why: Said) -> InvalidSpec:
    return InvalidSpec(patterns.pattern_not_usable(), problems=(problem_of(field, why, pattern[:200]),))
