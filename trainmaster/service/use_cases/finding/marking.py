"""Use cases on what people say of a job: tags, a note, and whether it is one of their favorites. Also after its end.

Tags and note belong to the job: whoever may act on it sets them, and everybody who sees it reads them. A favorite is a
person's own. Labels are the job file's and stay as they were submitted.
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import Final

from trainmaster.access.roles import Principal
from trainmaster.answers import JobView
from trainmaster.core.errors import InvalidSpec, Problem, problem_of
from trainmaster.core.events import Data, Kind
from trainmaster.core.records import Job
from trainmaster.messages.jobs import marks
from trainmaster.messages.server import requests
from trainmaster.service.context import Context
from trainmaster.service.use_cases.jobs import Jobs
from trainmaster.store.jobs.favorites import Favorites

MOST_TAGS: Final = 32
LONGEST_TAG: Final = 64
LONGEST_NOTE: Final = 4000
_FIRST: Final = "+-"


class Marking:
    """One object per server."""

    def __init__(self, context: Context, jobs: Jobs, favorites: Favorites) -> None:
        self._ctx, self._jobs, self._favorites = context, jobs, favorites

    async def tag(self, ref: str, who: Principal, add: Sequence[str] = (), remove: Sequence[str] = ()) -> JobView:
        """Put tags on a job and take others away; upper and lower case are the same tag. Raises NotFound, Forbidden,
        InvalidSpec, StorageFailed.
        """
        seq = self._ctx.feed.here()
        job = await self._jobs.resolve(ref, who, "jobs:write")

        def tagged(job: Job) -> tuple[Kind, Data] | None:
            tags = _tags_of(job, add, remove)
            data = {"tags": list(tags), "before": {"tags": list(job.tags)}}
            return None if tags == job.tags else (Kind.ANNOTATED, data)

        return await self._marked(ref, job, who, seq, tagged)

    async def note(self, ref: str, who: Principal, text: str) -> JobView:
        """Say what is to be remembered of a job; "" takes it away. Raises as `tag`."""
        seq = self._ctx.feed.here()
        job = await self._jobs.resolve(ref, who, "jobs:write")
        text = text.strip()
        if len(text) > LONGEST_NOTE:
            problem = problem_of("note", marks.note_too_long(LONGEST_NOTE), len(text))
            raise InvalidSpec(requests.change_not_valid(), problems=(problem,))

        def noted(job: Job) -> tuple[Kind, Data] | None:
            return None if text == job.note else (Kind.ANNOTATED, {"note": text, "before": {"note": job.note}})

        return await self._marked(ref, job, who, seq, noted)

    async def favor(self, ref: str, who: Principal, wanted: bool) -> JobView:
        """Make a job one of one's own favorites, or no more. Raises NotFound, StorageFailed."""
        seq = self._ctx.feed.here()
        job = await self._jobs.resolve(ref, who)
        await asyncio.to_thread(self._favorites.put, who.name, job.seq, wanted)
        return (await self._jobs.views([job], who, seq))[0]

    async def _marked(
        self, ref: str, job: Job, who: Principal, seq: str, of: Callable[[Job], tuple[Kind, Data] | None]
    ) -> JobView:
        job = await self._jobs.mark(ref, job, who, "jobs:write", of)
        return (await self._jobs.views([job], who, seq))[0]


def _tags_of(job: Job, add: Sequence[str], remove: Sequence[str]) -> tuple[str, ...]:
    """Return the tags of `job` with these and without those. Raises InvalidSpec."""
    wrong = _tag_problems(add)
    gone = {tag.casefold() for tag in remove}
    kept = {tag.casefold(): tag for tag in job.tags if tag.casefold() not in gone}
    for tag in add:
        kept.setdefault(tag.casefold(), tag)
    if len(kept) > MOST_TAGS:
        wrong.append(problem_of("add", marks.too_many_tags(MOST_TAGS), len(kept)))
    if wrong:
        raise InvalidSpec(requests.change_not_valid(), problems=tuple(wrong))
    return tuple(sorted(kept.values(), key=str.casefold))


def _tag_problems(tags: Sequence[str]) -> list[Problem]:
    found = []
    for number, tag in enumerate(tags):
        path = f"add.{number}"
        if not tag.strip() or tag != tag.strip() or len(tag) > LONGEST_TAG:
            found.append(problem_of(path, marks.tag_length(LONGEST_TAG), tag))
        elif not tag.isprintable() or tag[0] in _FIRST or "," in tag:
            found.append(problem_of(path, marks.tag_characters(), tag))
    return found
