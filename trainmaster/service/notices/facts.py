"""What is told of a fact of the ledger: kind and words. Pure."""

from trainmaster.core.states import JobState
from trainmaster.messages.said import Said
from trainmaster.messages.server import notices as said
from trainmaster.service.notices.kinds import ENDED, FAILED, PREEMPTED, Happening
from trainmaster.store.notices.happened import JobFact


def is_worth_telling(fact: JobFact) -> bool:
    """Return whether somebody wants to hear of it: entries of a sweep that are stopped early were meant to be."""
    return fact.verdict is None or fact.verdict.code != "stopped_early"


def happening_of(fact: JobFact) -> Happening:
    """Return what happened to a job."""
    kind, words = _said(fact)
    verdict = fact.verdict if fact.state is JobState.FAILED else None
    return Happening(
        kind,
        f"{kind}/{fact.job}/{fact.attempt}",
        fact.at,
        words,
        fact.workspace,
        fact.owner,
        fact.job,
        fact.name,
        verdict=verdict.code if verdict is not None else "",
        detail=verdict.said if verdict is not None else None,
        by=fact.by,
    )


def _said(fact: JobFact) -> tuple[str, Said]:
    if fact.state is JobState.QUEUED:
        return PREEMPTED, said.notice_preempted(fact.name)
    if fact.state is JobState.FAILED:
        return FAILED, said.notice_failed(fact.name)
    if fact.state is JobState.SUCCEEDED:
        return ENDED, said.notice_succeeded(fact.name, fact.at - (fact.started_at or fact.at))
    if fact.state is JobState.EXPIRED:
        limit_s = fact.limit_s
        return ENDED, said.notice_expired_then(fact.name) if limit_s is None else said.notice_expired(
            fact.name, limit_s
        )
    return ENDED, said.notice_stopped(fact.name, fact.by) if fact.by else said.notice_stopped_itself(fact.name)
