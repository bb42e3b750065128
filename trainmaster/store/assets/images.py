"""Images, a kind of asset: environments under a name, which jobs have by name and version (R25, R68).

What holds for every kind lies in `store.assets.versions`. A version is written once its environment was made, and holds
all that is needed to make it again. Methods block until durable: call them from a worker thread.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Final

from sqlalchemy import Connection, func, select, update

from trainmaster.access.visible import Visible
from trainmaster.core.errors import Conflict, NotFound, problem_of
from trainmaster.core.events import AuditEvent
from trainmaster.messages.assets import images as said
from trainmaster.store import audit
from trainmaster.store.assets.subscriptions import demand_not_subscribed, demand_offerable
from trainmaster.store.assets.versions import (
    Asset,
    AssetKind,
    AssetSource,
    AssetVersion,
    NewVersion,
    append,
    asset_called,
    asset_seen,
    meant,
)
from trainmaster.store.database import Database
from trainmaster.store.tables import asset, asset_subscription, asset_version, bin_entry, binned_version

MOST: Final = 1000
"""Images that one person may have."""
ENVIRONMENT, CONTAINER = "environment", "container"
"""The kinds of an image: a Python environment, and the files of a container image."""
_PLACE: Final = "environments/"
"""What the place of a version is written with; its environment's key follows."""


@dataclass(frozen=True, slots=True)
class AboutImage:
    """What a version is. `files`: what it was made of, by name; `lock`: what that became; `key`: the folder of its
    environment; `frameworks` and `cards`: what it is for, empty: anything; `by`: who made it. Of a container `lock` is
    its reference with the digest, and `secret` the name of what its registry is given. `code`: the upload that its jobs
    run; `base`: the version that it stands on, as NAME@VERSION.
    """

    key: str
    python: str
    lock: str
    files: dict[str, str] = field(default_factory=dict)
    packages: tuple[tuple[str, str], ...] = ()
    frameworks: tuple[str, ...] = ()
    cards: tuple[str, ...] = ()
    by: str = ""
    kind: str = ENVIRONMENT
    secret: str = ""
    code: str = ""
    base: str = ""


def image_version(about: AboutImage, digest: str, size_bytes: int, files: int, at: float) -> NewVersion:
    """Return a version to be stored. `digest`: of its lock."""
    held = {name: getattr(about, name) for name in AboutImage.__slots__}
    return NewVersion(digest, size_bytes, files, at, AssetSource.PERSON, _PLACE + about.key, about=held)


def about_of(version: AssetVersion) -> AboutImage | None:
    """Return what a version is, None where that cannot be read."""
    held = version.about
    try:
        return AboutImage(
            key=_text(held["key"]),
            python=_text(held["python"]),
            lock=_text(held["lock"]),
            files={_text(name): _text(text) for name, text in held["files"].items()},
            packages=tuple((_text(name), _text(number)) for name, number in held["packages"]),
            frameworks=tuple(map(_text, held["frameworks"])),
            cards=tuple(map(_text, held["cards"])),
            by=_text(held["by"]),
            kind=_text(held["kind"]),
            secret=_text(held.get("secret", "")),
            code=_text(held.get("code", "")),
            base=_text(held.get("base", "")),
        )
    except (KeyError, TypeError, ValueError, AttributeError):
        return None


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(value)
    return value


@dataclass(frozen=True, slots=True)
class _Pulled:
    """What is known of a version before it is made."""

    about: dict[str, Any]


