"""What speaks against a job that names places of object storage: it may not use the connection, there is none, or what
the store says of it now (B8). Where its outputs go should be empty (R148), and all of it in the region of the nodes
(R17).

A store that does not answer within seconds speaks against nothing: it is asked again before the start. What it said is
known for half a minute, as many jobs may name one place.
"""

import asyncio
import os.path
import time
from collections import OrderedDict, defaultdict
from collections.abc import Mapping, Sequence
from typing import Final

from trainmaster.access.decide import decide
from trainmaster.access.roles import Principal
from trainmaster.access.visible import InWorkspace
from trainmaster.core.errors import Problem, Unavailable
from trainmaster.messages.assets import objects as said
from trainmaster.messages.jobs import rules
from trainmaster.messages.said import Said
from trainmaster.service.helpers.own_thread import in_own_thread
from trainmaster.service.objects.connections import StoreConnections
from trainmaster.spec.inputs import split_place
from trainmaster.spec.job import JobSpec
from trainmaster.spec.outputs import by_name, place_of
from trainmaster.spec.problems import problem
from trainmaster.storage.objects.reaching import StoreFailed
from trainmaster.storage.objects.sending import is_empty

LOOK_S: Final = 5.0
KNOWN_S: Final = 30.0
KEPT: Final = 1000
AT_ONCE: Final = 8
MOST_TOLD: Final = 20
"""Places of many jobs that are told of; behind them nothing is looked at."""
_NOT_EMPTY: Final = "send_place_not_empty"


def _refs(spec: JobSpec) -> dict[str, str]:
    """Return the places that a job names, by the fields that do."""
    refs = {f"inputs.{at}.s3": item.s3 for at, item in enumerate(spec.inputs) if item.s3 is not None}
    return refs | {f"outputs.{at}.s3": place_of(item.s3, "{id}", spec.name) for at, item in enumerate(spec.outputs)}


