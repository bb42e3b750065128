"""A stranger asks 10,000 random things, over requests, live views and sockets, and never sees a byte of what two others
have: every text of a hidden job holds a canary, and the canaries are looked for in every answer, its headers, archives
in it, in all that streams and sockets say while the hidden jobs change, and in what the server logs of it (B11).
"""

import random
import re
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import httpx
import pytest

from tests.fixtures.canaries import AbleEngine, able, laden, texts, without_canary
from tests.fixtures.live import Live, LiveSocket, LiveStream
from tests.fixtures.two_people import NAMES, Person, said, seen_in, two_people, without_owners
from tests.scenario.conftest import WatchfulMachines
from tests.scenario.stage import ADMIN, Stage, fake_spec
from trainmaster.access.roles import Principal
from trainmaster.api.app import create_app
from trainmaster.api.openapi import contract
from trainmaster.api.policy import PREFIX, PolicySocket
from trainmaster.api.sse import MEDIA_TYPE
from trainmaster.core.cluster import Workspace
from trainmaster.service.use_cases.people.accounts import NewPerson
from trainmaster.service.use_cases.people.credentials import WantedToken
from trainmaster.spec.job import JobSpec

REQUESTS: Final = 10_000
SOCKETS: Final = 0.02
VIEWS: Final = 0.03
"""Shares of them that are sockets, and live views."""
MOST_OPEN: Final = 12
"""So many views are open before what they must not show happens."""
DEEP: Final = 5
"""Values one in another, in a body."""
GUESSES: Final = {("post", "/session"), ("post", "/session/password")}
"""They make who guesses wait."""
WORDLESS: Final = {
    ".framework.kind", ".framework.~", ".framework.*",  # one of ours, and its options, which are numbers
    ".code.path",  # of the submitter's machine: the server takes only what it was uploaded as
    ".code.upload",  # a digest
    ".roles[].resources.gpu_type", ".roles[].flavors[]", ".pool", ".virtual_cluster", ".nodes[]",
    ".driver",  # names of the cluster, which all are told
    ".workspace",  # the two work in the one that everybody begins in
    ".duration", ".grace", ".debug_hold", ".roles[].resources.memory", ".roles[].resources.shm",  # "2h", "512MiB"
}  # fmt: skip
"""Texts of a job document that nobody words."""
OURS: Final = {
    ".id", ".family", ".sweep.id", ".model", ".seq",  # ids, looked for beside the canaries, and places in the feed
    ".dialect", ".framework", ".pai_state", ".attempt_list[].cause", ".reason.code", ".reason.decided_by",
    ".verdict.code", ".attempt_list[].verdict.code", ".attempt_list[].tasks[].verdict.code",
    ".task_list[].verdict.code", ".warnings[].code", ".uploads[].if_exists", ".forecast.by", ".task_list[].state",
    ".attempt_list[].tasks[].state",  # words of ours: codes
    ".verdict.title.en", ".verdict.title.zh", ".attempt_list[].verdict.title.en", ".attempt_list[].verdict.title.zh",
    ".attempt_list[].tasks[].verdict.title.en", ".attempt_list[].tasks[].verdict.title.zh",
    ".task_list[].verdict.title.en", ".task_list[].verdict.title.zh", ".forecast.why.en", ".forecast.why.zh",
    ".reason.message.en", ".reason.message.zh", ".uploads[].why.en", ".uploads[].why.zh",  # and sentences
    ".reason.evidence.~", ".spec.~", ".roles[].system_name", ".task_list[].name", ".attempt_list[].tasks[].name",
    ".pool", ".virtual_cluster", ".workspace", ".nodes[]", ".forecast.nodes[]", ".task_list[].node",
    ".task_list[].host", ".attempt_list[].tasks[].node", ".attempt_list[].tasks[].host", ".resources.gpu_type",
    ".roles[].resources.gpu_type", ".roles[].flavor",  # names of the cluster
}  # fmt: skip
"""Texts of what is told of a job that hold no word of anybody's."""


