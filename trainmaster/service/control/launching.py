"""From a placed job to what the engine is asked: reads the spec, resolves mounts and code, builds the Gang.

Specs of live jobs are kept parsed, newest first, up to a bound; one that fell out is read from the ledger again.
"""

import asyncio
import os
import posixpath
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from trainmaster.core.errors import NotFound, TrainmasterError, Unavailable
from trainmaster.core.folders.layout import IN_CODE, Layout
from trainmaster.core.launch import Gang, Mount
from trainmaster.core.records import Job
from trainmaster.messages.assets.images import image_gone
from trainmaster.messages.assets.objects import store_fetched_gone
from trainmaster.messages.jobs import starting
from trainmaster.messages.said import Said
from trainmaster.messages.server import ledger, server
from trainmaster.service.environments.images import JobImages
from trainmaster.service.folders.inputs import path_problem
from trainmaster.service.folders.looks import Looks
from trainmaster.service.folders.versions import InputVersions
from trainmaster.service.objects.fetched import Fetched, Places, Tell
from trainmaster.service.objects.sending import Sending
from trainmaster.service.secrets.vault import Vault
from trainmaster.spec.job import JobSpec
from trainmaster.spec.lower import digest_of, environment_of
from trainmaster.spec.lower import gang as build_gang
from trainmaster.spec.lower import read as read_spec

KEPT: Final = 4096


class Specs:
    """Parsed specs by digest. `load` reads a document from the ledger, `set_aside` takes one out of it that is not what
    was stored, and why (both blocking): they run in a thread.
    """

    def __init__(
        self, load: Callable[[str], str | None], set_aside: Callable[[str, str], None] = lambda digest, why: None
    ) -> None:
        self._load, self._set_aside = load, set_aside
        self._parsed: OrderedDict[str, JobSpec] = OrderedDict()

    def put(self, digest: str, spec: JobSpec) -> None:
        """Remember `spec`."""
        self._parsed[digest] = spec
        if len(self._parsed) > KEPT:
            self._parsed.popitem(last=False)

    def get(self, digest: str) -> JobSpec | None:
        """Return the spec if it is in memory."""
        return self._parsed.get(digest)

    async def read(self, digest: str) -> JobSpec:
        """Return the spec from memory or the ledger. Raises NotFound when the ledger has none."""
        spec = self._parsed.get(digest)
        return spec if spec is not None else await asyncio.to_thread(self.fetch, digest)

    def fetch(self, digest: str) -> JobSpec:
        """Return the spec, from the ledger if need be; blocking. Raises NotFound when the ledger has none, or a damaged
        one.
        """
        spec = self._parsed.get(digest)
        if spec is not None:
            return spec
        document = self._load(digest)
        if document is not None:
            try:
                if digest_of(document) != digest:
                    raise ValueError("its digest is another")
                spec = read_spec(document)
            except ValueError as error:
                self._set_aside(digest, str(error))
            else:
                self.put(digest, spec)
                return spec
        raise NotFound(ledger.no_readable_document(digest[:14]))

    def fetch_or_none(self, digest: str) -> JobSpec | None:
        """Return the spec, from the ledger if need be, or None when it cannot be read; blocking."""
        try:
            return self.fetch(digest)
        except TrainmasterError:
            return None


