"""Nobody sees anything of others' jobs and models, but whose the jobs are where people share nodes: every list, count,
search, stream and export of the API is walked, as it is found in the router and the contract. A new route is walked
without touching this file, or fails here and says what to do.
"""

import asyncio
import re
from collections import Counter
from typing import Any, Final
from urllib.parse import parse_qsl

import pytest

from tests.fixtures.live import LiveStream
from tests.fixtures.seeing import only
from tests.fixtures.two_people import COMMON, Person, said, seen_in, without_owners
from tests.scenario.doors import ASKED, CLOSED, MEMBERS, SHARED, Door, Scene, doors
from tests.scenario.stage import ADMIN
from trainmaster.api.app import create_app
from trainmaster.api.openapi import contract
from trainmaster.api.policy import PREFIX, PolicyRoute, PolicySocket
from trainmaster.core.errors import NotFound

NAMELESS: Final = {
    "/healthz", "/readyz", "/metrics", "/openapi.json", "/meta", "/schema/job", "/schema/pai", "/session", "/tokens",
    "/balances", "/workspaces/{workspace}/balance",
    "/sessions", "/cluster/privacy",
    "/cluster/past", "/engines", "/pools", "/virtual-clusters", "/workspaces", "/flavors", "/queue/policy",
    "/jobs/{ref}/usage", "/retention", "/users/{user}", "/search", "/views", "/session/ways",
    "/users/{user}/identity", "/ssh-keys", "/workspaces/{workspace}/invitations",
    "/workspaces/{workspace}/secrets", "/workspaces/{workspace}/storage",
    "/workspaces/{workspace}/published", "/workspaces/{workspace}/subscriptions",
    "/notifications", "/notifications/settings", "/webhooks", "/webhooks/deliveries", "/datasets/uploads/{upload}",
}  # fmt: skip
"""What tells of no job and no model, but for one's own account, and of an upload to who sends it: only that nobody
stands in it is looked at.
"""

REASONED: Final = {"/jobs", "/jobs/{ref}", "/jobs/{ref}/explain", "/jobs/{ref}/events", "/jobs/{ref}/versions"}
"""What tells why one's own job waits or had to give way, and so whose job comes first."""

OWNERS_ASKED: Final = {("/queue", "owner"), ("/cluster/resources", "owner"), ("/search", "q")}
"""Texts that ask for a person, where owners are told, or who is in the same workspace."""

SOCKETS: Final = {"/jobs/{ref}/exec"}
"""Each is tried by hand below."""


async def test_no_page_of_ones_own_tells_of_others(scene: Scene) -> None:
    """And each tells of oneself, so that this proves something; the administrator sees both."""
    for door in doors(scene.app):
        if door.stream and not door.of_one:
            continue  # endless: `test_the_feed_tells_of_ones_own`
        told: dict[str, str] = {}
        for person, other in scene.pairs():
            answer = await scene.get(person, door.of(person))
            if door.path in CLOSED:
                assert answer.status_code == 403
                assert answer.json()["kind"] == "forbidden"
                told[person.name] = person.name  # no word of them
                assert not seen_in(said(answer), [*person.marks, *other.marks])
                continue
            assert answer.status_code == 200, (
                f"{door.path} answers {answer.text}: if it needs a query, "
                "say which in QUERIES of tests/fixtures/pages.py"
            )
            told[person.name] = said(answer)
            rest = without_owners(told[person.name]) if door.path in SHARED | REASONED | MEMBERS else told[person.name]
            assert not seen_in(rest, other.marks), (door.path, person.name, answer.text)
            if door.path in SHARED and not door.of_one:
                assert seen_in(told[person.name], [other.name]), f"{door.path} tells nobody whose the others' jobs are"
        all_ = [said(await scene.get(scene.admin, door.of(person))) for person, _ in scene.pairs()]
        told["admin"] = "".join(all_) if door.of_one else all_[0]
        for person, _ in scene.pairs():
            for who in (person.name, "admin"):
                assert door.path in NAMELESS or seen_in(told[who], person.marks), (
                    f"{door.path} tells {who} nothing of {person.name}: "
                    "give tests/fixtures/two_people.py what it would show, "
                    "or name it in NAMELESS if it tells of no job and no model"
                )


async def test_what_others_have_is_what_does_not_exist(scene: Scene) -> None:
    """Whatever is asked of another's job or model, in whatever way it is named, the answer is the one for nothing at
    all.
    """
    for route in scene.app.app.router.routes:
        if not isinstance(route, PolicyRoute) or not re.search("{(ref|upload)}", route.path):
            continue
        door = Door(route.path.removeprefix(PREFIX), False)
        for person, other in scene.pairs():
            for ref in other.refs(door.kind):
                nothing = re.sub(r"[^-]", "z", ref)
                for method in route.methods or ():
                    real = await scene.get(person, door.address(ref), method)
                    never = await scene.get(person, door.address(nothing), method)
                    assert real.status_code in (404, 422), (method, door.path, ref, real.text)
                    assert (real.status_code, real.text.replace(ref, nothing)) == (never.status_code, never.text)


