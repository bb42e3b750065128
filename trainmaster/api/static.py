"""The built console: hashed files that are cached for ever, and one page for every other address; and the
documentation, below `/docs/`.

Files are listed once at start, so no request can name a path outside their folders. Texts come compressed as they were
built (`console/vite.config.ts`). Where the console or the documentation was not built, a page says how to get it.
"""

import asyncio
import mimetypes
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from trainmaster.api.policy import By, Table
from trainmaster.core.errors import NotFound
from trainmaster.messages.server import requests

STATIC: Final = Path(__file__).parent / "static"
"""What `hatch_build.py` builds: `console/` and `docs/`."""
_PACKED: Final = (("br", ".br"), ("gzip", ".gz"))
"""How a compressed form is asked for, and how its file ends; the smallest first."""
_FOREVER: Final = "public, max-age=31536000, immutable"
_MISSING: Final = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Trainmaster</title>
<body style="font-family: sans-serif; max-width: 42em; margin: 4em auto">
<h1>Trainmaster runs; the console is not built</h1>
<p>The server, its API (<code>/api/v1</code>) and the command line work. This installation came without the console: run
<code>python hatch_build.py</code> in the checkout, or install the released package.</p>
<h1>Trainmaster 已运行，但控制台尚未构建</h1>
<p>服务器、API（<code>/api/v1</code>）与命令行均可使用。\
请在源码目录运行 <code>python hatch_build.py</code>，或安装正式发布的软件包。</p>
"""
_NO_DOCS: Final = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Documentation – Trainmaster</title>
<body style="font-family: sans-serif; max-width: 42em; margin: 4em auto">
<h1>This server has no documentation</h1>
<p>The guide is in the source of Trainmaster, in <code>docs/guide</code>. To have it here, run
<code>scripts/docs</code> in the checkout and restart the server.</p>
<h1>此服务器未附带文档</h1>
<p>使用指南位于 Trainmaster 源码的 <code>docs/zh/guide</code> 目录。\
在源码目录运行 <code>scripts/docs</code> 并重启服务器，即可在此查看。</p>
"""


class Console:
    """The files under `root`, by address: `console/` at the top, `docs/` below its name."""

    def __init__(self, root: Path = STATIC) -> None:
        found = {
            path[len(str(top)) + 1 :]: path
            for folder, top in (("console", root / "console"), ("docs", root))
            for path in _files_below(str(root / folder))
        }
        endings = tuple(ending for _, ending in _PACKED)
        self._files = {
            name: path for name, path in found.items() if not name.startswith(".") and not name.endswith(endings)
        }
        self._packed = {
            (name, coding): found[name + ending]
            for name in self._files
            for coding, ending in _PACKED
            if name + ending in found
        }

    async def answer(self, path: str, accepts: str) -> Response:
        """Return the file at `path`, or the console's page; `accepts`: what was said of encodings. Raises NotFound for
        a missing file with a hashed name.
        """
        is_docs = path.split("/", 1)[0] == "docs"
        name = path
        if is_docs and f"{path.rstrip('/')}/index.html" in self._files:
            if not path.endswith("/"):  # the links in it begin at a folder
                return RedirectResponse(f"/{path}/", 308)
            name = f"{path}index.html"
        if name not in self._files:
            if is_docs:
                return Response(_NO_DOCS, 404, media_type="text/html", headers={"cache-control": "no-store"})
            if path.startswith("assets/"):
                raise NotFound(requests.no_console_file(path))
            name = "index.html"
        if name not in self._files:
            return Response(_MISSING, media_type="text/html", headers={"cache-control": "no-store"})
        headers = {"cache-control": _FOREVER if name.startswith("assets/") else "no-cache", "vary": "accept-encoding"}
        file, wanted = self._files[name], _codings(accepts)
        for coding, _ in _PACKED:
            if coding in wanted and (name, coding) in self._packed:
                file, headers["content-encoding"] = self._packed[name, coding], coding
                break
        kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
        return Response(await asyncio.to_thread(Path(file).read_bytes), media_type=kind, headers=headers)


def _files_below(folder: str) -> Iterator[str]:
    """Yield the path of each file. Not by `Path`: for 400 of them that takes a start 10 ms."""
    for where, _, names in os.walk(folder):
        for name in names:
            yield f"{where}/{name}"


def _codings(accepts: str) -> set[str]:
    """Return what an Accept-Encoding takes (RFC 9110, 12.5.3): a weight of 0 means that it is not taken."""
    parts = (part.lower().partition(";q=") for part in accepts.replace(" ", "").split(","))
    return {name for name, _, weight in parts if not weight or weight.strip("0.")}


routes = Table("console", prefix="")


@routes.route("GET", "/{path:path}", scope=None, raw=True, answers={200: "text/html"}, in_schema=False, by=By.ANY)
async def console(request: Request) -> Response:
    """Serve the console; every address it does not know as a file is its own page."""
    path: str = request.path_params["path"]
    if path.startswith("api/"):
        raise NotFound(requests.no_such_address())
    found: Console = request.app.state.console
    return await found.answer(path, request.headers.get("accept-encoding", ""))
