"""What a broken line is called inside the SDK, so that whoever watches need not know by what requests are sent.

It never reaches a program: who watches tries again, and says Unavailable in the end.
"""

from typing import Final

RECONNECT_S: Final = 120.0
"""How long a watcher waits for a server that went away."""


class Lost(Exception):
    """The line to the server broke in the middle of what it was telling."""