@dataclass(frozen=True)
class Hidden:
    """What the stranger must not see, and the application that has it."""

    stage: Stage
    app: Any
    people: tuple[Person, Person]
    admin: Person

    @property
    def ids(self) -> list[str]:
        return [one for person in self.people for one in (*person.jobs.values(), person.model)]


@pytest.fixture
async def hidden(tmp_path: Path, machines: WatchfulMachines) -> AsyncIterator[Hidden]:
    roots = tmp_path / "roots"
    roots.mkdir()
    async with Stage(tmp_path / "home", able(roots), engine=lambda: AbleEngine(machines)) as stage:
        machines.stage = stage
        first, second, admin = await two_people(stage)
        app = create_app(stage.platform)
        for person in (first, second):
            await laden(stage, app, person, machines, roots)
        yield Hidden(stage, app, (first, second), admin)


async def test_every_text_of_a_hidden_job_holds_a_canary(hidden: Hidden) -> None:
    """Of the document, of what else is told of a job, and of its history: a field that is added needs one, too."""
    shapes = contract(hidden.app.app)["components"]["schemas"]
    document = JobSpec.model_json_schema()
    for person in hidden.people:
        found: dict[str, list[Any]] = {"JobDetail": [], "Events": []}
        async with hidden.admin.client(hidden.app) as http:
            for job in person.jobs.values():
                for shape, rest in (("JobDetail", ""), ("Events", "/events")):
                    answer = await http.get(f"{PREFIX}/jobs/{job}{rest}")
                    assert answer.status_code == 200, answer.text
                    found[shape].append(answer.json())
        specs = [one["spec"] for one in found["JobDetail"]]
        assert without_canary(texts(document, document["$defs"], specs), person.name) == WORDLESS
        told = texts(shapes["JobDetail"], shapes, found["JobDetail"])
        assert without_canary(told, person.name) == OURS
        assert seen_in(str(found["Events"]).lower(), [person.name])
        for what in ("tag", "note"):
            assert seen_in("\n".join(told[f".{what}" if what == "note" else ".tags[]"]).lower(), [person.name])


