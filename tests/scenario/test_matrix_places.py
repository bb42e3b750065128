"""Routes about a workspace and about the whole platform x every role (R1, R9, R229, B11): who may not is refused, and
nothing changes. And no route or socket of the router is in no table at all.
"""

import itertools
from collections.abc import Iterable
from typing import Any, Final

import pytest

from tests.fixtures.uploads import listed, uploaded
from tests.scenario import (
    test_algorithms,
    test_datasets,
    test_matrix,
    test_matrix_lists,
    test_matrix_mine,
    test_matrix_rest,
    test_templates,
    test_volumes,
)
from tests.scenario.stage import ADMIN, fake_spec
from tests.scenario.test_audit_walk import CONNECTION
from tests.scenario.test_matrix import MAY, Lab, lab
from tests.unit.api.test_policy import PUBLIC
from trainmaster.api.policy import PREFIX, PolicyRoute, PolicySocket
from trainmaster.core.cluster import Flavor
from trainmaster.core.errors import NotFound
from trainmaster.service.use_cases.auditing import AuditFilters
from trainmaster.service.use_cases.people.accounts import NewPerson
from trainmaster.storage.objects.bucket import StoreTarget
from trainmaster.store.assets.versions import AssetKind

__all__ = ["lab"]

PLATFORM: Final = frozenset({"admin"})
LEADERS: Final = PLATFORM | {"owner", "leader"}
SUBMITTERS: Final = LEADERS | {"ann", "member"}
INSIDE: Final = SUBMITTERS | {"viewer"}
ALL: Final = INSIDE | {"stranger"}
Doors = dict[tuple[str, str], tuple[frozenset[str], Any]]

OFFERED: Final = "offered"
"""Stands for the id of a data set that another workspace offers."""

PLACES: Final[Doors] = {
    ("PUT", "/workspaces/{name}"): (PLATFORM, {"weight": 2}),
    ("PUT", "/workspaces/{name}/limits"): (LEADERS, {"per_person": {"default": {"gpu": 2}}}),
    ("PUT", "/workspaces/{workspace}/flavors/{name}"): (PLATFORM, {"cpu": 2}),
    ("DELETE", "/workspaces/{workspace}/flavors/{name}"): (PLATFORM, None),
    ("GET", "/workspaces/{workspace}/balance"): (INSIDE, None),
    ("GET", "/workspaces/{workspace}/entries"): (INSIDE, None),
    ("POST", "/workspaces/{workspace}/entries"): (PLATFORM, {"amount": "5"}),
    ("PUT", "/workspaces/{workspace}/budget"): (PLATFORM, {"budget": "100"}),
    ("GET", "/workspaces/{workspace}/members"): (INSIDE, None),
    ("PUT", "/workspaces/{workspace}/members/{user}"): (LEADERS, {"role": "viewer"}),
    ("DELETE", "/workspaces/{workspace}/members/{user}"): (LEADERS, None),
    ("GET", "/workspaces/{workspace}/invitations"): (LEADERS, None),
    ("POST", "/workspaces/{workspace}/invitations"): (LEADERS, {}),
    ("DELETE", "/workspaces/{workspace}/invitations/{invitation}"): (LEADERS, None),
    ("GET", "/workspaces/{workspace}/secrets"): (SUBMITTERS, None),
    ("PUT", "/workspaces/{workspace}/secrets/{secret}"): (LEADERS, {"value": "a value"}),
    ("DELETE", "/workspaces/{workspace}/secrets/{secret}"): (LEADERS, None),
    ("GET", "/workspaces/{workspace}/storage"): (SUBMITTERS, None),
    ("PUT", "/workspaces/{workspace}/storage/{connection}"): (LEADERS, CONNECTION),
    ("POST", "/workspaces/{workspace}/storage/{connection}/check"): (SUBMITTERS, None),
    ("DELETE", "/workspaces/{workspace}/storage/{connection}"): (LEADERS, None),
    ("GET", "/workspaces/{workspace}/published"): (INSIDE, None),
    ("GET", "/workspaces/{workspace}/subscriptions"): (INSIDE, None),
    ("PUT", "/workspaces/{workspace}/subscriptions/{kind}/{subscription}"): (SUBMITTERS, {"asset": OFFERED}),
    ("DELETE", "/workspaces/{workspace}/subscriptions/{kind}/{subscription}"): (SUBMITTERS, None),
    ("DELETE", "/workspaces/{name}"): (PLATFORM, None),
}
"""Of one workspace: who may, and what is sent."""

