"""Use cases on templates (R42, R230-R234): job documents under a name, made of the form or of a job, edited, copied,
shared, deleted, and submitted from.

A template lies in the workspace in which its jobs run. Who may see it and change it is judged as for jobs
(`access.decide`), and judged again where it is written: of two who change it at once the second is told.
"""

import asyncio
import logging
import re
from dataclasses import dataclass, field
from itertools import chain, count
from typing import Final

from msgspec.structs import asdict

from trainmaster.access.decide import decide
from trainmaster.access.roles import Principal
from trainmaster.access.visible import InWorkspace
from trainmaster.answers import (
    JobView,
    OutcomeView,
    RefusedView,
    TemplateDetail,
    TemplatePage,
    TemplateRight,
    TemplateVersionView,
    TemplateView,
)
from trainmaster.core.errors import Conflict, InvalidSpec, NotFound, Problem, TrainmasterError, problem_of
from trainmaster.core.events import AuditEvent
from trainmaster.core.states import JobShare
from trainmaster.messages.assets import templates as said
from trainmaster.messages.said import Said
from trainmaster.service.admission.places import sharing_problems
from trainmaster.service.context import Context
from trainmaster.service.language import both
from trainmaster.service.submitting.reading import Candidate
from trainmaster.service.use_cases.assets.documents import judged, with_parameters
from trainmaster.service.use_cases.assets.lines import Lines, LineWords, subject_of
from trainmaster.service.use_cases.jobs import Jobs
from trainmaster.spec.document import Document, Given
from trainmaster.spec.job import NAME
from trainmaster.spec.lower import effective
from trainmaster.store.assets.templates import Edit, TemplateRows, document_in, editor_of, template_version
from trainmaster.store.assets.versions import Asset, AssetKind, AssetQuery, AssetReader, AssetVersion, NewVersion

log = logging.getLogger("trainmaster.templates")

MANY: Final = 1000
"""Templates of one request."""
LONGEST_NAME: Final = 30
LONGEST_DESCRIPTION: Final = 2000
_NAME: Final = re.compile(NAME)
_KIND: Final = AssetKind.TEMPLATE
_WORDS: Final = LineWords(
    said.no_such_template, said.several_templates, said.template_only_to_read, said.template_not_yours_to_share
)


@dataclass(frozen=True, slots=True)
class WantedTemplate:
    """A template to make, of the submission `body` or of the job `job`, with what `changes` sets by path."""

    name: str
    body: Given | None = None
    job: str | None = None
    description: str = ""
    share: JobShare = JobShare.NONE
    changes: Given = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class WantedEdit:
    """What is to become of a template; None: as it is. `version`: the one that was edited, None: whatever is there."""

    name: str | None = None
    description: str | None = None
    body: Given | None = None
    version: int | None = None