async def test_what_others_wrote_finds_nothing(scene: Scene) -> None:
    """In every parameter of every list and search that takes text: their words answer what words of nobody answer."""
    paths = contract(scene.app.app)["paths"]
    tried = 0
    for door in doors(scene.app):
        for name in _texts(paths.get(PREFIX + door.path, {}).get("get", {})):
            if door.path == "/feed":
                continue  # its one text names a job
            for person, other in scene.pairs():
                address = door.of(person).partition("?")[0]
                own = ASKED.get(PREFIX + door.path, "").replace("{ref}", person.refs(door.kind)[0])
                rest = dict(parse_qsl(own))
                for words in (
                    *(() if (door.path, name) in OWNERS_ASKED else (other.name,)),
                    f"{other.name}-ended",
                    f"label:{other.name}-key",
                    *other.jobs.values(),
                ):
                    nobody = words.replace(other.name, "z" * len(other.name)).replace(
                        other.jobs["ended"], "t" + "z" * 32
                    )
                    nobody = "t" + "z" * 32 if words in other.jobs.values() else nobody
                    async with person.client(scene.app) as http:
                        real = await http.get(address, params={**rest, name: words})
                        never = await http.get(address, params={**rest, name: nobody})
                    told, never_told = real.text, never.text
                    if door.path in SHARED | REASONED:
                        told, never_told = without_owners(told), without_owners(never_told)
                    assert _still(told).replace(words, nobody) == _still(never_told), (door.path, name, words)
                    tried += 1
    assert tried > 100


def _texts(operation: dict[str, Any]) -> list[str]:
    """Return the query's parameters that take any text, or a list of any texts."""
    found = []
    for one in operation.get("parameters", ()):
        kinds = [one["schema"], one["schema"].get("items", {}), *one["schema"].get("anyOf", ())]
        if one["in"] == "query" and any(kind.get("type") == "string" and "enum" not in kind for kind in kinds):
            found.append(one["name"])
    return found


def _still(text: str) -> str:
    """Return an answer without what time alone changes, and without marks, of which no two are alike."""
    return re.sub(r"\d+\.\d+(e[-+]\d+)?", "0.0", re.sub(r'"(seq|next_cursor)":"[\w-]+"', r'"\1":""', text))


@pytest.mark.parametrize(
    "query",
    [
        "",
        f"q={COMMON}",
        f"q=label:{COMMON}",
        f"label={COMMON}",
        "state=failed",
        "node=n1",
        "framework=single",
        "pool=default",
        "workspace=default",
        "q=sleep",
    ],
)
async def test_counts_are_of_what_is_seen(scene: Scene, query: str) -> None:
    """Those kept in memory and those asked of the ledger; the administrator's are of everybody's."""
    sums: Counter[str] = Counter()
    for person in (scene.first, scene.second, scene.admin):
        page = (await scene.get(person, f"{PREFIX}/jobs?{query}&limit=500")).json()
        states = Counter(item["state"] for item in page["items"])
        if "state=" not in query:
            assert page["counts"] == states, (person.name, page["counts"])
        if person is scene.admin:
            assert Counter(page["counts"]) == sums
        else:
            assert {item["owner"] for item in page["items"]} == {person.name}
            sums += Counter(page["counts"])


@pytest.mark.parametrize("query", ["", f"q={COMMON}", f"label={COMMON}", "state=failed", "pool=default", "mine=true"])
async def test_facets_are_of_what_is_seen(scene: Scene, query: str) -> None:
    """R199: of each value the number of one's own jobs; the administrator's are of everybody's."""
    sums: Counter[tuple[str, str]] = Counter()
    for person in (scene.first, scene.second, scene.admin):
        facets = (await scene.get(person, f"{PREFIX}/jobs/facets?{query}")).json()
        told = Counter(
            {(name, one["value"]): one["jobs"] for name in ("owner", "pool", "node") for one in facets[name]}
        )
        told.update({("label", one["key"]): one["jobs"] for one in facets["labels"]})
        if person is scene.admin:
            assert "mine" in query or told == sums
            continue
        page = (await scene.get(person, f"{PREFIX}/jobs?{query}&limit=500")).json()
        assert told["owner", person.name] == page["total"] == len(page["items"]) > 0
        assert not seen_in(str(facets).lower(), (scene.second if person is scene.first else scene.first).marks)
        sums += told


