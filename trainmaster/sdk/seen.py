"""A job as a program last saw it, and waiting for what becomes of it.

`seen` is the API's answer as it was last seen; `refresh` and `wait` bring it up to date. Invariant: waiting never
polls; it watches the server's feed and survives the server's restart.
"""

import time
from collections.abc import Iterator
from contextlib import nullcontext
from typing import TYPE_CHECKING, Final, Self

from trainmaster import answers
from trainmaster.core.errors import NotFound, Unavailable
from trainmaster.core.states import Shown
from trainmaster.messages.server import client as sayings
from trainmaster.sdk.lost import RECONNECT_S, Lost
from trainmaster.sdk.progress import show_progress

if TYPE_CHECKING:
    from trainmaster.sdk.client import Client

ENDED: Final = frozenset({Shown.SUCCEEDED, Shown.FAILED, Shown.STOPPED, Shown.EXPIRED})
FRESH_S: Final = 1.0
"""What was seen so long ago still counts as now: a loop over a list does not ask for every job of it."""
PAUSE_S: Final = 0.5
LONG_PAUSE_S: Final = 5.0
"""Between two tries to come back to it: at first, and at most."""


class SeenJob:
    """A job on a server, of which something was seen.

    `seen` is what was last seen, and what never changes is read from it: id, name, owner, workspace, pool. All else is
    live: it asks the server when what was last seen is older than FRESH_S and not final, and raises NotFound or
    Unavailable.
    """

    def __init__(self, client: "Client", known: answers.JobView | answers.BatchItem) -> None:
        self._client = client
        self._take(known)

    def _take(self, known: answers.JobView | answers.BatchItem) -> None:
        self._known, self._seen_at = known, time.monotonic()

    @property
    def seen(self) -> answers.JobView:
        """What was last seen of the job: a JobDetail when everything was asked for. One of `submit_many` is asked for
        at first.
        """
        return self._known if isinstance(self._known, answers.JobView) else self._ask()

    @property
    def detail(self) -> answers.JobDetail:
        """Everything about the job, roles, attempts and tasks too. Live; asks also when less was last seen."""
        self._renew()
        return self._known if isinstance(self._known, answers.JobDetail) else self._ask()

    @property
    def id(self) -> str:
        """The job's id."""
        return self._known.id

    @property
    def name(self) -> str:
        """The job's name, as given."""
        return self.seen.name

    @property
    def owner(self) -> str:
        """Who submitted it."""
        return self.seen.owner

    @property
    def workspace(self) -> str:
        """The workspace whose quotas it counts against."""
        return self.seen.workspace

    @property
    def pool(self) -> str:
        """The pool of its nodes."""
        return self.seen.pool

    @property
    def state(self) -> Shown:
        """The state: queued, initialising, pending, running, saving, retained, stopping, succeeded, failed, stopped,
        expired. Live.
        """
        self._renew()
        return self._known.state

    @property
    def ended(self) -> bool:
        """True once the outcome is final. Live."""
        return self.state in ENDED

    @property
    def succeeded(self) -> bool:
        """True when the job ended well. Live."""
        return self.state == Shown.SUCCEEDED

    @property
    def attempts(self) -> int:
        """How often it was tried to run it. Live."""
        return self._live().attempts

    @property
    def progress(self) -> answers.ProgressView | None:
        """How far the training is; None where nobody knows. Live."""
        return self._live().progress

    @property
    def reason(self) -> answers.ReasonView | None:
        """Why it waits; None while it does not. Live."""
        return self._live().reason

    @property
    def verdict(self) -> answers.VerdictView | None:
        """Why it ended, or its current attempt did; None before. Live."""
        return self._live().verdict

    @property
    def model(self) -> str | None:
        """The version of a model that it saved, ``id@version``; None without one. Live."""
        return self._live().model

    @property
    def url(self) -> str:
        """The console's page of this job."""
        return f"{self._client.url}/jobs/{self.id}"

    def refresh(self) -> Self:
        """Ask the server for everything about the job. Raises NotFound when it was deleted."""
        self._ask()
        return self

    def _ask(self) -> answers.JobDetail:
        found = self._client.http.read(answers.JobDetail, "GET", self._path())
        self._take(found)
        return found

    def _renew(self) -> None:
        """Ask the server when what was last seen is old and not final."""
        if self._known.state not in ENDED and time.monotonic() - self._seen_at > FRESH_S:
            self._ask()

    def _live(self) -> answers.JobView:
        self._renew()
        return self.seen

    # -- waiting -----------------------------------------------------------------------------------------------

    def wait(self, timeout: float | None = None, progress: bool = False, held: bool = False) -> Self:
        """Return when the job has ended, well or not; `progress` shows it live in a terminal or notebook.

        `timeout` in seconds; with `held` also when it has failed and is held for debugging (state "retained").
        Raises TimeoutError, NotFound when it is deleted, Unavailable when the server stays away.
        """
        with show_progress(self) if progress else nullcontext(lambda _: None) as show:
            for _ in self.watch(timeout):
                show(self.seen)
                if held and self.seen.state == Shown.RETAINED:
                    break
        return self

    def watch(self, timeout: float | None = None) -> Iterator[Self]:
        """Yield this job now and after every change, until it has ended. Raises like `wait`."""
        deadline = None if timeout is None else time.monotonic() + timeout
        self.refresh()
        yield self
        lost_at: float | None = None
        pause_s = PAUSE_S
        while self._known.state not in ENDED:
            try:
                if lost_at is not None:  # the server is back, and the job may have ended meanwhile
                    before = self.seen.version
                    self.refresh()
                    lost_at = None
                    if self.seen.version != before:
                        yield self
                    continue
                for found in self._changes(deadline):
                    pause_s = PAUSE_S
                    self._take(found)
                    yield self
                    if found.state in ENDED:
                        break
                if self._known.state not in ENDED:
                    self.refresh()
            except (Lost, Unavailable) as error:
                if deadline is not None and time.monotonic() >= deadline:
                    raise self._late() from None
                lost_at = lost_at or time.monotonic()
                if time.monotonic() - lost_at > RECONNECT_S:
                    raise Unavailable(sayings.server_went_away_meanwhile(self._client.url, self.id)) from error
                time.sleep(pause_s if deadline is None else max(0.0, min(pause_s, deadline - time.monotonic())))
                pause_s = min(2 * pause_s, LONG_PAUSE_S)
            if deadline is not None and time.monotonic() >= deadline and self._known.state not in ENDED:
                raise self._late()

    def _late(self) -> TimeoutError:
        return TimeoutError(f"job {self.id} is still {self._known.state}; it goes on")

    def _changes(self, deadline: float | None) -> Iterator[answers.JobView]:
        """Yield what the job became after what was last seen; end when the server says that too much was missed."""
        quiet = 45.0 if deadline is None else max(0.05, min(45.0, deadline - time.monotonic()))
        http = self._client.http
        params: dict[str, str | float] = {"job": self.id, "after": self.seen.seq}
        for item in http.events("/feed", params, quiet_s=quiet):
            if item.event == "job":
                found = http.read_as(answers.JobView, item.data)
                if found.id == self.id:
                    yield found
            elif item.event == "deleted" and http.read_as(answers.DeletedJob, item.data).id == self.id:
                raise NotFound(sayings.job_was_deleted(self.id))
            elif item.event == "reset":
                return
            if deadline is not None and time.monotonic() >= deadline:
                return

    def _path(self, rest: str = "") -> str:
        return f"/jobs/{self.id}{rest}"
