"""A job as a program holds it: its last known state, and the verbs on it.

`data` is the API's JSON as it was last seen; `refresh` and `wait` bring it up to date. Invariant: waiting never polls; it
watches the server's feed and survives the server's restart.
"""

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import httpx

from trainmaster.core.errors import NotFound, Unavailable
from trainmaster.core.states import SHOWN_NAMES, Shown
from trainmaster.core.units import format_duration
from trainmaster.sdk.downloads import Received, to_file, unpacked
from trainmaster.sdk.metrics import Metrics

if TYPE_CHECKING:
    from trainmaster.sdk.client import Client
    from trainmaster.sdk.inside import Inside

ENDED: Final = frozenset({"succeeded", "failed", "stopped", "expired"})
FRESH_S: Final = 1.0
"""What was seen so long ago still counts as now: a loop over a list does not ask for every job of it."""
RECONNECT_S: Final = 120.0
"""How long a watcher waits for a server that went away."""
PAUSE_S: Final = 0.5
LONG_PAUSE_S: Final = 5.0
"""Between two tries to come back to it: at first, and at most."""


class Job:
    """A job on a server. Made by Client. `data`, `id` and `name` are what was last seen; `state`, `ended` and `succeeded` are live."""

    def __init__(self, client: "Client", data: Mapping[str, Any]) -> None:
        self._client = client
        self.data = dict(data)

    @property
    def data(self) -> dict[str, Any]:
        """The API's JSON of the job, as it was last seen."""
        return self._data

    @data.setter
    def data(self, data: dict[str, Any]) -> None:
        self._data, self._seen_at = data, time.monotonic()

    @property
    def id(self) -> str:
        """The job's id."""
        return str(self.data["id"])

    @property
    def name(self) -> str:
        """The job's name, as given."""
        return str(self.data.get("name", ""))

    @property
    def state(self) -> str:
        """The state now: queued, initialising, pending, running, saving, retained, stopping, succeeded, failed, stopped, expired.

        Asks the server when what was last seen is older than FRESH_S and not final. Raises NotFound, Unavailable.
        """
        if self._state not in ENDED and time.monotonic() - self._seen_at > FRESH_S:
            self.refresh()
        return self._state

    @property
    def _state(self) -> str:
        """The state last seen."""
        return str(self.data.get("state", "queued"))

    @property
    def ended(self) -> bool:
        """True once the outcome is final. Live, like `state`."""
        return self.state in ENDED

    @property
    def succeeded(self) -> bool:
        """True when the job ended well. Live, like `state`."""
        return self.state == "succeeded"

    @property
    def url(self) -> str:
        """The console's page of this job."""
        return f"{self._client.url}/jobs/{self.id}"

    def refresh(self) -> "Job":
        """Ask the server for everything about the job. Raises NotFound when it was deleted."""
        self.data = self._client.http.json("GET", self._path())
        return self

    # -- waiting -----------------------------------------------------------------------------------------------

    def wait(self, timeout: float | None = None, progress: bool = False, held: bool = False) -> "Job":
        """Return when the job has ended, well or not; `progress` shows it live in a terminal or notebook.

        `timeout` in seconds; with `held` also when it has failed and is held for debugging (state "retained").
        Raises TimeoutError, NotFound when it is deleted, Unavailable when the server stays away.
        """
        from trainmaster.sdk.progress import shown  # noqa: PLC0415

        with shown(self) if progress else nullcontext(lambda _: None) as show:
            for _ in self.watch(timeout):
                show(self.data)
                if held and self._state == "retained":
                    break
        return self

    def watch(self, timeout: float | None = None) -> Iterator["Job"]:
        """Yield this job now and after every change, until it has ended. Raises like `wait`."""
        deadline = None if timeout is None else time.monotonic() + timeout
        self.refresh()
        yield self
        lost_at: float | None = None
        pause_s = PAUSE_S
        while self._state not in ENDED:
            try:
                if lost_at is not None:  # it is there again, and may have seen the end
                    before = self.data.get("version")
                    self.refresh()
                    lost_at = None
                    if self.data.get("version") != before:
                        yield self
                    continue
                for data in self._changes(deadline):
                    pause_s = PAUSE_S
                    self.data = {**self.data, **data}
                    yield self
                    if data["state"] in ENDED:
                        break
                if self._state not in ENDED:
                    self.refresh()
            except (httpx.TransportError, Unavailable) as error:
                if deadline is not None and time.monotonic() >= deadline:
                    raise self._late() from None
                lost_at = lost_at or time.monotonic()
                if time.monotonic() - lost_at > RECONNECT_S:
                    raise Unavailable(
                        f"The server at {self._client.url} went away while {self.id} was awaited"
                    ) from error
                time.sleep(pause_s if deadline is None else max(0.0, min(pause_s, deadline - time.monotonic())))
                pause_s = min(2 * pause_s, LONG_PAUSE_S)
            if deadline is not None and time.monotonic() >= deadline and self._state not in ENDED:
                raise self._late()

    def _late(self) -> TimeoutError:
        return TimeoutError(f"job {self.id} is still {self._state}; it goes on")

    def _changes(self, deadline: float | None) -> Iterator[dict[str, Any]]:
        """Yield the job's new data after `seq`; end when the server says that too much was missed."""
        quiet = 45.0 if deadline is None else max(0.05, min(45.0, deadline - time.monotonic()))
        params = {"job": self.id, "after": int(self.data.get("seq") or 0)}
        for item in self._client.http.events("/feed", params, quiet_s=quiet):
            if item.event == "job" and item.data["id"] == self.id:
                yield item.data
            elif item.event == "deleted" and item.data["id"] == self.id:
                raise NotFound(f"The job {self.id} was deleted")
            elif item.event == "reset":
                return
            if deadline is not None and time.monotonic() >= deadline:
                return

    # -- looking -----------------------------------------------------------------------------------------------

    def logs(
        self, task: str | None = None, *, attempt: int | str = "last", follow: bool = False, tail: int | None = None
    ) -> "str | Iterator[str]":
        """Return a task's log as one text, or with `follow` an iterator of pieces that ends with the job.

        `task` like ``task0-0`` (default: the first); `tail`: only that many last lines. Raises NotFound before the first start.
        """
        name = task or "task0-0"
        if follow:
            return self._follow(name, attempt, tail)
        path = self._path(f"/attempts/{attempt}/tasks/{name}/log")
        if tail is not None:
            return str(self._client.http.json("GET", path, params={"tail": tail})["text"])
        return "".join(self._windows(path))

    def _windows(self, path: str) -> Iterator[str]:
        offset = 0
        while True:
            window = self._client.http.json("GET", path, params={"offset": offset, "limit": 1 << 20})
            yield window["text"]
            if window["next_offset"] <= offset or window["next_offset"] >= window["size"]:
                return
            offset = window["next_offset"]

    def _follow(self, task: str, attempt: int | str, tail: int | None) -> Iterator[str]:
        """Follow one attempt, or with "last" every attempt from the current one on."""
        number = int(attempt) if attempt != "last" else self._first_attempt()
        while number is not None:
            start = 0
            if tail is not None:
                path = self._path(f"/attempts/{number}/tasks/{task}/log")
                window = self._client.http.json("GET", path, params={"tail": tail})
                yield window["text"]
                start, tail = window["next_offset"], None
            yield from self._follow_one(task, number, start)
            number = None if attempt != "last" else self._attempt_after(number)

    def _follow_one(self, task: str, number: int, offset: int) -> Iterator[str]:
        path = self._path(f"/attempts/{number}/tasks/{task}/log/follow")
        lost_at: float | None = None
        while True:
            try:
                for item in self._client.http.events(path, {"offset": offset}):
                    lost_at = None
                    if item.event == "end":
                        return
                    if item.event == "log":
                        offset = item.data["next_offset"]
                        yield item.data["text"]
            except httpx.TransportError as error:
                lost_at = lost_at or time.monotonic()
                if time.monotonic() - lost_at > RECONNECT_S:
                    raise Unavailable(f"The server at {self._client.url} went away") from error
            time.sleep(0.2)

    def _first_attempt(self) -> int | None:
        """Return the current attempt's number, waiting for the first start; None when it ended without one."""
        for _ in self.watch():
            if self.data["attempts"]:
                return int(self.data["attempts"])
        return int(self.data["attempts"]) or None

    def _attempt_after(self, number: int) -> int | None:
        """Return the number of the next attempt, waiting for it; None when there will be none: also what is held is not retried."""
        for _ in self.watch():
            if self.data["attempts"] > number:
                return number + 1
            if self.data["state"] == "retained":
                return None
        return number + 1 if self.data["attempts"] > number else None

    def search(
        self, text: str, task: str = "task0-0", *, attempt: int | str = "last", regex: bool = False
    ) -> Iterator[dict[str, Any]]:
        """Yield the lines of a task's log that contain `text`: ``{line, offset, text}``, line 0-based."""
        path, offset = self._path(f"/attempts/{attempt}/tasks/{task}/log/search"), 0
        while True:
            params = {"q": text, "regex": regex, "offset": offset, "limit": 1000}
            found = self._client.http.json("GET", path, params=params)
            yield from found["items"]
            if found["done"] or (found["next_offset"] <= offset and not found["items"]):
                return
            offset = found["next_offset"]

    def metrics(self, points: int = 500) -> Metrics:
        """Return training metrics: ``{series: [{name, count, steps, t, values...}], last: {name: value}}``, and as a table.

        At most `points` (4 to 10,000) of each series, of which `count` came in all.
        """
        return Metrics(self._client.http.json("GET", self._path("/metrics"), params={"points": points}))

    def usage(self, attempt: int | str = "last", points: int = 300) -> dict[str, Any]:
        """Return usage samples of every task of an attempt."""
        params = {"attempt": str(attempt), "points": points}
        found: dict[str, Any] = self._client.http.json("GET", self._path("/usage"), params=params)
        return found

    def events(self, after: int = 0) -> list[dict[str, Any]]:
        """Return what happened to the job, in order."""
        return list(self._client.http.json("GET", self._path("/events"), params={"after": after})["items"])

    def explain(self) -> dict[str, Any]:
        """Return why the job waits, runs or ended, and what would change that."""
        found: dict[str, Any] = self._client.http.json("GET", self._path("/explain"))
        return found

    def spec(self, dialect: str = "native") -> dict[str, Any]:
        """Return the job's document; `dialect` native or pai."""
        found: dict[str, Any] = self._client.http.json("GET", self._path("/spec"), params={"dialect": dialect})
        return found

    def files(self, path: str = "") -> list[dict[str, Any]]:
        """Return the entries of a folder of the job's outputs."""
        return list(self._client.http.json("GET", self._path("/files"), params={"path": path})["items"])

    def download(
        self, path: str = "outputs", to: str | os.PathLike[str] = ".", *, on_bytes: Received | None = None
    ) -> list[Path]:
        """Download what the job wrote into the folder `to`; return the files.

        `path`: ``outputs`` (/workspace/outputs), ``model`` (/model), or a file or folder beneath one of them. Raises NotFound, and
        Conflict when files of these names are there already; then nothing is written.
        """
        http, params = self._client.http, {"path": path}
        name = path.rstrip("/").rpartition("/")[2]
        try:
            http.json("GET", self._path("/files"), params=params)
        except NotFound:  # no folder
            return [to_file(http.download(self._path("/files/content"), params=params), Path(to, name), on_bytes)]
        return unpacked(http.download(self._path("/files/download"), params=params), Path(to), on_bytes)

    def download_logs(self, to: str | os.PathLike[str] = ".", *, on_bytes: Received | None = None) -> list[Path]:
        """Download the logs of all tasks of all attempts into the folder `to`; return the files. Raises Conflict as `download`."""
        return unpacked(self._client.http.download(self._path("/logs.zip")), Path(to), on_bytes)

    # -- acting ------------------------------------------------------------------------------------------------

    def exec(
        self, command: Sequence[str], task: str | None = None, *, window: tuple[int, int] | None = None
    ) -> "Inside":
        """Run `command` inside a running task (``worker-0`` or ``task0-0``; default: the first); see sdk/inside.

        `window`: on a terminal of so many columns and rows. Raises NotFound, Unavailable; whatever else is refused by the answer.
        """
        from trainmaster.sdk.inside import Inside  # noqa: PLC0415

        return Inside(self._client.http, self._path("/exec"), command, task or "task0-0", window)

    def stop(self, reason: str = "") -> "Job":
        """Stop the job at once and for good; outputs that are being saved are then not. Raises Conflict when they just were."""
        body = {"reason": reason}
        self.data = {**self.data, **self._client.http.json("POST", self._path("/stop"), json=body, repeat=True)}
        return self

    def delete(self) -> None:
        """Delete the ended job with its logs; a saved model stays. Raises Conflict before the end."""
        self._client.http.request("DELETE", self._path(), repeat=False)

    def clone(self, set: Mapping[str, Any] | None = None) -> "Job":
        """Submit the same job again with changed fields, for example ``{"roles.0.parameters.lr": 0.01}``."""
        return Job(self._client, self._client.http.json("POST", self._path("/clone"), json={"set": dict(set or {})}))

    def change(self, **fields: Any) -> "Job":
        """Change `duration_s` or `priority` of a job that has not ended."""
        self.data = {**self.data, **self._client.http.json("PATCH", self._path(), json=fields)}
        return self

    def release(self) -> "Job":
        """End a debug hold."""
        self.data = {**self.data, **self._client.http.json("POST", self._path("/release"))}
        return self

    def _path(self, rest: str = "") -> str:
        return f"/jobs/{self.id}{rest}"

    def __repr__(self) -> str:
        return f"<Job {self.id} {self.name!r} {self._state}>"

    def _repr_html_(self) -> str:
        """Show the job as a small card in a notebook."""
        return card(self.data, self.url)


def card(data: Mapping[str, Any], url: str) -> str:
    """Return a job as a small HTML card; every text of it is escaped."""
    names = SHOWN_NAMES[Shown(data["state"])]
    fraction = (data.get("progress") or {}).get("fraction")
    bar = f'<progress value="{float(fraction):.4f}" max="1"></progress>' if fraction is not None else ""
    run = format_duration(data["run_s"]) if data.get("run_s") is not None else ""
    metrics = ", ".join(f"{escape(str(k))} {v:.4g}" for k, v in (data.get("metrics") or {}).items() if v is not None)
    rows = (("id", f'<a href="{escape(url)}">{escape(data["id"])}</a>'), ("state", f"{escape(names[1])} / {escape(names[0])} {bar}"),
            ("run time", run), ("metrics", metrics), ("model", escape(data.get("model") or "")))  # fmt: skip
    body = "".join(f"<tr><th>{key}</th><td>{value}</td></tr>" for key, value in rows if value)
    return f"<table><caption>{escape(data['name'])}</caption>{body}</table>"
