"""A job as a program holds it: what was last seen of it, all that can be read of it, and the verbs on it."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

from trainmaster import answers
from trainmaster.core.errors import NotFound
from trainmaster.core.states import Shown
from trainmaster.sdk import logs
from trainmaster.sdk.downloads import Received, to_file, unpacked
from trainmaster.sdk.metrics import Metrics
from trainmaster.sdk.progress import card
from trainmaster.sdk.seen import SeenJob
from trainmaster.spec.document import Document, FieldChanges

if TYPE_CHECKING:
    from trainmaster.sdk.inside import Inside


class Job(SeenJob):
    """A job on a server: what can be read of it and done to it. Made by Client."""

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

    def code_diff(self, other: str) -> answers.CodeDiffView:
        """Return what differs from this job's code to that of `other`, file by file. Raises NotFound."""
        params = {"base": self.id, "other": other}
        return self._client.http.read(answers.CodeDiffView, "GET", "/compare/code", params=params)

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

    def upload_again(self) -> "Job":
        """Upload again what of its outputs could not go to object storage, or was left out. Raises Conflict where that
        is nothing.
        """
        self._take(self._client.http.read(answers.JobView, "POST", self._path("/upload")))
        return self

    def delete(self) -> None:
        """Delete the ended job with its logs; a saved model stays. Raises Conflict before the end."""
        self._client.http.request("DELETE", self._path(), repeat=False)

    def clone(self, set: FieldChanges | None = None) -> "Job":
        """Submit the same job again with changed fields, for example ``{"roles.0.parameters.lr": 0.01}``: its next
        version.
        """
        body = {"set": dict(set or {})}
        return Job(self._client, self._client.http.read(answers.JobView, "POST", self._path("/clone"), json=body))

    def versions(self) -> "list[Job]":
        """Return the versions of this job, the newest first: what was made of it with `clone` or
        ``submit(..., version_of=job.id)``; `seen.family_version` is the number of each.
        """
        found = self._client.http.read(answers.JobVersions, "GET", self._path("/versions"))
        return [Job(self._client, one) for one in found.items]

    def change(self, **fields: Any) -> "Job":
        """Change `duration_s` or `priority` of a job that has not ended."""
        self._take(self._client.http.read(answers.JobView, "PATCH", self._path(), json=fields))
        return self

    def share(self, share: str) -> "Job":
        """Let other members of the workspace read the job, act on it (read-write), or see nothing of it (none)."""
        self._take(self._client.http.read(answers.JobView, "PUT", self._path("/share"), json={"share": share}))
        return self

    def tag(self, *add: str, remove: Sequence[str] = ()) -> "Job":
        """Put tags on the job and take others away; also after its end."""
        body = {"add": [*add], "remove": [*remove]}
        self._take(self._client.http.read(answers.JobView, "PATCH", self._path("/tags"), json=body))
        return self

    def note(self, text: str) -> "Job":
        """Say what is to be remembered of the job; "" takes it away. Also after its end."""
        self._take(self._client.http.read(answers.JobView, "PUT", self._path("/note"), json={"note": text}))
        return self

    def favor(self, wanted: bool = True) -> "Job":
        """Make the job one of one's own favorites, or no more."""
        verb = "PUT" if wanted else "DELETE"
        self._take(self._client.http.read(answers.JobView, verb, self._path("/favorite")))
        return self

    def release(self) -> "Job":
        """End a debug hold."""
        self._take(self._client.http.read(answers.JobView, "POST", self._path("/release")))
        return self

    def _log(self, attempt: int | str, task: str) -> str:
        return self._path(f"/attempts/{attempt}/tasks/{task}/log")

    def __repr__(self) -> str:
        name = self._known.name if isinstance(self._known, answers.JobView) else ""
        return f"<Job {self.id} {name!r} {self._known.state}>"

    def _repr_html_(self) -> str:
        """Show the job as a small card in a notebook."""
        return card(self.seen, self.url)
