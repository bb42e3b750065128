"""Lineage tells nobody anything of what they may not see: it answers what it would answer if that were not there."""

import json
import random
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

import pytest
from sqlalchemy import Connection, insert

from tests.fixtures.histories import History, new_job
from trainmaster.access.decide import decide
from trainmaster.access.roles import Principal
from trainmaster.access.visible import InWorkspace
from trainmaster.answers import LineageView
from trainmaster.core.states import JobShare
from trainmaster.service.use_cases.finding.lineage import DEEPEST, Lineages
from trainmaster.store.assets.lineage import LineageReader
from trainmaster.store.assets.versions import AssetReader
from trainmaster.store.database import Database
from trainmaster.store.finding import index
from trainmaster.store.jobs.ledger import Batch, Ledger
from trainmaster.store.jobs.read_jobs import JobReader
from trainmaster.store.jobs.read_ledger import LedgerReader
from trainmaster.store.tables import asset, asset_version

PEOPLE: Final = ("ann", "bob", "cat")
PLACES: Final = ("vision", "speech")
ASKING: Final = {
    "member": Principal("bob", memberships=(("vision", "member"),), sharing=frozenset({"vision"})),
    "nobody": Principal("dan"),
    "leader": Principal("eve", memberships=(("vision", "admin"), ("speech", "member")), sharing=frozenset(PLACES)),
    "token": Principal("ann", memberships=(("vision", "member"),), sharing=frozenset(PLACES), within="vision"),
    "narrow": Principal("ann", memberships=(("vision", "admin"),), scopes=frozenset({"models:read"})),
}


@dataclass
class Made:
    """A version, or a job with the things that it names."""

    kind: str
    id: str
    name: str
    workspace: str
    owner: str
    share: str
    at: float
    number: int = 0
    job: str | None = None
    names: list["Made"] = field(default_factory=list)

    @property
    def thing(self) -> InWorkspace:
        return InWorkspace(self.workspace, self.owner, self.share)

    def seen_by(self, who: Principal) -> bool:
        found = decide(who, f"{self.kind}s:read")
        return found.allowed and found.visible.covers(self.thing)


def world(seed: int, count: int = 60) -> list[Made]:
    """Data and models of three people in two workspaces, and jobs that name what was there before them."""
    dice = random.Random(seed)
    made: list[Made] = []
    for at in range(count):
        place, owner, share = dice.choice(PLACES), dice.choice(PEOPLE), dice.choice(list(JobShare)).value
        here = [one for one in made if one.workspace == place and one.kind != "job"]
        makers = [one for one in made if one.workspace == place and one.kind == "job" and one.owner == owner]
        kind = dice.choice(["dataset", "algorithm", "image", "job", "job", "job", "model", "model"])
        if kind == "job":
            id_ = f"t{at:032x}"
            few = dice.sample(here, min(len(here), dice.randint(0, 4)))
            named = {one.kind if one.kind in ("algorithm", "image") else one.id: one for one in few}
            made.append(Made(kind, id_, f"job-{at}", place, owner, share, float(at), names=[*named.values()]))
        elif kind != "model" or makers:
            job = dice.choice(makers).id if kind == "model" else None
            share = JobShare.NONE.value if kind == "model" else share
            made.append(Made(kind, f"a{at}", f"{kind}-{at}", place, owner, share, float(at), 1, job))
    return made


def document(job: Made) -> str:
    told: dict[str, Any] = {"inputs": []}
    for one in job.names:
        reference = f"{one.name}@{one.number}"
        if one.kind in ("algorithm", "image"):
            told[one.kind] = reference
        else:
            told["inputs"].append({one.kind: reference})
    return json.dumps(told, separators=(",", ":"))


def store(made: list[Made], folder: Path, all_found: bool) -> Database:
    folder.mkdir()
    database = Database.open(f"sqlite:///{folder}/t.db", backup_dir=str(folder / "backups"))
    ledger = Ledger(database)

    def add(connection: Connection) -> None:
        for one in made:
            if one.kind == "job":
                continue
            line = {name: getattr(one, name) for name in ("id", "kind", "workspace", "name", "owner", "share")}
            connection.execute(insert(asset).values(**line, created_at=one.at, changed_at=one.at))
            about = {"job": one.job, "attempt": None if one.job is None else int(one.id[1:])}
            about |= {"digest": "d", "size_bytes": 1, "files": 1, "source": "job", "path": one.id, "about": "{}"}
            version = {"asset": one.id, "number": one.number, "created_at": one.at}
            connection.execute(insert(asset_version).values(**version, **about))

    database.write(add).result(60)
    batch = Batch()
    for one in made:
        if one.kind == "job":
            fields = {"owner": one.owner, "workspace": one.workspace, "share": JobShare(one.share)}
            seq = int(one.id[1:], 16) + 1
            job = new_job(seq, id=one.id, name=one.name, submitted_at=one.at, spec_digest=f"sha256:{one.id}", **fields)
            batch.changes += History(seq * 50).submit(job).changes
            batch.specs[job.spec_digest] = document(one)
    ledger.commit(batch).result(60)
    while all_found and database.write(lambda connection: index.fill(connection, 50)).result(60):
        pass
    return database


def asking(database: Database) -> Lineages:
    reader = JobReader(LedgerReader(database))
    context: Any = SimpleNamespace(reader=reader, master=SimpleNamespace(live={}))
    return Lineages(context, AssetReader(database), LineageReader(database))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("who", ASKING)
async def test_what_may_not_be_seen_makes_no_difference(who: str, seed: int, tmp_path: Path) -> None:
    everything, person = world(seed), ASKING[who]
    seen = [one for one in everything if one.seen_by(person)]
    hidden = [one for one in everything if not one.seen_by(person)]
    whole, without = store(everything, tmp_path / "whole", True), store(seen, tmp_path / "without", seed % 2 == 0)
    told_by_documents = {one.id for job in seen if job.kind == "job" for one in job.names}
    try:
        for one in seen:
            ref = one.id if one.kind == "job" else f"{one.id}@{one.number}"
            found: list[LineageView] = [
                await asking(each).of(one.kind, ref, person, DEEPEST) for each in (whole, without)
            ]
            assert found[0] == found[1], (who, one)
            refs, names = {node.ref for node in found[0].nodes}, {node.name for node in found[0].nodes}
            for other in hidden:
                assert other.id not in refs, (who, one, other)
                assert other.name not in names or other.id in told_by_documents, (who, one, other)
    finally:
        whole.close()
        without.close()


async def test_an_administrator_sees_all_of_it(tmp_path: Path) -> None:
    """So that the test above is about something: every use is drawn, from both ends."""
    everything, admin = world(1), Principal("admin", "admin")
    database = store(everything, tmp_path / "whole", True)
    try:
        for job in everything:
            for one in job.names:
                view = await asking(database).of(one.kind, f"{one.id}@{one.number}", admin)
                assert job.id in {node.ref for node in view.nodes if node.layer > 0}
                view = await asking(database).of("job", job.id, admin)
                assert one.id in {node.ref for node in view.nodes if node.layer < 0}
        assert sum(len(job.names) for job in everything) > 20
    finally:
        database.close()