@dataclass(frozen=True)
class Asking:
    """Makes requests: addresses of the contract with whatever stands there, names that exist and parts of hidden
    ids. `seen`: what names the one job that may be looked at.
    """

    chance: random.Random
    operations: list[tuple[str, str, dict[str, Any]]]
    hidden: list[str]
    seen: list[str]
    schemas: dict[str, Any]

    def word(self) -> str:
        """Return something that might name something, never a canary."""
        hidden = self.chance.choice(self.hidden)
        return self.chance.choice(
            [
                hidden,
                hidden[: self.chance.randint(1, len(hidden))],
                self.chance.choice(
                    ["n1", "n2", "default", "speech", "admin", "queue", "common", "outputs", "main", "w"]
                ),
                self.chance.choice(
                    ["", "*", "%", "_", "..", "a' OR 1=1 --", "label:common", "common=", "0", "-1", "1e9"]
                ),
                "".join(self.chance.choices("abcdefghijklmnopqrstuvwxyz0123456789%_-./", k=self.chance.randint(1, 12))),
            ]
        )

    def value(self, schema: dict[str, Any]) -> Any:
        """Return a value for a parameter or field, that its schema may like or not."""
        if "enum" in schema and self.chance.random() < 0.8:
            return self.chance.choice(schema["enum"])
        kind = schema.get("type", "string")
        if kind in ("integer", "number") and self.chance.random() < 0.8:
            return self.chance.choice([0, 1, 2, 50, 1000, -1])
        return self.word()

    def fitting(self, schema: dict[str, Any], depth: int = 0) -> Any:
        """Return what has the shape that a body should have, as deep as that is, with words and ids in its leaves."""
        if "$ref" in schema:
            return self.fitting(self.schemas[schema["$ref"].rpartition("/")[2]], depth)
        for several in ("anyOf", "oneOf", "allOf"):
            if several in schema:
                return self.fitting(self.chance.choice(schema[several]), depth)
        if depth < DEEP and schema.get("type") == "array":
            return [self.fitting(schema.get("items", {}), depth + 1) for _ in range(self.chance.randint(0, 2))]
        if depth < DEEP and schema.get("type") == "object":
            wanted = set(schema.get("required", ()))
            held = {
                name: self.fitting(of, depth + 1)
                for name, of in schema.get("properties", {}).items()
                if name in wanted or self.chance.random() < 0.4
            }
            free = schema.get("additionalProperties")
            return held if held or not free else {self.word() or "x": self.anything(depth + 1)}
        return self.value(schema)

    def anything(self, depth: int = 0) -> Any:
        """Return a value of any shape."""
        kind = self.chance.randint(0, 5) if depth < DEEP else 0
        if kind == 1:
            return [self.anything(depth + 1) for _ in range(self.chance.randint(0, 3))]
        if kind == 2:
            return {self.word() or "x": self.anything(depth + 1) for _ in range(self.chance.randint(0, 3))}
        return self.word() if kind else self.chance.choice([None, True, 0, 1.5, self.word()])

    def body(self, operation: dict[str, Any]) -> Any:
        """Return a body: of the shape that is published, or of names that something might take."""
        content = operation["requestBody"].get("content", {}).get("application/json", {})
        if self.chance.random() < 0.5:
            return self.fitting(content.get("schema", {}))
        names = ["share", "reason", "set", "submit", "ids", "role", "name", "filter", "spec", "items"]
        return {self.chance.choice(names): self.anything() for _ in range(self.chance.randint(0, 3))}

    def request(self) -> tuple[str, str, dict[str, Any], Any]:
        """Return (method, address, query, body)."""
        method, path, operation = self.chance.choice(self.operations)
        body = self.body(operation) if "requestBody" in operation else None
        return method.upper(), self.filled(path), self.query(operation), body

    def filled(self, path: str) -> str:
        """Return an address with something in place of its parameters."""
        values = {"number": "1", "version": "1", "task": "task0-0"}
        if self.chance.random() < 0.2:
            values["ref"] = self.chance.choice(self.seen)
        return re.sub(r"{(\w+)}", lambda found: values.get(found[1]) or self.word() or "x", path)

    def query(self, operation: dict[str, Any]) -> dict[str, Any]:
        """Return some of the parameters that an operation takes in its query."""
        return {
            one["name"]: self.value(one.get("schema", {}))
            for one in operation.get("parameters", ())
            if one.get("in") == "query" and self.chance.random() < 0.4
        }

    def first_message(self) -> list[Any]:
        """Return what is sent over a socket: what it wants to hear, or something else."""
        command = [self.word() or "sh" for _ in range(self.chance.randint(1, 3))]
        wanted = {"command": command, "tty": self.chance.random() < 0.5}
        return self.chance.choice([[wanted], [wanted, b"\x00" + self.word().encode()], [self.anything()], [b"\x00"]])