async def test_a_filter_reaches_ones_own_alone(scene: Scene) -> None:
    """R202: of all that match, nothing of others' is stopped, changed or deleted; more than were told of is refused."""
    for verb, change in (("change", {"duration_s": 9000.0}), ("stop", {}), ("delete", {})):
        async with scene.first.client(scene.app) as http:
            total = (await http.get(f"{PREFIX}/jobs")).json()["total"]
            body = {"filter": {"q": COMMON}, **change}
            few = await http.post(f"{PREFIX}/jobs/{verb}", json={**body, "expected": total - 1})
            assert (few.status_code, few.json()["code"]) == (409, "more_than_expected")
            assert few.json()["args"]["found"] == total
            done = await http.post(f"{PREFIX}/jobs/{verb}", json={**body, "expected": total})
            assert done.status_code == 200, done.text
            assert done.json()["done"], verb
            assert {*done.json()["done"]} <= {*scene.first.jobs.values()}
    left = (await scene.get(scene.admin, f"{PREFIX}/jobs?owner={scene.second.name}")).json()["items"]
    assert {item["id"] for item in left} == {*scene.second.jobs.values()}
    assert all(item["duration_s"] != 9000.0 and item["state"] != "stopping" for item in left)


async def test_another_persons_name_as_a_filter_finds_nothing(scene: Scene) -> None:
    """It neither shows theirs, nor one's own instead."""
    page = (await scene.get(scene.first, f"{PREFIX}/jobs?owner={scene.second.name}")).json()
    assert (page["items"], page["counts"]) == ([], {})


async def test_a_beginning_that_others_ids_share_names_ones_own(scene: Scene) -> None:
    """Otherwise somebody who tries beginnings is told ids of others."""
    mine = scene.first.jobs["ended"]
    length = next(n for n in range(4, 34) if sum(job.startswith(mine[:n]) for job in scene.first.jobs.values()) == 1)
    reader = scene.stage.platform.context.reader
    assert (await asyncio.to_thread(reader.find, only(scene.first.name), mine[:length])).id == mine
    for job in scene.second.jobs.values():
        if not any(one.startswith(job[:5]) for one in scene.first.jobs.values()):
            with pytest.raises(NotFound):
                await asyncio.to_thread(reader.find, only(scene.first.name), job[:5])


async def test_the_feed_tells_of_ones_own(scene: Scene) -> None:
    """What was before, what changes, and what is deleted: to each their own, to the administrator both."""
    streams = [door.path for door in doors(scene.app) if door.stream and not door.of_one]
    assert streams == ["/feed"], "a new stream is tried here"
    people = (scene.first, scene.second, scene.admin)
    ears = [asyncio.create_task(_listen(scene, person)) for person in people]
    for number, (person, _) in enumerate(scene.pairs()):
        await scene.stage.platform.delete(person.jobs["gone"], ADMIN)
        await scene.stage.platform.change(person.jobs["runs"], person.who, duration_s=86_000.0 + number)
    heard = dict(zip((person.name for person in people), await asyncio.gather(*ears), strict=True))
    for person, other in scene.pairs():
        assert not seen_in(without_owners(heard[person.name]), other.marks), heard[person.name]
        assert set(seen_in(heard[person.name], person.jobs.values())) == {*person.jobs.values()}
        assert set(seen_in(heard["admin"], person.jobs.values())) == {*person.jobs.values()}
    assert all("event: deleted" in text for text in heard.values())


async def _listen(scene: Scene, person: Person) -> str:
    """Return what the feed says from the beginning until the last change of `person`, of both for the administrator."""
    wanted = "86001.0" if person.name != scene.first.name else "86000.0"
    beginning = {"after": scene.stage.platform.feed.mark(0)}
    feed = LiveStream(create_app(scene.stage.platform), person.token, "/feed", beginning, {})
    feed.open()
    await feed.until(lambda one: wanted in one.said)
    return await feed.leave()


async def test_nobody_enters_what_others_run(scene: Scene) -> None:
    """The sockets of the API, one by one."""
    sockets = {
        route.path.removeprefix(PREFIX) for route in scene.app.app.router.routes if isinstance(route, PolicySocket)
    }
    assert sockets == SOCKETS, "a new socket is tried here, too"
    for person, other in scene.pairs():
        with pytest.raises(NotFound) as refused:
            await scene.stage.platform.enter(other.jobs["runs"], "task0-0", ["true"], None, person.who)
        with pytest.raises(NotFound) as nothing:
            await scene.stage.platform.enter("t" + "z" * 32, "task0-0", ["true"], None, person.who)
        assert refused.value.said.code == nothing.value.said.code