class Launching:
    """Builds gangs and prepares their inputs."""

    def __init__(
        self,
        specs: Specs,
        layout: Layout,
        looks: Looks,
        versions: InputVersions,
        images: JobImages,
        roots: Sequence[str] = (),
        vault: Vault | None = None,
        fetched: Fetched | None = None,
        sending: Sending | None = None,
    ) -> None:
        self._specs, self._layout, self._looks, self._versions = specs, layout, looks, versions
        self._images, self._roots, self._vault, self._fetched = images, roots, vault, fetched
        self._sending = sending

    async def spec(self, job: Job) -> JobSpec:
        """Return the document of a job. Raises NotFound when the ledger has none."""
        return await self._specs.read(job.spec_digest)

    def must_stage(self, job: Job) -> bool:
        """True when something has to be looked at on disk before the start."""
        spec = self._specs.get(job.spec_digest)
        if spec is None or spec.inputs or spec.outputs or code_folder(spec, self._layout) is not None:
            return True
        image = environment_of(spec)
        return bool(image) and self._images.key(job.workspace, image) is None

    async def stage(self, job: Job, tell: Tell = lambda said: True) -> Said | None:
        """Check that every input is there, and still where it may be mounted; make the environment of the job's image
        if it was removed; fetch what comes from object storage, look at where outputs go. Return what is wrong, None:
        nothing. `tell`: told how far that is, returns whether it is wanted.

        Raises Unavailable while the file system of an input hangs.
        """
        spec = await self._specs.read(job.spec_digest)
        if image := environment_of(spec):
            wrong = await self._images.ensure(job.workspace, image, tell)
            if wrong is not None:
                return wrong
        place = "\n".join(item.path or item.asset for item in spec.inputs)
        try:
            wrong = await self._looks.look(place, lambda: self._staged(spec))
        except TimeoutError:
            raise Unavailable(server.inputs_silent()) from None
        if wrong is None and self._fetched is not None and (stored := stored_inputs(spec)):
            found = await self._fetched.stage(job.id, job.workspace, stored, tell)
            wrong = None if found is None else starting.inputs_not_usable([found])
        if wrong is None and self._sending is not None:
            found = await self._sending.begin(job, spec, tell)
            wrong = None if found is None else starting.outputs_not_usable(found)
        return wrong

    def _staged(self, spec: JobSpec) -> Said | None:
        code = code_folder(spec, self._layout)
        wrong = (
            [starting.input_wrong(code, starting.code_gone())] if code is not None and not os.path.exists(code) else []
        )
        for item in spec.inputs:
            if item.s3 is not None:
                continue  # asked where it lies
            if item.path is None:
                gone = self._versions.gone(spec.workspace, item)
                wrong += [] if gone is None else [starting.input_wrong(item.asset, gone)]
                continue
            found = path_problem(item.path, "", self._layout.folders, self._roots)
            if found is not None:
                wrong.append(starting.input_wrong(item.path, found.said))
        return starting.inputs_not_usable(wrong) if wrong else None

    def gang(self, job: Job) -> Gang | None:
        """Return the gang of the job's attempt when its spec is in memory, and where its inputs lie."""
        spec = self._specs.get(job.spec_digest)
        if spec is None or not self._versions.known(spec):
            return None
        image = environment_of(spec)
        key = self._images.key(job.workspace, image) if image else ""
        fetched = self._fetched.places(job.id, len(stored_inputs(spec))) if self._fetched is not None else {}
        return self._gang(job, spec, key, fetched) if key is not None and fetched is not None else None

    async def gang_from_disk(self, job: Job) -> Gang:
        """Return the gang of the job's attempt, reading its spec. Raises NotFound when the ledger has none, or an input
        or its image went.
        """
        spec = await self._specs.read(job.spec_digest)
        for item in spec.inputs:
            if item.asset:
                gone = await asyncio.to_thread(self._versions.gone, spec.workspace, item)
                if gone is not None:
                    raise NotFound(starting.inputs_not_usable([starting.input_wrong(item.asset, gone)]))
        image = environment_of(spec)
        key = await self._images.key_from_disk(job.workspace, image) if image else ""
        if key is None:
            raise NotFound(image_gone(image))
        stored = stored_inputs(spec)
        fetched = await self._fetched.places_from_disk(job.id, len(stored)) if self._fetched is not None else {}
        if fetched is None:
            raise NotFound(starting.inputs_not_usable([store_fetched_gone(ref) for ref in stored.values()]))
        return self._gang(job, spec, key, fetched)

    async def secrets(self, job: Job, gang: Gang, now: float) -> dict[str, str]:
        """Return the values of the secrets that `gang` has, by name: nobody keeps them but who starts its tasks. Raises
        NotFound where one is not there any more, Unavailable.
        """
        if not gang.secrets or self._vault is None:
            return {}
        return await asyncio.to_thread(self._vault.values, job.workspace, [use.name for use in gang.secrets], now)

    def _gang(self, job: Job, spec: JobSpec, environment: str, fetched: Places) -> Gang:
        facts = {"user": job.owner, "workspace": job.workspace}
        made = build_gang(job, spec, facts=facts, mounts=mounts(spec, self._layout, self._versions, fetched))
        return replace(made, environment=environment) if environment else made


def code_folder(spec: JobSpec, layout: Layout) -> str | None:
    """Return the folder of the uploaded code, None when the job has none."""
    if spec.code is None or spec.code.upload is None:
        return None
    return layout.upload(spec.code.upload.removeprefix("sha256:"))


def stored_inputs(spec: JobSpec) -> dict[int, str]:
    """Return what of the inputs is of object storage, by the number of the input."""
    return {at: item.s3 for at, item in enumerate(spec.inputs) if item.s3 is not None}


def mounts(spec: JobSpec, layout: Layout, versions: InputVersions, fetched: Places | None = None) -> tuple[Mount, ...]:
    """Return what `spec` asks to see inside the sandbox, by host path (R138-R145); without versions that nobody has
    looked for. `fetched`: where what is of object storage lies, None: nowhere yet.
    """
    found: list[Mount] = []
    source = code_folder(spec, layout)
    if source is not None:
        found.append(Mount(source, IN_CODE))  # tasks see it at IN_ALGORITHM, too
    for at, item in enumerate(spec.inputs):
        if item.s3 is not None:
            place = layout.fetched if fetched is None else fetched.get(at)
            content = f"s3-{posixpath.basename(place)}" if place is not None else ""
        else:
            place = item.path if item.path is not None else versions.path(spec.workspace, item)
            content = versions.content(spec.workspace, item) if item.versioned else ""
        if place is not None:
            cache = content if item.cache else ""
            found.append(Mount(place, posixpath.normpath(item.mount), item.read_only or item.versioned, cache))
    return tuple(found)