@dataclass
class Stranger:
    """Somebody in another workspace, a colleague of theirs whose job they may look at, and what they were told."""

    hidden: Hidden
    me: Person
    colleague: Person
    asking: Asking
    guessed: list[str]
    secret: list[str]
    own: set[str] = field(default_factory=set)
    """What they have written down somewhere themselves, as the name of a view."""
    views: list[tuple[Live, str]] = field(default_factory=list)
    answered: Counter[str] = field(default_factory=Counter)
    round: int = 0

    @property
    def log(self) -> Path:
        """The log of the job that they may look at."""
        return Path(self.hidden.stage.platform.layout.task(self.colleague.jobs["shared"], 1, 0, 0).log)

    def look(self, told: str, asked: str) -> None:
        """Look for canaries, and for ids of which the stranger did not ask."""
        marks = [*NAMES, *self.secret, *(one for one in self.guessed if one not in asked and one not in self.own)]
        assert not seen_in(without_owners(told), marks), (asked, told)

    async def over_http(self, http: httpx.AsyncClient) -> None:
        method, address, query, body = self.asking.request()
        answer = await http.request(method, f"{PREFIX}{address}", params=query, json=body)
        self.answered[str(answer.status_code)] += 1
        self.answered["bodies"] += body is not None and answer.status_code < 300
        asked = f"{method} {address} {query} {body}".lower()
        assert answer.status_code < 500, (asked, answer.text)
        if method != "GET" and answer.is_success:
            self.own |= {one for one in self.guessed if one in asked}
        self.look(said(answer), asked)

    async def over_a_socket(self, path: str) -> None:
        """Every one of a hidden job is refused before anything runs; that of the colleague's, too."""
        address, task = self.asking.filled(path), self.asking.chance.choice(["task0-0", self.asking.word()])
        messages = self.asking.first_message()
        socket = LiveSocket(self.hidden.app, self.me.token, address, {"task": task}, {}, messages=messages)
        socket.open()
        await socket.until(lambda _: False)
        self.answered[f"socket {path}"] += 1
        told = await socket.leave()
        assert "inside" not in told
        assert '"success"' not in told
        self.look(told, f"{address} {task} {messages}".lower())

    async def in_a_view(self, path: str, operation: dict[str, Any]) -> None:
        """Open a live view, and keep it open where it goes on."""
        address, query = self.asking.filled(path), self.asking.query(operation)
        mark = self.hidden.stage.platform.feed.mark(self.asking.chance.randint(0, 50))  # of the feed: it says all since
        last = self.asking.chance.choice([mark, str(self.asking.chance.randint(0, 50))])
        headers = {"last-event-id": last} if self.asking.chance.random() < 0.5 else {}
        query |= {"after": mark} if "after" in query and self.asking.chance.random() < 0.8 else {}
        view = LiveStream(self.hidden.app, self.me.token, address, query, headers)
        view.open()
        await view.until(lambda one: one.status > 0)
        self.answered[f"view {path} {view.status}"] += 1
        asked = f"{address} {query}".lower()
        if view.status == 200:
            self.views.append((view, asked))
        else:
            self.look(await view.leave(), asked)
        if len(self.views) >= MOST_OPEN:
            await self.watch()

    async def watch(self) -> None:
        """Let the hidden jobs change in every way, then the one that may be seen: whatever a view says until it tells
        of that, it says of what was before. The administrator's view tells of all of it.
        """
        self.round += 1
        mark = f"{80_000 + self.round}.0"
        wide = LiveStream(self.hidden.app, self.hidden.admin.token, "/feed", {}, {})
        wide.open()
        await wide.until(lambda one: one.status > 0)
        await self.change_what_is_hidden()
        platform = self.hidden.stage.platform
        shared = self.colleague.jobs["shared"]
        with self.log.open("a") as file:
            file.write(f"{mark}\n")
        await platform.change(shared, self.colleague.who, duration_s=float(mark))
        for view, asked in self.views:
            await view.until(lambda one: mark in one.said)
            self.look(await view.leave(), asked)
            self.answered["heard"] += mark in view.said
        await wide.until(lambda one: mark in one.said)
        assert {*seen_in(await wide.leave(), NAMES)} == {*NAMES}
        self.views.clear()

    async def change_what_is_hidden(self) -> None:
        for number, person in enumerate(self.hidden.people):
            async with person.client(self.hidden.app) as http:
                address = f"{PREFIX}/jobs/{person.jobs['runs']}"
                for method, rest, body in (
                    ("PUT", "/note", {"note": f"note {self.round} of {person.name}"}),
                    ("PATCH", "/tags", {"add": [f"{person.name}-{self.round}"], "remove": []}),
                    ("PUT", "/share", {"share": ("read", "none")[self.round % 2]}),
                    ("PATCH", "", {"duration_s": 9000.0 + self.round * 2 + number}),
                ):
                    answer = await http.request(method, address + rest, json=body)
                    assert answer.status_code == 200, answer.text
                log = Path(self.hidden.stage.platform.layout.task(person.jobs["runs"], 1, 0, 0).log)
                log.parent.mkdir(parents=True, exist_ok=True)
                log.write_text(f"{person.name} says {self.round}\n")


