"""Every GET route of the API as a door to knock at, for tests of what one person sees of another."""

import asyncio
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import httpx

from tests.fixtures.pages import ALWAYS, QUERIES
from tests.fixtures.two_people import Person
from tests.scenario.stage import Stage
from trainmaster.api.policy import PREFIX, PolicyRoute
from trainmaster.api.sse import MEDIA_TYPE

PARAMETERS: Final = {"number": "1", "task": "task0-0", "version": "1", "sha256": "0" * 64, **ALWAYS}
"""What stands for the parameters of addresses, beside a person's own `ref` and the `name` of a node."""

ASKED: Final = {
    **QUERIES,
    f"{PREFIX}/jobs/{{ref}}/files": "path=outputs",
    f"{PREFIX}/models/{{ref}}/versions/{{version}}/files": "path=outputs",
}
"""What is asked besides the address."""

CLOSED: Final = {
    "/metrics", "/retention", "/users", "/users/{user}", "/users/{user}/identity",
    "/workspaces/{workspace}/invitations",
}  # fmt: skip
"""What tells of everybody, and is told to administrators alone."""

SHARED: Final = {
    "/cluster", "/cluster/nodes/{name}", "/cluster/resources", "/cluster/use", "/nodes", "/nodes/{name}",
    "/queue", "/queue/timeline",
}  # fmt: skip
"""What tells who holds the nodes and stands in line: the owners of others' jobs, and nothing else of them."""

MEMBERS: Final = {"/workspaces/{workspace}/members"}
"""What tells members of a workspace who else is in it; both are in the same."""


@dataclass(frozen=True)
class Door:
    """A GET route. `kind`: the noun of its address."""

    path: str
    stream: bool

    @property
    def kind(self) -> str:
        return "uploads" if self.path.startswith("/datasets/uploads/") else self.path.split("/")[1]

    @property
    def of_one(self) -> bool:
        return "{" in self.path + ASKED.get(PREFIX + self.path, "")

    def of(self, person: Person) -> str:
        """Return where it lies for what `person` has."""
        return self.address(person.refs(self.kind)[0], person.node)

    def address(self, ref: str, node: str = "n1") -> str:
        """Return where it lies for `ref`, a job or a model."""
        try:
            path = re.sub(
                r"{(\w+)}", lambda match: {**PARAMETERS, "ref": ref, "upload": ref, "name": node}[match[1]], self.path
            )
        except KeyError as unknown:
            raise AssertionError(f"{self.path}: say in PARAMETERS what stands for {unknown}") from None
        query = ASKED.get(PREFIX + self.path, "").replace("{ref}", ref)
        return (path if path in ("/healthz", "/readyz", "/metrics") else PREFIX + path) + (f"?{query}" if query else "")


def doors(app: Any) -> list[Door]:
    """Return every GET route but the console's files."""
    found = []
    for route in app.app.router.routes:
        if isinstance(route, PolicyRoute) and "GET" in (route.methods or ()) and "{path:path}" not in route.path:
            found.append(Door(route.path.removeprefix(PREFIX), MEDIA_TYPE in route.doc.answers.values()))
    return found


@dataclass(frozen=True)
class Scene:
    """The platform with what two people have, and the administrator."""

    stage: Stage
    app: Any
    first: Person
    second: Person
    admin: Person

    def pairs(self) -> Iterator[tuple[Person, Person]]:
        """Yield (who looks, who must not be seen)."""
        yield self.first, self.second
        yield self.second, self.first

    async def get(self, person: Person, address: str, method: str = "GET") -> httpx.Response:
        async with person.client(self.app) as http:
            return await asyncio.wait_for(http.request(method, address), 60)
