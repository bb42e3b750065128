"""Use cases on images (R25, R26, R54, R68, B18): Python environments that are built once, in the background, and that
jobs have by name. Shared, deleted and looked at as templates are.

An image lies in the workspace in which its jobs run. A version is stored once its environment is whole, judged again
where it is written. Of builds, people see their own, administrators of a workspace those in it.
"""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

from msgspec.structs import asdict

from trainmaster.access.decide import decide
from trainmaster.access.roles import Principal
from trainmaster.access.visible import InWorkspace
from trainmaster.answers import (
    ImageBuild,
    ImageBuilds,
    ImageDetail,
    ImageFile,
    ImagePackage,
    ImagePage,
    ImageRight,
    ImageUse,
    ImageView,
)
from trainmaster.core.errors import Conflict, InvalidSpec, NotFound, Problem, problem_of
from trainmaster.core.events import AuditEvent, Subject
from trainmaster.core.framework_kinds import KINDS
from trainmaster.core.states import JobShare
from trainmaster.messages.assets import containers
from trainmaster.messages.assets import images as said
from trainmaster.messages.said import Said
from trainmaster.service.admission.places import sharing_problems
from trainmaster.service.context import Context
from trainmaster.service.environments.builds import Build
from trainmaster.service.environments.definition import CARDS, Definition, EnvironmentPlan, problems_of
from trainmaster.service.environments.images import NeededImage
from trainmaster.service.environments.keeper import KeptEnvironment
from trainmaster.service.environments.workshop import find_uv, pythons
from trainmaster.service.language import both
from trainmaster.service.use_cases.assets.image_views import build_view, version_view
from trainmaster.service.use_cases.assets.lines import Lines, LineWords, subject_of
from trainmaster.service.use_cases.assets.packing import ImageBase, about_version, base_of, measured
from trainmaster.spec.lower import IMAGE_NAME, OWN_ENVIRONMENT
from trainmaster.store.assets.images import CONTAINER, ENVIRONMENT, about_of, image_version
from trainmaster.store.assets.versions import Asset, AssetKind, AssetQuery, AssetReader, AssetVersion

LONGEST_DESCRIPTION: Final = 2000
MOST_BUILDS: Final = 4
"""Builds of one person that have not ended."""
LOG_LINES: Final = 400
MOST_USES: Final = 50
"""Jobs that an image names as having it."""
_KIND: Final = AssetKind.IMAGE
_WORDS: Final = LineWords(
    said.no_such_image, said.several_images, said.image_only_to_read, said.image_not_yours_to_share
)


@dataclass(frozen=True, slots=True)
class WantedImage:
    """An image to make, or a version of one that is there. `frameworks`, `cards`: what it is for, empty: anything."""

    name: str
    definition: Definition
    workspace: str = "default"
    description: str = ""
    share: JobShare = JobShare.NONE
    frameworks: tuple[str, ...] = ()
    cards: tuple[str, ...] = ()


