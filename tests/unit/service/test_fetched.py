"""What jobs are given of object storage: fetched once for all who want the same, and not once nobody does (R146)."""

import asyncio
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.unit.storage.test_objects import Shelf, on_shelf
from trainmaster.core.config import LimitsConfig
from trainmaster.core.folders.layout import Layout
from trainmaster.messages.said import Said
from trainmaster.service.objects.fetched import Fetched
from trainmaster.storage.trees import remove_tree


class Slow(Shelf):
    """A shelf that gives nothing before `opened`, and asks all the time whether it is wanted."""

    opened: threading.Event
    go_on: Any

    def read(self, one: Any, offset: int = 0) -> Any:
        while not self.opened.wait(0.01):
            self.go_on()
        return super().read(one, offset)


class Doors:
    """Connections that all lead to one shelf."""

    def __init__(self, objects: dict[str, bytes]) -> None:
        self.objects, self.opened, self.reads = objects, threading.Event(), list[list[int]]()

    def open(self, workspace: str, name: str, go_on: Any = lambda: None) -> Any:
        plain = on_shelf(self.objects)
        slow = Slow(plain.target, self.objects)
        slow.opened, slow.go_on = self.opened, go_on
        self.reads.append(slow.asked)
        return slow

    @property
    def asked(self) -> int:
        return sum(map(len, self.reads))


class Wish:
    """A job that wants something, until it does not."""

    def __init__(self) -> None:
        self.wanted, self.told = True, list[str]()

    def tell(self, said: Said) -> bool:
        self.told.append(said.code)
        return self.wanted


@pytest.fixture
def doors() -> Doors:
    return Doors({"set/a": b"hello", "set/b": b"there"})


@pytest.fixture
async def fetched(tmp_path: Path, doors: Doors) -> AsyncIterator[Fetched]:
    connections: Any = doors
    one = Fetched(Layout(str(tmp_path)), connections, LimitsConfig(), lambda: 1000.0, lambda: ["j1", "j2", "j3"])
    await one.start()
    yield one
    doors.opened.set()
    await one.close()
    remove_tree(str(tmp_path / "fetched"))


def begun(fetched: Fetched, job: str, wish: Wish) -> "asyncio.Task[Said | None]":
    return asyncio.create_task(fetched.stage(job, "lab", {0: "data/set"}, wish.tell))


async def until(wish: Wish, code: str) -> None:
    async with asyncio.timeout(60):
        while code not in wish.told:
            await asyncio.sleep(0.01)


async def test_two_who_want_the_same_wait_for_one_fetch_and_one_who_leaves_ends_it_for_nobody(
    fetched: Fetched, doors: Doors
) -> None:
    one, two = Wish(), Wish()
    first, second = begun(fetched, "j1", one), begun(fetched, "j2", two)
    await until(one, "fetching_inputs")
    await until(two, "fetching_inputs")
    one.wanted = False
    assert await first is None
    assert fetched.places("j1", 1) is None
    doors.opened.set()
    assert await second is None
    assert doors.asked == 2, "each object once"
    places = fetched.places("j2", 1)
    assert places is not None
    assert (Path(places[0]) / "a").read_bytes() == b"hello"


async def test_a_fetch_that_nobody_wants_ends_and_is_begun_anew_by_the_next(fetched: Fetched, doors: Doors) -> None:
    one, two = Wish(), Wish()
    first = begun(fetched, "j1", one)
    await until(one, "fetching_inputs")
    one.wanted = False
    assert await first is None
    second = begun(fetched, "j2", two)  # the first has perhaps not ended yet
    await until(two, "fetching_inputs")
    doors.opened.set()
    assert await second is None
    places = fetched.places("j2", 1)
    assert places is not None
    assert sorted(path.name for path in Path(places[0]).iterdir()) == ["a", "b"]


async def test_what_another_server_staged_is_known_from_the_disk(
    fetched: Fetched, doors: Doors, tmp_path: Path
) -> None:
    doors.opened.set()
    assert await begun(fetched, "j3", Wish()) is None
    doors.objects["set/c"] = b"later"
    connections: Any = doors
    other = Fetched(Layout(str(tmp_path)), connections, LimitsConfig(), lambda: 1000.0, lambda: ["j1", "j3"])
    await other.start()
    assert other.places("j3", 1) is None
    assert await other.places_from_disk("j3", 1) == fetched.places("j3", 1)
    asked = doors.asked
    assert await begun(other, "j3", Wish()) is None
    assert doors.asked == asked


async def test_what_is_damaged_is_not_there(fetched: Fetched, doors: Doors, tmp_path: Path) -> None:
    doors.opened.set()
    assert await begun(fetched, "j1", Wish()) is None
    [mark] = (tmp_path / "fetched").glob("*.json")
    mark.write_text("{")
    connections: Any = doors
    other = Fetched(Layout(str(tmp_path)), connections, LimitsConfig(), lambda: 1000.0, lambda: ["j1", "j3"])
    await other.start()
    assert await other.places_from_disk("j1", 1) is None
    assert not (tmp_path / "fetched" / mark.stem).exists()
    assert await begun(other, "j1", Wish()) is None
    assert other.places("j1", 1) is not None
