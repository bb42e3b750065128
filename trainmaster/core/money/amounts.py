"""Amounts of money: whole millionths of the one currency of the platform, and their texts. Pure.

Invariant: an amount is an int everywhere inside and a decimal text outside, never a float. `read_amount(amount_text(n))
== n`. What programs read and what somebody entered has all its digits (`amount_text`); in sentences and tables stands
what `shown_amount` says.
"""

from __future__ import annotations

import re
from typing import Final

from trainmaster.core.formats.units import NotRead
from trainmaster.messages.server import money

MILLION: Final = 1_000_000
"""Parts of one unit of the currency."""
MOST_PRICE: Final = 1_000_000 * MILLION
"""The highest price of an hour."""
MOST_AMOUNT: Final = 10**12 * MILLION
"""The largest amount that people enter; the ledger's columns hold nine times that."""
MOST_CHARGED: Final = 2**63 - 1
"""The most that one use is charged: what a column holds."""

_CENT: Final = MILLION // 100
_HOUR_MS: Final = 3_600_000
_AMOUNT: Final = re.compile(r"(-?)([0-9]{1,30})(?:\.([0-9]{1,6}))?")


def read_amount(text: str, most: int = MOST_AMOUNT, least: int = 0) -> int:
    """Return the amount that `text` says, in millionths: digits, if needed a point and up to six more.

    Raises NotRead for anything else, and for what is not from `least` to `most`.
    """
    found = _AMOUNT.fullmatch(text)
    if found is None:
        raise NotRead(money.not_an_amount(text[:40]))
    sign, whole, part = found.groups()
    amount = int(whole) * MILLION + int((part or "").ljust(6, "0"))
    amount = -amount if sign else amount
    if not least <= amount <= most:
        raise NotRead(money.amount_out_of_range(amount_text(least), amount_text(most)))
    return amount


def amount_text(amount: int) -> str:
    """Return an amount as a decimal number with two digits behind the point, more where it has them: ``12.50``."""
    whole, part = divmod(abs(amount), MILLION)
    digits = f"{part:06}"
    return f"{'-' if amount < 0 else ''}{whole}.{digits[:2]}{digits[2:].rstrip('0')}"


def shown_amount(amount: int, *others: int) -> str:
    """Return an amount as people read it, ``1,234.50`` or ``-0.0004``: rounded half up to two digits behind the point;
    with all its digits where two would read as nothing, or as one of `others`, which it is told beside.
    """
    if 0 < abs(amount) < _CENT or any(_cents(amount) == _cents(one) and amount != one for one in others):
        whole, _, digits = amount_text(abs(amount)).partition(".")
    else:
        whole, digits = str(abs(_cents(amount)) // 100), f"{abs(_cents(amount)) % 100:02}"
    return f"{'-' if amount < 0 else ''}{int(whole):,}.{digits}"


def _cents(amount: int) -> int:
    cents = (abs(amount) + _CENT // 2) // _CENT
    return -cents if amount < 0 else cents


def charge(price: int, machine_ms: int) -> int:
    """Return what so many milliseconds of machines cost at a price of an hour, rounded half up, once."""
    return min(MOST_CHARGED, (2 * price * machine_ms + _HOUR_MS) // (2 * _HOUR_MS))