async def stranger_to(hidden: Hidden, app: Any) -> Stranger:
    platform = hidden.stage.platform
    await platform.administer.put_workspace(Workspace("speech"), ADMIN)
    people = []
    for name in ("dingo", "emu"):
        await platform.accounts.add(NewPerson(name, workspace="speech"), ADMIN)
        token = (await platform.credentials.create(ADMIN, WantedToken("t", user=name))).token
        people.append(Person(Principal(name, memberships=(("speech", "member"),)), token=token))
    me, colleague = people
    document = {**fake_spec("shared", "sleep infinity"), "workspace": "speech", "share": "read"}
    made, _ = await platform.submit({"spec": document}, colleague.who, None)
    await hidden.stage.running(made.id)
    colleague.jobs["shared"] = made.id
    guessed, secret = hidden.ids[::2], hidden.ids[1::2]  # of these the stranger knows the whole, or nearly all of it
    told_of = [one for one in (*guessed, *(one[:-3] for one in secret)) if not seen_in(one, NAMES)]
    paths, schemas = contract(app.app)["paths"], contract(app.app)["components"]["schemas"]
    operations = [
        (method, path.removeprefix(PREFIX), operation)
        for path, methods in paths.items()
        for method, operation in methods.items()
        if path.startswith(PREFIX) and (method, path.removeprefix(PREFIX)) not in GUESSES
    ]
    asking = Asking(random.Random(14), operations, told_of, [made.id, "shared"], schemas)
    stranger = Stranger(hidden, me, colleague, asking, guessed, secret)
    stranger.log.parent.mkdir(parents=True, exist_ok=True)
    stranger.log.write_text("a line that all may read\n" * 100)
    return stranger


@pytest.mark.timeout(900)
async def test_a_stranger_never_sees_a_byte_of_a_hidden_job(hidden: Hidden, caplog: pytest.LogCaptureFixture) -> None:
    app = hidden.app
    stranger = await stranger_to(hidden, app)
    asking, answered = stranger.asking, stranger.answered
    sockets = [one.path.removeprefix(PREFIX) for one in app.app.router.routes if isinstance(one, PolicySocket)]
    views = [one for one in asking.operations if MEDIA_TYPE in one[2]["responses"].get("200", {}).get("content", {})]
    asking.operations[:] = [one for one in asking.operations if one not in views]
    caplog.clear()
    async with stranger.me.client(app) as http:
        for _ in range(REQUESTS):
            dice = asking.chance.random()
            if dice < SOCKETS:
                await stranger.over_a_socket(asking.chance.choice(sockets))
            elif dice < SOCKETS + VIEWS:
                _, path, operation = asking.chance.choice(views)
                await stranger.in_a_view(path, operation)
            else:
                await stranger.over_http(http)
    await stranger.watch()
    assert not seen_in(caplog.text.lower(), NAMES)
    assert answered["200"] > REQUESTS / 20, answered
    assert answered["404"] > REQUESTS / 20, answered
    assert answered["bodies"] > 10, "some of what is sent is taken, too"
    assert stranger.round > 3, answered
    for _, path, _ in views:
        assert answered[f"view {path} 200"] > 5, "it listens where it may"
        assert answered[f"view {path} 404"] > 5, "and asks where it may not"
    assert answered["heard"] > MOST_OPEN * 3, answered
    assert all(answered[f"socket {path}"] > 50 for path in sockets), answered


async def test_who_may_enter_is_let_in_by_the_same_socket(hidden: Hidden) -> None:
    """Otherwise that strangers are not says nothing."""
    person = hidden.people[0]
    at = f"/jobs/{person.jobs['runs']}/exec"
    socket = LiveSocket(hidden.app, person.token, at, {}, {}, messages=[{"command": ["true"], "tty": False}])
    socket.open()
    await socket.until(lambda _: False)
    told = await socket.leave()
    assert "inside" in told
    assert '"success"' in told
