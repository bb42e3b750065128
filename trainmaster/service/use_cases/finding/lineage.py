"""Use case: what a version or a job was made of, and what was made of it. Changes nothing.

Upwards it goes by what jobs' documents name and by which job made a version, downwards by the index of what jobs use.
Each thing is asked for with the rights for its kind. Invariant: what may not be seen is not in it, nor how much of it
there is. What a document that is seen names stands there by that name; whether it was deleted or is not shared is the
same answer, but for whom either of them would not be hidden from. A job that made a model and may not be seen stands
there without any word of it.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from msgspec.structs import replace

from trainmaster.access.decide import decide
from trainmaster.access.roles import Principal
from trainmaster.access.visible import Visible
from trainmaster.answers import LineageEdge, LineageNode, LineageView
from trainmaster.answers.finding import LineageKind, LineageState
from trainmaster.core.errors import Conflict, NotFound
from trainmaster.core.records import Job
from trainmaster.core.states import Shown
from trainmaster.messages.assets import algorithms, datasets, images, volumes
from trainmaster.messages.jobs import files
from trainmaster.service.context import Context
from trainmaster.service.naming import own_first
from trainmaster.service.use_cases.finding.graph import Bounds, Drawn, grow
from trainmaster.service.use_cases.jobs import Jobs
from trainmaster.spec.outputs import place_of
from trainmaster.store.assets.images import about_of
from trainmaster.store.assets.lineage import LineageReader, VersionThere
from trainmaster.store.assets.versions import AssetKind, AssetReader
from trainmaster.store.finding.uses import JobUses, UsedKind, UsedThing

DEPTH: Final = 4
"""Steps each way, unless more are asked for: from a model over its job and an earlier model to that one's data."""
DEEPEST: Final = 12
MOST: Final = 60
"""Nodes on each side."""
EACH: Final = 24
"""Neighbors of a node on one side."""
KINDS: Final[Mapping[AssetKind, UsedKind]] = {
    AssetKind.DATASET: "dataset",
    AssetKind.MODEL: "model",
    AssetKind.ALGORITHM: "algorithm",
    AssetKind.IMAGE: "image",
    AssetKind.VOLUME: "volume",
}
"""What jobs have by name, and what it is called there."""
_MADE: Final = AssetKind.MODEL
"""What jobs make so far."""

_MISSING: Final = {
    AssetKind.DATASET: datasets.no_such_dataset,
    AssetKind.MODEL: files.no_such_model,
    AssetKind.ALGORITHM: algorithms.no_such_algorithm,
    AssetKind.IMAGE: images.no_such_image,
    AssetKind.VOLUME: volumes.no_such_volume,
}
_NO_VERSION: Final = {
    AssetKind.DATASET: datasets.no_such_dataset_version,
    AssetKind.MODEL: files.no_such_version,
    AssetKind.ALGORITHM: algorithms.no_such_algorithm_version,
    AssetKind.IMAGE: images.no_such_image_version,
}
_SEVERAL: Final = {
    AssetKind.DATASET: datasets.several_datasets,
    AssetKind.MODEL: files.several_models,
    AssetKind.ALGORITHM: algorithms.several_algorithms,
    AssetKind.IMAGE: images.several_images,
    AssetKind.VOLUME: volumes.several_volumes,
}


class Lineages:
    """One object per server."""

    def __init__(self, context: Context, assets: AssetReader, reader: LineageReader) -> None:
        self._ctx, self._assets, self._reader, self._jobs = context, assets, reader, Jobs(context)

    async def of(self, kind: str, ref: str, who: Principal, depth: int = DEPTH) -> LineageView:
        """Return the lineage of a job (id, the beginning of one, or slug), or of a version of an asset of a kind (id or
        name, ``@VERSION`` behind it: else the latest). `depth`: steps each way. Raises NotFound, Forbidden, Conflict
        where several are meant.
        """
        known = _Known(self._ctx, self._reader, who)
        bounds = Bounds(depth, MOST, EACH)
        if kind == "job":
            center = known.job(await self._jobs.resolve(ref, who))
            return await asyncio.to_thread(known.around, center, bounds)

        def read() -> LineageView:
            return known.around(known.version(self._version(AssetKind(kind), ref, who)), bounds)

        return await asyncio.to_thread(read)

    def _version(self, kind: AssetKind, ref: str, who: Principal) -> VersionThere:
        visible = decide(who, f"{kind}s:read").demand()
        name, _, number = ref.rpartition("@")
        numbered = bool(name) and number.isascii() and number.isdecimal() and len(number) < 10
        called = name if numbered else ref
        found = own_first(self._assets.called(visible, kind, called), called, who)
        if len(found) > 1:
            raise Conflict(_SEVERAL[kind](repr(ref), ", ".join(one.id[:12] for one in found[:4])))
        there = self._reader.one(visible, found[0], int(number) if numbered else found[0].latest) if found else None
        if there is None:
            missing = _NO_VERSION.get(kind) if found and numbered else None
            raise NotFound(missing(found[0].name, int(number)) if missing else _MISSING[kind](repr(ref)))
        return there


