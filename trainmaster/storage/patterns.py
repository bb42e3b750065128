"""Regular expressions from users. RE2 only: its time is linear in the text, so no pattern can hang the server.

The price is said in the error: no look-around and no back-references. Invariant: a pattern matches within one line.
"""

from typing import Any, Final

import re2

from trainmaster.core.errors import InvalidSpec, Problem

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
    try:
        if len(pattern) > MAX_LENGTH:
            raise re2.error(f"longer than {MAX_LENGTH} characters".encode())
        return re2.compile(f"(?m){pattern}", options)
    except (re2.error, UnicodeError) as error:
        reason = error.args[0].decode(errors="replace") if isinstance(error.args[0], bytes) else str(error)
        problem = Problem(
            field, f"not a usable regular expression: {reason}",
            "Use RE2 syntax (https://github.com/google/re2/wiki/Syntax): no look-around, no back-references.",
            code="bad_pattern", value=pattern[:200],
        )  # fmt: skip
        raise InvalidSpec("The pattern cannot be used", remedy=problem.remedy, problems=(problem,)) from None
