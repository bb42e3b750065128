"""A job as a program holds it: its last known state, and the verbs on it.

`seen` is the API's answer as it was last seen; `refresh` and `wait` bring it up to date. Invariant: waiting never
polls; it watches the server's feed and survives the server's restart.
"""

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, overload

from trainmaster import answers
from trainmaster.core.errors import NotFound, Unavailable
from trainmaster.core.states import Shown
from trainmaster.messages.server import client as sayings
from trainmaster.sdk import logs
from trainmaster.sdk.downloads import Received, to_file, unpacked
from trainmaster.sdk.lost import RECONNECT_S, Lost
from trainmaster.sdk.metrics import Metrics
from trainmaster.sdk.progress import card, show_progress
from trainmaster.spec.document import Document

if TYPE_CHECKING:
    from trainmaster.sdk.client import Client
    from trainmaster.sdk.inside import Inside

ENDED: Final = frozenset({Shown.SUCCEEDED, Shown.FAILED, Shown.STOPPED, Shown.EXPIRED})
FRESH_S: Final = 1.0
"""What was seen so long ago still counts as now: a loop over a list does not ask for every job of it."""
PAUSE_S: Final = 0.5
LONG_PAUSE_S: Final = 5.0
"""Between two tries to come back to it: at first, and at most."""


