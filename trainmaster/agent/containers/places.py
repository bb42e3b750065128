"""Where the files of an image lie: in the folder that keeps it, and in a sandbox. Pure, for whoever starts tasks."""

from __future__ import annotations

from typing import Final

ROOT, CONFIG = "root", "config.json"
"""The files of an image, and what it says of itself, in the folder of an environment."""
ETC: Final = "/trainmaster/etc"
"""Where a sandbox sees the files of /etc that are brought up to date while it lives."""
