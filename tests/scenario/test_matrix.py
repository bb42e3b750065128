"""Every route of a job x every role x every level of sharing answers as the tables of rights say (B11, R223 to R228).

The routes are those of the router: a new one is in it, or this fails and asks what it needs.
"""

import itertools
import re
from dataclasses import dataclass
from typing import Any, Final

import httpx
import pytest

from tests.fixtures.api_contract import BASE
from tests.scenario.stage import ADMIN, Stage, fake_spec
from trainmaster.access.roles import Principal
from trainmaster.api.app import create_app
from trainmaster.api.policy import PREFIX, PolicyRoute, PolicySocket
from trainmaster.core.cluster import Workspace
from trainmaster.core.errors import Forbidden, NotFound, TrainmasterError
from trainmaster.core.states import JobShare
from trainmaster.service.use_cases.people.accounts import NewPerson
from trainmaster.service.use_cases.people.credentials import WantedToken

READ, WRITE, SHARE = "read", "write", "share"
NEEDS: Final = {
    ("GET", "/jobs/{ref}"): READ,
    ("GET", "/jobs/{ref}/spec"): READ,
    ("GET", "/jobs/{ref}/events"): READ,
    ("GET", "/jobs/{ref}/versions"): READ,
    ("GET", "/jobs/{ref}/explain"): READ,
    ("GET", "/jobs/{ref}/usage"): READ,
    ("GET", "/jobs/{ref}/metrics"): READ,
    ("GET", "/jobs/{ref}/files"): READ,
    ("GET", "/jobs/{ref}/files/content"): READ,
    ("GET", "/jobs/{ref}/files/download"): READ,
    ("GET", "/jobs/{ref}/logs.zip"): READ,
    ("GET", "/jobs/{ref}/attempts/{number}/tasks/{task}/log"): READ,
    ("GET", "/jobs/{ref}/attempts/{number}/tasks/{task}/log/search"): READ,
    ("GET", "/jobs/{ref}/attempts/{number}/tasks/{task}/log/download"): READ,
    ("GET", "/jobs/{ref}/attempts/{number}/tasks/{task}/log/follow"): READ,
    ("POST", "/jobs/{ref}/clone"): READ,
    ("PATCH", "/jobs/{ref}"): WRITE,
    ("POST", "/jobs/{ref}/stop"): WRITE,
    ("POST", "/jobs/{ref}/release"): WRITE,
    ("POST", "/jobs/{ref}/upload"): WRITE,
    ("DELETE", "/jobs/{ref}"): WRITE,
    ("PUT", "/jobs/{ref}/note"): WRITE,
    ("PATCH", "/jobs/{ref}/tags"): WRITE,
    ("PUT", "/jobs/{ref}/favorite"): READ,
    ("DELETE", "/jobs/{ref}/favorite"): READ,
    ("PUT", "/jobs/{ref}/share"): SHARE,
    ("GET", "/compare"): READ,
    ("GET", "/compare/curves"): READ,
    ("GET", "/compare/code"): READ,
    ("GET", "/lineage"): READ,
}
"""What a route needs of a job."""
HIDDEN: Final = {"no_such_job", "no_such_thing"}
"""What is told of a job that is not there, or must not be seen."""
SOCKETS: Final = {"/jobs/{ref}/exec": WRITE}
BODIES: Final[dict[tuple[str, str], dict[str, Any]]] = {
    ("POST", "/jobs/{ref}/clone"): {"submit": False},
    ("PATCH", "/jobs/{ref}"): {"duration_s": 3600},
    ("PUT", "/jobs/{ref}/share"): {"share": "none"},
    ("PATCH", "/jobs/{ref}/tags"): {"add": ["good"], "remove": ["bad"]},
    ("PUT", "/jobs/{ref}/note"): {"note": "worth a look"},
}
ABOUT_JOBS: Final = (f"{PREFIX}/jobs/{{ref}}", f"{PREFIX}/compare", f"{PREFIX}/lineage")
QUERIES: Final = {
    "files/content": "path=outputs/x",
    "files/download": "path=outputs",
    "log/search": "q=a",
    "/compare": "job={ref}",
    "/compare/curves": "job={ref}&metric=loss",
    "/compare/code": "base={ref}&other={ref}",
    "/lineage": "kind=job&ref={ref}",
}

MAY: Final = {
    # who: (where it is shared none, read, read-write); what is in the tuple may be done
    "ann": ((READ, WRITE, SHARE), (READ, WRITE, SHARE), (READ, WRITE, SHARE)),  # whose it is
    "admin": ((READ, WRITE, SHARE), (READ, WRITE, SHARE), (READ, WRITE, SHARE)),  # of the platform
    "owner": ((READ, WRITE, SHARE), (READ, WRITE, SHARE), (READ, WRITE, SHARE)),  # of the workspace, and so on
    "leader": ((READ, WRITE, SHARE), (READ, WRITE, SHARE), (READ, WRITE, SHARE)),
    "member": ((), (READ,), (READ, WRITE)),
    "viewer": ((), (READ,), (READ,)),
    "stranger": ((), (), ()),
}
ROLES: Final = {"ann": "member", "owner": "owner", "leader": "admin", "member": "member", "viewer": "viewer"}
CASES: Final = [*itertools.product(MAY, enumerate(JobShare))]