class Job:
    """A job on a server. Made by Client.

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

    def refresh(self) -> "Job":
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

    def wait(self, timeout: float | None = None, progress: bool = False, held: bool = False) -> "Job":
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

    def watch(self, timeout: float | None = None) -> Iterator["Job"]:
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
        http, params = self._client.http, {"job": self.id, "after": self.seen.seq}
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

    # -- looking -----------------------------------------------------------------------------------------------

    @overload
    def logs(
        self,
        task: str | None = None,
        *,
        attempt: int | str = "last",
        follow: Literal[False] = False,
        tail: int | None = None,
    ) -> str: ...

    @overload
    def logs(
        self, task: str | None = None, *, attempt: int | str = "last", follow: Literal[True], tail: int | None = None
    ) -> Iterator[str]: ...

    def logs(
        self, task: str | None = None, *, attempt: int | str = "last", follow: bool = False, tail: int | None = None
    ) -> str | Iterator[str]:
        """Return a task's log as one text, or with `follow` an iterator of pieces that ends with the job.

        `task` like ``task0-0`` (default: the first); `tail`: only that many last lines. Raises NotFound before the
        first start.
        """
        name, http = task or "task0-0", self._client.http
        if follow:
            return self._follow(name, attempt, tail)
        path = self._log(attempt, name)
        return "".join(logs.read_whole(http, path)) if tail is None else logs.read_last(http, path, tail).text

    def _follow(self, task: str, attempt: int | str, tail: int | None) -> Iterator[str]:
        """Follow one attempt, or with "last" every attempt from the current one on."""
        number = int(attempt) if attempt != "last" else self._first_attempt()
        while number is not None:
            http, path, start = self._client.http, self._log(number, task), 0
            if tail is not None:
                window = logs.read_last(http, path, tail)
                yield window.text
                start, tail = window.next_offset, None
            yield from logs.follow(http, path, start)
            number = None if attempt != "last" else self._attempt_after(number)

    def _first_attempt(self) -> int | None:
        """Return the current attempt's number, waiting for the first start; None when it ended without one."""
        for _ in self.watch():
            if self.seen.attempts:
                return self.seen.attempts
        return self.seen.attempts or None

    def _attempt_after(self, number: int) -> int | None:
        """Return the number of the next attempt, waiting for it; None when there will be none: also what is held is not
        retried.
        """
        for _ in self.watch():
            if self.seen.attempts > number:
                return number + 1
            if self.seen.state == Shown.RETAINED:
                return None
        return number + 1 if self.seen.attempts > number else None

    def search(
        self, text: str, task: str = "task0-0", *, attempt: int | str = "last", regex: bool = False
    ) -> Iterator[answers.LogHit]:
        """Yield the lines of a task's log that contain `text`, or with `regex` match it; what is found has the 0-based
        `line`.
        """
        return logs.search(self._client.http, self._log(attempt, task), text, regex)

    def metrics(self, points: int = 500) -> Metrics:
        """Return training metrics: curves (`series`), the `last` value of each name, and both as a table (`to_pandas`).

        At most `points` (4 to 10,000) of each series, of which `count` came in all.
        """
        return self._client.http.read(Metrics, "GET", self._path("/metrics"), params={"points": points})

    def usage(self, attempt: int | str = "last", points: int = 300) -> answers.UsageView:
        """Return usage samples of every task of an attempt."""
        params = {"attempt": str(attempt), "points": points}
        return self._client.http.read(answers.UsageView, "GET", self._path("/usage"), params=params)

    def events(self, after: int = 0) -> list[answers.EventView]:
        """Return what happened to the job, in order."""
        return self._client.http.read(answers.EventsView, "GET", self._path("/events"), params={"after": after}).items

    def explain(self) -> answers.Explanation:
        """Return why the job waits, runs or ended, and what would change that."""
        return self._client.http.read(answers.Explanation, "GET", self._path("/explain"))

    def spec(self, dialect: str = "native") -> Document:
        """Return the job's document; `dialect` native or pai."""
        found: Document = self._client.http.json("GET", self._path("/spec"), params={"dialect": dialect})
        return found

    def files(self, path: str = "") -> list[answers.File]:
        """Return the entries of a folder of the job's outputs."""
        return self._client.http.read(answers.Files, "GET", self._path("/files"), params={"path": path}).items

    def download(
        self, path: str = "outputs", to: str | os.PathLike[str] = ".", *, on_bytes: Received | None = None
    ) -> list[Path]:
        """Download what the job wrote into the folder `to`; return the files.

        `path`: ``outputs`` (/workspace/outputs), ``model`` (/model), or a file or folder beneath one of them. Raises
        NotFound, and Conflict when files of these names are there already; then nothing is written.
        """
        http, params = self._client.http, {"path": path}
        name = path.rstrip("/").rpartition("/")[2]
        try:
            http.request("GET", self._path("/files"), params=params)
        except NotFound:  # not a folder: a file
            return [to_file(http.download(self._path("/files/content"), params=params), Path(to, name), on_bytes)]
        return unpacked(http.download(self._path("/files/download"), params=params), Path(to), on_bytes)

    def download_logs(self, to: str | os.PathLike[str] = ".", *, on_bytes: Received | None = None) -> list[Path]:
        """Download the logs of all tasks of all attempts into the folder `to`; return the files. Raises Conflict as
        `download`.
        """
        return unpacked(self._client.http.download(self._path("/logs.zip")), Path(to), on_bytes)

    # -- acting ------------------------------------------------------------------------------------------------

    def exec(
        self, command: Sequence[str], task: str | None = None, *, window: tuple[int, int] | None = None
    ) -> "Inside":
        """Run `command` inside a running task (``worker-0`` or ``task0-0``; default: the first); see sdk/inside.

        `window`: on a terminal of so many columns and rows. Raises NotFound, Unavailable; whatever else is refused by
        the answer.
        """
        from trainmaster.sdk.inside import Inside  # noqa: PLC0415

        return Inside(self._client.http, self._path("/exec"), command, task or "task0-0", window)

    def stop(self, reason: str = "") -> "Job":
        """Stop the job at once and for good; outputs that are being saved are then not. Raises Conflict when they just
        were.
        """
        body = {"reason": reason}
        self._take(self._client.http.read(answers.JobView, "POST", self._path("/stop"), json=body, repeat=True))
        return self

    def delete(self) -> None:
        """Delete the ended job with its logs; a saved model stays. Raises Conflict before the end."""
        self._client.http.request("DELETE", self._path(), repeat=False)

    def clone(self, set: Mapping[str, Any] | None = None) -> "Job":
        """Submit the same job again with changed fields, for example ``{"roles.0.parameters.lr": 0.01}``."""
        body = {"set": dict(set or {})}
        return Job(self._client, self._client.http.read(answers.JobView, "POST", self._path("/clone"), json=body))

    def change(self, **fields: Any) -> "Job":
        """Change `duration_s` or `priority` of a job that has not ended."""
        self._take(self._client.http.read(answers.JobView, "PATCH", self._path(), json=fields))
        return self

    def share(self, share: str) -> "Job":
        """Let other members of the workspace read the job, act on it (read-write), or see nothing of it (none)."""
        self._take(self._client.http.read(answers.JobView, "PUT", self._path("/share"), json={"share": share}))
        return self

    def release(self) -> "Job":
        """End a debug hold."""
        self._take(self._client.http.read(answers.JobView, "POST", self._path("/release")))
        return self

    def _path(self, rest: str = "") -> str:
        return f"/jobs/{self.id}{rest}"

    def _log(self, attempt: int | str, task: str) -> str:
        return self._path(f"/attempts/{attempt}/tasks/{task}/log")

    def __repr__(self) -> str:
        name = self._known.name if isinstance(self._known, answers.JobView) else ""
        return f"<Job {self.id} {name!r} {self._known.state}>"

    def _repr_html_(self) -> str:
        """Show the job as a small card in a notebook."""
        return card(self.seen, self.url)
