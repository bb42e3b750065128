"""The first page of the lists of a member of three workspaces, where people have 10,000 assets of each kind."""

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final

from sqlalchemy import Connection

from bench.measure import quantile
from bench.record import Record
from bench.server import PLAIN, Server
from bench.stage import Stage
from bench.team import PEOPLE, PLACES, member
from trainmaster.core.ids import job_id
from trainmaster.core.states import JobShare
from trainmaster.service.folders.homes import prepare_home
from trainmaster.store.assets.versions import Asset, AssetKind, AssetSource, NewVersion, append
from trainmaster.store.database import Database
from trainmaster.store.tables import asset

_SLICE: Final = 500
_LISTS: Final = {
    "list of data sets, p95": "/datasets?limit=50",
    "list of templates, p95": "/templates?limit=50",
    "list of models, p95": "/models?limit=50",
}


def run(stage: Stage, quick: bool) -> Iterator[Record]:
    """Yield the records."""
    stored, rounds = (1_000, 20) if quick else (10_000, 200)
    server = Server(stage, PLAIN, wait=False)
    fill(server.home, stored)
    server.start()
    client = server.client(member(server).token)
    for what, path in _LISTS.items():
        took = []
        for _ in range(rounds):
            began = time.monotonic()
            assert client.ask("GET", path)["items"]
            took.append((time.monotonic() - began) * 1e3)
        yield stage.record(what.removesuffix(", p95"), took, "ms")
        yield stage.record(what, [quantile(took, 0.95)], "ms")


def fill(home: str, stored: int) -> None:
    """Store so many assets of each kind, each with two versions, in a home that no server uses."""
    layout = prepare_home(home)
    database = Database.open(f"sqlite:///{layout.database}", backup_dir=layout.path("backups"))
    began = time.time() - stored
    for kind in AssetKind:
        for first in range(0, stored, _SLICE):
            database.write(_storing(kind, first, min(first + _SLICE, stored), began)).result()
    database.close()


def _storing(kind: AssetKind, first: int, last: int, began: float) -> Callable[[Connection], None]:
    def work(connection: Connection) -> None:
        for number in range(first, last):
            line = Asset(
                job_id(os.urandom),
                kind,
                f"{('flowers', 'speech', '图像')[number % 3]}-{number}",
                f"w{number * 7 % PLACES}",
                f"u{number % PEOPLE}",
                began + number,
                list(JobShare)[number % 3].value,
                "bench of a catalogue",
            )
            connection.execute(asset.insert().values({column.name: getattr(line, column.name) for column in asset.c}))
            for version in (1, 2):
                place = f"{kind.value}s/{number}-{version}"
                new = NewVersion("0" * 64, 1 << 30, 1000, began + number, AssetSource.PERSON, place, about={"by": "u1"})
                append(connection, replace(line, latest=version - 1), new)

    return work
