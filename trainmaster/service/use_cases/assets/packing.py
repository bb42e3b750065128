"""Code packed on a base (R235): which version an image is built on, what the version says that comes of it, and how
large that is.

The environment is the base's, found by its key; the code is an upload, found by its digest. So a version with code
costs no more than its code, and nothing of it can change. Methods block: call them from a worker thread.
"""

import hashlib
import os
from dataclasses import dataclass

from trainmaster.access.decide import decide
from trainmaster.access.roles import Principal
from trainmaster.core.errors import Problem, problem_of
from trainmaster.core.folders.layout import Layout
from trainmaster.messages.assets import images as said
from trainmaster.messages.jobs import submitting
from trainmaster.service.context import Context
from trainmaster.service.environments.definition import UPLOAD, Definition, EnvironmentPlan, packages_in
from trainmaster.service.environments.keeper import KeptEnvironment
from trainmaster.service.environments.workshop import size_of
from trainmaster.spec.lower import image_ref
from trainmaster.storage.uploads import use
from trainmaster.store.assets.images import CONTAINER, ENVIRONMENT, AboutImage, about_of
from trainmaster.store.assets.versions import AssetKind


@dataclass(frozen=True, slots=True)
class ImageBase:
    """The version that an image is built on. `reference`: NAME@VERSION; `plan`: how its environment is made again."""

    reference: str
    about: AboutImage
    plan: EnvironmentPlan


def base_of(ctx: Context, who: Principal, definition: Definition) -> tuple[ImageBase | None, list[Problem]]:
    """Return the base that `who` has named, None for none, and what is wrong with it or with the code."""
    found, wrong = None, list[Problem]()
    if UPLOAD.fullmatch(definition.code) and not use(ctx.layout.upload(definition.code.removeprefix("sha256:"))):
        wrong.append(problem_of("code", submitting.no_upload(), definition.code[:80]))
    if not definition.base:
        return None, wrong
    named = image_ref(definition.base)
    if named is None:
        return None, [*wrong, problem_of("base", said.not_a_base(definition.base[:80]), definition.base[:80])]
    visible, (name, number) = decide(who, "images:read").demand(), named
    version = ctx.assets.named(visible, AssetKind.IMAGE, definition.workspace, name, number)
    about = about_of(version) if version is not None else None
    if version is None or about is None:
        return None, [*wrong, problem_of("base", said.no_such_image(repr(definition.base)), definition.base)]
    plan = EnvironmentPlan(about.key, about.python, about.lock, version.workspace, about.secret)
    found = ImageBase(f"{name}@{version.number}", about, plan)
    return found, wrong


def about_version(definition: Definition, plan: EnvironmentPlan, base: ImageBase | None, by: str) -> AboutImage:
    """Return what is stored of a version: of a base what that is for, and what it was made of."""
    contained = Layout.is_container(plan.key)
    return AboutImage(
        plan.key,
        plan.python,
        plan.lock,
        dict(base.about.files if base is not None else definition.files),
        () if contained else tuple(packages_in(plan.lock)),
        base.about.frameworks if base is not None else (),
        base.about.cards if base is not None else (),
        by,
        CONTAINER if contained else ENVIRONMENT,
        plan.secret,
        definition.code,
        base.reference if base is not None else "",
    )


def measured(layout: Layout, about: AboutImage, kept: KeptEnvironment) -> tuple[str, int, int]:
    """Return (digest, bytes on the disk, files) of a version: its environment or container, and its code. O(files)."""
    if not about.code:
        of_lock = f"sha256:{hashlib.sha256(about.lock.encode()).hexdigest()}"
        return about.lock.partition("@")[2] if about.kind == CONTAINER else of_lock, kept.size_bytes, kept.files
    folder = layout.upload(about.code.removeprefix("sha256:"))
    size, files = size_of(folder) if os.path.isdir(folder) else (0, 0)
    both = hashlib.sha256(f"{about.lock}\n{about.code}".encode()).hexdigest()
    return f"sha256:{both}", kept.size_bytes + size, kept.files + files
