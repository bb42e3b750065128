"""Use cases on uploads of data sets: begun with a list of files, continued in any order, committed once.

Only the person who began one may continue it. What the server is said to have already are the contents of the last
versions of the data set that is uploaded to, which its uploader may read: whoever knows the digest of a file elsewhere
has to send it. Invariant: an upload becomes one version, however often its commit is asked for.
"""

import asyncio
import re
from collections import OrderedDict
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Any, Final

from trainmaster.access.decide import decide
from trainmaster.access.roles import Principal
from trainmaster.answers import DatasetUploadView, MadeVersion, ReceivedView
from trainmaster.core.cluster import DEFAULT
from trainmaster.core.errors import Conflict, InvalidSpec, NotFound, Problem, problem_of
from trainmaster.core.events import AuditEvent
from trainmaster.core.formats.frames import BATCH, SMALL
from trainmaster.core.states import JobShare
from trainmaster.messages.assets import datasets as said
from trainmaster.messages.cluster.kept import upload_not_kept
from trainmaster.messages.jobs import rules
from trainmaster.messages.said import Said
from trainmaster.service.admission.places import member_problems, sharing_problems
from trainmaster.service.context import Context
from trainmaster.service.submitting.candidate import only_workspace
from trainmaster.service.use_cases.assets.datasets import Datasets, description_problems
from trainmaster.service.use_cases.assets.lines import subject_of
from trainmaster.spec.job import NAME
from trainmaster.storage.datasets import arriving, building
from trainmaster.storage.datasets.arriving import WAITS_S, Arrival, DatasetPlan, PieceWriter
from trainmaster.storage.datasets.listing import MAX_ENTRIES, judged
from trainmaster.storage.datasets.weighing import LOOKED_AT, brought
from trainmaster.store.assets.datasets import DatasetRows, dataset_version
from trainmaster.store.assets.versions import Asset, AssetKind, AssetReader, AssetVersion

MOST: Final = 16
"""Uploads that one person may have on their way."""
KEPT: Final = 32
"""Uploads that are remembered as they are on the disk."""
_NAME: Final = re.compile(NAME)
_ID: Final = re.compile(r"u[0-9a-f]{32}")
_KIND: Final = AssetKind.DATASET


@dataclass(frozen=True, slots=True)
class WantedUpload:
    """What is to be uploaded: `files` as the client lists them, to the data set `name`; `description` and `share`: of
    one that is made by it. `workspace` None: the one that a job of theirs would be in.
    """

    name: str
    files: Any
    workspace: str | None = None
    description: str = ""
    share: JobShare = JobShare.NONE


