"""Use cases on algorithms (R23, R24, R150-R157): made of a document, listed, described, shared, deleted.

An algorithm lies in a workspace, like the jobs that run it. Who may see it and change it is judged as for data sets,
and judged again where it is written. Jobs keep what they got of it, so it can be deleted at any time.
"""

import asyncio
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import msgspec
from msgspec.structs import asdict

from trainmaster.access.decide import decide
from trainmaster.access.roles import Principal
from trainmaster.answers import (
    AlgorithmDetail,
    AlgorithmJob,
    AlgorithmPage,
    AlgorithmRight,
    AlgorithmVersionView,
    AlgorithmView,
)
from trainmaster.core.cluster import DEFAULT
from trainmaster.core.errors import InvalidSpec, NotFound, Problem, problem_of
from trainmaster.core.events import AuditEvent
from trainmaster.core.records import Job
from trainmaster.core.states import JobShare
from trainmaster.messages.assets import algorithms as said
from trainmaster.messages.jobs import rules, submitting
from trainmaster.messages.said import Said
from trainmaster.service.admission.places import member_problems, sharing_problems
from trainmaster.service.context import Context
from trainmaster.service.submitting.candidate import only_workspace
from trainmaster.service.use_cases.assets.lines import Lines, LineWords, subject_of
from trainmaster.spec.algorithms.algorithm import AlgorithmSpec
from trainmaster.spec.algorithms.checking import read_algorithm, written
from trainmaster.spec.document import Given
from trainmaster.spec.job import NAME
from trainmaster.spec.lower import digest_of
from trainmaster.storage.uploads import use
from trainmaster.store.assets.algorithms import AlgorithmRows, algorithm_version, document_in, maker_of
from trainmaster.store.assets.versions import Asset, AssetKind, AssetQuery, AssetReader, AssetVersion

LONGEST_DESCRIPTION: Final = 2000
_KIND: Final = AssetKind.ALGORITHM
_WORDS: Final = LineWords(
    said.no_such_algorithm, said.several_algorithms, said.algorithm_only_to_read, said.algorithm_not_yours_to_share
)
_NAME: Final = re.compile(NAME)
_SHOWN: Final = 20
"""Jobs that are named as those that use it."""


@dataclass(frozen=True, slots=True)
class WantedAlgorithm:
    """What becomes the next version of the algorithm `name`. `description` and `share`: where it is new."""

    name: str
    document: Given
    workspace: str | None = None
    description: str = ""
    share: JobShare = JobShare.NONE