class Templates:
    """One object per server."""

    def __init__(self, context: Context, assets: AssetReader, rows: TemplateRows, jobs: Jobs) -> None:
        self._ctx, self._assets, self._rows, self._jobs = context, assets, rows, jobs
        self.lines = Lines(context, assets, _KIND, _WORDS)

    # -- look --------------------------------------------------------------------------------------------------

    async def page(self, who: Principal, wanted: AssetQuery, limit: int, cursor: str | None = None) -> TemplatePage:
        """Return a page of the templates `who` may see, what was changed last first. Raises InvalidSpec for a cursor of
        another list.
        """
        visible = decide(who, "templates:read").demand()

        def read() -> TemplatePage:
            page = self._assets.page(visible, _KIND, wanted, limit, cursor)
            last = self._assets.latest(visible, page.items)
            total = self._assets.count(visible, _KIND, wanted)
            marked = self.lines.favorites(who, page.items)
            items = [self._view(one, last.get(one.id), who, marked) for one in page.items]
            return TemplatePage(items=items, next_cursor=page.next_cursor, total=total)

        return await asyncio.to_thread(read)

    async def detail(self, ref: str, who: Principal, version: int | None = None) -> TemplateDetail:
        """Return a template (id, the beginning of one, or name) with the document of its last version, or of another.
        Raises NotFound, Conflict where several are meant.
        """
        return await self._shown(await self.lines.find(ref, who), who, version)

    # -- act ---------------------------------------------------------------------------------------------------

    async def create(self, who: Principal, wanted: WantedTemplate) -> TemplateDetail:
        """Make a template. Raises InvalidSpec with everything that is wrong, NotFound for the job, Conflict where the
        name is taken.
        """
        decide(who, "templates:write").demand()
        found = _problems(wanted.name, wanted.description)
        if (wanted.body is None) == (wanted.job is None):
            found.append(problem_of("spec", said.document_or_job()))
        if found:
            raise InvalidSpec(said.template_not_valid(), problems=tuple(found))
        body = wanted.body
        if wanted.job is not None:
            body = {"spec": await self._jobs.copy_of(wanted.job, who), "dialect": "native", "set": dict(wanted.changes)}
        return await self._add(who, wanted, await judged(self._ctx, body or {}, wanted.name, who))

    async def _add(self, who: Principal, wanted: WantedTemplate, candidate: Candidate) -> TemplateDetail:
        workspace, now = candidate.spec.workspace, self._ctx.clock()
        self._demand_shareable(wanted.share, workspace)
        id_ = "p" + self._ctx.random_bytes(16).hex()
        asset = Asset(
            id_, _KIND, wanted.name, workspace, who.name, now, wanted.share.value, wanted.description, changed_at=now
        )
        told = who.did(subject_of(asset), said.template_made(asset.name), now)
        made = await asyncio.to_thread(self._rows.add, asset, _version(candidate, who, now), told)
        return await self._shown(made, who)

    async def edit(self, ref: str, who: Principal, wanted: WantedEdit) -> TemplateDetail:
        """Change a template: its next version. Raises NotFound, Forbidden, InvalidSpec, Conflict where somebody changed
        it meanwhile, or the name is taken.
        """
        before = await self.lines.find(ref, who, "templates:write")
        found = _problems(wanted.name, wanted.description)
        if found:
            raise InvalidSpec(said.template_not_valid(), problems=tuple(found))
        now, moves = self._ctx.clock(), None
        if wanted.body is not None:
            candidate = await judged(self._ctx, wanted.body, wanted.name or before.name, who)
            new, moves = _version(candidate, who, now), candidate.spec.workspace
            self._demand_shareable(JobShare(before.share), moves)
        else:
            new = await self._same(before, who, now)
        edit = Edit(wanted.name, wanted.description, moves, wanted.version)
        if edit.version is None and wanted.body is None:
            edit = Edit(wanted.name, wanted.description, moves, before.latest)  # the document that was read is the last

        def told(was: Asset, now_is: Asset) -> AuditEvent:
            return _told(who, was, now_is, said.template_changed(now_is.name), now)

        writable = decide(who, "templates:write").visible
        after = await asyncio.to_thread(self._rows.edit, writable, before.id, edit, new, told)
        return await self._shown(after, who)

    async def share(self, ref: str, who: Principal, share: JobShare) -> TemplateDetail:
        """Share a template with the other members of its workspace, or no more (R223). Raises NotFound, Forbidden,
        InvalidSpec where nothing may be shared there.
        """
        before = await self.lines.find(ref, who, "templates:share")
        self._demand_shareable(share, before.workspace)
        now = self._ctx.clock()

        def told(was: Asset, now_is: Asset) -> AuditEvent:
            return _told(who, was, now_is, said.template_shared(now_is.name), now)

        sharable = decide(who, "templates:share").visible
        after = await asyncio.to_thread(self._rows.share, sharable, before.id, share.value, told)
        return await self._shown(after, who)

    async def copy(self, ref: str, who: Principal, name: str | None = None) -> TemplateDetail:
        """Make a template of one's own of another that one may see (R233), not shared, where one's jobs of that run.
        `name`: None: one that is free. Raises like `create`.
        """
        decide(who, "templates:write").demand()
        source = await self.lines.find(ref, who)
        document = await self._document(source, who)
        place = self._place(source, who)
        if name is None:
            taken = await asyncio.to_thread(self._rows.names, place)
            name = _free(source.name, taken)
        body = {"spec": {**document, "workspace": place}, "dialect": "native"}
        return await self.create(who, WantedTemplate(name, body, description=source.description))

    async def favor(self, ref: str, who: Principal, wanted: bool) -> TemplateDetail:
        """Make a template one of one's own favorites, or no more. Raises NotFound, Conflict where several are meant."""
        return await self._shown(await self.lines.favor(ref, who, wanted), who)

    async def delete(self, ref: str, who: Principal) -> None:
        """Put a template with all its versions into the bin (R234). Raises NotFound, Forbidden."""
        one = await self.lines.find(ref, who, "templates:write")
        gone, missing = said.template_deleted(one.name), said.no_such_template(repr(ref))
        await self._ctx.bin.put(who, one, None, gone, missing)

    async def delete_many(self, refs: tuple[str, ...], who: Principal) -> OutcomeView:
        """Delete several; each is done or refused for its own reason. Raises InvalidSpec for too many."""
        if len(refs) > MANY:
            problem = problem_of("ids", said.too_many_templates_at_once(MANY))
            raise InvalidSpec(said.too_many_templates_at_once(MANY), problems=(problem,))
        done: list[str] = []
        refused: list[RefusedView] = []
        for ref in refs:
            try:
                await self.delete(ref, who)
                done.append(ref)
            except TrainmasterError as error:
                refused.append(RefusedView(id=ref, title=both(error.said), kind=error.kind, code=error.code))
        return OutcomeView(done=done, refused=refused)

    async def submit(
        self,
        ref: str,
        who: Principal,
        changes: Given,
        parameters: Given | None = None,
        spec: Given | None = None,
        key: str | None = None,
    ) -> tuple[JobView, bool]:
        """Submit a job of a template (R232) with `parameters`, and what `changes` sets by path; or of `spec`, which
        somebody made of its document in a form. It runs where the template lies, or was taken in. Return (the job, was
        it created now). Raises NotFound, and like any submit.
        """
        template = await self.lines.find(ref, who)
        place = {"workspace": self._place(template, who)}
        document = {**await self._document(template, who), **place} if spec is None else dict(spec)
        body = {
            "spec": document,
            "dialect": "native",
            "set": {**with_parameters(document, parameters or {}), **changes},
        }
        view, created = await self._ctx.submit.submit(body, who, key)
        if created:
            try:
                await asyncio.to_thread(self._rows.used, template.id, self._ctx.clock())
            except TrainmasterError as error:  # the job is there, and that is what was asked for
                log.warning("a job of template %s is not counted: %s", template.id, error)
        return view, created

    # -- inside ------------------------------------------------------------------------------------------------

    def _place(self, template: Asset, who: Principal) -> str:
        """Return where a job of `who` of a template runs: where it lies, or for who submits nothing there in the first
        workspace that took it in.
        """
        places = [template.workspace, *(one.workspace for one in self.lines.taken(who, template))]
        mine = (one for one in places if decide(who, "jobs:submit", InWorkspace(one)).allowed)
        return next(mine, template.workspace)

    async def _versions(self, template: Asset, who: Principal) -> list[AssetVersion]:
        visible = decide(who, "templates:read").demand()
        return await asyncio.to_thread(self._assets.versions, visible, template.id)

    async def _document(self, template: Asset, who: Principal) -> Document:
        """Return the document of the last version. Raises Conflict where it cannot be read."""
        last = next(iter(await self._versions(template, who)), None)
        document = document_in(last) if last is not None else None
        if document is None:
            raise Conflict(said.template_unreadable(template.name))
        return document

    async def _same(self, template: Asset, who: Principal, now: float) -> NewVersion:
        """Return a version like the last one."""
        last = next(iter(await self._versions(template, who)), None)
        document = document_in(last) if last is not None else None
        if last is None or document is None:
            raise Conflict(said.template_unreadable(template.name))
        return template_version(document, last.digest, last.size_bytes, who.name, now)

    async def _shown(self, template: Asset, who: Principal, version: int | None = None) -> TemplateDetail:
        versions = await self._versions(template, who)
        shown = next((one for one in versions if version in (None, one.number)), None)
        if shown is None and version is not None:
            raise NotFound(said.no_such_template_version(template.name, version))
        listed = [TemplateVersionView(version=one.number, at=one.created_at, by=editor_of(one)) for one in versions]
        marked = await asyncio.to_thread(self.lines.favorites, who, [template])
        view = self._view(template, versions[0] if versions else None, who, marked)
        return TemplateDetail(
            **asdict(view),
            **await asyncio.to_thread(self.lines.beyond, template, "share" in view.may),
            shown=shown.number if shown is not None else 0,
            spec=(document_in(shown) if shown is not None else None) or {},
            versions=listed,
        )

    def _view(self, template: Asset, last: AssetVersion | None, who: Principal, marked: set[str]) -> TemplateView:
        may: list[TemplateRight] = ["write"] if decide(who, "templates:write", template).allowed else []
        if decide(who, "templates:share", template).allowed:
            may.append("share")
        return TemplateView(
            id=template.id,
            name=template.name,
            description=template.description,
            workspace=template.workspace,
            owner=template.owner,
            share=JobShare(template.share),
            version=template.latest,
            created_at=template.created_at,
            changed_at=template.changed_at,
            favorite=template.id in marked,
            changed_by=editor_of(last) if last is not None else "",
            used=template.used,
            used_at=template.used_at,
            may=may,
            taken=self.lines.taken(who, template),
        )

    def _demand_shareable(self, share: JobShare, workspace: str) -> None:
        wrong = sharing_problems(share, self._ctx.pools.workspaces.get(workspace))
        if wrong:
            raise InvalidSpec(said.template_not_valid(), problems=tuple(wrong))


def _version(candidate: Candidate, who: Principal, now: float) -> NewVersion:
    size = len(candidate.document.encode())
    return template_version(effective(candidate.spec), candidate.digest, size, who.name, now)


def _problems(name: str | None, description: str | None) -> list[Problem]:
    found = []
    if name is not None and not _NAME.fullmatch(name):
        found.append(problem_of("name", said.not_a_template_name(), name[:200]))
    if description is not None and len(description) > LONGEST_DESCRIPTION:
        found.append(problem_of("description", said.template_description_too_long(LONGEST_DESCRIPTION)))
    return found


def _free(name: str, taken: set[str]) -> str:
    """Return a name for a copy that no template has."""
    ends = chain(["-copy"], (f"-copy-{number}" for number in count(2)))
    return next(one for one in (name[: LONGEST_NAME - len(end)] + end for end in ends) if one not in taken)


def _told(who: Principal, before: Asset, after: Asset, words: Said, at: float) -> AuditEvent:
    fields = ("name", "description", "workspace", "share", "latest")
    pairs = ((name, getattr(before, name), getattr(after, name)) for name in fields)
    changes = tuple(("version" if name == "latest" else name, was, now) for name, was, now in pairs if was != now)
    return who.did(subject_of(after), words, at, changes)
