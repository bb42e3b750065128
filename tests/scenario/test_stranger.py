"""A stranger asks 10,000 random things and never sees a byte of what two others have: every text of a hidden job holds
a canary, and the canaries are looked for in every answer, its headers, and archives in it (B11).
"""

import asyncio
import random
import re
from collections import Counter
from dataclasses import dataclass
from typing import Any, Final

import httpx

from tests.fixtures.two_people import Person, said, seen_in, two_people, without_owners
from tests.scenario.stage import ADMIN, Stage
from trainmaster.access.roles import Principal
from trainmaster.api.app import create_app
from trainmaster.api.openapi import contract
from trainmaster.api.policy import PREFIX
from trainmaster.core.cluster import Workspace
from trainmaster.service.use_cases.people.accounts import NewPerson
from trainmaster.service.use_cases.people.credentials import WantedToken

REQUESTS: Final = 10_000
DEEP: Final = 5
"""Values one in another, in a body."""
GUESSES: Final = {("post", "/session"), ("post", "/session/password")}
"""They make who guesses wait."""


@dataclass(frozen=True)
class Asking:
    """Makes requests: addresses of the contract with whatever stands there, names that exist and parts of hidden
    ids.
    """

    chance: random.Random
    operations: list[tuple[str, str, dict[str, Any]]]
    hidden: list[str]
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
        values = {"number": "1", "version": "1", "task": "task0-0"}
        address = re.sub(r"{(\w+)}", lambda found: values.get(found[1]) or self.word() or "x", path)
        query = {
            one["name"]: self.value(one.get("schema", {}))
            for one in operation.get("parameters", ())
            if one.get("in") == "query" and self.chance.random() < 0.4
        }
        body = self.body(operation) if "requestBody" in operation else None
        return method.upper(), address, query, body


async def stranger_of(stage: Stage, app: Any) -> httpx.AsyncClient:
    """Return a client of somebody in another workspace."""
    await stage.platform.administer.put_workspace(Workspace("speech"), ADMIN)
    await stage.platform.accounts.add(NewPerson("dingo", workspace="speech"), ADMIN)
    token = (await stage.platform.credentials.create(ADMIN, WantedToken("t", user="dingo"))).token
    me = Person(Principal("dingo"), token=token)
    return me.client(app)


async def test_a_stranger_never_sees_a_byte_of_a_hidden_job(fake: Stage) -> None:
    first, second, _ = await two_people(fake)
    app = create_app(fake.platform)
    paths = contract(app.app)["paths"]
    operations = [
        (method, path.removeprefix(PREFIX), operation)
        for path, methods in paths.items()
        for method, operation in methods.items()
        if path.startswith(PREFIX) and (method, path.removeprefix(PREFIX)) not in GUESSES
    ]
    hidden = [*first.jobs.values(), *second.jobs.values(), first.model, second.model]
    words = [first.name, second.name]
    schemas = contract(app.app)["components"]["schemas"]
    guessed, secret = hidden[::2], hidden[1::2]  # of these the stranger knows the whole, or nearly all of it
    told_of = [one for one in (*guessed, *(one[:-3] for one in secret)) if not seen_in(one, words)]
    asking = Asking(random.Random(14), operations, told_of, schemas)
    app.close_views()  # a stream says what it has, and ends
    answered: Counter[int] = Counter()
    bodies = 0
    own = set[str]()  # what the stranger has written down somewhere, as the name of a view
    async with await stranger_of(fake, app) as http:
        for number in range(REQUESTS):
            method, address, query, body = asking.request()
            answer = await http.request(method, f"{PREFIX}{address}", params=query, json=body)
            answered[answer.status_code] += 1
            bodies += body is not None and answer.status_code < 300
            assert answer.status_code < 500, (method, address, query, body, answer.text)
            told = without_owners(said(answer))
            asked = f"{address} {query} {body}".lower()
            if method != "GET" and answer.is_success:
                own |= {one for one in guessed if one in asked}
            marks = [*words, *secret, *(one for one in guessed if one not in asked and one not in own)]
            assert not seen_in(told, marks), (method, address, query, body, answer.text)
            if number % 50 == 0:
                await asyncio.sleep(0)
    assert answered[200] > REQUESTS / 20, answered
    assert answered[404] > REQUESTS / 20, answered
    assert bodies > 10, "some of what is sent is taken, too"
