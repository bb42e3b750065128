"""Every route that takes the path of a file, asked for what lies outside of its folder, in every spelling that some
server has read as that: nothing outside is told, written or removed.
"""

from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import httpx

from tests.fixtures.api_contract import signed_in
from tests.fixtures.uploads import uploaded
from tests.fixtures.volumes import filled
from tests.scenario.stage import ADMIN, Stage, spec
from trainmaster.api.app import create_app
from trainmaster.api.openapi import contract

CANARY: Final = b"canary-5b1f7a"
DEPTHS: Final = (3, 4, 5)
"""Steps from the folders of files to the home."""
SPELLINGS: Final = (
    "../",
    "..%2f",
    "%2e%2e/",
    "%2e%2e%2f",
    "%252e%252e%252f",
    "%25252e%25252e%25252f",
    "..%252f",
    "..;/",
    "..;a=b/",
    "%2e%2e;/",
    "..%3b/",
    "..%5c",
    "..\\",
    "%2e%2e%5c",
    "%c0%ae%c0%ae%c0%af",
    "..%c0%af",
    "..%e0%80%af",
    "%f0%80%80%aef",
    "%ef%bc%8e%ef%bc%8e%ef%bc%8f",
    "%e2%80%a4%e2%80%a4/",
    "..%ef%bc%8f",
    "..%e2%88%95",
    "..%e2%81%84",
    "....//",
    "..././",
    ".%2e/",
    "%2e./",
    "..%00/",
    "..%0a/",
    "..%09/",
    "..%20/",
    "x/../../",
    "x/%2e%2e/%2e%2e/",
    "..//",
    "/..",
    "%2f..%2f",
    "./../",
    "%u002e%u002e%u2215",
    "..%u2216",
)
"""Of one step up: plain, encoded once, twice and three times, with parameters, backslashes, NUL and other control
characters, overlong UTF-8, letters that look alike.
"""


def outside(canary: Path) -> list[str]:
    """Return paths in a query that could mean the canary."""
    steps = [step * depth + canary.name for step in SPELLINGS for depth in DEPTHS]
    named = [quote(str(canary)), str(canary), "/" + str(canary), "file://" + str(canary), "//localhost" + str(canary)]
    return [*steps, *named, *(f"{one}%00.txt" for one in named), *(f"{one};.txt" for one in named)]


async def everything(stage: Stage) -> dict[str, str]:
    """Return the beginnings of addresses by the routes that read files; each holds a file `in` in a folder."""
    job = await stage.submit(spec("writes", 'echo inside > "$TRAINMASTER_OUTPUT_DIR/in"'))
    view = await stage.ended(job)
    assert view.model is not None
    data = await uploaded(stage.platform, ADMIN, "digits", {"in": b"inside\n"})
    volume = await filled(stage.platform, ADMIN, "scratch", {"in": b"inside\n"})
    return {
        "/jobs/{ref}/": f"/jobs/{job}/",
        "/models/{ref}/versions/{version}/": f"/models/{view.model.partition('@')[0]}/versions/1/",
        "/datasets/{ref}/versions/{version}/": f"/datasets/{data.dataset}/versions/1/",
        "/volumes/{ref}/": f"/volumes/{volume.id}/",
    }


def taking_paths(app: Any) -> set[tuple[str, str]]:
    """Return (method, route) of all that take a path."""
    found = set()
    for path, operations in contract(app.app)["paths"].items():
        for method, operation in operations.items():
            if "path" in {one["name"] for one in operation.get("parameters", ()) if one["in"] == "query"}:
                found.add((method.upper(), path.removeprefix("/api/v1")))
    return found


async def test_nothing_outside_is_told_written_or_removed(stage: Stage) -> None:
    places = await everything(stage)
    canary = stage.home / "canary.txt"
    canary.write_bytes(CANARY)
    above = {path: path.read_bytes() for path in [canary]}
    app = create_app(stage.platform)
    async with signed_in(app, stage.platform) as http:
        asked = 0
        for method, route in sorted(taking_paths(app)):
            start = next(one for one in places if route.startswith(one))
            address = "/api/v1" + places[start] + route.removeprefix(start)
            inside = "outputs/" if start.startswith(("/jobs", "/models")) else ""
            await _reads_what_is_inside(http, method, address, inside)
            for path in [*outside(canary), *(inside + one for one in outside(canary) if inside)]:
                answer = await http.request(method, f"{address}?path={path}", content=b"" if method != "PUT" else b"x")
                asked += 1
                assert CANARY not in answer.content, (method, address, path)
                assert answer.status_code < 500, (method, address, path, answer.text)
                assert b"canary.txt" not in answer.content or answer.status_code >= 400, (method, address, path)
        assert asked > 12 * 100
        for move in ({"source": "in", "target": "../../canary.txt"}, {"source": "../../canary.txt", "target": "got"}):
            assert (await http.post(f"/api/v1{places['/volumes/{ref}/']}moves", json=move)).status_code == 422
    assert {path: path.read_bytes() for path in above} == above
    assert not [path for path in stage.home.rglob("canary.txt*") if path != canary and "volumes" not in path.parts]


async def _reads_what_is_inside(http: httpx.AsyncClient, method: str, address: str, inside: str) -> None:
    """Or nothing would be shown by what comes."""
    if method == "GET":
        folder = f"?path={inside.rstrip('/')}" if inside else ""
        path = f"?path={inside}in" if address.endswith("/content") else folder
        answer = await http.get(address + path)
        assert answer.status_code == 200, (address, answer.text)
        assert b"in" in answer.content