EVERYWHERE: Final[Doors] = {
    **{
        ("GET", path): (ALL, None)
        for path in (
            "/meta", "/schema/job", "/schema/pai", "/cluster", "/cluster/nodes/{name}", "/cluster/past",
            "/cluster/privacy", "/cluster/resources", "/cluster/use", "/engines", "/flavors", "/nodes", "/nodes/{name}",
            "/pools", "/queue", "/queue/policy", "/queue/timeline", "/virtual-clusters", "/workspaces", "/balances",
        )
    },
    **{
        ("GET", path): (PLATFORM, None)
        for path in ("/users", "/users/{user}", "/users/{user}/identity", "/retention", "/metrics")
    },
    ("PUT", "/pools/{name}"): (PLATFORM, {}),
    ("PUT", "/virtual-clusters/{name}"): (PLATFORM, {"pool": "lab"}),
    ("DELETE", "/virtual-clusters/{name}"): (PLATFORM, None),
    ("DELETE", "/pools/{name}"): (PLATFORM, None),
    ("PATCH", "/nodes/{name}"): (PLATFORM, {"pool": "default"}),
    ("POST", "/nodes/{name}/cordon"): (PLATFORM, {}),
    ("POST", "/nodes/{name}/drain"): (PLATFORM, {}),
    ("POST", "/nodes/{name}/uncordon"): (PLATFORM, None),
    ("PUT", "/cluster/privacy"): (PLATFORM, {"owners_told": False}),
    ("PUT", "/queue/policy"): (PLATFORM, {"values": {"age_cap_s": 60}}),
    ("POST", "/queue/policy/simulate"): (PLATFORM, {"values": {}}),
    ("POST", "/users"): (PLATFORM, {"name": "somebody", "role": "admin"}),
    ("POST", "/users/{user}/lock"): (PLATFORM, {}),
    ("POST", "/users/{user}/unlock"): (PLATFORM, None),
    ("POST", "/users/{user}/password"): (PLATFORM, None),
    ("PUT", "/users/{user}/identity"): (PLATFORM, {"subject": "of the walk"}),
    ("DELETE", "/users/{user}/identity"): (PLATFORM, None),
    ("DELETE", "/users/{user}"): (PLATFORM, None),
}  # fmt: skip
"""Of the platform: who may, and what is sent."""

SENT: Final = {
    ("POST", path): body
    for path, body in {
        "/jobs": {"spec": fake_spec("made", "sleep infinity", workspace="vision")},
        "/sweeps": {
            "spec": {
                **fake_spec("swept", "true", workspace="vision"),
                "sweep": {"grid": {"lr": [1]}},
            }
        },
        "/jobs/batch": {"items": [{"spec": fake_spec("made", "sleep infinity", workspace="vision")}]},
        "/images": {"name": "made", "workspace": "vision", "requirements": "# nothing\n"},
        "/datasets/uploads": {"name": "made", "workspace": "vision", "files": listed({"w": b"w"})},
        "/volumes": {"name": "made", "workspace": "vision"},
        "/algorithms": {"name": "made", "workspace": "vision", "spec": {"command": "true"}},
        "/templates": {
            "name": "made",
            "spec": fake_spec("made", "true", workspace="vision"),
        },
    }.items()
}
"""What is made in a workspace: for who may submit there."""
TRIED: Final = {
    ("POST", path): {"spec": {**fake_spec("tried", "true", workspace="vision"), **more}}
    for path, more in {
        "/jobs/preview": {},
        "/sweeps/preview": {"sweep": {"grid": {"lr": [1]}}},
        "/queue/would-start": {},
    }.items()
}
"""What is asked before: it says what the making would say."""

VALUES: Final = {
    "workspace": "vision",
    "user": "guest",
    "secret": "TOKEN",
    "connection": "data",
    "kind": "dataset",
    "subscription": "taken",
}
NAMED: Final = {"workspaces": "vision", "nodes": "n1", "cluster": "n1", "pools": "lab", "virtual-clusters": "vc"}
"""What stands for `name`, by the first word of an address; a flavor's is `one`."""
WHO: Final = sorted(MAY, key=lambda who: who == "admin")
"""Whoever may do everything is last: then something may be deleted."""


def address(path: str, invitation: str = "") -> str:
    name = "one" if "/flavors/" in path else NAMED.get(path.split("/")[1], "")
    return ("" if path == "/metrics" else PREFIX) + path.format(**VALUES, name=name, invitation=invitation)


async def told(lab: Lab) -> int:
    """Return how many changes the audit tells of."""
    page = await lab.stage.platform.auditing.page(ADMIN, AuditFilters(), 500)
    assert page.next_cursor is None
    return len(page.items)


async def offered(lab: Lab) -> str:
    """Return the id of a data set that another workspace offers to everybody."""
    platform = lab.stage.platform
    try:
        return (await platform.datasets.detail(OFFERED, ADMIN)).id
    except NotFound:
        made = await uploaded(platform, ADMIN, OFFERED, {"a": b"a"}, workspace="speech")
        return (await platform.subscribing.offer(AssetKind.DATASET, made.dataset, "*", ADMIN)).id


