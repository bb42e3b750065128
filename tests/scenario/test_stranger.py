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
ENDLESS: Final = {("get", "/feed"), ("get", "/jobs/{ref}/attempts/{number}/tasks/{task}/log/follow")}
"""Streams; what they tell is tried in test_visible.py and test_matrix.py."""
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
        body = None
        if "requestBody" in operation:
            body = {
                self.chance.choice(
                    ["share", "reason", "set", "submit", "ids", "role", "name", "filter", "spec", "items"]
                ): (self.chance.choice([self.word(), [self.word()], {"q": self.word()}, None, 1]))
                for _ in range(self.chance.randint(0, 3))
            }
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
        if path.startswith(PREFIX) and (method, path.removeprefix(PREFIX)) not in ENDLESS | GUESSES
    ]
    hidden = [*first.jobs.values(), *second.jobs.values(), first.model, second.model]
    words = [first.name, second.name]
    asking = Asking(random.Random(14), operations, [one for one in hidden if not seen_in(one, words)])
    answered: Counter[int] = Counter()
    async with await stranger_of(fake, app) as http:
        for number in range(REQUESTS):
            method, address, query, body = asking.request()
            answer = await http.request(method, f"{PREFIX}{address}", params=query, json=body)
            answered[answer.status_code] += 1
            assert answer.status_code < 500, (method, address, query, body, answer.text)
            told = without_owners(said(answer))
            asked = f"{address} {query} {body}".lower()
            marks = [*words, *(one for one in hidden if one not in asked)]
            assert not seen_in(told, marks), (method, address, query, body, answer.text)
            if number % 50 == 0:
                await asyncio.sleep(0)
    assert answered[200] > REQUESTS / 20, answered
    assert answered[404] > REQUESTS / 20, answered
