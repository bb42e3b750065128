"""An answer about what is hidden is made as one about what never was: in the same words, by the same questions to the
store, so that not even the time it takes tells of it. And no id tells how much there is that one may not see.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final

import pytest
from sqlalchemy import Engine, event

from tests.fixtures.two_people import Person, two_people
from tests.scenario.doors import Door
from tests.scenario.stage import Stage, fake_spec
from trainmaster.api.app import create_app
from trainmaster.api.policy import PREFIX, PolicyRoute

ASKS: Final[ContextVar[list[str] | None]] = ContextVar("asks", default=None)
"""The statements of the request that is under way; what the server does of its own accord has none."""
BODIES: Final = {
    "clone": {"submit": False},
    "share": {"share": "none"},
    "tags": {"add": ["good"]},
    "note": {"note": "worth a look"},
}
WRITES: Final = {"PATCH": {"description": "of the test"}}


@contextmanager
def listened(engine: Engine) -> Iterator[None]:
    """Note the statements of requests."""

    def note(connection: Any, cursor: Any, statement: str, *more: Any) -> None:
        asks = ASKS.get()
        if asks is not None:
            asks.append(statement)

    event.listen(engine, "before_cursor_execute", note)
    try:
        yield
    finally:
        event.remove(engine, "before_cursor_execute", note)


async def asked(http: Any, method: str, address: str) -> tuple[int, str, list[str]]:
    """Return the status, the answer, and what the store was asked for it."""
    body = BODIES.get(address.partition("?")[0].rpartition("/")[2], WRITES.get(method))
    asks: list[str] = []
    mine = ASKS.set(asks)
    try:
        answer = await http.request(method, address, json=body)
    finally:
        ASKS.reset(mine)
    return answer.status_code, answer.text, asks


def about_one(app: Any) -> list[tuple[str, Door]]:
    """Return every (method, route) about one thing that belongs to somebody."""
    found = []
    for route in app.app.router.routes:
        if isinstance(route, PolicyRoute) and re.search("{(ref|upload)}", route.path):
            door = Door(route.path.removeprefix(PREFIX), False)
            found += [(method, door) for method in sorted(route.methods or ())]
    return found


async def test_what_is_hidden_takes_the_questions_of_what_never_was(fake: Stage) -> None:
    """By every route, and by every way to name it: the whole id, its beginning, its name."""
    first, second, _ = await two_people(fake)
    app, tried = create_app(fake.platform), 0
    with listened(fake.platform._life._database.readers):
        async with first.client(app) as http:
            await http.get(f"{PREFIX}/session")  # who asks is remembered from here on
            for method, door in about_one(app):
                for ref in second.refs(door.kind):
                    nothing = re.sub(r"[^-]", "z", ref)
                    hidden = await asked(http, method, door.address(ref))
                    never = await asked(http, method, door.address(nothing))
                    assert hidden[0] == never[0], (method, door.path, ref, hidden)
                    assert hidden[1].replace(ref, nothing) == never[1]
                    assert hidden[2] == never[2], (method, door.path, ref)
                    tried += bool(never[2])
    assert tried > 100


async def test_what_is_ones_own_is_asked_for(fake: Stage) -> None:
    """Or the test above would compare nothing with nothing."""
    first, _, _ = await two_people(fake)
    app = create_app(fake.platform)
    with listened(fake.platform._life._database.readers):
        async with first.client(app) as http:
            status, _, asks = await asked(http, "GET", f"{PREFIX}/jobs/{first.jobs['ended']}")
    assert status == 200
    assert any("FROM job" in one for one in asks)


async def test_an_id_says_nothing_of_how_many_there_are(fake: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is drawn by lot, whatever lies hidden beside it: the same lots give the same ids."""
    first, second, _ = await two_people(fake)
    ctx = fake.platform.context

    async def drawn(who: Person, others: int) -> str:
        for _ in range(others):
            await fake.platform.submit({"spec": fake_spec("hidden", "true")}, second.who, None)
        monkeypatch.setattr(ctx, "random_bytes", lambda count: bytes(range(others, others + count)))
        made = (await fake.platform.submit({"spec": fake_spec("mine", "true")}, who.who, None))[0].id
        monkeypatch.undo()
        return made

    for others in (0, 7):
        assert await drawn(first, others) == "t" + bytes(range(others, others + 16)).hex()
