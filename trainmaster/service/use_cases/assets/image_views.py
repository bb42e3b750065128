"""How versions of images, and their builds, are shown. Pure."""

from trainmaster.answers import ImageBuild, ImageVersionView
from trainmaster.messages import render
from trainmaster.service.environments.builds import Build
from trainmaster.service.language import both, two
from trainmaster.store.assets.images import CONTAINER, about_of
from trainmaster.store.assets.versions import Asset, AssetVersion


def version_view(image: Asset, one: AssetVersion) -> ImageVersionView:
    """Return how a version of an image is shown."""
    about = about_of(one)
    return ImageVersionView(
        version=one.number,
        at=one.created_at,
        by=about.by if about is not None else "",
        size_bytes=one.size_bytes,
        python=about.python if about is not None else "",
        reference=f"{image.name}@{one.number}",
        digest=one.digest,
        packages=len(about.packages) if about is not None else 0,
        frameworks=list(about.frameworks) if about is not None else [],
        cards=list(about.cards) if about is not None else [],
        container=about.lock if about is not None and about.kind == CONTAINER else "",
        code=(about.code or None) if about is not None else None,
        base=about.base if about is not None else "",
    )


def build_view(build: Build, lines: int) -> ImageBuild:
    """Return how a build is shown, with so many lines of its log."""
    remedy = None
    if build.error is not None:
        remedy = two((render.remedy(build.error, "zh") or "", render.remedy(build.error, "en") or ""))
    return ImageBuild(
        id=build.id,
        name=build.name,
        workspace=build.workspace,
        owner=build.owner,
        state=build.state,
        started_at=build.started_at,
        ended_at=build.ended_at,
        packages=build.packages,
        error=both(build.error) if build.error is not None else None,
        remedy=remedy,
        image=build.image,
        version=build.version,
        log=list(build.lines)[-lines:] if lines else [],
    )