@dataclass(frozen=True)
class Lab:
    """A workspace with somebody in every role, a stranger, and who each of them is to the API."""

    stage: Stage
    app: Any
    tokens: dict[str, str]

    async def job(self, share: JobShare) -> str:
        document = {**fake_spec("shared", "sleep infinity"), "workspace": "vision", "share": share.value}
        ann = Principal("ann", memberships=(("vision", "member"),))
        return (await self.stage.platform.submit({"spec": document}, ann, None))[0].id

    def client(self, who: str) -> httpx.AsyncClient:
        headers = {"authorization": f"Bearer {self.tokens[who]}"}
        return httpx.AsyncClient(transport=httpx.ASGITransport(self.app), base_url=BASE, headers=headers, timeout=60)


@pytest.fixture
async def lab(fake: Stage) -> Lab:
    platform, tokens = fake.platform, {}
    for workspace in ("vision", "speech"):
        await platform.administer.put_workspace(Workspace(workspace), ADMIN)
    for who in MAY:
        if who != "admin":
            place = ("vision", ROLES[who]) if who in ROLES else ("speech", "owner")
            await platform.accounts.add(NewPerson(who, workspace=place[0], workspace_role=place[1]), ADMIN)
        tokens[who] = (await platform.credentials.create(ADMIN, WantedToken("t", user=who))).token
    return Lab(fake, create_app(platform), tokens)


def routes(app: Any) -> list[tuple[str, str]]:
    """Return every (method, path) about one job."""
    return [
        (method, route.path.removeprefix(PREFIX))
        for route in app.app.router.routes
        if isinstance(route, PolicyRoute) and route.path.startswith(ABOUT_JOBS)
        for method in sorted(route.methods or ())
    ]


async def test_the_table_has_every_route_of_a_job(lab: Lab) -> None:
    assert sorted(routes(lab.app)) == sorted(NEEDS)
    sockets = {route.path for route in lab.app.app.router.routes if isinstance(route, PolicySocket)}
    assert {path.removeprefix(PREFIX) for path in sockets if "{ref}" in path} == set(SOCKETS)


@pytest.mark.parametrize(("who", "level"), CASES, ids=lambda one: one if isinstance(one, str) else one[1].value)
async def test_each_may_do_what_the_table_says(lab: Lab, who: str, level: tuple[int, JobShare]) -> None:
    """Who may not see it is told that it is not there; who sees it and may not do this, that they may not."""
    column, share = level
    may, job = MAY[who][column], await lab.job(share)
    lab.app.close_views()  # a stream ends at once
    async with lab.client(who) as http:
        for route in NEEDS:
            method, path = route
            if NEEDS[route] in may and NEEDS[route] != READ:
                job = await lab.job(share)  # it is stopped, deleted or hidden
            answer = await http.request(method, address(path, job), json=BODIES.get(route))
            if READ not in may:
                assert answer.status_code == 404, (route, answer.status_code, answer.text)
                assert answer.json()["code"] in HIDDEN
                assert "ann" not in answer.text
            elif NEEDS[route] not in may:
                assert answer.status_code == 403, (route, answer.status_code, answer.text)
            else:
                absent = answer.status_code == 404 and answer.json()["code"] not in HIDDEN  # no such file of it
                assert answer.status_code in (200, 201, 202, 204, 409) or absent, (route, answer.text)
    await assert_enters(lab, who, job if READ not in may or WRITE not in may else await lab.job(share), may)


def address(path: str, job: str) -> str:
    values = {"ref": job, "number": "1", "task": "task0-0"}
    query = next((text for end, text in QUERIES.items() if path.endswith(end)), "")
    whole = f"{path}?{query}" if query else path
    return PREFIX + re.sub(r"{(\w+)}", lambda match: values[match[1]], whole)


async def assert_enters(lab: Lab, who: str, job: str, may: tuple[str, ...]) -> None:
    """The socket decides as the routes do: it resolves the job before it does anything else."""
    principal = (await lab.stage.platform.people.by_token(lab.tokens[who])).principal
    try:
        async with await lab.stage.platform.enter(job, "task0-0", ["true"], None, principal):
            pass
    except NotFound:
        assert READ not in may
    except Forbidden:
        assert READ in may
        assert WRITE not in may
    except TrainmasterError:  # it does not run yet
        assert WRITE in may
    else:
        assert WRITE in may