class StoredInputs:
    """One object per server."""

    def __init__(self, connections: StoreConnections) -> None:
        self._connections = connections
        self._seen: OrderedDict[tuple[str, str, bool], tuple[float, Said | None]] = OrderedDict()
        self._looking = 0

    async def problems(self, spec: JobSpec, who: Principal, as_owner: bool) -> list[Problem]:
        """Return them. Who may not submit into the workspace is told that alone, elsewhere: not which connections it
        has. `as_owner`: its tasks run as its owner's system user. At most seconds.
        """
        refs, going = _refs(spec), {f"outputs.{at}.s3": item for at, item in enumerate(spec.outputs)}
        workspace = InWorkspace(spec.workspace)
        if not refs or not decide(who, "jobs:submit", workspace).allowed:
            return []
        if not decide(who, "secrets:use", workspace).allowed:
            return [problem(next(iter(refs)), said.connections_not_permitted(spec.workspace))]
        there, found = await asyncio.to_thread(self._connections.regions, spec.workspace), []
        refuses = self._connections.config.other_regions == "refuse"
        for path, ref in refs.items():
            name = split_place(ref)[0]
            if name not in there:
                found.append(problem(path, said.no_such_connection(name, spec.workspace), ref))
            elif refuses and (far := self._far(ref, there)) is not None:
                found.append(problem(path, far, ref))
            elif as_owner and path not in going:
                found.append(problem(path, rules.version_not_for_owners(ref), ref))
            elif (wrong := await self._look(spec.workspace, ref, path in going)) is not None and (
                path not in going or going[path].if_exists == "refuse" or wrong.code != _NOT_EMPTY
            ):
                found.append(problem(path, wrong, ref))
        return found

    async def warnings(self, spec: JobSpec, who: Principal) -> list[Problem]:
        """Return which places are in another region than the nodes (R17), and which of outputs are not empty (R148),
        where that is allowed. At most seconds.
        """
        refs = _refs(spec)
        if not refs or not decide(who, "secrets:use", InWorkspace(spec.workspace)).allowed:
            return []
        there = await asyncio.to_thread(self._connections.regions, spec.workspace)
        found = [problem(path, far, ref) for path, ref in refs.items() if (far := self._far(ref, there)) is not None]
        for at, item in enumerate(spec.outputs):
            place = place_of(item.s3, "{id}", spec.name)
            told = await self._look(spec.workspace, place, True) if item.if_exists != "refuse" else None
            if told is not None and told.code == _NOT_EMPTY:
                kept = item.if_exists == "keep"
                said_of = said.send_place_kept if kept else said.send_place_overwritten
                found.append(problem(f"outputs.{at}.s3", said_of(place), item.s3))
        return found

    async def taken(self, specs: Sequence[JobSpec], who: Principal) -> list[tuple[int, Problem]]:
        """Return which places that have to be empty are not, where jobs that are submitted together differ only by
        their names, with the index of each job. One listing for all whose document says the same; at most seconds.
        """
        places: defaultdict[tuple[str, int, str], dict[str, list[int]]] = defaultdict(dict)
        for index, spec in enumerate(specs):
            for at, item in enumerate(spec.outputs):
                if by_name(item):
                    ref = place_of(item.s3, "", spec.name)
                    places[spec.workspace, at, item.s3].setdefault(ref, []).append(index)
        found = list[tuple[int, Problem]]()
        for (workspace, at, _), refs in places.items():
            if not decide(who, "secrets:use", InWorkspace(workspace)).allowed:
                continue
            for ref in await self._not_empty(workspace, list(refs)):
                told = problem(f"outputs.{at}.s3", said.send_place_not_empty(ref), ref)
                found += [(index, told) for index in refs[ref]]
        return sorted(found, key=lambda one: one[0])

    async def _not_empty(self, workspace: str, refs: Sequence[str]) -> list[str]:
        """Return which places are not empty, some of them where they are many; none where the store does not answer."""
        if self._looking >= AT_ONCE:
            return []
        self._looking += 1
        try:
            async with asyncio.timeout(LOOK_S):
                return await in_own_thread(lambda: self._filled(workspace, refs), "look")
        except (TimeoutError, Unavailable, StoreFailed):
            return []
        finally:
            self._looking -= 1

    def _filled(self, workspace: str, refs: Sequence[str]) -> list[str]:
        bucket = self._connections.open(workspace, split_place(refs[0])[0])
        places = {ref: bucket.target.place(split_place(ref)[1]) for ref in refs}
        head = os.path.commonprefix([*places.values()])  # noqa: RUF071 (letters: names of entries begin alike)
        there, found = set(bucket.folders(head)), list[str]()
        for ref, place in places.items():
            folder = head + place[len(head) :].partition("/")[0] + "/"
            if folder in there and not is_empty(bucket, place):  # else the mark of a folder, or one beside it
                found.append(ref)
            if len(found) == MOST_TOLD:
                break
        return found

    def _far(self, ref: str, there: Mapping[str, str]) -> Said | None:
        """Return that a place is not where the nodes are, None where it is, or nobody says where either is."""
        ours, its = self._connections.config.region, there.get(split_place(ref)[0], "")
        return said.store_in_other_region(ref, its, ours) if ours and its and its != ours else None

    async def _look(self, workspace: str, ref: str, output: bool) -> Said | None:
        """Return what a store says against a place, None when nothing, or when it does not answer. `output`: it should
        be empty, else something should be there.
        """
        key = (workspace, ref, output)
        at, told = self._seen.get(key, (-KNOWN_S, None))
        if time.monotonic() - at < KNOWN_S or self._looking >= AT_ONCE:
            return told
        self._looking += 1
        try:
            async with asyncio.timeout(LOOK_S):
                told = await in_own_thread(lambda: self._ask(workspace, ref, output), "look")
        except (TimeoutError, Unavailable):
            told = None
        finally:
            self._looking -= 1
        self._seen[key] = (time.monotonic(), told)
        if len(self._seen) > KEPT:
            self._seen.popitem(last=False)
        return told

    def _ask(self, workspace: str, ref: str, output: bool) -> Said | None:
        name, path = split_place(ref)
        try:
            bucket = self._connections.open(workspace, name)
            place = bucket.target.place(path)
            if output:
                return None if is_empty(bucket, place) else said.send_place_not_empty(ref)
            if next(bucket.listed(f"{place}/" if place else ""), None) is None and not (place and bucket.find(place)):
                return said.store_nothing_there(ref)
        except StoreFailed as error:
            return error.said if error.lasting else None
        return None
