"""Use case: search over everything that somebody may know of. Changes nothing.

Each kind is asked with the rights for that kind, and one that is not granted is empty: a search tells nothing that the
list of that kind would not tell. A word is found where it stands, and near where one character of it is wrong.
"""

import asyncio
from collections.abc import Iterable, Sequence
from typing import Final

from trainmaster.access.decide import decide
from trainmaster.access.roles import Principal
from trainmaster.answers import FoundJob, FoundName, SearchView
from trainmaster.core.records import Job
from trainmaster.service.context import Context
from trainmaster.store.assets.versions import Asset, AssetKind, AssetReader
from trainmaster.store.finding import grams
from trainmaster.store.jobs.read_jobs import JobQuery
from trainmaster.store.jobs.search import words_of
from trainmaster.store.people.accounts import PeopleRows
from trainmaster.store.people.members import MemberRows
from trainmaster.store.sweeps.sweeps import SweepQuery, SweepReader

MOST: Final = 8
"""Of each kind."""

_ASSETS: Final = {
    "datasets": AssetKind.DATASET,
    "volumes": AssetKind.VOLUME,
    "templates": AssetKind.TEMPLATE,
    "algorithms": AssetKind.ALGORITHM,
    "images": AssetKind.IMAGE,
    "models": AssetKind.MODEL,
}
"""What is kept under names, by the name of its list in the answer, which is also that of its scope."""


class Searching:
    """One object per server."""

    def __init__(
        self, context: Context, assets: AssetReader, sweeps: SweepReader, people: PeopleRows, members: MemberRows
    ) -> None:
        self._ctx, self._assets, self._sweeps = context, assets, sweeps
        self._people, self._members = people, members

    async def everything(self, q: str, who: Principal, most: int = MOST) -> SearchView:
        """Return what is found of each kind; nothing for no words."""
        words = words_of(q)
        if not words:
            return SearchView(jobs=[], people=[], workspaces=[], pools=[], sweeps=[], **{one: [] for one in _ASSETS})
        jobs, people, sweeps, assets = await asyncio.gather(
            asyncio.to_thread(self._jobs, q, words, who, most),
            asyncio.to_thread(self._known_people, who),
            asyncio.to_thread(self._swept, q, who, most),
            asyncio.to_thread(self._kept, q, who, most),
        )
        pools = self._ctx.pools
        shown = [(one.name, one.description) for one in pools.pools.values()] if _may(who, "cluster:read") else []
        places = [(name, one.description) for name, one in pools.workspaces.items() if _knows(who, name)]
        return SearchView(
            jobs=jobs,
            people=_named(words, people, most),
            workspaces=_named(words, places, most),
            pools=_named(words, shown, most),
            sweeps=sweeps,
            **assets,
        )

    def _jobs(self, q: str, words: list[str], who: Principal, most: int) -> list[FoundJob]:
        if not _may(who, "jobs:read"):
            return []
        visible = decide(who, "jobs:read").demand()
        exact = self._ctx.reader.list_jobs(visible, JobQuery(q=q), most).items
        found = [self._found(job, False) for job in exact]
        if len(found) < most:
            near = self._ctx.reader.near(visible, words, most)
            known = {job.id for job in exact}
            found += [self._found(job, True) for job in near if job.id not in known]
        return found[:most]

    def _found(self, job: Job, near: bool) -> FoundJob:
        job = self._ctx.master.live.get(job.id, job)
        return FoundJob(
            id=job.id,
            name=job.name,
            state=job.shown,
            owner=job.owner,
            workspace=job.workspace,
            submitted_at=job.submitted_at,
            near=near,
        )

    def _known_people(self, who: Principal) -> list[tuple[str, str]]:
        """Return (name, where) of whom `who` may know: everybody, or who is in a workspace with them."""
        if _may(who, "people:read"):
            return [(one.name, "") for one in self._people.users() if one.state != "deleted"]
        found = {who.name: ""} if _may(who, "account:self") else {}
        if _may(who, "members:read"):
            inside = decide(who, "members:read").demand()
            for place in sorted(inside.workspaces if inside.within is None else inside.workspaces & {inside.within}):
                for one in self._members.of_workspace(place):
                    found[one.user] = ", ".join(filter(None, (found.get(one.user, ""), place)))
        return sorted(found.items())

    def _swept(self, q: str, who: Principal, most: int) -> list[FoundName]:
        if not _may(who, "jobs:read"):
            return []
        found = self._sweeps.page(decide(who, "jobs:read").demand(), SweepQuery(q), most).items
        return [FoundName(ref=one.id, name=one.name, about=one.owner, near=False) for one in found]

    def _kept(self, q: str, who: Principal, most: int) -> dict[str, list[FoundName]]:
        """Return what is kept under names, by its kind."""
        found: dict[str, Sequence[Asset]] = dict.fromkeys(_ASSETS, ())
        for one, kind in _ASSETS.items():
            if _may(who, f"{one}:read"):
                found[one] = self._assets.list_assets(decide(who, f"{one}:read").demand(), kind, q, most=most)
        return {
            kind: [FoundName(ref=one.id, name=one.name, about=one.owner, near=False) for one in items]
            for kind, items in found.items()
        }


def _may(who: Principal, scope: str) -> bool:
    return decide(who, scope).allowed


def _knows(who: Principal, workspace: str) -> bool:
    if who.within not in (None, workspace):
        return False
    return _may(who, "workspaces:write") or who.role_in(workspace) is not None


def _named(words: list[str], things: Iterable[tuple[str, str]], most: int) -> list[FoundName]:
    found = []
    for name, about in things:
        text = f"{name}\n{about}".casefold()
        exact = all(word in text for word in words)
        if exact or all(word in text or _near(word, name) for word in words):
            found.append(FoundName(ref=name, name=name, about=about, near=not exact))
    return sorted(found, key=lambda one: (one.near, not one.name.casefold().startswith(words[0]), one.name))[:most]


def _near(word: str, name: str) -> bool:
    wanted = set(grams.nearly(word))
    return any(wanted.intersection(grams.nearly(one)) for one in grams.names_of(name))