class DatasetUploads:
    """One object per server."""

    def __init__(self, context: Context, assets: AssetReader, rows: DatasetRows, datasets: Datasets) -> None:
        self._ctx, self._assets, self._rows, self._datasets = context, assets, rows, datasets
        self._known: OrderedDict[str, Arrival] = OrderedDict()
        self._commits: dict[str, asyncio.Lock] = {}

    async def begin(self, who: Principal, wanted: WantedUpload) -> DatasetUploadView:
        """Begin an upload; return which contents are wanted. Raises InvalidSpec with all that is wrong with it,
        Forbidden for a data set that is only to be read, Conflict where its name is taken or too many are on their
        way, StorageFailed.
        """
        decide(who, "datasets:write").demand()
        await self._ctx.disks.demand_room()
        workspace = wanted.workspace or only_workspace(who) or DEFAULT
        if found := self._problems(wanted, workspace, who):
            raise InvalidSpec(said.dataset_not_valid(), problems=tuple(found))
        line = await asyncio.to_thread(self._rows.called, workspace, wanted.name)
        if line is not None:
            self._demand_writable(line, who)
        else:
            await asyncio.to_thread(self._rows.demand_unsubscribed, workspace, wanted.name)
        layout, now = self._ctx.layout, self._ctx.clock()
        visible = decide(who, "datasets:read").visible
        id_ = "u" + self._ctx.random_bytes(16).hex()

        def begun() -> Arrival:
            listing = judged(wanted.files, self._ctx.config.limits.dataset_mib)
            if arriving.owners(layout).count(who.name) >= MOST:
                raise Conflict(said.too_many_dataset_uploads(MOST))
            versions = self._assets.versions(visible, line.id)[:LOOKED_AT] if line is not None else []
            there = building.contents_in(layout, (one.path for one in versions), 2 * MAX_ENTRIES)
            plan = DatasetPlan(
                id_, who.name, wanted.name, workspace, now, listing.entries, wanted.description, wanted.share.value
            )
            return arriving.begin(layout, plan, there)

        arrival = await asyncio.to_thread(begun)
        await asyncio.to_thread(self._set_aside, arrival, line)
        self._remember(arrival)
        return await self._view(arrival)

    def _set_aside(self, arrival: Arrival, line: Asset | None) -> None:
        """Set aside the room that an upload to the data set `line` needs. Raises InvalidSpec where its storage quota
        does not allow it, StorageFailed; then nothing is left.
        """
        plan, kept = arrival.plan, self._ctx.kept
        person = line.owner if line is not None else plan.owner
        use = brought(plan.entries, (name for name in arrival.sizes if name not in arrival.missing))
        if (told := kept.hold(plan.id, (plan.workspace, person), use)) is not None:
            arrival.discard()
            raise _not_kept(told, plan.workspace)
        try:
            arrival.hold(person, use)
        except BaseException:
            kept.let_go(plan.id)
            raise

    def _problems(self, wanted: WantedUpload, workspace: str, who: Principal) -> list[Problem]:
        found = description_problems(wanted.description)
        if not _NAME.fullmatch(wanted.name):
            found.append(problem_of("name", said.not_a_dataset_name(), wanted.name[:200]))
        spaces = self._ctx.pools.workspaces
        if workspace not in spaces:
            known = rules.unknown_workspace(name=workspace, known=sorted(spaces))
            return [*found, problem_of("workspace", known, workspace)]
        return [*found, *member_problems(workspace, who), *sharing_problems(wanted.share, spaces[workspace])]

    def _demand_writable(self, line: Asset, who: Principal) -> None:
        if not decide(who, "datasets:read", line).allowed:
            problem = problem_of("name", said.dataset_name_taken(line.workspace), line.name)
            raise Conflict(said.dataset_exists(line.name), problems=(problem,))
        self._datasets.lines.demand_right(who, "datasets:write", line)

    async def state(self, id_: str, who: Principal) -> DatasetUploadView:
        """Return how far an upload is. Raises NotFound."""
        return await self._view(await self._find(id_, who))

    async def take(self, id_: str, body: bytes, who: Principal) -> ReceivedView:
        """Take a batch of small contents (`core.formats.frames`). Raises NotFound, InvalidSpec, StorageFailed."""
        await self._ctx.disks.demand_room()
        arrival = await self._find(id_, who)
        with self._continuing(arrival):
            whole = await asyncio.to_thread(arrival.take_batch, body)
        return ReceivedView(whole=whole, missing=len(arrival.missing))

    @asynccontextmanager
    async def piece(self, id_: str, name: str, offset: int, who: Principal) -> AsyncIterator["TakenPiece"]:
        """Give what takes a piece of one content from `offset` on. Raises NotFound, Conflict where that is not where it
        goes on, InvalidSpec for a content that is another than was said, StorageFailed.
        """
        await self._ctx.disks.demand_room()
        arrival = await self._find(id_, who)
        with self._continuing(arrival):
            opened = arrival.piece(name, offset)
            writer = await asyncio.to_thread(opened.__enter__)
            taken = TakenPiece(arrival, writer)
            try:
                yield taken
            except BaseException as error:
                opened.__exit__(type(error), error, error.__traceback__)
                raise
            opened.__exit__(None, None, None)

    @contextmanager
    def _continuing(self, arrival: Arrival) -> Iterator[None]:
        """Let an upload go on. Raises InvalidSpec while more is kept than the quota allows; what came so far stays."""
        if (told := self._ctx.kept.exceeded(arrival.plan.id)) is not None:
            raise _not_kept(told, arrival.plan.workspace)
        try:
            yield
        except BaseException:
            if not arrival.there():  # the disk was full: nothing is left of it
                self._ctx.kept.let_go(arrival.plan.id)
            raise

    async def cancel(self, id_: str, who: Principal) -> None:
        """Remove an upload. Raises NotFound."""
        arrival = await self._find(id_, who)
        self._known.pop(id_, None)
        await asyncio.to_thread(arrival.discard)
        self._ctx.kept.let_go(id_)

    async def commit(self, id_: str, who: Principal) -> tuple[MadeVersion, bool]:
        """Make a version of a whole upload; return it, and whether it was made now. Raises NotFound, Conflict while
        contents are missing or where the name is taken meanwhile, InvalidSpec where the storage quota does not allow
        it, StorageFailed.
        """
        lock = self._commits.setdefault(id_, asyncio.Lock())
        try:
            async with lock:
                return await self._commit(id_, who)
        finally:
            if not lock.locked():
                self._commits.pop(id_, None)

    async def _commit(self, id_: str, who: Principal) -> tuple[MadeVersion, bool]:
        decide(who, "datasets:write").demand()
        if (made := await self._made(id_, who)) is not None:
            return made, False
        arrival = await self._find(id_, who)
        plan = arrival.plan
        if found := member_problems(plan.workspace, who):
            raise InvalidSpec(said.dataset_not_valid(), problems=tuple(found))
        with self._continuing(arrival):
            await asyncio.to_thread(self._hold_what_it_takes, plan)
            place = await asyncio.to_thread(building.build, self._ctx.layout, arrival)
        version = await asyncio.to_thread(self._store, plan, place, who)
        await asyncio.to_thread(self._ctx.kept_versions.added, version.asset, version.number, id_)
        self._known.pop(id_, None)
        await asyncio.to_thread(arrival.discard)
        return self._answer(version, plan.workspace, who), True

    def _hold_what_it_takes(self, plan: DatasetPlan) -> None:
        """Set aside what a version takes at this moment: versions that it shares contents with may be gone. Raises
        InvalidSpec where the storage quota does not allow it.
        """
        line = self._rows.called(plan.workspace, plan.name)
        use = self._ctx.kept_versions.would_take(plan.entries, line.id if line is not None else None)
        person = line.owner if line is not None else plan.owner
        if (told := self._ctx.kept.hold(plan.id, (plan.workspace, person), use)) is not None:
            raise _not_kept(told, plan.workspace)

    def _store(self, plan: DatasetPlan, place: str, who: Principal) -> AssetVersion:
        now, listing = self._ctx.clock(), plan.listing
        wanted = Asset(
            "d" + self._ctx.random_bytes(16).hex(), _KIND, plan.name, plan.workspace, who.name, now, plan.share,
            plan.description, changed_at=now,
        )  # fmt: skip
        new = dataset_version(listing.digest, listing.size_bytes, listing.files, now, place, who.name)

        def told(line: Asset, number: int) -> AuditEvent:
            words = said.dataset_made(line.name) if line is wanted else said.dataset_version_made(line.name, number)
            return who.did(subject_of(line), words, now)

        return self._rows.add(decide(who, "datasets:write").visible, wanted, new, told)

    async def _made(self, id_: str, who: Principal) -> MadeVersion | None:
        """Return the version that an upload became."""
        if _ID.fullmatch(id_) is None or id_ in self._known:
            return None
        found = await asyncio.to_thread(self._rows.at, building.place_of(id_))
        if found is None or not decide(who, "datasets:read", found[0]).allowed:
            return None
        await self._forget(id_)
        return self._answer(found[1], found[0].workspace, who)

    async def _forget(self, id_: str) -> None:
        """Remove what is left of an upload whose version is stored: a server ended between the two."""

        def forget() -> None:
            try:
                arriving.load(self._ctx.layout, id_).discard()
            except NotFound:
                return

        await asyncio.to_thread(forget)
        self._ctx.kept.let_go(id_)

    def _answer(self, version: AssetVersion, workspace: str, who: Principal) -> MadeVersion:
        view = self._datasets.version_view(version, who)
        return MadeVersion(dataset=version.asset, name=version.name, workspace=workspace, version=view)

    async def _find(self, id_: str, who: Principal) -> Arrival:
        """Return an upload of `who`, who continues it. Raises NotFound."""
        decide(who, "datasets:write").demand()
        arrival = self._known.get(id_)
        if arrival is None:
            if _ID.fullmatch(id_) is None:
                raise NotFound(said.no_such_dataset_upload(id_[:100]))
            loaded = await asyncio.to_thread(arriving.load, self._ctx.layout, id_)
            arrival = self._known.get(id_) or loaded  # of two who load it, one object
        plan = arrival.plan
        if plan.owner != who.name or who.within not in (None, plan.workspace):
            raise NotFound(said.no_such_dataset_upload(id_))
        if not await asyncio.to_thread(arrival.touch):
            self._known.pop(id_, None)
            raise NotFound(said.no_such_dataset_upload(id_))
        self._remember(arrival)
        return arrival

    def _remember(self, arrival: Arrival) -> None:
        self._known[arrival.plan.id] = arrival
        self._known.move_to_end(arrival.plan.id)
        while len(self._known) > KEPT:
            self._known.popitem(last=False)

    async def _view(self, arrival: Arrival) -> DatasetUploadView:
        begun, plan = await asyncio.to_thread(arrival.begun), arrival.plan
        return DatasetUploadView(
            id=plan.id,
            name=plan.name,
            workspace=plan.workspace,
            files=plan.listing.files,
            size_bytes=plan.listing.size_bytes,
            missing=sorted(arrival.missing),
            begun=begun,
            small_bytes=SMALL,
            batch_bytes=BATCH,
            expires_at=self._ctx.clock() + WAITS_S,
        )


def _not_kept(told: Said, workspace: str) -> InvalidSpec:
    return InvalidSpec(upload_not_kept(), problems=(problem_of("workspace", told, workspace),))


class TakenPiece:
    """A piece on its way to the disk, through worker threads."""

    def __init__(self, arrival: Arrival, writer: PieceWriter) -> None:
        self._arrival, self._writer = arrival, writer

    async def write(self, block: bytes) -> None:
        """Keep more of it."""
        await asyncio.to_thread(self._writer.write, block)

    async def finish(self) -> ReceivedView:
        """Return how far its content is."""
        size, whole = await asyncio.to_thread(self._writer.finish)
        return ReceivedView(whole=int(whole), missing=len(self._arrival.missing), size_bytes=size)