async def furnished(lab: Lab) -> str:
    """See that all is there that is named; return the id of an invitation."""
    platform = lab.stage.platform
    if not any(one.name == "guest" for one in (await platform.accounts.all(ADMIN)).items):
        await platform.accounts.add(NewPerson("guest", workspace="vision"), ADMIN)
    await platform.accounts.unlock("guest", ADMIN)
    await platform.members.put("vision", "guest", "member", ADMIN)
    await platform.administer.put_flavor(Flavor("one", "vision"), ADMIN)
    await platform.secrets.put("vision", "TOKEN", "a value", ADMIN)
    target = StoreTarget(CONNECTION["endpoint"], "", "training", "", "AKIDWALK", CONNECTION["secret"])
    await platform.storage.put("vision", "data", target, ADMIN)
    await platform.subscribing.subscribe(AssetKind.DATASET, "vision", "taken", await offered(lab), ADMIN)
    return (await platform.inviting.make("vision", "member", 3600, ADMIN)).id


async def assert_answers(lab: Lab, who: str, doors: Doors) -> None:
    """Hold what every door answers `who` against the table; what is refused has changed nothing."""
    async with lab.client(who) as http:
        for (method, path), (may, body) in doors.items():
            invitation = await furnished(lab)
            before = await told(lab)
            if body == {"asset": OFFERED}:
                body = {"asset": await offered(lab)}  # noqa: PLW2901
            sent = {} if body is None else {"json": body}
            answer = await http.request(method, address(path, invitation), **sent)
            if who in may:
                done = answer.is_success or answer.status_code == 409 or answer.json()["code"] == "no_provider"
                assert done, (who, method, path, answer.text)
                continue
            wanted = {403, 404} if who == "stranger" else {403}
            assert answer.status_code in wanted, (who, method, path, answer.status_code, answer.text)
            assert "guest" not in answer.text
            assert await told(lab) == before, (who, method, path)


@pytest.mark.parametrize("who", WHO)
async def test_what_is_about_a_workspace(lab: Lab, who: str) -> None:
    """R229."""
    await assert_answers(lab, who, PLACES)


@pytest.mark.parametrize("who", WHO)
async def test_what_is_about_the_platform(lab: Lab, who: str) -> None:
    await assert_answers(lab, who, EVERYWHERE)


@pytest.mark.parametrize("who", WHO)
async def test_what_is_made_in_a_workspace(lab: Lab, who: str) -> None:
    """R9: who may not submit there makes nothing there; a stranger is told no more than of a workspace that is not."""
    async with lab.client(who) as http:
        for (method, path), body in SENT.items():
            before = await told(lab)
            answer = await http.request(method, PREFIX + path, json=body)
            if who in SUBMITTERS:
                assert answer.is_success, (who, path, answer.text)
                continue
            assert answer.status_code in (403, 404, 422), (who, path, answer.text)
            wrong = {one["path"].rpartition(".")[2] for one in answer.json()["problems"]}
            assert "workspace" in wrong or answer.status_code != 422
            assert "_forbidden" not in answer.text, "the body itself is good"
            assert await told(lab) == before, (who, path)


@pytest.mark.parametrize("who", WHO)
async def test_what_is_asked_before(lab: Lab, who: str) -> None:
    """R9: who may not submit there is told so before, and nothing more; and nothing comes of asking."""
    before = await told(lab)
    async with lab.client(who) as http:
        for (method, path), body in TRIED.items():
            answer = await http.request(method, PREFIX + path, json=body)
            found = {one["path"] for one in answer.json()["problems"]} if "problems" in answer.json() else set()
            assert (answer.status_code, "workspace" in found) in {(200, False), (200, True), (422, True)}, answer.text
            assert ("workspace" in found) == (who not in SUBMITTERS), (who, path, answer.text)
    assert await told(lab) == before
    assert lab.stage.platform.context.master.live == {}


def plain(doors: Iterable[tuple[str, str]]) -> set[tuple[str, str]]:
    return {(method, path.partition("?")[0]) for method, path in doors}


def test_every_route_and_socket_is_in_a_table(lab: Lab) -> None:
    """B11: those of the router, whatever they are about. A new one fails here, and asks what it needs."""
    rest = test_matrix_rest
    assets = (test_datasets, test_volumes, test_algorithms, test_templates)
    tables = [
        test_matrix.NEEDS, rest.IMAGES, rest.BUILDS, rest.MODELS, rest.SWEEPS, *(one.NEEDS for one in assets),
        [("POST", path) for path in rest.SEVERAL], PLACES, EVERYWHERE, test_matrix_mine.MINE,
        test_matrix_lists.WALKED, test_matrix_lists.UPLOADS, SENT, TRIED,
        [(method, path.removeprefix(PREFIX)) for method, path in PUBLIC],
    ]  # fmt: skip
    router = lab.app.app.router.routes
    routes = {
        (method, route.path.removeprefix(PREFIX))
        for route in router
        if isinstance(route, PolicyRoute)
        for method in route.methods or ()
    }
    assert routes == set().union(*map(plain, tables))
    twice = [one for one, two in itertools.combinations(map(plain, tables), 2) if one & two]
    assert not twice, "a route is in two tables"
    sockets = {route.path.removeprefix(PREFIX) for route in router if isinstance(route, PolicySocket)}
    assert sockets == set(test_matrix.SOCKETS)
    assert {type(route) for route in router} <= {PolicyRoute, PolicySocket}, "a door of another kind"
