"""The built console: hashed files that are cached for ever, and one page for every other address.

Files are listed once at start, so no request can name a path outside the folder. Small enough to be compressed once and
kept; what is asked for first is compressed first. Where the console was not built, a page says how to build it.
"""

import asyncio
import gzip
import mimetypes
from pathlib import Path
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from trainmaster.api.policy import By, Table
from trainmaster.core.errors import NotFound
from trainmaster.messages.server import requests

STATIC: Final = Path(__file__).parent / "static"
_COMPRESSED: Final = (
    "text/",
    "application/javascript",
    "application/json",
    "image/svg+xml",
    "application/manifest+json",
)
_FOREVER: Final = "public, max-age=31536000, immutable"
_MISSING: Final = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Trainmaster</title>
<body style="font-family: sans-serif; max-width: 42em; margin: 4em auto">
<h1>Trainmaster runs; the console is not built</h1>
<p>The server, its API (<code>/api/v1</code>) and the command line work. This installation came without the console: run
<code>python hatch_build.py</code> in the checkout, or install the released package.</p>
<h1>Trainmaster 已运行，但控制台尚未构建</h1>
<p>服务、API（<code>/api/v1</code>）与命令行均可使用。\
请在源码目录运行 <code>python hatch_build.py</code>，或安装正式发布的软件包。</p>
"""


class Console:
    """The files under `root`, by address."""

    def __init__(self, root: Path = STATIC) -> None:
        self._files: dict[str, Path] = {}
        if root.is_dir():
            self._files = {path.relative_to(root).as_posix(): path for path in root.rglob("*") if path.is_file()}
        self._packed: dict[str, bytes] = {}

    async def answer(self, path: str, accepts_gzip: bool) -> Response:
        """Return the file at `path`, or the console's page. Raises NotFound for a missing file with a hashed name."""
        name = path if path in self._files else "index.html"
        if name not in self._files:
            return Response(_MISSING, media_type="text/html", headers={"cache-control": "no-store"})
        if path.startswith("assets/") and name != path:
            raise NotFound(requests.no_console_file(path))
        kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
        headers = {"cache-control": _FOREVER if name.startswith("assets/") else "no-cache", "vary": "accept-encoding"}
        if accepts_gzip and kind.startswith(_COMPRESSED):
            if name not in self._packed:
                self._packed[name] = await asyncio.to_thread(_pack, self._files[name])
            return Response(self._packed[name], media_type=kind, headers={**headers, "content-encoding": "gzip"})
        return Response(await asyncio.to_thread(self._files[name].read_bytes), media_type=kind, headers=headers)


def _pack(path: Path) -> bytes:
    return gzip.compress(path.read_bytes(), 6, mtime=0)


routes = Table("console", prefix="")


@routes.route("GET", "/{path:path}", scope=None, raw=True, answers={200: "text/html"}, in_schema=False, by=By.ANY)
async def console(request: Request) -> Response:
    """Serve the console; every address it does not know as a file is its own page."""
    path: str = request.path_params["path"]
    if path.startswith("api/"):
        raise NotFound(requests.no_such_address())
    found: Console = request.app.state.console
    return await found.answer(path, "gzip" in request.headers.get("accept-encoding", ""))