class Images:
    """One object per server."""

    def __init__(self, context: Context, assets: AssetReader) -> None:
        self._ctx, self._assets = context, assets
        self.lines = Lines(context, assets, _KIND, _WORDS)
        self._parts = context.images
        self._rows = context.images.rows

    # -- look --------------------------------------------------------------------------------------------------

    async def page(self, who: Principal, wanted: AssetQuery, limit: int, cursor: str | None = None) -> ImagePage:
        """Return a page of the images `who` may see, what was changed last first. Raises InvalidSpec for a cursor of
        another list.
        """
        visible = decide(who, "images:read").demand()

        def read() -> ImagePage:
            page = self._assets.page(visible, _KIND, wanted, limit, cursor)
            last, needed = self._assets.latest(visible, page.items), list(self._parts.needed())
            marked = self.lines.favorites(who, page.items)
            items = [self._view(one, last.get(one.id), who, needed, marked) for one in page.items]
            total = self._assets.count(visible, _KIND, wanted)
            return ImagePage(items=items, next_cursor=page.next_cursor, total=total)

        return await asyncio.to_thread(read)

    async def detail(self, ref: str, who: Principal, version: int | None = None) -> ImageDetail:
        """Return an image (id, the beginning of one, or name) with the packages of its last version, or of another.
        Raises NotFound, Conflict where several are meant.
        """
        return await self._shown(await self.lines.find(ref, who), who, version)

    async def builds(self, who: Principal) -> ImageBuilds:
        """Return the builds that `who` may see, newest first, without their logs."""
        visible = decide(who, "images:read").demand()
        found = [one for one in self._parts.builds.known() if visible.covers(one)]
        there = await asyncio.to_thread(lambda: list(pythons()) if find_uv() is not None else [])
        why = self._no_containers()
        return ImageBuilds(
            items=[build_view(one, 0) for one in found],
            pythons=there,
            no_containers=both(why) if why is not None else None,
        )

    async def build(self, id_: str, who: Principal) -> ImageBuild:
        """Return a build with the end of its log. Raises NotFound."""
        return build_view(self._known(id_, who, "images:read"), LOG_LINES)

    # -- act ---------------------------------------------------------------------------------------------------

    async def create(self, who: Principal, wanted: WantedImage) -> ImageBuild:
        """Begin to make an image, or a version of one that is there; return its build. Raises InvalidSpec with
        everything that is wrong, Conflict where the name is taken, StorageFailed while a disk is nearly full.
        """
        writable = decide(who, "images:write").demand()
        found = await asyncio.to_thread(self._problems, who, wanted)
        base, wrong = await asyncio.to_thread(base_of, self._ctx, who, wanted.definition)
        if found := found + wrong:
            raise InvalidSpec(said.image_not_valid(), problems=tuple(found))
        await self._ctx.disks.demand_room()
        now = self._ctx.clock()
        asset = Asset(
            "i" + self._ctx.random_bytes(16).hex(),
            _KIND,
            wanted.name,
            wanted.workspace,
            who.name,
            now,
            wanted.share.value,
            wanted.description,
            changed_at=now,
        )
        secret = base.plan.secret if base is not None else wanted.definition.secret
        await asyncio.to_thread(self._rows.demand_may_write, writable, asset, secret)
        running = [one for one in self._parts.builds.known() if one.owner == who.name and not one.ended]
        if len(running) >= MOST_BUILDS:
            raise Conflict(said.too_many_builds(MOST_BUILDS))
        build = Build("b" + self._ctx.random_bytes(12).hex(), wanted.name, wanted.workspace, who.name, now)

        async def register(plan: EnvironmentPlan, kept: KeptEnvironment) -> tuple[str, int]:
            return await self._register(who, wanted, asset, base, plan, kept)

        begun = who.did(subject_of(asset), said.image_begun(wanted.name), now)
        await asyncio.to_thread(self._rows.tell, begun)
        self._parts.builds.begin(build, wanted.definition, register, base.plan if base is not None else None)
        return build_view(build, LOG_LINES)

    async def _register(
        self,
        who: Principal,
        wanted: WantedImage,
        asset: Asset,
        base: ImageBase | None,
        plan: EnvironmentPlan,
        kept: KeptEnvironment,
    ) -> tuple[str, int]:
        now = self._ctx.clock()
        about = about_version(wanted.definition, plan, base, who.name)
        about = replace(about, frameworks=wanted.frameworks or about.frameworks, cards=wanted.cards or about.cards)
        digest, size, files = await asyncio.to_thread(measured, self._ctx.layout, about, kept)
        new = image_version(about, digest, size, files, now)

        def told(after: Asset) -> AuditEvent:
            return who.did(subject_of(after), said.image_made(after.name, after.latest), now)

        writable = decide(who, "images:write").visible
        after = await asyncio.to_thread(self._rows.add, writable, asset, new, told)
        return after.id, after.latest

    async def stop_build(self, id_: str, who: Principal) -> ImageBuild:
        """Stop a build. Raises NotFound, Conflict after its end."""
        build = self._known(id_, who, "images:write")
        if build.ended:
            raise Conflict(said.build_has_ended())
        await self._parts.builds.stop(id_)
        subject = Subject("image", build.id, build.workspace, build.owner, build.name)
        stopped = who.did(subject, said.image_build_stopped(build.name), self._ctx.clock())
        await asyncio.to_thread(self._rows.tell, stopped)
        return build_view(build, LOG_LINES)

    async def describe(self, ref: str, who: Principal, description: str) -> ImageDetail:
        """Say what an image is for. Raises NotFound, Forbidden, InvalidSpec."""
        before = await self.lines.find(ref, who, "images:write")
        if wrong := _description_problems(description):
            raise InvalidSpec(said.image_not_valid(), problems=tuple(wrong))
        now = self._ctx.clock()

        def told(was: Asset, now_is: Asset) -> AuditEvent:
            changes = (("description", was.description, now_is.description),)
            return who.did(subject_of(now_is), said.image_described(now_is.name), now, changes)

        writable = decide(who, "images:write").visible
        await asyncio.to_thread(self._rows.describe, writable, before.id, description, told)
        return await self.detail(before.id, who)

    async def share(self, ref: str, who: Principal, share: JobShare) -> ImageDetail:
        """Share an image with the other members of its workspace, or no more. Raises NotFound, Forbidden,
        InvalidSpec where nothing may be shared there.
        """
        before = await self.lines.find(ref, who, "images:share")
        wrong = sharing_problems(share, self._ctx.pools.workspaces.get(before.workspace))
        if wrong:
            raise InvalidSpec(said.image_not_valid(), problems=tuple(wrong))
        now = self._ctx.clock()

        def told(was: Asset, now_is: Asset) -> AuditEvent:
            changes = (("share", was.share, now_is.share),)
            return who.did(subject_of(now_is), said.image_shared(now_is.name), now, changes)

        sharable = decide(who, "images:share").visible
        after = await asyncio.to_thread(self._rows.share, sharable, before.id, share.value, told)
        return await self._shown(after, who)

    async def favor(self, ref: str, who: Principal, wanted: bool) -> ImageDetail:
        """Make an image one of one's own favorites, or no more. Raises NotFound, Conflict where several are meant."""
        return await self._shown(await self.lines.favor(ref, who, wanted), who)

    async def delete(self, ref: str, who: Principal) -> None:
        """Put an image with all its versions into the bin. Raises NotFound, Forbidden, Conflict while jobs that have
        not ended have it.
        """
        one = await self.lines.find(ref, who, "images:write")
        await self._demand_unused(one, None)
        called = await asyncio.to_thread(self.lines.used_as, one)
        await self._ctx.bin.put(who, one, None, said.image_deleted(one.name), said.no_such_image(repr(ref)))
        self._parts.forget(called)

    async def delete_version(self, ref: str, version: int, who: Principal) -> None:
        """Put one version into the bin, and with the only one the image; its number is never given again. Raises like
        `delete`.
        """
        one = await self.lines.find(ref, who, "images:write")
        missing = said.no_such_image_version(one.name, version)
        if (one.versions, one.latest) == (1, version):
            await self.delete(one.id, who)
            return
        await self._demand_unused(one, version)
        called = await asyncio.to_thread(self.lines.used_as, one)
        await self._ctx.bin.put(who, one, version, said.image_version_deleted(one.name, version), missing)
        self._parts.forget(called)

    async def _demand_unused(self, one: Asset, version: int | None) -> None:
        needed = await asyncio.to_thread(lambda: list(self._parts.needed()))
        called = await asyncio.to_thread(self.lines.used_as, one)
        using = [need for need in needed if need.among(called) and version in (None, need.number)]
        if using:
            raise Conflict(said.image_in_use(one.name if version is None else f"{one.name}@{version}", len(using)))

    # -- inside ------------------------------------------------------------------------------------------------

    def _problems(self, who: Principal, wanted: WantedImage) -> list[Problem]:
        found = problems_of(wanted.definition)
        if not IMAGE_NAME.fullmatch(wanted.name) or wanted.name in OWN_ENVIRONMENT:
            found.append(problem_of("name", said.not_an_image_name(), wanted.name[:200]))
        found += _description_problems(wanted.description)
        if not decide(who, "jobs:submit", InWorkspace(wanted.workspace)).allowed:
            found.append(problem_of("workspace", said.image_workspace_not_yours(wanted.workspace[:200])))
        else:
            found += sharing_problems(wanted.share, self._ctx.pools.workspaces.get(wanted.workspace))
        found += [
            problem_of(f"frameworks.{at}", said.not_a_framework(sorted(KINDS)), one)
            for at, one in enumerate(wanted.frameworks)
            if one not in KINDS
        ]
        found += [
            problem_of(f"cards.{at}", said.not_a_card_kind(CARDS), one)
            for at, one in enumerate(wanted.cards)
            if one not in CARDS
        ]
        if wanted.definition.base:  # its own rules are looked at where it is found
            return found
        if wanted.definition.container:
            return found + ([] if found else self._container_problems(who, wanted))
        if not found and find_uv() is None:
            found.append(problem_of("", said.no_uv()))
        if not found and wanted.definition.python:
            there = pythons()
            if wanted.definition.python not in there:
                found.append(problem_of("python", said.no_such_python(wanted.definition.python, list(there))))
        return found

    def _container_problems(self, who: Principal, wanted: WantedImage) -> list[Problem]:
        found, secret, workspace = [], wanted.definition.secret, wanted.workspace
        if (why := self._no_containers()) is not None:
            found.append(problem_of("container", why))
        if secret and not decide(who, "secrets:use", InWorkspace(workspace)).allowed:
            found.append(problem_of("secret", containers.registry_secret_not_yours(workspace)))
        elif secret and secret not in self._ctx.vault.names(workspace):
            found.append(problem_of("secret", containers.no_registry_secret(secret[:200], workspace), secret[:200]))
        return found

    def _no_containers(self) -> Said | None:
        """Return why no engine has container images, None where one has: the reason of this machine before others'."""
        engines = self._ctx.engines
        can = [engines.abilities(one) for one in engines]
        reasons = [one.no_containers for one in sorted(can, key=lambda one: one.shows_containers is None)]
        return None if None in reasons or not reasons else reasons[0]

    def _known(self, id_: str, who: Principal, scope: str) -> Build:
        found = self._parts.builds.get(id_)
        if found is None or not decide(who, scope).demand().covers(found):
            raise NotFound(said.no_such_build())
        return found

    async def _shown(self, image: Asset, who: Principal, version: int | None = None) -> ImageDetail:
        visible = decide(who, "images:read").demand()
        versions = await asyncio.to_thread(self._assets.versions, visible, image.id)
        shown = next((one for one in versions if version in (None, one.number)), None)
        if shown is None:
            raise NotFound(said.no_such_image_version(image.name, version or 0))
        about, needed = about_of(shown), list(await asyncio.to_thread(self._parts.needed))
        marked = await asyncio.to_thread(self.lines.favorites, who, [image])
        view = self._view(image, versions[0], who, needed, marked)
        return ImageDetail(
            **asdict(view),
            **await asyncio.to_thread(self.lines.beyond, image, "share" in view.may),
            shown=shown.number,
            installed=[ImagePackage(name=name, version=number) for name, number in (about.packages if about else ())],
            lock=about.lock if about is not None else "",
            files=[ImageFile(name=name, text=text) for name, text in (about.files.items() if about else ())],
            versions=[version_view(image, one) for one in versions],
            used_by=self._uses(image, who, needed),
        )

    def _uses(self, image: Asset, who: Principal, needed: Iterable[NeededImage]) -> list[ImageUse]:
        visible, live, called = decide(who, "jobs:read"), self._ctx.master.live, self.lines.known_as(who, image)
        having = [
            (job, need.number)
            for need in needed
            if visible.allowed
            and need.among(called)
            and (job := live.get(need.job)) is not None
            and visible.visible.covers(job)
        ]
        having.sort(key=lambda one: one[0].submitted_at, reverse=True)
        return [
            ImageUse(job=job.id, name=job.name, owner=job.owner, version=number) for job, number in having[:MOST_USES]
        ]

    def _view(
        self,
        image: Asset,
        last: AssetVersion | None,
        who: Principal,
        needed: Iterable[NeededImage],
        marked: set[str],
    ) -> ImageView:
        rights: tuple[ImageRight, ...] = ("write", "share")
        about = about_of(last) if last is not None else None
        return ImageView(
            id=image.id,
            name=image.name,
            description=image.description,
            workspace=image.workspace,
            owner=image.owner,
            share=JobShare(image.share),
            kind=about.kind if about is not None else ENVIRONMENT,
            container=about.lock if about is not None and about.kind == CONTAINER else "",
            code=(about.code or None) if about is not None else None,
            version=image.latest,
            created_at=image.created_at,
            changed_at=image.changed_at,
            favorite=image.id in marked,
            changed_by=about.by if about is not None else "",
            python=about.python if about is not None else "",
            frameworks=list(about.frameworks) if about is not None else [],
            cards=list(about.cards) if about is not None else [],
            packages=len(about.packages) if about is not None else 0,
            size_bytes=last.size_bytes if last is not None else 0,
            built=about is not None and self._parts.keeper.is_there(about.key),
            jobs=sum(need.among([(image.workspace, image.name), *image.taken]) for need in needed),
            may=[right for right in rights if decide(who, f"images:{right}", image).allowed],
            taken=self.lines.taken(who, image),
        )


def _description_problems(description: str) -> list[Problem]:
    if len(description) <= LONGEST_DESCRIPTION:
        return []
    return [problem_of("description", said.image_description_too_long(LONGEST_DESCRIPTION))]