class ImageRows:
    """What is done to images. Each method raises StorageFailed."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def version(self, workspace: str, name: str, number: int) -> AssetVersion | None:
        """Return a version of the image that this name means in a workspace, whoever may see it: for jobs that were
        submitted with it.
        """
        with self._database.read() as connection:
            found = meant(connection, AssetKind.IMAGE, workspace, name, asset_version.c.number == number)
        return found[0] if found else None

    def came_after(self, workspace: str, name: str, at: float) -> bool:
        """Return whether the image that this name means in a workspace has it only since after `at`."""
        one = asset_subscription
        own = select(asset.c.created_at).where(asset.c.workspace == workspace, asset.c.name == name)
        taken = select(one.c.at).where(one.c.workspace == workspace, one.c.name == name)
        asked = (own.where(asset.c.kind == AssetKind.IMAGE), taken.where(one.c.kind == AssetKind.IMAGE))
        with self._database.read() as connection:
            return any(begun > at for question in asked for begun in connection.scalars(question))

    def environments(self, number: int) -> set[str]:
        """Return the environments of all versions with this number, also of those in the bin. O(images)."""
        there = select(asset_version.c.path).join(asset, asset.c.id == asset_version.c.asset)
        binned = select(binned_version.c.path).join(bin_entry, bin_entry.c.id == binned_version.c.entry)
        there = there.where(asset.c.kind == AssetKind.IMAGE, asset_version.c.number == number)
        binned = binned.where(bin_entry.c.kind == AssetKind.IMAGE, binned_version.c.number == number)
        with self._database.read() as connection:
            paths = [*connection.scalars(there), *connection.scalars(binned)]
        return {path.removeprefix(_PLACE) for path in paths}

    def demand_may_write(self, visible: Visible, wanted: Asset, secret: str) -> None:
        """Return when `wanted` may get a version, pulled with this secret ("": none): its name is free, or an image of
        `visible`. Raises Conflict.
        """
        with self._database.read() as connection:
            if (line := self._line(connection, visible, wanted)) is not None:
                demand_offerable(connection, line, [_Pulled({"secret": secret})])

    def tell(self, told: AuditEvent) -> None:
        """Store that somebody did something that is no row of an image yet."""
        self._database.write(lambda connection: audit.write(connection, [told])).result()

    @staticmethod
    def _line(connection: Connection, visible: Visible, wanted: Asset) -> Asset | None:
        found = asset_called(connection, AssetKind.IMAGE, wanted.workspace, wanted.name)
        if found is not None and asset_seen(connection, visible, AssetKind.IMAGE, found.id) is None:
            problem = problem_of("name", said.image_name_taken(wanted.workspace), wanted.name)
            raise Conflict(said.image_exists(wanted.name), problems=(problem,))
        if found is None:
            taken = said.image_exists(wanted.name)
            demand_not_subscribed(connection, AssetKind.IMAGE, wanted.workspace, wanted.name, taken)
            mine = (asset.c.kind == AssetKind.IMAGE) & (asset.c.owner == wanted.owner)
            if (connection.scalar(select(func.count()).where(mine)) or 0) >= MOST:
                raise Conflict(said.too_many_images(MOST))
        return found

    def add(self, visible: Visible, wanted: Asset, new: NewVersion, told: Callable[[Asset], AuditEvent]) -> Asset:
        """Store a version of the image called as `wanted`, which is made if there is none; return the image after it.
        Raises Conflict where the name is another's.
        """

        def work(connection: Connection) -> Asset:
            line = self._line(connection, visible, wanted)
            if line is None:
                values = {column.name: getattr(wanted, column.name) for column in asset.c}
                connection.execute(asset.insert().values(values))
                line = wanted
            elif wanted.description:
                described = {"description": wanted.description}
                connection.execute(update(asset).where(asset.c.id == line.id).values(described))
            demand_offerable(connection, line, [new])
            made = append(connection, line, new)
            after = replace(
                line,
                changed_at=new.created_at,
                latest=made.number,
                versions=line.versions + 1,
                description=wanted.description or line.description,
            )
            audit.write(connection, [told(after)])
            return after

        return self._database.write(work).result()

    def share(self, visible: Visible, id_: str, share: str, told: Callable[[Asset, Asset], AuditEvent]) -> Asset:
        """Share an image with the other members of its workspace, or no more. Raises NotFound."""

        def work(connection: Connection) -> Asset:
            before = _demand(connection, visible, id_)
            after = replace(before, share=share)
            if after != before:
                connection.execute(update(asset).where(asset.c.id == id_).values(share=share))
                audit.write(connection, [told(before, after)])
            return after

        return self._database.write(work).result()

    def describe(
        self, visible: Visible, id_: str, description: str, told: Callable[[Asset, Asset], AuditEvent]
    ) -> None:
        """Say what an image is for. Raises NotFound."""

        def work(connection: Connection) -> None:
            before = _demand(connection, visible, id_)
            after = replace(before, description=description)
            if after != before:
                connection.execute(update(asset).where(asset.c.id == id_).values(description=description))
                audit.write(connection, [told(before, after)])

        self._database.write(work).result()


def _demand(connection: Connection, visible: Visible, id_: str) -> Asset:
    found = asset_seen(connection, visible, AssetKind.IMAGE, id_)
    if found is None:
        raise NotFound(said.no_such_image(repr(id_)))
    return found
