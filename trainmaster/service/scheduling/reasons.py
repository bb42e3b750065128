"""Why a job waits, as the API shows it: in words, with the names that its reader may know, and its place in the
line.
"""

from trainmaster.answers import ReasonView
from trainmaster.queue.explaining.explain import Judged, position
from trainmaster.queue.explaining.reasons import NameOf, render, with_names
from trainmaster.queue.snapshot import Reason
from trainmaster.service.language import two


def view_judged(judged: Judged, name_of: NameOf) -> ReasonView:
    """Return why somebody waits, and where in its pool's line, as the API shows it to a reader."""
    assert isinstance(judged.found, Reason), "who starts has no reason to wait"
    return view_reason(judged.found, position(judged.snapshot, judged.job, judged.made), name_of)


def view_reason(reason: Reason, ahead: int | None, name_of: NameOf) -> ReasonView:
    """Return a reason as the API shows it to a reader. `ahead`: how many come before it in its pool; None: nobody
    asks.
    """
    reason = with_names(reason, name_of)
    position = None if ahead is None else ahead + 1
    return ReasonView(code=reason.code, message=two(render(reason)), evidence=reason.evidence, position=position)
