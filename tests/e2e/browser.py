"""Debian's Chromium without a window, and an administrator's session. Also used by scripts/screenshots."""

import json
import shutil
from pathlib import Path

from playwright.sync_api import Browser, Playwright

from tests.e2e.world import PASSWORD, World

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
"""The first has no windows to draw: it takes two thirds of the CPU of the next."""
ARGUMENTS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--no-proxy-server",
    "--disable-component-update", "--disable-background-networking", "--disable-sync", "--disable-dev-shm-usage",
)  # fmt: skip
"""Chromium has no sandbox for root, and a container may have little in /dev/shm; by itself it asks nobody anything."""


class NoBrowser(Exception):
    """There is no Chromium on this machine."""


def chromium(playwright: Playwright) -> Browser:
    """Launch it. Raises NoBrowser."""
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        raise NoBrowser("needs Chromium; on Debian or Ubuntu: apt-get install chromium-headless-shell")
    return playwright.chromium.launch(executable_path=path, args=list(ARGUMENTS))


def new_password(playwright: Playwright, world: World, state: Path, name: str = "admin") -> None:
    """Sign in with the one-time password, choose another, keep in a file what a browser keeps of the session."""
    client = playwright.request.new_context(base_url=world.url)
    answer = client.post("/api/v1/session", data={"username": name, "password": world.one_time_password})
    key = str(answer.json()["key"])
    body = {"old": world.one_time_password, "new": PASSWORD}
    changed = client.post("/api/v1/session/password", data=body, headers={"X-Session-Key": key})
    assert changed.ok, changed.text()
    kept = client.storage_state()
    client.dispose()
    assert kept["cookies"]
    storage = [{"name": "trainmaster.key", "value": key}]
    state.write_text(json.dumps({**kept, "origins": [{"origin": world.url, "localStorage": storage}]}))
