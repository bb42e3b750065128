"""Nothing stays in the store for ever, and what must stay does."""

from dataclasses import replace

import pytest

from tests.contract.store.conftest import Store
from tests.fixtures.audited import audit_event
from tests.fixtures.histories import life
from tests.fixtures.seeing import ALL
from trainmaster.store import leftovers
from trainmaster.store.assets.templates import Edit, TemplateRows, template_version
from trainmaster.store.assets.versions import Asset, AssetKind
from trainmaster.store.jobs.ledger import IdempotencyRecord
from trainmaster.store.leftovers import Leftovers


def key(name: str, at: float) -> IdempotencyRecord:
    return IdempotencyRecord("default", name, "digest", ("t1",), at)


def test_old_keys_are_forgotten_page_by_page(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """B4 holds for as long as the setting says."""
    monkeypatch.setattr(leftovers, "PAGE", 3)
    store.keep(keys=[key(f"k{number}", float(number)) for number in range(10)])
    rows, pages = Leftovers(store.database), 0
    after: tuple[str, str] | None = ("", "")
    while after is not None:
        old, after = rows.old_keys(7.0, after)
        rows.forget_keys([name for name, _ in old], 7.0)
        pages += 1
    assert pages == 4
    assert [number for number in range(10) if store.records.idempotency("default", f"k{number}")] == [7, 8, 9]


def test_numbers_of_deleted_jobs_are_not_given_out_again(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a thousand deletions one or two rows are left: those with the highest numbers."""
    monkeypatch.setattr(leftovers, "PAGE", 3)
    lives = [life(number) for number in range(1, 9)]
    store.keep(*(change for one in lives for change in one.changes))
    for one in reversed(lives):
        assert one.job is not None
        store.keep(deleted=[one.job.id], seq=store.records.last_seq() + 1)
    before = store.records.last_seq(), store.records.next_job_seq()
    rows, after = Leftovers(store.database), 0
    while page := rows.deleted(after):
        rows.forget_deleted([number for number, _ in page])
        after = page[-1][0]
    again = store.reopen()
    assert (again.records.last_seq(), again.records.next_job_seq()) == before
    assert 1 <= len(Leftovers(again.database).deleted()) <= 2
    again.database.close()


def test_uploads_that_stored_specs_name_are_found_on_every_page(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leftovers, "PAGE", 2)
    digests = [f"{number:064x}" for number in range(5)]
    store.keep(specs={f"s{n}": f'{{"code": {{"upload": "sha256:{digest}"}}}}' for n, digest in enumerate(digests)})
    rows, after, found = Leftovers(store.database), "", set[str]()
    while after is not None:
        named, after = rows.uploads_named(after)
        found |= named
    assert found == set(digests)


def test_uploads_that_templates_name_are_found_behind_those_of_jobs(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of every version: an older one is still to be had."""
    monkeypatch.setattr(leftovers, "PAGE", 2)
    digests = [f"{number:064x}" for number in range(6)]
    store.keep(specs={"s0": f'{{"code": {{"upload": "sha256:{digests[0]}"}}}}'})
    templates, wanted = TemplateRows(store.database), Asset("p1", AssetKind.TEMPLATE, "plan", "default", "ann", 1.0)
    versions = [
        template_version({"code": {"upload": f"sha256:{digest}"}}, f"sha256:{at}", 9, "ann", float(at))
        for at, digest in enumerate(digests[1:])
    ]
    templates.add(wanted, versions[0], audit_event())
    for version in versions[1:4]:
        templates.edit(ALL, "p1", Edit(), version, lambda before, after: audit_event())
    templates.add(replace(wanted, id="p2", name="other"), versions[4], audit_event())
    rows, after, found = Leftovers(store.database), "", set[str]()
    while after is not None:
        named, after = rows.uploads_named(after)
        found |= named
    assert found == set(digests)