@dataclass(slots=True)
class _Known:
    """What was met so far, by node, and what is asked of it. Blocks."""

    ctx: Context
    reader: LineageReader
    who: Principal
    _nodes: dict[str, LineageNode] = field(default_factory=dict)
    _jobs: dict[str, Job] = field(default_factory=dict)
    _uses: dict[str, JobUses] = field(default_factory=dict)
    _versions: dict[str, VersionThere] = field(default_factory=dict)

    # -- nodes -------------------------------------------------------------------------------------------------

    def job(self, job: Job) -> str:
        """Return the node of a job that may be seen."""
        key, job = f"job:{job.id}", self.ctx.master.live.get(job.id, job)
        self._jobs[key] = job
        named = (job.name, job.id, job.owner, job.workspace, job.submitted_at)
        self._nodes[key] = _node(key, "job", *named, status=job.shown)
        return key

    def version(self, there: VersionThere) -> str:
        """Return the node of a version that may be seen."""
        one = there.version
        key = f"{there.kind}:{one.reference}"
        number = None if there.kind is AssetKind.VOLUME else one.number
        self._versions[key] = there
        at, place = one.created_at, there.workspace
        self._nodes[key] = _node(key, KINDS[there.kind], one.name, one.asset, there.owner, place, at, version=number)
        return key

    def _named(self, workspace: str, used: UsedThing, at: float) -> str:
        """Return the node of what a document of the moment `at` names."""
        kind, visible = AssetKind(used.kind), self._visible(f"{used.kind}s:read")
        there = self.reader.named(visible, kind, workspace, used.name, used.number, at)
        if there is not None:
            return self.version(there)
        state: LineageState = "deleted" if visible.everything and visible.within is None else "unseen"
        if self.reader.binned(self._visible(f"{used.kind}s:write"), kind, workspace, used.name, used.number, at):
            state = "bin"
        key = f"{used.kind}:{workspace}/{used.reference}"
        self._nodes[key] = _node(key, used.kind, used.name, "", "", workspace, None, state=state, version=used.number)
        return key

    def _maker(self, key: str, there: VersionThere) -> str | None:
        """Return the node of the job that made a version."""
        if there.version.job is None:
            return None
        visible = self._visible("jobs:read")
        try:
            job = self.ctx.reader.find(visible, there.version.job)
        except (NotFound, Conflict):
            job = None
        if job is not None and job.id == there.version.job:
            return self.job(job)
        state: LineageState = "deleted" if visible.everything and visible.within is None else "unseen"
        maker = f"job:of/{key}"
        self._nodes[maker] = _node(maker, "job", "", "", "", "", None, state=state)
        return maker

    def _stored(self, side: str, place: str) -> str:
        """Return the node of a place of object storage."""
        key = f"storage:{side} {place}"
        self._nodes[key] = _node(key, "storage", place, "", "", "", None)
        return key

    def _visible(self, scope: str) -> Visible:
        return decide(self.who, scope).visible

    # -- neighbors ---------------------------------------------------------------------------------------------

    def before(self, key: str, most: int) -> Sequence[tuple[str, str]]:
        """Return what something was made of."""
        if (job := self._jobs.get(key)) is not None:
            uses = self._uses_of(job)
            named = [(one, one.how) for one in uses.things][:most]
            found = [(self._named(job.workspace, one, job.submitted_at), str(how)) for one, how in named]
            return [*found, *((self._stored("from", place), "input") for place in uses.reads)][:most]
        there = self._versions.get(key)
        if there is None:
            return []
        if (maker := self._maker(key, there)) is not None:
            return [(maker, "output")]
        about = about_of(there.version) if there.kind is AssetKind.IMAGE else None
        name, _, number = (about.base if about is not None else "").rpartition("@")
        if not name or not number.isdecimal():
            return []
        base = UsedThing("image", name, int(number), "image")
        return [(self._named(there.workspace, base, there.version.created_at), "base")]

    def after(self, key: str, most: int) -> Sequence[tuple[str, str]]:
        """Return what was made of something."""
        if (job := self._jobs.get(key)) is not None:
            made = self.reader.made_by(self._visible(f"{_MADE}s:read"), _MADE, job.id, most)
            found = [(self.version(one), "output") for one in made]
            places = (place_of(one, job.id, job.name) for one in self._uses_of(job).writes)
            return [*found, *((self._stored("to", place), "output") for place in places)][:most]
        there = self._versions.get(key)
        if there is None:
            return []
        one, since = there.version, there.version.created_at
        used = UsedThing(KINDS[there.kind], one.name, None if there.kind is AssetKind.VOLUME else one.number)
        found = list[tuple[str, str]]()
        called = [(there.workspace, one.name, since), *self._taken(there)]
        for workspace, name, begun in called:
            named = UsedThing(used.kind, name, used.number)
            found += self._using(workspace, named, max(since, begun), most - len(found))
        for workspace, name, begun in called if there.kind is AssetKind.IMAGE else ():
            base, left = UsedThing(used.kind, name, used.number).reference, most - len(found)
            asked = (self._visible("images:read"), workspace, base, max(since, begun))
            found += [(self.version(each), "base") for each in self.reader.built_on(*asked, left)] if left > 0 else []
        return found

    def _taken(self, there: VersionThere) -> list[tuple[str, str, float]]:
        """Return where, under which names and since when something was taken in, as far as that may be told."""
        visible = self._visible(f"{there.kind}s:read")
        return [one for one in there.taken if visible.looks_into(one[0])]

    def _using(self, workspace: str, used: UsedThing, since: float, most: int) -> list[tuple[str, str]]:
        """Return the nodes of the jobs of a workspace that use something, by the name that it has there."""
        mine = decide(self.who, "jobs:read")
        jobs = self.ctx.reader.using(mine.visible, workspace, used, since, most) if mine.allowed and most > 0 else []
        return [(self.job(job), self._how(job, used)) for job in jobs]

    def _how(self, job: Job, used: UsedThing) -> str:
        return next((one.how for one in self._uses_of(job).things if one.written == used.written), "input")

    def _uses_of(self, job: Job) -> JobUses:
        if job.id not in self._uses:
            self._uses[job.id] = self.ctx.reader.uses(self._visible("jobs:read"), job.id)
        return self._uses[job.id]

    # -- answer ------------------------------------------------------------------------------------------------

    def around(self, center: str, bounds: Bounds) -> LineageView:
        """Return what is drawn around a node."""
        return self._view(center, grow(center, self.before, self.after, bounds))

    def _view(self, center: str, drawn: Drawn) -> LineageView:
        nodes = [
            replace(self._nodes[key], layer=layer, more=key in drawn.more)
            for key, layer in sorted(drawn.layers.items(), key=lambda one: one[1])
        ]
        edges = [LineageEdge(source=one.source, target=one.target, how=one.how) for one in drawn.edges]  # type: ignore[arg-type]
        return LineageView(center=center, nodes=nodes, edges=edges, more=bool(drawn.more))


def _node(
    key: str,
    kind: LineageKind,
    name: str,
    ref: str,
    owner: str,
    workspace: str,
    at: float | None,
    *,
    state: LineageState = "there",
    version: int | None = None,
    status: Shown | None = None,
) -> LineageNode:
    """Return a node before it is known where it is drawn."""
    return LineageNode(
        id=key,
        kind=kind,
        name=name,
        version=version,
        ref=ref,
        state=state,
        status=status,
        owner=owner,
        workspace=workspace,
        at=at,
        layer=0,
        more=False,
    )
