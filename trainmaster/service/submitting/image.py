"""The image that a submission names: looked up among those that whoever submits may see in the job's workspace, and
settled to one version, which is recorded. What is no image of the platform is left to the engine.
"""

import asyncio
from dataclasses import replace

from trainmaster.access.decide import decide
from trainmaster.access.roles import Principal
from trainmaster.access.visible import Visible
from trainmaster.core.errors import InvalidSpec, Problem, problem_of
from trainmaster.messages.assets import images as said
from trainmaster.messages.jobs import submitting
from trainmaster.service.context import Context
from trainmaster.service.submitting.reading import Candidate
from trainmaster.spec.job import Code, JobSpec
from trainmaster.spec.lower import digest_of, document_of, image_ref
from trainmaster.store.assets.images import AboutImage, about_of
from trainmaster.store.assets.versions import AssetKind, AssetVersion


async def with_image(ctx: Context, candidate: Candidate, who: Principal) -> Candidate:
    """Return `candidate` with the version of the image that it names, the code in that where it brings none, and what
    of the job does not suit it. Raises InvalidSpec for a version that is not there.
    """
    ref = image_ref(candidate.spec.image)
    if ref is None:
        return candidate
    name, number = ref
    decision, since = decide(who, "images:read"), ctx.images.forgotten

    def look() -> tuple[AssetVersion | None, bool]:
        if not decision.allowed:
            return None, False
        asked = (decision.visible, AssetKind.IMAGE, candidate.spec.workspace, name)
        found = ctx.assets.named(*asked, number)
        return found, found is not None or (number is not None and ctx.assets.named(*asked) is not None)

    version, there = await asyncio.to_thread(look)
    if version is None and number is None:
        return candidate
    if version is None:
        why = said.no_such_image_version(name, number or 0) if there else said.no_such_image(repr(name))
        raise InvalidSpec(submitting.job_not_accepted(1), problems=(problem_of("image", why, candidate.spec.image),))
    about = about_of(version)
    if about is not None:
        ctx.images.know(candidate.spec.workspace, f"{name}@{version.number}", about, version.workspace, since)
    settled: dict[str, str | Code] = {"image": f"{name}@{version.number}"}
    if about is not None and about.code:
        takes = await asyncio.to_thread(_takes_code, ctx, decision.visible, candidate.spec, version)
        settled |= {"code": Code(upload=about.code)} if takes else {}
    spec = candidate.spec.model_copy(update=settled)
    text = document_of(spec)
    warnings = (*candidate.warnings, *_unsuited(candidate, about, spec.image))
    return replace(candidate, spec=spec, document=text, digest=digest_of(text), warnings=warnings)


def _takes_code(ctx: Context, visible: Visible, spec: JobSpec, version: AssetVersion) -> bool:
    """Return whether a job runs the code of its image: it brings none, or has that of another version of the image from
    the job that it was copied of.
    """
    if spec.code is None:
        return True
    others = map(about_of, ctx.assets.versions(visible, version.asset))
    return spec.code.upload is not None and spec.code.upload in {one.code for one in others if one is not None}


def _unsuited(candidate: Candidate, about: AboutImage | None, image: str) -> list[Problem]:
    if about is None:
        return []
    found, spec = [], candidate.spec
    kind = spec.framework.kind
    if about.frameworks and kind not in about.frameworks and kind != "single":
        found.append(problem_of("image", said.image_for_others(image, about.frameworks, kind), image))
    if about.cards == ("cpu",) and any(role.resources.gpu or role.flavors for role in spec.roles):
        found.append(problem_of("image", said.image_without_cards(image), image))
    return found
