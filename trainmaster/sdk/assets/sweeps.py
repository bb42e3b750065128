"""Sweeps: many jobs of one document that differ in their parameters. What `Client.sweeps` offers."""

import builtins
import os
import uuid
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from trainmaster import answers
from trainmaster.core.errors import InvalidSpec, problem_of
from trainmaster.messages.server import client as said
from trainmaster.spec.document import FieldChanges

if TYPE_CHECKING:
    from trainmaster.sdk.client import Client, Sent


class SweepCalls:
    """See the module. `ref` is an id, a unique beginning of one, or a name. Every method raises Forbidden for who may
    not, NotFound for what is not there or not shared, InvalidSpec with all problems, Conflict, Unavailable.
    """

    def __init__(self, client: "Client") -> None:
        self._client, self._http = client, client.http

    def submit(
        self,
        spec: Any,
        *,
        set: FieldChanges | None = None,
        csv: str | os.PathLike[str] | None = None,
        name: str | None = None,
        key: str | None = None,
        on_upload: "Sent | None" = None,
    ) -> answers.SweepDetail:
        """Submit a sweep: the path of a job file with `sweep:` in it, or such a document; every entry becomes a job, or
        none does. `set` changes fields by dotted path; `csv`: a file whose lines are the entries; a `code:` folder is
        uploaded first. `key`: your own idempotency key.
        """
        body = self._body(spec, set, csv, name, on_upload)
        headers = {"idempotency-key": key or uuid.uuid4().hex}
        return self._http.read(
            answers.SweepDetail, "POST", "/sweeps", json=body, headers=headers, repeat=True, timeout=300.0
        )

    def preview(
        self,
        spec: Any,
        *,
        set: FieldChanges | None = None,
        csv: str | os.PathLike[str] | None = None,
        name: str | None = None,
    ) -> answers.SweepPreview:
        """Return what a submit would find and do: everything that is wrong, how many entries there are, the first of
        them and what all of them ask for. Changes nothing.
        """
        body = self._body(spec, set, csv, name, upload=False)
        return self._http.read(answers.SweepPreview, "POST", "/sweeps/preview", json=body, repeat=True)

    def list(
        self, q: str = "", *, mine: bool = False, owner: str = "", workspace: str = "", limit: int | None = 50
    ) -> builtins.list[answers.SweepView]:
        """Return sweeps, the newest first; `limit` None: all. `q`: words in name, owner, id."""
        return [*self.iterate(q, mine=mine, owner=owner, workspace=workspace, limit=limit)]

    def iterate(
        self, q: str = "", *, mine: bool = False, owner: str = "", workspace: str = "", limit: int | None = None
    ) -> Iterator[answers.SweepView]:
        """Yield sweeps page by page, like `list`."""
        left, cursor = limit, None
        while left is None or left > 0:
            asked: dict[str, object] = {"q": q, "mine": mine, "owner": owner, "workspace": workspace}
            asked |= {"limit": 200 if left is None else min(left, 200)} | ({"cursor": cursor} if cursor else {})
            page = self._http.read(answers.SweepPage, "GET", "/sweeps", params=asked)
            yield from page.items
            left, cursor = None if left is None else left - len(page.items), page.next_cursor
            if cursor is None:
                return

    def get(self, ref: str) -> answers.SweepDetail:
        """Return a sweep with its document (`spec`), its entries by state (`counts`) and the best of them (`best`)."""
        return self._http.read(answers.SweepDetail, "GET", _at(ref))

    def entries(
        self, ref: str, *, order: str = "index", state: str | Sequence[str] = (), limit: int | None = None
    ) -> builtins.list[answers.SweepEntryView]:
        """Return the entries, each with its last job; `limit` None: all. `order`: index, state, run_s, submitted_at,
        best, parameter:NAME or metric:NAME, with - in front for the other way round.
        """
        found: builtins.list[answers.SweepEntryView] = []
        states = [state] if isinstance(state, str) else [*state]
        while limit is None or len(found) < limit:
            size = 1000 if limit is None else min(1000, limit - len(found))
            asked: dict[str, object] = {"order": order, "state": states, "limit": size, "offset": len(found)}
            page = self._http.read(answers.SweepEntryPage, "GET", _at(ref, "/entries"), params=asked)
            found += page.items
            if not page.items or len(found) >= page.total:
                break
        return found

    def stop(self, ref: str, reason: str = "") -> answers.SweepDetail:
        """Stop every entry that has not ended."""
        return self._http.read(answers.SweepDetail, "POST", _at(ref, "/stop"), json={"reason": reason}, repeat=True)

    def retry(self, ref: str, *, stopped: bool = False, key: str | None = None) -> answers.SweepDetail:
        """Submit the entries anew that failed or ran out of time, or were `stopped`, under their numbers."""
        headers = {"idempotency-key": key or uuid.uuid4().hex}
        return self._http.read(
            answers.SweepDetail, "POST", _at(ref, "/retry"), json={"stopped": stopped}, headers=headers, repeat=True
        )

    def delete(self, ref: str, *, keep_jobs: bool = False) -> None:
        """Delete a sweep with all of its jobs, which must have ended; `keep_jobs`: these stay."""
        self._http.request("DELETE", _at(ref), params={"keep_jobs": keep_jobs}, timeout=300.0)

    def _body(
        self,
        spec: Any,
        changes: FieldChanges | None,
        csv: str | os.PathLike[str] | None,
        name: str | None,
        on_upload: "Sent | None" = None,
        upload: bool = True,
    ) -> dict[str, object]:
        body = self._client.body(spec, set=changes, name=name, on_upload=on_upload, upload=upload)
        document, sweep = body["spec"], body["spec"].get("sweep")
        if csv is not None:
            sweep = {**(sweep if isinstance(sweep, Mapping) else {}), "list": _rows(csv)}
        elif upload and isinstance(sweep, Mapping) and isinstance(sweep.get("list"), list):
            sweep = {**sweep, "list": self._uploaded(spec, sweep["list"], on_upload)}
        return {**body, "spec": document if sweep is None else {**document, "sweep": sweep}}

    def _uploaded(self, spec: Any, rows: Sequence[Any], on_upload: "Sent | None") -> builtins.list[Any]:
        """Return entries with code folders of their own in place of these what they were uploaded as, each once."""
        from trainmaster.sdk.documents import load  # noqa: PLC0415

        base, known = load(spec)[1], dict[str, str]()

        def sent(row: Any) -> Any:
            code = row.get("code") if isinstance(row, Mapping) else None
            path = code if isinstance(code, str) else code.get("path") if isinstance(code, Mapping) else None
            if not isinstance(path, str) or not {*row} <= {"parameters", "algorithm", "command", "code"}:
                return row
            folder = os.path.normpath(os.path.join(base, os.path.expanduser(path)))
            if folder not in known:
                known[folder] = self._client.upload(folder, on_upload)
            return {**row, "code": {"upload": known[folder]}}

        return [sent(row) for row in rows]


def _rows(path: str | os.PathLike[str]) -> builtins.list[dict[str, object]]:
    from trainmaster.spec.sweeps.rows_of_csv import rows_of_csv  # noqa: PLC0415

    try:
        text = Path(path).read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        found = problem_of(str(path), said.unreadable(getattr(error, "strerror", None) or str(error)))
        raise InvalidSpec(said.job_file_not_read(), problems=(found,)) from None
    return rows_of_csv(text, str(path))


def _at(ref: str, after: str = "") -> str:
    return f"/sweeps/{quote(ref, safe='') or '%20'}{after}"