class Algorithms:
    """One object per server."""

    def __init__(self, context: Context, assets: AssetReader, rows: AlgorithmRows) -> None:
        self._ctx, self._assets, self._rows = context, assets, rows
        self.lines = Lines(context, assets, _KIND, _WORDS)

    # -- look --------------------------------------------------------------------------------------------------

    async def page(self, who: Principal, wanted: AssetQuery, limit: int, cursor: str | None = None) -> AlgorithmPage:
        """Return a page of the algorithms `who` may see, what was changed last first. Raises InvalidSpec for a cursor
        of another list.
        """
        visible = decide(who, "algorithms:read").demand()

        def read() -> AlgorithmPage:
            page = self._assets.page(visible, _KIND, wanted, limit, cursor)
            last = self._assets.latest(visible, page.items)
            total = self._assets.count(visible, _KIND, wanted)
            marked = self.lines.favorites(who, page.items)
            items = [self._view(one, last.get(one.id), who, marked) for one in page.items]
            return AlgorithmPage(items=items, next_cursor=page.next_cursor, total=total)

        return await asyncio.to_thread(read)

    async def detail(self, ref: str, who: Principal, version: int | None = None) -> AlgorithmDetail:
        """Return an algorithm (id, the beginning of one, or name) with its versions and the document of one, the last
        where none is named. Raises NotFound, Conflict where several are meant.
        """
        return await self._shown(await self.lines.find(ref, who), who, version)

    async def code(self, ref: str, version: int, who: Principal) -> tuple[str, str]:
        """Return an algorithm's name, and the folder with the code of one of its versions. Raises NotFound."""
        line = await self.lines.find(ref, who)
        for one in await self._versions(line, who):
            if one.number != version:
                continue
            upload = (document_in(one).get("code") or {}).get("upload")
            if not isinstance(upload, str):
                raise NotFound(said.algorithm_without_code(line.name))
            return line.name, self._ctx.layout.upload(upload.removeprefix("sha256:"))
        raise NotFound(said.no_such_algorithm_version(line.name, version))

    # -- act ---------------------------------------------------------------------------------------------------

    async def create(self, who: Principal, wanted: WantedAlgorithm) -> AlgorithmDetail:
        """Make the next version of an algorithm, which is created if there is none; where the last one says the same,
        that is the answer. Raises InvalidSpec with everything that is wrong, Forbidden for one that is only to be read,
        Conflict where its name is taken.
        """
        decide(who, "algorithms:write").demand()
        await self._ctx.disks.demand_room()
        workspace = wanted.workspace or only_workspace(who) or DEFAULT
        algorithm = await self._judged(wanted, workspace, who)
        line = await asyncio.to_thread(self._called, workspace, wanted.name, who)
        if line is not None:
            self.lines.demand_right(who, "algorithms:write", line)
        now, document = self._ctx.clock(), written(algorithm)
        text = msgspec.json.encode(document).decode()
        new = algorithm_version(document, digest_of(text), len(text.encode()), who.name, now, who.role == "admin")
        asset = Asset(
            "a" + self._ctx.random_bytes(16).hex(),
            _KIND,
            wanted.name,
            workspace,
            who.name,
            now,
            wanted.share.value,
            wanted.description or algorithm.description,
            now,
        )

        def told(of: Asset, number: int) -> AuditEvent:
            return who.did(subject_of(of), said.algorithm_version_made(of.name, number), now)

        writable = decide(who, "algorithms:write").visible
        made = await asyncio.to_thread(self._rows.add, writable, asset, new, told)
        return await self.detail(made.asset, who, made.number)

    async def describe(self, ref: str, who: Principal, description: str) -> AlgorithmDetail:
        """Say what an algorithm does. Raises NotFound, Forbidden, InvalidSpec."""
        before = await self.lines.find(ref, who, "algorithms:write")
        if found := _description_problems(description):
            raise InvalidSpec(said.algorithm_not_valid(len(found)), problems=tuple(found))
        told = self._told(who, "description", said.algorithm_described)
        writable = decide(who, "algorithms:write").visible
        await asyncio.to_thread(lambda: self._rows.change(writable, before.id, told, description=description))
        return await self.detail(before.id, who)

    async def share(self, ref: str, who: Principal, share: JobShare) -> AlgorithmDetail:
        """Share an algorithm with the other members of its workspace, or no more. Raises NotFound, Forbidden,
        InvalidSpec where nothing may be shared there.
        """
        before = await self.lines.find(ref, who, "algorithms:share")
        if wrong := sharing_problems(share, self._ctx.pools.workspaces.get(before.workspace)):
            raise InvalidSpec(said.algorithm_not_valid(len(wrong)), problems=tuple(wrong))
        told = self._told(who, "share", said.algorithm_shared)
        sharable = decide(who, "algorithms:share").visible
        await asyncio.to_thread(lambda: self._rows.change(sharable, before.id, told, share=share.value))
        return await self.detail(before.id, who)

    async def favor(self, ref: str, who: Principal, wanted: bool) -> AlgorithmDetail:
        """Make an algorithm one of one's own favorites, or no more. Raises NotFound, Conflict where several are
        meant.
        """
        return await self._shown(await self.lines.favor(ref, who, wanted), who)

    async def delete(self, ref: str, who: Principal) -> None:
        """Put an algorithm with all its versions into the bin; jobs keep what they got of it. Raises NotFound,
        Forbidden.
        """
        line = await self.lines.find(ref, who, "algorithms:write")
        gone, missing = said.algorithm_deleted(line.name), said.no_such_algorithm(repr(ref))
        await self._ctx.bin.put(who, line, None, gone, missing)

    async def delete_version(self, ref: str, version: int, who: Principal) -> None:
        """Put one version into the bin; its number is never given again. Raises NotFound, Forbidden."""
        line = await self.lines.find(ref, who, "algorithms:write")
        gone = said.algorithm_version_deleted(line.name, version)
        await self._ctx.bin.put(who, line, version, gone, said.no_such_algorithm_version(line.name, version))

    # -- inside ------------------------------------------------------------------------------------------------

    async def _judged(self, wanted: WantedAlgorithm, workspace: str, who: Principal) -> AlgorithmSpec:
        """Return the algorithm that is wanted. Raises InvalidSpec with everything that is wrong."""
        found = _description_problems(wanted.description)
        if not _NAME.fullmatch(wanted.name):
            found.append(problem_of("name", said.not_an_algorithm_name(), wanted.name[:200]))
        spaces = self._ctx.pools.workspaces
        if workspace not in spaces:
            known = rules.unknown_workspace(name=workspace, known=sorted(spaces))
            found.append(problem_of("workspace", known, workspace))
        else:
            found += [*member_problems(workspace, who), *sharing_problems(wanted.share, spaces[workspace])]
        algorithm = None
        try:
            algorithm = read_algorithm(wanted.document)
            found += await self._code_problems(algorithm)
        except InvalidSpec as error:
            found += error.problems
        if found or algorithm is None:
            raise InvalidSpec(said.algorithm_not_valid(len(found)), problems=tuple(found))
        return algorithm

    async def _code_problems(self, algorithm: AlgorithmSpec) -> list[Problem]:
        code = algorithm.code
        if code is not None and code.path is not None:
            return [problem_of("code.path", said.algorithm_code_not_uploaded(code.path), code.path)]
        if code is None or code.digest is None:
            return []
        there = await asyncio.to_thread(use, self._ctx.layout.upload(code.digest))
        return [] if there else [problem_of("code.upload", submitting.no_upload())]

    def _called(self, workspace: str, name: str, who: Principal) -> Asset | None:
        return self._assets.find(decide(who, "algorithms:read").visible, _KIND, name, workspace)

    async def _versions(self, line: Asset, who: Principal) -> list[AssetVersion]:
        visible = decide(who, "algorithms:read").demand()
        return await asyncio.to_thread(self._assets.versions, visible, line.id)

    async def _shown(self, line: Asset, who: Principal, version: int | None = None) -> AlgorithmDetail:
        versions = await self._versions(line, who)
        shown = next((one for one in versions if version in (None, one.number)), None)
        if shown is None and version is not None:
            raise NotFound(said.no_such_algorithm_version(line.name, version))
        visible = decide(who, "jobs:read").visible
        seen = [job for job in self._ctx.master.live.values() if visible.covers(job)]
        using = await asyncio.to_thread(self._using, seen, self.lines.known_as(who, line))
        marked = await asyncio.to_thread(self.lines.favorites, who, [line])
        view = self._view(line, versions[0] if versions else None, who, marked)
        return AlgorithmDetail(
            **asdict(view),
            **await asyncio.to_thread(self.lines.beyond, line, "share" in view.may),
            shown=shown.number if shown is not None else 0,
            spec=document_in(shown) if shown is not None else {},
            history=[_version_view(one) for one in versions],
            jobs=using[:_SHOWN],
            more_jobs=max(0, len(using) - _SHOWN),
        )

    def _using(self, jobs: list[Job], called: list[tuple[str, str]]) -> list[AlgorithmJob]:
        """Return those of `jobs`, which have not ended, that run a version of the algorithm, whose names by workspace
        are `called`.
        """
        named: dict[str, str] = {}
        found, places = [], {workspace for workspace, _ in called}
        for job in jobs:
            if job.workspace not in places:
                continue
            if job.spec_digest not in named:
                spec = self._ctx.specs.fetch_or_none(job.spec_digest)
                named[job.spec_digest] = (spec.algorithm or "") if spec is not None else ""
            of, _, number = named[job.spec_digest].partition("@")
            if (job.workspace, of) in called:
                found.append(AlgorithmJob(id=job.id, name=job.name, version=int(number or 0)))
        return found

    def _view(self, line: Asset, last: AssetVersion | None, who: Principal, marked: set[str]) -> AlgorithmView:
        rights: tuple[AlgorithmRight, ...] = ("write", "share")
        framework = document_in(last).get("framework") if last is not None else None
        kind = framework.get("kind") if isinstance(framework, dict) else None
        return AlgorithmView(
            id=line.id,
            name=line.name,
            description=line.description,
            workspace=line.workspace,
            owner=line.owner,
            preset=last is not None and last.about.get("preset") is True and line.share != JobShare.NONE,
            share=JobShare(line.share),
            latest=line.latest,
            versions=line.versions,
            framework=kind if isinstance(kind, str) else "",
            created_at=line.created_at,
            changed_at=line.changed_at,
            favorite=line.id in marked,
            taken=self.lines.taken(who, line),
            may=[right for right in rights if decide(who, f"algorithms:{right}", line).allowed],
        )

    def _told(self, who: Principal, field: str, words: Callable[[str], Said]) -> Callable[[Asset, Asset], AuditEvent]:
        now = self._ctx.clock()

        def told(was: Asset, now_is: Asset) -> AuditEvent:
            changes = ((field, getattr(was, field), getattr(now_is, field)),)
            return who.did(subject_of(now_is), words(now_is.name), now, changes)

        return told


def _description_problems(description: str) -> list[Problem]:
    if len(description) > LONGEST_DESCRIPTION:
        return [problem_of("description", said.algorithm_description_too_long(LONGEST_DESCRIPTION))]
    return []


def _version_view(version: AssetVersion) -> AlgorithmVersionView:
    upload = (document_in(version).get("code") or {}).get("upload")
    return AlgorithmVersionView(
        version=version.number,
        digest=version.digest,
        code=upload if isinstance(upload, str) else None,
        created_at=version.created_at,
        by=maker_of(version),
    )
