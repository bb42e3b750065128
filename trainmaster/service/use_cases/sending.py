"""Use cases on outputs that go to object storage: what became of them, told in the history of their jobs, and another
try of what failed.
"""

import asyncio
from typing import Final

from trainmaster.access.roles import Principal
from trainmaster.answers import JobView
from trainmaster.core.errors import Conflict
from trainmaster.core.events import Data, Event, Kind
from trainmaster.core.records import Job
from trainmaster.core.sending import SendState, SendTarget
from trainmaster.messages.assets import objects as say
from trainmaster.messages.jobs import files
from trainmaster.messages.said import Said
from trainmaster.service.context import Context
from trainmaster.service.use_cases.jobs import Jobs

KINDS: Final = (Kind.UPLOADED, Kind.UPLOAD_FAILED)


class Uploads:
    """One object per server."""

    def __init__(self, context: Context, jobs: Jobs) -> None:
        self._ctx, self._jobs = context, jobs
        context.sending.told = self.tell

    async def again(self, ref: str, who: Principal) -> JobView:
        """Upload again what failed of a job's outputs, or was left out. Raises NotFound, Forbidden, Conflict where that
        is nothing, StorageFailed.
        """
        seq = self._ctx.feed.here()
        job = await self._jobs.resolve(ref, who, "jobs:write")
        if not await self._ctx.sending.again(job.seq):
            raise Conflict(say.nothing_to_upload(job.id[:12]))
        job = await self._jobs.mark(ref, job, who, "jobs:write", lambda _: (Kind.UPLOAD_ASKED, {}))
        return (await self._jobs.views([job], who, seq))[0]

    async def tell(self, target: SendTarget) -> None:
        """Write down in the history of its job what became of a place; nothing where that stands there. Raises
        StorageFailed, Unavailable.
        """
        if await asyncio.to_thread(self._is_told, target):
            return
        kind = Kind.UPLOADED if target.state is SendState.DONE else Kind.UPLOAD_FAILED
        data: Data = {"number": target.number, "place": target.place, "opened_at": target.changed_at}
        data |= {"files": target.files, "size_bytes": target.size_bytes, "left_out": target.left_out}
        data |= {"said": _said(target).to_json()}

        def event_of(job: Job) -> Event | None:
            return Event(job.id, kind, self._ctx.clock(), "system", data=data)

        await self._ctx.ended.change(target.job, self._ctx.records.get_job, event_of)

    def _is_told(self, target: SendTarget) -> bool:
        told = self._ctx.sending.rows.told(target.seq, [kind.value for kind in KINDS])
        mine = target.number, target.changed_at
        return any((one.get("number"), one.get("opened_at")) == mine for one in told)


def _said(target: SendTarget) -> Said:
    if target.state is SendState.FAILED:
        return say.outputs_not_sent(target.place, target.said or files.output_not_readable(), target.job[:12])
    sent = say.outputs_sent(target.files, target.size_bytes >> 20, target.place)
    return sent if target.said is None else say.outputs_sent_in_part(sent, target.said)
