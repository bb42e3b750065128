"""What people can hear of, and where each person wants to. Pure.

A happening is one thing that happened, before anybody was told. `Wishes` are what a person chose: quiet where they
chose nothing, that is everything in the console, nothing by e-mail until an address is confirmed.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final

from trainmaster.answers import Text
from trainmaster.core.verdicts import VERDICTS
from trainmaster.messages import render
from trainmaster.messages.said import Said, said_from_json
from trainmaster.messages.server import notices
from trainmaster.service.language import both

ENDED, FAILED, WAITS, PREEMPTED, IDLE, BUDGET, STORAGE, LIMIT, WEBHOOK, TEST = (
    "ended", "failed", "waits", "preempted", "idle", "budget", "storage", "limit", "webhook", "test",
)  # fmt: skip
KINDS: Final = (ENDED, FAILED, WAITS, PREEMPTED, IDLE, LIMIT, BUDGET, STORAGE, WEBHOOK)
"""All that is told, in the order in which it is listed: a job ended otherwise than it failed, failed, is queued for
longer than foreseen, was preempted, holds GPUs that do nothing, nears its time limit; a budget is spent, a storage
quota nearly used up; a webhook was switched off.
"""
OF_WORKSPACES: Final = (ENDED, FAILED, WAITS, PREEMPTED, IDLE, LIMIT, BUDGET, STORAGE)
"""What the webhook of a workspace can be told."""
TYPES: Final[Mapping[str, str]] = {
    ENDED: "job.ended",
    FAILED: "job.failed",
    WAITS: "job.waits",
    PREEMPTED: "job.preempted",
    IDLE: "job.idle",
    LIMIT: "job.limit",
    BUDGET: "workspace.budget",
    STORAGE: "workspace.storage",
    WEBHOOK: "webhook.off",
    TEST: "test",
}
"""The `type` of what a webhook is sent."""


@dataclass(frozen=True, slots=True)
class Where:
    """Where somebody wants to hear of a kind."""

    console: bool = True
    mail: bool = False
    webhook: bool = True


_LOUD: Final = frozenset({FAILED, WAITS, PREEMPTED, IDLE, LIMIT, BUDGET, STORAGE})
"""What comes by e-mail once there is an address: what one may have to act upon."""
DEFAULTS: Final[Mapping[str, Where]] = {kind: Where(mail=kind in _LOUD) for kind in KINDS}


@dataclass(frozen=True, slots=True)
class AskedAddress:
    """An address that waits for its code: the code's digest, until when it is good, how many tries are left."""

    address: str
    digest: str
    until: float
    left: int


@dataclass(frozen=True, slots=True)
class Wishes:
    """What a person chose. `address`: confirmed, "" none; `language` of mails: zh or en."""

    where: Mapping[str, Where] = field(default_factory=lambda: DEFAULTS)
    address: str = ""
    language: str = "en"
    asked: AskedAddress | None = None

    def to_json(self) -> dict[str, object]:
        """Return the record that is kept."""
        where = {kind: [one.console, one.mail, one.webhook] for kind, one in self.where.items()}
        asked = self.asked
        kept = None if asked is None else [asked.address, asked.digest, asked.until, asked.left]
        return {"where": where, "address": self.address, "language": self.language, "asked": kept}


def wishes_of(record: Mapping[str, object] | None) -> Wishes:
    """Return what a record says; what it does not say, or what cannot be read of it, is as for who chose nothing."""
    record = record or {}
    where, kept = dict(DEFAULTS), record.get("where")
    for kind, switches in kept.items() if isinstance(kept, dict) else ():
        if kind in where and isinstance(switches, list) and len(switches) == 3:
            where[kind] = Where(*map(bool, switches))
    return Wishes(
        where,
        str(record.get("address") or ""),
        "zh" if record.get("language") == "zh" else "en",
        _asked(record.get("asked")),
    )


def _asked(kept: object) -> AskedAddress | None:
    match kept:
        case [str(address), str(digest), float() | int() as until, int(left)]:
            return AskedAddress(address, digest, float(until), left)
    return None


@dataclass(frozen=True, slots=True)
class Happening:
    """One thing that happened. `key`: it is told each person once under this; `once`: no event of a job says it, so
    that it is noted that it was told. `title`: the job's name; `by`: the person who did it, who need not hear of it.
    `persons`: who hears of it beside the job's owner.
    """

    kind: str
    key: str
    at: float
    said: Said
    workspace: str
    owner: str = ""
    job: str | None = None
    title: str = ""
    verdict: str = ""
    detail: Said | None = None
    by: str = ""
    once: bool = False
    persons: tuple[str, ...] = ()

    def record(self) -> dict[str, object]:
        """Return what is kept of it: what is said, in no language."""
        detail = None if self.detail is None else self.detail.to_json()
        return {
            "said": self.said.to_json(),
            "title": self.title,
            "owner": self.owner,
            "verdict": self.verdict,
            "detail": detail,
        }


def words_of(record: Mapping[str, object]) -> Text:
    """Return a record in words: what happened, and of a failure why; of a damaged one, that it is."""
    try:
        return _words_of(record)
    except (KeyError, TypeError, AttributeError, ValueError):
        return both(notices.notice_damaged())


def _words_of(record: Mapping[str, object]) -> Text:
    said, verdict = both(_kept(record["said"])), VERDICTS.get(str(record.get("verdict") or ""))
    if verdict is None:
        return said
    detail = _kept(record["detail"]) if record.get("detail") else None
    more = both(detail)
    zh = f"{said.zh}：{verdict.zh}" + (f"（{more.zh}）" if detail else "")
    en = f"{said.en}: {verdict.en}" + (f" ({more.en})" if detail else "")
    return Text(zh=zh, en=en)


def _kept(said: object) -> Said:
    """Return what a record keeps. Raises TypeError and what `said_from_json` raises where it is damaged."""
    if not isinstance(said, dict):
        raise TypeError(type(said).__name__)
    return said_from_json(said)


def body_of(one: Happening, link: str) -> dict[str, object]:
    """Return what a webhook is sent of it, in the shape of Standard Webhooks: type, timestamp, data."""
    text = words_of(one.record())
    data: dict[str, object] = {"text": {"zh": text.zh, "en": text.en}, "workspace": one.workspace, "link": link}
    if one.job is not None:
        job = {"id": one.job, "name": one.title, "owner": one.owner}
        data |= {"job": job, "state": _STATES.get(one.said.code, ""), "verdict": one.verdict or None}
    said = {"code": one.said.code, "args": one.said.to_json()["args"]}
    stamp = datetime.fromtimestamp(one.at, UTC).isoformat(timespec="milliseconds")
    return {"type": TYPES[one.kind], "timestamp": stamp.replace("+00:00", "Z"), "data": {**data, "said": said}}


_STATES: Final[Mapping[str, str]] = {
    "notice_succeeded": "succeeded",
    "notice_failed": "failed",
    "notice_stopped": "stopped",
    "notice_stopped_itself": "stopped",
    "notice_expired": "expired",
    "notice_expired_then": "expired",
    "notice_preempted": "queued",
    "notice_waits": "queued",
    "notice_idle": "running",
    "notice_limit": "running",
}


def plain(said: Said | None, language: str) -> str:
    """Return what was said in one language."""
    return "" if said is None else render.text(said, language)
